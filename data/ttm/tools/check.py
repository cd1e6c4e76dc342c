#!/usr/bin/env python3
"""Checks the data of Thai traditional medicine: `python3 data/ttm/tools/check.py`.

Every id resolves, every fact names a source, no PMID stands that is neither a paper nor a known
pointer, unchecked knowledge is marked and weaker, Thai is well formed, and the sums match.
Needs nothing but Python. Prints what is wrong, one line each, and fails when anything is.
"""
import hashlib
import json
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STRENGTHS = ["low", "moderate", "high"]
LEVELS = {"contraindicated", "precaution", "interaction"}
SECTIONS = {"identity", "constituents", "uses", "ingredients", "formulations", "cautions", "interactions", "evidence", "gaps"}
EVAL_SETS = ("smoke", "curated", "held", "crosslingual")
MAX_LIST_BYTES = 5_000_000
faults = []


def fault(where, what):
    faults.append(f"{where}: {what}")


def rows(name):
    found = []
    for number, line in enumerate((ROOT / name).read_text(encoding="utf-8").splitlines(), 1):
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError as error:
            fault(f"{name}:{number}", f"not JSON: {error}")
    return found


def table(name, key):
    found = {}
    for row in rows(name):
        if row[key] in found:
            fault(name, f"`{row[key]}` stands twice")
        found[row[key]] = row
    return found


HERBS, FORMULATIONS = table("herbs.jsonl", "id"), table("formulations.jsonl", "id")
CONSTITUENTS, INDICATIONS = table("constituents.jsonl", "id"), table("indications.jsonl", "id")
CAUTIONS, DRUGS = table("cautions.jsonl", "code"), table("drugs.jsonl", "name")
PAPERS, REFERENCES = table("papers.jsonl", "pmid"), table("references.jsonl", "pmid")
SOURCES, INTERACTIONS = table("sources.jsonl", "id"), table("interactions.jsonl", "id")
PARTS = table("parts.jsonl", "en")
MONOGRAPHS, ALIASES = rows("monographs.jsonl"), rows("aliases.jsonl")
PMIDS = set(PAPERS) | set(REFERENCES)
NODES = set(HERBS) | set(FORMULATIONS) | set(CONSTITUENTS) | set(INDICATIONS) | set(CAUTIONS) | set(DRUGS) | set(PAPERS)


# --- references --------------------------------------------------------------------------------

def known(where, ids, *tables):
    for id in ids:
        if not any(id in t for t in tables):
            fault(where, f"`{id}` leads nowhere")


def sourced(where, source, unverified=None):
    """A source is a line of sources.jsonl or a paper; what is not verified there must be marked."""
    if source.startswith("pmid:"):
        if source[5:] not in PAPERS:
            fault(where, f"`{source}` is not a paper of ours")
        return
    if source not in SOURCES:
        fault(where, f"unknown source `{source}`")
    elif unverified is not None and unverified == SOURCES[source]["verified"]:
        fault(where, f"`unverified` is {unverified} but the source `{source}` says otherwise")


def pmids(where, found):
    for pmid in found:
        if pmid not in PMIDS:
            fault(where, f"PMID {pmid} is neither a paper nor a known pointer")


def cautions(where, found):
    for c in found:
        known(where, [c["code"]], CAUTIONS)
        sourced(where, c["source"], c["unverified"])
        pmids(where, c["pmids"])
        if c["level"] not in LEVELS or c["strength"] not in STRENGTHS:
            fault(where, f"caution {c['code']} has level `{c['level']}` and strength `{c['strength']}`")
        elif c["unverified"] and c["code"] in CAUTIONS:
            full = CAUTIONS[c["code"]]["strength"]["contraindicated" if c["level"] == "contraindicated" else "precaution"]
            if STRENGTHS.index(c["strength"]) >= STRENGTHS.index(full) and full != "low":
                fault(where, f"unverified caution {c['code']} is as strong as a verified one")


