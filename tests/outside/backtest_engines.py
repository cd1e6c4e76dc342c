"""Real engines run a strategy; what we import from them agrees with the engines' own books."""

import json
import pathlib
import subprocess
import sys
import tempfile
import uuid

import engines
import rpc
import server

# Of each engine, at least.
MOMENTS = 50


def main() -> None:
    given = server.arguments()
    with server.home() as environment, tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        judge = Judge(given.panoply, environment)
        judge.backtesting_py(engines.backtesting_py(folder), folder)
        judge.nautilus(engines.nautilus(folder), folder)
        judge.nautilus_two(engines.nautilus_two(folder), folder)
        judge.fills_and_value("backtrader", engines.backtrader(folder), [folder / "backtrader_transactions.csv", folder / "backtrader_writer.csv"])
        apart(folder, "vectorbt==1.2.0", "vectorbt", "vectorbt_two")
        apart(folder, "basana==1.11", "basana")
        judge.fills_and_value("vectorbt", truth(folder, "vectorbt"), [folder / "vectorbt_orders.csv", folder / "vectorbt_value.csv"])
        judge.vectorbt_two(truth(folder, "vectorbt_two"), folder)
        judge.basana(truth(folder, "basana"), folder)


def apart(folder: pathlib.Path, package: str, *names: str) -> None:
    """Runs engines in an environment of their own: they want other versions of numpy, pandas or aiohttp than the others."""
    command = [sys.executable, "-m", "uv", "run", "--quiet", "--no-project", "--with", package, "python", engines.__file__, str(folder), *names]
    subprocess.run(command, check=True)


def truth(folder: pathlib.Path, name: str) -> dict:
    return json.loads((folder / f"{name}.truth.json").read_text())


