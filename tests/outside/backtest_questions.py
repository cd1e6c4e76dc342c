"""Twenty questions of a quant about real runs, each with the answer that Python works out from the lines.

A question counts if the reply has the answer, in at most four calls and 6,000 tokens of o200k_base that
are written and read. Eighteen of twenty must count.
"""

import collections
import datetime
import json
import math
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import uuid

import rpc
import server

RUN = "d91a7ddb-8986-54b3-8bd4-42d1dab9869e"
CALLS, TOKENS, NEEDED = 4, 6_000, 18
QUESTIONS = {}


def question(text):
    def register(function):
        QUESTIONS[text] = function
        return function

    return register


class Log:
    """The sample's events in order, and what follows from them."""

    def __init__(self, lines: str):
        self.events = sorted(map(json.loads, lines.splitlines()), key=lambda event: event["timestamp"])
        self.of = lambda kind: [event for event in self.events if event["eventType"] == kind]
        self.fills, self.rejections = self.of("TradeExecution"), self.of("OrderRejection")

    def by(self, events, key, value=lambda event: 1):
        found = collections.defaultdict(list)
        for event in events:
            found[key(event)].append(value(event))
        return found

    def price(self, symbol: str, moment: str):
        """The last close or tick of a security at or before a point in time."""
        prices = [event["properties"]["Data"] for event in self.of("MarketDataEvent") if event["properties"]["SecuritySymbol"] == symbol and event["timestamp"] <= moment]
        found = [data.get("Close", data.get("Price")) for data in prices if data.get("Close", data.get("Price")) is not None]
        return found[-1] if found else None

    def round_trips(self) -> list:
        """Trades from flat to flat by average cost, net of commissions."""
        held, done = {}, []
        for event in self.fills:
            own = event["properties"]
            price, quantity = own.get("Price"), own.get("Quantity")
            if price is None or quantity is None or not self.is_clean(event):
                continue
            signed = quantity if own["Direction"] == "Buy" else -quantity
            trade = held.get(own["SecuritySymbol"])
            left = signed
            if trade and trade["position"] * signed < 0:
                closing = math.copysign(min(abs(signed), abs(trade["position"])), signed)
                trade["profit"] -= (price - trade["average"]) * closing
                # A fill through zero pays its commission in the trade that it closes.
                trade["profit"] -= own.get("Commission") or 0
                trade["position"], left = trade["position"] + closing, signed - closing
                if abs(trade["position"]) < 1e-9:
                    done.append({**held.pop(own["SecuritySymbol"]), "closed": event["timestamp"]})
                    trade = None
                if not left:
                    continue
            elif trade or not trade:
                fee = own.get("Commission") or 0
                if trade:
                    trade["profit"] -= fee
            if trade is None:
                fee = 0 if left != signed else own.get("Commission") or 0
                held[own["SecuritySymbol"]] = {"symbol": own["SecuritySymbol"], "side": "long" if left > 0 else "short", "opened": event["timestamp"], "entry": event["eventId"], "position": left, "average": price, "profit": -fee}
            else:
                trade["average"] = (trade["average"] * trade["position"] + price * left) / (trade["position"] + left)
                trade["position"] += left
        return done

    @staticmethod
    def is_clean(event) -> bool:
        own = event["properties"]
        return all(isinstance(own.get(name), (int, float)) for name in ("Price", "Quantity"))


def near(ours, theirs, tolerance=1e-6) -> bool:
    return ours is not None and abs(float(ours) - theirs) <= tolerance * max(1, abs(theirs))


@question("In which weeks did it trade, and when did it stop?")
def weeks(ask, log, _):
    groups = ask("aggregate_metrics", runId=RUN, eventType="TradeExecution", propertyPath="$.Price", aggregations=["count"], groupBy="week")["groups"]
    monday = lambda event: str((day := datetime.date.fromisoformat(event["timestamp"][:10])) - datetime.timedelta(days=day.weekday()))
    return {group["key"][:10]: group["count"] for group in groups} == {key: len(own) for key, own in log.by(log.fills, monday).items()}


