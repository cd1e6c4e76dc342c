"""Five real engines run a small strategy on seeded prices, and tell what is in their books.

Each function writes the files that a user of the engine has, and returns the engine's own truth:
counts, and what it held and owned at several moments. `python engines.py FOLDER [ENGINE ...]` keeps both.
"""

import datetime
import json
import pathlib
import random
import sys


def walk(seed: int, start: float, steps: int, spread: float):
    """Bars of a random walk: open, high, low, close."""
    dice, price = random.Random(seed), start
    for _ in range(steps):
        opening, price = price, price + dice.gauss(0, spread)
        edges = abs(dice.gauss(0, spread / 3)), abs(dice.gauss(0, spread / 3))
        yield opening, max(opening, price) + edges[0], min(opening, price) - edges[1], price


def backtesting_py(folder: pathlib.Path) -> dict:
    import pandas
    from backtesting import Backtest, Strategy

    truth = []

    class Scales(Strategy):
        """Goes in and out in parts, on both sides, so that several trades are open at a time."""

        def init(self):
            self.dice = random.Random(7)

        def next(self):
            if self.dice.random() < 0.3:
                side = self.buy if self.dice.random() < 0.5 else self.sell
                side(size=self.dice.randrange(5, 40), tag=self.dice.choice(["calm", "brave"]))
            if len(self.data) % 9 == 0:
                self.position.close(0.5)
            if len(self.data) % 4 == 1:
                closed = sum(trade.pl for trade in self.closed_trades)
                truth.append({"time": self.data.index[-1].isoformat(), "quantity": int(self.position.size), "realized": closed, "traded": bool(self.trades or self.closed_trades)})

    index = pandas.date_range("2024-01-01", periods=240, freq="D")
    bars = pandas.DataFrame(walk(3, 100.0, 240, 2.0), columns=["Open", "High", "Low", "Close"], index=index)
    test = Backtest(bars, Scales, cash=100_000, commission=0.002, margin=0.5, finalize_trades=True)
    stats = test.run()
    stats._trades.to_csv(folder / "trades.csv")
    stats._equity_curve.to_csv(folder / "equity.csv")
    return {
        "trades": int(stats["# Trades"]),
        "commissions": float(stats["Commissions [$]"]),
        "equityFinal": float(stats["Equity Final [$]"]),
        "maxDrawdownPercent": -float(stats["Max. Drawdown [%]"]),
        "start": 100_000,
        "realized": float(stats._trades["PnL"].sum()),
        "moments": truth,
    }


def backtrader(folder: pathlib.Path) -> dict:
    """The transactions of the PyFolio analyzer, and the file of the writer."""
    import backtrader as bt
    import pandas

    truth, commissions = [], []

    class Scales(bt.Strategy):
        def __init__(self):
            self.dice = random.Random(5)

        def notify_order(self, order):
            if order.status == order.Completed:
                commissions.append(order.executed.comm)

        def next(self):
            if self.dice.random() < 0.35:
                side = self.buy if self.dice.random() < 0.5 else self.sell
                side(data=self.dice.choice(self.datas), size=self.dice.randrange(1, 20))
            truth.append({
                "time": self.datas[0].datetime.datetime(0).isoformat() + "Z", "equity": self.broker.getvalue(),
                "positions": {data._name: self.getposition(data).size for data in self.datas},
                "prices": {data._name: self.getposition(data).price for data in self.datas},
            })

    cerebro = bt.Cerebro()
    for name, seed in {"AAA": 1, "BBB": 2}.items():
        index = pandas.date_range("2024-01-01", periods=120, freq="D")
        bars = pandas.DataFrame(walk(seed, 100.0, 120, 2.0), columns=["open", "high", "low", "close"], index=index)
        cerebro.adddata(bt.feeds.PandasData(dataname=bars.assign(volume=1000)), name=name)
    cerebro.addstrategy(Scales)
    cerebro.broker.setcash(100_000)
    cerebro.broker.setcommission(commission=0.001)
    cerebro.addanalyzer(bt.analyzers.PyFolio, _name="pyfolio")
    cerebro.addwriter(bt.WriterFile, csv=True, out=str(folder / "backtrader_writer.csv"))
    strategy = cerebro.run()[0]
    _, _, transactions, _ = strategy.analyzers.pyfolio.get_pf_items()
    # The analyzer adds a row of nothing for bars without a transaction in some versions.
    transactions[transactions["amount"] != 0].to_csv(folder / "backtrader_transactions.csv")
    return {"fills": len(commissions), "commissions": sum(commissions), "start": 100_000, "equityFinal": cerebro.broker.getvalue(), "moments": truth}


