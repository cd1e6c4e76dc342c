"""Real hosts with a model in them complete one whole task per pack.

Every tool can be reached, every id and token is visible to the model, and the model can recover
from every error. The models are scripts (host_flows.py). Each host runs with an empty environment,
a fresh HOME and telemetry off, in a network namespace that has loopback only.
"""

import json
import os
import pathlib
import subprocess
import tempfile
import time

import rpc
import server

HOSTS = ("langchain", "openai-agents", "pydantic-ai", "google-genai")
# The namespace needs its loopback device up before the host starts.
ISOLATED = ["unshare", "--user", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]


def main() -> None:
    given = server.arguments()
    python = given.node.parent / "hosts/bin/python"
    with rpc.session(given.panoply) as session, rpc.session(given.panoply, "--tools", "all") as complete:
        unlisted = sorted(set(complete.tools()) - set(session.tools()))
    print(f"{len(unlisted)} tools are not listed")
    for host in HOSTS:
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="panoply-host-home-") as home:
            environment = {
                "PATH": os.environ["PATH"],
                "HOME": home,
                "LANGSMITH_TRACING": "false",
                "OPENAI_AGENTS_DISABLE_TRACING": "1",
                "OPENAI_API_KEY": "none",
                "DO_NOT_TRACK": "1",
            }
            script = pathlib.Path(__file__).with_name("host.py")
            command = [*ISOLATED, str(python), "-B", str(script), host, str(given.panoply), json.dumps(unlisted)]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            print(done.stdout[-3000:], done.stderr[-4000:])
        server.expect(done.returncode == 0, f"{host}: all flows in {time.monotonic() - started:.1f} s")


main()