@question("What surrounded the first rejection?")
def surroundings(ask, log, _):
    first = log.rejections[0]
    reply = ask("get_context", runId=RUN, eventId=first["eventId"], before=5, after=5)
    place = log.events.index(first)
    before = [event["eventId"] for event in reply["before"]]
    return before == [event["eventId"] for event in log.events[place - 5 : place]]


@question("Which orders were placed and never filled, rejected or cancelled?")
def unfilled(ask, log, _):
    reply = ask("query_event_sequence", runId=RUN, sequencePattern=["OrderPlaced", "TradeExecution"], findIncomplete=True, pageSize=5)
    parents = {event["eventId"]: event["parentEventId"] for event in log.events}
    filled = set()
    for fill in log.fills:
        above = fill["parentEventId"]
        for _ in range(9):
            filled.add(above)
            above = parents.get(above)
    placed = [event for event in log.of("StateChange") if event["properties"].get("OrderStatus") == "Placed" and event["eventId"] not in filled]
    return reply["metadata"]["totalSequences"] == len(placed) and reply["sequences"][0]["rootEventId"] == placed[0]["eventId"]


@question("Do the books add up?")
def books(ask, log, _):
    reply = ask("reconcile_run", runId=RUN)
    last = [event for event in log.of("StateChange") if event["properties"].get("StateType") == "PnL"][-1]["properties"]["StateAfter"]["RealizedPnL"]
    return reply["agrees"] and any(near(own["last"], last) for own in reply["balances"])


@question("Which orders were open at noon on 10 May?")
def open_orders(ask, log, _):
    moment = "2017-05-10T12:00:00.000Z"
    reply = ask("get_state_snapshot", runId=RUN, timestamp=moment, includeIndicators=False)
    orders = {}
    for event in log.events:
        own, kind = event["properties"], event["eventType"]
        if event["timestamp"] > moment:
            break
        if kind == "StateChange" and own.get("StateType") == "Order":
            if own["OrderStatus"] == "Placed":
                orders[own["OrderId"]] = own["Quantity"]
            elif own["OrderStatus"] in ("Cancelled", "Expired"):
                orders.pop(own["OrderId"], None)
        if kind == "OrderRejection":
            orders.pop(own.get("OrderId"), None)
        if kind == "TradeExecution" and own.get("OrderId") in orders and isinstance(own.get("Quantity"), (int, float)):
            orders[own["OrderId"]] -= own["Quantity"]
            if orders[own["OrderId"]] <= 0:
                orders.pop(own["OrderId"])
    return {order["orderId"] for order in reply["state"]["activeOrders"]} == set(orders)


@question("What changed on 16 May?")
def changed(ask, log, _):
    reply = ask("get_state_delta", runId=RUN, startTime="2017-05-15T23:59:59.999Z", endTime="2017-05-16T23:59:59.999Z")
    at = lambda moment: [event["properties"]["StateAfter"]["RealizedPnL"] for event in log.of("StateChange") if event["properties"].get("StateType") == "PnL" and event["timestamp"] <= moment][-1]
    return near(reply["pnl"]["realized"], at("2017-05-16T23:59:59.999Z") - at("2017-05-15T23:59:59.999Z"))


@question("What did commissions cost by security?")
def commissions(ask, log, _):
    groups = ask("aggregate_metrics", runId=RUN, eventType="TradeExecution", propertyPath="$.Commission", aggregations=["sum"], groupBy="SecuritySymbol")["groups"]
    sums = {key: sum(own) for key, own in log.by(log.fills, lambda event: event["properties"].get("SecuritySymbol"), lambda event: event["properties"].get("Commission") or 0).items()}
    return all(near(group["sum"], sums[group["key"]]) for group in groups) and len(groups) == len([key for key in sums if key])


@question("Is the data clean?")
def clean(ask, log, _):
    reply = ask("get_validation_errors", runId=RUN, severityFilter="Error", pageSize=10)
    missing = [event for event in log.fills + log.rejections if not is_guid(event["properties"].get("OrderId"))]
    return 0 < len(missing) <= reply["metadata"]["totalCount"] and {event["eventId"] for event in reply["events"]} <= {event["eventId"] for event in log.events}


