"""The program under judgement: started on a free port, stopped by a signal, its end checked."""

import argparse
import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request


def arguments() -> argparse.Namespace:
    """What ./test passes to each judge."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--panoply", type=pathlib.Path, default="target/debug/panoply")
    parser.add_argument("--node", type=pathlib.Path, default="target/tools/node")
    parser.add_argument("--long", action="store_true", help="also what takes minutes")
    given = parser.parse_args()
    given.panoply = given.panoply.resolve()
    given.node = given.node.resolve()
    return given


@contextlib.contextmanager
def home():
    """An environment in which the program keeps its files in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="panoply-outside-") as folder:
        yield {**os.environ, "PANOPLY_HOME": folder}


@contextlib.contextmanager
def http(panoply: pathlib.Path, *packs: str, prepare=lambda environment: None):
    """A server over HTTP; gives its URL up to the slash before `mcp`."""
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    with home() as environment, tempfile.TemporaryFile("w+") as log:
        prepare(environment)
        command = [str(panoply), "http", *packs, "--listen", f"127.0.0.1:{port}"]
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=environment
        )
        try:
            wait_until_ready(base, process)
            yield base
            process.send_signal(signal.SIGTERM)
            status = process.wait(timeout=30)
            if status != 0:
                raise SystemExit(f"the server ended with status {status} after SIGTERM")
        except BaseException:
            log.seek(0)
            print("the server said:", log.read()[-4000:], sep="\n")
            raise
        finally:
            process.kill()
            process.wait()


def wait_until_ready(base: str, process: subprocess.Popen) -> None:
    """Asks /readyz until it says yes."""
    for _ in range(300):
        if process.poll() is not None:
            raise SystemExit(f"the server ended with status {process.returncode} before it was ready")
        with contextlib.suppress(urllib.error.URLError, ConnectionError, TimeoutError):
            with urllib.request.urlopen(f"{base}/readyz", timeout=5) as reply:
                if reply.status == 200:
                    return
        time.sleep(0.1)
    raise SystemExit("the server was not ready within 30 seconds")


def free_port() -> int:
    """A port that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def expect(condition: bool, what: str) -> None:
    """Ends the run with what was expected."""
    if not condition:
        raise SystemExit(f"FAILED: {what}")
    print(f"ok: {what}")
