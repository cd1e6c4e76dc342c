"""No request is refused while servers behind haproxy are replaced one after the other.

Two servers with `--lame-duck`, a real haproxy that asks /readyz, and clients that never pause.
Each server gets SIGTERM, ends by itself and is started again on its port, twice.
"""

import http.client
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import server

REQUESTS = 10_000
CLIENTS = 8
LAME_DUCK = 3
CALL = json.dumps({
    "jsonrpc": "2.0", "id": 1, "method": "tools/call",
    "params": {"name": "search-tools", "arguments": {"query": "herb"}},
})

CONFIGURATION = """
global
    maxconn 1000
defaults
    mode http
    timeout connect 2s
    timeout client 30s
    timeout server 90s
    retries 0
frontend in
    bind 127.0.0.1:{port}
    default_backend panoply
backend panoply
    balance roundrobin
    option httpchk GET /readyz
    server a 127.0.0.1:{a} check inter 250ms fall 2 rise 1
    server b 127.0.0.1:{b} check inter 250ms fall 2 rise 1
"""


def start(panoply: pathlib.Path, port: int, environment: dict) -> subprocess.Popen:
    command = [str(panoply), "http", "rmf", "--listen", f"127.0.0.1:{port}", "--lame-duck", str(LAME_DUCK)]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, env=environment)
    server.wait_until_ready(f"http://127.0.0.1:{port}", process)
    return process


class Clients:
    """Send requests until there were enough and all servers were replaced."""

    def __init__(self, port: int):
        self.port, self.done = port, 0
        self.wrong: list[str] = []
        self.lock = threading.Lock()
        self.replaced = threading.Event()

    def enough(self) -> bool:
        return self.done >= REQUESTS and self.replaced.is_set()

    def run(self) -> None:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        while not self.enough():
            problem = None
            try:
                connection.request("POST", "/mcp", CALL, headers)
                reply = connection.getresponse()
                body = reply.read()
                # A tool's own rate limit is an answer too; what counts is that somebody answered.
                if reply.status != 200 or b'"result"' not in body:
                    problem = f"{reply.status} {body[:120]!r}"
            except (OSError, http.client.HTTPException) as error:
                problem = repr(error)
                connection.close()
            with self.lock:
                self.done += 1
                if problem:
                    self.wrong.append(problem)


def main() -> None:
    given = server.arguments()
    haproxy = shutil.which("haproxy") or "/usr/sbin/haproxy"
    port, a, b = (server.free_port() for _ in range(3))
    with server.home() as environment, tempfile.TemporaryDirectory() as folder:
        servers = {name: start(given.panoply, at, environment) for name, at in (("a", a), ("b", b))}
        ports = {"a": a, "b": b}
        configuration = pathlib.Path(folder, "haproxy.cfg")
        configuration.write_text(CONFIGURATION.format(port=port, a=a, b=b))
        balancer = subprocess.Popen([haproxy, "-db", "-f", str(configuration)],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            server.wait_until_ready(f"http://127.0.0.1:{port}", balancer)
            time.sleep(1)
            clients = Clients(port)
            threads = [threading.Thread(target=clients.run, daemon=True) for _ in range(CLIENTS)]
            for thread in threads:
                thread.start()
            statuses = []
            for name in ("a", "b", "a", "b"):
                servers[name].send_signal(signal.SIGTERM)
                statuses.append(servers[name].wait(timeout=60))
                servers[name] = start(given.panoply, ports[name], environment)
                # Until the balancer has seen it again.
                time.sleep(1)
            clients.replaced.set()
            for thread in threads:
                thread.join(timeout=120)
            print(f"{clients.done} requests, {len(clients.wrong)} went wrong: {clients.wrong[:5]}")
            server.expect(statuses == [0, 0, 0, 0], f"all four servers ended with status 0: {statuses}")
            server.expect(clients.done >= REQUESTS, f"at least {REQUESTS} requests were sent")
            server.expect(not clients.wrong, "none of them was refused")
        finally:
            balancer.kill()
            balancer.wait()
            for process in servers.values():
                process.kill()
                process.wait()


if __name__ == "__main__":
    sys.exit(main())
