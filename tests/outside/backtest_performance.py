"""quantstats and empyrical get the ratios of get_performance on the same equity."""

import datetime
import json
import pathlib
import random
import subprocess
import tempfile
import uuid
import warnings

import server

warnings.filterwarnings("ignore")


def main() -> None:
    given = server.arguments()
    with server.home() as environment, tempfile.TemporaryDirectory() as name:
        run = lambda *words: subprocess.run([given.panoply, *words], env=environment, check=True, capture_output=True, text=True).stdout
        for seed, days, drift in [(1, 500, 0.0005), (2, 60, -0.002), (3, 1200, 0.0)]:
            equity = series(seed, days, drift)
            file = pathlib.Path(name) / f"{seed}.jsonl"
            identity = str(uuid.UUID(int=seed))
            write(file, identity, equity)
            run("backtest", "import", str(file))
            ours = json.loads(run("call", "get_performance", json.dumps({"runId": identity}), "--json"))
            compare(ours["returns"], equity, f"{days} days")


def series(seed: int, days: int, drift: float) -> list:
    """Equity at the end of each weekday."""
    dice, value, day, found = random.Random(seed), 100_000.0, datetime.date(2020, 1, 1), []
    while len(found) < days:
        if day.weekday() < 5:
            found.append((day, round(value, 4)))
            value *= 1 + dice.gauss(drift, 0.01)
        day += datetime.timedelta(days=1)
    return found


def write(file: pathlib.Path, run: str, equity: list) -> None:
    with file.open("w") as out:
        for number, (day, value) in enumerate(equity):
            event = {
                "eventId": str(uuid.UUID(int=number + 1)), "runId": run, "timestamp": f"{day}T21:00:00.000Z",
                "eventType": "StateChange", "properties": {"StateType": "Account", "StateAfter": {"Equity": value, "Currency": "USD"}},
            }
            out.write(json.dumps(event) + "\n")


def compare(ours: dict, equity: list, about: str) -> None:
    import empyrical
    import pandas
    import quantstats

    prices = pandas.Series([value for _, value in equity], index=pandas.to_datetime([day for day, _ in equity]))
    returns = prices.pct_change().dropna()
    theirs = {
        "sharpe": [empyrical.sharpe_ratio(returns), quantstats.stats.sharpe(returns)],
        "sortino": [empyrical.sortino_ratio(returns), quantstats.stats.sortino(returns)],
        "volatility": [empyrical.annual_volatility(returns), quantstats.stats.volatility(returns)],
        "maxDrawdown": [empyrical.max_drawdown(returns), quantstats.stats.max_drawdown(returns)],
        "total": [empyrical.cum_returns_final(returns), quantstats.stats.comp(returns)],
        "annual": [empyrical.annual_return(returns)],
        "calmar": [empyrical.calmar_ratio(returns)],
    }
    for name, values in theirs.items():
        for value in values:
            if abs(ours[name] - value) > 1e-9 * max(1, abs(value)):
                raise SystemExit(f"FAILED: {about}: {name} is {ours[name]}, others say {values}")
    print(f"ok: {about}: {', '.join(theirs)} equal empyrical and, where it has them, quantstats")


if __name__ == "__main__":
    main()
