//! The books of a run, kept while it is sealed: positions and trades by average cost from the fills,
//! and one equity curve per currency.
//!
//! Amounts of different currencies are never added. An amount without a currency takes that of its
//! security; if the log names only one currency, unnamed amounts are in it. A symbol that the log
//! names in several currencies has a listing in each, with a position, trades and prices of its own.

pub(crate) mod curve;
pub(crate) mod fills;
pub(crate) mod prices;
pub(crate) mod trades;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rust_decimal::Decimal;

use self::curve::{CurveInfo, Series};
use self::fills::FillWriter;
use self::prices::Quote;
use self::trades::{OpenTrade, Securities, Trade};
use crate::error::LogError;
use crate::event::EventType;
use crate::performance::{self, RunSummary};
use crate::position::{Position, decimal};
use crate::scan::outline::Outline;
use crate::scan::{self, Token};
use crate::store::{BlobKey, BlobKind};
use crate::timestamp::Timestamp;

/// Currencies with books of their own; a log with more is a mistake in its `Currency` properties.
const MAX_CURRENCIES: usize = 64;
/// Fraction digits of a point of a curve.
const CURVE_DIGITS: u32 = 8;

/// Keeps the books while events are written in order of time.
#[derive(Debug, Default)]
pub(crate) struct Books {
    /// Each listing, and its place by [`listing_key`].
    securities: Vec<Security>,
    index: HashMap<Box<str>, usize>,
    /// The last market price, by the code of the symbol.
    prices: Vec<Option<Decimal>>,
    fills: FillWriter,
    trades: Vec<Trade>,
    accounts: BTreeMap<String, Account>,
    /// The currencies of listings, at most [`MAX_CURRENCIES`].
    currencies: BTreeSet<String>,
    /// Securities with an open position, and the time when the first was opened.
    open_positions: usize,
    in_market_since: Timestamp,
    in_market: i64,
    unusable_fills: u64,
}

/// A listing of a security with its position by the fills.
#[derive(Debug, Default)]
struct Security {
    symbol: Box<str>,
    /// Of a listing in another currency than the first of its symbol.
    other_key: Option<Box<str>>,
    /// The last market price of such a listing.
    market: Option<Decimal>,
    /// Whether it has fills or updates; others have market data only.
    is_traded: bool,
    currency: String,
    position: Position,
    trade: Option<OpenTrade>,
    /// The last market price, or that of the last fill if there is none.
    price: Option<Decimal>,
    unrealized: Decimal,
}

/// Amounts in one currency.
#[derive(Debug, Default)]
struct Account {
    realized: Decimal,
    /// The last realized profit in the log, and that of the fills at the time.
    reported: Option<(Decimal, Decimal)>,
    unrealized: Decimal,
    commission: Decimal,
    series: Series,
}

/// How an event was booked: whether it is a usable fill, and the place of its listing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Booked {
    pub(crate) is_fill: bool,
    listing: Option<usize>,
}

/// A usable fill.
struct Fill<'a> {
    signed: Decimal,
    price: Decimal,
    commission: Decimal,
    foreign: Option<(Token<'a>, Decimal)>,
}

/// What the books contribute to the head of a run.
#[derive(Debug, Default)]
pub(crate) struct ClosedBooks {
    pub(crate) trades: u64,
    pub(crate) curves: Vec<CurveInfo>,
    pub(crate) summary: RunSummary,
}

impl Books {
    /// Books an event that is no market data, of a symbol and its code.
    pub(crate) fn event(
        &mut self,
        seq: u32,
        time: Timestamp,
        event_type: EventType,
        symbol: Option<(&str, u32)>,
        outline: &Outline<'_>,
    ) -> Result<Booked, LogError> {
        let mut booked = Booked::default();
        match (event_type, symbol) {
            (EventType::TradeExecution, symbol) => {
                if let Some((symbol, fill)) = symbol.zip(usable_fill(outline)) {
                    booked = self.fill((seq, time), symbol, &fill, outline)?;
                }
                self.unusable_fills += u64::from(!booked.is_fill);
            }
            (EventType::PositionUpdate, Some((symbol, _))) => {
                if let Some(currency) = named_currency(outline.member("Currency")) {
                    let place = self.listing(symbol, Some(currency));
                    self.trade_in(place);
                    booked.listing = Some(place);
                }
            }
            (EventType::StateChange, _) => self.state(time, outline),
            _ => {}
        }
        Ok(booked)
    }

