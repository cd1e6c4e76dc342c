#!/usr/bin/env python3
"""Builds the installable packages of Panoply from built programs; see README.md beside this file.

build.py packages  --program TARGET=PATH … --out FOLDER   npm packages, wheels and .mcpb bundles
build.py release   --assets FOLDER --repository URL       Homebrew formula, server.json and SHA256SUMS
build.py manifests [--check]                              plugin and extension manifests in the repository

Needs Python 3.11 and, for `packages`, hatchling, npm and the `mcpb` tool (@anthropic-ai/mcpb).
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
WORKSPACE = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
VERSION = WORKSPACE["version"]
LICENSE = WORKSPACE["license"]
OFFER = tomllib.loads((HERE / "packs.toml").read_text())
PACKS = OFFER["pack"]
LICENSE_FILES = [ROOT / "LICENSE-MIT", ROOT / "LICENSE-APACHE"]
DESCRIPTION = "Expert tools for AI agents over MCP: UK Capital Gains Tax, Thai funds, flashcards, backtests, Thai medicine"
# The registry allows 100 characters.
SHORT_DESCRIPTION = "UK capital gains, Thai funds, flashcards, backtests and Thai medicine, on your machine"
SERVER_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
NPM_NAME = "panoply"
# `panoply` on PyPI is another project.
PYPI_NAME = "panoply-mcp"

# Rust target: Node's platform and processor, and the platform tag of the wheel. A static (musl)
# program runs on every Linux; that of a dynamic one is read from the program.
TARGETS = {
    "x86_64-unknown-linux-gnu": ("linux", "x64", None),
    "aarch64-unknown-linux-gnu": ("linux", "arm64", None),
    "x86_64-unknown-linux-musl": ("linux", "x64", "manylinux_2_17_x86_64.musllinux_1_1_x86_64"),
    "aarch64-unknown-linux-musl": ("linux", "arm64", "manylinux_2_17_aarch64.musllinux_1_1_aarch64"),
    "x86_64-apple-darwin": ("darwin", "x64", "macosx_10_12_x86_64"),
    "aarch64-apple-darwin": ("darwin", "arm64", "macosx_11_0_arm64"),
    "x86_64-pc-windows-msvc": ("win32", "x64", "win_amd64"),
    "aarch64-pc-windows-msvc": ("win32", "arm64", "win_arm64"),
}
NODE_PLATFORMS = sorted({(platform, processor) for platform, processor, _ in TARGETS.values()})


class Program:
    """A built program for one target."""

    def __init__(self, argument):
        target, _, path = argument.partition("=")
        if target not in TARGETS or not path:
            raise SystemExit(f"--program {argument}: expected TARGET=PATH with one of {', '.join(TARGETS)}")
        self.target = target
        self.path = pathlib.Path(path).resolve()
        if not self.path.is_file():
            raise SystemExit(f"--program {argument}: there is no such file")
        self.platform, self.processor, self.wheel_platform = TARGETS[target]
        self.file_name = "panoply.exe" if self.platform == "win32" else "panoply"
        self.wheel_platform = self.wheel_platform or glibc_platform(self.path, target)

    def copy_to(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        copy = folder / self.file_name
        shutil.copyfile(self.path, copy)
        copy.chmod(copy.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
        return copy


def glibc_platform(path, target):
    """Returns the manylinux tag of the newest glibc symbol that the program needs (PEP 600)."""
    printed = subprocess.run(["readelf", "--version-info", "--wide", path], check=True, capture_output=True, text=True)
    versions = {tuple(map(int, found)) for found in re.findall(r"GLIBC_(\d+)\.(\d+)", printed.stdout)}
    major, minor = max(versions)
    return f"manylinux_{major}_{minor}_{target.split('-')[0]}"


def run(*command, folder=None, **variables):
    """Runs a tool quietly; its output is shown when it fails."""
    ended = subprocess.run(
        [str(word) for word in command], cwd=folder, env={**os.environ, **variables}, capture_output=True, text=True
    )
    if ended.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{ended.stdout}{ended.stderr}")
    return ended.stdout


def json_text(value):
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def write_json(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json_text(value), encoding="utf-8")


def registry_name(repository):
    """Returns the name in the MCP registry: that of a GitHub repository is `io.github.OWNER/NAME`."""
    found = re.fullmatch(r"https://github\.com/([\w.-]+)/([\w.-]+?)(?:\.git)?/?", repository)
    if not found:
        raise SystemExit(f"--repository {repository}: expected https://github.com/OWNER/NAME")
    return f"io.github.{found[1]}/{found[2]}"


# --- npm -------------------------------------------------------------------------------------


def npm_platform_name(platform, processor):
    return f"{NPM_NAME}-{platform}-{processor}"


def npm_package(stage, manifest, out):
    for file in LICENSE_FILES:
        shutil.copy(file, stage)
    write_json(stage / "package.json", manifest)
    run("npm", "pack", "--pack-destination", out, "--loglevel=error", folder=stage)


def build_npm_platform(program, stage, out, repository):
    program.copy_to(stage / "bin")
    name = npm_platform_name(program.platform, program.processor)
    (stage / "README.md").write_text(f"The program of [{NPM_NAME}]({repository}) for {program.target}. Install `{NPM_NAME}` instead.\n")
    manifest = {
        "name": name,
        "version": VERSION,
        "description": f"The program of {NPM_NAME} for {program.target}",
        "license": LICENSE,
        "repository": {"type": "git", "url": f"git+{repository}.git"},
        "os": [program.platform],
        "cpu": [program.processor],
        "files": ["bin", "LICENSE-*"],
        "preferUnplugged": True,
    }
    if program.target.endswith("-gnu"):
        manifest["libc"] = ["glibc"]
    npm_package(stage, manifest, out)


def build_npm_main(stage, out, repository):
    shutil.copytree(HERE / "npm/bin", stage / "bin")
    (stage / "README.md").write_text(package_readme("npx panoply", repository))
    manifest = {
        "name": NPM_NAME,
        "version": VERSION,
        "description": DESCRIPTION,
        "license": LICENSE,
        "repository": {"type": "git", "url": f"git+{repository}.git"},
        "keywords": ["mcp", "model-context-protocol", "agents"],
        # How the MCP registry verifies that this package and server.json have one owner.
        "mcpName": registry_name(repository),
        "bin": {"panoply": "bin/panoply.js"},
        "files": ["bin", "LICENSE-*"],
        "engines": {"node": ">=18"},
        "optionalDependencies": {npm_platform_name(*pair): VERSION for pair in NODE_PLATFORMS},
    }
    npm_package(stage, manifest, out)


def package_readme(command, repository):
    asks = "\n".join(f"- {pack['title']}: “{pack['ask']}”" for pack in PACKS)
    return f"""# Panoply

