#!/usr/bin/env python3
"""Writes tasks.tsv, the judged search tasks. make_tasks.py ../../../../data/rmf/rmf.tsv > tasks.tsv

How the judgements were made: one person read code, English and Thai name, AIMC class, SEC policy
and benchmark of all 403 funds in November 2026 and listed, per topic, the funds that an investor
means (`relevant`) and those that are defensible but not required (`acceptable`). Where the AIMC
class or the SEC's policy settles a topic the list is taken from that column, plus named funds that
have no class. The queries were written before the search was changed; nothing here was taken from
the output of the program."""
import json, sys

lines = [line.rstrip("\n") for line in open(sys.argv[1], encoding="utf-8")]
texts, columns, funds = [], [], []


def plain(cell):
    if cell.startswith("=") and cell[1:].isdigit():
        return texts[int(cell[1:])]
    out, escaped = [], False
    for c in cell:
        if escaped:
            out.append({"t": "\t", "n": "\n", "r": "\r"}.get(c, c)); escaped = False
        elif c == "\\":
            escaped = True
        else:
            out.append(c)
    return "".join(out)


for line in lines:
    kind, _, rest = line.partition("\t")
    if kind == "text":
        texts.append(plain("\\" + rest) if rest.startswith("=") else plain(rest))
    elif kind == "columns":
        columns = rest.split("\t")
    elif kind == "fund":
        cells = rest.split("\t") + [""] * len(columns)
        funds.append({name: plain(cell) for name, cell in zip(columns, cells)})

ALL = {f["symbol"] for f in funds}


def by_class(*codes):
    return {f["symbol"] for f in funds if f["classification"] in codes or f["compare_code"] in codes}


def prefix(*codes):
    return {f["symbol"] for f in funds if f["classification"].startswith(codes)}


def policy(text):
    return {f["symbol"] for f in funds if f["policy_th"] == text}


def company(part):
    found = {f["symbol"] for f in funds if part in f["company"]}
    assert found, part
    return found


def named(text):
    found = set(text.split("; ")) if text else set()
    assert found <= ALL, found - ALL
    return found


EQUITY, BOND, MIXED = policy("ตราสารทุน"), policy("ตราสารหนี้"), policy("ผสม")
GOLD = by_class("COMPM") | named("GOLD-RMF-A; GOLD-RMF-P; BGOLDRMF; DAOL-GOLDRMF")
US = by_class("EQUS") | named("B-USALPHARMF; B-USPASSIVERMF; KF-US-PLUSRMF; KKP US500 RMF-UH")
SP500 = named("ES-US500RMF; K-US500XRMF; KKP US500 RMF-UH")
SP500_MAY = named("KFUSINDFXRMF; B-USPASSIVERMF; MEGA10RMF; MEGA10AIRMF; MEGAWORLD30RMF; MEGA10HEALTHRMF; UOBGARMF")
NASDAQ = named("K-USXNDQRMF; KFNDQRMF; SCBRMNDQ(A); SCBRMNDQ(E); TNASDAQRMF-A; TNASDAQRMF-B; TNASDAQRMF-P")
CHINA = by_class("EQCH", "EQCHA") | named("KF-CSI300-INDXRMF; KF-HSHARE-INDXRMF; MEGA10CHINAPOPRMF; MEGA10CHINATECHRMF")
CHINA_A = named("ES-CHINAARMF; B-CHINAARMF; KF-ACHINARMF; SCBRMASHARES(A); SCBRMASHARES(E); SCBRMCHA; TCHARMF-A; TCHARMF-P")
CHINA_A_MAY = named("KF-CSI300-INDXRMF; SCBRMMLCA; UCHINARMF")
JAPAN = by_class("EQJP") | named("KF-JP-INDXRMF")
INDIA = by_class("EQIN") | named("B-INDIAMRMF; KKP INDIA RMF-UH; TCIRMF")
VIETNAM = by_class("EQVIET") | named("B-VIETNAMRMF; ONE-VIETNAMRMF-A; ONE-VIETNAMRMF-P")
EUROPE = by_class("EQEU")
ASIA = by_class("EQASxJP") | named("B-ASIARMF")
ASIA_MAY = named("B-ASIATECHRMF; B-ASEANRMF; ES-INDONESIA-RMF")
ASEAN = named("B-ASEANRMF; ES-INDONESIA-RMF")
EMERGING = by_class("EQGEM")
GLOBAL = (by_class("EQGL", "EQGLH") - named("DAOL-GOLDRMF")) | named("B-GLOBALRMF; ONE-UGERMF-A; ONE-UGERMF-P; B-FUTURERMF; B-SIPRMF; B-GTORMF")
GLOBAL_MAY = by_class("EQGLOTH", "EQGLAENG", "EQGLINFRA", "EQGLCGNS", "TECHEQ", "EQHEALTH") | named(
    "DAOL-GOLDRMF; KF-GDIVRMF; B-INNOTECHRMF; BCARERMF; ONE-DISCRMF-A; ONE-DISCRMF-P; K-GIFRMF; KT-TECHNOLOGY RMF; KT-PROPERTY RMF; ABGDD-RMF; B-OPPRMF")
