#!/usr/bin/env python3
"""Counts, sums and hashes of every column of a snapshot, to prove that packing lost nothing.

    source_totals.py SNAPSHOT_FOLDER > source_totals.json

Run once whenever `data/rmf/rmf.tsv` is packed anew; the test `packed_figures` compares the
packed file with what this prints. Sums are exact (decimal), texts are hashed in the order of
the symbols.
"""
import csv
import hashlib
import json
import sys
from decimal import Decimal
from pathlib import Path

folder = Path(sys.argv[1])
lines = (folder / "funds.jsonl").read_text(encoding="utf-8").splitlines()
funds = sorted((json.loads(line, parse_float=Decimal) for line in lines), key=lambda f: f["symbol"])
navs = list(csv.DictReader((folder / "nav.csv").open(encoding="utf-8")))


def plain(number):
    text = format(Decimal(number), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def column(name):
    values = [fund.get(name) for fund in funds]
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, (int, Decimal)) for value in known):
        return {"count": len(known), "sum": plain(sum(known, Decimal(0)))}
    joined = "\n".join("" if value is None else value for value in values)
    return {"count": len(known), "sha256": hashlib.sha256(joined.encode()).hexdigest()}


names = [
    "fund_id", "symbol", "fund_name", "amc", "fund_classification", "management_style",
    "dividend_policy", "risk_level", "nav_date", "nav_value", "buy_price", "sell_price",
    *(f"perf_{p}" for p in ("ytd", "3m", "6m", "1y", "3y", "5y", "10y", "since_inception")),
    "benchmark_name",
    *(f"benchmark_{p}" for p in ("ytd", "3m", "6m", "1y", "3y", "5y", "10y")),
    "min_initial", "min_additional", "min_redemption", "min_balance",
    "factsheet_url", "annual_report_url", "halfyear_report_url",
    "suitability_risk_level", "suitability_target_investor", "suitability_investment_horizon",
    "volatility_1y", "tracking_error", "x_net_asset", "x_fund_name_th", "x_amc_id",
    "x_fund_status", "x_regis_date", "x_aimc_category", "x_sec_policy_th", "x_sec_std_dev",
    "x_sec_std_dev_period",
]
parts = [part for fund in funds for part in fund["asset_allocation"] or []]
fees = [fee for fund in funds for fee in fund["fees"] or []]
print(json.dumps({
    "funds": len(funds),
    "columns": {name: column(name) for name in names},
    "allocation": {
        "count": len(parts),
        "sum": plain(sum((part["percentage"] for part in parts), Decimal(0))),
        "sha256": hashlib.sha256("\n".join(part["asset_class"] for part in parts).encode()).hexdigest(),
    },
    "fees": {
        "count": len(fees),
        "known": sum(fee["fee_value"] is not None for fee in fees),
        "sha256": hashlib.sha256("\n".join(fee["fee_type"] + fee["fee_desc"] for fee in fees).encode()).hexdigest(),
    },
    "nav": {
        "count": len(navs),
        "sum": plain(sum((Decimal(row["nav"]) for row in navs), Decimal(0))),
        "sha256": hashlib.sha256("\n".join(
            f"{row['symbol']} {row['date']} {plain(row['nav'])}"
            for row in sorted(navs, key=lambda row: (row["symbol"], row["date"]))
        ).encode()).hexdigest(),
    },
    "flags": {
        flag: sum(flag in fund["x_flags"] for fund in funds)
        for flag in sorted({flag for fund in funds for flag in fund["x_flags"]})
    },
    "nav_change": {
        fund["symbol"]: [plain(fund["nav_change"]), plain(fund["nav_change_percent"])]
        for fund in funds if fund["nav_change"] is not None
    },
}, ensure_ascii=False, indent=1))
