"""What fifty tasks cost an agent: calls, and tokens of o200k_base that it writes and reads.

Each task is the sequence of calls of an agent that reads descriptions and hints; each checks that
the answer is there. A task that became 10 % more expensive than `economy.json` fails;
`--write` replaces that file.
"""

import argparse
import json
import pathlib
import statistics
import sys
import tempfile

import economy_tasks
import rpc
import server

BASELINE = pathlib.Path(__file__).with_name("economy.json")
WORSE = 1.10
# Medians, and what 95 of 100 tasks stay under.
MEDIAN = {"calls": 2, "tokens": 1_500}
MOST = {"calls": 4, "tokens": 6_000}


class Agent:
    """Makes calls and keeps what was written and read."""

    def __init__(self, session: rpc.Session, tools: dict):
        self.session, self.tools = session, tools
        self.texts, self.calls = [], 0

    def call(self, tool: str, _fails: bool = False, **arguments):
        """The data of the reply. An unlisted tool is called as a strict host must: by call-tool."""
        name, given = (tool, arguments) if tool in self.tools else ("call-tool", {"name": tool, "arguments": arguments})
        reply = self.session.call(name, given)
        self.calls += 1
        self.texts += [json.dumps({"name": name, "arguments": given}, ensure_ascii=False), reply.seen]
        if bool(reply.error) != _fails:
            raise AssertionError(f"{tool}: {reply.seen[:300]}")
        return reply.seen if _fails else reply.data


def run(given) -> dict:
    agents = {}
    with tempfile.TemporaryDirectory(prefix="panoply-outside-") as folder:
        with rpc.session(given.panoply, home=folder) as session:
            tools = session.tools()
            for name, task in economy_tasks.ALL.items():
                agent = Agent(session, tools)
                try:
                    task(agent)
                except (AssertionError, KeyError, IndexError, TypeError) as error:
                    raise SystemExit(f"FAILED: {name} is a dead end: {type(error).__name__} {error}") from error
                agents[name] = agent
    counts = iter(rpc.tokens(given.node, [text for agent in agents.values() for text in agent.texts]))
    return {
        name: {"calls": agent.calls, "tokens": sum(next(counts) for _ in agent.texts)}
        for name, agent in agents.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true", help="replaces the baseline")
    own, rest = parser.parse_known_args()
    sys.argv = [sys.argv[0], *rest]
    given = server.arguments()
    costs = run(given)
    if own.write:
        BASELINE.write_text(json.dumps(costs, indent=1, ensure_ascii=False) + "\n")
    baseline = json.loads(BASELINE.read_text())
    for name, cost in costs.items():
        print(f"{name:44} {cost['calls']:3} calls {cost['tokens']:6} tokens (baseline {baseline.get(name, {}).get('tokens')})")
    for unit in ("calls", "tokens"):
        values = sorted(cost[unit] for cost in costs.values())
        median, most = statistics.median(values), values[int(len(values) * 0.95) - 1]
        server.expect(median <= MEDIAN[unit], f"median {median} {unit}, at most {MEDIAN[unit]}")
        server.expect(most <= MOST[unit], f"95 of 100 tasks take at most {most} {unit}, goal {MOST[unit]}")
    worse = [name for name, cost in costs.items() for unit in cost if cost[unit] > baseline[name][unit] * WORSE]
    server.expect(len(costs) == 50 and not worse, f"no task of {len(costs)} is 10 % more expensive than the baseline {worse}")


main()