HEALTH = by_class("EQHEALTH") | named("BCARERMF")
TECH = by_class("TECHEQ") | named("B-ASIATECHRMF; B-INNOTECHRMF; KT-TECHNOLOGY RMF; ES-STARTECHRMF; SCBRMCTECH; TCHTECHRMF-A; TCHTECHRMF-P; MEGA10CHINATECHRMF")
TECH_MAY = named("KFCLIMARMF; MEGA10AICHINARMF; ES-GINNORMF; UNIRMF; PWINRMF; KT-BRAIN RMF; ASP-DISRUPTRMF")
AI = named("ASP-AIEQRMF; KT-WTAI RMF; MEGA10AICHINARMF; MEGA10AIRMF; TAIRMF-A; TAIRMF-P")
AI_MAY = named("KT-BRAIN RMF; SCBRMMLCA")
PROPERTY = prefix("PRF") | named("ONEPROP-RMF; B-IR-FOFRMF")
PROPERTY_MAY = named("BMAPS55RMF; BMAPS25RMF; BMAPS100RMF")
INFRA = named("B-GLOB-INFRARMF; SCBRMGIF; KFINFRARMF; K-GIFRMF; IN-RMF; B-IR-FOFRMF; ES-PIPFRMF; K-PROPIRMF; KT-PIF RMF; SCBRMPIN")
DIVIDEND = named("ABGDD-RMF; HI-DIV RMF; KF-GDIVRMF; KFDIVRMF; THDRMF-A; THDRMF-P; TLDIVRMF")
DIVIDEND_MAY = named("BSIRIRMF")
MONEY = by_class("FIXMMGEN", "FIXMMGOV") | named("MM-RMF; TLMMRMF; LHMMRMF; SCBRMMONEY")
MONEY_MAY = named("M-RMF-A; M-RMF-P")
GOVBOND = named("GBRMF; UOBGBRMF; KFGOVRMF; KFLTGOVRMF; K-GBRMF; LHGOVRMF; ES-GOVRMF; SCBRM2; RMF3")
THAI = by_class("EQGEN", "EQLARGE", "EQSET50", "EQSM") | named("B-SM-RMF; B-TOPTENRMF; BBASICRMF; BERMF; BSIRIRMF; V-RMF-A; V-RMF-P; X-EQRMF; ES-SMCAPRMF")
THAI_MAY = named("IN-RMF")
SET50 = by_class("EQSET50")
SET50_MAY = named("ES-JB25RMF; PRINCIPAL EQRMF; PRINCIPAL BARMF")
SET100 = named("KFS100RMF; PRINCIPAL SET100RMF")
SMALL = by_class("EQSM") | named("B-SM-RMF; ES-SMCAPRMF")
SMALL_MAY = named("UJSMRMF; FP ASM RMF; B-INDIAMRMF")
ESG = named("KFESGRMF; KT-ESG RMF; KFCLIMARMF; B-SIPRMF; USUSRMF; SCBRMPOP")
ESG_MAY = named("CG-RMF; K-THAICGRMF; BSIRIRMF; K-PLANETRMF; KT-CLIMATE RMF; SCBRMCLEAN(A); SCBRMCLEAN(E); MRENEWRMF; K-CHANGERMF")
CLEAN = named("SCBRMCLEAN(A); SCBRMCLEAN(E); MRENEWRMF")
CLEAN_MAY = named("KFCLIMARMF; KT-CLIMATE RMF; K-PLANETRMF; ASP-POWERRMF")
TARGET = named("BCAP-2030 RMF; BCAP-2040 RMF; BCAP-2050 RMF; K-2035RMF; K-2040RMF")
HEDGED = named("AFMOATHRMF; ES-GOLDRMF-H; KF-GCHINARMF; KKP GNP RMF-H; KKP PGE RMF-H; KKP TECH RMF-H; SCBGOLDHRMF; UOBGRMF-H")
UNHEDGED = named("ES-GOLDRMF-UH; KKP GNP RMF-UH; KKP INDIA RMF-UH; KKP PGE RMF-UH; KKP US500 RMF-UH")
NONE = set()

