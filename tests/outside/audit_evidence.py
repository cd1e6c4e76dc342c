"""Checkpoints and segments of the audit log, worked out again from their descriptions.

The program runs with checkpoints to a file and to an HTTP server. Python then computes the chain from the
segments and the database alone, verifies each signed note with another implementation of Ed25519, and finds
that a changed note and a rewritten log are refused. Then `seal` and `prune` are killed at every write, sync,
rename and unlink: the chain holds, the next run goes on, and no row is missing.
"""

import base64
import gzip
import hashlib
import http.server
import itertools
import json
import pathlib
import shutil
import sqlite3
import subprocess
import threading

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

import server

COLUMNS = ["sequence", "at", "tool", "tool_version", "partition", "agent_id", "trace_id", "in_hash", "out_hash",
           "latency_ms", "seed", "status", "error_code", "mutation", "address", "credential", "count"]


def main() -> None:
    given = server.arguments()
    with server.home() as environment, sink() as (url, posted):
        home = pathlib.Path(environment["PANOPLY_HOME"])
        notes = home / "checkpoints"

        def panoply(*words: str, status: int = 0) -> str:
            done = subprocess.run([given.panoply, *words], env=environment, capture_output=True, text=True)
            if done.returncode != status:
                raise SystemExit(f"FAILED: panoply {' '.join(words)}: status {done.returncode}, not {status}\n{done.stderr}{done.stdout}")
            return done.stdout

        for number in range(6):
            panoply("call", "search-tools", "--arg", f"query=word{number}")
            if number % 2 == 1:
                panoply("audit", "checkpoint", "--to", str(notes))
                panoply("audit", "checkpoint", "--to", url)
            if number == 3:
                panoply("audit", "seal")
        key = panoply("audit", "public-key").strip()
        server.expect(same(posted, notes), "the server got what the file got, after one answer of 503")

        hashes = chain(home)
        read = [verify(note, key) for note in split(notes.read_text())]
        server.expect(len(read) == 3, f"{len(read)} notes are signed by {key.split('+')[0]}")
        for sequence, digest in read:
            server.expect(hashes[sequence] == digest, f"row {sequence} of the chain that Python computed is in its checkpoint")
        panoply("audit", "verify", "--checkpoints", str(notes), "--public-key", key)

        forged = notes.read_text().replace("time 20", "time 19", 1)
        refused = [note for note in split(forged) if not is_signed(note, key)]
        server.expect(len(refused) == 1, "Python refuses the note that was changed")
        (home / "forged").write_text(forged)
        panoply("audit", "verify", "--checkpoints", str(home / "forged"), "--public-key", key, status=1)
        # Another history in the place of the log: what an intruder with the file can always make.
        for file in [*home.glob("audit.db*"), *home.glob("audit-segments/*.gz")]:
            file.unlink()
        for number in range(8):
            panoply("call", "search-tools", "--arg", f"query=other{number}")
        panoply("audit", "verify")
        panoply("audit", "verify", "--checkpoints", str(notes), "--public-key", key, status=1)
        print("ok: panoply takes the true notes, and refuses the forged one and the rewritten log")
    killed(given.panoply)


def killed(panoply: pathlib.Path) -> None:
    """Kills `audit seal` and `audit prune` at each of their writes."""
    with server.home() as environment:
        home = pathlib.Path(environment["PANOPLY_HOME"])
        run = lambda *words: subprocess.run([panoply, *words], env=environment, capture_output=True, text=True)
        for number in range(3):
            run("call", "search-tools", "--arg", f"query=word{number}").check_returncode()
        template = {file.name: file.read_bytes() for file in home.iterdir() if file.is_file()}
        kills = 0
        # strace counts each system call by itself.
        for commands, syscall in itertools.product([["seal"], ["seal", "prune"]], SYSCALLS):
            for number in itertools.count(1):
                shutil.rmtree(home)
                home.mkdir(mode=0o700)
                for name, content in template.items():
                    (home / name).write_bytes(content)
                for command in commands[:-1]:
                    run("audit", *WORDS[command]).check_returncode()
                words = WORDS[commands[-1]]
                inject = f"inject={syscall}:signal=SIGKILL:when={number}"
                traced = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={syscall}", "-e", inject]
                done = subprocess.run([*traced, panoply, "audit", *words], env=environment, capture_output=True, text=True)
                if done.returncode == 0:
                    break
                kills += 1
                survives(f"{commands[-1]} killed at {syscall} {number}", home, run, words)
        server.expect(kills > 10, f"seal and prune, killed at each of {kills} writes, lose no row and leave no file")


