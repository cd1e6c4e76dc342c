"""The official Python client lets a person approve an agent's drafts, in every way there is.

Over stdio and HTTP with a handshake (`elicitation/create`), and over HTTP in the rounds of
2026-07-28; the person accepts, declines, cancels, or cannot be asked.
"""

import asyncio
import contextlib
import json
import subprocess

import httpx2
import mcp
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult

import server

FRONT = "capital of Thailand?"
CODES = {"decline": "APPROVAL_DECLINED", "cancel": "APPROVAL_CANCELLED", None: "FORBIDDEN"}
MODERN = "2026-07-28"


class Panoply:
    """The command line of the owner, on the same home."""

    def __init__(self, program, environment):
        self.program, self.environment = str(program), environment

    def run(self, *arguments: str) -> str:
        command = [self.program, *arguments]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"FAILED: {command}: {done.stderr}")
        return done.stdout

    def call(self, tool: str, **given) -> dict:
        return json.loads(self.run("call", tool, json.dumps(given), "--json"))["data"]

    def draft(self, deck: str) -> str:
        return self.call("create-card", deckId=deck, front=FRONT, back="Bangkok")["note"]["cardIds"][0]

    def deck(self) -> str:
        self.call("create-deck", name="Thai")
        decks = self.call("list-decks")["decks"]
        return next(one["deckId"] for one in decks if one["name"] == "Thai")

    def state(self, card: str) -> str:
        return self.call("get-card", cardId=card)["schedule"]["state"]


def person(action: str | None, shown: list[str]):
    """Someone who always does the same; nobody at all when the action is None."""
    if action is None:
        return None

    async def answer(_context, params):
        shown.append(params.message)
        return ElicitResult(action=action, content={} if action == "accept" else None)

    return answer


async def approve(name: str, owner: Panoply, deck: str, connect) -> None:
    for action in ("decline", "cancel", None, "accept"):
        card, shown = owner.draft(deck), []
        async with connect(person(action, shown)) as client:
            result = await client.call_tool("approve-drafts", {"cardIds": [card]})
        asked = [FRONT in message and "1 draft card" in message for message in shown]
        server.expect(asked == ([] if action is None else [True]), f"{name}: {action}: the person is shown the card")
        if action == "accept":
            server.expect(not result.is_error, f"{name}: who accepts is obeyed")
            server.expect(owner.state(card) == "new", f"{name}: and the card can be studied")
        else:
            code = result.meta["panoply/error"]["error"]["code"]
            server.expect(code == CODES[action], f"{name}: {action}: the error is {code}")
            server.expect(owner.state(card) == "draft", f"{name}: {action}: and the card is a draft still")


def over_stdio(program, environment):
    parameters = StdioServerParameters(
        command=str(program), args=["stdio", "noema", "--profile", "agent"], env=environment
    )

    def connect(callback):
        return mcp.Client(stdio_client(parameters), mode="legacy", elicitation_callback=callback)

    return connect


def over_http(url: str, key: str, mode: str):
    @contextlib.asynccontextmanager
    async def connect(callback):
        headers = {"Authorization": f"Bearer {key}"}
        async with httpx2.AsyncClient(headers=headers, timeout=30) as http_client:
            transport = streamable_http_client(url, http_client=http_client)
            async with mcp.Client(transport, mode=mode, elicitation_callback=callback) as client:
                yield client

    return connect


def main() -> None:
    given = server.arguments()
    with server.home() as environment:
        owner = Panoply(given.panoply, environment)
        asyncio.run(approve("stdio", owner, owner.deck(), over_stdio(given.panoply, environment)))
    prepared = {}

    def prepare(environment):
        owner = Panoply(given.panoply, environment)
        key = owner.run("keys", "create", "agent", "--profile", "agent").strip()
        prepared.update(owner=owner, key=key, deck=owner.deck())

    with server.http(given.panoply, prepare=prepare) as base:
        owner, key, deck = prepared["owner"], prepared["key"], prepared["deck"]
        for name, mode in (("http", "legacy"), ("http, stateless", MODERN)):
            asyncio.run(approve(name, owner, deck, over_http(f"{base}/mcp", key, mode)))


if __name__ == "__main__":
    main()
