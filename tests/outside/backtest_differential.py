"""Random questions about nasty logs: our replies against SQLite with the contract's SQL and DuckDB.

The reference shares no code with the program. SQLite holds the events as the contract's table and
answers with the contract's statements (open bounds left out, ties broken by arrival); DuckDB answers
the aggregates a second time from the JSON.
"""

import datetime
import json
import pathlib
import random
import sqlite3
import subprocess
import tempfile
import uuid

import server

TYPES = ["TradeExecution", "OrderRejection", "IndicatorCalculation", "PositionUpdate", "StateChange", "MarketDataEvent", "RiskEvent"]
SYMBOLS = ["EURUSD", "ÄÖ/X", "a'b", "x\"y", "A B"]


def main() -> None:
    given = server.arguments()
    questions = 5001 if given.long else 600
    with server.home() as environment, tempfile.TemporaryDirectory() as name:
        asked = 0
        for seed in range(3):
            events = log(seed, [1500, 400, 6000][seed])
            file = pathlib.Path(name) / f"{seed}.jsonl"
            file.write_text("".join(json.dumps(event, ensure_ascii=seed == 1) + "\n" for event in events))
            subprocess.run([given.panoply, "backtest", "import", str(file)], env=environment, check=True, capture_output=True)
            reference = Reference(events)
            with Client(given.panoply, environment) as client:
                judge = Judge(client, reference, random.Random(seed + 100), events)
                for _ in range(questions // 3):
                    judge.ask_something()
                    asked += 1
        print(f"ok: {asked} random questions on three logs have the answers of SQLite and DuckDB")


def log(seed: int, size: int) -> list:
    """Events out of order, with equal times, numbers as texts, missing and odd values."""
    dice = random.Random(seed)
    run, start = str(uuid.UUID(int=seed + 1, version=4)), datetime.datetime(2024, 1, 1)
    number = lambda: dice.choice([dice.randrange(-1000, 1000), round(dice.gauss(0, 100), dice.randrange(6)), f"{dice.gauss(0, 1):.4f}"])
    events = []
    for place in range(size):
        kind = dice.choice(TYPES)
        properties = {"SecuritySymbol": dice.choice(SYMBOLS), "Value": number(), "Nested": {"Deep": number()}, "Flag": dice.random() < 0.5}
        if dice.random() < 0.3:
            properties["OrderId"] = str(uuid.UUID(int=dice.randrange(50), version=4))
        if kind == "IndicatorCalculation":
            properties["IndicatorName"] = dice.choice(["EMA", "RSI"])
        if dice.random() < 0.1:
            properties.pop("Value")
        if dice.random() < 0.05:
            properties["Value"] = dice.choice(["n/a", None, True, [1], {"a": 1}])
        moment = start + datetime.timedelta(seconds=dice.randrange(size // 3))
        events.append({
            "eventId": str(uuid.UUID(int=(seed + 1) * 10**6 + place, version=4)), "runId": run,
            "timestamp": moment.isoformat(timespec="milliseconds") + "Z", "eventType": kind,
            "severity": dice.choice(["Error", "Warning", "Info", "Debug"]), "category": dice.choice(["Execution", "MarketData", "Indicators", "Risk", "Performance"]),
            "properties": properties, "parentEventId": None, "validationErrors": None,
        })
    return events


class Client:
    """Calls tools of one server over stdio."""

    def __init__(self, panoply, environment):
        self.process = subprocess.Popen([panoply, "stdio", "backtest"], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.number = 0

    def __enter__(self):
        self.send("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "differential", "version": "1"}})
        self.process.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=30)

    def send(self, method, params):
        self.number += 1
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def call(self, tool, arguments):
        reply = self.send("tools/call", {"name": tool, "arguments": arguments})
        if "result" not in reply or reply["result"].get("isError"):
            raise SystemExit(f"FAILED: {tool} {arguments}: {reply}")
        return reply["result"]["structuredContent"]


class Reference:
    def __init__(self, events):
        import duckdb

        self.sqlite = sqlite3.connect(":memory:")
        self.sqlite.execute("CREATE TABLE Events (Arrival INTEGER PRIMARY KEY, EventId TEXT, RunId TEXT, Timestamp TEXT, EventType TEXT, Severity TEXT, Properties TEXT)")
        rows = [(place, event["eventId"], event["runId"], event["timestamp"], event["eventType"], event["severity"], json.dumps(event["properties"])) for place, event in enumerate(events)]
        self.sqlite.executemany("INSERT INTO Events VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        self.duckdb = duckdb.connect()
        self.duckdb.execute("CREATE TABLE Events (Arrival INTEGER, EventId TEXT, RunId TEXT, Timestamp TEXT, EventType TEXT, Severity TEXT, Properties JSON)")
        self.duckdb.executemany("INSERT INTO Events VALUES (?, ?, ?, ?, ?, ?, ?)", rows)

    @staticmethod
    def bounds(arguments):
        where, values = "", []
        for name, comparison in {"startTime": ">=", "endTime": "<="}.items():
            if name in arguments:
                where += f" AND Timestamp {comparison} ?"
                values.append(arguments[name])
        return where, values

    def by_type(self, arguments, size, index):
        where, values = self.bounds(arguments)
        if "severity" in arguments:
            where += " AND Severity = ?"
            values.append(arguments["severity"])
        values = [arguments["runId"], arguments["eventType"], *values]
        total = self.sqlite.execute(f"SELECT COUNT(*) FROM Events WHERE RunId = ? AND EventType = ?{where}", values).fetchone()[0]
        rows = self.sqlite.execute(f"SELECT EventId, Properties FROM Events WHERE RunId = ? AND EventType = ?{where} ORDER BY Timestamp, Arrival LIMIT ? OFFSET ?", [*values, size, size * index]).fetchall()
        return total, rows

    def by_entity(self, arguments, size, index):
        types = arguments.get("eventTypes") or []
        marks = ",".join("?" * len(types))
        where = f" AND EventType IN ({marks})" if types else ""
        values = [arguments["runId"], arguments["entityType"], arguments["entityValue"], *types]
        clause = f"FROM Events WHERE RunId = ? AND json_extract(Properties, '$.' || ?) = ?{where}"
        total = self.sqlite.execute(f"SELECT COUNT(*) {clause}", values).fetchone()[0]
        return total, self.sqlite.execute(f"SELECT EventId, Properties {clause} ORDER BY Timestamp, Arrival LIMIT ? OFFSET ?", [*values, size, size * index]).fetchall()

    NUMERIC = "json_type(Properties, ?) IN ('integer', 'real') OR json_type(Properties, ?) = 'text' AND json_extract(Properties, ?) GLOB '[-0-9]*' AND json_valid(json_extract(Properties, ?))"

    def aggregate(self, arguments):
        where, values = self.bounds(arguments)
        path = arguments["propertyPath"]
        base = [arguments["runId"], arguments["eventType"], *values]
        count = self.sqlite.execute(f"SELECT COUNT(*) FROM Events WHERE RunId = ? AND EventType = ?{where}", base).fetchone()[0]
        sql = f"SELECT COUNT(*), AVG(CAST(json_extract(Properties, ?) AS REAL)), MIN(CAST(json_extract(Properties, ?) AS REAL)), MAX(CAST(json_extract(Properties, ?) AS REAL)) FROM Events WHERE RunId = ? AND EventType = ?{where} AND ({self.NUMERIC})"
        row = self.sqlite.execute(sql, [path, path, path, *base, path, path, path, path]).fetchone()
        duck = f"SELECT count(v), avg(v), min(v), max(v), stddev_pop(v), sum(v) FROM (SELECT TRY_CAST(json_extract_string(Properties, ?) AS DOUBLE) AS v FROM Events WHERE RunId = ? AND EventType = ?{where} AND json_type(Properties, ?) IN ('BIGINT', 'UBIGINT', 'DOUBLE', 'VARCHAR'))"
        return count, row, self.duckdb.execute(duck, [path, *base, path]).fetchone()


class Judge:
    def __init__(self, client, reference, dice, events):
        self.client, self.reference, self.dice, self.events = client, reference, dice, events
        self.run = events[0]["runId"]

    def ask_something(self) -> None:
        self.dice.choice([self.by_type, self.by_entity, self.aggregate, self.query])()

    def range(self) -> dict:
        times = sorted(self.dice.choice(self.events)["timestamp"] for _ in range(2))
        names = [name for name in ("startTime", "endTime") if self.dice.random() < 0.5]
        return {name: times[name == "endTime"] for name in names}

    def expect(self, same: bool, tool: str, arguments: dict, ours, theirs) -> None:
        if not same:
            raise SystemExit(f"FAILED: {tool} {json.dumps(arguments)}\n ours   {ours}\n theirs {theirs}")

    def page(self, tool: str, arguments: dict, find) -> None:
        size, index = self.dice.choice([1, 7, 100]), self.dice.randrange(3)
        reply = self.client.call(tool, {**arguments, "pageSize": size, "pageIndex": index, "maxTokens": 200_000})
        total, rows = find(arguments, size, index)
        ours = [(event["eventId"], event["properties"]) for event in reply["events"]]
        theirs = [(row[0], json.loads(row[1])) for row in rows]
        same = (reply["metadata"]["totalCount"], ours) == (total, theirs) and reply["metadata"]["hasMore"] == (size * index + len(rows) < total and len(rows) > 0 or size * index + len(rows) < total)
        self.expect(same, tool, arguments, (reply["metadata"], ours), (total, theirs))

    def by_type(self) -> None:
        arguments = {"runId": self.run, "eventType": self.dice.choice(TYPES), **self.range()}
        if self.dice.random() < 0.4:
            arguments["severity"] = self.dice.choice(["Error", "Warning", "Info", "Debug"])
        self.page("get_events_by_type", arguments, self.reference.by_type)

    def by_entity(self) -> None:
        kind = self.dice.choice(["SecuritySymbol", "OrderId", "IndicatorName"])
        values = [event["properties"].get(kind) for event in self.events[:300]]
        arguments = {"runId": self.run, "entityType": kind, "entityValue": self.dice.choice([value for value in values if value])}
        if self.dice.random() < 0.5:
            arguments["eventTypes"] = self.dice.sample(TYPES, self.dice.randrange(1, 4))
        self.page("get_events_by_entity", arguments, self.reference.by_entity)

    def aggregate(self) -> None:
        arguments = {"runId": self.run, "eventType": self.dice.choice(TYPES), "propertyPath": self.dice.choice(["$.Value", "$.Nested.Deep", "$.None"]), **self.range()}
        reply = self.client.call("aggregate_metrics", {**arguments, "aggregations": ["count", "sum", "avg", "min", "max", "stddev"]})
        count, row, duck = self.reference.aggregate(arguments)
        ours = reply["aggregations"]
        figures = [reply["metadata"]["valueCount"], ours["avg"], ours["min"], ours["max"]]
        same = ours["count"] == count and all(near(a, b) for a, b in zip(figures, row)) and all(near(a, b) for a, b in zip([*figures, ours["stddev"], ours["sum"]], duck))
        self.expect(same, "aggregate_metrics", arguments, (ours, reply["metadata"]), (count, row, duck))

    def query(self) -> None:
        """Groups of `query_events` against DuckDB."""
        kind, limit = self.dice.choice(TYPES), self.dice.choice([-50, 0, 0.5, 200])
        arguments = {"runId": self.run, "eventType": kind, "where": f"Value > {limit} and Flag = true", "groupBy": ["SecuritySymbol"], "value": "Nested.Deep", "percentiles": [50]}
        reply = self.client.call("query_events", arguments)
        ours = {group["key"]["SecuritySymbol"]: (group["count"], group["sum"], group["percentiles"]["p50"]) for group in reply["groups"]}
        rows = self.reference.duckdb.execute(
            "SELECT json_extract_string(Properties, '$.SecuritySymbol'), count(*), sum(TRY_CAST(json_extract_string(Properties, '$.Nested.Deep') AS DOUBLE)), quantile_cont(TRY_CAST(json_extract_string(Properties, '$.Nested.Deep') AS DOUBLE), 0.5) "
            "FROM Events WHERE EventType = ? AND json_extract_string(Properties, '$.Flag') = 'true' AND json_type(Properties, '$.Value') IN ('BIGINT', 'UBIGINT', 'DOUBLE', 'VARCHAR') AND TRY_CAST(json_extract_string(Properties, '$.Value') AS DOUBLE) > ? GROUP BY 1",
            [kind, limit],
        ).fetchall()
        theirs = {row[0]: row[1:] for row in rows}
        same = ours.keys() == theirs.keys() and all(near(a, b) for key in ours for a, b in zip(ours[key], theirs[key]))
        self.expect(same, "query_events", arguments, ours, theirs)


def near(ours, theirs) -> bool:
    if ours is None or theirs is None:
        return ours is theirs
    return abs(ours - theirs) <= 1e-9 * max(1.0, abs(theirs))


if __name__ == "__main__":
    main()
