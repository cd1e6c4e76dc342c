"""Kills the program and looks at what is left: every change happened once, and has one audit row.

Three programmes over the real binary with strace's fault injection or plain SIGKILL:

- every write: for each mutating tool, the process is killed at the Nth write, sync, truncation,
  link, rename or unlink of the call, for every N; then the call is repeated with the same
  idempotency key. The home must be what one undisturbed call makes of it.
- locked: 64 calls wait for a store that another process has locked; the server answers others.
- storm: clients of noema, of a backtest stream and of ttm ingest are killed at random moments and
  go on as the documentation says.

`--long` runs all of both; without it a seeded sample.
"""

import base64
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

import server

GOLDEN = pathlib.Path(__file__).parents[2] / "crates/panoply-noema/tests/golden"
SYSCALLS = "pwrite64,fsync,fdatasync,ftruncate,rename,renameat,renameat2,unlink,unlinkat,link,linkat"
SAMPLE = 40  # kill points without --long
RECIPIENT = "person-00000000000000000000000000000001"
TRADES = "2020-01-01 BUY A 10 @ 1\n2024-05-01 SELL A 5 @ 3"
HERBS = "ขมิ้นชัน (turmeric) is used for dyspepsia. Turmeric should be used with caution in gallstones.\n" * 4


def main() -> None:
    given = server.arguments()
    random.seed(20261116)
    with tempfile.TemporaryDirectory(prefix="panoply-crash-") as folder:
        every_write(given.panoply, pathlib.Path(folder), given.long)
        locked(given.panoply)
        storm(given.panoply, pathlib.Path(folder), kills=1010 if given.long else 21)


# --- a process that answers calls ------------------------------------------------------------


class Died(Exception):
    """The process ended before it answered."""


class Stdio:
    """`panoply stdio`, or the same under strace."""

    def __init__(self, panoply, home, packs, wrap=()):
        self.process = subprocess.Popen(
            [*wrap, str(panoply), "stdio", *packs, "--tools", "all"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, "PANOPLY_HOME": str(home)},
        )
        self.number = 0
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "crash", "version": "1"}}
        self.request("initialize", hello)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError as error:
            raise Died from error

    def request(self, method, params):
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        while line := self.process.stdout.readline():
            message = json.loads(line)
            if message.get("id") == self.number:
                return message
        raise Died

    def call(self, tool, arguments, key=None):
        params = {"name": tool, "arguments": arguments}
        if key:
            params["_meta"] = {"panoply/idempotencyKey": key}
        reply = self.request("tools/call", params)
        if "error" in reply or reply["result"].get("isError"):
            raise RuntimeError(f"{tool}: {json.dumps(reply, ensure_ascii=False)[:600]}")
        return reply["result"]["structuredContent"]

    def end(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)

    def kill(self):
        self.process.kill()
        self.process.wait()


# --- every write -----------------------------------------------------------------------------


def every_write(panoply, folder, whole):
    template = folder / "template"
    # Made where it is used, because calls name files of it.
    ids = prepare(panoply, folder / "home")
    shutil.copytree(folder / "home", template)
    calls = scenarios(ids, folder)
    listed = json.loads(subprocess.run([str(panoply), "tools", "--json"], capture_output=True, check=True, text=True,
        env={**os.environ, "PANOPLY_HOME": str(folder / "empty")}).stdout)
    tools = listed["tools"] if isinstance(listed, dict) else listed
    mutating = {tool["name"] for tool in tools if tool["category"] == "mutation"}
    server.expect(mutating == set(calls), f"a scenario for each of {len(mutating)} mutating tools: {sorted(mutating ^ set(calls))}")
    points = []
    for tool, (pack, arguments) in sorted(calls.items()):
        expected, writes = undisturbed(panoply, folder, template, tool, pack, arguments)
        points += [(tool, pack, arguments, expected, point) for point in writes]
    chosen = points if whole else random.sample(points, min(SAMPLE, len(points)))
    ends = [killed_at(panoply, folder, template, *point) for point in chosen]
    killed, committed = sum(died for died, _ in ends), sum(died and done for died, done in ends)
    print(f"{len(chosen)} of {len(points)} kill points: {killed} killed, {committed} of them after the commit")
    # A thread may take another way the second time, and not come to its point.
    server.expect(killed >= 0.8 * len(chosen), f"{killed} of {len(chosen)} points were reached")
    server.expect(0 < committed < killed, "kills before and after the commit")


