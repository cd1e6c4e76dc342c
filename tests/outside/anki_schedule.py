"""Anki and Panoply study the same cards on the same simulated days, in three time zones, across a change of summer time."""

import contextlib
import datetime
import importlib.util
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import zoneinfo

import server

# Summer time ends in London on 2026-10-25 and begins in New York on 2026-03-08.
SHORT = {"Europe/London": ("2026-10-15", 14)}
LONG = {"Asia/Bangkok": ("2026-10-01", 60), "Europe/London": ("2026-10-01", 60), "America/New_York": ("2026-02-10", 60)}
REVIEWS_A_DAY = 34
CARDS = 360
RATINGS = ["again", "hard", "good", "easy"]
# Anki keeps difficulty with three decimals, stability with four, and computes on from there. Over ten reviews of a card
# that adds up to this much of difficulty; stability grows by a multiple of 11 - difficulty.
ROUNDING = 0.005


def main() -> None:
    given = server.arguments()
    for zone, (first, days) in (LONG if given.long else SHORT).items():
        with server.home() as environment, tempfile.TemporaryDirectory() as folder:
            study(given.panoply, environment, pathlib.Path(folder), zone, first, days)


class Clock:
    """A file from which libfaketime takes the time of both programs."""

    def __init__(self, folder: pathlib.Path, zone: str) -> None:
        self.file, self.zone = folder / "clock", zoneinfo.ZoneInfo(zone)

    def set(self, local: datetime.datetime) -> int:
        seconds = int(local.replace(tzinfo=self.zone).timestamp())
        self.file.write_text(f"{seconds}\n")
        return seconds

    def environment(self, base: dict) -> dict:
        # The module cannot be imported here: it would restart this process.
        package = pathlib.Path(importlib.util.find_spec("libfaketime").origin).parent
        library = next(package.rglob("libfaketime*.so*"))
        return base | {
            "LD_PRELOAD": str(library), "FAKETIME_TIMESTAMP_FILE": str(self.file), "FAKETIME_NO_CACHE": "1", "FAKETIME_FMT": "%s",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1", "TZ": str(self.zone), "ANKI_TEST_MODE": "1",
        }  # fmt: skip

    def study_day(self, seconds: float) -> datetime.date:
        """The date of the study day, which begins at 04:00 on the wall."""
        local = datetime.datetime.fromtimestamp(seconds, self.zone)
        return local.date() - datetime.timedelta(days=local.hour < 4)


@contextlib.contextmanager
def process(command: list[str], environment: dict):
    """A program that answers each line with a line."""
    child = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def ask(message: dict) -> dict:
        child.stdin.write(json.dumps(message) + "\n")
        child.stdin.flush()
        return json.loads(child.stdout.readline())

    try:
        yield ask
    finally:
        child.stdin.close()
        child.wait(timeout=60)


