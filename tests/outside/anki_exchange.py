"""Anki's own backend opens what we export, and finds what we find."""

import contextlib
import itertools
import json
import pathlib
import random
import subprocess
import tempfile

from anki.collection import Collection, ImportAnkiPackageOptions, ImportAnkiPackageRequest
from anki.errors import DBError, InvalidInput, SearchError

import server

GOLDEN = pathlib.Path(__file__).parents[2] / "crates/panoply-noema/tests/golden"
PACKAGES = ["search_oracle.apkg", "sample_anki26_latest.apkg", "presets_anki26_latest.apkg"]
# Not `note:`: Anki gives a type that comes from outside another name when it knows one of that name.
QUERIES = """
deck:Science|deck:s*|deck:Misc|tag:anatomy|tag:anatomy::*|tag:none|tag:lang|tag:*ung|dog|d_g|d*g|"a_b"|w:dog|w:d*g|re:d[ou]g
nc:uber|front:*dog*|front:re:^d|back:_*|is:new|is:review|is:learn|is:due|is:suspended|is:buried|is:buried-manually
is:buried-sibling|-is:new|prop:ivl>=10|prop:ivl<5|prop:reps>10|prop:lapses=0|prop:ease>2|prop:s>100|prop:d<0.5|prop:d>=9
prop:due<0|prop:due>0|flag:0|flag:1|flag:7|card:1|card:2|note:basic*|(dog or cat) -tag:lang|dog cat or is:suspended
-(is:new or is:suspended) deck:Science|c*d|colon\\:here|n1|über|42
""".replace("\n", "|").strip("|").split("|")


# What random queries are put together from, by how often it is taken.
RANDOM_QUERIES = 1000
# Searches that one server answers within its limit of calls.
PER_SERVER = 450
WORDS = """dog cat dug d_g d*g *og do* über uber naïve NAIVE a_b a\\_b c*d c\\*d "a b" "dog cat" 42 n1 n_ 3.14 e=mc^2 raining กรุงเทพ 東京
% & &amp; <b> bold b>b colon\\:here \\"quoted\\" back\\\\slash \\( \\- - -- {{c1 résumé café cafe The""".split()
KEYED = {
    "deck:": "Science science Sci* *::Heart Heart Languages::Thai S_ience Science::* * current filtered Misc none".split(),
    "tag:": "anatomy Anatomy lang lang::* lang::fr l_ng *fr none * a* übung ÜBUNG re:^lang$ re:fr re:LANG nc:ubung nc:ana* x".split(),
    "is:": "new review learn due suspended buried buried-manually buried-sibling".split(),
    "flag:": "0 1 2 3 4 5 6 7".split(),
    "card:": "1 2 0 cloze Card* card_1".split(),
    "w:": "dog d*g d_g naïve NAÏVE n1 The * 3.14 dog*".split(),
    "nc:": "uber über naive NAIVE d_g cafe resume *".split(),
    "re:": ["dog", "d[ou]g", "^the", "n1\\\\b", "c1", "ÜBER", '"o. n"', "a.*b"],
    "sc:": "dog naïve of c1 d_g aorta <b> bold".split(),
    "front:": "*dog* d* _* * dog re:dog re:^d nc:*uber* *über* DOG*".split(),
    "b*ck:": "*dog* re:a_b nc:*cafe*".split(),
    "prop:": """ivl>=10 ivl<5 ivl=20 ivl!=20 reps>10 reps<3 lapses=0 lapses>2 ease>2 ease=2.5 s>100 s<=50 d<0.5 d>=0.5 d>9 pos<50 pos>=100
        due<0 due>0 due=0 due<=3 due!=1 due>-10 rated=0 rated>-5:2 resched=0 cdn:v=3 cdn:v>1 cdn:x>1 cds:k=a cds:x=a
        s>5 s<1 d<0.3 r<0.8 r>=0.9 r>0.5 r<=0.99 ease>-20 ease<0""".split(),
    "": "has-cd:v has-cd:x rated:1 rated:30:1 added:1 added:9999 edited:1 introduced:1 resched:1 did:1 mid:9 nid:1,2 cid:5 preset:default preset:x".split(),
    # Mistakes: both must say so.
    "?": ["is:odd", "flag:9", "prop:ivl=-1", "prop:reps==3", "prop:lapses>1.5", "rated:-1", "rated:1:5", "prop:rated=1", "nid:", "cid:x", "or", "dog or",
        "and dog", "()", "(dog", "dog)", '"dog', '""', 'tag:""', "\\\\a", "prop:x>1", "prop:ivl", "re:[", "added:x"],
}