def is_guid(text) -> bool:
    try:
        return bool(uuid.UUID(text))
    except (ValueError, TypeError, AttributeError):
        return False


@question("Why were orders rejected?")
def reasons(ask, log, _):
    groups = ask("query_events", runId=RUN, eventType="OrderRejection", groupBy=["SecuritySymbol"], where="RejectionReason contains 'POST_ONLY'")["groups"]
    counts = log.by([event for event in log.rejections if "POST_ONLY" in event["properties"].get("RejectionReason", "")], lambda event: event["properties"]["SecuritySymbol"])
    return {group["key"]["SecuritySymbol"]: group["count"] for group in groups} == {key: len(own) for key, own in counts.items()}


@question("Which rejected buys were followed by a rise within four hours?")
def missed(ask, log, _):
    later = [{"name": "then"}, {"name": "later", "offsetSeconds": 14400}]
    reply = ask("query_events", runId=RUN, eventType="OrderRejection", where="later > then", asOf=later, top=100, fields=["SecuritySymbol"])
    expected = set()
    for event in log.rejections:
        symbol, moment = event["properties"].get("SecuritySymbol"), datetime.datetime.fromisoformat(event["timestamp"])
        place = log.events.index(event)
        before = [own for own in log.events[:place] if own["eventType"] == "MarketDataEvent" and own["properties"]["SecuritySymbol"] == symbol]
        data = [own["properties"]["Data"].get("Close", own["properties"]["Data"].get("Price")) for own in before]
        data = [own for own in data if own is not None]
        after = log.price(symbol, (moment + datetime.timedelta(hours=4)).strftime("%Y-%m-%dT%H:%M:%S.000Z"))
        if data and after and after > data[-1]:
            expected.add(event["eventId"])
    return {event["eventId"] for event in reply["events"]} == expected and expected


@question("How does slippage depend on the hour of the day?")
def slippage_by_hour(ask, log, _):
    groups = ask("query_events", runId=RUN, eventType="TradeExecution", groupBy=["hourOfDay"], value="Slippage", percentiles=[50])["groups"]
    hours = log.by([event for event in log.fills if isinstance(event["properties"].get("Slippage"), (int, float))], lambda event: event["timestamp"][11:13], lambda event: event["properties"]["Slippage"])
    ours = {group["key"]["hourOfDay"]: group for group in groups if group["valueCount"]}
    return ours.keys() == hours.keys() and all(near(ours[key]["sum"], sum(own)) and near(ours[key]["percentiles"]["p50"], statistics.median(own)) for key, own in hours.items())


@question("What was the deepest drawdown, and which trades made it?")
def drawdown(ask, log, _):
    reply = ask("get_performance", runId=RUN, drawdowns=1, equityPoints=0)
    # Of several amounts at one time the last counts.
    values = {event["timestamp"]: after["RealizedPnL"] + after["UnrealizedPnL"] for event in log.of("StateChange") if (after := event["properties"].get("StateAfter")) and "RealizedPnL" in after}
    peak, deepest = -math.inf, 0
    for value in values.values():
        peak = max(peak, value)
        deepest = max(deepest, peak - value)
    found = reply["drawdowns"][0]
    return near(found["depth"], deepest, 1e-3) and found["worstTrades"][0]["profit"] < 0


@question("Which indicator values did the three worst losses have at entry?")
def indicators_at_entry(ask, log, _):
    reply = ask("list_trades", runId=RUN, outcome="loss", sortBy="profit", pageSize=3, indicators=True)
    worst = sorted(log.round_trips(), key=lambda trade: trade["profit"])[:3]
    for trade, expected in zip(reply["trades"], worst, strict=True):
        place = next(number for number, event in enumerate(log.events) if event["eventId"] == expected["entry"])
        values = {event["properties"]["IndicatorName"]: event["properties"]["Value"] for event in log.events[:place] if event["eventType"] == "IndicatorCalculation" and event["properties"].get("SecuritySymbol") == expected["symbol"] and isinstance(event["properties"].get("Value"), (int, float))}
        if not near(trade["profit"], expected["profit"], 1e-4) or any(not near(trade["indicators"][name], value) for name, value in values.items()):
            return False
    return True


