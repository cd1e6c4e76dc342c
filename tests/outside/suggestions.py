"""An agent that follows every suggestion blindly: nothing fails, nothing changes, nothing repeats.

Every example of every tool runs in an empty home, after the calls that `describe-tool` says it
needs; then every suggestion of its reply, and of theirs, three deep. The same in a large home.
"""

import datetime
import json
import pathlib
import subprocess
import tempfile
import time

import rpc
import server

DEPTH = 3
LARGE_NOTES = 5_000
LARGE_EVENTS = 20_000


class Walk:
    def __init__(self, session: rpc.Session, tools: dict):
        self.session, self.tools = session, tools
        self.failures, self.calls, self.known = [], 0, {}

    def fail(self, what: str) -> None:
        self.failures.append(what)

    def example(self, name: str, example: dict) -> None:
        """Runs an example after its preparation, then follows its suggestions."""
        # Examples are written for 15 November 2026; study days begin at 04:00.
        today = datetime.datetime.now(datetime.UTC) - datetime.timedelta(hours=4)
        values = {"2026-12-15": (today.date() + datetime.timedelta(days=30)).isoformat()}
        for step in example.get("prepare", []):
            made = self.session.call(step["tool"], replaced(step["params"], values))
            if made.error:
                return self.fail(f"{name}: \"{example['description']}\": preparation {step['tool']}: {made.error}")
            for literal, pointer in step["literals"].items():
                values[literal] = at(made.data, pointer) if pointer else values.get(literal, literal)
        arguments = replaced(example["params"], values)
        reply = self.session.call(name, arguments)
        self.calls += 1
        expected = replaced(example["expectedResult"], values)
        wanted = expected.get("error", {}).get("code") if isinstance(expected, dict) else None
        if reply.error != wanted:
            self.fail(f"{name}: \"{example['description']}\" gives {reply.error}, expected {wanted}")
        elif example.get("prepare") and not wanted and (difference := missing(reply.data, expected)):
            self.fail(f"{name}: \"{example['description']}\": {difference}")
        self.follow(reply, [(name, json.dumps(arguments, sort_keys=True))])

    def follow(self, reply: rpc.Reply, path: list) -> None:
        for action in reply.hints.get("suggestedNextActions", []):
            name, arguments = action["action"], action.get("data", {})
            step = (name, json.dumps(arguments, sort_keys=True))
            shown = " > ".join(tool for tool, _ in [*path, step])
            if self.tools[name]["category"] == "mutation":
                self.fail(f"{shown}: changes data")
            elif step in path:
                self.fail(f"{shown}: repeats a call")
            else:
                self.calls += step not in self.known
                next_reply = self.known.get(step) or self.session.call(name, arguments)
                self.known[step] = next_reply
                if next_reply.error:
                    self.fail(f"{shown} {step[1][:200]}: {next_reply.error}")
                elif len(path) < DEPTH:
                    self.follow(next_reply, [*path, step])


def at(value, pointer: str):
    """The value at a JSON pointer."""
    for part in pointer.strip("/").split("/"):
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


def replaced(value, values: dict):
    """The value with literals of examples replaced by what stands for them."""
    if isinstance(value, dict):
        return {name: replaced(member, values) for name, member in value.items()}
    if isinstance(value, list):
        return [replaced(item, values) for item in value]
    return values.get(value, value) if isinstance(value, str) else value


def missing(seen, expected, pointer: str = "") -> str | None:
    """What of the expected members is not there; objects may have more members."""
    if isinstance(expected, dict) and isinstance(seen, dict):
        gaps = (missing(seen.get(name), value, f"{pointer}/{name}") for name, value in expected.items())
        return next((gap for gap in gaps if gap), None)
    if isinstance(expected, list) and isinstance(seen, list) and len(seen) == len(expected):
        gaps = (missing(*pair, f"{pointer}/{place}") for place, pair in enumerate(zip(seen, expected)))
        return next((gap for gap in gaps if gap), None)
    return None if seen == expected else f"`{pointer}` is {json.dumps(seen)[:80]}, expected {json.dumps(expected)[:80]}"