def survives(where: str, home: pathlib.Path, run, words: list[str]) -> None:
    """The chain holds after a kill, and the next run leaves what an undisturbed one does."""
    verified = run("audit", "verify")
    if verified.returncode != 0:
        raise SystemExit(f"FAILED: {where}: {verified.stdout}{verified.stderr}")
    again = run("audit", *words)
    rows = [json.loads(line)["tool"] for line in run("audit", "export").stdout.splitlines()]
    verified = json.loads(run("audit", "verify", "--json").stdout)
    if again.returncode != 0 or not verified["intact"]:
        raise SystemExit(f"FAILED: the run after {where}: {again.stderr}{verified}")
    left = 0 if words[0] == "prune" else 3
    if rows.count("search-tools") != left:
        raise SystemExit(f"FAILED: {where}: {rows} are there, of {left} calls")
    files = {file.name for file in (home / "audit-segments").glob("[!.]*")}
    known = {segment["file"] for segment in verified["segments"] if not segment["prunedAt"]}
    if files != known:
        raise SystemExit(f"FAILED: {where}: {files} are there, {known} are known")


WORDS = {"seal": ["seal"], "prune": ["prune", "--before", "2999-01-01"]}
SYSCALLS = ["pwrite64", "write", "fsync", "fdatasync", "ftruncate", "rename", "unlink"]


def same(posted: list[str], notes: pathlib.Path) -> bool:
    """Each sink got its own notes: origin, row and hash agree, the time need not."""
    return [note.split("\n")[:3] for note in posted] == [note.split("\n")[:3] for note in split(notes.read_text())]


def split(text: str) -> list[str]:
    """The notes of a file: a text, an empty line, signatures, an empty line."""
    parts = text.split("\n\n")
    return [f"{body}\n\n{signatures}\n" for body, signatures in zip(parts[::2], parts[1::2])]


def verify(note: str, key: str) -> tuple[int, bytes]:
    """Verifies a note by https://c2sp.org/signed-note and reads its checkpoint."""
    name, key_id, encoded = key.split("+", 2)
    data = base64.b64decode(encoded)
    assert data[0] == 1, "the algorithm is Ed25519"
    assert hashlib.sha256(name.encode() + b"\n" + data).digest()[:4].hex() == key_id
    text, signatures = note.split("\n\n", 1)
    text += "\n"
    dash, signer, blob = signatures.strip().split(" ")
    assert (dash, signer) == ("\u2014", name)
    blob = base64.b64decode(blob)
    assert blob[:4].hex() == key_id
    Ed25519PublicKey.from_public_bytes(data[1:]).verify(blob[4:], text.encode())
    origin, sequence, digest, _time = text.strip().split("\n")
    assert origin == name
    return int(sequence), base64.b64decode(digest)


def is_signed(note: str, key: str) -> bool:
    try:
        verify(note, key)
        return True
    except InvalidSignature:
        return False


def chain(home: pathlib.Path) -> dict[int, bytes]:
    """The hash of every row, from the segments and then from the database."""
    rows = [json.loads(line) for file in sorted((home / "audit-segments").glob("*.jsonl.gz")) for line in gzip.open(file)]
    database = sqlite3.connect(f"file:{home / 'audit.db'}?mode=ro", uri=True)
    database.row_factory = sqlite3.Row
    rows += [dict(row) for row in database.execute("SELECT * FROM audit ORDER BY sequence")]
    hashes, previous = {}, bytes(32)
    for row in rows:
        assert row["format"] == 2 and row["sequence"] == len(hashes) + 1
        text = b"panoply-audit-2\n"
        for field in [row[column] for column in COLUMNS] + [previous]:
            if field is None:
                text += b"-"
                continue
            raw = field if isinstance(field, bytes) else str(field).encode()
            text += b"%d:%b," % (len(raw), raw)
        previous = hashlib.sha256(text).digest()
        stored = row["hash"] if isinstance(row["hash"], bytes) else bytes.fromhex(row["hash"])
        assert stored == previous, f"row {row['sequence']}"
        hashes[row["sequence"]] = previous
    server.expect(len(hashes) > 6, f"Python computed the chain of {len(hashes)} rows")
    return hashes


class Sink(http.server.BaseHTTPRequestHandler):
    """Takes a checkpoint in each request."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        # The first attempt fails: it is to be tried again.
        if not self.server.failed:
            self.server.failed = True
            self.send_response(503)
        else:
            self.server.posted.append(body)
            self.send_response(204)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_) -> None:
        pass


class sink:
    """A server that takes checkpoints."""

    def __enter__(self) -> tuple[str, list[str]]:
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Sink)
        self.server.posted, self.server.failed = [], False
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_port}/", self.server.posted

    def __exit__(self, *_) -> None:
        self.server.shutdown()


if __name__ == "__main__":
    main()
