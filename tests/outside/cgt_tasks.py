"""Twenty taxpayers, from brokers' files and trades to the finished boxes of the return.

Each stores its files in a portfolio as an agent does, and gets the entries of form SA108 and the tax. The
expected figures were worked out by hand from the rules named with each; where a rate of HMRC is needed, it
is asked for and the figures follow from it in fractions.
"""

import base64
import math
import pathlib
import tempfile
from fractions import Fraction

import rpc
import server

T212 = "Action,Time,ISIN,Ticker,Name,No. of shares,Price / share,Currency (Price / share),Exchange rate,Result,Currency (Result),Total,Currency (Total),ID\n"
T212_FEES = "Action,Time,ISIN,Ticker,Name,Notes,ID,No. of shares,Price / share,Currency (Price / share),Exchange rate,Result,Currency (Result),Total,Currency (Total),Finra fee,Currency (Finra fee),Currency conversion fee,Currency (Currency conversion fee)\n"
FREETRADE = "Title,Type,Timestamp,Account Currency,Total Amount,Buy / Sell,Ticker,ISIN,Price per Share in Account Currency,Stamp Duty,Quantity,Venue,Order ID,Order Type,Instrument Currency,Total Shares Amount,Price per Share,FX Rate,Base FX Rate,FX Fee (BPS),FX Fee Amount,Dividend Ex Date,Dividend Pay Date,Dividend Eligible Quantity,Dividend Amount Per Share,Dividend Gross Distribution Amount,Dividend Net Distribution Amount,Dividend Withheld Tax Percentage,Dividend Withheld Tax Amount\n"
II = "Date,Settlement Date,Symbol,Sedol,Quantity,Price,Description,Reference,Debit,Credit,Running Balance\n"
COINBASE = "Transactions\nUser,A Person\nID,Timestamp,Transaction Type,Asset,Quantity Transacted,Price Currency,Price at Transaction,Subtotal,Total (inclusive of fees and/or spread),Fees and/or Spread,Notes\n"
HL = "Transaction Summary, , , ,\nClient Name:,Anonymous User, , ,\n\nTrade date,Settle date,Reference,Description,Unit cost (p),Quantity,Value (£),\n"
VANGUARD = "Investment Transactions\n\nDate,InvestmentName,TransactionDetails,Quantity,Price,Cost\n"
MORGAN = "Execution Date,Order Number,Plan,Type,Order Status,Price,Quantity,Net Amount,Net Share Proceeds,Tax Payment Method\n"
RELEASES = "Date,Order Number,Plan,Type,Order Status,Price,Quantity,Net Share Proceeds,Net Share Proceeds,Tax Payment Method\n"


# Forms before 2016/17 had other numbers, which are not known: their entries are found by label.
LABELS = {
    "Number of disposals": "23",
    "Disposal proceeds": "24",
    "Allowable costs (including purchase price)": "25",
    "Gains in the year, before losses": "26",
    "Losses in the year": "27",
    "Losses brought forward and used in-year": "45",
    "Losses available to be carried forward": "47",
    "Adjustment to Capital Gains Tax": "51",
}


def number(box):
    """The number of a box, on an old form that of the same label on a new one."""
    return box["number"] or LABELS[box["label"]]


def boxes(disposals, proceeds, costs, gains, losses, used="0", carried="0", adjustment="0.00"):
    """Boxes 23 to 27, 45, 47 and 51."""
    numbers = ("23", "24", "25", "26", "27", "45", "47", "51")
    values = (disposals, proceeds, costs, gains, losses, used, carried, adjustment)
    return dict(zip(numbers, map(str, values)))


def lines(*rows):
    return {"cgt_content": "\n".join(rows)}


def files(*named):
    return {"files": [{"name": name, "content": text} for name, text in named]}