def vectorbt(folder: pathlib.Path) -> dict:
    """Orders and value of a portfolio of two securities that share their cash."""
    import numpy
    import pandas
    import vectorbt as vbt

    index = pandas.date_range("2024-01-01", periods=240, freq="h", name="Date")
    close = pandas.DataFrame({name: [bar[3] for bar in walk(seed, 100.0, 240, 1.0)] for name, seed in {"AAA": 11, "BBB": 12}.items()}, index=index)
    dice = random.Random(3)
    size = pandas.DataFrame({name: [dice.choice([0, 0, 0, 5, -5, 12, -20, 8]) for _ in index] for name in close}, index=index, dtype=float).replace(0, numpy.nan)
    portfolio = vbt.Portfolio.from_orders(close, size, fees=0.001, init_cash=100_000, freq="h", cash_sharing=True, group_by=True)
    portfolio.orders.records_readable.to_csv(folder / "vectorbt_orders.csv")
    value, held = portfolio.value().rename("value"), portfolio.assets()
    value.to_csv(folder / "vectorbt_value.csv")
    moments = [{"time": moment.isoformat() + "Z", "equity": float(value[moment]), "positions": {name: float(held.loc[moment, name]) for name in held}} for moment in index[3::4]]
    orders = portfolio.orders.records_readable
    return {"fills": len(orders), "commissions": float(orders["Fees"].sum()), "start": 100_000, "equityFinal": float(value.iloc[-1]), "moments": moments}


def vectorbt_two(folder: pathlib.Path) -> dict:
    """A portfolio whose groups are currencies, each with its own cash."""
    import numpy
    import pandas
    import vectorbt as vbt

    index = pandas.date_range("2024-01-01", periods=240, freq="h", name="Date")
    currencies = {"AAA": "USD", "BBB": "USD", "7203": "JPY"}
    start = {"USD": 100_000, "JPY": 15_000_000}
    close = pandas.DataFrame({name: [bar[3] for bar in walk(seed, *((100.0, 240, 1.0) if currencies[name] == "USD" else (2500.0, 240, 20.0)))] for seed, name in enumerate(currencies)}, index=index)
    dice = random.Random(4)
    size = pandas.DataFrame({name: [dice.choice([0, 0, 0, 5, -5, 12, -20, 8]) for _ in index] for name in close}, index=index, dtype=float).replace(0, numpy.nan)
    groups = pandas.Index(list(currencies.values()), name="currency")
    portfolio = vbt.Portfolio.from_orders(close, size, fees=0.001, init_cash=list(start.values()), freq="h", cash_sharing=True, group_by=groups)
    portfolio.orders.records_readable.to_csv(folder / "vectorbt_two_orders.csv")
    value, cash, held = portfolio.value(), portfolio.cash(), portfolio.assets()
    value.to_csv(folder / "vectorbt_two_value.csv")
    moments = [{
        "time": moment.isoformat() + "Z",
        "money": {name: {"start": start[name], "cash": float(cash.loc[moment, name]), "equity": float(value.loc[moment, name])} for name in start},
        "positions": {name: float(held.loc[moment, name]) for name in held},
    } for moment in index[3::4]]
    return {"currencies": currencies, "fills": len(portfolio.orders.records), "moments": moments}