class Judge:
    def __init__(self, program: pathlib.Path, environment: dict):
        self.program, self.environment = program, environment

    def panoply(self, *words: str) -> str:
        return subprocess.run([self.program, *words], env=self.environment, check=True, capture_output=True, text=True).stdout

    def states(self, run: str, moments: list) -> list:
        """The state at each moment, asked in one session."""
        with rpc.session(self.program, home=self.environment["PANOPLY_HOME"]) as session:
            replies = [session.call("get_state_snapshot", {"runId": run, "timestamp": zoned(moment["time"])}) for moment in moments]
        failed = [reply.seen for reply in replies if reply.error]
        if failed or len(moments) < MOMENTS:
            raise SystemExit(f"FAILED: {len(moments)} moments, at least {MOMENTS} are compared {failed[:1]}")
        return [reply.data["state"] for reply in replies]

    def imported(self, *files: pathlib.Path, warnings: int = 0, options: tuple = ()) -> str:
        said = json.loads(self.panoply("backtest", "import", "--json", "--symbol", "TEST", *options, *map(str, files)))
        report = said["report"]
        clean = (report["rejected"], report["errors"], report["warnings"]) == (0, 0, warnings)
        server.expect(clean, f"{files[0].name}: {report['events']} events, none rejected or flawed")
        return said["runId"]

    def ask(self, tool: str, **arguments) -> dict:
        return json.loads(self.panoply("call", tool, json.dumps(arguments), "--json"))

    def count(self, run: str, kind: str) -> int:
        return self.ask("get_events_by_type", runId=run, eventType=kind, pageSize=1)["metadata"]["totalCount"]

    def backtesting_py(self, truth: dict, folder: pathlib.Path) -> None:
        run = self.imported(folder / "trades.csv", folder / "equity.csv")
        server.expect(self.count(run, "TradeExecution") == 2 * truth["trades"], f"backtesting.py: {truth['trades']} trades, each in and out")
        moments = [moment for moment in truth["moments"] if moment["traded"]]
        for moment, state in zip(moments, self.states(run, moments)):
            held = state["positions"][0]
            same = near(held["quantity"], moment["quantity"], 1e-9) and near(held["realizedPnL"], moment["realized"], 1e-6)
            if not same:
                raise SystemExit(f"FAILED: at {moment['time']} the engine held {moment}, we say {held}")
        print(f"ok: backtesting.py: position and realized profit agree at {len(moments)} moments")
        figures = json.loads(self.panoply("backtest", "report", run, "--json"))
        server.expect(near(figures["end"], truth["equityFinal"], 1e-6), f"backtesting.py: final equity is {truth['equityFinal']:.2f}")
        server.expect(near(figures["maxDrawdownPercent"], truth["maxDrawdownPercent"], 1e-9), f"backtesting.py: deepest fall is {truth['maxDrawdownPercent']:.4f} %")
        self.books_agree(run, "backtesting.py")

    def nautilus(self, truth: dict, folder: pathlib.Path) -> None:
        run = self.imported(folder / "nautilus.jsonl")
        counted = {"fills": self.count(run, "TradeExecution"), "rejected": self.count(run, "OrderRejection")}
        for name, status in {"orders": "Placed", "cancelled": "Cancelled", "expired": "Expired"}.items():
            counted[name] = self.changes(run, status)
        expected = {name: truth[name] for name in counted}
        server.expect(counted == expected, f"nautilus_trader: {expected} {counted if counted != expected else ''}")
        for moment, state in zip(truth["moments"], self.states(run, truth["moments"])):
            of = lambda list: [own for own in list if own["securitySymbol"] == moment["symbol"]]
            held = sum(position["quantity"] for position in of(state["positions"]))
            orders = [order["orderId"] for order in of(state["activeOrders"])]
            open_orders = [str(uuid.uuid5(uuid.UUID(run), f"order {order}")) for order in moment["openOrders"]]
            if held != float(moment["quantity"]) or orders != open_orders:
                raise SystemExit(f"FAILED: at {moment['time']} the engine had {moment}, we say {state}")
        print(f"ok: nautilus_trader: position and open orders agree at {len(truth['moments'])} moments")
        balance = self.books_agree(run, "nautilus_trader")["balance"]
        server.expect(near(balance["last"], float(truth["balance"]), 1e-9), f"nautilus_trader: the balance is {truth['balance']}")
        end = self.ask("get_state_snapshot", runId=run, timestamp="2024-02-01T00:00:00Z")["state"]["pnl"]["realized"]
        earned = float(truth["balance"]) - float(truth["start"])
        server.expect(near(end, earned, 0.005), f"nautilus_trader: realized {earned:.2f}")
        fees = self.ask("aggregate_metrics", runId=run, eventType="TradeExecution", propertyPath="$.Commission", aggregations=["sum"])
        server.expect(near(fees["aggregations"]["sum"], float(truth["commissions"]), 1e-9), f"nautilus_trader: commissions {truth['commissions']}")

    def fills_and_value(self, engine: str, truth: dict, files: list) -> None:
        """Engines whose files have fills and the value of the account. backtrader's have no commissions: each fill says so."""
        run = self.imported(*files, warnings=truth["fills"] if engine == "backtrader" else 0)
        server.expect(self.count(run, "TradeExecution") == truth["fills"], f"{engine}: {truth['fills']} fills")
        for moment, state in zip(truth["moments"], self.states(run, truth["moments"])):
            held = {position["securitySymbol"]: float(position["quantity"]) for position in state["positions"]}
            for symbol, quantity in moment["positions"].items():
                if not near(held.get(symbol, 0), quantity, 1e-9):
                    raise SystemExit(f"FAILED: {engine}: at {moment['time']} the engine held {moment}, we say {held}")
        print(f"ok: {engine}: positions of two securities agree at {len(truth['moments'])} moments")
        result = self.ask("get_performance", runId=run, equityPoints=1000)
        ours = {point["time"]: point["value"] for point in result["equity"]}
        compared = [moment for moment in truth["moments"] if moment["time"] in ours]
        wrong = [moment for moment in compared if not near(ours[moment["time"]], moment["equity"], 1e-6)]
        server.expect(len(compared) >= MOMENTS and not wrong, f"{engine}: the value of the account agrees at {len(compared)} moments {wrong[:1]}")
        server.expect(near(result["end"], truth["equityFinal"], 1e-6), f"{engine}: the final value is {truth['equityFinal']:.2f}")
        if engine == "vectorbt":
            fees = self.ask("aggregate_metrics", runId=run, eventType="TradeExecution", propertyPath="$.Commission", aggregations=["sum"])
            server.expect(near(fees["aggregations"]["sum"], truth["commissions"], 1e-6), f"vectorbt: fees {truth['commissions']:.4f}")

    def vectorbt_two(self, truth: dict, folder: pathlib.Path) -> None:
        """The files name no currencies: the user does."""
        options = [word for symbol, currency in truth["currencies"].items() for word in ("--currency", f"{symbol}={currency}")]
        run = self.imported(folder / "vectorbt_two_orders.csv", folder / "vectorbt_two_value.csv", options=tuple(options))
        for moment, state in zip(truth["moments"], self.states(run, truth["moments"])):
            held = {position["securitySymbol"]: float(position["quantity"]) for position in state["positions"]}
            wrong = {symbol: (quantity, held.get(symbol, 0)) for symbol, quantity in moment["positions"].items() if not near(held.get(symbol, 0), quantity, 1e-9)}
            wrong |= cash_differences(state, moment["money"], 1e-6)
            if wrong:
                raise SystemExit(f"FAILED: vectorbt, two currencies: at {moment['time']} the engine's and ours: {wrong}")
        print(f"ok: vectorbt, two currencies: positions and cash agree at {len(truth['moments'])} moments")
        for currency in truth["moments"][0]["money"]:
            result = self.ask("get_performance", runId=run, currency=currency, equityPoints=1000)
            ours = {point["time"]: point["value"] for point in result["equity"]}
            compared = [moment for moment in truth["moments"] if moment["time"] in ours]
            wrong = [moment for moment in compared if not near(ours[moment["time"]], moment["money"][currency]["equity"], 1e-6)]
            server.expect(len(compared) >= MOMENTS and not wrong, f"vectorbt, two currencies: the value in {currency} agrees at {len(compared)} moments {wrong[:1]}")

    def basana(self, truth: dict, folder: pathlib.Path) -> None:
        """One coin traded for dollars and for yen: two positions of one symbol, valued at prices in their own currency."""
        run = self.imported(folder / "basana.csv", options=("--map", str(folder / "basana.map.json")))
        server.expect(self.count(run, "TradeExecution") == truth["fills"], f"basana: {truth['fills']} fills")
        for moment, state in zip(truth["moments"], self.states(run, truth["moments"])):
            held = {position["currency"]: float(position["quantity"]) for position in state["positions"]}
            wrong = {currency: (own["held"], held.get(currency, 0)) for currency, own in moment["money"].items() if not near(held.get(currency, 0), float(own["held"]), 1e-12)}
            wrong |= cash_differences(state, moment["money"], 1e-6)
            for own in amounts_of(state):
                money = moment["money"][own["currency"]]
                if not near(own["total"], float(money["equity"]) - float(money["start"]), 1e-6):
                    wrong["value " + own["currency"]] = (money, own)
            if wrong or not near(sum(held.values()), float(moment["held"]), 1e-12):
                raise SystemExit(f"FAILED: basana: at {moment['time']} the engine's and ours: {wrong} {held} {moment}")
        print(f"ok: basana: quantity, cash and value of one coin in two currencies agree at {len(truth['moments'])} moments")

    def nautilus_two(self, truth: dict, folder: pathlib.Path) -> None:
        run = self.imported(folder / "nautilus_two.jsonl")
        books = self.ask("reconcile_run", runId=run)
        server.expect(books["agrees"] and not books["metadata"]["notCompared"], f"nautilus_trader, two currencies: the books agree {books['firstParting'] or ''}")
        ends = {balance["currency"]: balance["last"] for balance in books["balances"] if balance["what"] == "balance"}
        for money in truth["money"]:
            server.expect(near(ends[money["currency"]], float(money["balance"]), 1e-9), f"nautilus_trader: the balance is {money['balance']} {money['currency']}")
        start = {money["currency"]: float(money["start"]) for money in truth["money"]}
        compared = {currency: 0 for currency in start}
        for moment, state in zip(truth["moments"], self.states(run, truth["moments"])):
            theirs = (float(moment["quantity"]), float(moment["unrealized"]), float(moment["balance"]) - start[moment["currency"]])
            ours = state_of(state, moment["symbol"], moment["currency"])
            # The engine rounds unrealized profit to the smallest unit of the currency.
            unit = 0.5 if moment["currency"] == "JPY" else 0.005
            if not all(near(own, other, most) for own, other, most in zip(ours, theirs, (0, unit, 1e-6))):
                raise SystemExit(f"FAILED: at {moment['time']} the engine had {moment}, we say {ours}")
            compared[moment["currency"]] += 1
        server.expect(min(compared.values()) >= MOMENTS, f"nautilus_trader: position, unrealized and realized profit agree at {compared} moments")

    def changes(self, run: str, status: str) -> int:
        """How many orders were once in this state."""
        found, page = 0, 0
        while True:
            reply = self.ask("get_events_by_type", runId=run, eventType="StateChange", pageSize=1000, pageIndex=page, fields=["OrderStatus"])
            found += sum(event.get("properties", {}).get("OrderStatus") == status for event in reply["events"])
            if not reply["metadata"]["hasMore"]:
                return found
            page += 1

    def books_agree(self, run: str, engine: str) -> dict:
        books = self.ask("reconcile_run", runId=run)
        server.expect(books["agrees"], f"{engine}: fills, positions and balance agree {books['firstParting'] or ''}")
        return {balance["what"]: balance for balance in books["balances"]}


