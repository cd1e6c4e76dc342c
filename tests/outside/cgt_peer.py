"""cgt-calc, an independent calculator, computes our example portfolios and gets our figures.

It identifies shares the same way and rounds in another: it rounds the gain of each disposal to the penny,
halves away from zero, and adds those up; ours by default rounds each leg. So both are asked for what can
be compared exactly: our unrounded gain of each disposal, rounded as it does, must be its gain to the penny.

Left out is what it does not know: transfers to the spouse, capital returns, accumulations, opening pools,
reverse splits, short sales, a rate on the line, and fees in another currency than the price.
"""

import contextlib
import datetime
import io
import json
import pathlib
import re
import subprocess
from decimal import ROUND_HALF_UP, Decimal

from cgt_calc.currency_converter import CurrencyConverter
from cgt_calc.current_price_fetcher import CurrentPriceFetcher
from cgt_calc.initial_prices import InitialPrices
from cgt_calc.isin_converter import IsinConverter
from cgt_calc.main import CapitalGainsCalculator
from cgt_calc.parsers.raw import RawTransaction
from cgt_calc.spin_off_handler import SpinOffHandler

import server

TESTS = pathlib.Path(__file__).parents[2] / "crates/panoply-cgt/tests"
TRADE = re.compile(r"(\d{4}-\d\d-\d\d) (BUY|SELL) (\w+) ([\d.]+) @ ([\d.]+)(?: ([A-Z]{3}))?(?: FEES ([\d.]+)(?: ([A-Z]{3}))?)?$")
SPLIT = re.compile(r"(\d{4}-\d\d-\d\d) SPLIT (\w+) RATIO ([\d.]+)$")
# It starts to count here.
FIRST_DAY = "2010-01-01"
# Portfolios that must be compared: what it does not know and where it stops are left out.
COMPARED = 100


def main() -> None:
    given = server.arguments()
    compared = disposals = 0
    wrong, gave_up = [], []
    with server.home() as environment:
        ours = lambda *words, text=None: subprocess.run([given.panoply, *words], env=environment, check=True, capture_output=True, text=True, input=text).stdout
        for name, lines in portfolios():
            rows = raw(lines)
            if rows is None:
                continue
            report = json.loads(ours("cgt", "report", "-", "--json", "--rounding", "exact", text="\n".join(lines)))
            rates = rates_for(rows, ours)
            try:
                theirs = [compute(int(year["period"][:4]), rows, rates) for year in report["tax_years"]]
            except (AssertionError, ArithmeticError):
                gave_up.append(name)
                continue
            for year, their_year in zip(report["tax_years"], theirs):
                our_year = figures(year)
                if their_year != our_year:
                    wrong.append(f"{name} {year['period']}: {our_year}, cgt-calc has {their_year}")
                disposals += len(year["disposals"])
            compared += 1
    server.expect(not wrong, f"cgt-calc: {disposals} disposals of {compared} portfolios have the same gains" + "".join(f"\n  {line}" for line in wrong))
    print(f"cgt-calc stops at checks of its own in {len(gave_up)} portfolios: {', '.join(gave_up)}")
    server.expect(compared >= COMPARED, f"cgt-calc: {compared} portfolios could be compared, at least {COMPARED} are wanted")


def portfolios():
    for file in sorted((TESTS / "golden").glob("*.json")):
        case = json.loads(file.read_text())
        if "refused" not in case and not case.get("options"):
            yield file.stem, case["input"]
    for case in json.loads((TESTS / "oracle/cases.json").read_text()):
        if "refused" not in case and not case["allow_short"]:
            # What it does not know is taken out; what is left may then sell too much and be passed over.
            yield f"seed {case['seed']}", [line for line in case["input"] if TRADE.match(line)]


def raw(lines):
    """The portfolio as cgt-calc's own CSV rows; None when it cannot say it."""
    trades, held = [], {}
    for line in lines:
        if trade := TRADE.match(line):
            day, action, ticker, quantity, price, currency, fees, fee_currency = trade.groups()
            if fees and Decimal(fees) and (fee_currency or "GBP") != (currency or "GBP"):
                return None
            trades.append((day, action == "SELL", [day, action, ticker, quantity, price, fees or "0", currency or "GBP"]))
        elif split := SPLIT.match(line):
            trades.append((split[1], 2, [split[1], "STOCK_SPLIT", split[2], split[3], "0", "0", "GBP"]))
        else:
            return None
    rows = []
    for day, _, row in sorted(trades, key=lambda trade: trade[:2]):
        ticker, quantity = row[2], Decimal(row[3])
        if row[1] == "STOCK_SPLIT":
            # It is told how many shares a split brought.
            quantity = held.get(ticker, Decimal(0)) * (quantity - 1)
            row[3] = str(quantity)
        held[ticker] = held.get(ticker, Decimal(0)) + (-quantity if row[1] == "SELL" else quantity)
        if held[ticker] < 0 or day < FIRST_DAY or quantity <= 0:
            return None
        rows.append(row)
    return rows or None


def rates_for(rows, ours):
    """HMRC's rates as we have them, so that it need not fetch them."""
    rates = {}
    for day, currency in {(row[0], row[6]) for row in rows if row[6] != "GBP"}:
        year, month, _ = day.split("-")
        reply = json.loads(ours("cgt", "fx", currency, f"{year}-{month}", "--json"))
        rates.setdefault(datetime.date.fromisoformat(day), {})[currency] = Decimal(reply["rate"])
    return rates


def compute(year, rows, rates):
    converter = CurrencyConverter(None, rates)
    calculator = CapitalGainsCalculator(
        year, converter, IsinConverter(), CurrentPriceFetcher(converter), SpinOffHandler(), InitialPrices({}), [], balance_check=False
    )
    with contextlib.redirect_stdout(io.StringIO()):
        calculator.convert_to_hmrc_transactions([RawTransaction(row, "portfolio") for row in rows])
        report = calculator.calculate_capital_gain()
    gains = {}
    for day, entries in report.calculation_log.items():
        for key, legs in entries.items():
            if key.startswith("sell$"):
                gains[f"{day} {key[5:]}"] = pence(sum((leg.gain for leg in legs), Decimal(0)))
    return {"gain": pence(report.capital_gain), "loss": pence(-report.capital_loss), "disposals": gains}


def figures(year):
    gains = {
        f"{disposal['date']} {disposal['ticker']}": pence(sum((Decimal(leg["gain_or_loss"]) for leg in disposal["matches"]), Decimal(0)))
        for disposal in year["disposals"]
    }
    total = lambda sign: pence(sum((abs(gain) for gain in gains.values() if (gain > 0) == sign and gain), Decimal(0)))
    return {"gain": total(True), "loss": total(False), "disposals": gains}


def pence(amount: Decimal) -> Decimal:
    return amount.quantize(Decimal("0.01"), ROUND_HALF_UP) + 0


if __name__ == "__main__":
    main()
