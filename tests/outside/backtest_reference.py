"""An independent reading of the pack's documented rules: state, chains, validation, filters.

Plain Python over the events as lists of dicts; it shares no code with the program. Where the contract
is silent it follows docs/packs/backtest.md, so there it judges the implementation, not the choice.
"""

import datetime
import math
import random
import re

NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?")
WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


def number(value):
    """A finite JSON number, or a text that contains one."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str) and not NUMBER.fullmatch(value):
        return None
    if isinstance(value, (int, float, str)):
        return float(value) if math.isfinite(float(value)) else None
    return None


def at(properties: dict, path: str):
    for name in path.split("."):
        properties = properties.get(name) if isinstance(properties, dict) else None
    return properties


class Rules:
    """The events of one run in order of time, ties by arrival."""

    def __init__(self, events: list):
        self.events = sorted(events, key=lambda event: event["timestamp"])
        self.by_id = {event["eventId"]: event for event in events}
        self.children = {}
        for event in self.events:
            self.children.setdefault(event["parentEventId"], []).append(event)

    def state(self, moment: str) -> dict:
        """Positions, indicators and profit after all events up to a point in time."""
        positions, indicators, profit = {}, {}, None
        for event in self.events:
            if event["timestamp"] > moment:
                break
            own, kind = event["properties"], event["eventType"]
            if kind == "PositionUpdate" and not self.problems(event, own_only=True):
                positions[own["SecuritySymbol"]] = tuple(number(own[name]) for name in ("Quantity", "AveragePrice", "UnrealizedPnL", "RealizedPnL"))
            if kind == "IndicatorCalculation":
                indicators[(own["IndicatorName"], own["SecuritySymbol"])] = own.get("Value")
            if kind == "StateChange" and own.get("StateType") == "PnL":
                profit = number(own["StateAfter"]["RealizedPnL"]), number(own["StateAfter"]["UnrealizedPnL"])
        return {"positions": positions, "indicators": indicators, "profit": profit}

    def chain(self, root: str, depth: int) -> list:
        """The root and its descendants, the root being the first level."""
        found, level = [], [self.by_id[root]]
        for _ in range(depth):
            found += level
            level = [child for event in level for child in self.children.get(event["eventId"], [])]
        places = {event["eventId"]: place for place, event in enumerate(self.events)}
        return sorted((event["eventId"] for event in found), key=places.get)

    def pattern(self, types: list, depth: int) -> tuple:
        """Roots of complete and of incomplete chains of a pattern of event types."""
        complete, incomplete = [], []
        for event in self.events:
            parent = self.by_id.get(event["parentEventId"])
            if event["eventType"] != types[0] or parent and parent["eventType"] == types[0]:
                continue
            (complete if self.matches(event, types, depth) else incomplete).append(event["eventId"])
        return complete, incomplete

    def matches(self, event: dict, types: list, depth: int) -> bool:
        rest = types[1:] if event["eventType"] == types[0] else types
        if not rest:
            return True
        return depth > 1 and any(self.matches(child, rest, depth - 1) for child in self.children.get(event["eventId"], []))

    def problems(self, event: dict, own_only: bool = False) -> list:
        """Violated rules as field and severity; first those of the properties."""
        own, kind, found = event["properties"], event["eventType"], []
        missing = lambda name, severity: found.append((f"Properties.{name}", severity)) if own.get(name) is None else None
        numeric = lambda *names: found.extend((f"Properties.{name}", "Error") for name in names if own.get(name) is not None and number(own[name]) is None)
        if kind in ("TradeExecution", "OrderRejection"):
            missing("OrderId", "Error")
        if kind == "TradeExecution":
            missing("Price", "Warning")
            missing("Quantity", "Warning")
        if kind == "OrderRejection":
            missing("RejectionReason", "Error")
        if kind == "IndicatorCalculation":
            missing("Value", "Error")
            numeric("Value")
        if kind == "PositionUpdate":
            numeric("Quantity", "AveragePrice", "UnrealizedPnL", "RealizedPnL")
        if kind == "RiskEvent":
            missing("RiskType", "Error")
        if own_only:
            return found
        if event["parentEventId"] and event["parentEventId"] not in self.by_id:
            found.append(("ParentEventId", "Warning"))
        return found + [(problem["Field"], problem["Severity"]) for problem in event["validationErrors"] or []]


class Filter:
    """A random filter: its text, and what it says of an event."""

    def __init__(self, dice: random.Random, depth: int = 0):
        kind = dice.choice(["and", "or", "not"] if depth < 2 and dice.random() < 0.5 else ["test"])
        if kind == "test":
            self.text, self.holds = test(dice)
        elif kind == "not":
            inner = Filter(dice, depth + 1)
            self.text, self.holds = f"not ({inner.text})", lambda event: not inner.holds(event)
        else:
            parts = [Filter(dice, depth + 1) for _ in range(dice.randrange(2, 4))]
            self.text = f" {kind} ".join(f"({part.text})" for part in parts)
            every = all if kind == "and" else any
            self.holds = lambda event: every(part.holds(event) for part in parts)


def scalar(value):
    """What a filter can compare: a number, a text or a boolean."""
    return value if isinstance(value, (int, float, str, bool)) else None


def order(left, right):
    """-1, 0 or 1; None for values that cannot be compared."""
    if isinstance(left, bool) and isinstance(right, bool) or isinstance(left, str) and isinstance(right, str):
        # Texts compare by their bytes.
        left, right = (text.encode() if isinstance(text, str) else text for text in (left, right))
        return (left > right) - (left < right)
    left, right = number(left), number(right)
    return None if left is None or right is None else (left > right) - (left < right)


COMPARISONS = {
    "=": lambda found: found == 0, "!=": lambda found: found != 0, "<": lambda found: found == -1,
    "<=": lambda found: found in (-1, 0), ">": lambda found: found == 1, ">=": lambda found: found in (0, 1),
}


def literal(value) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value).lower()


def test(dice: random.Random):
    time = lambda event: datetime.datetime.fromisoformat(event["timestamp"])
    operands = {
        "Value": (lambda event: event["properties"].get("Value"), [0, -12.5, 300, "1.5"]),
        "Nested.Deep": (lambda event: at(event["properties"], "Nested.Deep"), [0, 10, -99.25]),
        "Flag": (lambda event: event["properties"].get("Flag"), [True, False]),
        "SecuritySymbol": (lambda event: event["properties"].get("SecuritySymbol"), ["EURUSD", "ÄÖ/X", "A B"]),
        "Missing.Path": (lambda event: None, [1]),
        "hour": (lambda event: time(event).hour, [0, 1]),
        "weekday": (lambda event: WEEKDAYS[time(event).weekday()], ["Monday", "Tuesday"]),
        "timeOfDay": (lambda event: event["timestamp"][11:19], ["00:10:00", "00:30:00"]),
        "severity": (lambda event: event["severity"], ["Error", "Info"]),
        "category": (lambda event: event["category"], ["Risk", "Execution"]),
    }
    name = dice.choice(list(operands))
    read, values = operands[name]
    value = lambda event: scalar(read(event))
    kind = dice.choice(["compare", "compare", "in", "exists", "text"])
    if kind == "exists":
        return f"{name} exists", lambda event: value(event) is not None
    if kind == "in":
        chosen = dice.sample(values, min(2, len(values)))
        text = f"{name} in ({', '.join(map(literal, chosen))})"
        return text, lambda event: value(event) is not None and any(order(value(event), one) == 0 for one in chosen)
    if kind == "text" and name in ("SecuritySymbol", "severity", "weekday", "category"):
        part = dice.choice(["E", "ir", "o", " ", "Ö"])
        word, check = dice.choice([("contains", lambda text: part in text), ("startsWith", lambda text: text.startswith(part))])
        return f"{name} {word} '{part}'", lambda event: isinstance(value(event), str) and check(value(event))
    sign, right = dice.choice(list(COMPARISONS)), dice.choice(values)
    return f"{name} {sign} {literal(right)}", lambda event: value(event) is not None and COMPARISONS[sign](order(value(event), right))
