#!/usr/bin/env python3
"""Works out the answers to questions about RMF funds, from the packed figures and nothing else.

    oracle.py [data/rmf/rmf.tsv] > questions.json

It shares no code with the program under test: it reads the packed file itself and computes with
Python's decimal and statistics. The test `golden` asks the program the same questions.
Run it again whenever the figures are packed anew.
"""
import datetime
import json
import statistics
import sys
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parents[3] / "data/rmf/rmf.tsv"
PERIODS = ("ytd", "3m", "6m", "1y", "3y", "5y", "10y")


def read(path):
    texts, columns, funds, checksum = [], [], [], None

    def plain(cell):
        if cell.startswith("="):
            return texts[int(cell[1:])]
        out, escaped = [], False
        for c in cell:
            if escaped:
                out.append({"t": "\t", "n": "\n", "r": "\r"}.get(c, c))
                escaped = False
            elif c == "\\":
                escaped = True
            else:
                out.append(c)
        return "".join(out)

    for line in path.read_text(encoding="utf-8").split("\n"):
        kind, *cells = line.split("\t")
        if kind == "text":
            texts.append(plain(cells[0]))
        elif kind == "columns":
            columns = cells
        elif kind == "fund":
            cells += [""] * (len(columns) - len(cells))
            fund = {name: plain(cell) or None for name, cell in zip(columns, cells)}
            fund["nav"], fund["assets"], fund["fees"] = [], [], []
            for name in fund:
                if name.startswith("perf_") or (name.startswith("benchmark_") and name != "benchmark_name"):
                    fund[name] = Decimal(fund[name]) if fund[name] is not None else None
            fund["risk"] = int(fund["risk"])
            funds.append(fund)
        elif kind == "asset":
            funds[-1]["assets"].append((plain(cells[0]), Decimal(cells[1])))
        elif kind == "fee":
            funds[-1]["fees"].append([plain(cell) for cell in cells])
        elif kind == "nav":
            day = datetime.date.fromisoformat(cells[0])
            series = [(day, Decimal(cells[1]))]
            for gap, value in zip(cells[2::2], cells[3::2]):
                day += datetime.timedelta(days=int(gap))
                series.append((day, Decimal(value)))
            funds[-1]["nav"] = series
        elif kind == "sha256":
            checksum = cells[0]
    return funds, checksum


FUNDS, CHECKSUM = read(SOURCE)
BY_CODE = {fund["symbol"]: fund for fund in FUNDS}
QUESTIONS = []


def number(value):
    return None if value is None else float(value)


def four(value):
    return value.quantize(Decimal("0.0001"), ROUND_HALF_UP)


def ordered(funds, key, descending=True):
    known = sorted((f for f in funds if key(f) is not None), key=lambda f: f["symbol"])
    known.sort(key=key, reverse=descending)  # stable, so equals stay in the order of codes
    if descending:
        # `reverse` keeps equals in place too, so nothing is to be mended here.
        pass
    return known + sorted((f for f in funds if key(f) is None), key=lambda f: f["symbol"])


def last_nav(fund):
    return fund["nav"][-1][1] if fund["nav"] else None


def ask(question, tool, arguments, *expect):
    QUESTIONS.append({
        "id": f"q{len(QUESTIONS) + 1:02}", "question": question, "tool": tool,
        "arguments": arguments, "expect": list(expect),
    })


def equals(path, value, tolerance=None):
    value = number(value) if isinstance(value, Decimal) else value
    expected = {"path": "structuredContent/" + path, "equals": value}
    if tolerance is not None:
        expected["tolerance"] = tolerance
    return expected


def column(path, name, values):
    return {"path": "structuredContent/" + path, "column": name,
            "values": [number(v) if isinstance(v, Decimal) else v for v in values]}


def length(path, count):
    return {"path": "structuredContent/" + path, "length": count}


def error(code, *mentions):
    return {"error": code, "mentions": list(mentions)}


# --- how a period went ------------------------------------------------------------------------

