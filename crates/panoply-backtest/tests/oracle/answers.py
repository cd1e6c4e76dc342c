#!/usr/bin/env python3
"""Computes the expected replies of the tools from the raw lines, without any code of the program.

    python3 crates/panoply-backtest/tests/oracle/answers.py > crates/panoply-backtest/tests/oracle/answers.json

Needs the `zstd` command. Means and deviations are the standard library's exact ones.
"""
import datetime, json, pathlib, statistics, subprocess
from decimal import Decimal

DATA = pathlib.Path(__file__).resolve().parents[4] / "data" / "backtest"


def load(name):
    text = subprocess.run(["zstd", "-dc", DATA / f"{name}.jsonl.zst"], capture_output=True, check=True).stdout.decode()
    events = [json.loads(line, parse_float=Decimal) for line in text.splitlines()]
    for arrival, event in enumerate(events):
        event["arrival"] = arrival
        event["time"] = datetime.datetime.fromisoformat(event["timestamp"].replace("Z", "+00:00"))
    events.sort(key=lambda e: (e["time"], e["arrival"]))
    return events


A, B = load("ema_cross"), load("sma_cross")
RUN_A, RUN_B = A[0]["runId"], B[0]["runId"]
cases = []
HEADERS = {h["runId"]: h for h in (json.loads((DATA / f"{name}.run.json").read_text()) for name in ("ema_cross", "sma_cross"))}


def case(tool, arguments, **expect):
    cases.append({"tool": tool, "arguments": arguments, "expect": expect})


