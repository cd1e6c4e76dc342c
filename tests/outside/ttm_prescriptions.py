"""100 prescriptions against every herb and formulation: each record of the data is found, and nothing else.

The oracle reads data/ttm itself: a medicine concerns a record if the record names it, or a class that it
belongs to by ATC code, by name or through another class; and a caution if the caution covers one of these.
It shares no code with the program.
"""

import collections
import json
import pathlib
import urllib.request

import server

DATA = pathlib.Path(__file__).parents[2] / "data/ttm"
MOST_IDS = 50

# Medicines that are taken together, one prescription a line: international names, Thai names, Thai brands.
PRESCRIPTIONS = """
warfarin
warfarin, amiodarone, bisoprolol
วาร์ฟาริน, ดิจอกซิน, ฟูโรซีไมด์
apixaban, atorvastatin, metoprolol
rivaroxaban, amlodipine
dabigatran, losartan, simvastatin
clopidogrel, aspirin, atorvastatin
aspirin, enalapril, metoprolol, atorvastatin
แอสไพริน, omeprazole
ticagrelor, aspirin, rosuvastatin
heparin
enoxaparin, aspirin
metformin
metformin, glipizide
เมตฟอร์มิน, simvastatin, amlodipine
metformin, sitagliptin, empagliflozin
gliclazide, pioglitazone
glibenclamide, metformin, enalapril
insulin glargine, metformin
insulin aspart, insulin glargine, gabapentin
dapagliflozin, losartan
amlodipine
amlodipine, losartan, hydrochlorothiazide
enalapril, hydrochlorothiazide
lisinopril, spironolactone, furosemide
losartan, amlodipine, simvastatin
valsartan, bisoprolol
atenolol, hydralazine
prazosin, amlodipine
carvedilol, furosemide, spironolactone, digoxin
doxazosin, finasteride
propranolol
verapamil, aspirin
diltiazem, atorvastatin
isosorbide dinitrate, aspirin, metoprolol
simvastatin
atorvastatin, fenofibrate
rosuvastatin, ezetimibe
gemfibrozil, metformin
digoxin, furosemide, potassium chloride
spironolactone, enalapril
amiodarone, warfarin
sotalol, apixaban
phenytoin
phenytoin, folic acid
valproate, clonazepam
carbamazepine
levetiracetam, clobazam
lamotrigine, valproate
gabapentin, tramadol
pregabalin, duloxetine
diazepam
lorazepam, sertraline
alprazolam, propranolol
clonazepam, risperidone
zolpidem
sertraline
fluoxetine, lorazepam
escitalopram, omeprazole
amitriptyline, tramadol
nortriptyline, gabapentin
mirtazapine
venlafaxine, quetiapine
haloperidol, trihexyphenidyl
risperidone, lithium
olanzapine, valproate
clozapine
donepezil, memantine
levodopa, ropinirole
morphine, bisacodyl
tramadol, paracetamol
codeine, paracetamol
fentanyl, ondansetron
methadone
ibuprofen
diclofenac, omeprazole
naproxen, tolperisone
celecoxib, colchicine
etoricoxib
indometacin, allopurinol
allopurinol, colchicine
methotrexate, folic acid, prednisolone
prednisolone
prednisolone, hydroxychloroquine, calcium carbonate
ciclosporin, prednisolone
tacrolimus, mycophenolic acid, prednisolone
azathioprine, prednisolone
doxorubicin, cyclophosphamide, ondansetron
paclitaxel, carboplatin
tamoxifen
letrozole
imatinib
rifampicin, isoniazid, pyrazinamide, ethambutol
clarithromycin, amoxicillin, omeprazole
ciprofloxacin
ketoconazole
efavirenz, tenofovir disoproxil, lamivudine
levothyroxine
theophylline, salbutamol, budesonide
ethinylestradiol, levonorgestrel
""".strip().splitlines()


def rows(file: str) -> list:
    return [json.loads(line) for line in (DATA / file).read_text(encoding="utf-8").splitlines()]


def table(file: str) -> list:
    head, *lines = (DATA / file).read_text(encoding="utf-8").splitlines()
    return [dict(zip(head.split("\t"), line.split("\t"))) for line in lines]