@question("Where did two runs first differ?")
def divergence(ask, _, runs):
    reply = ask("compare_runs", runId=runs["ids"][0], otherRunId=runs["other"])
    return json.dumps(reply["firstDivergence"]).count(runs["differs"]) >= 1


@question("Which of the twenty runs is best, and is that luck?")
def best(ask, _, runs):
    reply = ask("query_runs", query="sweep", sortBy="sharpe", descending=True, limit=3)
    top = max(runs["sharpes"], key=runs["sharpes"].get)
    return reply["runs"][0]["runId"] == top and near(reply["runs"][0]["figures"]["sharpe"], runs["sharpes"][top], 1e-6) and reply["best"]["trials"] == len(runs["sharpes"])


@question("How do the in-sample choices do out of sample?")
def walk_forward(ask, _, runs):
    reply = ask("query_runs", query="sweep", walkForward={})["walkForward"]
    return [(fold["inSample"]["runId"], fold["outOfSample"]["runId"]) for fold in reply["folds"]] == runs["pairs"]


@question("What are win rate and profit factor by security?")
def win_rates(ask, log, _):
    groups = ask("list_trades", runId=RUN, groupBy="symbol")["groups"]
    for group in groups:
        profits = [trade["profit"] for trade in log.round_trips() if trade["symbol"] == group["key"]]
        wins, losses = [own for own in profits if own > 0], [own for own in profits if own < 0]
        if not near(group["winRate"], len(wins) / len(profits)) or not near(group["profitFactor"], sum(wins) / -sum(losses), 1e-4):
            return False
    return True


@question("Which trades went far against us and were held long?")
def excursions(ask, log, _):
    reply = ask("list_trades", runId=RUN, where="mae < -100 and holdingSeconds > 86400", sortBy="mae", pageSize=20)
    expected = set()
    for trade in log.round_trips():
        seconds = (datetime.datetime.fromisoformat(trade["closed"]) - datetime.datetime.fromisoformat(trade["opened"])).total_seconds()
        if seconds > 86400:
            expected.add(trade["opened"][:19])
    found = {trade["opened"][:19] for trade in reply["trades"]}
    return found and found <= expected and all(trade["mae"] < -100 for trade in reply["trades"])


@question("Which fills had a slippage above 0.0005?")
def slipped(ask, log, _):
    reply = ask("query_events", runId=RUN, eventType="TradeExecution", where="Slippage > 0.0005", value="Slippage", order="largest", top=10, fields=["Slippage", "SecuritySymbol"])
    above = sorted((event["properties"]["Slippage"] for event in log.fills if isinstance(event["properties"].get("Slippage"), (int, float)) and event["properties"]["Slippage"] > 0.0005), reverse=True)
    return reply["metadata"]["matchedEvents"] == len(above) and [event["properties"]["Slippage"] for event in reply["events"]] == above[:10] and above


@question("Do long or short trades earn more?")
def sides(ask, log, _):
    groups = {group["key"]: group for group in ask("list_trades", runId=RUN, outcome="closed", groupBy="direction")["groups"]}
    sums = log.by(log.round_trips(), lambda trade: trade["side"], lambda trade: trade["profit"])
    return groups.keys() == sums.keys() and all(groups[side]["trades"] == len(own) and near(groups[side]["profit"], sum(own), 1e-4) for side, own in sums.items())


