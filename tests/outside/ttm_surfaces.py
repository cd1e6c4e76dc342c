"""MCP, GraphQL and gRPC give the same reads of the ttm contract, and their hashes are right.

The hashes are worked out again here from the spec's words alone: SHA-256 over JSON with sorted
keys. gRPC is spoken by grpcio, with the types that reflection describes; GraphQL by plain HTTP.
"""

import asyncio
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import urllib.error
import urllib.request

import grpc
import mcp
from google.protobuf import json_format, message_factory
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from grpc_status import rpc_status

import server

KG = "ttm.core.v1.KGService"
SEARCH = "ttm.core.v1.SearchService"
RAG = "ttm.core.v1.RagService"
JOBS = "ttm.core.v1.JobService"

# name of the tool, its input, and the GraphQL field and gRPC method that mean the same.
CALLS = [
    (
        "tool.query_kg",
        {"start": {"type": "herb", "id": "H:turmeric"}, "pattern": "herb->constituent->indication", "max_depth": 3},
        ("queryKg", '(start: {type: "herb", id: "H:turmeric"}, pattern: "herb->constituent->indication", maxDepth: 3)'),
        (KG, "QueryPaths"),
    ),
    (
        "tool.query_kg",
        {"start": {"type": "indication", "id": "K30"}, "filters": {"limit": 5, "evidence": "verified"}},
        ("queryKg", '(start: {type: "indication", id: "K30"}, filters: {limit: 5, evidence: "verified"})'),
        (KG, "QueryPaths"),
    ),
    (
        "tool.query_kg",
        {"start": {"type": "herb", "id": "H:ginger"}, "end": {"type": "drug", "id": "warfarin"}, "max_depth": 2},
        ("queryKg", '(start: {type: "herb", id: "H:ginger"}, end: {type: "drug", id: "warfarin"}, maxDepth: 2)'),
        (KG, "QueryPaths"),
    ),
    (
        "tool.find_contraindications",
        {"herb_ids": ["ฟ้าทะลายโจร"], "drugs": ["warfarin"]},
        ("findContraindications", '(herbIds: ["ฟ้าทะลายโจร"], drugs: ["warfarin"])'),
        (KG, "FindContraindications"),
    ),
    (
        "tool.hybrid_search",
        {"query": "ฟ้าทะลายโจร", "lang": "th", "top_k": 10},
        ("hybridSearch", '(query: "ฟ้าทะลายโจร", lang: "th", topK: 10)'),
        (SEARCH, "HybridSearch"),
    ),
    (
        "tool.rag_answer",
        {"question": "สรรพคุณของฟ้าทะลายโจรคืออะไร?", "lang": "th", "retrieval": {"top_k": 5}},
        ("ragAnswer", '(question: "สรรพคุณของฟ้าทะลายโจรคืออะไร?", lang: "th", topK: 5)'),
        (RAG, "Answer"),
    ),
]
DOCUMENTS = [
    ("kg://herb/H:andrographis", ("herb", '(id: "H:andrographis")'), (KG, "GetHerb"), "H:andrographis"),
    ("kg://formulation/F:nlem-01", ("formulation", '(id: "F:nlem-01")'), (KG, "GetFormulation"), "F:nlem-01"),
    ("paper://pmid/31377923", ("paper", '(pmid: "31377923")'), (KG, "GetPaper"), "31377923"),
]
# The hashes that the pack's notes worked out for these inputs.
KNOWN = {
    '{"lang":"th","query":"ฟ้าทะลายโจร","top_k":10}': (
        "c8147818d65b20751f048a3ccfbc8ed6f7be550d908bd2975d2d45eba9196f84",
        14417280355190644853,
    ),
}


def main() -> None:
    given = server.arguments()
    for text, (in_hash, seed) in KNOWN.items():
        server.expect(fingerprint(json.loads(text)) == in_hash, "this program hashes as the contract does")
        server.expect(int(in_hash[:16], 16) == seed, "and takes the seed from it")
    recipe(given.panoply)
    jobs = []
    with server.http(given.panoply, prepare=lambda environment: jobs.append(ingested(given.panoply, environment))) as base:
        asyncio.run(compare(base, jobs[0]))


