"""An exact model in fractions computes thousands of random portfolios and gets our figures to the penny.

The model (crates/panoply-cgt/tests/oracle/model.py) shares no code with the engine. Every portfolio gets its
own tickers, so that thousands of them are one file and one run of the program; those with short sales are a
second one. What the model refuses is put to the program one by one and must be refused there, too.
"""

import json
import pathlib
import subprocess
import sys
from decimal import Decimal

import server

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "crates/panoply-cgt/tests/oracle"))
import model  # noqa: E402

# Some random portfolios sell more than they hold and are refused; at least COMPARED of the others are compared.
PORTFOLIOS = 3300
COMPARED = 3000
REFUSALS = 40
FIRST_SEED = 1000


def main() -> None:
    given = server.arguments()
    count = PORTFOLIOS * 10 if given.long else PORTFOLIOS
    lines, expected, refused = {False: [], True: []}, {False: {}, True: {}}, []
    compared = 0
    for seed in range(FIRST_SEED, FIRST_SEED + count):
        rows, allow_short = model.portfolio(seed, corporate_actions=True)
        tickers = sorted({row["ticker"] for row in rows})
        results = {t: model.identify([row for row in rows if row["ticker"] == t], allow_short) for t in tickers}
        if any(isinstance(result, str) for result in results.values()):
            refused.append((allow_short, [model.line(row) for row in rows]))
            continue
        compared += 1
        for row in rows:
            name = f"P{seed}.{row['ticker']}"
            lines[allow_short].append(model.line({**row, "ticker": name}))
        for ticker, result in results.items():
            expected[allow_short][f"P{seed}.{ticker}"] = result
    with server.home() as environment:

        def ours(text, allow_short, *words):
            command = [given.panoply, "cgt", "report", "-", "--json", "--rounding", "exact", *words]
            command += ["--allow-short"] if allow_short else []
            return subprocess.run(command, env=environment, capture_output=True, text=True, input=text)

        disposals = wrong = 0
        for allow_short in (False, True):
            said = ours("\n".join(lines[allow_short]), allow_short)
            server.expect(said.returncode == 0, f"cgt: the program computes what the model computes {said.stderr[:500]}")
            report = json.loads(said.stdout)
            found = {}
            for year in report["tax_years"]:
                for disposal in year["disposals"]:
                    found.setdefault(disposal["ticker"], []).append(disposal)
            held = {holding["ticker"]: holding for holding in report["holdings"]}
            for ticker, result in expected[allow_short].items():
                disposals += len(result[0])
                problems = differences(result, found.get(ticker, []), held.get(ticker))
                for problem in problems:
                    print(f"{ticker}: {problem}")
                wrong += bool(problems)
        computed = sum(len(each) for each in expected.values())
        server.expect(not wrong, f"cgt: {disposals} disposals of {computed} holdings in {compared} portfolios agree with the exact model")
        server.expect(compared >= COMPARED, f"cgt: {compared} of {count} portfolios were compared, at least {COMPARED} are wanted")
        accepted = [text for allow_short, text in refused[:REFUSALS] if ours("\n".join(text), allow_short).returncode == 0]
        server.expect(not accepted, f"cgt: what the model refuses is refused, {min(len(refused), REFUSALS)} of {len(refused)} tried {accepted[:1]}")


def differences(result, found, held):
    """What differs by more than the last of ten decimals."""
    disposals, _, (quantity, cost) = result
    key = lambda legs: sorted(tuple(leg) for leg in legs)
    wanted = sorted((str(day), key([(rule, number(c), number(g)) for rule, _, c, g, _ in legs])) for day, _, _, legs in disposals)
    seen = sorted(
        (d["date"], key([(m["rule"], Decimal(m["allowable_cost"]), Decimal(m["gain_or_loss"])) for m in d["matches"]])) for d in found
    )
    if [day for day, _ in wanted] != [day for day, _ in seen]:
        return [f"disposals on {[day for day, _ in seen]}, the model has {[day for day, _ in wanted]}"]
    problems = []
    for (day, ours), (_, theirs) in zip(seen, wanted):
        same = len(ours) == len(theirs) and all(a[0] == b[0] and near(a[1], b[1]) and near(a[2], b[2]) for a, b in zip(ours, theirs))
        if not same:
            problems.append(f"{day}: {ours}, the model has {theirs}")
    left = (Decimal(held["quantity"]), Decimal(held["total_cost"])) if held else (Decimal(0), Decimal(0))
    if not (abs(left[0] - number(quantity)) <= Decimal("0.000000001") and near(left[1], number(cost))):
        problems.append(f"pool of {left}, the model has {float(quantity)}, {float(cost)}")
    return problems


def near(a, b):
    return abs(a - b) <= Decimal("0.000000002")


def number(fraction):
    return Decimal(model.text(fraction, 10))


main()
