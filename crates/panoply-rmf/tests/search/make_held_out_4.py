#!/usr/bin/env python3
"""Fourth held-out set: queries and rules that judge them, over the raw snapshot of the SEC (`funds.jsonl`).

    make_held_out_4.py FUNDS_JSONL > held_out_4.tsv

Written from the snapshot alone before its author had read the search, its vocabulary or a result of it, and
committed before the search was changed. A rule names the funds an answer must have (relevant) and those that
do no harm (acceptable). Queries are worded as people write them: sentences, parent banks of the companies,
common misspellings, other transliterations, conditions that exclude; four ask for what no fund offers.
"""

import json
import re
import sys

FUNDS = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]


class Set(frozenset):
    """Set of codes; `&`, `|` and `-` keep the type."""

    def __and__(self, other):
        return Set(frozenset.__and__(self, other))

    def __or__(self, other):
        return Set(frozenset.__or__(self, other))

    def __sub__(self, other):
        return Set(frozenset.__sub__(self, other))


def where(rule):
    return Set(fund["symbol"] for fund in FUNDS if rule(fund))


def name(pattern):
    text = lambda fund: f"{fund['fund_name']} {fund.get('x_fund_name_th') or ''}"
    return where(lambda fund: re.search(pattern, text(fund), re.I))


def bench(pattern):
    return where(lambda fund: re.search(pattern, fund.get("benchmark_name") or "", re.I))


def aimc(pattern):
    both = lambda fund: f"{fund.get('fund_classification') or ''} {fund.get('x_aimc_category') or ''}"
    return where(lambda fund: re.search(rf"\b({pattern})\b", both(fund)))


def amc(pattern):
    return where(lambda fund: re.search(pattern, fund["amc"], re.I))


def risk(low, high):
    return where(lambda fund: fund["risk_level"] and low <= fund["risk_level"] <= high)


def policy(thai):
    return where(lambda fund: fund["x_sec_policy_th"] == thai)


def codes(*given):
    known = {fund["symbol"] for fund in FUNDS}
    assert set(given) <= known, set(given) - known
    return Set(given)


NONE = Set()
EQ, FIX, MIX, ALT = (policy(word) for word in ("ตราสารทุน", "ตราสารหนี้", "ผสม", "ทรัพย์สินทางเลือก"))