def stats_question(question, arguments):
    period, risk = arguments["period"], arguments.get("riskLevel")
    group = [f for f in FUNDS if risk is None or f["risk"] == risk]
    key = "perf_" + period
    values = [f[key] for f in group if f[key] is not None]
    board = ordered(group, lambda f: f[key], arguments.get("sortBy", "desc") == "desc")
    board = [f for f in board if f[key] is not None][: arguments.get("limit", 10)]
    gaps = [None if f["benchmark_" + period] is None else f[key] - f["benchmark_" + period] for f in board]
    ask(question, "get_rmf_fund_performance", arguments,
        equals("periodStats/average", sum(values) / len(values), 5e-5),
        equals("periodStats/median", statistics.median(values), 5e-5),
        equals("periodStats/min", min(values)),
        equals("periodStats/max", max(values)),
        equals("periodStats/fundsCounted", len(values)),
        length("funds", len(board)),
        column("funds", "symbol", [f["symbol"] for f in board]),
        column("funds", "performance", [f[key] for f in board]),
        column("funds", "outperformance", [None if gap is None else four(gap) for gap in gaps]))


stats_question("Average YTD return over all RMF funds?", {"period": "ytd"})
for name in ("3m", "6m", "1y", "3y", "5y"):
    stats_question(f"Best funds over {name}", {"period": name, "limit": 15})
stats_question("Worst of the year", {"period": "ytd", "sortBy": "asc", "limit": 5})
stats_question("Best at risk 5", {"period": "1y", "riskLevel": 5, "limit": 50})
stats_question("Best at risk 1", {"period": "3y", "riskLevel": 1})
stats_question("Worst at risk 8", {"period": "5y", "riskLevel": 8, "sortBy": "asc", "limit": 3})
ask("Unsupported period", "get_rmf_fund_performance", {"period": "2w"}, error("BAD_REQUEST"))

# --- searches ---------------------------------------------------------------------------------

POLICIES = {"EQUITY": "ตราสารทุน", "FIXED": "ตราสารหนี้", "MIXED": "ผสม"}
# Class prefix, and words of the name for funds without any class.
ALIASES = {"PROPERTY": ("PRF", ("property", "real estate")), "COMMODITY": ("COM", ("gold",))}


def in_category(fund, category):
    if category in POLICIES:
        return fund["policy_th"] == POLICIES[category]
    prefix, words = ALIASES.get(category, (category, ()))
    if fund["classification"]:
        return fund["classification"].upper().startswith(prefix)
    return not fund["compare_code"] and any(word in fund["name"].lower() for word in words)


def fits(fund, a):
    def has(text, part):
        return part.lower() in (text or "").lower()

    return all((
        "search" not in a or has(fund["symbol"], a["search"]) or has(fund["name"], a["search"]),
        "amc" not in a or has(fund["company"], a["amc"]),
        fund["risk"] >= a.get("minRiskLevel", 1),
        fund["risk"] <= a.get("maxRiskLevel", 8),
        "minYtdReturn" not in a
        or (fund["perf_ytd"] is not None and fund["perf_ytd"] >= Decimal(str(a["minYtdReturn"]))),
        "category" not in a or in_category(fund, a["category"].upper()),
    ))


KEYS = {
    "ytd": lambda f: f["perf_ytd"], "1y": lambda f: f["perf_1y"], "risk": lambda f: f["risk"],
    "nav": last_nav, "name": lambda f: f["name"].lower(),
}


def search_question(question, arguments):
    found = [f for f in FUNDS if fits(f, arguments)]
    down = arguments.get("sortOrder", "desc") == "desc"
    found = ordered(found, KEYS[arguments.get("sortBy", "ytd")], down)
    shown = found[: arguments.get("limit", 20)]
    ask(question, "search_rmf_funds", arguments,
        equals("totalCount", len(found)), length("funds", len(shown)),
        column("funds", "symbol", [f["symbol"] for f in shown]),
        column("funds", "perf_ytd", [f["perf_ytd"] for f in shown]),
        column("funds", "nav_value", [last_nav(f) for f in shown]))


search_question("Krungsri funds up to risk 5, best YTD first",
                {"amc": "Krungsri", "maxRiskLevel": 5, "sortBy": "ytd", "limit": 10})
