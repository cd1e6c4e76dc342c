#!/usr/bin/env python3
"""An exact model of UK share identification in fractions, as an oracle for the Rust engine.

Written from the statute, share by share and day by day, with none of the engine's tricks: no
grains, no sweeps, no fixed point. It is slow and obviously right. `tests/outside/cgt_model.py` runs
it on thousands of portfolios. It makes random portfolios with
splits, capital returns, accumulations, spouse transfers and short sales, and prints for each the
input lines and the exact figures that the engine must give.

usage: model.py > cases.json      (deterministic)
"""
import json
import random
from datetime import date, timedelta
from fractions import Fraction as F


def identify(rows, allow_short):
    """rows of one ticker -> (disposals, transfers, (held, cost)) or an error word."""
    days = sorted({r["date"] for r in rows})
    acquired = {d: [F(0), F(0)] for d in days}  # shares still unidentified, cost of those
    out = {d: [F(0), F(0), F(0)] for d in days}  # sold, given, net proceeds
    joined = {d: [F(0), F(0)] for d in days}  # rights: shares that join the pool, and their cost
    factor = {}  # shares of that day for one share of the first day
    current = F(1)
    for d in days:
        todays = [r for r in rows if r["date"] == d]
        factor[d] = current  # splits share no day with trades here
        for r in todays:
            if r["action"] == "SPLIT":
                current *= r["ratio"]
            elif r["action"] == "UNSPLIT":
                current /= r["ratio"]
            elif r["action"] == "BONUS":
                current *= (r["held"] + r["new"]) / r["held"]
        for r in todays:
            if r["action"] == "BUY":
                acquired[d][0] += r["quantity"]
                acquired[d][1] += r["quantity"] * r["price"] + r["fees"]
            elif r["action"] == "SPOUSE_IN":
                acquired[d][0] += r["quantity"]
                acquired[d][1] += r["total"]
            elif r["action"] == "SELL":
                out[d][0] += r["quantity"]
                out[d][2] += r["quantity"] * r["price"] - r["fees"]
            elif r["action"] == "SPOUSE_OUT":
                out[d][1] += r["quantity"]
            elif r["action"] == "RIGHTS":
                joined[d][0] += r["quantity"]
                joined[d][1] += r["quantity"] * r["price"] + r["fees"]
    if not allow_short:
        held = F(0)
        for d in days:
            held += joined[d][0] / factor[d]
            held += (acquired[d][0] - out[d][0] - out[d][1]) / factor[d]
            if held < 0:
                return "exceeds_holding"
    left = {d: out[d][0] + out[d][1] for d in days}
    total = dict(left)
    legs = {d: [] for d in days}

    def match(d, a, rule):
        """Identify shares of disposal day d with acquisition day a; scale through splits."""
        scale = factor[a] / factor[d]
        available = acquired[a][0] / scale
        q = min(left[d], available)
        if q <= 0:
            return
        cost = acquired[a][1] * (q * scale) / acquired[a][0]
        acquired[a][0] -= q * scale
        acquired[a][1] -= cost
        left[d] -= q
        legs[d].append([rule, q, cost, a])

    for d in days:
        match(d, d, "SameDay")
    for d in days:
        for a in days:
            if d < a <= d + timedelta(days=30):
                match(d, a, "BedAndBreakfast")
    # Later acquisitions have to be known before the pool is valued: find them by quantity first.
    pool = F(0)
    short = []
    for d in days:
        pool += joined[d][0] / factor[d]
        pool_today = pool * factor[d]
        take = min(left[d], pool_today)
        pool -= take / factor[d]
        missing = left[d] - take
        free = acquired[d][0]
        for s in short:
            if free <= 0:
                break
            q = min(s[1] * factor[d] / factor[s[0]], free)
            if q > 0:
                s[2].append((d, q))
                s[1] -= q * factor[s[0]] / factor[d]
                free -= q
        pool += free / factor[d]
        if missing > 0:
            short.append([d, missing, []])
    if any(s[1] > 0 for s in short):
        return "never_covered"
    later = {s[0]: s[2] for s in short}
    quantity, cost = F(0), F(0)  # the pool, in shares of the first day
    disposals, transfers = [], []
    for d in days:
        if joined[d][0] and quantity == 0:
            return "event_without_holding"
        quantity += joined[d][0] / factor[d]
        cost += joined[d][1]
        for r in [r for r in rows if r["date"] == d]:
            if r["action"] == "CAPRETURN" and "value" not in r:
                cost -= r["total"]
            elif r["action"] == "CAPRETURN":
                if quantity == 0:
                    return "event_without_holding"
                received = r["total"]  # TCGA 1992 s.122: small, small but above the cost, or neither
                small = received <= 3000 or received * 20 <= received + r["value"]
                if small and received <= cost:
                    cost -= received
                else:
                    part = cost if small else cost * received / (received + r["value"])
                    cost -= part
                    rule = "CostElection" if small else "PartDisposal"
                    disposals.append([d, F(0), received, [[rule, F(0), part, received - part, None]]])
        if cost < 0:
            return "capital_return_exceeds_cost"
        for r in [r for r in rows if r["date"] == d]:
            if r["action"] == "ACCUMULATION":
                if quantity == 0:
                    return "accumulation_without_holding"
                cost += r["total"]
        shorted = sum((q * factor[d] / factor[a] for a, q in later.get(d, [])), F(0))
        from_pool = left[d] - shorted
        if from_pool > 0:
            part = cost * (from_pool / factor[d]) / quantity
            quantity -= from_pool / factor[d]
            cost -= part
            legs[d].append(["Section104", from_pool, part, None])
        for a, q in later.get(d, []):
            part = acquired[a][1] * q / acquired[a][0]
            acquired[a][0] -= q
            acquired[a][1] -= part
            legs[d].append(["LaterAcquisition", q * factor[d] / factor[a], part, a])
        quantity += acquired[d][0] / factor[d]
        cost += acquired[d][1]
        sold, given, net = out[d]
        if sold > 0:
            part = sold / total[d]
            disposals.append([d, sold, net, [[rule, q * part, c * part, net * q / total[d] - c * part, a] for rule, q, c, a in legs[d]]])
        if given > 0:
            part = given / total[d]
            transfers.append([d, given, sum((c * part for _, _, c, _ in legs[d]), F(0))])
    return disposals, transfers, (quantity * current, cost)