def facts():
    for id, row in HERBS.items():
        sourced(id, row["names_source"], row["names_unverified"])
        known(id, row["parts"], PARTS)
        known(id, row["formulations"], FORMULATIONS)
        known(id, [c["id"] for c in row["constituents"]], CONSTITUENTS)
        known(id, [i["icd"] for i in row["indications"]], INDICATIONS)
        for fact in row["constituents"] + row["indications"]:
            sourced(id, fact["source"], fact["unverified"])
        cautions(id, row["cautions"])
        used = {row["names_source"]} | {f["source"] for k in ("constituents", "indications", "cautions") for f in row[k]}
        if used != set(row["sources"]):
            fault(id, f"`sources` is {sorted(row['sources'])}, the facts use {sorted(used)}")
        inside = {f for f, other in FORMULATIONS.items() if id in other["ingredients"]}
        if inside != set(row["formulations"]):
            fault(id, "`formulations` and the ingredients of the formulations disagree")
    for id, row in FORMULATIONS.items():
        sourced(id, row["source"])
        known(id, row["ingredients"], HERBS)
        known(id, [i["icd"] for i in row["indications"]], INDICATIONS)
        for fact in row["indications"]:
            sourced(id, fact["source"], fact["unverified"])
        cautions(id, row["cautions"])
        pmids(id, row["interaction_pmids"])
        if bool(row["side_effects"]["th"]) != bool(row["side_effects"]["en"]) or not all(row["other_ingredients"]):
            fault(id, "side effects in one language, or an ingredient without a name")
        if {row["source"]} | {c["source"] for c in row["cautions"]} != set(row["sources"]):
            fault(id, "`sources` are not those of its facts")
        if not row["ingredients"] or not row["indications"] or not row["use"]["th"] or not row["use"]["en"]:
            fault(id, "no ingredient, indication or use")
    for id, row in CONSTITUENTS.items():
        inside = {h for h, herb in HERBS.items() if id in [c["id"] for c in herb["constituents"]]}
        if inside != set(row["herbs"]) or not inside:
            fault(id, "`herbs` and the constituents of the herbs disagree")
    for id, row in INDICATIONS.items():
        sourced(id, row["source"])
        if not re.fullmatch(r"[A-Z]\d\d(\.\d)?", id):
            fault(id, "not an ICD-10 code")
    for id, row in INTERACTIONS.items():
        known(id, [row["entity"]], HERBS, FORMULATIONS)
        known(id, row["drugs"], DRUGS)
        sourced(id, row["source"], row["unverified"])
        if row["strength"] not in STRENGTHS or not all(row[k][l] for k in ("effect", "mechanism") for l in ("th", "en")):
            fault(id, "strength, effect or mechanism is missing")
    for name, row in DRUGS.items():
        known(name, row["classes"], DRUGS)
        known(name, row["cautions"], CAUTIONS)


def patients():
    covered = set()
    for row in rows("groups.jsonl"):
        where = f"group {row['id'] or 'without id'}"
        known(where, [c["code"] for c in row["covers"]], CAUTIONS)
        known(where, [c["class"] for c in row["classes"]], DRUGS)
        covered |= {c["code"] for c in row["covers"]}
        for cover in row["covers"] + row["classes"]:
            if not cover["why"]:
                fault(where, "a cover without a reason")
        for cover in row["covers"]:
            if cover["how"] not in ("same", "narrower", "broader", "related"):
                fault(where, f"`{cover['how']}` is no way to belong")
    for code, row in CAUTIONS.items():
        if row["kind"] not in ("interaction", "effect", "duration") and code not in covered:
            fault(code, "concerns no group of patients")
    for row in rows("emergencies.jsonl"):
        if not row["call"] or not set(row["call"]) <= {"1669", "1367", "1323"} or not row["told"]["th"] or not row["told"]["en"]:
            fault(f"emergency {row['id']}", "numbers or words are missing")