search_question("How many gold funds?", {"search": "gold", "limit": 50})
search_question("Category MIXAGG", {"category": "MIXAGG", "limit": 50})
search_question("All equity funds", {"category": "EQUITY", "limit": 100})
search_question("Bond funds by risk", {"category": "fixed", "sortBy": "risk", "sortOrder": "asc", "limit": 50})
search_question("Mixed funds by name", {"category": "MIXED", "sortBy": "name", "sortOrder": "asc", "limit": 60})
search_question("Property funds", {"category": "property"})
search_question("Commodity funds by NAV", {"category": "COMMODITY", "sortBy": "nav"})
search_question("TISCO has 59 funds", {"amc": "tisco", "limit": 100})
search_question("Kasikorn has 33 funds", {"amc": "KASIKORN", "sortBy": "1y", "limit": 100})
search_question("At least 20 % this year", {"minYtdReturn": 20, "limit": 100})
search_question("No loss at low risk", {"minYtdReturn": 0, "maxRiskLevel": 3, "sortBy": "risk"})
search_question("Very high risk, worst first", {"minRiskLevel": 8, "sortOrder": "asc", "limit": 100})
search_question("China funds of some company", {"search": "vietnam", "amc": "asset", "maxRiskLevel": 6, "limit": 100})
search_question("A part of a code", {"search": "SCBRM", "limit": 100})
search_question("Brackets in a code", {"search": "(A)", "limit": 100})
ask("No filter", "search_rmf_funds", {}, error("BAD_REQUEST"))

# --- pages ------------------------------------------------------------------------------------


