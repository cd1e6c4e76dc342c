"""The Python client streams a run over broken connections; each event is stored once, in order."""

import datetime
import http.client
import json
import pathlib
import random
import sys
import urllib.request

import server

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "packaging/clients/python"))
import panoply_backtest  # noqa: E402

EVENTS = 3000


class Flaky(panoply_backtest.Run):
    """Loses some requests before, and some replies after the server has them."""

    dice = random.Random(11)
    lost = 0

    def _request(self, method, path, body=None, *more):
        fate = self.dice.random() if path.startswith("/events") else 1
        if fate < 0.2:
            Flaky.lost += 1
            raise ConnectionResetError("before the request")
        if fate < 0.35 and body:
            # Half of the lines arrive, and the reply is lost.
            Flaky.lost += 1
            half = body[: body.index(b"\n", len(body) // 2) + 1]
            super()._request(method, path, half, *more)
            raise http.client.RemoteDisconnected("after half the request")
        text = super()._request(method, path, body, *more)
        if fate < 0.5:
            Flaky.lost += 1
            raise ConnectionResetError("after the request")
        return text


def main() -> None:
    given = server.arguments()
    with server.http(given.panoply, "backtest") as base:
        sent = stream(base)
        refuses(base)
        ours = tool(base, sent["run"], "get_events_by_type", eventType="TradeExecution", pageSize=1)
        server.expect(ours["metadata"]["totalCount"] == EVENTS // 2, f"{EVENTS // 2} fills are stored once")
        seen = []
        for page in range(EVENTS // 2000 + 1):
            reply = tool(base, sent["run"], "get_events_by_type", eventType="TradeExecution", pageSize=1000, pageIndex=page, maxTokens=200_000, fields=["eventId"])
            seen += [event["eventId"] for event in reply["events"]]
        server.expect(seen == sent["fills"], "in the order in which they were sent")


def stream(base: str) -> dict:
    start, fills = datetime.datetime(2025, 1, 1), []
    with Flaky(base, batch=137, strategyName="Streamed", parameters={"fast": 8}) as run:
        for number in range(EVENTS // 2):
            moment = start + datetime.timedelta(minutes=number)
            bar = run.event("MarketDataEvent", moment, {"SecuritySymbol": "A", "Data": {"Close": 100 + number / 100}})
            fill = {"OrderId": run.run_id, "SecuritySymbol": "A", "Direction": "Buy", "Quantity": 1, "Price": 100 + number / 100}
            fills.append(run.event("TradeExecution", moment, fill, parent=bar))
    server.expect(Flaky.lost >= 5, f"{Flaky.lost} requests or replies were lost on the way")
    report = run.report.get("report", run.report)
    server.expect(report["events"] == EVENTS and report["repeated"] == 0, f"the sealed run has {EVENTS} events, none twice")
    server.expect(run.rejected == [], "no line was rejected")
    return {"run": run.run_id, "fills": fills}


def refuses(base: str) -> None:
    """A refusal is an error, and is not tried again."""
    try:
        panoply_backtest.Run(base, run_id="not a run")
    except panoply_backtest.Refused as error:
        server.expect("40" in str(error), f"a wrong id is refused: {str(error)[:80]}")
        return
    raise SystemExit("FAILED: a wrong id was accepted")


def tool(base: str, run: str, name: str, **arguments) -> dict:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": {"runId": run, **arguments}}}
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
    request = urllib.request.Request(f"{base}/mcp", json.dumps(body).encode(), headers)
    text = urllib.request.urlopen(request, timeout=60).read().decode()
    line = next(line for line in text.splitlines() if line.startswith(("data: {", "{")))
    return json.loads(line.removeprefix("data: "))["result"]["structuredContent"]


if __name__ == "__main__":
    main()
