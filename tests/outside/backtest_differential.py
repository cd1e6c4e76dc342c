"""Random questions about nasty logs: our replies against SQLite with the contract's SQL and DuckDB.

The reference shares no code with the program. SQLite holds the events as the contract's table and
answers with the contract's statements (open bounds left out, ties broken by arrival); DuckDB answers
the aggregates and groups a second time from the JSON; backtest_reference.py replays the events for
state, chains, validation and random filters.
"""

import datetime
import json
import pathlib
import random
import sqlite3
import subprocess
import tempfile
import uuid

import backtest_reference
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
                for kind, count in sorted(judge.asked.items()):
                    print(f"  log {seed}: {kind} {count}")
        print(f"ok: {asked} random questions on three logs have the answers of SQLite, DuckDB and an independent replay")


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
        if kind == "PositionUpdate":
            properties |= {"Quantity": dice.choice([0, 5, -7.25, "12.5"]), "AveragePrice": round(dice.uniform(1, 2), 4), "UnrealizedPnL": number(), "RealizedPnL": number()}
            if dice.random() < 0.1:
                properties["Quantity"] = dice.choice(["abc", [1], True])
        if kind == "StateChange" and dice.random() < 0.5:
            properties |= {"StateType": "PnL", "StateAfter": {"RealizedPnL": number(), "UnrealizedPnL": number()}}
        parent, noted = None, None
        if events and dice.random() < 0.35:
            parent = dice.choice(events[-20:])["eventId"]
        elif dice.random() < 0.03:
            parent = str(uuid.UUID(int=dice.randrange(10**30, 10**31), version=4))
        if dice.random() < 0.05:
            noted = [{"Field": dice.choice(["Feed", "Properties.Value"]), "Error": "Stale", "Severity": dice.choice(["Error", "Warning"])}]
        moment = start + datetime.timedelta(seconds=dice.randrange(size // 3))
        events.append({
            "eventId": str(uuid.UUID(int=(seed + 1) * 10**6 + place, version=4)), "runId": run,
            "timestamp": moment.isoformat(timespec="milliseconds") + "Z", "eventType": kind,
            "severity": dice.choice(["Error", "Warning", "Info", "Debug"]), "category": dice.choice(["Execution", "MarketData", "Indicators", "Risk", "Performance"]),
            "properties": properties, "parentEventId": parent, "validationErrors": noted,
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
        import pandas

        self.sqlite = sqlite3.connect(":memory:")
        self.sqlite.execute("CREATE TABLE Events (Arrival INTEGER PRIMARY KEY, EventId TEXT, RunId TEXT, Timestamp TEXT, EventType TEXT, Severity TEXT, Properties TEXT, ParentEventId TEXT)")
        self.sqlite.execute("CREATE INDEX Parents ON Events (ParentEventId)")
        rows = [(place, event["eventId"], event["runId"], event["timestamp"], event["eventType"], event["severity"], json.dumps(event["properties"]), event["parentEventId"]) for place, event in enumerate(events)]
        self.sqlite.executemany("INSERT INTO Events VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        self.duckdb = duckdb.connect()
        # One statement: DuckDB inserts single rows slowly.
        frame = pandas.DataFrame(rows, columns=["Arrival", "EventId", "RunId", "Timestamp", "EventType", "Severity", "Properties", "ParentEventId"])
        self.duckdb.register("frame", frame)
        self.duckdb.execute("CREATE TABLE Events AS SELECT * REPLACE (CAST(Properties AS JSON) AS Properties) FROM frame")

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


    def grouped(self, arguments, by):
        where, values = self.bounds(arguments)
        path = arguments["propertyPath"]
        keys = {"Severity": "Severity", "SecuritySymbol": "json_extract_string(Properties, '$.SecuritySymbol')", "IndicatorName": "json_extract_string(Properties, '$.IndicatorName')"}
        key = keys.get(by, f"strftime(date_trunc('{by}', CAST(Timestamp[:19] AS TIMESTAMP)), '%Y-%m-%dT%H:%M:%SZ')")
        value = f"CASE WHEN json_type(Properties, '{path}') IN ('BIGINT', 'UBIGINT', 'DOUBLE', 'VARCHAR') THEN TRY_CAST(json_extract_string(Properties, '{path}') AS DOUBLE) END"
        sql = f"SELECT k, count(*), count(v), sum(v), min(v), max(v) FROM (SELECT {key} AS k, {value} AS v FROM Events WHERE RunId = ? AND EventType = ?{where}) WHERE k IS NOT NULL GROUP BY k"
        return {row[0]: row[1:] for row in self.duckdb.execute(sql, [arguments["runId"], arguments["eventType"], *values]).fetchall()}

    def chain(self, root, depth):
        """The contract's recursive statement, with its depth written out."""
        sql = "WITH RECURSIVE EventChain AS (SELECT EventId, Timestamp, Arrival, 1 AS depth FROM Events WHERE EventId = ? UNION ALL SELECT e.EventId, e.Timestamp, e.Arrival, ec.depth + 1 FROM Events e INNER JOIN EventChain ec ON e.ParentEventId = ec.EventId WHERE ec.depth < ?) SELECT EventId FROM EventChain ORDER BY Timestamp, Arrival"
        return [row[0] for row in self.sqlite.execute(sql, [root, depth]).fetchall()]


class Judge:
    def __init__(self, client, reference, dice, events):
        self.client, self.reference, self.dice, self.events = client, reference, dice, events
        self.run = events[0]["runId"]
        self.rules = backtest_reference.Rules(events)
        self.asked = {}

    def ask_something(self) -> None:
        ask = self.dice.choice([self.by_type, self.by_entity, self.aggregate, self.grouped, self.query, self.filtered, self.filtered, self.snapshot, self.chain, self.pattern, self.validation])
        self.asked[ask.__name__] = self.asked.get(ask.__name__, 0) + 1
        ask()

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

    def grouped(self) -> None:
        by = self.dice.choice(["SecuritySymbol", "IndicatorName", "Severity", "hour", "day", "week"])
        arguments = {"runId": self.run, "eventType": self.dice.choice(TYPES), "propertyPath": self.dice.choice(["$.Value", "$.Nested.Deep"]), **self.range(), "groupBy": by}
        reply = self.client.call("aggregate_metrics", {**arguments, "aggregations": ["count", "sum", "min", "max"]})
        ours = {group["key"]: (group["count"], group["valueCount"], group["sum"], group["min"], group["max"]) for group in reply["groups"]}
        theirs = self.reference.grouped(arguments, by)
        same = ours.keys() == theirs.keys() and all(near(a, b) for key in ours for a, b in zip(ours[key], theirs[key]))
        self.expect(same, "aggregate_metrics", arguments, ours, theirs)

    def filtered(self) -> None:
        """A random filter, grouped by security, against Python."""
        condition, kind = backtest_reference.Filter(self.dice), self.dice.choice(TYPES)
        arguments = {"runId": self.run, "eventType": kind, "where": condition.text, "groupBy": ["SecuritySymbol"], "top": 5, **self.range()}
        reply = self.client.call("query_events", arguments)
        first, last = arguments.get("startTime", ""), arguments.get("endTime", "9999")
        matching = [event for event in self.rules.events if event["eventType"] == kind and first <= event["timestamp"] <= last and condition.holds(event)]
        counts = {}
        for event in matching:
            counts[event["properties"]["SecuritySymbol"]] = counts.get(event["properties"]["SecuritySymbol"], 0) + 1
        ours = reply["metadata"]["matchedEvents"], {group["key"]["SecuritySymbol"]: group["count"] for group in reply["groups"]}, [event["eventId"] for event in reply["events"]]
        theirs = len(matching), counts, [event["eventId"] for event in matching[:5]]
        self.expect(ours == theirs, "query_events", arguments, ours, theirs)

    def snapshot(self) -> None:
        arguments = {"runId": self.run, "timestamp": self.dice.choice(self.events)["timestamp"]}
        reply = self.client.call("get_state_snapshot", {**arguments, "includeActiveOrders": False})
        state, theirs = reply["state"], self.rules.state(arguments["timestamp"])
        ours = {own["securitySymbol"]: (own["quantity"], own["averagePrice"], own["unrealizedPnL"], own["realizedPnL"]) for own in state["positions"]}
        same = ours.keys() == theirs["positions"].keys() and all(near(float(a), b) for key in ours for a, b in zip(ours[key], theirs["positions"][key]))
        self.expect(same, "get_state_snapshot", arguments, ours, theirs["positions"])
        shown = {(own["name"], own["securitySymbol"]): own["value"] for own in state["indicators"]}
        expected = {key: backtest_reference.number(value) for key, value in theirs["indicators"].items() if backtest_reference.number(value) is not None}
        same = all(key in shown and near(float(shown[key]), value) for key, value in expected.items()) and shown.keys() <= theirs["indicators"].keys()
        self.expect(same, "get_state_snapshot", arguments, shown, theirs["indicators"])
        if theirs["profit"]:
            profit = (state["pnl"]["realized"], state["pnl"]["unrealized"], state["pnl"]["total"])
            same = all(near(a, b) for a, b in zip(profit, (*theirs["profit"], sum(theirs["profit"]))))
            self.expect(same, "get_state_snapshot", arguments, profit, theirs["profit"])

    def chain(self) -> None:
        root, depth = self.dice.choice(self.events)["eventId"], self.dice.choice([1, 2, 3, 10])
        arguments = {"runId": self.run, "rootEventId": root, "maxDepth": depth}
        reply = self.client.call("query_event_sequence", arguments)
        ours, theirs = [event["eventId"] for event in reply["sequences"][0]["events"]], self.rules.chain(root, depth)
        self.expect(ours == theirs == self.reference.chain(root, depth), "query_event_sequence", arguments, ours, theirs)

    def pattern(self) -> None:
        types, incomplete = self.dice.sample(TYPES, self.dice.randrange(1, 4)), self.dice.random() < 0.5
        arguments = {"runId": self.run, "sequencePattern": types, "findIncomplete": incomplete, "maxDepth": self.dice.choice([2, 3, 10]), "pageSize": 5}
        reply = self.client.call("query_event_sequence", arguments)
        theirs = self.rules.pattern(types, arguments["maxDepth"])[incomplete]
        ours = reply["metadata"]["totalSequences"], [sequence["rootEventId"] for sequence in reply["sequences"]]
        self.expect(ours == (len(theirs), theirs[:5]), "query_event_sequence", arguments, ours, (len(theirs), theirs[:5]))

    def validation(self) -> None:
        severity, index = self.dice.choice([None, "Error", "Warning"]), self.dice.randrange(3)
        arguments = {"runId": self.run, "pageSize": 20, "pageIndex": index, **({"severityFilter": severity} if severity else {})}
        reply = self.client.call("get_validation_errors", {**arguments, "maxTokens": 200_000})
        found = [(event["eventId"], self.rules.problems(event)) for event in self.rules.events]
        wanted = [(name, problems) for name, problems in found if any(severity in (None, own) for _, own in problems)]
        ours = [(event["eventId"], [(problem["Field"], problem["Severity"]) for problem in event["validationErrors"]]) for event in reply["events"]]
        theirs = wanted[20 * index : 20 * index + 20]
        same = reply["metadata"]["totalCount"] == len(wanted) and ours == theirs
        self.expect(same, "get_validation_errors", arguments, (reply["metadata"]["totalCount"], ours), (len(wanted), theirs))

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
