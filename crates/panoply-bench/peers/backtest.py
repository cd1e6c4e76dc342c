"""Runs the queries of the backtest benchmark on SQLite, DuckDB and polars.

usage: backtest.py EVENTS.jsonl QUESTIONS.json FOLDER PEER...

SQLite uses the table, indexes and SQL of the published contract; DuckDB a table with the
properties as JSON; polars a Parquet file with the properties as columns. Prints one line of JSON:
for each peer the cost of loading, and for each query its answer and time in milliseconds.
`panoply-bench backtest` starts this script and compares.

Events at one time are ordered by arrival, which the contract's SQL leaves open; otherwise answers
could not be compared.
"""

import importlib
import json
import pathlib
import sqlite3
import statistics
import sys
import time

PERIODS = ("hourOfDay", "month", "week")
SIX = "count(*), sum({0}), avg({0}), min({0}), max({0})"


def cpu() -> float:
    """Seconds of all threads, user and system; `os.times` counts in hundredths."""
    return time.process_time()


def timed(ask):
    """The answer, and the time of a few repetitions in milliseconds: the median, and of all processors."""
    taken, before = [], cpu()
    for _ in range(5):
        start = time.perf_counter()
        answer = ask()
        taken.append((time.perf_counter() - start) * 1000)
        if sum(taken) > 8000:
            break
    return {"answer": answer, "ms": statistics.median(taken), "cpuMs": (cpu() - before) * 1000 / len(taken)}


def figures(rows, width):
    """Rows of `width` columns of a key, count, sum, minimum and maximum."""
    return {
        " ".join(str(part) for part in row[:width]): dict(zip(("count", "sum", "min", "max"), row[width:])) for row in rows
    }