GOLD = name(r"\bgold\b|โกลด์|ทองคำ")
MINERS = codes("DAOL-GOLDRMF")
JAPAN = name(r"japan|เจแปน|ญี่ปุ่น") - name(r"ex japan|เอ็กซ์ เจแปน")
CHINA = (name(r"china|chinese|ไชน่า|จีน") | aimc("EQCH|EQCHA|CHEQ")) - name(r"ex china|เอ็กซ์ไชน่า")
ASHARES = name(r"A[- ]Shares?|China A\b|เอแชร์")
HSHARES = name(r"H[- ]Shares?|เอชแชร์")
INDIA = name(r"india\b|อินเดีย")
VIETNAM = name(r"vietnam|เวียดนาม")
US = (name(r"\bUS\b|\bUSA\b|US500|\bNDQ\b|nasdaq|ยูเอส") | aimc("EQUS|USEQ")) & EQ
NASDAQ = name(r"\bNDQ\b|nasdaq") | bench("nasdaq")
SP500 = codes("K-US500XRMF", "ES-US500RMF", "KKP US500 RMF-UH", "KFUSINDFXRMF", "B-USPASSIVERMF")
EUROPE = name(r"europe|\beuro\b|ยุโรป|ยูโรเปียน")
EMERGING = name(r"emerging")
ASIA = name(r"\basia\b|\basian\b|เอเชีย") | aimc("EQASxJP|AEJ")
HEALTH = name(r"health|เฮลธ์|เฮลท์") | aimc("EQHEALTH|HCS")
TECH = name(r"\btech\b|technology|เทคโนโลยี") | aimc("TECHEQ")
AI = name(r"\bAI\b|artificial intelligence|machine learning")
INFRA = name(r"infra|โครงสร้างพื้นฐาน")
PROPERTY = name(r"property|real estate|อสังหา") | aimc("PRFOPTH|PRFOPFR|PRFOPMIX")
WORLD = (name(r"global|world|โกลบอล|เวิลด์|โลก") | aimc("EQGL|GLEQ|EQGLH")) & EQ
FOREIGN = WORLD | JAPAN | CHINA | INDIA | VIETNAM | US | EUROPE | EMERGING | name("asean") | ASIA | TECH | HEALTH
THAI = (aimc("EQGEN|EQLARGE|EQSET50|EQSM|EG|ELCE|SET50") | bench(r"ตลาดหลักทรัพย์แห่งประเทศไทย|\bSET ?50|\bSET ?100|SETHD|sSET|SETWB|AGRO")) & EQ - FOREIGN
SMALL = name(r"small|mid cap|สมอล|มิดแค")
DIVIDEND = name(r"dividend|ดีวิเด็น|ดิวิเดนด์|ปันผล") | bench("High Dividend")
INDEX = name(r"index|passive|อินเด็กซ์|พาสซีฟ|SET ?50|SET ?100|CSI 300|NDQ|US500|ดัชนี")
MONEY = (name(r"money|ตลาดเงิน|มันนี่|\bcash\b|ตราสารการเงิน") | aimc("FIXMMGEN|FIXMMGOV|MMG|MMGOV")) & FIX
GOVBOND = name(r"government bond|พันธบัตร|ภาครัฐ")
GOVCLASS = aimc("FIXGOV|FIXMIDGOV|STGOV|MTGOV")
MIDBOND = aimc("FIXMIDGEN|FIXMIDGOV|MTGB|MTGOV") & FIX | codes("KFMTFIRMF")
LONGBOND = aimc("FIXLONGGEN|LTGB") & FIX
GLOBALBOND = (name(r"(global|world).*(bond|income|investment grade)|dynamic bond") | aimc("FIXGLDISC|FIXGLH|GBD|GBF")) & FIX
ESG = name(r"ESG|sustainab|governance|climate|clean energy|ยั่งยืน|บรรษัทภิบาล|ธรรมาภิบาล|ก่อการดี|planet|renewable|ซัสเทน|\bCG\b|well-being|positive change|futuristic power")
CLEAN = codes("MRENEWRMF", "SCBRMCLEAN(A)", "SCBRMCLEAN(E)")
GREEN = CLEAN | name(r"climate|planet|futuristic power")
GOVERNANCE = name(r"governance|ธรรมาภิบาล|บรรษัทภิบาล")
PROTECTED = name(r"protected|มุ่งรักษาเงินต้น")
BRANDS = name(r"brand|แบรนด์")
INNOVATION = name(r"innovation|อินโนเวชั่น|disruptive")
DIGITAL = name(r"digital|blockchain|ดิจิตอล|ดิจิทัล")
HEDGED = name(r"(?<!un)hedged?\b|(?<!อัน)เฮดจ์|ทองคำแท่งเพื่อการเลี้ยงชีพ-H|– H$")
UNHEDGED = name(r"unhedged|อันเฮดจ์|-UH$") | name(r"\bFX RMF|\bFX Retirement") - HEDGED
GROWTH = name(r"growth|โกรท")
QUALITY = name(r"quality|ควอลิตี้")
INCOME = name(r"income|อินคัม")
LOWVOL = name("low (volatility|beta)")
ALLOCATED = aimc("MIXAGG|MIXMOD|MIXCONS|AA|MA|CA") & MIX
GLOBALMIX = aimc("MIXFI|FIA") & MIX | name("global allocation") & MIX

BBL, KA, SCB = amc("^BBL"), amc("KASIKORN"), amc("^SCB")
KS, KT, TISCO = amc("KRUNGSRI"), amc("KRUNG THAI"), amc("TISCO")
UOB, ES, TALIS = amc("^UOB"), amc("EASTSPRING"), amc("TALIS")
ONE, KKP, ASP = amc("^ONE"), amc("KIATNAKIN"), amc("ASSET PLUS")
MFC, PRINCIPAL, LH = amc("^MFC"), amc("PRINCIPAL"), amc("LAND AND HOUSES")
ABERDEEN, XSPRING = amc("ABERDEEN"), amc("XSPRING")

TASKS = []


def en(query, relevant, acceptable=NONE, **more):
    TASKS.append(("en", {"search": query, **more} if query else more, relevant, acceptable))


def th(query, relevant, acceptable=NONE, **more):
    TASKS.append(("th", {"search": query, **more} if query else more, relevant, acceptable))