def fill(program: pathlib.Path, home: pathlib.Path) -> None:
    """A large home: thousands of cards, some answered, and a run of many events."""
    with rpc.session(program, "noema", home=home) as session:
        deck = session.call("create-deck", {"name": "Large"}).data["deck"]["deckId"]
        for start in range(0, LARGE_NOTES, 500):
            rows = "\n".join(f"question {number},answer {number % 997}" for number in range(start, start + 500))
            made = session.call("import-cards", {"deckId": deck, "content": rows})
            server.expect(made.error is None, f"cards {start} to {start + 499} are imported") if start == 0 else None
        for number in range(30):
            card = session.call("get-next-card", {"deckId": deck}).data["card"]
            token = session.call("reveal-answer", {"token": card["token"]}).data["token"]
            rating = ("again", "hard", "good", "easy")[number % 4]
            session.call("submit-review", {"token": token, "rating": rating})
    events = home / "events.jsonl"
    with events.open("w") as out:
        for number in range(LARGE_EVENTS):
            day, second = divmod(number, 1440)
            stamp = f"2024-01-{1 + day:02d}T{second // 60:02d}:{second % 60:02d}:00Z"
            order = f"00000000-0000-4000-8000-{number // 2:012x}"
            kind = ("StateChange", {"StateType": "OrderPlaced", "OrderId": order}) if number % 2 == 0 else (
                "TradeExecution",
                {"OrderId": order, "SecuritySymbol": f"S{number % 7}", "Direction": "Buy", "Quantity": 10, "Price": 100 + number % 50, "Commission": 0.5, "Slippage": 0.01},
            )
            properties = {**kind[1], "SecuritySymbol": f"S{number % 7}"}
            out.write(json.dumps({"runId": "20000000-0000-4000-8000-000000000001", "eventId": f"10000000-0000-4000-8000-{number:012x}", "timestamp": stamp, "eventType": kind[0], "severity": "Info", "category": "Execution", "properties": properties}) + "\n")
    command = [str(program), "backtest", "import", str(events)]
    done = subprocess.run(command, env={"PATH": "/usr/bin:/bin", "HOME": str(home), "PANOPLY_HOME": str(home)}, capture_output=True, text=True)
    server.expect(done.returncode == 0, f"a run of {LARGE_EVENTS} events is imported {done.stderr[-300:]}")


def walk(program, name: str, home: pathlib.Path | None) -> list[str]:
    """Runs every example; those that need preparation each in a home of their own."""
    started = time.monotonic()
    with rpc.session(program, "--tools", "all", home=home) as session:
        tools = {tool: session.call("describe-tool", {"name": tool}).data for tool in session.tools()}
        walker = Walk(session, tools)
        alone = []
        for tool, described in tools.items():
            for example in described["examples"]:
                if example.get("prepare"):
                    alone.append((tool, example))
                else:
                    walker.example(tool, example)
    failures, calls = walker.failures, walker.calls
    for tool, example in alone if home is None else []:
        with rpc.session(program, "noema", "cgt", "--tools", "all") as session:
            walker = Walk(session, tools)
            walker.example(tool, example)
            failures, calls = failures + walker.failures, calls + walker.calls
    examples = sum(len(described["examples"]) for described in tools.values())
    print(f"{name}: {examples} examples of {len(tools)} tools, {calls} calls in {time.monotonic() - started:.1f} s")
    for failure in failures:
        print(f"{name}: {failure}")
    return failures


def main() -> None:
    given = server.arguments()
    failures = walk(given.panoply, "empty home", None)
    with tempfile.TemporaryDirectory(prefix="panoply-outside-") as folder:
        home = pathlib.Path(folder)
        fill(given.panoply, home)
        failures += walk(given.panoply, "large home", home)
    server.expect(not failures, "every example runs, every suggestion three deep succeeds, changes nothing and never repeats")


main()