class Sql:
    """Shared by SQLite and DuckDB; `text` and `number` read a property."""

    def rows(self, sql, *parameters):
        raise NotImplementedError

    def ask(self, question):
        return getattr(self, question["kind"])(question)

    def page(self, where, question, *parameters):
        [(total,)] = self.rows(f"SELECT count(*) FROM Events WHERE {where}", *parameters)
        size = question["pageSize"]
        found = self.rows(
            f"SELECT EventId, Timestamp, EventType, Severity, Category, Properties, ParentEventId FROM Events"
            f" WHERE {where} ORDER BY Timestamp, Id LIMIT {size} OFFSET {question['pageIndex'] * size}",
            *parameters,
        )
        return {"total": total, "ids": [str(row[0]) for row in found]}

    def by_type(self, question):
        return self.page("EventType = ?", question, question["eventType"])

    def by_entity(self, question):
        where = f"{self.text('$.' + question['entityType'])} = ?"
        return self.page(where, question, question["entityValue"])

    def aggregate(self, question):
        value = self.number(question["propertyPath"])
        where, parameters = "EventType = ?", [question["eventType"]]
        if question.get("startTime"):
            where += " AND Timestamp BETWEEN ? AND ?"
            parameters += [self.moment(question["startTime"]), self.moment(question["endTime"])]
        [(count, total, mean, low, high)] = self.rows(
            f"SELECT {SIX.format(value)} FROM Events WHERE {where}", *parameters
        )
        # SQLite has no standard deviation: a second pass, as in the contract.
        [(spread,)] = self.rows(
            f"SELECT avg(({value} - {mean!r}) * ({value} - {mean!r})) FROM Events WHERE {where}",
            *parameters,
        )
        return {"count": count, "sum": total, "avg": mean, "min": low, "max": high, "stddev": spread**0.5}

    def snapshot(self, question):
        moment = self.moment(question["timestamp"])
        last = (
            "SELECT {0}, {1} FROM (SELECT *, row_number() OVER (PARTITION BY {0} ORDER BY Timestamp DESC, Id DESC)"
            " AS place FROM Events WHERE EventType = ? AND Timestamp <= ?) WHERE place = 1"
        )
        symbol, name = self.text("$.SecuritySymbol"), self.text("$.IndicatorName")
        positions = self.rows(
            last.format(symbol, self.number("$.Quantity")), "PositionUpdate", moment
        )
        indicators = self.rows(
            last.format(f"{name} || ' ' || {symbol}", self.number("$.Value")), "IndicatorCalculation", moment
        )
        return {
            "positions": {key: float(value) for key, value in positions},
            "indicators": {key: float(value) for key, value in indicators},
        }

    def incomplete(self, question):
        first, then = question["sequencePattern"]
        where = (
            "Events.EventType = ? AND NOT EXISTS (SELECT 1 FROM Events AS child"
            " WHERE child.ParentEventId = Events.EventId AND child.EventType = ?)"
        )
        [(total,)] = self.rows(f"SELECT count(*) FROM Events WHERE {where}", first, then)
        found = self.rows(
            f"SELECT EventId FROM Events WHERE {where} ORDER BY Timestamp, Id LIMIT {question['pageSize']}",
            first,
            then,
        )
        return {"total": total, "ids": [str(row[0]) for row in found]}

    def grouped_aggregate(self, question):
        value = self.number(question["propertyPath"])
        group = question["groupBy"]
        key = self.period(group) if group in PERIODS else self.text("$." + group)
        found = self.rows(
            f"SELECT {key}, count(*), sum({value}), min({value}), max({value}) FROM Events WHERE EventType = ? GROUP BY 1",
            question["eventType"],
        )
        return {"groups": figures(found, 1), "ids": []}

    def query_events(self, question):
        where, parameters = "EventType = ?", [question["eventType"]]
        for path, op, bound in question["conditions"]:
            read = self.text if isinstance(bound, str) else self.number
            where += f" AND {read('$.' + path)} {op} ?"
            parameters.append(bound)
        value, keys = self.number("$." + question["value"]), question.get("groupBy", [])
        made = [self.period(key) if key in PERIODS else self.text("$." + key) for key in keys]
        group = f" GROUP BY {', '.join(str(place + 1) for place in range(len(keys)))}" if keys else ""
        found = self.rows(
            f"SELECT {', '.join([*made, ''])} count(*), sum({value}), min({value}), max({value}) FROM Events WHERE {where}{group}",
            *parameters,
        )
        ids = []
        if question.get("top"):
            ids = self.rows(
                f"SELECT EventId FROM Events WHERE {where} AND {value} IS NOT NULL"
                f" ORDER BY {value} DESC, Timestamp, Id LIMIT {question['top']}",
                *parameters,
            )
        return {"groups": figures(found, len(keys)), "ids": [str(row[0]) for row in ids]}

    def errors(self, _):
        [(total,)] = self.rows(
            f"SELECT count(*) FROM Events WHERE EventType = 'TradeExecution' AND {self.text('$.OrderId')} = 'invalid-guid'"
        )
        return {"total": total}


class Sqlite(Sql):
    def __init__(self, events, folder):
        file = folder / "peer.sqlite"
        self.connection = sqlite3.connect(file)
        run = self.connection.executescript
        # The index of ten million random ids does not fit SQLite's own cache of 2 MB.
        run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -4000000;")
        run(
            """CREATE TABLE Events (
              Id INTEGER PRIMARY KEY AUTOINCREMENT, EventId TEXT NOT NULL UNIQUE, RunId TEXT NOT NULL,
              Timestamp TEXT NOT NULL, EventType TEXT NOT NULL, Severity TEXT NOT NULL,
              Category TEXT NOT NULL, Properties TEXT NOT NULL CHECK (json_valid(Properties)),
              ParentEventId TEXT, ValidationErrors TEXT);"""
        )

        def rows():
            with open(events, encoding="utf-8") as lines:
                for line in lines:
                    event = json.loads(line)
                    yield (
                        event["eventId"], event["runId"], event["timestamp"], event["eventType"],
                        event["severity"], event["category"], json.dumps(event["properties"]),
                        event["parentEventId"],
                    )

        with self.connection:
            self.connection.executemany(
                "INSERT INTO Events (EventId, RunId, Timestamp, EventType, Severity, Category, Properties, ParentEventId)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                rows(),
            )
        run(
            """CREATE INDEX ByTime ON Events (RunId, Timestamp);
            CREATE INDEX ByType ON Events (EventType);
            CREATE INDEX BySeverity ON Events (Severity);
            CREATE INDEX ByCategory ON Events (Category);
            CREATE INDEX ByParent ON Events (ParentEventId) WHERE ParentEventId IS NOT NULL;"""
        )
        self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.bytes = file.stat().st_size

    def rows(self, sql, *parameters):
        return self.connection.execute(sql, parameters).fetchall()

    def text(self, path):
        return f"json_extract(Properties, '{path}')"

    def number(self, path):
        return f"CAST(json_extract(Properties, '{path}') AS REAL)"

    def moment(self, text):
        return text

    def period(self, name):
        return {
            "hourOfDay": "substr(Timestamp, 12, 2)",
            "month": "substr(Timestamp, 1, 7)",
            # The Monday on or before.
            "week": "date(Timestamp, '-6 days', 'weekday 1')",
        }[name]


