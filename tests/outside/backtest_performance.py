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
            asked = {"runId": identity, "rollingWindow": 20, "benchmark": "INDEX"}
            more = json.loads(run("call", "get_performance", json.dumps(asked), "--json"))
            compare_more(more, equity, market(seed, equity), f"{days} days")
    with server.home() as environment, tempfile.TemporaryDirectory() as name:
        run = lambda *words: subprocess.run([given.panoply, *words], env=environment, check=True, capture_output=True, text=True).stdout
        deflated(run, pathlib.Path(name))


def series(seed: int, days: int, drift: float) -> list:
    """Equity at the end of each weekday."""
    dice, value, day, found = random.Random(seed), 100_000.0, datetime.date(2020, 1, 1), []
    while len(found) < days:
        if day.weekday() < 5:
            found.append((day, round(value, 4)))
            value *= 1 + dice.gauss(drift, 0.01)
        day += datetime.timedelta(days=1)
    return found


def market(seed: int, equity: list) -> list:
    """Closes of an index on the same days, partly moving with the equity."""
    dice, close, found = random.Random(seed + 50), 1000.0, []
    for place, (day, value) in enumerate(equity):
        if place:
            close *= 1 + 0.5 * (value / equity[place - 1][1] - 1) + dice.gauss(0.0002, 0.006)
        found.append((day, round(close, 4)))
    return found


def write(file: pathlib.Path, run: str, equity: list) -> None:
    with file.open("w") as out:
        for number, (day, close) in enumerate(market(uuid.UUID(run).int, equity)):
            event = {
                "eventId": str(uuid.UUID(int=10**6 + number)), "runId": run, "timestamp": f"{day}T20:00:00.000Z",
                "eventType": "MarketDataEvent", "properties": {"SecuritySymbol": "INDEX", "Data": {"Close": close}},
            }
            out.write(json.dumps(event) + "\n")
        # In the market from the tenth to the fortieth day.
        for number, (place, side) in enumerate([(9, "Buy"), (39, "Sell")]):
            fill = {"OrderId": run, "SecuritySymbol": "INDEX", "Direction": side, "Quantity": 1, "Price": 1000, "Currency": "USD"}
            event = {"eventId": str(uuid.UUID(int=2 * 10**6 + number)), "runId": run, "timestamp": f"{equity[place][0]}T20:30:00.000Z", "eventType": "TradeExecution", "properties": fill}
            out.write(json.dumps(event) + "\n")
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


def compare_more(ours: dict, equity: list, index: list, about: str) -> None:
    """Months, windows, benchmark and exposure."""
    import empyrical
    import pandas

    series = lambda rows: pandas.Series([value for _, value in rows], index=pandas.to_datetime([day for day, _ in rows])).pct_change().dropna()
    returns, benchmark = series(equity), series(index)
    months = empyrical.aggregate_returns(returns, "monthly")
    theirs = {f"{year}-{month:02}": value for (year, month), value in months.items()}
    got = {own["month"]: own["value"] for own in ours["monthly"]}
    same("monthly returns", got, theirs, about)
    rolling = empyrical.roll_sharpe_ratio(returns, 20)
    theirs = {str(day.date()): value for day, value in rolling.items()}
    got = {own["time"][:10]: own["sharpe"] for own in ours["rollingSharpe"]}
    same("rolling Sharpe ratios", got, {day: theirs[day] for day in got}, about)
    alpha, beta = empyrical.alpha_beta(returns, benchmark)
    same("alpha and beta", {"alpha": ours["benchmark"]["alpha"], "beta": ours["benchmark"]["beta"]}, {"alpha": float(alpha), "beta": float(beta)}, about)
    first, last = datetime.datetime.combine(equity[0][0], datetime.time(20)), datetime.datetime.combine(equity[-1][0], datetime.time(21))
    held = datetime.datetime.combine(equity[39][0], datetime.time(20, 30)) - datetime.datetime.combine(equity[9][0], datetime.time(20, 30))
    same("exposure", {"share": ours["exposure"]}, {"share": held / (last - first)}, about)


def same(what: str, ours: dict, theirs: dict, about: str) -> None:
    wrong = {key: (ours.get(key), theirs.get(key)) for key in ours.keys() | theirs.keys() if key not in ours or key not in theirs or abs(ours[key] - theirs[key]) > 1e-9 * max(1, abs(theirs[key]))}
    server.expect(ours and not wrong, f"{about}: {len(ours)} {what} {dict(list(wrong.items())[:3]) or ''}")


def deflated(run, folder: pathlib.Path) -> None:
    """The deflated Sharpe ratio of the best of forty runs (Bailey and López de Prado 2014), by scipy."""
    import numpy
    from scipy import stats

    file, daily = folder / "sweep.jsonl", {}
    with file.open("w") as out:
        for trial in range(40):
            equity, identity = series(trial + 1000, 250, 0.0004), str(uuid.UUID(int=trial + 1))
            values = numpy.array([value for _, value in equity])
            daily[identity] = values[1:] / values[:-1] - 1
            for number, (day, value) in enumerate(equity):
                event = {"eventId": str(uuid.UUID(int=number + 1)), "runId": identity, "timestamp": f"{day}T21:00:00.000Z", "eventType": "StateChange", "properties": {"StateType": "Account", "StateAfter": {"Equity": value}}}
                out.write(json.dumps(event) + "\n")
    run("backtest", "import", str(file))
    best = json.loads(run("call", "query_runs", json.dumps({"limit": 1}), "--json"))["best"]
    ratio = {name: own.mean() / own.std(ddof=1) for name, own in daily.items()}
    top = max(ratio, key=ratio.get)
    euler, trials, own = 0.5772156649015329, len(ratio), daily[top]
    spread = numpy.std(list(ratio.values()), ddof=1)
    chance = spread * ((1 - euler) * stats.norm.ppf(1 - 1 / trials) + euler * stats.norm.ppf(1 - 1 / (trials * numpy.e)))
    skewness, kurtosis = stats.skew(own), stats.kurtosis(own, fisher=False)
    z = (ratio[top] - chance) * numpy.sqrt(len(own) - 1) / numpy.sqrt(1 - skewness * ratio[top] + (kurtosis - 1) / 4 * ratio[top] ** 2)
    theirs = {"trials": trials, "sharpe": ratio[top] * numpy.sqrt(252), "expectedByChance": chance * numpy.sqrt(252), "deflatedSharpe": stats.norm.cdf(z)}
    server.expect(best["runId"] == top, "the best of forty runs")
    wrong = {name: (best[name], value) for name, value in theirs.items() if abs(best[name] - value) > 1e-6}
    server.expect(not wrong, f"deflated Sharpe ratio {theirs['deflatedSharpe']:.4f} of the best of {trials} runs {wrong or ''}")


if __name__ == "__main__":
    main()