# Topics in other words than the funds' names.
en("gold ETF", GOLD - MINERS, GOLD)
en("gold mining companies", MINERS, GOLD)
en("robotics and automation", codes("ASP-AIEQRMF"), AI | TECH)
en("big data", codes("TAIRMF-A", "TAIRMF-P"), AI | TECH)
en("internet companies", codes("TNEXTGENRMF-A", "TNEXTGENRMF-P"), TECH | DIGITAL)
en("digital assets", codes("ASP-DIGIBLOCRMF"), DIGITAL)
en("hospitals and drug makers", HEALTH)
en("green energy", CLEAN, GREEN | ESG)
en("global warming", name("climate"), GREEN | ESG)
en("ethical investing", name("sustainab|ESG|ยั่งยืน"), ESG)
en("luxury goods", codes("B-PREMIUMRMF"), BRANDS)
en("consumer goods", codes("B-PREMIUMRMF", "MEGA10CHINAPOPRMF"), BRANDS)
en("agriculture", codes("BBASICRMF"))
en("population trend", codes("SCBRMPOP"))
en("thematic investing", codes("B-GTORMF"), name("mega|trend|future|disrupt"))
en("small companies in Asia", codes("FP ASM RMF"), ASIA & SMALL)
en("minimum volatility stocks", LOWVOL)
en("value stocks", codes("V-RMF-A", "V-RMF-P"), name("value|คุณค่า"))
en("growth stocks", GROWTH & EQ, GROWTH | QUALITY)
en("active US equity", name("US active|USA equity"), US - INDEX)
en("S and P 500", SP500, bench("S&P 500") | US)
en("nasdaq tracker", NASDAQ, US & INDEX)
en("world index fund", name("world equity index|global equity passive|passive global equity"), INDEX & WORLD)
en("emerging markets without China", codes("KF-EMXCN-INDXRMF"), EMERGING | aimc("EQGEM|GEEQ"))
en("Greater China", codes("KF-GCHINARMF"), CHINA)
en("Chinese companies listed in Hong Kong", HSHARES | bench("hang seng"), CHINA)
en("STAR Market 50", codes("ES-STARTECHRMF"))
en("China and India", codes("TCIRMF"), CHINA | INDIA)
en("Ho Chi Minh stock index", codes("ES-VIETNAMRMF"), VIETNAM)
en("eurozone equities", EUROPE)
en("Japan index", codes("KF-JP-INDXRMF"), JAPAN)
en("Asia Pacific without Japan", aimc("EQASxJP|AEJ") - codes("TCIRMF"), ASIA)
en("Singapore REITs", codes("KT-PIF RMF"), PROPERTY)
en("listed property funds", PROPERTY, INFRA & (ALT | MIX))
en("overseas property", codes("KT-PROPERTY RMF"), PROPERTY & (aimc("PRFOPMIX|FPF") | name("real estate")))
en("parking cash", MONEY)
en("money fund", MONEY)
en("medium term bonds", MIDBOND, FIX)
en("investment grade bonds", codes("LHGIGORMF"), GLOBALBOND)
en("global fixed income", GLOBALBOND, GLOBALMIX & INCOME)
en("debt funds", FIX)
en("mix of stocks and bonds", ALLOCATED, MIX)
en("aggressive allocation", aimc("MIXAGG|AA") & MIX, MIX)
en("multi-asset income", codes("ES-GAINCOMERMF"), INCOME & MIX | GLOBALMIX)
en("fund for someone retiring in 2035", codes("K-2035RMF"))
en("capital preservation", PROTECTED)
en("halal investments", name("shariah"))
en("good governance", GOVERNANCE, ESG & THAI)

# Companies, by the names of their banks too.
en("Bangkok Bank gold", BBL & GOLD)
en("Bank of Ayudhya technology", KS & TECH, KS & name("climate tech"))
en("Siam Commercial Bank health", SCB & HEALTH)
en("Krung Thai Bank vietnam", KT & VIETNAM)
en("Land & Houses money market", LH & MONEY)
en("aberdeen small cap", ABERDEEN & SMALL)
en("Kasikorn funds investing in Europe", KA & EUROPE)
en("show me UOB healthcare funds", UOB & HEALTH)
en("", KKP, amc="Kiatnakin Phatra Asset Management")
en("", SCB, amc="SCB Asset Management Co., Ltd.")
en("", KA, amc="K-Asset")
en("", KS, amc="Krungsi")
en("", ES, amc="Eastsprings")

