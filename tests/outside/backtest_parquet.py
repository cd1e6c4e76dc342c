"""DuckDB and Polars read the Parquet files of an export, and get the figures of aggregate_metrics."""

import json
import pathlib
import subprocess
import tempfile

import server

RUN = "d91a7ddb-8986-54b3-8bd4-42d1dab9869e"
PROPERTIES = {"TradeExecution": ["Price", "Commission", "Slippage"], "IndicatorCalculation": ["Value"], "PositionUpdate": ["UnrealizedPnL"], "StateChange": ["StateAfter.RealizedPnL"]}


def main() -> None:
    given = server.arguments()
    with server.home() as environment, tempfile.TemporaryDirectory() as name:
        run = lambda *words: subprocess.run([given.panoply, *words], env=environment, check=True, capture_output=True, text=True).stdout
        folder = pathlib.Path(name) / "lake"
        run("backtest", "export", RUN, "--parquet", str(folder))
        files = sorted(folder.glob(f"runId={RUN}/eventType=*/*.parquet"))
        server.expect(len(files) == 7, f"one file for each of {len(files)} event types")
        for kind, paths in PROPERTIES.items():
            for path in paths:
                compare(run, folder, kind, path)
        by_security(run, folder)
        exact(folder)
        again(given, run, files, pathlib.Path(name))


def asked(run, kind: str, path: str, **more) -> dict:
    arguments = {"runId": RUN, "eventType": kind, "propertyPath": f"$.{path}", "aggregations": ["count", "sum", "avg", "min", "max", "stddev"], **more}
    return json.loads(run("call", "aggregate_metrics", json.dumps(arguments), "--json"))


def compare(run, folder: pathlib.Path, kind: str, path: str) -> None:
    import duckdb
    import polars

    ours = asked(run, kind, path)
    figures = [ours["aggregations"]["count"], ours["metadata"]["valueCount"], *(ours["aggregations"][name] for name in ("sum", "avg", "min", "max", "stddev"))]
    column = f'"{path}"'
    source = f"read_parquet('{folder}/**/*.parquet', hive_partitioning = true, union_by_name = true)"
    sql = f"SELECT count(*), count({column}), sum({column}), avg({column}), min({column}), max({column}), stddev_pop({column}) FROM {source} WHERE eventType = '{kind}' AND runId = '{RUN}'"
    same("DuckDB", kind, path, figures, duckdb.sql(sql).fetchall()[0])
    frame = polars.scan_parquet(folder / f"runId={RUN}" / f"eventType={kind}" / "*.parquet", hive_partitioning=True)
    value = polars.col(path)
    row = frame.select(polars.len(), value.count().alias("n"), value.sum().alias("s"), value.mean().alias("a"), value.min().alias("l"), value.max().alias("h"), value.std(ddof=0).alias("d")).collect().row(0)
    same("Polars", kind, path, figures, row)


def same(who: str, kind: str, path: str, ours: list, theirs) -> None:
    wrong = [(own, other) for own, other in zip(ours, theirs, strict=True) if abs(own - other) > 1e-9 * max(1, abs(other))]
    server.expect(not wrong, f"{who}: seven figures of {kind} {path} {wrong or ''}")


def by_security(run, folder: pathlib.Path) -> None:
    """Texts are columns too, and times are times."""
    import duckdb

    ours = {group["key"]: (group["count"], group["sum"]) for group in asked(run, "TradeExecution", "Commission", groupBy="SecuritySymbol")["groups"]}
    rows = duckdb.sql(f"SELECT SecuritySymbol, count(*), sum(Commission) FROM read_parquet('{folder}/**/*.parquet', hive_partitioning = true, union_by_name = true) WHERE eventType = 'TradeExecution' GROUP BY 1").fetchall()
    theirs = {row[0]: row[1:] for row in rows}
    equal = ours.keys() == theirs.keys() and all(abs(a - b) < 1e-6 for key in ours for a, b in zip(ours[key], theirs[key]))
    server.expect(equal, f"DuckDB: commission by security {'' if equal else (ours, theirs)}")
    weeks = {group["key"][:10]: group["count"] for group in asked(run, "TradeExecution", "Price", groupBy="week")["groups"]}
    counted = dict(duckdb.sql(f"SELECT strftime(date_trunc('week', CAST(timestamp AS TIMESTAMPTZ) AT TIME ZONE 'UTC'), '%Y-%m-%d'), count(*) FROM read_parquet('{folder}/*/eventType=TradeExecution/*.parquet') GROUP BY 1").fetchall())
    server.expect(weeks == counted, f"DuckDB: fills by week {'' if weeks == counted else (weeks, counted)}")


def exact(folder: pathlib.Path) -> None:
    """Typed columns, zstd, and the properties as they were logged."""
    import duckdb

    file = next(folder.glob("*/eventType=TradeExecution/*.parquet"))
    codecs = {row[0] for row in duckdb.sql(f"SELECT DISTINCT compression FROM parquet_metadata('{file}')").fetchall()}
    server.expect(codecs == {"ZSTD"}, f"compressed with {codecs}")
    types = dict(duckdb.sql(f"SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM '{file}')").fetchall())
    wanted = {"Price": "DOUBLE", "SecuritySymbol": "VARCHAR", "eventId": "VARCHAR", "properties": "VARCHAR"}
    server.expect(wanted.items() <= types.items() and types["timestamp"].startswith("TIMESTAMP"), f"typed columns {types}")
    prices = duckdb.sql(f"SELECT count(*) FROM '{file}' WHERE Price IS DISTINCT FROM TRY_CAST(json_extract(properties, '$.Price') AS DOUBLE)").fetchall()[0][0]
    server.expect(prices == 0, "each price is that of the logged properties")


def again(given, run, files: list, folder: pathlib.Path) -> None:
    """The files imported elsewhere are the same run, line by line."""
    original = run("backtest", "export", RUN)
    with server.home() as elsewhere:
        there = lambda *words: subprocess.run([given.panoply, *words], env=elsewhere, check=True, capture_output=True, text=True).stdout
        there("backtest", "import", *map(str, files))
        copy = there("backtest", "export", RUN)
    server.expect(copy == original and original.count("\n") > 5000, f"{original.count(chr(10))} lines are the same after an import")


if __name__ == "__main__":
    main()