def recipe(panoply) -> None:
    """The five lines of docs/packs/ttm.md that recompute `out_hash`, as they stand there."""
    text = pathlib.Path(__file__).parents[2].joinpath("docs/packs/ttm.md").read_text()
    code = re.search(r"```python\n(.*?)```", text, re.S).group(1)
    calls = [
        ("hybrid_search", {"query": "ขมิ้นชัน"}),
        ("rag_answer", {"question": "Is ginger safe with warfarin?"}),
        ("find_contraindications", {"herb_ids": ["H:ginger"]}),
    ]
    for tool, arguments in calls:
        with server.home() as environment:
            command = [panoply, "call", tool, json.dumps(arguments), "--json"]
            reply = subprocess.run(command, env=environment, check=True, capture_output=True).stdout
        said = subprocess.run([sys.executable, "-c", code], input=reply, check=True, capture_output=True)
        server.expect(said.stdout.strip() == b"True", f"docs: the recipe recomputes out_hash of {tool}")


def ingested(panoply, environment) -> str:
    """The id of a job that looked at a file."""
    note = pathlib.Path(environment["PANOPLY_HOME"], "note.txt")
    note.write_text("Ginger contains curcumin.\n")
    said = subprocess.run([panoply, "ttm", "ingest", note, "--json"], env=environment, check=True, capture_output=True)
    return json.loads(said.stdout)["job_id"]


async def compare(base: str, job: str) -> None:
    authority = base.removeprefix("http://")
    async with mcp.Client(f"{base}/mcp/ttm") as client:
        with grpc.insecure_channel(authority) as channel:
            surface = Grpc(channel)
            listed = {tool.name for tool in (await client.list_tools()).tools}
            for name, arguments, graphql, method in CALLS:
                if name.removeprefix("tool.") not in listed:
                    server.expect(False, f"{name} is served")
                await same_call(base, client, surface, name, arguments, graphql, method)
            status = (f"ttm-job://{job}", ("ingestJob", f'(id: "{job}")'), (JOBS, "GetJob"), job)
            for uri, graphql, method, identifier in [*DOCUMENTS, status]:
                await same_document(base, client, surface, uri, graphql, method, identifier)
            await same_errors(base, client, surface)
    limits(base)


async def same_call(base, client, surface, name, arguments, graphql, method) -> None:
    result = await client.call_tool(name, arguments)
    server.expect(not result.is_error, f"mcp: {name} answers")
    document = dict(result.structured_content)
    # Added for the model, no part of the output.
    document.pop("hints", None)
    audit = document.pop("audit")
    server.expect(audit["in_hash"] == fingerprint(arguments), f"mcp: {name}: in_hash is that of the input")
    server.expect(audit["seed"] == int(audit["in_hash"][:16], 16), f"mcp: {name}: seed is its first 8 bytes")
    server.expect(audit["out_hash"] == fingerprint(document), f"mcp: {name}: out_hash is that of the output")
    field, given = graphql
    reply = ask(base, f"{{ {field}{given} {{ json audit {{ inHash outHash status }} }} }}")["data"][field]
    server.expect(reply["audit"]["inHash"] == audit["in_hash"], f"graphql: {field}: the same input")
    server.expect(reply["audit"]["outHash"] == audit["out_hash"], f"graphql: {field}: the same output")
    server.expect(fingerprint(reply["json"]) == audit["out_hash"], f"graphql: {field}: and the document is that")
    reply = surface.call(*method, arguments)
    server.expect(reply["audit"]["inHash"] == audit["in_hash"], f"grpc: {method[1]}: the same input")
    server.expect(reply["audit"]["outHash"] == audit["out_hash"], f"grpc: {method[1]}: the same output")
    server.expect(fingerprint(reply["document"]) == audit["out_hash"], f"grpc: {method[1]}: and the document is that")


async def same_document(base, client, surface, uri, graphql, method, identifier) -> None:
    contents = (await client.read_resource(uri)).contents[0]
    document = json.loads(contents.text)
    audit = contents.meta["panoply/audit"]
    server.expect(audit["in_hash"] == fingerprint({"uri": uri}), f"mcp: {uri}: in_hash is that of the address")
    server.expect(audit["out_hash"] == fingerprint(document), f"mcp: {uri}: out_hash is that of the document")
    field, given = graphql
    reply = ask(base, f"{{ {field}{given} {{ json audit {{ outHash }} }} }}")["data"][field]
    server.expect(reply["audit"]["outHash"] == audit["out_hash"], f"graphql: {field}: the same document")
    reply = surface.call(*method, {"id": identifier})
    server.expect(reply["audit"]["outHash"] == audit["out_hash"], f"grpc: {method[1]}: the same document")