# (name, tax year, accounts, further arguments, boxes, tax). An account is (name, wrapper, what to add).
TASKS = [
    # interactive investor; the pounds paid and received. Cost 709.49 x 400/1000 = 283.80; 294.01 - 283.80 = 10.21.
    ("first sale, below the exempt amount", 2024,
     [("ii", "gia", files(("ii.csv", II + "15/01/2024,17/01/2024,VOD,BH4HKS3,1000,£0.70,VODAFONE GROUP ORD,R1,£709.49,n/a,£100.00\n20/06/2024,24/06/2024,VOD,BH4HKS3,400,£0.75,VODAFONE GROUP ORD,R2,n/a,£294.01,£394.01\n")))],
     {"taxable_income": 30000}, boxes(1, 294, 284, 10, 0), "0.00"),
    # One ISIN at two brokers is one pool: 200 shares for 3,000. 150 cost 2,250; 6,000 - 2,250 = 3,750; less
    # 3,000 exempt 750 at 24 % = 180, of which the form has 20 % = 150.
    ("the same share at two brokers", 2024,
     [("Trading 212", "gia", files(("t212.csv", T212 + "Market buy,2022-05-02 10:00:00,GB0000000001,ACME,Acme,100,10,GBP,1,,GBP,1000.00,GBP,E1\nMarket sell,2024-12-02 10:00:00,GB0000000001,ACME,Acme,150,40,GBP,1,3750,GBP,6000.00,GBP,E2\n"))),
      ("Freetrade", "gia", files(("ft.csv", FREETRADE + "Acme,ORDER,2023-03-06T10:00:00.000Z,GBP,2000.00,BUY,ACM,GB0000000001,20.00000000,0.00,100.00000000,XLON,A1,MARKET,GBP,2000.00,20.00000000,1.00000000,1.00000000,0,0.00,,,,,,,,\n")))],
     {"taxable_income": 60000}, boxes(1, 6000, 2250, 3750, 0, adjustment="30.00"), "180.00"),
    # Trading 212's own rates: 10 x 20 / 1.25 + 1.80 = 161.80 paid; 5 x 30 / 1.28 = 117.19 received less
    # 1.87 + 0.05 / 1.28 = 1.91; cost 80.90; gain 34.38.
    ("dollars at the broker's rate, fees in two currencies", 2024,
     [("Trading 212", "gia", files(("t212.csv", T212_FEES + "Market buy,2024-05-02 14:30:05.123,US0000000200,ACME,Acme Corp,,x2,10,20.00,USD,1.25,,,161.80,GBP,,,1.80,GBP\nLimit sell,2024-06-27 15:45:10.456,US0000000200,ACME,Acme Corp,,x3,5,30.00,USD,1.28,6.29,GBP,115.28,GBP,0.05,USD,1.87,GBP\n")))],
     {"taxable_income": 0}, boxes(1, 117, 83, 34, 0), "0.00"),
    # Windows-1252 as downloaded. 1,200 cost 22,206.00 + 11.95; 500 of them 9,257.48. 9,500 - 11.95 - 9,257.48.
    ("Hargreaves Lansdown's file as downloaded", 2025,
     [("HL", "gia", {"files": [{"name": "hl.csv", "content_base64": base64.b64encode((HL + '"18/03/2026","20/03/2026","S1","World UCITS ETF 500 @  1900.00","1,900.000","500","9,488.05"\n"17/03/2026","19/03/2026","B1","World UCITS ETF 1200 @  1850.5","1,850.500","1,200","-22,217.95"\n').encode("cp1252")).decode()}]})],
     {"taxable_income": 50000}, boxes(1, 9500, 9270, 230, 0), "0.00"),
    # Shares in an ISA are neither taxed nor matched (SI 1998/1870 reg.22): 5,000 - 2,000, all exempt.
    ("bed and ISA", 2024,
     [("GIA", "gia", lines("2019-03-01 BUY FUND 1000 @ 2", "2025-03-03 SELL FUND 1000 @ 5")),
      ("ISA", "isa", lines("2025-03-03 BUY FUND 1000 @ 5.01", "2025-03-20 SELL FUND 500 @ 6"))],
     {"taxable_income": 60000}, boxes(1, 5000, 2000, 3000, 0), "0.00"),
    # General account and ISA in two files of one company; only the first counts: 11 x 20 - 10 x 20.
    ("Vanguard, a general account and an ISA", 2023,
     [("Vanguard GIA", "gia", files(("gia.csv", VANGUARD + "03/02/2022,Foo ETF (FOO),Bought 20 Foo ETF (FOO),20,10,200.00\n12/07/2023,Foo ETF (FOO),Sold 20 Foo ETF (FOO),20,11,220.00\n"))),
      ("Vanguard ISA", "isa", files(("isa.csv", VANGUARD + "03/02/2022,Bar ETF (BAR),Bought 10 Bar ETF (BAR),10,10,100.00\n12/07/2023,Bar ETF (BAR),Sold 10 Bar ETF (BAR),10,90,900.00\n")))],
     {"taxable_income": 0}, boxes(1, 220, 200, 20, 0), "0.00"),
    # 15,000 lost in 2022/23 and claimed: (20,000 - 15,000 - 3,000) x 24 % = 480; at 20 % 400.
    ("an old loss, claimed", 2024,
     [("Broker", "gia", lines("2020-01-01 BUY A 1000 @ 20", "2022-06-01 SELL A 1000 @ 5", "2020-01-01 BUY B 1000 @ 5", "2024-12-01 SELL B 1000 @ 25"))],
     {"taxable_income": 60000, "earlier_losses": "claimed"}, boxes(1, 25000, 5000, 20000, 0, 15000, 0, "80.00"), "480.00"),
    # 20,000 lost in 2021/22. 2022/23: 15,000 - 12,300 takes 2,700; 2023/24: 10,000 - 6,000 takes 4,000;
    # 13,300 are left and all used: 20,000 - 13,300 - 3,000 = 3,700 at 10 %.
    ("a loss used over three years", 2024,
     [("Broker", "gia", lines("2019-01-01 BUY L 1000 @ 30", "2021-06-01 SELL L 1000 @ 10", "2019-01-01 BUY G 3000 @ 1", "2022-06-01 SELL G 1000 @ 16", "2023-06-01 SELL G 1000 @ 11", "2024-05-01 SELL G 1000 @ 21"))],
     {"taxable_income": 0, "earlier_losses": "claimed"}, boxes(1, 21000, 1000, 20000, 0, 13300, 0), "370.00"),
    # A loss of 4,000 and a gain of 1,000: 3,000 to carry forward.
    ("a year of losses", 2023,
     [("Broker", "gia", lines("2020-01-01 BUY A 1000 @ 5", "2023-07-01 SELL A 1000 @ 1", "2020-01-01 BUY B 100 @ 10", "2023-08-01 SELL B 100 @ 20"))],
     {"taxable_income": 30000}, boxes(2, 3000, 6000, 1000, 4000, 0, 3000), "0.00"),
    # s.24: sold and bought back at nothing; 1,000 x 5 is lost.
    ("a company that failed", 2023,
     [("Broker", "gia", lines("2021-01-04 BUY THG 1000 @ 5", "2024-03-01 NEGLIGIBLE THG VALUE NIL"))],
     {"taxable_income": 30000}, boxes(1, 0, 5000, 0, 5000, 0, 5000), "0.00"),
    # 17,000 x 3,100 / 17,000 goes to HLN (s.129, s.130): 3,500 - 3,100 = 400. Half of GSK: 7,500 - 6,950 = 550.
    ("a demerger", 2023,
     [("Broker", "gia", lines("2015-01-05 BUY GSK 1000 @ 17", "2022-07-18 DEMERGER GSK INTO HLN 1000 VALUE 3100 REMAINING 13900", "2023-05-01 SELL HLN 1000 @ 3.5", "2023-06-01 SELL GSK 500 @ 15"))],
     {"taxable_income": 30000}, boxes(2, 11000, 10050, 950, 0), "0.00"),
    # s.128(3): cash 80,000 of 320,000 takes a quarter of the cost of 40,000. 70,000 - 10,600 at 28 % = 16,632.
    ("a takeover for shares and cash", 2011,
     [("Broker", "gia", lines("2009-01-05 BUY OLD 10000 @ 4", "2012-03-01 TAKEOVER OLD INTO NEW 40000 CASH 80000 VALUE 240000"))],
     {"taxable_income": 60000}, boxes(1, 80000, 10000, 70000, 0), "16632.00"),
    # s.122: not small, so a part disposal: 100,000 x 90 / 150 = 60,000; (30,000 - 12,300) x 10 % = 1,770.
    ("a large return of capital", 2020,
     [("Broker", "gia", lines("2020-01-01 BUY A 100000 @ 1", "2020-07-01 CAPRETURN A 100000 TOTAL 90000 VALUE 60000"))],
     {"taxable_income": 0}, boxes(1, 90000, 60000, 30000, 0), "1770.00"),
    # s.127: the rights join the holding: 10,000 + 1,800; 14,300 - 11,800 = 2,500.
    ("rights taken up", 2024,
     [("Broker", "gia", lines("2020-01-06 BUY NG 1000 @ 10", "2024-06-12 RIGHTS NG 300 @ 6", "2025-01-10 SELL NG 1300 @ 11"))],
     {"taxable_income": 60000}, boxes(1, 14300, 11800, 2500, 0), "0.00"),
    # 10 x 100 + 10 x 200; each becomes two; 40 x 150 - 3,000 = 3,000.
    ("a new ticker and a split", 2024,
     [("Broker", "gia", lines("2020-01-06 BUY FB 10 @ 100", "2022-06-09 RENAME FB TO META", "2022-10-03 BUY META 10 @ 200", "2023-05-02 SPLIT META RATIO 2", "2024-06-03 SELL META 40 @ 150"))],
     {"taxable_income": 60000}, boxes(1, 6000, 3000, 3000, 0), "0.00"),
    # s.106A(5): 60 are the shares bought within 30 days (300 - 240), 40 come from the pool (200 - 40).
    ("bought back within thirty days", 2024,
     [("Broker", "gia", lines("2020-01-06 BUY A 100 @ 1", "2024-05-01 SELL A 100 @ 5", "2024-05-20 BUY A 60 @ 4"))],
     {"taxable_income": 60000}, boxes(1, 500, 280, 220, 0), "0.00"),
    # s.58: at what they had cost. 5,000 - 855 - 3,000 = 1,145 at 18 % = 206.10; at 10 % 114.50.
    ("shares from the spouse", 2024,
     [("Mine", "gia", lines("2024-02-01 SPOUSE_IN VOD 1000 TOTAL 855", "2024-11-11 SELL VOD 1000 @ 5")),
      ("Theirs", "spouse", lines("2024-02-02 BUY VOD 500 @ 4", "2024-12-11 SELL VOD 500 @ 9"))],
     {"taxable_income": 20000}, boxes(1, 5000, 855, 4145, 0, adjustment="91.60"), "206.10"),
    # A fifth of 7,100 = 1,420, and 20 of fees: 2,000 - 1,440 = 560. The ether is a purchase.
    ("bitcoin converted to ether", 2023,
     [("Coinbase", "gia", files(("cb.csv", COINBASE + "1a,2023-01-05 10:00:00 UTC,Buy,BTC,0.5,GBP,£14000.00,£7000.00,£7100.00,£100.00,Bought 0.5 BTC for £7100.00 GBP\n2b,2023-06-05 10:00:00 UTC,Convert,BTC,0.1,GBP,£20000.00,£2000.00,£1980.00,£20.00,Converted 0.1 BTC to 1.32 ETH\n")))],
     {"taxable_income": 60000}, boxes(1, 2000, 1440, 560, 0), "0.00"),
    # Income taxed inside the fund adds to the cost: 18,000 - 16,000 - 85.40 = 1,914.60.
    ("an accumulating fund", 2024,
     [("Broker", "gia", lines("2022-05-03 BUY VWRP 200 @ 80", "2023-12-29 ACCUMULATION VWRP 200 TOTAL 85.40", "2024-09-02 SELL VWRP 200 @ 90"))],
     {"taxable_income": 60000}, boxes(1, 18000, 16086, 1914, 0), "0.00"),
]