def medicines():
    lines = (ROOT / "medicines.tsv").read_text(encoding="utf-8").splitlines()[1:]
    names = set()
    for number, line in enumerate(lines, 2):
        fields = line.split("\t")
        if len(fields) != 6 or not fields[0] or fields[0] in names:
            fault(f"medicines.tsv:{number}", "not six fields, or a name that stands twice")
        names.add(fields[0])
        for code in filter(None, fields[2].split("|")):
            if not re.fullmatch(r"[A-Z]\d\d[A-Z][A-Z]\d\d", code):
                fault(f"medicines.tsv:{number}", f"`{code}` is no ATC code")
        for source in fields[5].split("+"):
            sourced(f"medicines.tsv:{number}", source)
    for number, line in enumerate((ROOT / "medicine_names.tsv").read_text(encoding="utf-8").splitlines()[1:], 2):
        name, kind, spelling, source = line.split("\t")
        known(f"medicine_names.tsv:{number}", [name], names, DRUGS)
        sourced(f"medicine_names.tsv:{number}", source)
        if kind not in ("th", "brand", "class") or not spelling:
            fault(f"medicine_names.tsv:{number}", "kind or spelling")
    for row in rows("medicine_classes.jsonl"):
        where = f"class {row['class']}"
        known(where, [row["class"]], DRUGS)
        known(where, row["members"], names)
        known(where, row["cautions"], CAUTIONS)
        sourced(where, row["source"])


# --- papers, texts, questions --------------------------------------------------------------------

def papers():
    for pmid, row in PAPERS.items():
        if not re.fullmatch(r"[1-9]\d{0,8}", pmid):
            fault(pmid, "not a PMID")
        others = ("https://doi.org/10.", "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC")
        if row["links"][:1] != [f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/"] or not all(l.startswith(others) for l in row["links"][1:]):
            fault(pmid, f"links are {row['links']}")
        if "abstract" in row:
            fault(pmid, "abstracts are not shipped")
        known(pmid, row["herbs"], HERBS)
        known(pmid, row["constituents"], CONSTITUENTS)
        known(pmid, row["formulations"], FORMULATIONS)
        known(pmid, row["indications"], INDICATIONS)
        for source in row["sources"]:
            sourced(pmid, source)
        finding = row["finding"]
        if not finding["en"].endswith(".") or not finding["th"] or finding["from"] not in ("abstract", "title"):
            fault(pmid, "no whole finding")
        if finding["from"] == "title" and finding["result"]:
            fault(pmid, "a title alone does not tell a result")
        if row["title_complete"] and not row["title"]:
            fault(pmid, "a complete title that is empty")
    for pmid, row in REFERENCES.items():
        known(f"pointer {pmid}", [row["entity"]], HERBS, FORMULATIONS)
        sourced(f"pointer {pmid}", row["source"], row["unverified"])
        if row["in_papers"] != (pmid in PAPERS):
            fault(f"pointer {pmid}", "`in_papers` is wrong")


def texts():
    seen = set()
    for row in MONOGRAPHS:
        where = f"monograph {row['id']} {row['lang']}"
        known(where, [row["id"]], HERBS, FORMULATIONS)
        seen.add((row["id"], row["lang"]))
        if not row["statements"]:
            fault(where, "is empty")
        for s in row["statements"]:
            if not s["text"].strip() or s["section"] not in SECTIONS:
                fault(where, f"section `{s['section']}` is empty or unknown")
            if not s["sources"]:
                fault(where, f"no source: {s['text']}")
            for source in s["sources"]:
                sourced(where, source)
            checked = [x.startswith("pmid:") or SOURCES.get(x, {}).get("verified") for x in s["sources"]]
            if not all(checked) and not s["unverified"]:
                fault(where, f"rests on unchecked knowledge without saying so: {s['text']}")
            pmids(where, re.findall(r"PMID (\d+)", s["text"]))
    for id in list(HERBS) + list(FORMULATIONS):
        for lang in ("th", "en"):
            if (id, lang) not in seen:
                fault(id, f"has no monograph in {lang}")
    for row in ALIASES:
        known(f"alias {row['alias']}", [row["id"]], NODES)
        sourced(f"alias {row['alias']}", row["source"])


def questions():
    held, tuned, asked = set(), set(), set()
    for name in EVAL_SETS:
        for row in rows(f"eval/{name}.jsonl"):
            where = f"eval/{name} {row['id']}"
            known(where, row["relevant"], HERBS, FORMULATIONS, PAPERS)
            if bool(row["relevant"]) == row["kind"].startswith("unanswerable"):
                fault(where, "answers and kind disagree")
            if len(set(row["relevant"])) != len(row["relevant"]) or not row["query"].strip():
                fault(where, "an answer stands twice or the question is empty")
            if name != "smoke":
                if row["id"] in asked:
                    fault(where, "the id stands twice")
                asked.add(row["id"])
            {"held": held, "curated": tuned}.get(name, set()).add(row["pair"])
            if name == "held" and hashlib.sha256(row["pair"].encode()).digest()[0] % 2:
                fault(where, "the rule of the split puts it into curated")
    if held & tuned:
        fault("eval", f"pairs stand on both sides of the split: {sorted(held & tuned)}")
    answers()


def answers():
    for row in rows("eval/answers.jsonl"):
        where = f"eval/answers {row['id']}"
        for must in row["must"]:
            known(where, must["ids"], NODES, INTERACTIONS)
            if not must["any_of"]:
                fault(where, "a fact without words to look for")
        if row["withhold"] and row["must"]:
            fault(where, "withheld, yet facts are asked for")
        if not row["withhold"] and not row["must"]:
            fault(where, "an answer that must hold nothing")


# --- Thai, lists, sums ---------------------------------------------------------------------------

ZERO_WIDTH = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad]")
# Order of marks: a tone mark never stands before a vowel mark, no mark stands twice or first, and
# sara am is one character.
BAD_THAI = re.compile(
    "[\u0e48-\u0e4b][\u0e31\u0e34-\u0e3a\u0e47]|\u0e4d[\u0e48-\u0e4b]?\u0e32|"
    "([\u0e31\u0e34-\u0e3a\u0e47-\u0e4e])\\1|(^|[\\s(])[\u0e31\u0e33-\u0e3a\u0e47-\u0e4e]"
)