class DuckDb(Sql):
    def __init__(self, events, folder):
        file = folder / "peer.duckdb"
        self.connection = importlib.import_module("duckdb").connect(str(file))
        self.connection.execute("SET preserve_insertion_order = true")
        self.connection.execute(
            f"""CREATE TABLE Events AS SELECT row_number() OVER () AS Id, eventId AS EventId,
              timestamp AS Timestamp, eventType AS EventType, severity AS Severity,
              category AS Category, properties AS Properties, parentEventId AS ParentEventId
            FROM read_json('{events}', format = 'newline_delimited', columns = {{
              eventId: 'UUID', timestamp: 'TIMESTAMP', eventType: 'VARCHAR', severity: 'VARCHAR',
              category: 'VARCHAR', properties: 'JSON', parentEventId: 'UUID'}})"""
        )
        self.connection.execute("CHECKPOINT")
        self.bytes = file.stat().st_size

    def rows(self, sql, *parameters):
        return self.connection.execute(sql, list(parameters)).fetchall()

    def text(self, path):
        return f"(Properties ->> '{path}')"

    def number(self, path):
        return f"CAST(Properties ->> '{path}' AS DOUBLE)"

    def moment(self, text):
        return text.removesuffix("Z")

    def period(self, name):
        return {
            "hourOfDay": "strftime(Timestamp, '%H')",
            "month": "strftime(Timestamp, '%Y-%m')",
            "week": "strftime(date_trunc('week', Timestamp), '%Y-%m-%d')",
        }[name]