class Oracle:
    """Which records concern a medicine, by the files alone."""

    def __init__(self) -> None:
        self.drugs = {row["name"]: row for row in rows("drugs.jsonl")}
        self.medicines = {row["name"]: row for row in table("medicines.tsv")}
        self.classes = rows("medicine_classes.jsonl")
        self.entities = rows("herbs.jsonl") + rows("formulations.jsonl")
        self.interactions = rows("interactions.jsonl")
        self.formulations = collections.defaultdict(list)
        for row in rows("formulations.jsonl"):
            for herb in row["ingredients"]:
                self.formulations[herb].append(row["id"])
        self.keys = {}
        for row in self.medicines.values():
            for other in filter(None, row["names"].split("|")):
                self.keys.setdefault(other.lower(), row["name"])
        for row in table("medicine_names.tsv"):
            if row["kind"] != "class":
                self.keys[row["spelling"].lower()] = row["name"]

    def key(self, name: str) -> str:
        known = name if name in self.medicines or name in self.drugs else self.keys.get(name.lower())
        if known is None:
            raise SystemExit(f"no file of data/ttm knows the medicine {name}")
        return known

    def reach(self, medicine: str) -> set:
        """The medicine and every class above it."""
        found, todo = set(), [medicine]
        while todo:
            name = todo.pop()
            if name in found:
                continue
            found.add(name)
            todo += self.drugs.get(name, {}).get("classes", [])
            atc = [code for code in self.medicines.get(name, {}).get("atc", "").split("|") if code]
            for row in self.classes:
                by_code = any(
                    any(code.startswith(prefix) for prefix in row["atc"])
                    and not any(code.startswith(prefix) for prefix in row["except"])
                    for code in atc
                )
                if by_code or name in row["members"]:
                    todo.append(row["class"])
        return found

    def records(self, medicine: str) -> set:
        """Pairs of entity and record: an interaction, or a caution that covers the medicine."""
        reach = self.reach(medicine)
        codes = {code for name in reach for code in self.drugs.get(name, {}).get("cautions", [])}
        codes |= {code for row in self.classes if row["class"] in reach for code in row["cautions"]}
        found = {(row["entity"], row["id"]) for row in self.interactions if reach & set(row["drugs"])}
        for entity in self.entities:
            found |= {(entity["id"], one["code"]) for one in entity["cautions"] if one["code"] in codes}
        return found


class Client:
    """`find_contraindications` over HTTP."""

    def __init__(self, base: str) -> None:
        self.url = f"{base}/mcp"

    def call(self, arguments: dict, tries: int = 9) -> dict:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "find_contraindications", "arguments": arguments}}
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        request = urllib.request.Request(self.url, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=60) as reply:
            text = reply.read().decode()
        if text.startswith(("event:", "data:", "id:")):
            text = next(line[5:] for line in text.splitlines() if line.startswith("data:") and "result" in line)
        result = json.loads(text)["result"]
        if "TIMEOUT" in str(result["content"]) and tries:
            # A debug build on a busy machine may miss the deadline of a second.
            return self.call(arguments, tries - 1)
        if result.get("isError"):
            raise SystemExit(f"{arguments}: {result['content']}")
        return result["structuredContent"]

    def asked(self, entities: list, drugs: list):
        """The results about these drugs, of all pages; they stand before the others."""
        kinds = {"herb_ids": [one for one in entities if one.startswith("H:")], "formulation_ids": [one for one in entities if one.startswith("F:")]}
        offset = 0
        while offset is not None:
            reply = self.call({**kinds, "drugs": drugs, "offset": offset, "lang": "en"})
            if reply.get("unknown"):
                raise SystemExit(f"unknown: {reply['unknown']}")
            for result in reply["results"]:
                if not result["asked"]:
                    return
                yield result
            offset = reply.get("next_offset")


def main() -> None:
    given = server.arguments()
    oracle = Oracle()
    server.expect(len(PRESCRIPTIONS) == 100, "100 prescriptions")
    ids = [entity["id"] for entity in oracle.entities]
    groups = [ids[start : start + MOST_IDS] for start in range(0, len(ids), MOST_IDS)]
    missing, excess, pairs = [], [], 0
    with server.http(given.panoply, "ttm") as base:
        client = Client(base)
        for prescription in PRESCRIPTIONS:
            drugs = [name.strip() for name in prescription.split(",")]
            expected = {(drug, *record) for drug in drugs for record in oracle.records(oracle.key(drug))}
            found = set()
            for group in groups:
                for result in client.asked(group, drugs):
                    if result.get("code"):
                        found |= {(one["drug"], result["entity_id"], result["code"]) for one in result.get("drugs", [])}
            named = {oracle.key(drug): drug for drug in drugs}
            found = {(named.get(drug, drug), entity, code) for drug, entity, code in found}
            # A formulation inherits the records of its ingredients.
            of_herbs = {(drug, herb, code) for drug, herb, code in expected if herb.startswith("H:")}
            inherited = {(drug, formulation, code) for drug, herb, code in of_herbs for formulation in oracle.formulations[herb]}
            pairs += len(expected)
            missing += sorted(f"{prescription}: {one}" for one in expected - found)
            excess += sorted(f"{prescription}: {one}" for one in found - expected - inherited)
    for title, list in (("not found", missing), ("found without a record", excess)):
        for line in list[:20]:
            print(f"{title}: {line}")
    server.expect(pairs > 500, f"{pairs} pairs of a medicine and a record")
    server.expect(not missing, f"{len(missing)} of them not found")
    server.expect(not excess, f"{len(excess)} found without a record")


if __name__ == "__main__":
    main()