async def same_errors(base, client, surface) -> None:
    arguments = {"herb_ids": ["H:turmric"]}
    result = await client.call_tool("find_contraindications", arguments)
    told = json.loads(result.content[0].text)["error"]
    server.expect(told["code"] == "INVALID_ARG" and "H:turmeric" in told["message"], "mcp: an unknown id is named with the nearest")
    error = ask(base, '{ findContraindications(herbIds: ["H:turmric"]) { json } }')["errors"][0]
    server.expect(error["extensions"]["code"] == told["code"] and error["message"] == told["message"], "graphql: the same error")
    try:
        surface.call(KG, "FindContraindications", arguments)
        server.expect(False, "grpc: an unknown id is refused")
    except grpc.RpcError as refused:
        server.expect(refused.code() == grpc.StatusCode.INVALID_ARGUMENT, "grpc: INVALID_ARGUMENT")
        server.expect(told["message"] in refused.details(), "grpc: the same error")
        status = rpc_status.from_call(refused)
        server.expect(status is not None, "grpc: the trailer is a google.rpc.Status")
        server.expect(status.code == 3 and told["message"] in status.message, "grpc: with code and message")


def limits(base: str) -> None:
    deep = "{ __schema { types { fields { type " + "{ ofType " * 30 + "{ name }" + " }" * 30 + " } } } }"
    server.expect("errors" in ask(base, deep), "graphql: a query that is too deep is refused")
    many = "{ " + " ".join(f'h{n}: herb(id: "H:ginger") {{ id }}' for n in range(20)) + " }"
    server.expect("errors" in ask(base, many), "graphql: a query that asks for too much is refused")
    server.expect(ask(base, "#" * 100_000, expect=413) is None, "graphql: a body that is too large is refused")


def ask(base: str, query: str, expect: int = 200):
    body = json.dumps({"query": query}).encode()
    request = urllib.request.Request(f"{base}/graphql", body, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request) as reply:
            return json.load(reply)
    except urllib.error.HTTPError as error:
        server.expect(error.code == expect, f"graphql: status {expect}")
        return None


class Grpc:
    """Calls by what reflection tells: no generated code."""

    def __init__(self, channel) -> None:
        self.channel = channel
        self.pool = DescriptorPool()
        known = set()
        for service in (KG, SEARCH, RAG, JOBS, "grpc.health.v1.Health"):
            for file in self.described(service):
                if file.name not in known:
                    known.add(file.name)
                    self.pool.Add(file)
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        listing = reflection_pb2.ServerReflectionRequest(list_services="")
        reply = next(iter(stub.ServerReflectionInfo(iter([listing]))))
        services = {service.name for service in reply.list_services_response.service}
        server.expect({KG, SEARCH, RAG, JOBS} <= services, "grpc: the v1alpha client of grpcio lists the services")
        health = self.call("grpc.health.v1.Health", "Check", {})
        server.expect(health["status"] == "SERVING", "grpc: health says SERVING, by types from reflection")

    def described(self, symbol: str):
        from google.protobuf import descriptor_pb2

        request = reflection_pb2.ServerReflectionRequest(file_containing_symbol=symbol)
        # The messages of v1 and v1alpha are the same; only the name of the service differs.
        talk = self.channel.stream_stream(
            "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
            request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
            response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
        )
        reply = next(iter(talk(iter([request]))))
        files = [descriptor_pb2.FileDescriptorProto.FromString(raw) for raw in reply.file_descriptor_response.file_descriptor_proto]
        needed = {name for file in files for name in file.dependency} - {file.name for file in files}
        for name in needed:
            request = reflection_pb2.ServerReflectionRequest(file_by_filename=name)
            reply = next(iter(talk(iter([request]))))
            files = [descriptor_pb2.FileDescriptorProto.FromString(raw) for raw in reply.file_descriptor_response.file_descriptor_proto] + files
        return files

    def call(self, service: str, method: str, arguments: dict) -> dict:
        described = self.pool.FindServiceByName(service).FindMethodByName(method)
        asked = message_factory.GetMessageClass(described.input_type)
        answered = message_factory.GetMessageClass(described.output_type)
        unary = self.channel.unary_unary(
            f"/{service}/{method}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=answered.FromString,
        )
        return json_format.MessageToDict(unary(json_format.ParseDict(arguments, asked())))


def fingerprint(value) -> str:
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def canonical(value) -> str:
    """RFC 8785 for the values that occur: a float that is whole is written as an integer."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, dict):
        members = sorted(value.items(), key=lambda member: member[0].encode("utf-16-be"))
        return "{" + ",".join(f"{canonical(key)}:{canonical(one)}" for key, one in members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(canonical(one) for one in value) + "]"
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    main()