    /// The key in dictionaries of the listing that an event was booked in, or the symbol.
    pub(crate) fn key<'a>(&'a self, booked: Booked, symbol: &'a str) -> &'a str {
        let listing = booked.listing.and_then(|place| self.securities.get(place));
        listing.and_then(|own| own.other_key.as_deref()).unwrap_or(symbol)
    }

    /// The place of a symbol's listing in a currency. The first currency that the log names for a
    /// symbol is that of its events without one.
    fn listing(&mut self, symbol: &str, currency: Option<String>) -> usize {
        let first = self.place_of(symbol);
        let Some(currency) = currency else { return first };
        let known = self.securities.get(first).map_or("", |own| own.currency.as_str());
        if known == currency {
            return first;
        }
        let is_full = self.currencies.len() >= MAX_CURRENCIES;
        if is_full && !self.currencies.contains(&currency) {
            return first;
        }
        self.currencies.insert(currency.clone());
        let place = if known.is_empty() {
            first
        } else {
            let key = listing_key(symbol, &currency);
            let place = self.place_of(&key);
            if let Some(security) = self.securities.get_mut(place) {
                security.symbol = symbol.into();
                security.other_key = Some(key.into());
            }
            place
        };
        if let Some(security) = self.securities.get_mut(place) {
            security.currency = currency;
        }
        place
    }

    /// Notes that a listing is traded: its currency has an account.
    fn trade_in(&mut self, place: usize) {
        if let Some(security) = self.securities.get_mut(place) {
            security.is_traded = true;
            if !self.accounts.contains_key(&security.currency) {
                self.accounts.insert(security.currency.clone(), Account::default());
            }
        }
    }

    fn place_of(&mut self, symbol: &str) -> usize {
        if let Some(place) = self.index.get(symbol) {
            return *place;
        }
        let place = self.securities.len();
        self.index.insert(symbol.into(), place);
        self.securities.push(Security { symbol: symbol.into(), ..Security::default() });
        place
    }

    /// Books a fill of a symbol and its code.
    fn fill(
        &mut self,
        (seq, time): (u32, Timestamp),
        (symbol, code): (&str, u32),
        fill: &Fill<'_>,
        outline: &Outline<'_>,
    ) -> Result<Booked, LogError> {
        let place = self.listing(symbol, named_currency(outline.member("Currency")));
        self.trade_in(place);
        let unbooked = Booked { is_fill: false, listing: Some(place) };
        let Some(security) = self.securities.get_mut(place) else { return Ok(unbooked) };
        let (mut commission, mut foreign) = (fill.commission, None);
        if let Some((token, amount)) = fill.foreign
            && !security.currency.is_empty()
            && let Some(currency) = token.text().filter(|own| **own != security.currency)
        {
            commission = Decimal::ZERO;
            foreign = Some((currency.into_owned(), amount));
        }
        let before = security.position.clone();
        if security.position.fill(fill.signed, fill.price, commission).is_none() {
            return Ok(unbooked);
        }
        self.fills.push(seq, &security.position, fill.price)?;
        let closed = security.book_trade(seq, time, &before, fill, commission, foreign.as_ref());
        self.trades.extend(closed);
        // The same price as in a snapshot.
        let market = match security.other_key {
            None => self.prices.get(code as usize).copied().flatten(),
            Some(_) => security.market,
        };
        security.price = market.or(Some(fill.price));
        let (was_flat, is_flat) = (before.quantity.is_zero(), security.position.quantity.is_zero());
        let realized = security.position.realized.checked_sub(before.realized).unwrap_or_default();
        let change = security.revalue();
        let currency = security.currency.clone();
        self.count_position(time, was_flat, is_flat);
        if let Some((currency, amount)) = foreign {
            let account = self.accounts.entry(currency).or_default();
            account.commission = account.commission.checked_add(amount).unwrap_or_default();
            account.book(time, -amount, Decimal::ZERO);
        }
        let account = self.accounts.entry(currency).or_default();
        account.commission = account.commission.checked_add(commission).unwrap_or_default();
        account.book(time, realized, change);
        Ok(Booked { is_fill: true, ..unbooked })
    }