def prepare(panoply, home):
    """A home with cards, a draft, a session, a token, a deleted card, two portfolios and a document."""
    inbox = home / "ttm" / "inbox"
    inbox.mkdir(parents=True)
    (inbox / "herbs.txt").write_text(HERBS)
    (inbox / "other.txt").write_text(HERBS.replace("gallstones", "pregnancy"))
    noema = Stdio(panoply, home, ["noema"])
    ids = {"deck": noema.call("create-deck", {"name": "Thai"})["data"]["deck"]["deckId"]}
    ids["spare"] = noema.call("create-deck", {"name": "Spare"})["data"]["deck"]["deckId"]
    cards = []
    for number in range(6):
        card = {"deckId": ids["deck"], "front": f"front {number}", "back": "back", "draft": number == 5}
        cards += noema.call("create-card", card)["data"]["note"]["cardIds"]
    ids["cards"], ids["draft"] = cards[:3], cards[5]
    noema.call("suspend-cards", {"cardIds": [cards[3]]})
    noema.call("delete-cards", {"cardIds": [cards[4]]})
    ids["suspended"], ids["deleted"] = cards[3], cards[4]
    for name in ("dot.gif", "spare.gif"):
        noema.call("add-media", {"name": name, "contentBase64": base64.b64encode(picture(name)).decode()})
    ids["type"] = noema.call("create-note-type", note_type("Spare"))["data"]["noteType"]["noteTypeId"]
    noema.call("share-item", {"pack": "noema", "id": ids["spare"], "recipient": RECIPIENT})
    ids["session"] = noema.call("start-session", {"deckId": ids["deck"]})["data"]["sessionId"]
    for kind in ("answered", "token"):
        front = noema.call("get-next-card", {"deckId": ids["deck"]})["data"]
        token = noema.call("reveal-answer", {"token": front["card"]["token"]})["data"]["token"]
        if kind == "answered":
            noema.call("submit-review", {"token": token, "rating": "good"})
        ids["token"] = token
    noema.end()
    cgt = Stdio(panoply, home, ["cgt"])
    for kind in ("portfolio", "other"):
        ids[kind] = cgt.call("create_portfolio", {"name": kind})["portfolio_id"]
        cgt.call("add_transactions", {"portfolio_id": ids[kind], "cgt_content": TRADES})
    cgt.end()
    ttm = Stdio(panoply, home, ["ttm"])
    run = {"batch": [{"uri": (inbox / "other.txt").as_uri(), "doc_type": "text"}]}
    plan = ttm.call("ingest_run", run)
    ids["job"] = ttm.call("ingest_run", {**run, "dry_run": False, "plan_hash": plan["plan_hash"]})["job_id"]
    ids["herbs"] = {"batch": [{"uri": (inbox / "herbs.txt").as_uri(), "doc_type": "text"}]}
    ids["plan"] = ttm.call("ingest_run", ids["herbs"])["plan_hash"]
    ttm.end()
    return ids


def picture(comment):
    """A GIF of one pixel; the comment makes each a different file."""
    body = bytes.fromhex("47494638396101000100800000000000ffffff") + b"!\xfe" + bytes([len(comment)]) + comment.encode() + b"\0"
    return body + bytes.fromhex("21f90401000000002c00000000010001000002024401003b")


def note_type(name):
    return {"name": name, "fields": ["Word", "Meaning"], "templates": [{"name": "Recognise", "question": "{{Word}}", "answer": "{{FrontSide}}<hr id=answer>{{Meaning}}"}]}


