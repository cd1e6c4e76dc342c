"""The list of tools is small enough for every session, complete, and takes every client's limits."""

import json

import rpc
import server

MAX_TOKENS = 11_000
MAX_BYTES = 110_000
# OpenAI's API refuses a request with a longer description of a function.
MAX_DESCRIPTION = 1_024
# What the contracts of the packs name, and what people do most.
CORE = """
    get_rmf_funds search_rmf_funds get_rmf_fund_detail get_rmf_fund_performance
    get_rmf_fund_nav_history compare_rmf_funds check_rmf_holding
    parse_transactions convert_to_dsl calculate_report explain_matching get_fx_rate import_transactions
    get_events_by_type get_events_by_entity get_state_snapshot aggregate_metrics
    query_event_sequence get_validation_errors get_context
    query_kg hybrid_search rag_answer find_contraindications ingest_run eval_run
    create-card create-deck approve-drafts get-next-card reveal-answer submit-review forecast-reviews
    search-tools describe-tool call-tool
""".split()


def main() -> None:
    given = server.arguments()
    with rpc.session(given.panoply) as session:
        listed = session.request("tools/list", {})["result"]
        tools = {tool["name"]: tool for tool in listed["tools"]}
        server.expect(not set(CORE) - set(tools), f"the core list has every tool of the contracts {set(CORE) - set(tools)}")
        longest = max(tools.values(), key=lambda tool: len(tool["description"]))
        server.expect(len(longest["description"]) <= MAX_DESCRIPTION, f"no description is longer than {MAX_DESCRIPTION} characters: {longest['name']} has {len(longest['description'])}")
        size = len(json.dumps(listed, ensure_ascii=False, separators=(",", ":")).encode())
        server.expect(size <= MAX_BYTES, f"the list has {size} bytes, at most {MAX_BYTES}")
        shown = [
            json.dumps({"name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"]}, ensure_ascii=False, separators=(",", ":"))
            for tool in tools.values()
        ]
        count = sum(rpc.tokens(given.node, shown))
        server.expect(count <= MAX_TOKENS, f"{len(tools)} tools cost {count} tokens of o200k_base, at most {MAX_TOKENS}")
        named = [name for tool in tools.values() for name in also(tool["inputSchema"])]
        complete = {name for tool in tools for name in session.call("describe-tool", {"name": tool}).data["inputSchema"]["properties"]}
        server.expect(set(named) <= complete, f"describe-tool has the {len(named)} arguments that the list only names")


def also(schema: dict) -> list[str]:
    """The arguments that the list names without their schemas."""
    text = schema.get("description", "")
    return text.removeprefix("Also ").split(":")[0].split(", ") if text.startswith("Also ") else []


main()