    fn count_position(&mut self, time: Timestamp, was_flat: bool, is_flat: bool) {
        match (was_flat, is_flat) {
            (true, false) => {
                if self.open_positions == 0 {
                    self.in_market_since = time;
                }
                self.open_positions += 1;
            }
            (false, true) => {
                self.open_positions = self.open_positions.saturating_sub(1);
                if self.open_positions == 0 {
                    let held = time.nanos().saturating_sub(self.in_market_since.nanos());
                    self.in_market = self.in_market.saturating_add(held);
                }
            }
            (true, true) | (false, false) => {}
        }
    }

    /// Notes a market price of a symbol and its code, and values an open position at it.
    pub(crate) fn market(
        &mut self,
        time: Timestamp,
        (symbol, code): (&str, u32),
        price: Decimal,
        outline: &Outline<'_>,
    ) -> Booked {
        let named = named_currency(outline.member("Currency"));
        let listing = match named {
            Some(currency) => Some(self.listing(symbol, Some(currency))),
            None => self.index.get(symbol).copied(),
        };
        let booked = Booked { is_fill: false, listing };
        let security = listing.and_then(|place| self.securities.get_mut(place));
        match security {
            Some(own) if own.other_key.is_some() => own.market = Some(price),
            _ => self.note_price(code as usize, price),
        }
        if let Some(place) = listing {
            self.mark(time, place, outline);
        }
        booked
    }

    fn note_price(&mut self, place: usize, price: Decimal) {
        if self.prices.len() <= place {
            self.prices.resize(place + 1, None);
        }
        if let Some(own) = self.prices.get_mut(place) {
            *own = Some(price);
        }
    }

    /// Values an open position at the price of an event.
    fn mark(&mut self, time: Timestamp, place: usize, outline: &Outline<'_>) {
        let Some(security) = self.securities.get_mut(place) else { return };
        if security.position.quantity.is_zero() {
            return;
        }
        let Some(quote) = prices::quote(outline) else { return };
        security.price = Some(quote.last);
        security.mark_trade(&quote);
        let change = security.revalue();
        if let Some(account) = self.accounts.get_mut(&security.currency) {
            account.series.has_prices = true;
            account.book(time, Decimal::ZERO, change);
        }
    }

    fn state(&mut self, time: Timestamp, outline: &Outline<'_>) {
        let after = |name: &str| outline.member_of("StateAfter", name);
        let number =
            |name: &str| after(name).and_then(|token| token.number_text()).and_then(decimal);
        let currency = named_currency(after("Currency"))
            .or_else(|| named_currency(outline.member("Currency")))
            .unwrap_or_default();
        let kind = outline.member("StateType");
        if kind == Some(Token::Text("Account")) {
            if let Some(Token::Object(balances)) = after("Balances") {
                for (name, amount) in scan::members(balances) {
                    let own = named_currency(Some(Token::Text(name))).unwrap_or_default();
                    if let Some(value) = amount.number_text().and_then(decimal) {
                        let account = self.account(own);
                        Series::push(&mut account.series.balance, time, value);
                    }
                }
            }
            let (equity, balance) = (number("Equity"), number("Balance"));
            let series = &mut self.account(currency).series;
            for (points, value) in [(&mut series.equity, equity), (&mut series.balance, balance)] {
                if let Some(value) = value {
                    Series::push(points, time, value);
                }
            }
        } else if kind == Some(Token::Text("PnL")) {
            let unrealized = number("UnrealizedPnL");
            let Some(realized) = number("RealizedPnL") else { return };
            let whole = realized.checked_add(unrealized.unwrap_or_default());
            let account = self.account(currency);
            account.series.has_unrealized |= unrealized.is_some();
            if let Some(value) = whole {
                Series::push(&mut account.series.pnl, time, value);
            }
            account.reported = Some((realized, account.realized));
            account.book(time, Decimal::ZERO, Decimal::ZERO);
        }
    }

    /// The account of a currency; beyond the limit, that of the unnamed one.
    fn account(&mut self, currency: String) -> &mut Account {
        let is_full = self.accounts.len() >= MAX_CURRENCIES;
        let currency = if is_full && !self.accounts.contains_key(&currency) {
            String::new()
        } else {
            currency
        };
        self.accounts.entry(currency).or_default()
    }