TOPICS = [
    (GOLD, NONE, "gold; GOLD; gold fund; gold rmf; ทองคำ; ทองคํา; ทอง คำ; โกลด์; กองทุนทองคำ; กองทุน RMF ทองคำ; ทอง"),
    (US, NONE, "US equity; U.S.; USA; America; หุ้นสหรัฐ; สหรัฐ; อเมริกา; หุ้นอเมริกา; หุ้นยูเอส; US stocks"),
    (SP500, SP500_MAY, "S&P 500; S&P500; s&p 500; SP500; S & P 500; เอสแอนด์พี 500"),
    (NASDAQ, NONE, "Nasdaq; NASDAQ 100; nasdaq100; NDQ; แนสแด็ก; แนสแดค; เอ็นดีคิว"),
    (CHINA, named("TCIRMF"), "China; china equity; Chinese stocks; จีน; หุ้นจีน; ไชน่า; กองทุนจีน"),
    (CHINA_A, CHINA_A_MAY, "China A shares; A-Shares; หุ้นจีนเอแชร์; จีน A-share"),
    (JAPAN, NONE, "Japan; Japanese equity; ญี่ปุ่น; หุ้นญี่ปุ่น; เจแปน"),
    (INDIA, NONE, "India; india equity; อินเดีย; หุ้นอินเดีย"),
    (VIETNAM, NONE, "Vietnam; vietnam equity; เวียดนาม; หุ้นเวียดนาม; Viet Nam"),
    (EUROPE, NONE, "Europe; European equity; ยุโรป; หุ้นยุโรป"),
    (ASIA, ASIA_MAY, "Asia ex Japan; Asia Pacific; Asian equity; หุ้นเอเชีย; เอเชีย"),
    (ASEAN, NONE, "ASEAN; อาเซียน"),
    (EMERGING, NONE, "emerging markets; ตลาดเกิดใหม่"),
    (GLOBAL, GLOBAL_MAY, "global equity; world equity; หุ้นโลก; หุ้นทั่วโลก; กองทุนหุ้นโลก"),
    (HEALTH, named("TWBRMF-A; TWBRMF-P"), "healthcare; health care; health; สุขภาพ; เฮลธ์แคร์; การแพทย์"),
    (TECH, TECH_MAY | AI, "technology; tech; เทคโนโลยี; หุ้นเทคโนโลยี"),
    (AI, AI_MAY, "artificial intelligence; AI; ปัญญาประดิษฐ์; เอไอ"),
    (PROPERTY, PROPERTY_MAY, "REIT; REITs; property; real estate; อสังหาริมทรัพย์; กองทุนอสังหา; รีท"),
    (INFRA, NONE, "infrastructure; โครงสร้างพื้นฐาน; อินฟรา"),
    (DIVIDEND, DIVIDEND_MAY, "dividend; high dividend; ปันผล; หุ้นปันผล"),
    (MONEY, MONEY_MAY, "money market; ตลาดเงิน; กองทุนตลาดเงิน"),
    (GOVBOND, BOND, "government bond; พันธบัตร; พันธบัตรรัฐบาล"),
    (BOND, named("LHGINCOMERMF"), "fixed income; bond; ตราสารหนี้; กองทุนตราสารหนี้"),
    (THAI, THAI_MAY, "Thai equity; Thai stocks; หุ้นไทย; กองทุนหุ้นไทย"),
    (SET50, SET50_MAY, "SET50; SET 50; เซ็ท 50"),
    (SET100, NONE, "SET100; SET 100"),
    (SMALL, SMALL_MAY, "small cap; mid small cap; small-mid cap; หุ้นขนาดเล็ก; หุ้นกลางเล็ก"),
    (ESG, ESG_MAY, "ESG; sustainable; ความยั่งยืน; ยั่งยืน"),
    (CLEAN, CLEAN_MAY, "clean energy; renewable energy; พลังงานสะอาด"),
    (TARGET, NONE, "target date; target retirement"),
    (HEDGED, NONE, "hedged; currency hedged; ป้องกันความเสี่ยงค่าเงิน"),
    (UNHEDGED, NONE, "unhedged; ไม่ป้องกันความเสี่ยงค่าเงิน"),
    (MIXED, NONE, "mixed fund; กองทุนผสม"),
    (named("KSRMF"), NONE, "shariah; ชาริอะฮ์"),
    (named("CPRMF1; CPRMF2; CPRMF3; CPRMF4; CPRMF5; PRINCIPAL PRMF"), NONE, "มุ่งรักษาเงินต้น; capital protected"),
    (named("CG-RMF; K-THAICGRMF; BSIRIRMF"), NONE, "corporate governance; ธรรมาภิบาล; บรรษัทภิบาล"),
    (named("ASP-TOPBRANDRMF; B-PREMIUMRMF; KFGBRANRMF; MEGA10CHINAPOPRMF"), NONE, "brands; brand"),
    (named("ASP-DIGIBLOCRMF"), NONE, "blockchain; บล็อกเชน"),
    (named("ES-INDONESIA-RMF"), NONE, "Indonesia; อินโดนีเซีย"),
    (named("KF-CSI300-INDXRMF"), NONE, "CSI 300; CSI300"),
    (NONE, NONE, "pokemon; น้ำมันดิบ; palladium; Brazil; บราซิล; Thai ESG SSF"),
]

