"""How long documents take: ttm_ingest_speed.py --panoply target/release/panoply

Ten pages of Thai with a text layer from file to added, and one page by OCR at 300 dpi, each the
median of five by the clock, in a new process and a new home. Not part of ./test: figures go to
docs/benchmarks.md.
"""

import pathlib
import shutil
import statistics
import tempfile
import time

import server
import ttm_ingest


def main() -> None:
    given = server.arguments()
    with tempfile.TemporaryDirectory(prefix="panoply-ingest-speed-") as folder:
        here = pathlib.Path(folder)
        files = ttm_ingest.render(here)
        pages = "".join(f"<p>{paragraph}</p>" for paragraph in ttm_ingest.PARAGRAPHS * 2)
        body = "".join(f'<div style="break-after: page">{pages}<p>{number}</p></div>' for number in range(10))
        ten = ttm_ingest.printed(here, "ten", f"<style>body {{ font: 14pt Loma }}</style>{body}")
        report("ten pages with a text layer, added", given, here, ten, apply=True)
        report("ten pages with a text layer, dry run", given, here, ten, apply=False)
        report("a page by OCR, dry run", given, here, files["scan"], apply=False)


def report(what: str, given, here: pathlib.Path, file: pathlib.Path, apply: bool) -> None:
    home = ttm_ingest.Home(given.panoply, here, "plan")
    plan = home.plan(file)
    times = []
    for number in range(5):
        home = ttm_ingest.Home(given.panoply, here, f"speed-{number}")
        start = time.perf_counter()
        job = home.apply(plan, file) if apply else home.plan(file)
        times.append(time.perf_counter() - start)
        if job["status"] != "done":
            raise SystemExit(job["error"])
        shutil.rmtree(home.folder)
    pages = plan["progress"]["pages"]
    print(f"{what}: {pages} pages, {plan['report']['counts']['facts']} facts, {statistics.median(times):.2f} s")


if __name__ == "__main__":
    main()