class Polars:
    def __init__(self, events, folder):
        self.pl = importlib.import_module("polars")
        file = folder / "peer.parquet"
        # Streamed: ten million events in memory are more than most machines have. The first
        # hundred thousand have every property.
        lines = self.pl.scan_ndjson(events, infer_schema_length=100_000)
        lines.with_row_index("Id").sink_parquet(file, compression="zstd")
        self.bytes = file.stat().st_size
        self.frame = self.pl.scan_parquet(file)

    def ask(self, question):
        return getattr(self, question["kind"])(question)

    def property(self, path):
        column = self.pl.col("properties")
        for name in path.removeprefix("$.").split("."):
            column = column.struct.field(name)
        return column

    def page(self, where, question):
        # One scan for total and page; `timestamp` is a text of fixed length, so it sorts.
        found = self.frame.filter(where).sort("timestamp", "Id").collect()
        size = question["pageSize"]
        ids = found.slice(question["pageIndex"] * size, size)
        ids.rows()
        return {"total": len(found), "ids": ids["eventId"].to_list()}

    def by_type(self, question):
        return self.page(self.pl.col("eventType") == question["eventType"], question)

    def by_entity(self, question):
        return self.page(self.property(question["entityType"]) == question["entityValue"], question)

    def aggregate(self, question):
        pl, value = self.pl, self.property(question["propertyPath"]).cast(self.pl.Float64)
        where = pl.col("eventType") == question["eventType"]
        if question.get("startTime"):
            where &= pl.col("timestamp").is_between(
                pl.lit(question["startTime"]), pl.lit(question["endTime"])
            )
        six = [
            pl.len().alias("count"), value.sum().alias("sum"), value.mean().alias("avg"),
            value.min().alias("min"), value.max().alias("max"), value.std(ddof=0).alias("stddev"),
        ]
        return self.frame.filter(where).select(six).collect().to_dicts()[0]

    def period(self, name):
        pl, timestamp = self.pl, self.pl.col("timestamp")
        if name == "week":
            day = timestamp.str.slice(0, 10).str.to_date("%Y-%m-%d")
            return day.dt.truncate("1w").dt.strftime("%Y-%m-%d")
        return timestamp.str.slice(11, 2) if name == "hourOfDay" else timestamp.str.slice(0, 7)

    def grouped(self, where, keys, value):
        pl = self.pl
        made = [self.period(key) if key in PERIODS else self.property(key) for key in keys]
        named = [column.alias(f"key{place}") for place, column in enumerate(made)]
        four = [pl.len(), pl.col("value").sum(), pl.col("value").min().alias("low"), pl.col("value").max().alias("high")]
        frame = self.frame.filter(where).select(*named, value.cast(pl.Float64).alias("value"))
        frame = frame.group_by([f"key{place}" for place in range(len(keys))]).agg(four) if keys else frame.select(four)
        return figures(frame.collect().rows(), len(keys))

    def grouped_aggregate(self, question):
        where = self.pl.col("eventType") == question["eventType"]
        return {"groups": self.grouped(where, [question["groupBy"]], self.property(question["propertyPath"])), "ids": []}

    def query_events(self, question):
        pl = self.pl
        where = pl.col("eventType") == question["eventType"]
        compare = {"=": "eq", ">": "gt", ">=": "ge"}
        for path, op, bound in question["conditions"]:
            where &= getattr(self.property(path), compare[op])(bound)
        value, ids = self.property(question["value"]), []
        if question.get("top"):
            found = self.frame.filter(where & value.is_not_null()).select("eventId", "timestamp", "Id", value.alias("value"))
            found = found.sort("value", "timestamp", "Id", descending=[True, False, False]).head(question["top"]).collect()
            ids = found["eventId"].to_list()
        return {"groups": self.grouped(where, question.get("groupBy", []), value), "ids": ids}

    def last(self, event_type, moment, key, value):
        pl = self.pl
        where = (pl.col("eventType") == event_type) & (pl.col("timestamp") <= pl.lit(moment))
        found = (
            self.frame.filter(where)
            .select(key.alias("key"), value.cast(pl.Float64).alias("value"), "timestamp", "Id")
            .sort("timestamp", "Id")
            .group_by("key")
            .agg(pl.col("value").last())
            .collect()
        )
        return dict(found.rows())

    def snapshot(self, question):
        symbol = self.property("SecuritySymbol")
        both = self.property("IndicatorName") + " " + symbol
        at = question["timestamp"]
        return {
            "positions": self.last("PositionUpdate", at, symbol, self.property("Quantity")),
            "indicators": self.last("IndicatorCalculation", at, both, self.property("Value")),
        }

    def incomplete(self, question):
        pl = self.pl
        first, then = question["sequencePattern"]
        parents = self.frame.filter(pl.col("eventType") == then).select("parentEventId")
        roots = self.frame.filter(pl.col("eventType") == first).select("eventId", "timestamp", "Id")
        found = roots.join(parents, left_on="eventId", right_on="parentEventId", how="anti")
        found = found.sort("timestamp", "Id").collect()
        return {"total": len(found), "ids": found["eventId"].head(question["pageSize"]).to_list()}

    def errors(self, _):
        pl = self.pl
        where = (pl.col("eventType") == "TradeExecution") & (self.property("OrderId") == "invalid-guid")
        return {"total": self.frame.filter(where).select(pl.len()).collect().item()}


def main():
    events, questions, folder = sys.argv[1], json.loads(pathlib.Path(sys.argv[2]).read_text()), pathlib.Path(sys.argv[3])
    peers, known = {}, {"SQLite": Sqlite, "DuckDB": DuckDb, "polars": Polars}
    for name in sys.argv[4:]:
        peer = known[name]
        start, began = cpu(), time.perf_counter()
        try:
            peer = peer(events, folder)
        except ImportError as missing:
            peers[name] = {"missing": str(missing)}
            continue
        loaded = {"cpuSeconds": cpu() - start, "seconds": time.perf_counter() - began, "bytes": peer.bytes}
        answers = [timed(lambda question=question: peer.ask(question)) for question in questions]
        peers[name] = {"loaded": loaded, "answers": answers}
        del peer
    print(json.dumps(peers))


main()