def at(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def page(events, size=100, index=0):
    shown = events[size * index : size * (index + 1)]
    return dict(
        eventIds=[e["eventId"] for e in shown],
        metadata=dict(totalCount=len(events), returnedCount=len(shown), pageIndex=index, pageSize=size,
                      hasMore=size * (index + 1) < len(events), truncated=False))


def by_type(run, events, kind, size=100, index=0, start=None, end=None, severity=None):
    found = [e for e in events if e["eventType"] == kind and (not start or e["time"] >= at(start))
             and (not end or e["time"] <= at(end)) and (not severity or e["severity"] == severity)]
    arguments = dict(runId=run, eventType=kind, pageSize=size, pageIndex=index)
    arguments |= {k: v for k, v in dict(startTime=start, endTime=end, severity=severity).items() if v}
    case("get_events_by_type", arguments, **page(found, size, index))


def by_entity(run, events, entity, value, kinds=None, size=100, index=0):
    found = [e for e in events if e["properties"].get(entity) == value and (not kinds or e["eventType"] in kinds)]
    arguments = dict(runId=run, entityType=entity, entityValue=value, pageSize=size, pageIndex=index)
    if kinds:
        arguments["eventTypes"] = kinds
    case("get_events_by_entity", arguments, **page(found, size, index))


def number(value):
    if isinstance(value, bool) or value is None or isinstance(value, (dict, list)):
        return None
    try:
        value = Decimal(str(value))
    except ArithmeticError:
        return None
    return value if value.is_finite() else None


def dig(properties, path):
    for name in path.removeprefix("$.").split("."):
        properties = properties.get(name) if isinstance(properties, dict) else None
    return properties


def aggregate(run, events, kind, path, start=None, end=None):
    found = [e for e in events if e["eventType"] == kind and (not start or e["time"] >= at(start)) and (not end or e["time"] <= at(end))]
    values = [v for v in (number(dig(e["properties"], path)) for e in found) if v is not None]
    arguments = dict(runId=run, eventType=kind, propertyPath=path, aggregations=["count", "sum", "avg", "min", "max", "stddev"])
    arguments |= {k: v for k, v in dict(startTime=start, endTime=end).items() if v}
    none = dict.fromkeys(["sum", "avg", "min", "max", "stddev"])
    numbers = dict(sum=float(sum(values)), avg=float(statistics.mean(values)), min=float(min(values)), max=float(max(values)),
                   stddev=float(statistics.pstdev(values))) if values else none
    case("aggregate_metrics", arguments, aggregations=dict(count=len(found), **numbers),
         metadata=dict(totalEvents=len(found), valueCount=len(values), eventType=kind, propertyPath=path))


def snapshot(run, events, moment, symbol=None):
    past = [e for e in events if e["time"] <= at(moment)]
    fits = lambda s: symbol is None or (s or "").lower() == symbol.lower()
    positions, indicators, orders, filled, pnl = {}, {}, {}, {}, None
    for e in past:
        p, kind = e["properties"], e["eventType"]
        if kind == "PositionUpdate" and p.get("SecuritySymbol"):
            positions[p["SecuritySymbol"]] = p
        elif kind == "IndicatorCalculation" and p.get("IndicatorName") and number(p.get("Value")) is not None:
            indicators[p["IndicatorName"], p.get("SecuritySymbol")] = p
        elif kind == "StateChange" and p.get("StateType") == "PnL":
            pnl = p["StateAfter"]
        elif kind == "StateChange" and p.get("StateType") == "Order":
            if p["OrderStatus"] == "Placed":
                orders[p["OrderId"]] = p
            else:
                orders.pop(p["OrderId"], None)
        elif kind == "OrderRejection":
            orders.pop(p.get("OrderId"), None)
        elif kind == "TradeExecution":
            filled[p["OrderId"]] = filled.get(p["OrderId"], 0) + p.get("Quantity", 0)
    orders = {k: o for k, o in orders.items() if filled.get(k, 0) < o["Quantity"] and fits(o["SecuritySymbol"])}
    positions = {k: v for k, v in sorted(positions.items()) if fits(k)}
    if symbol or pnl is None:
        pnl = {n: sum((p[n] for p in positions.values()), Decimal(0)) for n in ("RealizedPnL", "UnrealizedPnL")}
    state = dict(
        positions=[dict(securitySymbol=s, quantity=float(p["Quantity"]), averagePrice=float(p["AveragePrice"]),
                        unrealizedPnL=float(p["UnrealizedPnL"]), realizedPnL=float(p["RealizedPnL"])) for s, p in positions.items()],
        indicators=[dict(name=n, securitySymbol=s, value=float(p["Value"])) for (n, s), p in sorted(indicators.items()) if fits(s)],
        activeOrders=[dict(orderId=k, securitySymbol=o["SecuritySymbol"], direction=o["Direction"], quantity=float(o["Quantity"]),
                           price=float(o["Price"]), filledQuantity=float(filled.get(k, 0))) for k, o in orders.items()],
        pnl=dict(total=float(pnl["RealizedPnL"] + pnl["UnrealizedPnL"]), realized=float(pnl["RealizedPnL"]), unrealized=float(pnl["UnrealizedPnL"])))
    case("get_state_snapshot", dict(runId=run, timestamp=moment) | (dict(securitySymbol=symbol) if symbol else {}), state=state)


def matches(event, step):
    p = event["properties"]
    if step == "OrderPlaced":
        return event["eventType"] == "StateChange" and p.get("StateType") == "Order" and p.get("OrderStatus") == "Placed"
    return event["eventType"] == step


def sequences(run, events, steps, incomplete, size, index=0, depth=10):
    ids = {e["eventId"]: e for e in events}
    children = {}
    for e in events:
        children.setdefault(e["parentEventId"], []).append(e)

    def longest(event, done, level):
        done += done < len(steps) and matches(event, steps[done])
        if level == depth or done == len(steps):
            return done
        return max([done] + [longest(c, done, level + 1) for c in children.get(event["eventId"], [])])

    found = []
    for e in events:
        parent = ids.get(e["parentEventId"])
        if matches(e, steps[0]) and not (parent and matches(parent, steps[0])):
            done = longest(e, 0, 1)
            if (done == len(steps)) != incomplete:
                found.append((e, steps[done:]))
    shown = found[size * index : size * (index + 1)]
    case("query_event_sequence", dict(runId=run, sequencePattern=steps, findIncomplete=incomplete, pageSize=size, pageIndex=index, maxDepth=depth),
         rootEventIds=[e["eventId"] for e, _ in shown], missing=[m for _, m in shown],
         metadata=dict(totalSequences=len(found), returnedCount=len(shown), hasMore=size * (index + 1) < len(found)))


def chain(run, events, root, depth):
    children = {}
    for e in events:
        children.setdefault(e["parentEventId"], []).append(e)
    found, level = [], [e for e in events if e["eventId"] == root]
    for _ in range(depth):
        found += level
        level = [c for e in level for c in children.get(e["eventId"], [])]
    found.sort(key=lambda e: (e["time"], e["arrival"]))
    case("query_event_sequence", dict(runId=run, rootEventId=root, maxDepth=depth), rootEventIds=[root],
         chain=[e["eventId"] for e in found], metadata=dict(totalSequences=1, returnedCount=1, hasMore=False))


GUID = __import__("re").compile(r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")


def problems(event, ids):
    p, kind, found = event["properties"], event["eventType"], []
    add = lambda field, error, severity: found.append(dict(Field=field, Error=error, Severity=severity))
    missing = lambda name: p.get(name) is None
    if kind in ("TradeExecution", "OrderRejection"):
        if missing("OrderId"):
            add("Properties.OrderId", "Missing required field", "Error")
        elif not (isinstance(p["OrderId"], str) and GUID.match(p["OrderId"])):
            add("Properties.OrderId", "Invalid GUID format", "Error")
    if kind == "TradeExecution":
        if missing("Price"):
            add("Properties.Price", "Missing required field", "Warning")
        if missing("Quantity"):
            add("Properties.Quantity", "Missing recommended field", "Warning")
    needed = dict(OrderRejection=["RejectionReason"], IndicatorCalculation=["IndicatorName", "Value"], PositionUpdate=["SecuritySymbol"], RiskEvent=["RiskType"])
    for name in needed.get(kind, []):
        if missing(name):
            add(f"Properties.{name}", "Missing required field", "Error")
    if kind == "IndicatorCalculation" and not missing("Value") and number(p["Value"]) is None:
        add("Properties.Value", "Invalid number format", "Error")
    if event["parentEventId"] and event["parentEventId"] not in ids:
        add("ParentEventId", "Parent event not found", "Warning")
    header = HEADERS[event["runId"]]
    if not at(header["startTime"]) <= event["time"] <= at(header["endTime"]):
        add("Timestamp", "Outside the period of the run", "Warning")
    return found


def validation(run, events, severity=None, size=100):
    ids = {e["eventId"] for e in events}
    found = [(e, problems(e, ids)) for e in events]
    found = [(e, p) for e, p in found if any(severity in (None, one["Severity"]) for one in p)]
    arguments = dict(runId=run, pageSize=size) | (dict(severityFilter=severity) if severity else {})
    case("get_validation_errors", arguments, validationErrors=[p for _, p in found[:size]], **page([e for e, _ in found], size))


by_type(RUN_A, A, "OrderRejection", 5)
by_type(RUN_A, A, "TradeExecution")
by_type(RUN_A, A, "TradeExecution", 50, 2)
by_type(RUN_A, A, "IndicatorCalculation", 20, 229)
by_type(RUN_A, A, "StateChange", 30, 1, "2017-05-01T00:00:00Z", "2017-05-02T12:00:00Z")
by_type(RUN_A, A, "RiskEvent", 10, 2, severity="Warning")
by_type(RUN_A, A, "MarketDataEvent", 7, 1_000_000_000)
by_type(RUN_B, B, "PositionUpdate", 100, 1)
by_entity(RUN_A, A, "OrderId", "4f516d50-66a0-5e3e-bebe-ddcd2232fdd4")
by_entity(RUN_A, A, "OrderId", "invalid-guid")
by_entity(RUN_A, A, "SecuritySymbol", "GBPUSD", ["TradeExecution", "PositionUpdate"], 40, 2)
by_entity(RUN_A, A, "PositionId", "AUDUSD-NET", None, 60, 1)
by_entity(RUN_A, A, "IndicatorName", "ATR_14", None, 25, 3)
by_entity(RUN_A, A, "SecuritySymbol", "' OR '1'='1")
aggregate(RUN_A, A, "TradeExecution", "$.Quantity")
aggregate(RUN_A, A, "TradeExecution", "$.Commission", "2017-05-01T00:00:00Z", "2017-05-15T23:59:59Z")
aggregate(RUN_A, A, "IndicatorCalculation", "$.Value", "2017-04-28T00:00:00Z")
aggregate(RUN_A, A, "MarketDataEvent", "$.Data.Close")
aggregate(RUN_A, A, "StateChange", "$.StateAfter.RealizedPnL")
aggregate(RUN_A, A, "PositionUpdate", "$.NoSuchThing")
aggregate(RUN_B, B, "TradeExecution", "$.Price", None, "2008-12-31T00:00:00Z")
snapshot(RUN_A, A, "2017-04-27T15:00:00Z")
snapshot(RUN_A, A, "2017-05-02T09:30:00Z")
snapshot(RUN_A, A, "2017-05-16T12:00:00Z", "gbpusd")
snapshot(RUN_A, A, "2017-05-30T13:00:00Z")
snapshot(RUN_A, A, "2016-01-01T00:00:00Z")
snapshot(RUN_B, B, "2009-06-01T00:00:00Z")
sequences(RUN_A, A, ["TradeExecution", "PositionUpdate"], False, 5)
sequences(RUN_A, A, ["TradeExecution", "PositionUpdate"], True, 50)
sequences(RUN_A, A, ["OrderPlaced", "TradeExecution", "PositionUpdate"], True, 20, 1)
sequences(RUN_A, A, ["OrderPlaced", "PositionUpdate"], False, 10, 2)
sequences(RUN_A, A, ["MarketDataEvent", "IndicatorCalculation", "StateChange"], False, 3, 0, 3)
sequences(RUN_B, B, ["OrderPlaced", "TradeExecution", "PositionUpdate"], True, 10)
chain(RUN_A, A, "cfbef556-acfd-56d7-adf6-685901b03e7e", 10)
chain(RUN_A, A, "e73dca20-fbef-5068-93a6-0912dc3a5e39", 3)
validation(RUN_A, A, "Error")
validation(RUN_A, A, "Warning")
validation(RUN_A, A, None, 5)
validation(RUN_B, B)
print(json.dumps(dict(runA=RUN_A, runB=RUN_B, cases=cases), indent=1))