def sweep(panoply, environment, folder: pathlib.Path) -> dict:
    """Twenty small runs with parameters, folds and samples, and what Python says about them."""
    dice, found = random.Random(42), {"ids": [], "sharpes": {}, "pairs": [], "other": None}
    marks = [(fold, sample, fast) for fold in range(2) for sample in ("in", "out") for fast in range(5, 30, 5)]
    values = {}
    for number, (fold, sample, fast) in enumerate(marks):
        run, equity = str(uuid.UUID(int=number + 100)), [100_000.0]
        for _ in range(60):
            equity.append(round(equity[-1] * (1 + dice.gauss(0.0003, 0.01)), 6))
        write(panoply, environment, folder, run, equity, {"strategyName": "sweep", "parameters": {"fast": fast}, "tags": {"fold": fold, "sample": sample}})
        returns = [later / earlier - 1 for earlier, later in zip(equity, equity[1:])]
        found["sharpes"][run] = statistics.mean(returns) / statistics.stdev(returns) * math.sqrt(252)
        found["ids"].append(run)
        values[(fold, sample, fast)] = run, equity
    for fold in range(2):
        chosen = max(range(5, 30, 5), key=lambda fast: found["sharpes"][values[(fold, "in", fast)][0]])
        found["pairs"].append((values[(fold, "in", chosen)][0], values[(fold, "out", chosen)][0]))
    _, equity = values[marks[0]]
    changed = [value + 1 if place >= 30 else value for place, value in enumerate(equity)]
    found["other"] = str(uuid.UUID(int=99))
    write(panoply, environment, folder, found["other"], changed, {"strategyName": "changed"})
    found["differs"] = str(changed[30])
    return found


def write(panoply, environment, folder, run: str, equity: list, header: dict) -> None:
    file, about = folder / f"{run}.jsonl", folder / f"{run}.json"
    day = datetime.date(2024, 1, 1)
    lines = [{"eventId": str(uuid.UUID(int=place + 1)), "runId": run, "timestamp": f"{day + datetime.timedelta(days=place)}T21:00:00.000Z", "eventType": "StateChange", "properties": {"StateType": "Account", "StateAfter": {"Equity": value}}} for place, value in enumerate(equity)]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    about.write_text(json.dumps({"runId": run, **header}))
    subprocess.run([panoply, "backtest", "import", str(file), "--run", str(about)], env=environment, check=True, capture_output=True)


class Agent:
    """Makes calls and keeps what was written and read."""

    def __init__(self, session, tools):
        self.session, self.tools, self.texts, self.calls = session, tools, [], 0

    def __call__(self, tool: str, **arguments) -> dict:
        name, given = (tool, arguments) if tool in self.tools else ("call-tool", {"name": tool, "arguments": arguments})
        reply = self.session.call(name, given)
        self.calls += 1
        self.texts += [json.dumps({"name": name, "arguments": given}, ensure_ascii=False), reply.seen]
        if reply.error:
            raise AssertionError(reply.seen[:300])
        return reply.data


def main() -> None:
    given = server.arguments()
    with tempfile.TemporaryDirectory(prefix="panoply-outside-") as home, tempfile.TemporaryDirectory() as name:
        environment = {"PATH": "/usr/bin:/bin", "HOME": home, "PANOPLY_HOME": home}
        lines = subprocess.run([given.panoply, "backtest", "export", RUN], env=environment, check=True, capture_output=True, text=True).stdout
        log, runs = Log(lines), sweep(given.panoply, environment, pathlib.Path(name))
        outcomes = {}
        with rpc.session(given.panoply, home=home) as session:
            tools = session.tools()
            for text, answer in QUESTIONS.items():
                agent = Agent(session, tools)
                try:
                    outcomes[text] = (agent, "" if answer(agent, log, runs) else "a wrong answer")
                except (AssertionError, KeyError, IndexError, TypeError, ValueError) as error:
                    outcomes[text] = (agent, f"{type(error).__name__} {error}")
    counts = iter(rpc.tokens(given.node, [text for agent, _ in outcomes.values() for text in agent.texts]))
    good = 0
    for text, (agent, problem) in outcomes.items():
        tokens = sum(next(counts) for _ in agent.texts)
        fits = not problem and agent.calls <= CALLS and tokens <= TOKENS
        good += fits
        print(f"{'ok' if fits else '--'} {text:75} {agent.calls} calls {tokens:5} tokens {problem}")
    server.expect(len(QUESTIONS) == 20 and good >= NEEDED, f"{good} of {len(QUESTIONS)} questions are answered in {CALLS} calls and {TOKENS} tokens")


if __name__ == "__main__":
    sys.exit(main())