def main() -> None:
    given = server.arguments()
    with server.home() as environment, tempfile.TemporaryDirectory() as folder:
        panoply = lambda *words: subprocess.run([given.panoply, *words], env=environment, check=True, capture_output=True, text=True).stdout
        ours = pathlib.Path(folder) / "ours.apkg"
        for package in PACKAGES:
            panoply("noema", "import", str(GOLDEN / package))
        panoply("noema", "export", str(ours))
        theirs = Collection(str(pathlib.Path(folder) / "anki.anki2"))
        import_into(theirs, ours)
        direct = Collection(str(pathlib.Path(folder) / "direct.anki2"))
        for package in PACKAGES:
            import_into(direct, GOLDEN / package)
        compare_rows(direct, theirs)
        compare_curves(direct, theirs)
        compare_presets(direct, theirs)
        direct.close()
        with agent(given.panoply, environment) as call:
            compare_searches(theirs, lambda query: found(call, query))
        compare_random_searches(theirs, lambda: agent(given.panoply, environment))
        theirs.close()


def import_into(collection: Collection, package: pathlib.Path) -> None:
    options = ImportAnkiPackageOptions(with_scheduling=True, with_deck_configs=True, merge_notetypes=False)
    collection.import_anki_package(ImportAnkiPackageRequest(package_path=str(package), options=options))


@contextlib.contextmanager
def agent(panoply: pathlib.Path, environment: dict):
    """One server for all searches: gives a function that calls a tool, or None for an error."""
    process = subprocess.Popen([str(panoply), "stdio", "noema"], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    numbers = itertools.count(1)

    def ask(method: str, params: dict) -> dict:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": next(numbers), "method": method, "params": params}) + "\n")
        process.stdin.flush()
        reply = json.loads(process.stdout.readline())
        if "result" not in reply:
            raise SystemExit(f"FAILED: {method} was answered with {reply}")
        return reply["result"]

    def call(tool: str, arguments: dict) -> dict | None:
        result = ask("tools/call", {"name": tool, "arguments": arguments})
        if not result.get("isError"):
            return result["structuredContent"]["data"]
        if "RATE_LIMIT" in result["content"][0]["text"].upper():
            raise SystemExit(result["content"][0]["text"])
        return None

    ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "judge", "version": "1"}})
    process.stdin.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}) + "\n")
    yield call
    process.stdin.close()
    process.wait(timeout=30)


def compare_rows(direct: Collection, exported: Collection) -> None:
    """What came through us is what Anki reads from the packages themselves."""
    queries = {
        "notes": "select guid, flds, tags, sfld, csum from notes order by guid",
        "cards": "select n.guid, c.ord, c.type, c.queue, iif(c.type = 0, 0, c.due), c.ivl, c.factor, c.reps, c.lapses, c.flags, json_extract(c.data, '$.s', '$.d') from cards c join notes n on n.id = c.nid order by 1, 2",
        "reviews": "select n.guid, c.ord, r.ease, r.ivl, r.lastIvl, r.factor, r.time, r.type from revlog r join cards c on c.id = r.cid join notes n on n.id = c.nid order by r.id",
    }
    for name, query in queries.items():
        one, two = direct.db.all(query), exported.db.all(query)
        unlike = [pair for pair in zip(one, two) if pair[0] != pair[1]]
        server.expect(one == two, f"anki: {len(two)} {name} are the same after a round trip {unlike[:3]}")


def compare_curves(direct: Collection, exported: Collection) -> None:
    """Anki needs the decay and the desired retention of a card for its forgetting curve."""
    query = "select n.guid || '/' || c.ord, json_extract(c.data, '$.dr', '$.decay') from cards c join notes n on n.id = c.nid where json_extract(c.data, '$.s') is not null"
    one, two = (dict(collection.db.all(query)) for collection in (direct, exported))
    known = {card: curve for card, curve in one.items() if curve != "[null,null]"}
    same = [card for card, curve in known.items() if two[card] == curve]
    empty = [card for card, curve in two.items() if "null" in curve]
    server.expect(len(same) == len(known) and not empty, f"anki: {len(known)} cards keep decay and retention, {len(two)} have them {empty[:3]}")


def compare_presets(direct: Collection, exported: Collection) -> None:
    """How a deck is studied comes through us unchanged."""
    name = "Thai::Verbs"
    one, two = (collection.decks.config_dict_for_deck_id(collection.decks.id(name)) for collection in (direct, exported))
    kept = lambda config: [
        config["name"], round(config["desiredRetention"], 6), config["new"]["delays"], config["new"]["perDay"], config["rev"]["perDay"], config["rev"]["maxIvl"],
        config["lapse"]["delays"], config["lapse"]["leechFails"], config["lapse"]["leechAction"], [round(weight, 4) for weight in config["fsrsParams6"]],
    ]
    server.expect(kept(one) == kept(two) and one["name"] == "My preset", f"anki: the options of {name} are the same: {kept(one)} and {kept(two)}")