def main() -> None:
    given = server.arguments()
    with tempfile.TemporaryDirectory(prefix="panoply-tasks-") as home:
        session = rpc.Session(given.panoply, pathlib.Path(home), "cgt", "--tools", "all")
        tasks = [*TASKS, restricted_stock(session)]
        server.expect(len(tasks) == 20, f"{len(tasks)} taxpayers")
        for name, year, accounts, arguments, expected, tax in tasks:
            made = done(session.call("create_portfolio", {"name": name}))
            for account, wrapper, what in accounts:
                added = done(session.call("add_transactions", {"portfolio_id": made["portfolio_id"], "account": account, "wrapper": wrapper, **what}))
                server.expect(added["added"] > 0 and all("same security" in warning for warning in added["warnings"]), f"{name}: all rows of {account} are understood {added['warnings']}")
            ask = {"portfolio_id": made["portfolio_id"], "year": year, **arguments}
            form = {number(box): box["entry"] for box in done(session.call("sa108_summary", ask))["boxes"]}
            server.expect(form == expected, f"{name}: boxes {form}" + ("" if form == expected else f", by hand {expected}"))
            due = done(session.call("estimate_tax", ask))["tax_due"]
            server.expect(due == tax, f"{name}: tax of £{due}" + ("" if due == tax else f", by hand £{tax}"))
        session.close()


