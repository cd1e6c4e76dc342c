"""Manifests are valid by the tools and schemas of those who read them.

Bundles by the official mcpb tool; workflows by actionlint and by GitHub's schema; issue forms,
Dependabot and compose by their schemas; the entry of the MCP registry by the registry's schema, when
it can be reached.
"""

import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request

import server

ROOT = pathlib.Path(__file__).resolve().parents[2]
REPOSITORY = "https://github.com/example/panoply"
SCHEMAS = {
    "github-workflows": ".github/workflows/*.yml",
    "github-issue-forms": ".github/ISSUE_TEMPLATE/[!c]*.yml",
    "github-issue-config": ".github/ISSUE_TEMPLATE/config.yml",
    "dependabot": ".github/dependabot.yml",
    "compose-spec": "packaging/docker/compose.yaml",
}


def run(*command) -> str:
    done = subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"FAILED: {' '.join(map(str, command))}:\n{done.stdout}{done.stderr}")
    return done.stdout


def require(condition, text):
    if not condition:
        raise SystemExit(f"FAILED: {text}")


def load_build():
    spec = importlib.util.spec_from_file_location("build", ROOT / "packaging/build.py")
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    return build


def schemas() -> None:
    checker = pathlib.Path(sys.executable).with_name("check-jsonschema")
    for schema, pattern in SCHEMAS.items():
        files = sorted(ROOT.glob(pattern))
        require(files, f"no file matches {pattern}")
        run(checker, "--builtin-schema", f"vendor.{schema}", *files)
        print(f"{len(files)} × {schema}: valid")


def workflows(node: pathlib.Path) -> None:
    files = sorted((ROOT / ".github/workflows").glob("*.yml"))
    lint = ["node", ROOT / "tests/outside/workflows.mjs", node]
    run(*lint, *files)
    # The linter finds a fault: a job that needs one that does not exist.
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as broken:
        broken.write("on: push\njobs:\n  a:\n    needs: b\n    runs-on: ubuntu-latest\n    steps: [{run: 'true'}]\n")
        broken.flush()
        found = subprocess.run([str(word) for word in [*lint, broken.name]], capture_output=True, text=True)
        require(found.returncode == 1 and "needs" in found.stderr, f"actionlint missed a fault: {found.stderr}")
    print(f"{len(files)} workflows: actionlint has nothing to say")


def bundles(build, mcpb: pathlib.Path, folder: pathlib.Path) -> None:
    program = type("Program", (), {"file_name": "panoply.exe", "platform": "win32"})
    for pack in build.PACKS:
        file = folder / "manifest.json"
        build.write_json(file, build.bundle_manifest(pack, program, REPOSITORY))
        run("node", mcpb, "validate", file)
    print(f"{len(build.PACKS)} bundles: mcpb accepts their manifests")


def release_files(build, folder: pathlib.Path) -> None:
    for target in build.TARGETS:
        (folder / f"panoply-{target}.tar.gz").write_text(f"archive of {target}")
    (folder / "panoply-uk-tax-win32-x64.mcpb").write_text("bundle")
    run(sys.executable, ROOT / "packaging/build.py", "release", "--assets", folder, "--repository", REPOSITORY)
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=folder, check=True)
    formula = (folder / "panoply.rb").read_text()
    require("@" not in formula, "the formula has a placeholder left")
    if shutil.which("ruby"):
        run("ruby", "-c", folder / "panoply.rb")
    entry = json.loads((folder / "server.json").read_text())
    require(len(entry["description"]) <= 100, "the registry takes descriptions of at most 100 characters")
    require({package["registryType"] for package in entry["packages"]} == {"npm", "pypi", "mcpb"}, "server.json misses a package")
    try:
        with urllib.request.urlopen(entry["$schema"], timeout=10) as answer:
            schema = folder / "server.schema.json"
            schema.write_bytes(answer.read())
    except OSError as error:
        print(f"the schema of the MCP registry cannot be reached ({error}): server.json was NOT validated against it")
        return
    run(pathlib.Path(sys.executable).with_name("check-jsonschema"), "--schemafile", schema, folder / "server.json")
    print("server.json: valid by the registry's schema")


def book() -> None:
    """Every page of docs/ is in the table of contents of the site, and every entry is a page."""
    docs = ROOT / "docs"
    listed = set(re.findall(r"\]\(([^)]+\.md)\)", (docs / "SUMMARY.md").read_text()))
    pages = {str(path.relative_to(docs)) for path in docs.rglob("*.md")} - {"SUMMARY.md"}
    require(listed == pages, f"docs/SUMMARY.md and the pages differ in {sorted(listed ^ pages)}")
    print(f"docs/SUMMARY.md: {len(pages)} pages")


def service(folder: pathlib.Path) -> None:
    """systemd reads the unit without a warning; an unknown key is one."""
    if not shutil.which("systemd-analyze"):
        print("systemd-analyze is not installed: the unit was NOT verified")
        return
    program = folder / "panoply"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    unit = (ROOT / "packaging/systemd/panoply.service").read_text().replace("%h/.local/bin/panoply", str(program))
    for text, expected in ((unit, False), (unit.replace("NoNewPrivileges", "NoNewPrivilege"), True)):
        file = folder / "panoply.service"
        file.write_text(text)
        variables = {"XDG_RUNTIME_DIR": str(folder), "HOME": str(folder), "PATH": "/usr/bin:/bin"}
        done = subprocess.run(["systemd-analyze", "verify", "--user", file], env=variables, capture_output=True, text=True)
        require(bool(done.stderr.strip() or done.returncode) == expected, f"systemd-analyze: {done.stderr}")
    print("panoply.service: systemd has nothing to say")


def main() -> None:
    given = server.arguments()
    build = load_build()
    print(run(sys.executable, ROOT / "packaging/build.py", "manifests", "--check"), end="")
    schemas()
    workflows(given.node)
    book()
    with tempfile.TemporaryDirectory() as name:
        bundles(build, given.node / "node_modules/@anthropic-ai/mcpb/dist/cli/cli.js", pathlib.Path(name))
    with tempfile.TemporaryDirectory() as name:
        release_files(build, pathlib.Path(name))
    with tempfile.TemporaryDirectory() as name:
        service(pathlib.Path(name))


if __name__ == "__main__":
    main()
