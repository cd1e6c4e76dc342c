"""The npm package, the wheel and a bundle are built, installed with their own tools and asked.

Each way in starts from an empty folder without the repository or a Rust toolchain in its PATH, and
answers a call over MCP within 30 s: HMRC's example of a sale from a Section 104 pool (HS284,
example 3), whose gain is £329.
"""

import asyncio
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import mcp
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client

import server

ROOT = pathlib.Path(__file__).resolve().parents[2]
REPOSITORY = "https://github.com/example/panoply"
TARGET = "x86_64-unknown-linux-gnu"
LIMIT_SECONDS = 30
TRADES = """2015-04-01 BUY LOBSTER 1000 @ 4 FEES 150
2018-09-01 BUY LOBSTER 500 @ 4.10 FEES 80
2021-05-01 SELL LOBSTER 700 @ 4.80 FEES 100"""


def run(*command, **given) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **given)
    if done.returncode != 0:
        raise SystemExit(f"FAILED: {command}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def require(condition, text):
    if not condition:
        raise SystemExit(f"FAILED: {text}")


def bare_environment(folder: pathlib.Path) -> dict[str, str]:
    """No toolchain and no file of the user: what a machine has on which nothing of ours was."""
    node = pathlib.Path(shutil.which("node")).parent
    return {"PATH": f"{node}:/usr/bin:/bin", "HOME": str(folder / "user"), "PANOPLY_HOME": str(folder / "home"), "PANOPLY_LOG": "warn"}


async def gain(command: list[str], environment: dict[str, str]) -> str:
    """Asks for the report of HMRC's example and returns the gain."""
    parameters = StdioServerParameters(command=command[0], args=command[1:], env=environment)
    async with stdio_client(parameters) as (read, write), mcp.ClientSession(read, write) as session:
        await session.initialize()
        asked = {"cgt_content": TRADES, "year": 2021, "rounding": "whole_pounds"}
        answer = await session.call_tool("calculate_report", asked)
        return answer.structured_content["tax_years"][0]["total_gain"]


def first_call(way: str, command: list, environment: dict[str, str]) -> None:
    started = time.monotonic()
    found = asyncio.run(asyncio.wait_for(gain([str(word) for word in command], environment), LIMIT_SECONDS))
    require(float(found) == 329, f"{way}: the gain is {found}, HMRC's example says 329")
    print(f"{way}: answered in {time.monotonic() - started:.1f} s")


def npm(packages: pathlib.Path, folder: pathlib.Path) -> None:
    prefix = folder / "npm"
    prefix.mkdir()
    environment = bare_environment(folder)
    # Both are given as files: the platform package is not in the registry yet, and need not be.
    files = [packages / name for name in os.listdir(packages) if name.endswith(".tgz")]
    run("npm", "install", "--global", "--prefix", prefix, "--offline", "--ignore-scripts", "--no-audit", "--no-fund",
        *files, env=environment)
    command = prefix / "bin/panoply"
    first_call("npm install", [command, "stdio", "cgt"], environment)
    status = subprocess.run([command, "no-such-command"], env=environment, capture_output=True).returncode
    require(status == 2, f"npm: exit status {status} instead of that of the program, 2")
    signals_reach_the_program(command, environment)


def signals_reach_the_program(command: pathlib.Path, environment: dict[str, str]) -> None:
    """Hosts end a server by SIGTERM to what they started, which is Node."""
    started = subprocess.Popen([command, "http", "--listen", "127.0.0.1:0"], env=environment,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        started.stdout.readline()
        children = pathlib.Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text().split()
        require(len(children) == 1, f"npm: Node has {len(children)} children, not one")
        started.send_signal(signal.SIGTERM)
        status = started.wait(timeout=20)
        require(status == 0, f"npm: status {status} after SIGTERM")
        require(not pathlib.Path(f"/proc/{children[0]}").exists(), "npm: the program outlived its launcher")
    finally:
        started.kill()
        started.wait()


def wheel(packages: pathlib.Path, folder: pathlib.Path) -> None:
    environment = bare_environment(folder)
    file = next(packages.glob("*.whl"))
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv")
    uv = pathlib.Path(sys.executable).with_name("uv")
    run(uv, "pip", "install", "--quiet", "--offline", "--no-index", "--python", folder / "venv/bin/python", file, env=environment)
    for way in (["panoply", "stdio", "cgt"], ["panoply-mcp", "stdio", "cgt"], ["python", "-m", "panoply_mcp", "stdio", "cgt"]):
        first_call(f"wheel, {way[0]}", [folder / "venv/bin" / way[0], *way[1:]], environment)
    tool = [uv, "tool", "run", "--quiet", "--offline", "--python", sys.executable, "--from", file, "panoply-mcp"]
    first_call("uvx --from the wheel", [*tool, "stdio", "cgt"], environment)


def bundle(packages: pathlib.Path, folder: pathlib.Path, mcpb: pathlib.Path) -> None:
    """Unpacks the bundle with the official tool and starts it by its manifest, as a host does."""
    unpacked = folder / "bundle"
    run("node", mcpb, "unpack", next(packages.glob("*.mcpb")), unpacked)
    manifest = json.loads((unpacked / "manifest.json").read_text())
    start = manifest["server"]["mcp_config"]
    command = [word.replace("${__dirname}", str(unpacked)) for word in [start["command"], *start["args"]]]
    first_call(f"bundle “{manifest['display_name']}”", command, bare_environment(folder))


def main() -> None:
    given = server.arguments()
    mcpb = given.node / "node_modules/@anthropic-ai/mcpb/dist/cli/cli.js"
    with tempfile.TemporaryDirectory(prefix="panoply-packages-") as name:
        folder = pathlib.Path(name)
        (folder / "user").mkdir()
        program = folder / "panoply"
        run("strip", "-o", program, given.panoply)
        packages = folder / "packages"
        print(run(sys.executable, ROOT / "packaging/build.py", "packages", "--program", f"{TARGET}={program}",
                  "--out", packages, "--repository", REPOSITORY, "--pack", "cgt", "--mcpb", f"node {mcpb}"), end="")
        npm(packages, folder)
        wheel(packages, folder)
        bundle(packages, folder, mcpb)


if __name__ == "__main__":
    main()