# Misspelt words.
en("heathcare", HEALTH)
en("goverment bond", GOVBOND, GOVCLASS)
en("infrastucture", INFRA)
en("dividened stocks", DIVIDEND)
en("vietnarm", VIETNAM)
en("emerging maket", EMERGING, aimc("EQGEM|GEEQ"))

# Conditions.
en("bond funds with risk of 3 or less", FIX & risk(1, 3))
en("fully hedged global equity", WORLD & (aimc("EQGLH") | HEDGED), WORLD & HEDGED)
en("Japan but not small cap", JAPAN - SMALL)
en("China excluding technology", CHINA - TECH - AI, CHINA & AI - TECH)
en("India or Vietnam", INDIA | VIETNAM)
en("Korean stocks", NONE)
en("uranium", NONE)

# Codes and names.
en("tgoldrmf", codes("TGOLDRMF-A", "TGOLDRMF-P"))
en("BMAPS 55", codes("BMAPS55RMF"))
en("kfgg", codes("KFGGRMF"))
en("The One Mild", codes("KF1MILDRMF"))
en("Global New Perspective unhedged", codes("KKP GNP RMF-UH"))

# Thai.
th("หุ้นเหมืองทอง", MINERS, GOLD)
th("อยากลงทุนทองคำ", GOLD)
th("หุ้นเทค", TECH, AI | INNOVATION)
th("หุ่นยนต์", codes("ASP-AIEQRMF"), AI | TECH)
th("อินเทอร์เน็ต", codes("TNEXTGENRMF-A", "TNEXTGENRMF-P"), TECH | DIGITAL)
th("สินทรัพย์ดิจิทัล", codes("ASP-DIGIBLOCRMF"), DIGITAL)
th("ดิจิทัล", DIGITAL, TECH)
th("โรงพยาบาลและยา", HEALTH)
th("พลังงานทดแทน", CLEAN, GREEN | ESG)
th("ภาวะโลกร้อน", name("climate"), GREEN | ESG)
th("สินค้าแบรนด์เนม", BRANDS)
th("เกษตรและอาหาร", codes("BBASICRMF"))
th("หุ้นเติบโต", GROWTH & EQ, GROWTH | QUALITY)
th("หุ้นคุณภาพ", QUALITY, GROWTH)
th("หุ้นผันผวนต่ำ", LOWVOL)
th("หุ้นไทยขนาดกลาง", SMALL & THAI, SMALL | aimc("EQSM|ESMP"))
th("เอสแอนด์พี", SP500, bench("S&P 500") | US)
th("นาสแดค 100", NASDAQ)
th("หุ้น US", US, NASDAQ | SP500 | bench("S&P 500"))
th("หุ้นโลกแบบดัชนี", name("world equity index|global equity passive|passive global equity"), INDEX & WORLD)
th("จีนแผ่นดินใหญ่", ASHARES, CHINA)
th("เอชแชร์", HSHARES, CHINA)
th("ฮ่องกง", bench("hang seng"), CHINA)
th("ตลาดเกิดใหม่ไม่รวมจีน", codes("KF-EMXCN-INDXRMF"), EMERGING | aimc("EQGEM|GEEQ"))
th("เอเชียแปซิฟิก", name("asia pacific"), ASIA)
th("ยูโรโซน", EUROPE)
th("เวียตนาม", VIETNAM)
th("ญีปุ่น", JAPAN)
th("เทคโนโลยี่", TECH, AI | INNOVATION)
th("อสังหาริมทรัพท์", PROPERTY, INFRA & (ALT | MIX))
th("อสังหาริมทรัพย์ทั่วโลก", codes("KT-PROPERTY RMF"), PROPERTY & (aimc("PRFOPMIX|FPF") | name("real estate")))
th("ตราสารหนี้ระยะกลาง", MIDBOND, FIX)
th("ตราสารหนี้ระยะยาว", LONGBOND, FIX)
th("ตราสารหนี้ทั่วโลก", GLOBALBOND, GLOBALMIX & INCOME)
th("กองพักเงิน", MONEY)
th("ตราสารเงิน", codes("KFCASHRMF"), MONEY)
th("หุ้นผสมตราสารหนี้", ALLOCATED, MIX)
th("จัดสรรสินทรัพย์ทั่วโลก", name("global.*allocation|โกลบอล.*แอลโลเคชั่น") & MIX, GLOBALMIX | MIX & name("global|world"))
th("เกษียณปี 2035", codes("K-2035RMF"))
th("คุ้มครองเงินต้น", PROTECTED)
th("ฮาลาล", name("shariah"))
th("มีกองไหนลงทุนเวียดนามบ้าง", VIETNAM)
th("กองทุนที่ลงทุนในบริษัทเทคโนโลยีทั่วโลก", TECH & name("global|world|โกลบอล|เวิลด์"), TECH | AI)
th("ขอกองทุนหุ้นไทยปันผลของกรุงศรี", codes("KFDIVRMF"), KS & DIVIDEND & THAI)
th("อินเดียหรือเวียดนาม", INDIA | VIETNAM)
th("ญี่ปุ่น ยกเว้นหุ้นเล็ก", JAPAN - SMALL)
th("จีน ไม่รวมเทคโนโลยี", CHINA - TECH - AI, CHINA & AI - TECH)
th("ทองคำแบบเฮดจ์", HEDGED & GOLD)
th("ธนาคารกรุงเทพ ทองคำ", BBL & GOLD)
th("แบงก์กรุงศรี เทคโนโลยี", KS & TECH, KS & name("climate tech"))
th("ธนาคารไทยพาณิชย์ ยุโรป", SCB & EUROPE)
th("ธนาคารกสิกรไทย ญี่ปุ่น", KA & JAPAN)
th("แลนด์แอนด์เฮ้าส์ อสังหา", LH & PROPERTY)
th("ภัทร หุ้นโลก", KKP & WORLD)
th("เอ็มเอฟซี สุขภาพ", MFC & HEALTH)
th("ดาโอ ทองคำ", MINERS)
th("เอ็กซ์สปริง", XSPRING)
th("เฟิร์สพลัส เอเชีย", codes("FP ASM RMF"))
th("", SCB, amc="บลจ.ไทยพาณิชย์ จำกัด")
th("", KA, amc="บริษัทหลักทรัพย์จัดการกองทุน กสิกรไทย จำกัด")
th("", PRINCIPAL, amc="พรินซิเปิล")
th("", TISCO, amc="ทิสโก")
th("", ES, amc="บลจ. อีสท์สปริง (ประเทศไทย)")
th("หุ้นเกาหลี", NONE)
th("แร่ยูเรเนียม", NONE)
th("สมาร์ทแคปปิตอล", codes("ABSC-RMF"))
th("ธนบดี", codes("ES-MRMF"))
th("สิริผลบรรษัทภิบาล", codes("BSIRIRMF"))
th("ทวีทรัพย์", codes("KFTSRMF"))
th("จัมโบ้ 25", codes("ES-JB25RMF"))
th("บิ๊กดาต้า", codes("TAIRMF-A", "TAIRMF-P"), AI | TECH)
th("ตลาดหุ้นโฮจิมินห์", codes("ES-VIETNAMRMF"), VIETNAM)
th("หุ้นอาเซี่ยน", name("asean|อาเซียน"), name("indonesia") | VIETNAM)
th("กองหุ้นยุโรปของกรุงศรี", KS & EUROPE)
th("ยูโอบี เฮลท์แคร์", UOB & HEALTH)
th("เคแทม เทคโนโลยี", KT & TECH, KT & AI)
th("กองอินเดียของบัวหลวง", BBL & INDIA)
th("ตลาดเงิน ทาลิส", TALIS & MONEY)
th("กองทุนความเสี่ยงระดับ 1", risk(1, 1))

print("# Fourth held-out set of search tasks, by make_held_out_4.py from the raw snapshot; columns as in tasks.tsv:")
print("# number, language, arguments, relevant codes, acceptable codes. The search is not tuned on this file.")
for number, (language, arguments, relevant, acceptable) in enumerate(TASKS, 1):
    cells = (str(number), language, json.dumps(arguments, ensure_ascii=False))
    print(*cells, "|".join(sorted(relevant)), "|".join(sorted(acceptable - relevant)), sep="\t")