def scenarios(ids, folder):
    """One call that changes something, for every mutating tool."""
    cards, deck = ids["cards"], ids["deck"]
    package = base64.b64encode((GOLDEN / "sample_anki26_latest.apkg").read_bytes()).decode()
    noema = {
        "create-deck": {"name": "New"},
        "update-deck": {"deckId": deck, "description": "changed"},
        "delete-deck": {"deckId": ids["spare"]},
        "create-card": {"deckId": deck, "front": "new", "back": "card"},
        "create-cards": {"deckId": deck, "notes": [{"front": "a", "back": "b"}, {"front": "c", "back": "d"}]},
        "update-card": {"cardId": cards[0], "fields": {"Back": "changed"}},
        "delete-cards": {"cardIds": cards[:2]},
        "restore-cards": {"cardIds": [ids["deleted"]]},
        "suspend-cards": {"cardIds": cards[:2]},
        "unsuspend-cards": {"cardIds": [ids["suspended"]]},
        "bury-cards": {"cardIds": cards[:1]},
        "move-cards": {"cardIds": cards[:1], "deckId": ids["spare"]},
        "tag-cards": {"cardIds": cards[:1], "tags": ["x"]},
        "untag-cards": {"cardIds": cards[:1], "tags": ["none"]},
        "approve-drafts": {"cardIds": [ids["draft"]]},
        "start-session": {"deckId": deck},
        "end-session": {"sessionId": ids["session"]},
        "submit-review": {"token": ids["token"], "rating": "hard"},
        "submit-offline-reviews": {"reviews": [{"token": ids["token"], "rating": "hard", "at": "2026-11-15T12:00:00Z"}]},
        "undo-review": {},
        "undo-action": {},
        "reschedule-cards": {"cardIds": cards[:1], "how": "forget"},
        "import-cards": {"deckId": deck, "content": "front,back\nimported,card\n", "format": "csv"},
        "import-package": {"contentBase64": package},
        "add-media": {"name": "new.gif", "contentBase64": base64.b64encode(picture("new")).decode()},
        "delete-media": {"names": ["spare.gif"]},
        "create-occlusion": {"deckId": deck, "image": "dot.gif", "regions": [{"left": 0.1, "top": 0.1, "width": 0.3, "height": 0.2}]},
        "create-note-type": note_type("New"),
        "update-note-type": {"noteTypeId": ids["type"], "css": ".card { font-size: 30px; }"},
        "delete-note-type": {"noteTypeId": ids["type"]},
        "update-settings": {"timeZone": "Asia/Bangkok"},
        "export-package": {"deckId": deck, "format": "csv", "path": str(folder / "home/noema/files/deck.csv")},
    }
    ttm = {
        # A job that outlives its call is finished by the next server; here it must be before the state is read.
        "ingest_run": {**ids["herbs"], "dry_run": False, "plan_hash": ids["plan"], "wait_seconds": 50},
        "ingest_undo": {"job_id": ids["job"]},
    }
    cgt = {
        "create_portfolio": {"name": "New", "accounts": [{"name": "ISA", "wrapper": "isa"}]},
        "add_transactions": {"portfolio_id": ids["portfolio"], "cgt_content": TRADES, "account": "Second"},
        "edit_transactions": {"portfolio_id": ids["portfolio"], "edits": [{"id": 1, "remove": True}]},
        "undo_portfolio_change": {"portfolio_id": ids["portfolio"]},
        "delete_portfolio": {"portfolio_id": ids["other"]},
    }
    kernel = {
        "set-preferences": {"preferences": {"studyMinutes": 20}},
        "share-item": {"pack": "noema", "id": deck, "recipient": RECIPIENT},
        "withdraw-share": {"pack": "noema", "id": ids["spare"], "recipient": RECIPIENT},
    }
    packs = {"noema": noema, "ttm": ttm, "cgt": cgt, "kernel": kernel}
    return {name: (pack, given) for pack, calls in packs.items() for name, given in calls.items()}


def served(pack):
    """The kernel's tools come with every pack; here they are about noema's data."""
    return "noema" if pack == "kernel" else pack


def undisturbed(panoply, folder, template, tool, pack, arguments):
    """What one call makes of the home, and how many kill points it has."""
    home, log = folder / "home", folder / "strace.log"
    fresh(template, home)
    wrap = ["strace", "-f", "-qq", "-y", "-e", f"trace={SYSCALLS}", "-o", str(log)]
    process = Stdio(panoply, home, [served(pack)], wrap)
    first = process.call(tool, arguments, "key")
    process.end()
    writes = kill_points(log, home)
    again = Stdio(panoply, home, [served(pack)])
    replay = again.call(tool, arguments, "key")
    again.end()
    server.expect(data(first) == data(replay), f"{tool}: the repeated key brings back the first reply")
    return state(home, tool), writes


