"""A session with the program over stdio, at the level of JSON-RPC, and a count of tokens."""

import contextlib
import json
import os
import pathlib
import subprocess
import tempfile

VERSION = "2025-11-25"


class Session:
    """A server over stdio, as the client `client`; one request at a time."""

    def __init__(self, program, home, *arguments: str, client: str = "claude-code"):
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "PANOPLY_HOME": str(home)}
        self.process = subprocess.Popen(
            [str(program), "stdio", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        self.last_id = 0
        info = {"name": client, "version": "1"}
        handshake = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": info}
        self.instructions = self.request("initialize", handshake)["result"].get("instructions", "")
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message: dict) -> None:
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def request(self, method: str, params: dict) -> dict:
        self.last_id += 1
        self.send({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params})
        while line := self.process.stdout.readline():
            reply = json.loads(line)
            if reply.get("id") == self.last_id:
                return reply
        raise SystemExit(f"FAILED: the server ended during {method} {json.dumps(params)[:300]}")

    def tools(self) -> dict:
        return {tool["name"]: tool for tool in self.request("tools/list", {})["result"]["tools"]}

    def call(self, tool: str, arguments: dict) -> "Reply":
        # A loaded machine is no fault of the server.
        for _ in range(6):
            reply = Reply(self.request("tools/call", {"name": tool, "arguments": arguments}))
            if reply.error not in ("TIMEOUT", "QUERY_TIMEOUT"):
                break
        return reply

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(timeout=60)


class Reply:
    """What came back of a call: a result, an error in a result, or an error of the protocol."""

    def __init__(self, message: dict):
        self.message = message
        self.result = message.get("result", {})
        self.meta = self.result.get("_meta", {})
        self.structured = self.result.get("structuredContent") or {}

    @property
    def error(self) -> str | None:
        """The code of the error, if it is one."""
        if "error" in self.message:
            return self.message["error"].get("data", {}).get("code", "?")
        if self.result.get("isError"):
            return self.meta.get("panoply/error", {}).get("error", {}).get("code", "?")
        return None

    @property
    def data(self):
        """The data of the tool, wherever its pack puts them."""
        unified = "agentHints" in self.structured and "metadata" in self.structured
        return self.structured["data"] if unified else self.structured

    @property
    def hints(self) -> dict:
        failed = self.meta.get("panoply/error", {})
        refused = self.message.get("error", {}).get("data", {})
        places = (self.meta.get("panoply/agentHints"), self.structured.get("agentHints"))
        return next((p for p in (*places, failed.get("agentHints"), refused.get("agentHints")) if p), {})

    @property
    def seen(self) -> str:
        """What a host gives its model: the structured content, else the text, or the message."""
        if "error" in self.message:
            return self.message["error"]["message"]
        if self.structured:
            return json.dumps(self.structured, ensure_ascii=False, separators=(",", ":"))
        return "\n".join(part.get("text", "") for part in self.result["content"])


@contextlib.contextmanager
def session(program, *arguments: str, home=None, client: str = "claude-code"):
    """A session in a home of its own, or in the one given."""
    with tempfile.TemporaryDirectory(prefix="panoply-outside-") as folder:
        opened = Session(program, home or folder, *arguments, client=client)
        try:
            yield opened
        finally:
            opened.close()


def tokens(node: pathlib.Path, texts: list[str]) -> list[int]:
    """The number of o200k_base tokens of each text, by gpt-tokenizer, which brings its vocabulary."""
    program = 'import{encode}from"gpt-tokenizer/encoding/o200k_base";let s="";for await(const c of process.stdin)s+=c;console.log(JSON.stringify(JSON.parse(s).map(t=>encode(t).length)))'
    command = [str(node / "node_modules/.bin/node"), "--input-type=module", "-e", program]
    done = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, cwd=node)
    if done.returncode != 0:
        raise SystemExit(f"FAILED: the tokenizer: {done.stderr}")
    return json.loads(done.stdout)
