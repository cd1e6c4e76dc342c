#!/usr/bin/env python3
"""Writes monographs.jsonl from the facts beside it.

    python3 data/ttm/tools/monographs.py          write the file
    python3 data/ttm/tools/monographs.py --check  fail when the file is not what the facts give

Every statement carries the sources of the facts in it. Facts that were not checked against a
source stand in statements of their own which say so, so that a reader sees where they begin.
"""
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAPERS_SHOWN = 5
PAPERS_OF_CONSTITUENT = 1
NAMES_SHOWN = 8


def rows(name):
    with open(ROOT / name, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


HERBS = {row["id"]: row for row in rows("herbs.jsonl")}
FORMULATIONS = {row["id"]: row for row in rows("formulations.jsonl")}
CONSTITUENTS = {row["id"]: row for row in rows("constituents.jsonl")}
INDICATIONS = {row["id"]: row for row in rows("indications.jsonl")}
CAUTIONS = {row["code"]: row for row in rows("cautions.jsonl")}
DRUGS = {row["name"]: row for row in rows("drugs.jsonl")}
PARTS = {row["en"]: row["th"] for row in rows("parts.jsonl")}
INTERACTIONS = rows("interactions.jsonl")
PAPERS = rows("papers.jsonl")
REFERENCES = rows("references.jsonl")

LISTS = {
    "B": {"en": "the basic list", "th": "บัญชีรายการยาพื้นฐาน"},
    "X": {"en": "the specific list", "th": "บัญชีรายการยาเฉพาะ"},
    "P": {"en": "the special list", "th": "บัญชีรายการยาพิเศษ"},
}
STRENGTH = {
    "low": {"en": "low", "th": "น้อย"},
    "moderate": {"en": "moderate", "th": "ปานกลาง"},
    "high": {"en": "high", "th": "มาก"},
}
OWN = ["panoply"]
# Who speaks in a checked caution.
SAYS = {
    "nlem-herbal-2566+2568": {"en": "The national list", "th": "บัญชียาหลักแห่งชาติ"},
    "tu-ddi-2566": {"en": "Thammasat University", "th": "มหาวิทยาลัยธรรมศาสตร์"},
}
NATIONAL = {"en": "the National List of Essential Medicines", "th": "บัญชียาหลักแห่งชาติด้านสมุนไพร"}


def join(items, lang):
    """`a, b and c`; items that hold a comma themselves are set apart by semicolons."""
    comma = "; " if any("," in item for item in items) else ", "
    if len(items) == 1:
        return items[0]
    if lang == "en":
        return comma.join(items[:-1]) + ("; and " if comma == "; " else " and ") + items[-1]
    # Thai is written on without a space; a word in Latin letters or figures takes one.
    after = " " if items[-1][0].isascii() else ""
    before = "" if len(items) == 2 and not items[0][-1].isascii() else " "
    return comma.join(items[:-1]) + before + "และ" + after + items[-1]


def shortened(items, lang):
    if len(items) <= NAMES_SHOWN + 1:
        return join(items, lang)
    rest = len(items) - NAMES_SHOWN
    if lang == "en":
        return ", ".join(items[:NAMES_SHOWN]) + f" and {rest} more"
    return ", ".join(items[:NAMES_SHOWN]) + f" และอีก {rest} รายการ"


def bare(name):
    """The name without what stands in brackets behind it."""
    return name.split(" (")[0]


# Brackets that tell one medicine from another stay with its name.
TELLING = ("(THC)", "(CBD-rich)", "(oral)", "(topical)")


def called(row, lang):
    if lang == "th":
        return row["names"]["th"]
    name = row["names"]["en"]
    name = name if name.endswith(TELLING) else bare(name)
    # Several medicines of one herb have the herb's English name.
    is_herb = row["id"] in HERBS
    return name if is_herb or name not in {bare(h["names"]["en"]) for h in HERBS.values()} else f"{name} medicine"


def constituent(id, lang):
    names = CONSTITUENTS[id]["names"]
    return names["en"] if lang == "en" or not names["th"] else f"{names['th']} ({names['en']})"


def indication(code, lang):
    row = INDICATIONS[code]
    return row["plain"] if lang == "en" else row["names"]["th"]


class Monograph:
    def __init__(self, row, lang):
        self.row, self.lang, self.statements = row, lang, []
        # Each statement names what it is about, so that it can be quoted alone.
        self.name = called(row, lang)
        # Thai runs on without a space; after a Latin letter or a figure it takes one.
        if lang == "th" and self.name[-1].isascii():
            self.name += " "

    def say(self, section, text, sources, unverified=False):
        text = text.replace(" :", ":").replace("  ", " ")
        self.statements.append(
            {"section": section, "text": text, "sources": list(dict.fromkeys(sources)), "unverified": unverified}
        )

    def pick(self, en, th):
        return en if self.lang == "en" else th

    def record(self):
        names = self.row["names"]
        return {
            "id": self.row["id"],
            "lang": self.lang,
            "title": self.pick(names["en"], names["th"]),
            "statements": self.statements,
        }

    # --- what herbs and formulations share ---------------------------------------------------

    def cautions(self):
        """Says what is forbidden, what asks for care, what to know, and what not to combine, checked facts first."""
        forbidden = {c["code"] for c in self.row["cautions"] if c["level"] == "contraindicated"}
        for unverified in (False, True):
            groups = {"forbid": [], "separate": [], "care": [], "know": [], "combine": []}
            for c in self.row["cautions"]:
                if c["unverified"] != unverified or (c["level"] != "contraindicated" and c["code"] in forbidden):
                    continue
                kind = CAUTIONS[c["code"]]["kind"]
                if c["level"] == "interaction":
                    group = "combine"
                elif kind in ("effect", "duration"):
                    group = "know"
                elif c["level"] == "contraindicated":
                    group = "separate" if kind == "interaction" else "forbid"
                else:
                    group = "care"
                groups[group].append(c)
            for group, found in groups.items():
                section = "interactions" if group in ("combine", "separate") else "cautions"
                for source in dict.fromkeys(c["source"] for c in found):
                    things = "; ".join(CAUTIONS[c["code"]]["names"][self.lang] for c in found if c["source"] == source)
                    self.say(section, self.caution(group, unverified, SAYS.get(source, {}).get(self.lang), things), [source], unverified)

    def caution(self, group, unverified, who, things):
        if unverified:
            en, th = "Not checked against a source: ", "ข้อมูลที่ยังไม่ได้ตรวจสอบกับแหล่งข้อมูล: "
            return self.pick(en, th) + {
                "forbid": self.pick(f"avoid {self.name} in {things}.", f"ควรเลี่ยงการใช้{self.name}ในกรณี {things}"),
                "separate": self.pick(f"do not combine {self.name} with {things}.", f"ไม่ควรใช้{self.name}ร่วมกับ {things}"),
                "care": self.pick(f"take care with {self.name} in {things}.", f"ควรระวังการใช้{self.name}ในกรณี {things}"),
                "know": self.pick(f"{self.name}: {things}.", f"{self.name} {things}"),
                "combine": self.pick(f"take care with {self.name} together with {things}.", f"ควรระวังเมื่อใช้{self.name}ร่วมกับ {things}"),
            }[group]
        return {
            "forbid": self.pick(f"{who} contraindicates {self.name} in: {things}.", f"{who}ห้ามใช้{self.name}ในกรณี: {things}"),
            "separate": self.pick(f"{who} forbids combining {self.name} with: {things}.", f"{who}ห้ามใช้{self.name}ร่วมกับ: {things}"),
            "care": self.pick(f"{who} asks for caution with {self.name} in: {things}.", f"{who}ให้ระวังการใช้{self.name}ในกรณี: {things}"),
            "know": self.pick(f"{who} warns about {self.name}: {things}.", f"{who}เตือนเรื่อง{self.name}: {things}"),
            "combine": self.pick(
                f"{who} asks for caution when {self.name} is taken with: {things}.", f"{who}ให้ระวังเมื่อใช้{self.name}ร่วมกับ: {things}"),
        }[group]

    def interactions(self):
        for row in INTERACTIONS:
            if row["entity"] != self.row["id"]:
                continue
            drugs = join([DRUGS[d]["names"][self.lang] for d in row["drugs"]], self.lang)
            effect, mechanism = row["effect"][self.lang], row["mechanism"][self.lang]
            strength = STRENGTH[row["strength"]][self.lang]
            self.say("interactions", self.pick(
                f"{self.name} with {drugs}: {effect} (strength {strength}; mechanism: {mechanism}).",
                f"ใช้{self.name}ร่วมกับ{drugs}: {effect} (ความรุนแรง{strength}; กลไก: {mechanism})"), [row["source"]])

    def evidence(self, kind):
        about = [p for p in PAPERS if self.row["id"] in p[kind]]
        # Papers on Thai medicine first, then those whose result is known; the order of the file breaks ties.
        best = lambda p: (p["relevance"] != "core", not p["finding"]["result"])
        about.sort(key=best)
        for paper in about[:PAPERS_SHOWN]:
            self.say("evidence", f"{paper['finding'][self.lang]} (PMID {paper['pmid']})", ["pmid:" + paper["pmid"]])
        rest = len(about) - PAPERS_SHOWN
        if rest > 0:
            self.say("evidence", self.pick(
                f"The collection holds {rest} more {'paper' if rest == 1 else 'papers'} about {self.name}.",
                f"ในคลังยังมีบทความเกี่ยวกับ{self.name}อีก {rest} เรื่อง"),
                ["pmid:" + p["pmid"] for p in about[PAPERS_SHOWN:]])
        for fact in self.row.get("constituents", []):
            of = sorted((p for p in PAPERS if fact["id"] in p["constituents"] and p not in about), key=best)
            for paper in of[:PAPERS_OF_CONSTITUENT]:
                name = constituent(fact["id"], self.lang)
                if fact["unverified"]:
                    lead = self.pick(f"On {name}, by unchecked knowledge a constituent of {self.name}: ",
                                     f"เกี่ยวกับ{name} ซึ่งตามข้อมูลที่ยังไม่ได้ตรวจสอบเป็นสารสำคัญของ{self.name}: ")
                else:
                    lead = self.pick(f"On {name}, a constituent of {self.name}: ", f"เกี่ยวกับ{name} ซึ่งเป็นสารสำคัญของ{self.name}: ")
                self.say("evidence", f"{lead}{paper['finding'][self.lang]} (PMID {paper['pmid']})",
                         ["pmid:" + paper["pmid"], fact["source"]], fact["unverified"])
        seen = {p["pmid"] for p in about}
        for ref in REFERENCES:
            if ref["entity"] == self.row["id"] and ref["pmid"] not in seen:
                self.say("evidence", self.pick(
                    f"A paper that others cite and that was not read here (PMID {ref['pmid']}): {ref['claim']['en']}.",
                    f"บทความที่ผู้อื่นอ้างถึงแต่ยังไม่ได้อ่านที่นี่ (PMID {ref['pmid']}): {ref['claim']['th']}"),
                    [ref["source"]], True)
        return about

    def gaps(self, papers):
        own = [i for i in INTERACTIONS if i["entity"] == self.row["id"]]
        checked = [c for c in self.row["cautions"] if not c["unverified"]]
        if not self.row["cautions"] and not own:
            self.say("gaps", self.pick(
                f"No caution and no interaction is recorded here for {self.name}; that does not mean that it is safe.",
                f"ไม่มีข้อควรระวังหรืออันตรกิริยาของ{self.name}บันทึกไว้ที่นี่ แต่ไม่ได้หมายความว่าปลอดภัย"), OWN)
        elif not checked and not own:
            self.say("gaps", self.pick(
                f"No caution from a checked source is recorded here for {self.name}; that does not mean that it is safe.",
                f"ไม่มีข้อควรระวังของ{self.name}จากแหล่งข้อมูลที่ตรวจสอบแล้วบันทึกไว้ที่นี่ แต่ไม่ได้หมายความว่าปลอดภัย"), OWN)
        if not papers:
            self.say("gaps", self.pick(
                f"No paper in the collection is about {self.name} itself.",
                f"ไม่มีบทความในคลังที่กล่าวถึง{self.name}โดยตรง"), OWN)


def herb(row, lang):
    m = Monograph(row, lang)
    parts = row["parts"] if lang == "en" else [PARTS[p] for p in row["parts"]]
    source = [row["names_source"]]
    m.say("identity", m.pick(
        f"{row['names']['en']}, in Thai {row['names']['th']}, is {row['scientific']} of the family {row['family']}; "
        f"{'the part used is the' if len(parts) == 1 else 'the parts used are the'} {join(parts, lang)}.",
        f"{row['names']['th']} ชื่ออังกฤษ {row['names']['en']} คือ {row['scientific']} วงศ์ {row['family']} "
        f"ส่วนที่ใช้คือ{join(parts, lang)}"), source, row["names_unverified"])
    names = row["synonyms"]
    if any(names.values()):
        en, th = [], []
        if names["th"]:
            en.append(f"Thai {join(names['th'], lang)}")
            th.append(f"เรียกอีกอย่างว่า{join(names['th'], lang)}")
        if names["romanised"]:
            en.append(f"in Latin letters {join(names['romanised'], lang)}")
            th.append(f"เขียนด้วยอักษรโรมันว่า {join(names['romanised'], lang)}")
        if names["scientific"]:
            en.append(f"scientific synonym {join(names['scientific'], lang)}")
            th.append(f"มีชื่อพ้องทางวิทยาศาสตร์ว่า {join(names['scientific'], lang)}")
        m.say("identity", m.pick(f"Other names of {m.name}: {'; '.join(en)}.", m.name + " ".join(th)), source, row["names_unverified"])
    for unverified in (False, True):
        found = [i for i in row["indications"] if i["unverified"] == unverified]
        if found:
            uses = join([f"{indication(i['icd'], lang)} ({i['icd']})" for i in found], lang)
            m.say("uses", m.pick(
                f"General knowledge, not checked against a source, gives {m.name} for {uses}.",
                f"ความรู้ทั่วไปที่ยังไม่ได้ตรวจสอบกับแหล่งข้อมูลระบุว่าใช้{m.name}กับ{uses}")
                if unverified else m.pick(
                f"Medicines of {m.name} alone in {NATIONAL['en']} are indicated for {uses}.",
                f"{NATIONAL['th']}มียาที่ใช้{m.name}ชนิดเดียว โดยมีข้อบ่งใช้สำหรับ{uses}"),
                [i["source"] for i in found], unverified)
    if not row["indications"]:
        m.say("gaps", m.pick(f"No use of {m.name} by itself is recorded here.",
                             f"ไม่มีข้อบ่งใช้ของ{m.name}โดยลำพังบันทึกไว้ที่นี่"), OWN)
    for unverified in (False, True):
        found = [c for c in row["constituents"] if c["unverified"] == unverified]
        if found:
            things = join([constituent(c["id"], lang) for c in found], lang)
            m.say("constituents", m.pick(
                f"Constituents of {m.name}, by general knowledge that was not checked, include {things}.",
                f"สารสำคัญของ{m.name}ตามความรู้ทั่วไปที่ยังไม่ได้ตรวจสอบ ได้แก่ {things}")
                if unverified else m.pick(
                f"Constituents of {m.name} include {things}.", f"สารสำคัญของ{m.name} ได้แก่ {things}"),
                [c["source"] for c in found], unverified)
    if row["formulations"]:
        found = [called(FORMULATIONS[f], lang) for f in row["formulations"]]
        m.say("formulations", m.pick(
            f"{m.name} is an ingredient of {len(found)} {'medicine' if len(found) == 1 else 'medicines'} of the list: {shortened(found, lang)}.",
            f"{m.name}เป็นส่วนประกอบของยาในบัญชี {len(found)} รายการ ได้แก่ {shortened(found, lang)}"),
            [FORMULATIONS[f]["source"] for f in row["formulations"]])
    m.cautions()
    m.interactions()
    m.gaps(m.evidence("herbs"))
    return m.record()


def formulation(row, lang):
    m = Monograph(row, lang)
    source = [row["source"]]
    lists = join([LISTS[l][lang] for l in row["list"] if l in LISTS], lang)
    cannabis = "C" in row["list"]
    m.say("identity", m.pick(
        f"{row['names']['en']}, in Thai {row['names']['th']}, is a herbal medicine on {lists} of {NATIONAL['en']} of Thailand"
        f"{'; it contains cannabis' if cannabis else ''}.",
        f"{row['names']['th']} ชื่ออังกฤษ {row['names']['en']} เป็นยาจากสมุนไพรใน{lists}ของ{NATIONAL['th']}"
        f"{' และมีกัญชาเป็นส่วนประกอบ' if cannabis else ''}"), source)
    codes = join([i["icd"] for i in row["indications"]], lang)
    m.say("uses", m.pick(
        f"{m.name} is indicated for {row['use']['en']} (ICD-10: {codes}).",
        f"ข้อบ่งใช้ของ{m.name}: {row['use']['th']} (ICD-10: {codes})"), source)
    herbs = [called(HERBS[h], lang) for h in row["ingredients"]]
    others = row["other_ingredients"]
    if len(herbs) == 1:
        text = m.pick(f"The one herb of {m.name} is {herbs[0]}.", f"{m.name}ใช้สมุนไพรชนิดเดียวคือ{herbs[0]}")
    else:
        text = m.pick(
            f"{len(herbs)} herbs of {m.name} are described here: {join(herbs, lang)}.",
            f"ตัวยาใน{m.name}ที่มีข้อมูลที่นี่มี {len(herbs)} ชนิด ได้แก่ {join(herbs, lang)}")
    m.say("ingredients", text, source)
    if others:
        m.say("ingredients", m.pick(
            f"{m.name} also holds, named in Thai only: {', '.join(others)}.",
            f"{m.name}ยังมีตัวยาอื่น ได้แก่ {join(others, lang)}"), source)
    m.cautions()
    if row["side_effects"][lang]:
        m.say("cautions", m.pick(
            f"Side effects of {m.name} named by the national list: {row['side_effects']['en']}.",
            f"อาการไม่พึงประสงค์ของ{m.name}ตามบัญชียาหลักแห่งชาติ: {row['side_effects']['th']}"), source)
    m.interactions()
    m.gaps(m.evidence("formulations"))
    return m.record()


def main():
    records = [herb(row, lang) for row in HERBS.values() for lang in ("th", "en")]
    records += [formulation(row, lang) for row in FORMULATIONS.values() for lang in ("th", "en")]
    text = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records)
    path = ROOT / "monographs.jsonl"
    if "--check" in sys.argv[1:]:
        if path.read_text(encoding="utf-8") != text:
            print("monographs.jsonl is not what the facts give; run data/ttm/tools/monographs.py")
            return 1
        return 0
    path.write_text(text, encoding="utf-8")
    print(f"{len(records)} monographs, {sum(len(r['statements']) for r in records)} statements")
    return 0


if __name__ == "__main__":
    sys.exit(main())
