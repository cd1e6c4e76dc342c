"""One whole task per pack, as the calls of a model that knows only what its host shows it.

A flow is a generator: it yields calls and is sent what the model sees of each result. Ids and
tokens of later calls come from there, so a flow fails in a host that does not show them.
"""

import json
import re

FLOWS = {}
# A handle such as e20; the group e020 of a UUID is none.
EVENT_HANDLE = r"(?<![\w-])e\d+(?![\w-])"


def flow(function):
    FLOWS[function.__name__] = function
    return function


def find(pattern: str, seen: str) -> str:
    """The first match in what the model sees."""
    match = re.search(pattern, seen)
    if not match:
        raise AssertionError(f"the model does not see /{pattern}/ in: {seen[:400]}")
    return match[0]


def text_of(content) -> str:
    """The text of a tool message, given as text or as blocks, with nested JSON unescaped."""
    if isinstance(content, list):
        content = "\n".join(block.get("text", "") if isinstance(block, dict) else str(block) for block in content)
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    while '\\"' in text or "\\n" in text:
        text = text.replace("\\\\", "\\").replace('\\"', '"').replace("\\n", "\n")
    return text


@flow
def noema():
    seen = yield "create-deck", {"name": "Capitals"}
    deck = find(r"deck_\d+", seen)
    seen = yield "create-card", {"deckId": deck, "front": "Capital of Thailand?", "back": "Bangkok"}
    card = find(r"card_\d+", seen)
    seen = yield "get-card", {"cardId": card}
    find("Bangkok", seen)
    seen = yield "approve-drafts", {"cardIds": [card]}
    seen = yield "get-next-card", {"deckId": deck}
    seen = yield "reveal-answer", {"token": find(r"front\.[0-9a-f.]+", seen)}
    find("Bangkok", seen)
    seen = yield "submit-review", {"token": find(r"back\.[0-9a-f.]+", seen), "rating": "good"}
    find(card, seen)
    seen = yield "get-card", {"cardId": "card_1"}
    find("CARD_NOT_FOUND|does not exist|no card", seen)
    seen = yield "call-tool", {"name": "list-leeches", "arguments": {}}
    find("leech", seen)


@flow
def cgt():
    seen = yield "calculate_report", {"cgt_content": "2024-05-01 BOUGHT VOD 10 @ 1"}
    find("line 1", seen), find("BUY", seen)
    export = "B 08/09/2010 BARC 5000 4.1565 9.95 104\nS 10/10/2023 BARC 5000 5.1565 9.95 0"
    seen = yield "import_transactions", {"files": [{"name": "trades.txt", "content": export}]}
    lines = re.findall(r"\d{4}-\d\d-\d\d (?:BUY|SELL) BARC[^\"\n\\\\]*", seen)
    if len(lines) < 2:
        raise AssertionError(f"the model does not see the transactions in: {seen[:400]}")
    seen = yield "calculate_report", {"cgt_content": "\n".join(dict.fromkeys(lines))}
    find("2023-10-10", seen)
    seen = yield "call-tool", {"name": "validate_transactions", "arguments": {"cgt_content": lines[0]}}
    find("valid", seen)


@flow
def rmf():
    seen = yield "search_rmf_funds", {"search": "gold", "limit": 3}
    code = find(r"[A-Z0-9&/-]+RMF[A-Z0-9()-]*", seen)
    seen = yield "get_rmf_fund_detail", {"fundCode": code}
    find(r"\d{4}-\d\d-\d\d", seen)
    seen = yield "get_rmf_fund_detail", {"fundCode": "NOPE"}
    find("search_rmf_funds", seen)
    seen = yield "call-tool", {"name": "get_rmf_data_status", "arguments": {}}
    find(r"\d{4}-\d\d-\d\d", seen)


@flow
def backtest():
    seen = yield "list_backtest_runs", {}
    run = find(r"[0-9a-f]{8}-[0-9a-f-]{27}", seen)
    seen = yield "get_events_by_type", {"runId": run, "eventType": "OrderRejection", "format": "table", "handles": True, "pageSize": 3}
    seen = yield "get_context", {"runId": run, "eventId": find(EVENT_HANDLE, seen), "before": 1, "after": 1}
    find("OrderRejection", seen)
    seen = yield "describe_run", {"runId": "00000000-0000-4000-8000-000000000000"}
    find("list_backtest_runs", seen)
    seen = yield "call-tool", {"name": "get_performance", "arguments": {"runId": run, "initialCapital": 1000000}}
    find("rawdown", seen)


@flow
def ttm():
    seen = yield "hybrid_search", {"query": "ขมิ้นชัน", "top_k": 3}
    herb = find(r"H:[a-z-]+", seen)
    seen = yield "find_contraindications", {"herb_ids": [herb], "drugs": ["warfarin"], "limit": 3}
    find("warfarin|วาร์ฟาริน", seen)
    seen = yield "find_contraindications", {"herb_ids": ["H:turmric"]}
    find("H:turmeric", seen)
    seen = yield "call-tool", {"name": "ingest_jobs", "arguments": {}}
    find("jobs", seen)


def reach(unlisted: list[str]):
    """Calls every tool that the host does not list; none is unknown."""
    seen = yield "search-tools", {"query": "leeches"}
    find("list-leeches", seen)
    seen = yield "describe-tool", {"name": "list-leeches"}
    find("minLapses", seen)
    for name in unlisted:
        seen = yield "call-tool", {"name": name, "arguments": {"no such argument": 1}}
        find(f"INVALID|no such argument|{re.escape(name)}", seen)
        if "UNKNOWN_TOOL" in seen or "there is no tool" in seen:
            raise AssertionError(f"{name} cannot be reached: {seen[:200]}")


class Script:
    """A model that follows a flow: `answer` takes what it sees and gives the next call or None."""

    def __init__(self, generator):
        self.generator, self.calls, self.done, self.last = generator, 0, False, None

    def answer(self, seen: str | None):
        # A loaded machine is no fault of the host or the server: the error says that it may pass.
        if seen is not None and "TIMEOUT" in text_of(seen):
            return self.last
        try:
            step = next(self.generator) if seen is None else self.generator.send(text_of(seen))
        except StopIteration:
            self.done = True
            return None
        self.calls += 1
        self.last = step
        return step