COMPANIES = [
    ("KRUNGSRI", "Krungsri; KRUNGSRI; กรุงศรี; KSAM; บลจ.กรุงศรี"),
    ("KASIKORN", "Kasikorn; KAsset; K Asset; กสิกรไทย; กสิกร; KASIKORN  ASSET"),
    ("BBL ASSET", "BBL; BBLAM; Bualuang; บัวหลวง; กองทุนบัวหลวง"),
    ("SCB ASSET", "SCB; SCBAM; ไทยพาณิชย์"),
    ("KRUNG THAI", "KTAM; Krungthai; Krung Thai; กรุงไทย; เคแทม"),
    ("TISCO", "TISCO; TISCOAM; ทิสโก้"),
    ("EASTSPRING", "Eastspring; อีสท์สปริง; อีสต์สปริง"),
    ("UOB", "UOB; UOBAM; ยูโอบี"),
    ("TALIS", "Talis; ทาลิส"),
    ("ONE ASSET", "ONE; ONEAM; วรรณ; ONE Asset"),
    ("KIATNAKIN", "KKP; KKPAM; Kiatnakin; เกียรตินาคินภัทร; เคเคพี"),
    ("ASSET PLUS", "Asset Plus; ASP; แอสเซทพลัส; แอสเซท พลัส"),
    ("MFC", "MFC; เอ็มเอฟซี"),
    ("PRINCIPAL", "Principal; พรินซิเพิล"),
    ("LAND AND HOUSES", "LH; LH Fund; Land and Houses; แลนด์ แอนด์ เฮ้าส์; แอล เอช"),
    ("ABERDEEN", "abrdn; Aberdeen; อเบอร์ดีน"),
    ("BANGKOK CAPITAL", "BCAP; Bangkok Capital; บางกอกแคปปิตอล"),
    ("DAOL", "DAOL; ดาโอ"),
    ("PHILLIP", "Phillip; ฟิลลิป"),
    ("FIRST PLUS", "First Plus; เฟิร์ส พลัส"),
    ("XSPRING", "XSpring; เอ็กซ์สปริง"),
]

# search text, company part of the expected funds, topic
COMBINED = [
    ("gold Krungsri", GOLD, "KRUNGSRI"), ("ทองคำ กรุงศรี", GOLD, "KRUNGSRI"), ("ทองคำ ไทยพาณิชย์", GOLD, "SCB ASSET"),
    ("Vietnam Principal", VIETNAM, "PRINCIPAL"), ("หุ้นเวียดนาม กสิกร", VIETNAM, "KASIKORN"), ("เวียดนาม KTAM", VIETNAM, "KRUNG THAI"),
    ("Nasdaq SCB", NASDAQ, "SCB ASSET"), ("nasdaq ทิสโก้", NASDAQ, "TISCO"), ("หุ้นจีน SCB", CHINA, "SCB ASSET"),
    ("China TISCO", CHINA, "TISCO"), ("หุ้นญี่ปุ่น ไทยพาณิชย์", JAPAN, "SCB ASSET"), ("Japan Krungsri", JAPAN, "KRUNGSRI"),
    ("healthcare Kasikorn", HEALTH, "KASIKORN"), ("สุขภาพ กรุงศรี", HEALTH, "KRUNGSRI"), ("เทคโนโลยี ทิสโก้", TECH, "TISCO"),
    ("ตราสารหนี้ กสิกรไทย", BOND, "KASIKORN"), ("ตลาดเงิน KKP", MONEY, "KIATNAKIN"), ("money market Principal", MONEY, "PRINCIPAL"),
    ("หุ้นไทย บัวหลวง", THAI, "BBL ASSET"), ("infrastructure SCB", INFRA, "SCB ASSET"), ("ทองคำ MFC", GOLD, "MFC"), ("gold TISCO", GOLD, "TISCO"),
]