def text(x, places=9):
    """A fraction as a decimal, rounded half away from zero."""
    scaled = abs(x) * 10**places
    whole = (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)
    sign = "-" if x < 0 and whole else ""
    digits = str(whole).rjust(places + 1, "0")
    return sign + digits[:-places] + "." + digits[-places:]


def portfolio(seed, corporate_actions=False):
    r = random.Random(seed)
    allow_short = seed % 4 == 3
    rows = []
    for ticker in ["AA", "BB"][: 1 + seed % 2]:
        held = F(0)
        day = date(2018, 3, 1)
        for _ in range(r.randrange(6, 26)):
            day += timedelta(days=r.choice([0, 0, 1, 2, 7, 12, 29, 30, 31, 90]))
            split_today = any(x["date"] == day and x["ticker"] == ticker and x["action"] in ("SPLIT", "UNSPLIT", "BONUS") for x in rows)
            any_today = any(x["date"] == day and x["ticker"] == ticker for x in rows)
            decimals = r.choice([0, 0, 1, 3])
            q = F(r.randrange(1, 4000), 10**decimals)
            price = F(r.randrange(1, 90000), 1000)
            fees = F(r.choice([0, 0, 5, 995, 1250]), 100)
            kind = r.random()
            base = dict(date=day, ticker=ticker)
            if kind < 0.06 and not any_today:
                ratio = F(r.choice([2, 3, 10])) if r.random() < 0.7 else F(5, 2)
                if r.random() < 0.5:
                    rows.append(dict(base, action="SPLIT", ratio=ratio))
                    held *= ratio
                else:
                    rows.append(dict(base, action="UNSPLIT", ratio=ratio))
                    held /= ratio
            elif split_today:
                continue
            elif corporate_actions and kind > 0.94 and held > 0 and not any_today:
                ratio = r.choice([(F(1), F(1)), (F(10), F(1)), (F(3), F(2))])
                rows.append(dict(base, action="BONUS", held=ratio[0], new=ratio[1]))
                held *= (ratio[0] + ratio[1]) / ratio[0]
            elif corporate_actions and kind > 0.88 and held > 0 and not any_today:
                rows.append(dict(base, action="RIGHTS", quantity=q, price=price, fees=fees))
                held += q
            elif corporate_actions and kind > 0.82 and held > 0 and not any_today:
                total, value = F(r.randrange(1, 900000), 100), F(r.randrange(1, 9000000), 100)
                rows.append(dict(base, action="CAPRETURN", quantity=F(1), total=total, value=value))
            elif kind < 0.12 and held > 0:
                rows.append(dict(base, action="ACCUMULATION", quantity=F(1), total=F(r.randrange(1, 9000), 100)))
            elif kind < 0.16 and held > 0:
                rows.append(dict(base, action="CAPRETURN", quantity=F(1), total=F(r.randrange(1, 300), 100)))
            elif kind < 0.22:
                rows.append(dict(base, action="SPOUSE_IN", quantity=q, total=F(r.randrange(0, 900000), 100)))
                held += q
            elif kind < 0.30 and (held >= q or allow_short):
                rows.append(dict(base, action="SPOUSE_OUT", quantity=q))
                held -= q
            elif kind < 0.62 and (held >= q or allow_short):
                rows.append(dict(base, action="SELL", quantity=q, price=price, fees=fees))
                held -= q
            else:
                rows.append(dict(base, action="BUY", quantity=q, price=price, fees=fees))
                held += q
        if allow_short and held < 0:
            day += timedelta(days=r.choice([1, 20, 60]))
            q = F(-(-(-held).numerator // (-held).denominator))
            rows.append(dict(date=day, ticker=ticker, action="BUY", quantity=q, price=F(3), fees=F(0)))
    r.shuffle(rows)
    return rows, allow_short


def plain(x):
    """A decimal without end zeros; the inputs all are decimals."""
    t = text(x, 6).rstrip("0").rstrip(".")
    assert F(t) == x, x
    return t


def line(row):
    t = f'{row["date"]} {row["action"]} {row["ticker"]}'
    if row["action"] in ("BUY", "SELL", "RIGHTS"):
        t += f' {plain(row["quantity"])} @ {plain(row["price"])}'
        if row["fees"]:
            t += f' FEES {plain(row["fees"])}'
    elif row["action"] in ("SPLIT", "UNSPLIT"):
        t += f' RATIO {plain(row["ratio"])}'
    elif row["action"] == "BONUS":
        t += f' RATIO {plain(row["held"])}:{plain(row["new"])}'
    elif row["action"] == "SPOUSE_OUT":
        t += f' {plain(row["quantity"])}'
    else:
        t += f' {plain(row["quantity"])} TOTAL {plain(row["total"])}'
        if "value" in row:
            t += f' VALUE {plain(row["value"])}'
    return t


def main():
    cases = []
    for seed in range(150):
        rows, allow_short = portfolio(seed)
        case = dict(seed=seed, allow_short=allow_short, input=[line(row) for row in rows])
        results = {t: identify([x for x in rows if x["ticker"] == t], allow_short) for t in sorted({x["ticker"] for x in rows})}
        errors = [v for v in results.values() if isinstance(v, str)]
        if errors:
            case["refused"] = errors
        else:
            case["disposals"] = sorted(
                [str(d), t, text(q), [[rule, text(n), text(c), text(g), a and str(a)] for rule, n, c, g, a in legs]]
                for t, (disposals, _, _) in results.items()
                for d, q, net, legs in disposals
            )
            case["transfers"] = sorted([str(d), t, text(q), text(c)] for t, (_, transfers, _) in results.items() for d, q, c in transfers)
            case["holdings"] = [[t, text(q), text(c)] for t, (_, _, (q, c)) in results.items()]
        cases.append(case)
    print("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]")


if __name__ == "__main__":
    main()