def kill_points(log, home):
    """(file, system call, how often) of everything that was done to a file of the home. strace counts
    for each thread and each call, so the file is named too: it has one writer."""
    counts = {}
    for line in log.read_text().splitlines():
        found = re.match(rf"(\d+) +(\w+)\(.*?({re.escape(str(home))}/[^\">]+)", line)
        if found:
            thread, syscall, file = found.groups()
            counts[file, syscall, thread] = counts.get((file, syscall, thread), 0) + 1
    most = {}
    for (file, syscall, _), count in counts.items():
        most[file, syscall] = max(count, most.get((file, syscall), 0))
    return [(file, syscall, number + 1) for (file, syscall), count in sorted(most.items()) for number in range(count)]


def killed_at(panoply, folder, template, tool, pack, arguments, expected, point):
    home = folder / "home"
    fresh(template, home)
    file, syscall, number = point
    wrap = ["strace", "-f", "-qq", "-o", "/dev/null", "-P", file, "-e", f"trace={syscall}", "-e", f"inject={syscall}:signal=SIGKILL:when={number}"]
    died = False
    try:
        process = Stdio(panoply, home, [served(pack)], wrap)
        process.call(tool, arguments, "key")
        process.end()
        died = process.process.returncode != 0
    except Died:
        died = True
    committed = has_record(home, pack)
    again = Stdio(panoply, home, [served(pack)])
    again.call(tool, arguments, "key")
    again.end()
    seen = state(home, tool)
    if seen != expected:
        raise SystemExit(f"FAILED: {tool} killed at {point}: {seen} instead of {expected}")
    verified = subprocess.run([str(panoply), "audit", "verify"], env={**os.environ, "PANOPLY_HOME": str(home)}, capture_output=True)
    if verified.returncode != 0:
        raise SystemExit(f"FAILED: {tool} killed at {point}: {verified.stdout.decode()}")
    return died, committed


def fresh(template, home):
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(template, home)


def data(reply):
    # Hints are no part of the output: a stored reply has none.
    return reply.get("data", {key: value for key, value in reply.items() if key not in ("audit", "hints")})


def rows(file, sql):
    if not file.exists():
        return []
    with sqlite3.connect(file) as connection:
        found = connection.execute(sql).fetchall()
    connection.close()
    return found


def state(home, tool):
    """Counts that a second application of any tool would change, and the audit rows of the change."""
    noema, ttm = home / "packs/noema.db", home / "packs/ttm.db"
    counts = [rows(noema, f"SELECT count(*) FROM {table}") for table in ("deck", "note", "card", "review", "session", "media_file", "media_content", "note_type", "learner")]
    counts.append(rows(noema, "SELECT count(*) FROM action WHERE tool <> 'tidy'"))
    counts.append(rows(noema, "SELECT count(*) FROM card WHERE deleted IS NULL"))
    counts.append(rows(noema, "SELECT hold, count(*) FROM card GROUP BY hold"))
    files = list((home / "noema/files").glob("*"))
    # A kill after the commit leaves a second name of the finished file, which the next export removes.
    finished = {file.stat().st_ino for file in files if not file.name.startswith(".")}
    counts.append(sorted(file.name for file in files if not file.name.startswith(".") or file.stat().st_ino not in finished))
    counts += [rows(ttm, f"SELECT count(*) FROM {table}") for table in ("ingest_document", "ingest_chunk", "ingest_fact")]
    counts += [rows(home / "packs/cgt.db", f"SELECT count(*) FROM {table}") for table in ("portfolio", "account", "entry", "change", "image")]
    counts.append(rows(home / "kernel.db", "SELECT count(*) FROM share"))
    counts.append(rows(home / "kernel.db", "SELECT version, members FROM preferences"))
    audited = rows(home / "audit.db", f"SELECT count(*) FROM audit WHERE mutation = 1 AND status = 'ok' AND tool = '{tool}'")
    return counts, audited[0][0] if audited else 0


def has_record(home, pack):
    file = home / ("kernel.db" if pack == "kernel" else f"packs/{pack}.db")
    return bool(rows(file, "SELECT 1 FROM mutation WHERE key = 'key'"))


# --- locked ----------------------------------------------------------------------------------


