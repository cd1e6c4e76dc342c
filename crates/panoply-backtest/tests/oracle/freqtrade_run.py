#!/usr/bin/env python3
"""Runs freqtrade on seeded prices and stores its results with its own totals.

    pip install freqtrade==2026.9
    python3 crates/panoply-backtest/tests/oracle/freqtrade_run.py crates/panoply-backtest/tests/golden

The engine is unmodified, except that the list of markets is given instead of fetched.
"""
import json, pathlib, random, shutil, sys, tempfile, zipfile
from unittest.mock import patch

import pandas
from freqtrade.exchange import Exchange
from freqtrade.main import main

STRATEGIES = '''
from freqtrade.strategy import IStrategy

class Sample(IStrategy):
    INTERFACE_VERSION = 3
    timeframe, minimal_roi, stoploss = "5m", {"0": 0.02}, -0.02
    position_adjustment_enable, max_entry_position_adjustment = True, 1

    def populate_indicators(self, frame, _):
        frame["mean"] = frame["close"].rolling(12).mean()
        return frame

    def populate_entry_trend(self, frame, _):
        crossed = (frame["close"] > frame["mean"]) & (frame["close"].shift(1) <= frame["mean"].shift(1))
        frame.loc[crossed, ["enter_long", "enter_tag"]] = (1, "cross")
        return frame

    def populate_exit_trend(self, frame, _):
        frame.loc[frame["close"] < frame["mean"] * 0.997, ["exit_long", "exit_tag"]] = (1, "under")
        return frame

    def adjust_trade_position(self, trade, current_time, current_rate, current_profit, *rest, **named):
        if current_profit < -0.005 and trade.nr_of_successful_entries == 1:
            return trade.stake_amount / 2
        if current_profit > 0.01 and trade.nr_of_successful_exits == 0:
            return -trade.stake_amount / 3

class Other(Sample):
    minimal_roi = {"0": 0.01}
'''


def market(base):
    return dict(id=base + "BTC", symbol=base + "/BTC", base=base, quote="BTC", active=True, spot=True, swap=False, future=False,
                type="spot", margin=False, contract=False, linear=None, inverse=None, contractSize=None, taker=0.001, maker=0.001,
                precision=dict(price=1e-8, amount=1e-3, cost=1e-8), info={},
                limits=dict(amount=dict(min=0.001, max=1e8), price=dict(min=None, max=None), cost=dict(min=0.0001, max=1e6), leverage=dict(min=1, max=1)))


MARKETS = {f"{base}/BTC": market(base) for base in ("ETH", "XRP")}


def give_markets(self, *_, **__):
    self._markets = MARKETS
    self._api.set_markets(MARKETS)
    self._api_async.markets = MARKETS


def run(folder, *strategies):
    (folder / "data").mkdir(parents=True)
    (folder / "strategies").mkdir()
    (folder / "strategies/s.py").write_text(STRATEGIES)
    dice, start = random.Random(5), pandas.Timestamp("2024-01-01T00:00Z")
    for pair, price in (("ETH_BTC", 0.05), ("XRP_BTC", 0.00002)):
        rows = []
        for place in range(300):
            opening, price = price, price * (1 + dice.gauss(0, 0.003))
            high = max(opening, price) * (1 + abs(dice.gauss(0, 0.001)))
            low = min(opening, price) * (1 - abs(dice.gauss(0, 0.001)))
            rows.append([start + pandas.Timedelta(minutes=5 * place), opening, high, low, price, dice.uniform(10, 100)])
        frame = pandas.DataFrame(rows, columns=["date", "open", "high", "low", "close", "volume"])
        frame["date"] = frame["date"].astype("datetime64[ms, UTC]")
        frame.to_feather(folder / f"data/{pair}-5m.feather", compression="lz4", compression_level=9)
    pricing = dict(price_side="same", use_order_book=False)
    config = dict(max_open_trades=2, stake_currency="BTC", stake_amount=0.1, dry_run=True, dry_run_wallet=1, fee=0.001,
                  exchange=dict(name="binance", pair_whitelist=list(MARKETS), key="", secret=""), pairlists=[dict(method="StaticPairList")],
                  entry_pricing=pricing, exit_pricing=pricing, user_data_dir=str(folder))
    (folder / "config.json").write_text(json.dumps(config))
    nothing = lambda *_, **__: None
    with patch.multiple(Exchange, reload_markets=give_markets, validate_timeframes=nothing, validate_config=nothing):
        try:
            main(["backtesting", "-c", str(folder / "config.json"), "--userdir", str(folder), "-d", str(folder / "data"), "-i", "5m",
                  "--strategy-list", *strategies, "--export", "trades", "--cache", "none", "--data-format-ohlcv", "feather"])
        except SystemExit as end:
            assert not end.code, end
    return next((folder / "backtest_results").glob("*.zip"))


def totals(result):
    archive = zipfile.ZipFile(result)
    name = min((name for name in archive.namelist() if name.endswith(".json")), key=len)
    truth = {}
    for name, one in json.loads(archive.read(name))["strategy"].items():
        truth[name] = dict(
            trades=one["total_trades"], orders=sum(len(trade["orders"]) for trade in one["trades"]), profit=one["profit_total_abs"],
            start=one["starting_balance"], balance=one["final_balance"], pairs=sorted({trade["pair"] for trade in one["trades"]}))
    return truth


out = pathlib.Path(sys.argv[1])
truth = {}
for name, strategies in {"freqtrade": ["Sample"], "freqtrade_two": ["Sample", "Other"]}.items():
    with tempfile.TemporaryDirectory() as folder:
        result = run(pathlib.Path(folder) / "user", *strategies)
        shutil.copy(result, out / f"{name}.zip")
        truth[name] = totals(result)
(out / "freqtrade.truth.json").write_text(json.dumps(truth, indent=1) + "\n")
