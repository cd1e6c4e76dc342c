"""Anki's own backend opens what we export, and finds what we find."""

import json
import pathlib
import subprocess
import tempfile

from anki.collection import Collection, ImportAnkiPackageOptions, ImportAnkiPackageRequest

import server

GOLDEN = pathlib.Path(__file__).parents[2] / "crates/panoply-noema/tests/golden"
PACKAGES = ["search_oracle.apkg", "sample_anki26_latest.apkg"]
# Not `note:`: Anki gives a type that comes from outside another name when it knows one of that name.
QUERIES = """
deck:Science|deck:s*|deck:Misc|tag:anatomy|tag:anatomy::*|tag:none|tag:lang|tag:*ung|dog|d_g|d*g|"a_b"|w:dog|w:d*g|re:d[ou]g
nc:uber|front:*dog*|front:re:^d|back:_*|is:new|is:review|is:learn|is:due|is:suspended|is:buried|is:buried-manually
is:buried-sibling|-is:new|prop:ivl>=10|prop:ivl<5|prop:reps>10|prop:lapses=0|prop:ease>2|prop:s>100|prop:d<0.5|prop:d>=9
prop:due<0|prop:due>0|flag:0|flag:1|flag:7|card:1|card:2|note:basic*|(dog or cat) -tag:lang|dog cat or is:suspended
-(is:new or is:suspended) deck:Science|c*d|colon\\:here|n1|über|42
""".replace("\n", "|").strip("|").split("|")


def main() -> None:
    given = server.arguments()
    with server.home() as environment, tempfile.TemporaryDirectory() as folder:
        panoply = lambda *words: subprocess.run([given.panoply, *words], env=environment, check=True, capture_output=True, text=True).stdout
        ours = pathlib.Path(folder) / "ours.apkg"
        for package in PACKAGES:
            panoply("noema", "import", str(GOLDEN / package))
        panoply("noema", "export", str(ours))
        theirs = Collection(str(pathlib.Path(folder) / "anki.anki2"))
        options = ImportAnkiPackageOptions(with_scheduling=True, with_deck_configs=False, merge_notetypes=False)
        theirs.import_anki_package(ImportAnkiPackageRequest(package_path=str(ours), options=options))
        compare_rows(theirs, folder)
        compare_searches(theirs, lambda query: found(panoply, query))
        theirs.close()


def compare_rows(exported: Collection, folder: str) -> None:
    """What came through us is what Anki reads from the packages themselves."""
    direct = Collection(str(pathlib.Path(folder) / "direct.anki2"))
    options = ImportAnkiPackageOptions(with_scheduling=True, with_deck_configs=False, merge_notetypes=False)
    for package in PACKAGES:
        direct.import_anki_package(ImportAnkiPackageRequest(package_path=str(GOLDEN / package), options=options))
    queries = {
        "notes": "select guid, flds, tags from notes order by guid",
        "cards": "select n.guid, c.ord, c.type, c.queue, c.ivl, c.reps, c.lapses, c.flags from cards c join notes n on n.id = c.nid order by 1, 2",
        "reviews": "select n.guid, c.ord, r.ease, r.ivl, r.lastIvl, r.factor, r.time, r.type from revlog r join cards c on c.id = r.cid join notes n on n.id = c.nid order by r.id",
    }
    for name, query in queries.items():
        one, two = direct.db.all(query), exported.db.all(query)
        server.expect(one == two, f"anki: {len(two)} {name} are the same after a round trip")
    direct.close()


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


def found(panoply, query: str) -> list[str]:
    keys, cursor = [], None
    while True:
        arguments = {"query": query, "limit": 100} | ({"cursor": cursor} if cursor else {})
        reply = json.loads(panoply("call", "search-cards", json.dumps(arguments), "--json"))
        data = reply.get("data") or reply["structuredContent"]["data"]
        keys += [f"{card['noteGuid']}/{card['ordinal']}" for card in data["cards"]]
        cursor = data["nextCursor"]
        if not cursor:
            return sorted(keys)


if __name__ == "__main__":
    main()
