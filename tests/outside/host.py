"""Runs the flows in one host: a framework that gives a model the tools of an MCP server.

Started by hosts.py in a network namespace with loopback only, an empty environment and a fresh
HOME, with the Python of the hosts' own environment.
"""

import asyncio
import json
import pathlib
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import host_flows


def command(program: str, home: str) -> dict:
    return {"command": program, "args": ["stdio"], "env": {"PANOPLY_HOME": home, "HOME": home}}


async def langchain(program: str, home: str, script: host_flows.Script) -> None:
    from langchain.agents import create_agent
    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import AIMessage, ToolMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_mcp_adapters.client import MultiServerMCPClient

    class Model(BaseChatModel):
        @property
        def _llm_type(self) -> str:
            return "script"

        def bind_tools(self, tools, **_options):
            return self

        def _generate(self, messages, *_arguments, **_options):
            last = messages[-1]
            step = script.answer(last.content if isinstance(last, ToolMessage) else None)
            calls = [{"name": step[0], "args": step[1], "id": f"c{script.calls}"}] if step else []
            return ChatResult(generations=[ChatGeneration(message=AIMessage(content="" if step else "done", tool_calls=calls))])

    client = MultiServerMCPClient({"panoply": {"transport": "stdio", **command(program, home)}})
    async with client.session("panoply") as session:
        from langchain_mcp_adapters.tools import load_mcp_tools

        agent = create_agent(Model(), await load_mcp_tools(session))
        await agent.ainvoke({"messages": [("user", "go")]}, {"recursion_limit": 400})


async def openai_agents(program: str, home: str, script: host_flows.Script) -> None:
    from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
    from agents.mcp import MCPServerStdio
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    set_tracing_disabled(True)

    class Scripted(Model):
        async def get_response(self, system_instructions, input, *_arguments, **_options):
            last = input[-1] if isinstance(input, list) else {}
            step = script.answer(last["output"] if last.get("type") == "function_call_output" else None)
            if step:
                item = ResponseFunctionToolCall(type="function_call", call_id=f"c{script.calls}", name=step[0], arguments=json.dumps(step[1]))
            else:
                text = ResponseOutputText(type="output_text", text="done", annotations=[])
                item = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
            return ModelResponse(output=[item], usage=Usage(), response_id=None)

        def stream_response(self, *_arguments, **_options):
            raise NotImplementedError

    async with MCPServerStdio(params=command(program, home), client_session_timeout_seconds=120) as mcp_server:
        agent = Agent(name="a", model=Scripted(), mcp_servers=[mcp_server])
        await Runner.run(agent, "go", max_turns=400)


async def pydantic_ai(program: str, home: str, script: host_flows.Script) -> None:
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, RetryPromptPart, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import FunctionModel
    from pydantic_ai.usage import UsageLimits

    def model(messages, _info):
        last = messages[-1].parts[-1]
        seen = None
        if isinstance(last, ToolReturnPart):
            seen = last.model_response_str()
        elif isinstance(last, RetryPromptPart):
            seen = last.model_response()
        step = script.answer(seen)
        return ModelResponse(parts=[ToolCallPart(step[0], step[1]) if step else TextPart("done")])

    agent = Agent(FunctionModel(model), toolsets=[pydantic_toolset(program, home)], retries=100)
    async with agent:
        await agent.run("go", usage_limits=UsageLimits(request_limit=400))


def pydantic_toolset(program: str, home: str):
    from fastmcp.client import Client
    from fastmcp.client.transports import StdioTransport
    from pydantic_ai.mcp import MCPToolset

    # An error of a tool is given back to the model, which may try again.
    return MCPToolset(Client(StdioTransport(**command(program, home))), max_retries=100)


async def google_genai(program: str, home: str, script: host_flows.Script) -> None:
    from google import genai
    from google.genai import types
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    with gemini(script) as address:
        client = genai.Client(api_key="none", http_options=types.HttpOptions(base_url=address))
        async with stdio_client(StdioServerParameters(**command(program, home))) as streams:
            async with ClientSession(*streams) as session:
                await session.initialize()
                # Not a GenerateContentConfig: the library copies that, which a session does not survive.
                config = {"tools": [session], "automatic_function_calling": {"maximum_remote_calls": 400}}
                await client.aio.models.generate_content(model="gemini-2.5-flash", contents="go", config=config)


class gemini:
    """A server that speaks the wire of the Gemini API and answers with the calls of a script."""

    def __init__(self, script: host_flows.Script):
        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_arguments):
                pass

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                responses = [part["functionResponse"] for content in body["contents"] for part in content["parts"] if "functionResponse" in part]
                try:
                    step = script.answer(json.dumps(responses[-1]["response"], ensure_ascii=False) if responses else None)
                    part = {"functionCall": {"name": step[0], "args": step[1]}} if step else {"text": "done"}
                except AssertionError as error:
                    print(error)
                    part = {"text": "stuck"}
                reply = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]}
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps(reply).encode())

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def __enter__(self) -> str:
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def __exit__(self, *_error):
        self.server.shutdown()


HOSTS = {"langchain": langchain, "openai-agents": openai_agents, "pydantic-ai": pydantic_ai, "google-genai": google_genai}


def main() -> None:
    host, program, unlisted = sys.argv[1], str(pathlib.Path(sys.argv[2]).resolve()), json.loads(sys.argv[3])
    flows = {**{name: make for name, make in host_flows.FLOWS.items()}, "reach": lambda: host_flows.reach(unlisted)}
    for name, make in flows.items():
        script = host_flows.Script(make())
        with tempfile.TemporaryDirectory(prefix="panoply-host-") as home:
            asyncio.run(HOSTS[host](program, home, script))
        if not script.done:
            raise SystemExit(f"FAILED: {host}: {name} stopped after {script.calls} calls")
        print(f"ok: {host}: {name} in {script.calls} calls")


main()
