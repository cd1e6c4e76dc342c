"""The official Python client lists and calls a tool over stdio and HTTP, in both eras."""

import asyncio
import hashlib
import json

import mcp
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

import server

TOOL = "search-tools"
ARGUMENTS = {"query": "metrics"}


def main() -> None:
    given = server.arguments()
    with server.home() as environment:
        parameters = StdioServerParameters(command=str(given.panoply), args=["stdio"], env=environment)
        asyncio.run(over_stdio(parameters))
    with server.http(given.panoply) as base:
        asyncio.run(over_http(f"{base}/mcp"))


async def over_stdio(parameters: StdioServerParameters) -> None:
    async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
        hello = await session.initialize()
        server.expect(bool(hello.server_info.name), f"stdio: initialized, {hello.protocol_version}")
        await exercise("stdio", session)


async def over_http(url: str) -> None:
    async with mcp.Client(url) as client:
        await exercise("http", client)


async def exercise(transport: str, client) -> None:
    tools = (await client.list_tools()).tools
    found = [tool for tool in tools if tool.name == TOOL]
    server.expect(len(found) == 1, f"{transport}: {TOOL} is among the {len(tools)} tools listed")
    server.expect(found[0].output_schema is not None, f"{transport}: it publishes an output schema")
    result = await client.call_tool(TOOL, ARGUMENTS)
    server.expect(not result.is_error, f"{transport}: the call succeeded")
    server.expect(result.structured_content is not None, f"{transport}: the reply is structured")
    server.expect(bool(result.content[0].text), f"{transport}: the reply has a text for people")
    audited(transport, ARGUMENTS, result)
    wrong = await client.call_tool(TOOL, {"limit": "many"})
    server.expect(wrong.is_error, f"{transport}: wrong arguments are an error the model can read")
    server.expect("limit" in wrong.content[0].text, f"{transport}: and the error names them")


def audited(transport: str, arguments: dict, result) -> None:
    """Recomputes the audit with a program that shares no code with ours."""
    audit = result.meta["panoply/audit"]
    in_hash = fingerprint(arguments)
    server.expect(audit["in_hash"] == in_hash, f"{transport}: in_hash is that of the input")
    server.expect(audit["seed"] == int(in_hash[:16], 16), f"{transport}: seed is its first 8 bytes")
    out_hash = fingerprint(result.structured_content["data"])
    server.expect(audit["out_hash"] == out_hash, f"{transport}: out_hash is that of the output")
    server.expect(audit["latency_ms"] >= 0 and audit["status"] == "ok", f"{transport}: latency and status")


def fingerprint(value) -> str:
    """SHA-256 of the canonical JSON (RFC 8785)."""
    text = json.dumps(whole(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def whole(value):
    """RFC 8785 writes 1.0 as 1."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: whole(member) for key, member in value.items()}
    if isinstance(value, list):
        return [whole(member) for member in value]
    return value


if __name__ == "__main__":
    main()