    /// Closes the books at the end of the run.
    pub(crate) fn finish(
        mut self,
        (first, last): (Timestamp, Timestamp),
        out: &mut Vec<(BlobKey, Vec<u8>)>,
    ) -> Result<ClosedBooks, LogError> {
        if self.open_positions > 0 {
            let held = last.nanos().saturating_sub(self.in_market_since.nanos());
            self.in_market = self.in_market.saturating_add(held);
        }
        self.name_only_currency();
        std::mem::take(&mut self.fills).finish(out)?;
        for security in &mut self.securities {
            self.trades.extend(security.trade.take().map(|open| open.trade));
        }
        let order = |trade: &Trade| (trade.closed.unwrap_or(Timestamp::MAX), trade.opened);
        self.trades.sort_by(|a, b| order(a).cmp(&order(b)).then_with(|| a.fills.cmp(&b.fills)));
        trades::write(&self.trades, out)?;
        let mut named: Vec<(Box<str>, Box<str>)> = std::mem::take(&mut self.securities)
            .into_iter()
            .filter(|own| own.is_traded)
            .map(|own| (own.other_key.unwrap_or(own.symbol), own.currency.into_boxed_str()))
            .collect();
        named.sort_unstable();
        let securities = Securities(named).write()?;
        out.push((BlobKey::new(BlobKind::Securities, 0, 0), securities));
        let mut summary = RunSummary {
            in_market: self.in_market,
            unusable_fills: self.unusable_fills,
            ..RunSummary::default()
        };
        let mut curves = Vec::new();
        for (currency, account) in std::mem::take(&mut self.accounts) {
            let commission = account.commission;
            let chosen = account.series.choose(first);
            let own: Vec<&Trade> =
                self.trades.iter().filter(|trade| trade.currency == currency).collect();
            if chosen.is_none() && own.is_empty() {
                continue;
            }
            let points = chosen.as_ref().map_or(&[][..], |(_, _, points)| points.as_slice());
            let source = chosen.as_ref().map(|(source, is_account, _)| (*source, *is_account));
            let figures = performance::summarize(&currency, source, points, &own, commission);
            summary.currencies.push(figures);
            if let Some((source, is_account, points)) = chosen {
                let place = u16::try_from(curves.len()).unwrap_or(u16::MAX);
                curve::write(place, &points, out)?;
                let points = points.len() as u64;
                curves.push(CurveInfo { currency, source, is_account, points });
            }
        }
        Ok(ClosedBooks { trades: self.trades.len() as u64, curves, summary })
    }

    /// In a log that names one currency, the unnamed amounts are in it.
    fn name_only_currency(&mut self) {
        let mut named = self.accounts.keys().filter(|currency| !currency.is_empty());
        let (Some(only), None) = (named.next().cloned(), named.next()) else { return };
        let Some(unnamed) = self.accounts.remove("") else { return };
        for security in self.securities.iter_mut().filter(|own| own.currency.is_empty()) {
            security.currency.clone_from(&only);
            if let Some(open) = &mut security.trade {
                open.trade.currency.clone_from(&only);
            }
        }
        for trade in self.trades.iter_mut().filter(|trade| trade.currency.is_empty()) {
            trade.currency.clone_from(&only);
        }
        let account = self.accounts.entry(only).or_default();
        account.commission = account.commission.checked_add(unnamed.commission).unwrap_or_default();
        account.series.merge(unnamed.series);
    }
}

impl Account {
    /// Adds a change of profit at a time.
    fn book(&mut self, time: Timestamp, realized: Decimal, unrealized: Decimal) {
        self.realized = self.realized.checked_add(realized).unwrap_or(self.realized);
        self.unrealized = self.unrealized.checked_add(unrealized).unwrap_or(self.unrealized);
        // The engine's own figure is preferred: it includes its rounding, and costs that are no
        // commissions. Fills since then are added to it.
        let realized_now = self.reported.map_or(Some(self.realized), |(logged, then)| {
            logged.checked_add(self.realized.checked_sub(then)?)
        });
        let realized_now = realized_now.unwrap_or(self.realized);
        let whole = realized_now.checked_add(self.unrealized).unwrap_or(realized_now);
        Series::push(&mut self.series.marked, time, whole.round_dp(CURVE_DIGITS));
        if !realized.is_zero() || self.series.fills.is_empty() {
            let realized = self.realized.round_dp(CURVE_DIGITS);
            Series::push(&mut self.series.fills, time, realized);
        }
    }
}

impl Security {
    /// Values the position at the last price. Returns the change of unrealized profit.
    fn revalue(&mut self) -> Decimal {
        let now = self.price.and_then(|price| unrealized(&self.position, price));
        let now = now.unwrap_or_default();
        let change = now.checked_sub(self.unrealized).unwrap_or_default();
        self.unrealized = now;
        change
    }