def compare_searches(theirs: Collection, ours) -> None:
    wrong = []
    for query in QUERIES:
        keys = sorted(
            f"{theirs.get_card(card).note().guid}/{theirs.get_card(card).ord}" for card in theirs.find_cards(query)
        )
        mine = ours(query)
        extra, missing = sorted(set(mine) - set(keys))[:3], sorted(set(keys) - set(mine))[:3]
        if mine != keys:
            wrong.append(f"`{query}`: {len(keys)} cards, ours has more {extra}, lacks {missing}")
    server.expect(not wrong, f"anki: {len(QUERIES)} searches find the same cards {wrong}")


def random_query(chance: random.Random, depth: int = 0) -> str:
    """A query as a person might type it, now and then with a mistake in it."""
    kind = chance.random()
    if depth < 3 and kind < 0.30:
        parts = [random_query(chance, depth + 1) for _ in range(chance.randint(2, 3))]
        return "".join(part if place == 0 else chance.choice([" ", " ", " or ", " OR ", " and "]) + part for place, part in enumerate(parts))
    if depth < 3 and kind < 0.40:
        return chance.choice(["", "-"]) + "(" + random_query(chance, depth + 1) + ")"
    if kind < 0.55:
        return "-" + random_query(chance, 3)
    if kind < 0.75:
        return chance.choice(WORDS)
    key = chance.choice([key for key in KEYED if key != "?" or chance.random() < 0.2])
    value = chance.choice(KEYED[key])
    if key == "?":
        return value
    return chance.choice([f"{key}{value}", f'"{key}{value}"' if '"' not in value else f"{key}{value}"])


def compare_random_searches(theirs: Collection, start) -> None:
    """Anki says which cards; where it sees a mistake, so must we."""
    chance = random.Random(26_9_3)
    queries = [random_query(chance) for _ in range(RANDOM_QUERIES)]
    names = {card: f"{guid}/{ordinal}" for card, guid, ordinal in theirs.db.all("select c.id, n.guid, c.ord from cards c join notes n on n.id = c.nid")}
    wrong, found_some, mistakes, broken = [], 0, 0, 0
    for first in range(0, RANDOM_QUERIES, PER_SERVER):
        with start() as call:
            for query in queries[first : first + PER_SERVER]:
                # Which deck is the current one is for each program to say, and `-sc:` is not the opposite
                # of `sc:` in Anki: it finds only notes that hold the text in one form or the other.
                if "current" in query or "sc:" in query and "-" in query:
                    continue
                try:
                    keys = {names[card] for card in theirs.find_cards(query)}
                except (SearchError, InvalidInput):
                    keys = None
                except DBError:
                    # Anki's own fault: it writes no SQL for `-tag:*` in brackets.
                    broken += 1
                    continue
                reply = call("search-cards", {"query": query, "limit": 100})
                if keys is None or reply is None:
                    mistakes += keys is None
                    if (keys is None) != (reply is None):
                        wrong.append(f"`{query}`: a mistake for {'Anki' if keys is None else 'us'} only")
                    continue
                found_some += 0 < len(keys) < 474
                page = {f"{card['noteGuid']}/{card['ordinal']}" for card in reply["cards"]}
                if reply["total"] != len(keys) or not page <= keys:
                    wrong.append(f"`{query}`: {len(keys)} cards, ours {reply['total']}, more {sorted(page - keys)[:3]}")
    shown = "\n  ".join(wrong[:40])
    allowed = RANDOM_QUERIES // 100
    server.expect(len(wrong) <= allowed, f"anki: {RANDOM_QUERIES} random searches, {found_some} find a part of the cards, {mistakes} are mistakes for both, {broken} break Anki; {len(wrong)} differ, {allowed} may\n  {shown}")


def found(call, query: str) -> list[str]:
    keys, cursor = [], None
    while True:
        data = call("search-cards", {"query": query, "limit": 100} | ({"cursor": cursor} if cursor else {}))
        if data is None:
            raise SystemExit(f"FAILED: `{query}` is a mistake to us")
        keys += [f"{card['noteGuid']}/{card['ordinal']}" for card in data["cards"]]
        cursor = data["nextCursor"]
        if not cursor:
            return sorted(keys)


if __name__ == "__main__":
    main()