def page_question(question, arguments):
    found = [f for f in FUNDS if fits(f, {k: v for k, v in arguments.items() if k == "search"})]
    down = arguments.get("sortOrder", "desc") == "desc"
    found = ordered(found, KEYS[arguments.get("sortBy", "ytd")], down)
    size, page = arguments.get("pageSize", 20), arguments.get("page", 1)
    shown = found[(page - 1) * size: page * size]
    ask(question, "get_rmf_funds", arguments,
        equals("totalCount", len(found)), equals("page", page), equals("pageSize", size),
        equals("totalPages", -(-len(found) // size)), length("funds", len(shown)),
        column("funds", "symbol", [f["symbol"] for f in shown]),
        column("funds", "perf_1y", [f["perf_1y"] for f in shown]))


page_question("First page with defaults", {})
page_question("The last page has the funds without a figure", {"page": 21})
page_question("Unknown figures come last upward too", {"sortOrder": "asc", "pageSize": 50, "page": 9})
page_question("By name, Z first", {"sortBy": "name", "pageSize": 50})
page_question("By NAV, smallest first", {"sortBy": "nav", "sortOrder": "asc"})
page_question("By risk, then by code", {"sortBy": "risk", "pageSize": 50, "page": 2})
page_question("By a year", {"sortBy": "1y", "page": 3, "pageSize": 7})
page_question("A search in pages", {"search": "equity", "page": 2, "pageSize": 10})

# --- one fund ---------------------------------------------------------------------------------


def detail_question(question, code, typed=None):
    fund = BY_CODE[code]
    expect = [equals("fund/symbol", code), equals("fund/fund_id", fund["fund_id"]),
              equals("fund/risk_level", fund["risk"]), equals("fund/amc", fund["company"]),
              equals("fund/benchmark_name", fund["benchmark_name"]),
              equals("fund/fund_classification", fund["classification"]),
              equals("fund/factsheet_url", fund["factsheet_url"]),
              equals("fund/min_initial", None if fund["min_initial"] is None else Decimal(fund["min_initial"]))]
    for period in PERIODS:
        expect.append(equals(f"fund/perf_{period}", fund["perf_" + period]))
        expect.append(equals(f"fund/benchmark_{period}", fund["benchmark_" + period]))
    if len(fund["nav"]) > 1:
        (_, before), (day, value) = fund["nav"][-2:]
        expect += [equals("fund/nav_value", value), equals("fund/nav_date", day.isoformat()),
                   equals("fund/nav_change", value - before),
                   equals("fund/nav_change_percent", four((value - before) / before * 100))]
    if fund["assets"]:
        expect += [length("fund/asset_allocation", len(fund["assets"])),
                   column("fund/asset_allocation", "percentage", [part for _, part in fund["assets"]])]
    ask(question, "get_rmf_fund_detail", {"fundCode": typed or code}, *expect)


detail_question("Details of ABAPAC-RMF", "ABAPAC-RMF")
detail_question("A slash in the code, written carelessly", "KT25/75RMF", "kt25 75 rmf")
detail_question("Brackets in the code", "SCBRMNDQ(A)")
detail_question("A blank in the code", "KT-GOLD RMF")
detail_question("A repaired row", "TGOLDRMF-P")
detail_question("An allocation that does not add up", "BFLRMF")
detail_question("No three years though five", "ES-GOLDRMF-UH")
ask("Unknown fund", "get_rmf_fund_detail", {"fundCode": "INVALID-CODE"}, error("NOT_FOUND", "INVALID-CODE"))


def history_question(question, code, days=None):
    series = BY_CODE[code]["nav"][-(days or 30):]
    values = [value for _, value in series]
    returns = [float(b) / float(a) - 1 for a, b in zip(values, values[1:])]
    arguments = {"fundCode": code} | ({} if days is None else {"days": days})
    expect = [length("navHistory", len(series)),
              column("navHistory", "date", [day.isoformat() for day, _ in series]),
              column("navHistory", "nav", values),
              column("navHistory", "change", [None] + [b - a for a, b in zip(values, values[1:])]),
              column("navHistory", "changePercent",
                     [None] + [four((b - a) / a * 100) for a, b in zip(values, values[1:])]),
              equals("minNav", min(values)), equals("maxNav", max(values)),
              equals("avgNav", sum(values) / len(values), 5.1e-5),
              equals("currentNav", values[-1]), equals("currentDate", series[-1][0].isoformat()),
              equals("periodReturn", (values[-1] / values[0] - 1) * 100 if len(values) > 1 else None, 5.1e-5),
              equals("volatility", statistics.stdev(returns) * 100 if len(returns) > 1 else None, 5.1e-5)]
    ask(question, "get_rmf_fund_nav_history", arguments, *expect)


history_question("NAV history of ES-GOLDRMF-UH", "ES-GOLDRMF-UH", 30)
history_question("NAV history with defaults", "ABAPAC-RMF")
history_question("A week of a fund with a slash", "KT25/75RMF", 7)
history_question("A year of a fund with brackets", "SCBRMNDQ(E)", 365)
history_question("A fund two days old", "KT-TECHNOLOGY RMF", 90)
history_question("One day", "ERMF", 1)

# --- comparisons ------------------------------------------------------------------------------


def compare_question(question, codes, by=None):
    funds = [BY_CODE[code] for code in codes]
    known = [f for f in funds if f["perf_ytd"] is not None]
    best = max(known, key=lambda f: f["perf_ytd"])["symbol"] if known else None
    worst = min(known, key=lambda f: f["perf_ytd"])["symbol"] if len(known) > 1 else None
    arguments = {"fundCodes": codes} | ({} if by is None else {"compareBy": by})
    ask(question, "compare_rmf_funds", arguments,
        column("funds", "symbol", codes), length("funds", len(codes)),
        column("funds", "perf_3y", [f["perf_3y"] for f in funds]),
        column("funds", "benchmark_1y", [f["benchmark_1y"] for f in funds]),
        equals("comparisonHighlights/bestYtd", best), equals("comparisonHighlights/worstYtd", worst),
        equals("comparisonHighlights/lowestRisk", min(funds, key=lambda f: f["risk"])["symbol"]),
        equals("comparisonHighlights/highestRisk", max(funds, key=lambda f: f["risk"])["symbol"]),
        equals("comparisonHighlights/lowestFees", None))


compare_question("Compare three funds", ["ABAPAC-RMF", "B-ASIARMF", "ES-GOLDRMF-UH"], "performance")
compare_question("Classes of one fund tie", ["TGOLDRMF-P", "TGOLDRMF-A"], "risk")
compare_question("One without a figure", ["B-USPASSIVERMF", "ERMF", "BFLRMF", "KT-TECHNOLOGY RMF"])
compare_question("Only one with a figure", ["B-USPASSIVERMF", "ERMF"], "fees")
ask("Two unknown codes", "compare_rmf_funds", {"fundCodes": ["NOPE-1", "ERMF", "NOPE-2"]},
    error("NOT_FOUND", "NOPE-1", "NOPE-2"))

# --- peers ------------------------------------------------------------------------------------


def peer_question(question, code, period):
    fund = BY_CODE[code]
    group = fund["classification"] or fund["compare_code"]
    figures = {}
    for peer in FUNDS:
        value = peer["perf_" + period]
        if (peer["classification"] or peer["compare_code"]) == group and value is not None:
            figures.setdefault(peer["fund_id"], value)
    own = fund["perf_" + period]
    figures[fund["fund_id"]] = own
    better = sum(value > own for value in figures.values())
    others = len(figures) - 1
    ask(question, "get_rmf_peer_rank", {"fundCode": code, "period": period},
        equals("group", group), equals("rank", better + 1), equals("peers", len(figures)),
        equals("percentile", four(Decimal(others - better) * 100 / others) if others else None),
        equals("groupMedian", statistics.median(figures.values()), 5.1e-5),
        equals("groupBest", max(figures.values())), equals("groupWorst", min(figures.values())))


peer_question("Asian equity over a year", "ABAPAC-RMF", "1y")
peer_question("Gold this year, classes counted once", "ES-GOLDRMF-UH", "ytd")
peer_question("Vietnam this year", "TVIETNAMRMF-P", "ytd")
peer_question("Large caps over five years", next(f["symbol"] for f in FUNDS if f["classification"] == "EQLARGE" and f["perf_5y"] is not None), "5y")
peer_question("A young group", next(f["symbol"] for f in FUNDS if f["compare_code"] == "TECHEQ" and f["perf_3m"] is not None), "3m")

# --- risk -------------------------------------------------------------------------------------


def risk_question(question, code):
    values = [value for _, value in BY_CODE[code]["nav"]]
    returns = [float(b) / float(a) - 1 for a, b in zip(values, values[1:])]
    peak, deepest = values[0], Decimal(0)
    for value in values:
        peak = max(peak, value)
        deepest = min(deepest, (value - peak) / peak * 100)
    ask(question, "get_rmf_risk_metrics", {"fundCode": code},
        equals("records", len(values)), equals("maxDrawdown/value", deepest, 5.1e-5),
        equals("volatility/value", statistics.stdev(returns) * 252 ** 0.5 * 100, 5.1e-5),
        equals("sharpeRatio/value", None), equals("calmarRatio/value", None))


risk_question("Risk of Asian equity", "ABAPAC-RMF")
risk_question("Risk of gold", "ES-GOLDRMF-UH")
risk_question("Risk of a fund with brackets", "SCBRMVIET(A)")

# --- tax --------------------------------------------------------------------------------------

BANDS = ((150_000, 0), (300_000, 5), (500_000, 10), (750_000, 15), (1_000_000, 20),
         (2_000_000, 25), (5_000_000, 30), (None, 35))


def tax_question(question, arguments):
    income = arguments["annualIncome"]
    others = sum(arguments.get(k, 0) for k in (
        "providentFund", "governmentPensionFund", "pensionInsurance", "privateTeacherFund",
        "nationalSavingsFund", "ssf"))
    bought = arguments.get("alreadyBought", 0)
    limit = min(income * 30 / 100, max(500_000 - others, 0))
    room = max(limit - bought, 0)
    planned = arguments.get("plannedPurchase", room)
    expenses = arguments.get("expenses", min(income / 2, 100_000))
    base = income - expenses - 60_000 - arguments.get("otherDeductions", 0) - others - min(bought, limit)

    def tax(net):
        total, start = 0, 0
        for end, rate in BANDS:
            stop = net if end is None else min(net, end)
            total += max(stop - start, 0) * rate / 100
            start = max(start, stop)
        return total

    before, after = tax(max(base, 0)), tax(max(base - min(planned, room), 0))
    ask(question, "calc_rmf_tax_benefit", arguments | {"taxYear": 2025},
        equals("roomLeft", room, 0.005), equals("deductible", min(planned, room), 0.005),
        equals("excess", planned - min(planned, room), 0.005), equals("taxBefore", before, 0.005),
        equals("taxAfter", after, 0.005), equals("taxSaved", before - after, 0.01))


tax_question("Salary of 1.2 million, 300,000 into RMF", {"annualIncome": 1_200_000, "plannedPurchase": 300_000})
tax_question("As much as possible", {"annualIncome": 1_200_000})
tax_question("The cap is shared", {"annualIncome": 3_000_000, "providentFund": 300_000, "pensionInsurance": 150_000})
tax_question("Over the room", {"annualIncome": 600_000, "plannedPurchase": 250_000, "alreadyBought": 50_000})
tax_question("No tax to save", {"annualIncome": 240_000})
tax_question("A rich family", {"annualIncome": 12_345_678.90, "otherDeductions": 190_000, "expenses": 100_000})

print(json.dumps({"checksum": CHECKSUM, "questions": QUESTIONS}, ensure_ascii=False, indent=1))