    /// Books a fill in the open trade, or in a new one. Returns a trade that it closed.
    fn book_trade(
        &mut self,
        seq: u32,
        time: Timestamp,
        before: &Position,
        fill: &Fill<'_>,
        commission: Decimal,
        foreign: Option<&(String, Decimal)>,
    ) -> Option<Trade> {
        let (was, now) = (before.quantity, self.position.quantity);
        if was.is_zero() && now.is_zero() {
            return None;
        }
        let is_reduction =
            !was.is_zero() && was.is_sign_negative() != fill.signed.is_sign_negative();
        let flipped = is_reduction && !now.is_zero() && fill.signed.abs() > was.abs();
        let (symbol, currency) = (&self.symbol, &self.currency);
        let start = |quantity: Decimal| {
            OpenTrade::new(symbol, currency, !quantity.is_sign_negative(), time)
        };
        let mut open = self.trade.take().unwrap_or_else(|| start(now));
        let booked = if flipped { was.abs() } else { fill.signed.abs() };
        open.add(seq, booked, fill.price, !is_reduction);
        let trade = &mut open.trade;
        trade.currency.clone_from(currency);
        trade.size = trade.size.max(was.abs()).max(if flipped { was.abs() } else { now.abs() });
        let net = self.position.realized.checked_sub(before.realized).unwrap_or_default();
        let gross = net.checked_add(commission).unwrap_or(net);
        trade.gross = trade.gross.checked_add(gross).unwrap_or(trade.gross);
        trade.commission = trade.commission.checked_add(commission).unwrap_or(trade.commission);
        if let Some((currency, amount)) = foreign {
            open.add_foreign_commission(currency, *amount);
        }
        if !flipped && !now.is_zero() {
            self.trade = Some(open);
            return None;
        }
        if flipped {
            let mut next = start(now);
            next.add(seq, now.abs(), fill.price, true);
            next.trade.size = now.abs();
            self.trade = Some(next);
        }
        let realized = open.trade.gross;
        if open.trade.excursion.is_some() {
            open.mark(realized);
        }
        open.trade.closed = Some(time);
        Some(open.trade)
    }

    /// Extends the excursion of the open trade to the range of a bar.
    fn mark_trade(&mut self, quote: &Quote) {
        let Some(open) = &mut self.trade else { return };
        for price in [quote.low, quote.high, quote.last] {
            let profit = unrealized(&self.position, price)
                .and_then(|unrealized| unrealized.checked_add(open.trade.gross));
            if let Some(profit) = profit {
                open.mark(profit);
            }
        }
    }
}

/// Separates symbol and currency in a [`listing_key`].
const LISTING_SEPARATOR: char = '\u{1}';

/// The key of a listing in another currency than the first of its symbol; that of the first is the
/// symbol.
pub(crate) fn listing_key(symbol: &str, currency: &str) -> String {
    format!("{symbol}{LISTING_SEPARATOR}{currency}")
}

/// The symbol of a [`listing_key`], and the currency if it is not the symbol's first.
pub(crate) fn split_listing(key: &str) -> (&str, Option<&str>) {
    key.split_once(LISTING_SEPARATOR).map_or((key, None), |(symbol, own)| (symbol, Some(own)))
}

/// Profit of an open position at a price.
pub(crate) fn unrealized(position: &Position, price: Decimal) -> Option<Decimal> {
    price.checked_sub(position.average)?.checked_mul(position.quantity)
}

fn usable_fill<'a>(outline: &Outline<'a>) -> Option<Fill<'a>> {
    let number = |name: &str| outline.member(name)?.number_text().and_then(decimal);
    let (quantity, price) = (number("Quantity")?, number("Price")?);
    let signed = match outline.member("Direction")? {
        Token::Text("Buy") => quantity,
        Token::Text("Sell") => -quantity,
        _ => return None,
    };
    let commission = number("Commission").unwrap_or_default();
    let foreign = outline.member("CommissionCurrency").map(|token| (token, commission));
    Some(Fill { signed, price, commission, foreign })
}

fn named_currency(token: Option<Token<'_>>) -> Option<String> {
    token?.text().filter(|text| !text.is_empty() && text.len() <= 32).map(|text| text.into_owned())
}