def thai():
    for path in sorted(ROOT.rglob("*")):
        if path.suffix not in (".jsonl", ".tsv", ".txt", ".md") or path.name.startswith("LICENSE"):
            continue
        raw = path.read_bytes()
        name = path.relative_to(ROOT)
        if b"\r" in raw or not raw.endswith(b"\n"):
            fault(name, "lines must end in LF, the last one too")
        text = raw.decode("utf-8")
        if unicodedata.normalize("NFC", text) != text:
            fault(name, "is not in NFC")
        if ZERO_WIDTH.search(text):
            fault(name, "holds zero-width characters")
        # The word lists are as their makers left them; they hold bare marks as entries.
        if name.name in ("words_th.txt", "stopwords_th.txt", "lexicon.tsv"):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            for value in re.split('["\t]', line):
                if wrong := BAD_THAI.search(value):
                    fault(f"{name}:{number}", f"marks in a wrong order near `{value[max(0, wrong.start() - 8):wrong.end() + 8]}`")


def lists():
    for name in ("lexicon.tsv", "lexicon_domain.tsv"):
        seen = set()
        for number, line in enumerate((ROOT / name).read_text(encoding="utf-8").splitlines(), 1):
            parts = line.split("\t")
            if len(parts) != 2 or not all(parts) or parts[0] in seen:
                fault(f"{name}:{number}", "not one Thai word, a tab and its English words, or a word that stands twice")
            seen.add(parts[0])
    for name in ("words_th.txt", "lexicon.tsv"):
        if (ROOT / name).stat().st_size > MAX_LIST_BYTES:
            fault(name, "is larger than it may be")


def sums():
    recorded = {}
    for line in (ROOT / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        recorded[name] = digest
    # What people write (README.md) and what is run (tools/) changes without the data changing.
    present = {str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if p.is_file()}
    present = {p for p in present if not p.startswith("tools/") and not p.endswith("README.md") and p != "SHA256SUMS"}
    for name in sorted(present | set(recorded)):
        if name not in recorded:
            fault(name, "has no sum")
        elif name not in present:
            fault(name, "has a sum but is missing")
        elif hashlib.sha256((ROOT / name).read_bytes()).hexdigest() != recorded[name]:
            fault(name, "does not match its sum; run data/ttm/tools/sums.py when the change is meant")


def main():
    for check in (facts, patients, medicines, papers, texts, questions, thai, lists, sums):
        check()
    script = [sys.executable, "-B", str(ROOT / "tools/monographs.py"), "--check"]
    if subprocess.run(script, check=False).returncode:
        fault("monographs.jsonl", "is not what the facts give")
    for line in faults:
        print(line)
    print(f"data/ttm: {len(HERBS)} herbs, {len(FORMULATIONS)} formulations, {len(PAPERS)} papers, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
