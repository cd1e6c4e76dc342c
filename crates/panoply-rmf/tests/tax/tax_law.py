#!/usr/bin/env python3
"""Thai personal income tax with retirement deductions, written from the law, and random cases.

    tax_law.py > cases.tsv

It shares no code with the program. It counts in whole satang with integers. Sources:
- Rates: Revenue Code, schedule of income tax rates (1) (a), tax years from 2017: 0 % to 150,000 (the
  exemption of Royal Decree No. 470), 5 % to 300,000, 10 % to 500,000, 15 % to 750,000, 20 % to
  1,000,000, 25 % to 2,000,000, 30 % to 5,000,000, 35 % above.
- Section 42 bis: expenses of employment 50 %, at most 100,000. Section 47 (1) (a): 60,000.
- RMF: 30 % of assessable income from tax year 2020 (Ministerial Regulation No. 126 as amended).
- SSF: 30 % and 200,000, tax years 2020 to 2024 (the same regulation).
- Provident fund 15 % of wages (Provident Fund Act, section 10); government pension fund and private
  teachers' fund as paid; pension insurance 15 % and 200,000; national savings fund 13,200, from tax
  year 2023 30,000. All of these with RMF and SSF at most 500,000.
- Thai ESG: 30 % and 100,000 in tax year 2023, 30 % and 300,000 in 2024 to 2026, apart from the
  500,000. Thai ESGX, new money of May and June 2025: 30 % and 300,000 in 2025.
  Units moved from LTF to Thai ESGX: at most 500,000 in all, of which 30 % of income and 300,000 in
  2025 and 50,000 in each of 2026 to 2029 (Ministerial Regulation No. 398, as Forvis Mazars reports it).
Figures of pension insurance, savings fund and ESG funds are of secondary sources (data of the
review: localthaitax.com, pkfthailand.asia, cabinet news)."""
import random

BAHT = 100
BANDS = [(150_000, 0), (300_000, 5), (500_000, 10), (750_000, 15), (1_000_000, 20), (2_000_000, 25), (5_000_000, 30), (None, 35)]


def percent(amount, rate):
    """Rounded half up to a satang."""
    return (amount * rate * 2 + 100) // 200


def tax(net):
    total, low = 0, 0
    for high, rate in BANDS:
        top = net if high is None else min(net, high * BAHT)
        if top > low:
            total += (top - low) * rate
            low = top
    return (total * 2 + 100) // 200


def own_cap(kind, year, income):
    if kind == "providentFund":
        return percent(income, 15)
    if kind in ("governmentPensionFund", "privateTeacherFund"):
        return 500_000 * BAHT
    if kind == "pensionInsurance":
        return min(percent(income, 15), 200_000 * BAHT)
    if kind == "nationalSavingsFund":
        return (30_000 if year >= 2023 else 13_200) * BAHT
    if kind == "ssf":
        return min(percent(income, 30), 200_000 * BAHT) if 2020 <= year <= 2024 else 0
    if kind == "thaiEsg":
        cap = {2023: 100_000, 2024: 300_000, 2025: 300_000, 2026: 300_000}.get(year, 0)
        return min(percent(income, 30), cap * BAHT)
    if kind == "thaiEsgx":
        return min(percent(income, 30), 300_000 * BAHT) if year == 2025 else 0
    if kind == "ltfToEsgx":
        if year == 2025:
            return min(percent(income, 30), 300_000 * BAHT)
        return 50_000 * BAHT if 2026 <= year <= 2029 else 0
    raise KeyError(kind)


JOINT = ("providentFund", "governmentPensionFund", "privateTeacherFund", "pensionInsurance", "nationalSavingsFund", "ssf")
APART = ("thaiEsg", "thaiEsgx", "ltfToEsgx")


def work(case):
    year, income = case["year"], case["income"]
    counted = sum(min(case[kind], own_cap(kind, year, income)) for kind in JOINT)
    counted = min(counted, 500_000 * BAHT)
    limit = min(percent(income, 30), 500_000 * BAHT - counted)
    bought = min(case["bought"], limit)
    room = limit - bought
    planned = room if case["planned"] is None else case["planned"]
    deductible = min(planned, room)
    apart = sum(min(case[kind], own_cap(kind, year, income)) for kind in APART)
    expenses = min(percent(income, 50), 100_000 * BAHT)
    before = max(0, income - expenses - 60_000 * BAHT - case["other"] - counted - apart - bought)
    after = max(0, before - deductible) if before else 0
    full = income - expenses - 60_000 * BAHT - case["other"] - counted - apart - bought
    after = max(0, full - deductible)
    esg = max(0, own_cap("thaiEsg", year, income) - case["thaiEsg"])
    return dict(room=room, deductible=deductible, before=before, after=after, tax_before=tax(before), tax_after=tax(after), esg=esg)


def money(satang):
    return f"{satang // 100}.{satang % 100:02d}"


if __name__ == "__main__":
    random.seed(2568)
    fields = ["year", "income", "other", *JOINT, *APART, "bought", "planned"]
    answers = ["room", "deductible", "before", "after", "tax_before", "tax_after", "esg"]
    print("# Random cases and answers of tax_law.py, in baht; an empty cell is `not given`.")
    print("\t".join(fields + answers))
    for _ in range(1_500):
        income = random.choice([random.randrange(0, 500_000), random.randrange(300_000, 3_000_000), random.randrange(1_000_000, 12_000_000)]) * BAHT + random.choice([0, 0, 25, 99])
        pick = lambda most: random.choice([0, 0, random.randrange(0, most) * BAHT, random.randrange(0, most) * BAHT + 50])
        case = {"year": random.randrange(2020, 2027), "income": income, "other": pick(200_000)}
        case |= {kind: pick(700_000 if kind in ("providentFund", "governmentPensionFund") else 300_000) for kind in JOINT + APART}
        if random.random() < 0.5:
            case |= {kind: 0 for kind in random.sample(JOINT + APART, 6)}
        case["bought"] = pick(400_000)
        case["planned"] = random.choice([None, pick(600_000)])
        result = work(case)
        cells = [str(case["year"])] + ["" if case[f] is None else money(case[f]) for f in fields[1:]] + [money(result[a]) for a in answers]
        print("\t".join(cells))
