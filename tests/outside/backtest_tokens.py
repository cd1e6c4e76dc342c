"""Pages of events as a table cost at most 30 % of the tokens of their lines, for every type of event.

Tokens are those of o200k_base. The reply is counted whole, as a host gives it to its model; the
lines are those that `panoply backtest export` writes. The runs: the bundled one, and those of five
engines as they are imported here.
"""

import json
import pathlib
import subprocess
import tempfile

import engines
import rpc
import server

TYPES = "TradeExecution OrderRejection IndicatorCalculation PositionUpdate StateChange MarketDataEvent RiskEvent".split()
GOLDEN = pathlib.Path(__file__).parents[2] / "crates/panoply-backtest/tests/golden"
BUNDLED = "d91a7ddb-8986-54b3-8bd4-42d1dab9869e"
MOST = 0.30
PAGE = 100


def main() -> None:
    given = server.arguments()
    with server.home() as environment, tempfile.TemporaryDirectory() as name:
        run = lambda *words: subprocess.run([given.panoply, *map(str, words)], env=environment, check=True, capture_output=True, text=True).stdout
        folder = pathlib.Path(name)
        engines.nautilus_two(folder)
        files = {
            "nautilus_trader": [folder / "nautilus_two.jsonl"],
            "backtesting.py": [GOLDEN / "trades.csv", GOLDEN / "equity.csv"],
            "backtrader": [GOLDEN / "backtrader_transactions.csv", GOLDEN / "backtrader_writer.csv"],
            "vectorbt": [GOLDEN / "vectorbt_orders.csv", GOLDEN / "vectorbt_value.csv"],
            "freqtrade": [GOLDEN / "freqtrade.zip"],
        }
        runs = {"bundled": BUNDLED}
        for engine, own in files.items():
            said = json.loads(run("backtest", "import", "--json", "--symbol", "TEST", *own))
            runs[engine] = said["runId"] if isinstance(said, dict) else said[0]["runId"]
        pages = []
        with rpc.session(given.panoply, home=environment["PANOPLY_HOME"]) as session:
            for engine, own in runs.items():
                lines = run("backtest", "export", own).splitlines()
                for kind in TYPES:
                    pages += page(session, engine, own, kind, [line for line in lines if json.loads(line)["eventType"] == kind])
    counts = rpc.tokens(given.node, [text for _, lines, reply in pages for text in (lines, reply)])
    worst = 0.0
    for (what, _, _), lines, reply in zip(pages, counts[::2], counts[1::2]):
        print(f"{what:50} {lines:6} tokens as lines, {reply:6} as a table: {reply / lines:.1%}")
        worst = max(worst, reply / lines)
    kinds = {what.split()[1] for what, _, _ in pages}
    server.expect(kinds == set(TYPES), f"all types of events were measured {set(TYPES) - kinds}")
    server.expect(worst <= MOST, f"each of {len(pages)} pages costs at most {MOST:.0%} of its lines, the worst {worst:.1%}")


def page(session: rpc.Session, engine: str, run: str, kind: str, lines: list) -> list:
    """The first page of a type. A handful of events is no page: the frame of the reply outweighs them."""
    if len(lines) < 20:
        return []
    arguments = {"runId": run, "eventType": kind, "pageSize": PAGE, "format": "table", "handles": True}
    reply = session.call("get_events_by_type", arguments)
    returned = reply.data["metadata"]["returnedCount"]
    server.expect(returned == min(PAGE, len(lines)), f"{engine}: {returned} events of type {kind}")
    return [(f"{engine} {kind}", "\n".join(lines[:returned]), reply.seen)]


main()