def locked(panoply):
    """Calls that wait for a locked store end at their deadline, and hold up nobody else."""
    files = {}

    def remember(environment):
        files["noema"] = pathlib.Path(environment["PANOPLY_HOME"]) / "packs/noema.db"

    with server.http(panoply, "noema", "cgt", prepare=remember) as base:
        def call(tool, arguments):
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
            headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
            request = urllib.request.Request(f"{base}/mcp", data=json.dumps(body).encode(), headers=headers)
            with urllib.request.urlopen(request, timeout=120) as reply:
                return reply.read()

        deck = call("create-deck", {"name": "Locked"})
        server.expect(b"deck_" in deck, "a deck before the lock")
        holder = sqlite3.connect(files["noema"], isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        took, slowest = [], 0.0

        def wait(number):
            started = time.monotonic()
            reply = call("create-deck", {"name": f"Waiting {number}"})
            took.append((time.monotonic() - started, b'"isError":true' in reply))

        threads = [threading.Thread(target=wait, args=[number]) for number in range(64)]
        [thread.start() for thread in threads]
        while any(thread.is_alive() for thread in threads):
            started = time.monotonic()
            with urllib.request.urlopen(f"{base}/healthz", timeout=30) as reply:
                reply.read()
            server_alive = call("get_fx_rate", {"currency": "USD", "year": 2024, "month": 5})
            slowest = max(slowest, time.monotonic() - started)
            assert server_alive
            time.sleep(0.2)
        holder.execute("ROLLBACK")
        holder.close()
        server.expect(len(took) == 64 and all(failed for _, failed in took), "64 calls end with an error while the store is locked")
        server.expect(max(took)[0] < 20, f"each ends at its deadline: the last after {max(took)[0]:.1f} s")
        server.expect(slowest < 5, f"/healthz and another pack answer meanwhile: the slowest after {slowest:.2f} s")
        server.expect(b"deck_" in call("create-deck", {"name": "Afterwards"}), "a deck after the lock")


# --- storm -----------------------------------------------------------------------------------


def storm(panoply, folder, kills):
    """Three clients that are killed again and again; each goes on as the documentation says."""
    # A kill of an ingest takes as long as three of the others.
    share = max(kills * 3 // 7, 3)
    home = folder / "storm"
    home.mkdir()
    cards = storm_noema(panoply, home, share)
    events = storm_backtest(panoply, home, share)
    documents = storm_ttm(panoply, home, share // 3)
    print(f"storm: {2 * share + share // 3} kills, {cards} cards, {events} events, {documents} documents: 0 lost, 0 twice, 0 without an audit row")
    verified = subprocess.run([str(panoply), "audit", "verify"], env={**os.environ, "PANOPLY_HOME": str(home)}, capture_output=True)
    server.expect(verified.returncode == 0, "the audit chain is intact")


def storm_noema(panoply, home, kills):
    first = Stdio(panoply, home, ["noema"])
    deck = first.call("create-deck", {"name": "Storm"})["data"]["deck"]["deckId"]
    first.end()
    number, acknowledged, process = 0, 0, None
    for _ in range(kills):
        process = process or Stdio(panoply, home, ["noema"])
        timer = threading.Timer(random.uniform(0.01, 0.25), process.process.kill)
        timer.start()
        try:
            while True:
                card = {"deckId": deck, "front": f"card {number}", "back": "x"}
                process.call("create-card", card, f"key {number}")
                number += 1
                acknowledged += 1
        except Died:
            process.kill()
            process = None
        timer.cancel()
    last = Stdio(panoply, home, ["noema"])
    last.call("create-card", {"deckId": deck, "front": f"card {number}", "back": "x"}, f"key {number}")
    last.end()
    fronts = [fields.split("\x1f")[0] for (fields,) in rows(home / "packs/noema.db", "SELECT fields FROM note")]
    server.expect(sorted(fronts) == sorted(f"card {one}" for one in range(number + 1)), f"noema: {number + 1} cards, each once, after {kills} kills")
    audited = rows(home / "audit.db", "SELECT count(*) FROM audit WHERE tool = 'create-card' AND mutation = 1 AND status = 'ok'")[0][0]
    server.expect(audited == number + 1, f"noema: each card has one audit row ({audited})")
    return number + 1


RUN = "11111111-1111-4111-8111-111111111111"


def event(number):
    return json.dumps({"eventId": f"00000000-0000-4000-8000-{number:012x}", "runId": RUN, "timestamp": "2025-01-01T00:00:00.000Z",
        "eventType": "RiskEvent", "severity": "Info", "category": "Risk", "properties": {"RiskType": "x"}, "parentEventId": None, "validationErrors": None})


def storm_backtest(panoply, home, kills):
    port = server.free_port()
    base = f"http://127.0.0.1:{port}/backtest/runs/{RUN}"

    def start():
        process = subprocess.Popen([str(panoply), "http", "backtest", "--listen", f"127.0.0.1:{port}"], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "PANOPLY_HOME": str(home)})
        server.wait_until_ready(f"http://127.0.0.1:{port}", process)
        return process

    def ask(method, path="", body=None):
        request = urllib.request.Request(base + path, data=body, method=method)
        with urllib.request.urlopen(request, timeout=60) as reply:
            return reply.read()

    process = start()
    ask("PUT", body=b"{}")
    answered, acknowledged = 0, 0
    for _ in range(kills):
        timer = threading.Timer(random.uniform(0.02, 0.3), process.send_signal, [signal.SIGKILL])
        timer.start()
        try:
            while True:
                next_line = json.loads(ask("GET"))["lastSequence"] + 1
                lines = "".join(event(number) + "\n" for number in range(next_line, next_line + 1500))
                ask("POST", f"/events?sequence={next_line}", lines.encode())
                answered += 1
                acknowledged = max(acknowledged, next_line + 1499)
        except (urllib.error.URLError, http.client.HTTPException, OSError, json.JSONDecodeError):
            pass
        timer.join()
        process.wait()
        process = start()
        found = json.loads(ask("GET"))["lastSequence"]
        if found < acknowledged:
            server.expect(False, f"backtest: event {acknowledged} was acknowledged, {found} is the last on disk after a restart")
    on_disk = json.loads(ask("GET"))["lastSequence"]
    report = json.loads(ask("POST", "/seal", b""))["report"]
    process.send_signal(signal.SIGTERM)
    process.wait()
    server.expect((report["events"], report["repeated"]) == (on_disk, 0), f"backtest: {on_disk} events, none twice, after {kills} kills: {report['events']}, {report['repeated']}")
    exported = subprocess.run([str(panoply), "backtest", "export", RUN], env={**os.environ, "PANOPLY_HOME": str(home)}, capture_output=True, text=True, check=True).stdout
    seen = {json.loads(line)["eventId"] for line in exported.splitlines()}
    wanted = {f"00000000-0000-4000-8000-{number:012x}" for number in range(1, on_disk + 1)}
    server.expect(seen == wanted, f"backtest: no hole among {on_disk} events")
    left = rows(home / "packs/backtest.db", "SELECT count(*) FROM mutation WHERE audited = 0")[0][0]
    audited = rows(home / "audit.db", "SELECT count(*) FROM audit WHERE tool = 'backtest/runs events' AND mutation = 1")[0][0]
    server.expect(left <= 1 and audited >= max(answered, 1), f"backtest: {audited} audit rows of streams, {answered} of them answered, {left} waiting")
    return on_disk


def storm_ttm(panoply, home, kills):
    inbox = home / "ttm" / "inbox"
    inbox.mkdir(parents=True, exist_ok=True)
    added = 0
    for number in range(kills):
        file = inbox / f"{number}.txt"
        file.write_text(f"Document {number}. " + HERBS)
        run = {"batch": [{"uri": file.as_uri(), "doc_type": "text"}]}
        for attempt in range(20):
            process = Stdio(panoply, home, ["ttm"])
            timer = threading.Timer(random.uniform(0.05, 2.0) if attempt == 0 else 3600, process.process.kill)
            timer.start()
            try:
                plan = process.call("ingest_run", {**run, "wait_seconds": 50}, f"plan {number}")
                process.call("ingest_run", {**run, "dry_run": False, "plan_hash": plan["plan_hash"], "wait_seconds": 50}, f"run {number}")
                process.end()
                added += 1
                break
            except Died:
                process.kill()
            finally:
                timer.cancel()
    found = rows(home / "packs/ttm.db", "SELECT count(*), count(DISTINCT sha256) FROM ingest_document")[0]
    server.expect(found == (added, added), f"ttm: {added} documents, each once, after {kills} kills: {found}")
    # The plan and the run of a document differ in their arguments, and so do their hashes.
    audited = rows(home / "audit.db", "SELECT count(DISTINCT in_hash) FROM audit WHERE tool = 'ingest_run' AND mutation = 1 AND status = 'ok'")[0][0]
    server.expect(audited >= 2 * added, f"ttm: plan and run of each document have an audit row ({audited})")
    return added


if __name__ == "__main__":
    started = time.monotonic()
    main()
    print(f"took {time.monotonic() - started:.0f} s")
