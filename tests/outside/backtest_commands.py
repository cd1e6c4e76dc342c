"""`panoply backtest list` shows the bundled run, and `verify` finds one flipped bit on disk."""

import contextlib
import json
import pathlib
import sqlite3
import subprocess
import tempfile

import server

SAMPLE = "d91a7ddb-8986-54b3-8bd4-42d1dab9869e"


def main() -> None:
    given = server.arguments()
    with server.home() as environment, tempfile.TemporaryDirectory() as name:
        run = lambda *words: subprocess.run([given.panoply, "backtest", *words], env=environment, capture_output=True, text=True)
        listed = json.loads(run("list", "--json").stdout)
        described = json.loads(subprocess.run([given.panoply, "call", "describe_run", json.dumps({"runId": SAMPLE}), "--json"], env=environment, capture_output=True, text=True).stdout)
        sample = next((own for own in listed if own["runId"] == SAMPLE), {})
        lines = run("export", SAMPLE).stdout.splitlines()
        times = sorted(json.loads(line)["timestamp"] for line in lines)
        server.expect(sample.get("events") == len(lines) and len(lines) > 5000, f"the bundled run is listed with its {len(lines)} events")
        plain = lambda text: text.replace(".000Z", "Z")
        ends = plain(sample["endTime"]), plain(described["last"]), plain(times[-1])
        server.expect(len(set(ends)) == 1, f"list, describe_run and the lines agree on its end {ends}")
        server.expect(SAMPLE in run("list").stdout, "and the table shows it")
        file = pathlib.Path(name) / "copy.jsonl"
        own = "11111111-1111-4111-8111-111111111111"
        file.write_text("\n".join(lines).replace(SAMPLE, own) + "\n")
        server.expect(run("import", str(file)).returncode == 0, "a copy is imported")
        whole = run("verify")
        server.expect(whole.returncode == 0 and f"run {own}" in whole.stdout and "intact" in whole.stdout, f"verify: {whole.stdout.strip()}")
        damage(pathlib.Path(environment["PANOPLY_HOME"]), own)
        found = run("verify", own)
        server.expect(found.returncode != 0 and "is damaged" in found.stdout, f"one flipped bit: status {found.returncode}, {found.stdout.strip()} {found.stderr.strip()[:120]}")
        unknown = run("verify", "22222222-2222-4222-8222-222222222222")
        server.expect(unknown.returncode == 2, "an unknown run is an error of the caller")


def damage(home: pathlib.Path, run: str) -> None:
    """Flips a bit in the middle of the run's largest blob."""
    file = next(path for path in home.rglob("*") if path.is_file() and run.replace("-", "") in path.name.replace("-", "") and path.read_bytes()[:6] == b"SQLite")
    with contextlib.closing(sqlite3.connect(file)) as database:
        key, value = database.execute("SELECT key, value FROM blob ORDER BY length(value) DESC LIMIT 1").fetchone()
        changed = bytearray(value)
        changed[len(changed) // 2] ^= 4
        database.execute("UPDATE blob SET value = ? WHERE key = ?", (bytes(changed), key))
        database.commit()


if __name__ == "__main__":
    main()