def basana(folder: pathlib.Path) -> dict:
    """One coin that is traded for dollars and for yen: bars and fills as a table."""
    import asyncio
    import csv
    from decimal import Decimal

    import basana as bs
    from basana.backtesting import exchange as simulated, fees, liquidity

    start = {"USD": Decimal(1_000_000), "JPY": Decimal(150_000_000)}
    step, begin = datetime.timedelta(hours=1), datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)
    dispatcher = bs.backtesting_dispatcher()
    exchange = simulated.Exchange(dispatcher, dict(start), liquidity_strategy_factory=liquidity.InfiniteLiquidity, fee_strategy=fees.Percentage(Decimal("0.1")), default_pair_info=bs.PairInfo(8, 8))
    rows, truth, dice, last = [], [], random.Random(6), {}

    async def fills_of(pair):
        return [(order, fill) for order in await exchange.get_orders(pair=pair) for fill in order.fills]

    async def on_bar(event):
        pair, last[event.bar.pair] = event.bar.pair, event.bar.close
        rows.append({"time": event.when.isoformat(), "kind": "bar", "currency": pair.quote_symbol, "close": event.bar.close})
        money = {}
        for own in pairs:
            held = sum((fill.balance_updates[own.base_symbol] for _, fill in await fills_of(own)), Decimal(0))
            balance = (await exchange.get_balance(own.quote_symbol)).total
            money[own.quote_symbol] = {"start": str(start[own.quote_symbol]), "cash": str(balance), "held": str(held), "equity": str(balance + held * last.get(own, Decimal(0)))}
        truth.append({"time": event.when.isoformat(), "held": str((await exchange.get_balance("BTC")).total), "money": money})
        if dice.random() < 0.4:
            own = Decimal(money[pair.quote_symbol]["held"])
            side = bs.OrderOperation.SELL if own > 1 and dice.random() < 0.5 else bs.OrderOperation.BUY
            await exchange.create_market_order(side, pair, Decimal(dice.randrange(100, 900)) / 1000)

    pairs = [bs.Pair("BTC", "USD"), bs.Pair("BTC", "JPY")]
    for place, pair in enumerate(pairs):
        bars, late = [], datetime.timedelta(minutes=30 * place)
        for number, bar in enumerate(walk(20 + place, *((40_000.0, 160, 300.0) if place == 0 else (6_000_000.0, 160, 40_000.0)))):
            prices = [round(Decimal(price), 2) for price in bar]
            when = begin + number * step + late
            bars.append(bs.BarEvent(when + step, bs.Bar(when, pair, *prices, Decimal(1000), step)))
        exchange.add_bar_source(bs.FifoQueueEventSource(events=bars))
        exchange.subscribe_to_bar_events(pair, on_bar)
    asyncio.run(dispatcher.run())
    for pair in pairs:
        for order, fill in asyncio.run(fills_of(pair)):
            # A fill is dated at the begin of its bar, and booked at its end.
            rows.append({"time": (fill.when + step).isoformat(), "kind": "fill", "order": order.id, "currency": pair.quote_symbol, "side": order.operation.name, "quantity": abs(fill.balance_updates["BTC"]), "price": fill.price, "commission": -fill.fees.get(pair.quote_symbol, Decimal(0))})
    with open(folder / "basana.csv", "w", newline="") as file:
        table = csv.DictWriter(file, ["time", "kind", "order", "symbol", "currency", "side", "quantity", "price", "commission", "close"])
        table.writeheader()
        table.writerows({"symbol": "BTC", **row} for row in rows)
    names = {"OrderId": "order", "SecuritySymbol": "symbol", "Currency": "currency", "Quantity": "quantity", "Price": "price", "Commission": "commission", "Close": "close"}
    mapping = {"timestamp": "time", "eventType": {"column": "kind", "values": {"fill": "TradeExecution", "bar": "MarketDataEvent"}}, "severity": {"value": "Info"}, "properties": {**names, "Direction": {"column": "side", "values": {"BUY": "Buy", "SELL": "Sell"}}}}
    (folder / "basana.map.json").write_text(json.dumps(mapping))
    return {"fills": sum(row["kind"] == "fill" for row in rows), "moments": truth}


def nautilus(folder: pathlib.Path) -> dict:
    """An account in dollars."""
    return nautilus_run(folder / "nautilus.jsonl", ["EUR/USD", "GBP/USD"], {"USD": 1_000_000}, base="USD")


def nautilus_two(folder: pathlib.Path) -> dict:
    """An account in dollars and yen; profit and commissions of a security are in its quote currency."""
    return nautilus_run(folder / "nautilus_two.jsonl", ["EUR/USD", "USD/JPY"], {"USD": 1_000_000, "JPY": 150_000_000}, base=None)


