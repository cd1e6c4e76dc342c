"""Good clients are answered while others hold connections and send nothing.

Idle HTTP/2 connections, and bodies that never arrive on every route, from this machine, without
keys. Meanwhile a good client calls a tool and asks for health, on new connections each time.
Short by default; `--long` is the whole attack: 2,048 idle connections and 300 slow bodies a route.
"""

import http.client
import json
import resource
import socket
import sys
import threading
import time

import server

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\x04\0\0\0\0\0"
SETTINGS_ACK = b"\0\0\0\x04\x01\0\0\0\0"
RUN = "/backtest/runs/6f9619ff-8b86-d011-b42d-00c04fc964ff"
ROUTES = [
    ("POST", "/mcp", "application/json"),
    ("POST", "/mcp/rmf", "application/json"),
    ("POST", "/graphql", "application/json"),
    ("POST", "/ttm.core.v1.KGService/GetHerb", "application/grpc"),
    ("PUT", RUN, "application/json"),
    ("POST", "/", "application/json"),
]
CALL = {
    "jsonrpc": "2.0", "id": 1, "method": "tools/call",
    "params": {"name": "search-tools", "arguments": {"query": "herb"}},
}


class Attack(threading.Thread):
    """Keeps so many idle and slow connections open, and makes new ones for those that are closed."""

    def __init__(self, port: int, idle: int, slow: int):
        super().__init__(daemon=True)
        self.port, self.idle, self.slow = port, idle, slow
        self.stopped = threading.Event()
        self.opened = 0

    def connect(self, hello: bytes) -> socket.socket | None:
        try:
            made = socket.create_connection(("127.0.0.1", self.port), timeout=2)
            made.sendall(hello)
            made.setblocking(False)
            self.opened += 1
            return made
        except OSError:
            return None

    def run(self):
        hellos = [PREFACE + SETTINGS_ACK] * self.idle
        for method, path, kind in ROUTES:
            head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: 999\r\n\r\n{{"
            hellos += [head.encode()] * self.slow
        held: list[socket.socket | None] = [None] * len(hellos)
        while not self.stopped.is_set():
            for at, hello in enumerate(hellos):
                if self.stopped.is_set():
                    break
                if held[at] is None:
                    held[at] = self.connect(hello)
                    continue
                try:
                    # Answers to pings are part of the attack: a silent connection is closed anyway.
                    said = held[at].recv(4096)
                    if not said:
                        held[at].close()
                        held[at] = None
                    elif b"\0\0\x08\x06\0" in said:
                        frame = said[said.index(b"\0\0\x08\x06\0"):][:17]
                        held[at].send(frame[:4] + b"\x01" + frame[5:])
                except BlockingIOError:
                    pass
                except OSError:
                    held[at].close()
                    held[at] = None
            time.sleep(0.2)
        for one in held:
            if one is not None:
                one.close()


def good_client(port: int, count: int) -> tuple[list[float], list[str]]:
    """Milliseconds of `count` requests on connections of their own, and what went wrong."""
    times, wrong = [], []
    for number in range(count):
        started = time.monotonic()
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            if number % 5 == 4:
                connection.request("GET", "/healthz")
            else:
                headers = {"Content-Type": "application/json", "Accept": "application/json"}
                connection.request("POST", "/mcp", json.dumps(CALL), headers)
            reply = connection.getresponse()
            body = reply.read()
            if reply.status != 200:
                wrong.append(f"{reply.status} {body[:100]!r}")
            connection.close()
        except OSError as error:
            wrong.append(repr(error))
        times.append((time.monotonic() - started) * 1000)
        time.sleep(0.005)
    return sorted(times), wrong


def main() -> None:
    given = server.arguments()
    idle, slow, count = (2048, 300, 2000) if given.long else (256, 30, 400)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    settings = "" if given.long else "[http.limits]\nconnections = 256\n"

    def prepare(environment):
        with open(f"{environment['PANOPLY_HOME']}/config.toml", "w") as file:
            file.write(settings)

    with server.http(given.panoply, prepare=prepare) as base:
        port = int(base.rsplit(":", 1)[1])
        before, wrong = good_client(port, count)
        server.expect(not wrong, f"{count} requests are answered before the attack {wrong[:3]}")
        attack = Attack(port, idle, slow)
        attack.start()
        time.sleep(5 if given.long else 2)
        during, wrong = good_client(port, count)
        attack.stopped.set()
        attack.join()
        p99 = [times[int(len(times) * 0.99) - 1] for times in (before, during)]
        print(f"{attack.opened} connections were opened; p50 {before[count // 2]:.1f} -> {during[count // 2]:.1f} ms, "
              f"p99 {p99[0]:.1f} -> {p99[1]:.1f} ms, worst {before[-1]:.0f} -> {during[-1]:.0f} ms")
        server.expect(not wrong, f"{count} requests are answered during it {wrong[:3]}")
        # The attacker is Python on the same two cores, so there is room for its own work.
        server.expect(p99[1] <= 2 * p99[0] + 50, f"p99 stays within twice that of before and 50 ms")


if __name__ == "__main__":
    sys.exit(main())