def study(panoply: pathlib.Path, environment: dict, folder: pathlib.Path, zone: str, first: str, days: int) -> None:
    clock, chance = Clock(folder, zone), random.Random(zone)
    start = datetime.datetime.fromisoformat(first)
    clock.set(start + datetime.timedelta(hours=12))
    faked = clock.environment(environment)
    seen, differ, leaks, unlike = 0, [], 0, []
    with process([sys.executable, __file__, "anki", str(folder / "anki.anki2")], faked) as anki:
        # A server a day: what it knows is on disk.
        panoply_stdio = [str(panoply), "stdio", "noema"]
        with process(panoply_stdio, faked) as mcp:
            call = caller(mcp)
            deck = call("create-deck", {"name": "Judge", "options": {"fuzz": False, "newPerDay": 9, "reviewsPerDay": 9999}})["deck"]["deckId"]
            notes = [{"front": f"question {number}", "back": f"secret-{number}-answer"} for number in range(CARDS)]
            call("create-cards", {"deckId": deck, "notes": notes, "draft": False})
        anki({"add": CARDS})
        for day in range(days):
            # Not from 02:00 to 04:00: without fuzz, that is in its test mode, Anki sets its clock back then. Not from
            # 04:00 to 05:00: Anki counts days as 24 hours back from the next rollover, so an answer in that hour is a
            # day older after the clock went back. We count dates.
            hour = chance.choice([5.25, 8.5, 12, 18.25, 22.5, 23.9, 0.5, 1.5])
            moment = start + datetime.timedelta(days=day + 1, hours=hour)
            clock.set(moment)
            with process(panoply_stdio, faked) as mcp:
                call = caller(mcp)
                for _ in range(REVIEWS_A_DAY + 10):
                    seconds = clock.set(moment)
                    moment += datetime.timedelta(seconds=chance.randint(3, 25))
                    next_card = call("get-next-card", {"deckId": deck})
                    if next_card["card"] is None:
                        break
                    number = int(next_card["card"]["front"].split()[1])
                    leaks += f"secret-{number}-answer" in json.dumps(call.last)
                    turned = call("reveal-answer", {"token": next_card["card"]["token"]})
                    rating = chance.choices(RATINGS, [15, 15, 55, 15])[0]
                    ours = call("submit-review", {"token": turned["token"], "rating": rating, "takenMs": 4000})
                    theirs = anki({"card": number, "rating": RATINGS.index(rating)})
                    due = datetime.datetime.fromisoformat(ours["due"]).timestamp()
                    ours_due = (clock.study_day(due) - clock.study_day(seconds)).days if ours["intervalDays"] else due - seconds
                    seen += 1
                    local = datetime.datetime.fromtimestamp(seconds, clock.zone)
                    rounding = 0.001 + ROUNDING / (11 - theirs["d"])
                    if abs(ours["stabilityDays"] - theirs["s"]) > rounding * max(1, theirs["s"]) or abs(ours["difficulty"] - theirs["d"]) > ROUNDING:
                        unlike.append(f"{local:%m-%d %H:%M} {rating}: {ours['stabilityDays']}/{ours['difficulty']} and {theirs['s']:.4f}/{theirs['d']:.3f}")
                    if ours_due != theirs["due"]:
                        differ.append(f"{local:%m-%d %H:%M} {rating}: {ours_due} and {theirs['due']}")
    same = 1 - len(differ) / max(1, seen)
    server.expect(seen >= 0.75 * REVIEWS_A_DAY * days, f"anki: {seen} reviews on {days} days in {zone}")
    server.expect(leaks == 0, "anki: no question contains its answer")
    server.expect(same >= 0.995, f"anki: {same:.2%} of the due days in {zone} are the same {differ[:8]}")
    server.expect(len(unlike) <= 0.005 * seen, f"anki: memory states differ in {len(unlike)} of {seen} reviews in {zone} {unlike[:8]}")


def caller(mcp):
    """A function that calls a tool of ours; `last` is the whole reply."""

    def call(tool: str, arguments: dict) -> dict:
        reply = mcp({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
        if reply.get("result", {}).get("isError", True):
            raise SystemExit(f"FAILED: {tool} {arguments}: {reply}")
        call.last = reply
        return reply["result"]["structuredContent"]["data"]

    mcp({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "judge", "version": "1"}}})
    return call


def anki(file: str) -> None:
    """Anki's backend: adds notes, answers a card, says when it is due."""
    from anki.collection import Collection
    from anki.scheduler.v3 import CardAnswer

    collection = Collection(file)
    collection.set_config("fsrs", True)
    cards: list[int] = []
    for line in sys.stdin:
        asked = json.loads(line)
        if "add" in asked:
            for number in range(asked["add"]):
                note = collection.new_note(collection.models.by_name("Basic"))
                note["Front"], note["Back"] = f"question {number}", "answer"
                collection.add_note(note, 1)
                cards.append(note.cards()[0].id)
            print(json.dumps({}), flush=True)
            continue
        card = collection.get_card(cards[asked["card"]])
        card.start_timer()
        states = collection._backend.get_scheduling_states(card.id)
        rating = [CardAnswer.AGAIN, CardAnswer.HARD, CardAnswer.GOOD, CardAnswer.EASY][asked["rating"]]
        answer = collection.sched.build_answer(card=card, states=states, rating=rating)
        collection.sched.answer_card(answer)
        card.load()
        today = collection.sched.today
        # Steps are due at a time unless they end on another day; everything else is due on a day.
        due = card.due - today if card.queue == 2 else card.due - answer.answered_at_millis // 1000 if card.queue == 1 else f"day {card.due - today}"
        print(json.dumps({"due": due, "s": card.memory_state.stability, "d": card.memory_state.difficulty}), flush=True)
    collection.close()


if __name__ == "__main__":
    if sys.argv[1:2] == ["anki"]:
        anki(sys.argv[2])
    else:
        main()