def nautilus_run(file: pathlib.Path, symbols: list, starting: dict, base) -> dict:
    import pandas
    from nautilus_trader.backtest.engine import BacktestEngine, BacktestEngineConfig
    from nautilus_trader.config import LoggingConfig, StrategyConfig
    from nautilus_trader.model.data import Bar, BarType
    from nautilus_trader.model.enums import AccountType, OmsType, OrderSide, OrderStatus, TimeInForce
    from nautilus_trader.model.identifiers import Venue
    from nautilus_trader.model.objects import Currency, Money, Quantity
    from nautilus_trader.test_kit.providers import TestInstrumentProvider
    from nautilus_trader.trading.strategy import Strategy

    venue, events, truth = Venue("SIM"), [], []
    log = lambda event: events.append(type(event).to_dict(event))
    names = {}

    class Busy(Strategy):
        """Sends orders of every kind, some of which are refused, cancelled or run out."""

        def __init__(self, instrument, bar_type, seed):
            super().__init__(StrategyConfig(strategy_id=f"BUSY-{seed}", order_id_tag=f"{seed}"))
            self.instrument, self.bar_type, self.dice, self.bars = instrument, bar_type, random.Random(seed), 0

        def on_start(self):
            self.subscribe_bars(self.bar_type)
            self.clock.set_timer("truth", datetime.timedelta(hours=2), start_time=pandas.Timestamp("2024-01-01T02:30Z"), callback=self.look)

        def look(self, _):
            truth.append({
                "time": self.clock.utc_now().isoformat(), "symbol": names[self.instrument.id],
                "quantity": str(self.portfolio.net_position(self.instrument.id)),
                "balance": str(self.portfolio.account(venue).balance_total(self.instrument.quote_currency).as_decimal()),
                "currency": self.instrument.quote_currency.code,
                "unrealized": self.unrealized(),
                "openOrders": [order.client_order_id.value for order in self.cache.orders_open(instrument_id=self.instrument.id)],
            })

        def unrealized(self):
            """The engine's own valuation of the open position at the last close."""
            held = self.cache.positions_open(instrument_id=self.instrument.id)
            return str(sum(position.unrealized_pnl(self.last).as_decimal() for position in held))

        def on_bar(self, bar):
            log(bar)
            self.last = bar.close
            self.bars += 1
            if self.bars % 7 == 0:
                self.cancel_all_orders(self.instrument.id)
            if self.bars % 3:
                return
            make, close = self.order_factory, bar.close.as_decimal()
            side = OrderSide.BUY if self.dice.random() < 0.5 else OrderSide.SELL
            quantity = self.instrument.make_qty(self.dice.choice([10_000, 20_000, 50_000]))
            away = 80 * self.instrument.price_increment.as_decimal() * (1 if side == OrderSide.BUY else -1)
            price = lambda offset: self.instrument.make_price(close + offset)
            kind = self.dice.randrange(4)
            if kind == 0:
                order = make.market(self.instrument.id, side, quantity)
            elif kind == 1:
                order = make.limit(self.instrument.id, side, quantity, price(-away))
            elif kind == 2:
                order = make.limit(self.instrument.id, side, quantity, price(away), post_only=True)
            else:
                expiry = self.clock.utc_now() + datetime.timedelta(hours=5)
                order = make.stop_market(self.instrument.id, side, quantity, price(away), time_in_force=TimeInForce.GTD, expire_time=expiry)
            self.submit_order(order)

        def on_stop(self):
            self.cancel_all_orders(self.instrument.id)
            self.close_all_positions(self.instrument.id)

    engine = BacktestEngine(BacktestEngineConfig(logging=LoggingConfig(bypass_logging=True)))
    currency = Currency.from_str
    engine.add_venue(
        venue, OmsType.NETTING, AccountType.MARGIN, base_currency=base and currency(base),
        starting_balances=[Money(amount, currency(code)) for code, amount in starting.items()],
    )
    # Not the strategies' own handler: it hears nothing of what happens when they stop.
    for topic in ("events.account*", "events.order*", "events.position*"):
        engine.kernel.msgbus.subscribe(topic, log)
    for seed, symbol in enumerate(symbols):
        instrument = TestInstrumentProvider.default_fx_ccy(symbol, venue)
        names[instrument.id] = symbol
        engine.add_instrument(instrument)
        bar_type = BarType.from_str(f"{instrument.id}-1-HOUR-MID-EXTERNAL")
        begin, hour = pandas.Timestamp("2024-01-01T01:00Z").value, 3600 * 10**9
        engine.add_data([
            Bar(bar_type, *(instrument.make_price(value) for value in bar), Quantity(1_000_000, 0), begin + place * hour, begin + place * hour)
            for place, bar in enumerate(walk(seed, *((150.0, 120, 0.1) if symbol.endswith("JPY") else (1.1, 120, 0.001))))
        ])
        engine.add_strategy(Busy(instrument, bar_type, seed))
    engine.run()
    orders = engine.kernel.cache.orders()
    account = engine.kernel.cache.account_for_venue(venue)
    money = [{
        "currency": code, "start": str(Money(amount, currency(code)).as_decimal()),
        "balance": str(account.balance_total(currency(code)).as_decimal()),
        "commissions": str(account.commissions()[currency(code)].as_decimal()),
    } for code, amount in starting.items()]
    count = lambda *states: sum(order.status in states for order in orders)
    file.write_text("".join(json.dumps(event) + "\n" for event in events))
    return {
        "orders": len(orders),
        "fills": sum(len(order.trade_ids) for order in orders),
        "rejected": count(OrderStatus.REJECTED, OrderStatus.DENIED),
        "cancelled": count(OrderStatus.CANCELED),
        "expired": count(OrderStatus.EXPIRED),
        **money[0],
        "money": money,
        "positions": {symbol: str(engine.kernel.portfolio.net_position(id)) for id, symbol in names.items()},
        "moments": truth,
    }


if __name__ == "__main__":
    place, every = pathlib.Path(sys.argv[1]), {"backtesting_py": backtesting_py, "nautilus": nautilus, "nautilus_two": nautilus_two, "backtrader": backtrader, "vectorbt": vectorbt, "vectorbt_two": vectorbt_two, "basana": basana}
    for name, engine in {name: every[name] for name in sys.argv[2:] or every}.items():
        (place / f"{name}.truth.json").write_text(json.dumps(engine(place), indent=1) + "\n")