NAMES = [
    ("Bualuang Asia Equity RMF", "B-ASIARMF"), ("บัวหลวงหุ้นเอเชีย", "B-ASIARMF"), ("kt25 75", "KT25/75RMF"), ("KT25/75RMF", "KT25/75RMF"),
    ("ABAPAC", "ABAPAC-RMF"), ("abapac-rmf", "ABAPAC-RMF"), ("กรุงศรีหุ้นปันผล", "KFDIVRMF"), ("K Vietnam Equity RMF", "K-VIETNAMRMF"),
    ("scbrmndq", "SCBRMNDQ(A); SCBRMNDQ(E)"), ("TISCO Gold Retirement Fund", "TGOLDRMF-A; TGOLDRMF-P"), ("ไทยพาณิชย์ ดัชนีหุ้นโลก", "SCBRMWORLD(A); SCBRMWORLD(E)"),
    ("เค เซ็ท 50", "K-S50RMF"), ("MEGA 10 CHINA TECHNOLOGY", "MEGA10CHINATECHRMF"), ("Next Generation Internet", "TNEXTGENRMF-A; TNEXTGENRMF-P"),
    ("กรุงไทยมั่งคั่ง", "KTMUNG-RMF"), ("Good Corporate Governance RMF", "CG-RMF"), ("บัวหลวงทศพล", "B-TOPTENRMF"), ("Global Unconstrained Equity FX", "KFGLOBFXRMF"),
    ("K WealthPLUS Balanced", "K-WPBALRMF"), ("ASP-DIGIBLOCRMF", "ASP-DIGIBLOCRMF"),
    ("K GOLD RMF", "K-GDRMF"), ("ยูโอบี โกลด์", "UOBGRMF-H"), ("Principal Vietnam Equity", "PRINCIPAL VNEQRMF"), ("เคเคพี หุ้นทุน", "KKP EQRMF"),
    ("Krungsri Cash", "KFCASHRMF"), ("SCBRM4", "SCBRM4"), ("ทิสโก้พลทรัพย์", "TFPRMF-A; TFPRMF-P"), ("MFC Global Focus", "MGFRMF"),
    ("เอ็มเอฟซี เกษียณทวีสุข", "M-TWSUK RMF"), ("Eastspring Low Beta", "ES-LOWBETARMF"), ("กรุงศรีชีวิตดี๊ดี", "KFHAPPYRMF"), ("กรุงไทยสุขใจ", "KTSUK-RMF"),
]

ALIAS = [("EQUITY", EQUITY), ("equity", EQUITY), ("FIXED", BOND), ("MIXED", MIXED), ("หุ้น", EQUITY), ("ตราสารหนี้", BOND),
         ("COMMODITY", GOLD - named("DAOL-GOLDRMF")), ("EQVIET", VIETNAM), ("EQHEALTH", HEALTH), ("EQUS", US), ("EQJP", JAPAN), ("PROPERTY", PROPERTY)]

tasks = []


def thai(text):
    return any("\u0e00" <= c <= "\u0e7f" for c in text)


def task(arguments, relevant, acceptable=NONE):
    text = " ".join(arguments.values())
    tasks.append((len(tasks) + 1, "th" if thai(text) else "en", arguments, sorted(relevant), sorted(acceptable - relevant)))


for relevant, acceptable, queries in TOPICS:
    for query in queries.split("; "):
        task({"search": query}, relevant, acceptable)
for part, names in COMPANIES:
    for name in names.split("; "):
        task({"amc": name}, company(part))
for query, topic, part in COMBINED:
    task({"search": query}, topic & company(part))
for query, codes in NAMES:
    task({"search": query}, named(codes))
for category, relevant in ALIAS:
    task({"category": category}, relevant)

print("# Judged search tasks: number, language, arguments, relevant codes, acceptable codes; tab-separated.")
print("# Made by make_tasks.py before the search was tuned; its first comment says how the judgements were made.")
for number, language, arguments, relevant, acceptable in tasks:
    print(number, language, json.dumps(arguments, ensure_ascii=False), "|".join(relevant), "|".join(acceptable), sep="\t")
