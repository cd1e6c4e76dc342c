"""Processor time of the rmf tools beside the server whose contract they follow, on the same machine.

    git clone https://github.com/tkhongsap/rmf-market-pulse-mcp origin
    (cd origin && npm ci && npm run build)
    tests/outside/rmf_origin.py --panoply target/release/panoply --origin origin

Both servers get the same calls over HTTP, in turn, with arguments that differ from call to call so that no
reply is served from a cache, over one connection each, after a warm-up. The figure is user and system time of the server's process for a call, from
/proc; it does not depend on how busy the machine is as much as elapsed time does. The copy of the origin is
changed in two places: it listens on 127.0.0.1 and does not limit the number of requests.

Not part of ./test: the origin is fetched, and its packages with it. Exit 1 below the goal of 20 times less.
"""

import argparse
import http.client
import json
import os
import pathlib
import subprocess
import tempfile
import time

import server

GOAL = 20
CALLS = 200
WARM_UP = 30
PERIODS = ["ytd", "3m", "6m", "1y", "3y", "5y"]


def arguments_of(tool, number, codes):
    """Arguments of call `number`: none is repeated for a tool within a run."""
    code = codes[number % len(codes)]
    return {
        "get_rmf_funds": {"page": number % 20 + 1, "pageSize": 20 - number // 20 % 20},
        "search_rmf_funds": {"minYtdReturn": -number / 10, "limit": 20},
        "get_rmf_fund_detail": {"fundCode": code},
        "get_rmf_fund_performance": {
            "period": PERIODS[number % 6], "limit": 10, "riskLevel": number // 6 % 8 + 1,
        },
        "get_rmf_fund_nav_history": {"fundCode": code, "days": 30},
        "compare_rmf_funds": {"fundCodes": [code, codes[(number + 7) % len(codes)], codes[(number + 19) % len(codes)]]},
    }[tool]


TOOLS = [
    "get_rmf_funds", "search_rmf_funds", "get_rmf_fund_detail", "get_rmf_fund_performance",
    "get_rmf_fund_nav_history", "compare_rmf_funds",
]


class Running:
    """A server under measurement."""

    def __init__(self, name, command, port, **options):
        self.name, self.connection = name, http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options
        )

    def call(self, tool, arguments):
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        try:
            self.connection.request("POST", "/mcp", json.dumps(body), headers)
            return self.connection.getresponse().read()
        except (OSError, http.client.HTTPException):
            self.connection.close()
            raise

    def seconds(self):
        """User and system time of the process so far."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def ready(self):
        for _ in range(300):
            try:
                return self.call("get_rmf_funds", {})
            except OSError:
                if self.process.poll() is not None:
                    raise SystemExit(f"{self.name} ended with {self.process.returncode}") from None
                time.sleep(0.2)
        raise SystemExit(f"{self.name} does not answer")


def origin_program(folder):
    """The built origin without its limit of requests, as a file beside it."""
    built = (folder / "dist/index.js").read_text()
    changed = built.replace('host: "0.0.0.0"', 'host: "127.0.0.1"').replace("  max: 100,", "  max: 1e9,")
    if changed.count("max: 1e9") < 1 or "0.0.0.0\"," in changed:
        raise SystemExit("the origin has another form than expected")
    program = folder / "dist/measured.js"
    program.write_text(changed)
    return program


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--panoply", type=pathlib.Path, default="target/release/panoply")
    parser.add_argument("--origin", type=pathlib.Path, required=True)
    given = parser.parse_args()
    ports = [server.free_port(), server.free_port()]
    with tempfile.TemporaryDirectory() as home:
        ours = Running(
            "panoply", [str(given.panoply.resolve()), "http", "rmf", "--listen", f"127.0.0.1:{ports[0]}"], ports[0],
            env={**os.environ, "PANOPLY_HOME": home},
        )
        origin = Running(
            "origin", ["node", str(origin_program(given.origin.resolve()))], ports[1],
            cwd=given.origin / "dist", env={**os.environ, "PORT": str(ports[1]), "NODE_ENV": "production"},
        )
        try:
            return compare(ours, origin)
        finally:
            for running in (ours, origin):
                running.process.kill()
                running.process.wait()


def compare(ours, origin):
    ours.ready()
    origin.ready()
    funds = [json.loads(ours.call("get_rmf_funds", {"page": page, "pageSize": 50})) for page in range(1, 9)]
    codes = [fund["symbol"] for page in funds for fund in page["result"]["structuredContent"]["funds"]]
    print(f"{CALLS} calls of each tool; load average {os.getloadavg()[0]:.1f}")
    print(f"{'tool':28} {'origin ms':>10} {'panoply ms':>11} {'times less':>11} {'origin KB':>10} {'panoply KB':>11}")
    totals = [0.0, 0.0]
    for tool in TOOLS:
        millis, kilobytes = [], []
        for at, running in enumerate((origin, ours)):
            for number in range(CALLS, CALLS + WARM_UP):
                running.call(tool, arguments_of(tool, number, codes))
            sizes, start = [], running.seconds()
            for number in range(CALLS):
                reply = running.call(tool, arguments_of(tool, number, codes))
                if b'"error"' in reply[:200]:
                    raise SystemExit(f"{running.name} {tool}: {reply[:300]}")
                sizes.append(len(reply))
            millis.append((running.seconds() - start) * 1e3 / CALLS)
            kilobytes.append(sorted(sizes)[CALLS // 2] / 1024)
            totals[at] += millis[-1]
        # A tick of the clock in /proc is 10 ms, so a figure is exact to a few hundredths of a millisecond.
        print(f"{tool:28} {millis[0]:10.2f} {millis[1]:11.2f} {millis[0] / max(millis[1], 0.01):11.1f} {kilobytes[0]:10.1f} {kilobytes[1]:11.1f}")
    ratio = totals[0] / max(totals[1], 0.01)
    print(f"together: {ratio:.1f} times less processor time than the origin; goal {GOAL}")
    return 0 if ratio >= GOAL else 1


if __name__ == "__main__":
    raise SystemExit(main())