def amounts_of(state: dict) -> list:
    """Profit in each currency that has any."""
    return [own for own in state["pnl"].get("byCurrency") or [state["pnl"]] if own.get("currency")]


def cash_differences(state: dict, money: dict, tolerance: float) -> dict:
    """The engine's cash and ours: what was there at the start and was realized since, less what the open positions cost."""
    realized = {own["currency"]: own["realized"] for own in amounts_of(state)}
    wrong = {}
    for currency, own in money.items():
        positions = [position for position in state["positions"] if position.get("currency") == currency]
        cost = sum(float(position["quantity"]) * float(position["averagePrice"]) for position in positions)
        ours = float(own["start"]) + realized.get(currency, 0) - cost
        if not near(ours, float(own["cash"]), tolerance):
            wrong["cash " + currency] = (own["cash"], ours)
    return wrong


def state_of(state: dict, symbol: str, currency: str) -> tuple:
    """Quantity and unrealized profit of a security, and what was realized in its currency; 0 before its first fill."""
    held = next((position for position in state["positions"] if position["securitySymbol"] == symbol), {"quantity": 0, "unrealizedPnL": 0})
    amounts = state["pnl"].get("byCurrency") or [state["pnl"]]
    realized = next((own["realized"] for own in amounts if own.get("currency") == currency), 0)
    return held["quantity"], held["unrealizedPnL"], realized


def zoned(time: str) -> str:
    """backtesting.py's times have no time zone."""
    return time if time.endswith("Z") or "+" in time else time + "Z"


def near(ours, theirs: float, tolerance: float) -> bool:
    """A number that no double holds exactly is a text in our replies."""
    return abs(float(ours) - theirs) <= tolerance


if __name__ == "__main__":
    main()