{DESCRIPTION}.

```sh
{command} setup claude --write   # connect Claude Desktop; `{command} setup --help` lists the other clients
{command} tools                  # what there is
```

{asks}

Your data stay on your machine. Documentation: {repository}

<!-- mcp-name: {registry_name(repository)} -->
"""


# --- PyPI ------------------------------------------------------------------------------------


def build_wheel(program, stage, out, repository):
    shutil.copytree(HERE / "pypi", stage, dirs_exist_ok=True)
    for file in LICENSE_FILES:
        shutil.copy(file, stage)
    (stage / "README.md").write_text(package_readme("uvx panoply-mcp", repository))
    copy = program.copy_to(stage / "program")
    run(
        sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", out,
        folder=stage, WHEEL_VERSION=VERSION, WHEEL_PROGRAM=str(copy), WHEEL_PLATFORM=program.wheel_platform,
    )


# --- .mcpb -----------------------------------------------------------------------------------


def bundle_manifest(pack, program, repository):
    entry = f"server/{program.file_name}"
    return {
        "manifest_version": "0.3",
        "name": f"panoply-{pack['id']}",
        "display_name": pack["title"],
        "version": VERSION,
        "description": pack["summary"],
        "long_description": pack["description"],
        "author": {"name": "The Panoply contributors", "url": repository},
        "repository": {"type": "git", "url": f"git+{repository}.git"},
        "homepage": repository,
        "support": f"{repository}/issues",
        "license": LICENSE,
        "keywords": pack["keywords"],
        "tools_generated": True,
        "prompts_generated": True,
        "server": {
            "type": "binary",
            "entry_point": entry,
            "mcp_config": {"command": "${__dirname}/" + entry, "args": ["stdio", pack["name"]]},
        },
        "compatibility": {"platforms": [program.platform]},
    }


def build_bundle(pack, program, stage, out, repository, mcpb):
    program.copy_to(stage / "server")
    for file in LICENSE_FILES:
        shutil.copy(file, stage)
    write_json(stage / "manifest.json", bundle_manifest(pack, program, repository))
    run(*mcpb, "validate", stage / "manifest.json")
    run(*mcpb, "pack", stage, out / f"panoply-{pack['id']}-{program.platform}-{program.processor}.mcpb")


# --- manifests in the repository -------------------------------------------------------------


def manifests():
    """Returns the files of the plugins for Claude Code, Codex and Gemini CLI, by path."""
    author = {"name": "The Panoply contributors"}
    server = {"command": "panoply", "args": ["stdio"]}
    if OFFER["npm_name_is_ours"]:
        server = {"command": "npx", "args": ["-y", f"{NPM_NAME}@{VERSION}", "stdio"]}
    files = {
        ".claude-plugin/marketplace.json": {
            "name": "panoply",
            "owner": author,
            "metadata": {"description": DESCRIPTION, "version": VERSION},
            "plugins": [
                {"name": pack["id"], "source": f"./packaging/plugins/{pack['id']}", "description": pack["summary"], "version": VERSION}
                for pack in PACKS
            ],
        },
        ".agents/plugins/marketplace.json": {
            "name": "panoply",
            "interface": {"displayName": "Panoply"},
            "plugins": [
                {
                    "name": pack["id"],
                    "source": {"source": "local", "path": f"./packaging/plugins/{pack['id']}"},
                    "policy": {"installation": "AVAILABLE", "authentication": "ON_USE"},
                    "category": "Productivity",
                }
                for pack in PACKS
            ],
        },
        "gemini-extension.json": {
            "name": "panoply",
            "version": VERSION,
            "description": DESCRIPTION,
            "mcpServers": {"panoply": server},
        },
    }
    for pack in PACKS:
        folder = f"packaging/plugins/{pack['id']}"
        about = {
            "name": pack["id"],
            "version": VERSION,
            "description": pack["summary"],
            "author": author,
            "license": LICENSE,
            "keywords": pack["keywords"],
        }
        files[f"{folder}/.claude-plugin/plugin.json"] = about
        files[f"{folder}/.codex-plugin/plugin.json"] = about | {
            "mcpServers": "./.mcp.json",
            "interface": {
                "displayName": pack["title"],
                "shortDescription": pack["summary"],
                "longDescription": pack["description"],
                "developerName": author["name"],
                "category": "Productivity",
                "capabilities": ["Read", "Write"],
                "defaultPrompt": [pack["ask"]],
            },
        }
        files[f"{folder}/.mcp.json"] = {"mcpServers": {pack["id"]: server | {"args": [*server["args"], pack["name"]]}}}
    return {path: json_text(value) for path, value in files.items()}


def write_manifests(arguments):
    stale = []
    for path, text in manifests().items():
        file = ROOT / path
        if file.is_file() and file.read_text(encoding="utf-8") == text:
            continue
        stale.append(path)
        if not arguments.check:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    if stale and arguments.check:
        raise SystemExit(f"run packaging/build.py manifests; these differ from packs.toml or the version: {', '.join(stale)}")
    print(f"{len(manifests())} manifests, {len(stale)} {'differ' if arguments.check else 'written'}")


# --- files of a release ----------------------------------------------------------------------


def sha256(path):
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def formula(assets, repository):
    """Fills in the Homebrew formula with the checksums of the four archives that Homebrew can install."""
    text = (HERE / "homebrew/panoply.rb").read_text()
    text = text.replace("@VERSION@", VERSION).replace("@REPOSITORY@", repository)
    for target in re.findall(r"@SHA256 (\S+)@", text):
        archive = assets / f"panoply-{target}.tar.gz"
        if not archive.is_file():
            raise SystemExit(f"{archive} is missing; the formula needs its checksum")
        text = text.replace(f"@SHA256 {target}@", sha256(archive))
    return text


def server_json(assets, repository):
    """Returns the entry of the MCP registry: npm, PyPI, container and one bundle per pack and platform."""
    stdio = {"type": "stdio"}
    serve = [{"type": "positional", "value": "stdio"}]
    packages = [
        {"registryType": "npm", "identifier": NPM_NAME, "version": VERSION, "runtimeHint": "npx", "packageArguments": serve, "transport": stdio},
        {"registryType": "pypi", "identifier": PYPI_NAME, "version": VERSION, "runtimeHint": "uvx", "packageArguments": serve, "transport": stdio},
    ]
    for bundle in sorted(assets.glob("*.mcpb")):
        url = f"{repository}/releases/download/v{VERSION}/{bundle.name}"
        packages.append({"registryType": "mcpb", "identifier": url, "version": VERSION, "fileSha256": sha256(bundle), "transport": stdio})
    return {
        "$schema": SERVER_SCHEMA,
        "name": registry_name(repository),
        "title": "Panoply",
        "description": SHORT_DESCRIPTION,
        "repository": {"url": repository, "source": "github"},
        "version": VERSION,
        "packages": packages,
    }


def write_release(arguments):
    assets = arguments.assets
    (assets / "panoply.rb").write_text(formula(assets, arguments.repository))
    write_json(assets / "server.json", server_json(assets, arguments.repository))
    files = sorted(path for path in assets.iterdir() if path.is_file() and path.name != "SHA256SUMS")
    (assets / "SHA256SUMS").write_text("".join(f"{sha256(path)}  {path.name}\n" for path in files))
    print(f"panoply.rb, server.json and SHA256SUMS of {len(files)} files in {assets}")


# --- command line ----------------------------------------------------------------------------


def write_packages(arguments):
    out = arguments.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    repository = arguments.repository
    programs = [Program(argument) for argument in arguments.program]
    with tempfile.TemporaryDirectory(prefix="panoply-packages-") as folder:
        stage = pathlib.Path(folder)

        def fresh(name):
            (stage / name).mkdir()
            return stage / name

        if "npm" in arguments.kind:
            build_npm_main(fresh("npm"), out, repository)
        for program in programs:
            if "npm" in arguments.kind:
                build_npm_platform(program, fresh(f"npm-{program.target}"), out, repository)
            if "wheel" in arguments.kind:
                build_wheel(program, fresh(f"wheel-{program.target}"), out, repository)
            if "mcpb" in arguments.kind:
                for pack in PACKS:
                    if not arguments.pack or pack["name"] in arguments.pack:
                        build_bundle(pack, program, fresh(f"{pack['id']}-{program.target}"), out, repository, arguments.mcpb.split())
    for path in sorted(out.iterdir()):
        print(f"{path.stat().st_size / 1e6:7.1f} MB  {path.name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    default = WORKSPACE.get("repository")

    packages = commands.add_parser("packages")
    packages.add_argument("--program", action="append", required=True, metavar="TARGET=PATH")
    packages.add_argument("--out", type=pathlib.Path, required=True)
    packages.add_argument("--kind", action="append", choices=["npm", "wheel", "mcpb"], help="only these; all when left out")
    packages.add_argument("--pack", action="append", choices=[pack["name"] for pack in PACKS], help="bundles of these packs only")
    packages.add_argument("--mcpb", default="npx --yes @anthropic-ai/mcpb@2.1.2", help="command of the mcpb tool")
    packages.set_defaults(handler=write_packages)

    release = commands.add_parser("release")
    release.add_argument("--assets", type=pathlib.Path, required=True)
    release.set_defaults(handler=write_release)
    for command in (packages, release):
        command.add_argument("--repository", default=default, required=default is None, help="https://github.com/OWNER/NAME")

    checked = commands.add_parser("manifests")
    checked.add_argument("--check", action="store_true")
    checked.set_defaults(handler=write_manifests)

    arguments = parser.parse_args()
    if getattr(arguments, "kind", "") is None:
        arguments.kind = ["npm", "wheel", "mcpb"]
    arguments.handler(arguments)


if __name__ == "__main__":
    main()