def restricted_stock(session):
    """Shares of an employer: the value at release is the cost, each month at HMRC's rate."""
    rate = lambda month: Fraction(done(session.call("get_fx_rate", {"currency": "USD", "year": 2021, "month": month}))["rate"])
    cost, proceeds, fees = 2 * Fraction("2045.06") / rate(3), 2 * Fraction(2110) / rate(4), Fraction("0.05") / rate(4)
    gain = pence(proceeds - fees - cost)
    expected = boxes(1, math.floor(pence(proceeds)), math.ceil(pence(cost) + pence(fees)), math.floor(gain) if gain > 0 else 0, math.ceil(-gain) if gain < 0 else 0)
    if gain < 0:
        expected["47"] = expected["27"]
    # The sale is in 2020/21 and far below its exempt amount of 12,300.
    both = files(
        ("releases.csv", RELEASES + '25-Mar-2021,N/A,GSU Class C,Released Shares,Completed,"$2,045.06",10.60,$0.00,0.000,N/A\n'),
        ("sales.csv", MORGAN + '01-Apr-2021,HIDDEN,GSU Class C,Sale,Complete,"$2,110.00",-2,"$4,219.95",0,N/A\n'),
    )
    return ("shares of the employer", 2020, [("Morgan Stanley", "gia", both)], {"taxable_income": 90000}, expected, "0.00")


def pence(amount: Fraction) -> Fraction:
    """To the penny, halves away from zero."""
    sign = 1 if amount >= 0 else -1
    return sign * Fraction(math.floor(abs(amount) * 100 + Fraction(1, 2)), 100)


def done(reply):
    if reply.error:
        raise SystemExit(f"FAILED: {str(reply.message)[:800]}")
    return reply.data


main()
