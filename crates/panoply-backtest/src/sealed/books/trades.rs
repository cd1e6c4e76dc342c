//! Trades: from flat to flat in one security, or to the fill that changes sides.

use std::borrow::Cow;

use rust_decimal::Decimal;

use super::fills::amount;
use crate::error::LogError;
use crate::sealed::Weight;
use crate::sealed::codec::{self, Reader, count, put_signed, put_text, put_varint};
use crate::store::{BlobKey, BlobKind};
use crate::timestamp::Timestamp;

/// Trades in a blob.
const CHUNK_TRADES: usize = 256;

/// A trade.
#[derive(Clone, Debug, PartialEq)]
pub struct Trade {
    /// The security.
    pub symbol: String,
    /// Currency of prices and profit; empty when the log names none.
    pub currency: String,
    /// Long or short.
    pub is_long: bool,
    /// Time of the first fill.
    pub opened: Timestamp,
    /// Time of the last fill; `None` while the trade is open.
    pub closed: Option<Timestamp>,
    /// The seqs of the fills, in order.
    pub fills: Vec<u32>,
    /// Largest position.
    pub size: Decimal,
    /// Average price of the fills that increased the position.
    pub entry: Decimal,
    /// Average price of the fills that reduced it; zero while there is none.
    pub exit: Decimal,
    /// Realized profit before commissions.
    pub gross: Decimal,
    /// Commissions in the currency of the security.
    pub commission: Decimal,
    /// Commissions in other currencies.
    pub foreign_commissions: Vec<(String, Decimal)>,
    /// Largest loss and largest profit during the trade, before commissions, at the prices of the
    /// log; `None` if the log has no price of the security during the trade.
    pub excursion: Option<(Decimal, Decimal)>,
}

impl Trade {
    /// Realized profit net of commissions in the currency of the security.
    pub fn profit(&self) -> Decimal {
        self.gross.checked_sub(self.commission).unwrap_or(self.gross)
    }

    /// Average price of the fills that reduced the position; `None` if there is none. An option that
    /// expires worthless has the price zero.
    pub fn exit_price(&self) -> Option<Decimal> {
        (self.closed.is_some() || !self.exit.is_zero()).then_some(self.exit)
    }

    fn write(&self, out: &mut Vec<u8>) {
        put_text(out, &self.symbol);
        put_text(out, &self.currency);
        out.push(u8::from(self.is_long) | u8::from(self.closed.is_some()) << 1);
        put_signed(out, self.opened.nanos());
        put_signed(out, self.closed.map_or(0, Timestamp::nanos));
        put_varint(out, self.fills.len() as u64);
        let mut last = 0;
        for seq in &self.fills {
            put_varint(out, u64::from(seq - last));
            last = *seq;
        }
        for amount in [self.size, self.entry, self.exit, self.gross, self.commission] {
            put_amount(out, amount);
        }
        put_varint(out, self.foreign_commissions.len() as u64);
        for (currency, amount) in &self.foreign_commissions {
            put_text(out, currency);
            put_amount(out, *amount);
        }
        out.push(u8::from(self.excursion.is_some()));
        if let Some((adverse, favourable)) = self.excursion {
            put_amount(out, adverse);
            put_amount(out, favourable);
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, LogError> {
        let (symbol, currency) = (reader.text()?.to_owned(), reader.text()?.to_owned());
        let flags = reader.byte()?;
        let opened = Timestamp::from_nanos(reader.signed()?);
        let closed = Timestamp::from_nanos(reader.signed()?);
        let (mut fills, mut seq) = (Vec::new(), 0_u32);
        for _ in 0..reader.length()? {
            seq = seq.wrapping_add(reader.varint_u32()?);
            fills.push(seq);
        }
        let [size, entry, exit, gross, commission] =
            [amount(reader)?, amount(reader)?, amount(reader)?, amount(reader)?, amount(reader)?];
        let mut foreign_commissions = Vec::new();
        for _ in 0..reader.length()? {
            foreign_commissions.push((reader.text()?.to_owned(), amount(reader)?));
        }
        let excursion = match reader.byte()? {
            0 => None,
            _ => Some((amount(reader)?, amount(reader)?)),
        };
        let is_long = flags & 1 != 0;
        let closed = (flags & 2 != 0).then_some(closed);
        Ok(Self {
            symbol,
            currency,
            is_long,
            opened,
            closed,
            fills,
            size,
            entry,
            exit,
            gross,
            commission,
            foreign_commissions,
            excursion,
        })
    }
}

fn put_amount(out: &mut Vec<u8>, amount: Decimal) {
    put_text(out, &amount.normalize().to_string());
}

/// A trade in progress.
#[derive(Debug)]
pub(super) struct OpenTrade {
    pub(super) trade: Trade,
    /// Quantity and worth of the fills that increased the position, and of those that reduced it.
    entered: (Decimal, Decimal),
    left: (Decimal, Decimal),
}

impl OpenTrade {
    pub(super) fn new(symbol: &str, currency: &str, is_long: bool, opened: Timestamp) -> Self {
        let zero = Decimal::ZERO;
        Self {
            trade: Trade {
                symbol: symbol.to_owned(),
                currency: currency.to_owned(),
                is_long,
                opened,
                closed: None,
                fills: Vec::new(),
                size: zero,
                entry: zero,
                exit: zero,
                gross: zero,
                commission: zero,
                foreign_commissions: Vec::new(),
                excursion: None,
            },
            entered: (zero, zero),
            left: (zero, zero),
        }
    }

    /// Books the part of a fill that belongs to this trade.
    pub(super) fn add(&mut self, seq: u32, quantity: Decimal, price: Decimal, is_entry: bool) {
        if self.trade.fills.last() != Some(&seq) {
            self.trade.fills.push(seq);
        }
        let side = if is_entry { &mut self.entered } else { &mut self.left };
        let worth = quantity.checked_mul(price).and_then(|worth| side.1.checked_add(worth));
        if let (Some(total), Some(worth)) = (side.0.checked_add(quantity), worth) {
            *side = (total, worth);
        }
        let average =
            |(quantity, worth): (Decimal, Decimal)| worth.checked_div(quantity).unwrap_or_default();
        self.trade.entry = average(self.entered);
        self.trade.exit = average(self.left);
    }

    pub(super) fn add_foreign_commission(&mut self, currency: &str, amount: Decimal) {
        let own = &mut self.trade.foreign_commissions;
        match own.iter_mut().find(|(known, _)| known == currency) {
            Some((_, total)) => *total = total.checked_add(amount).unwrap_or(*total),
            None => own.push((currency.to_owned(), amount)),
        }
    }

    /// Extends the excursion to a profit before commissions.
    pub(super) fn mark(&mut self, profit: Decimal) {
        let (adverse, favourable) = self.trade.excursion.unwrap_or_default();
        self.trade.excursion = Some((adverse.min(profit), favourable.max(profit)));
    }
}

/// Encodes trades in blobs.
pub(super) fn write(trades: &[Trade], out: &mut Vec<(BlobKey, Vec<u8>)>) -> Result<(), LogError> {
    for (number, chunk) in trades.chunks(CHUNK_TRADES).enumerate() {
        let mut bytes = Vec::new();
        chunk.iter().for_each(|trade| trade.write(&mut bytes));
        let blob = codec::compress(&bytes, codec::SEALED_LEVEL)?;
        out.push((BlobKey::new(BlobKind::Trades, 0, count(number)), blob));
    }
    Ok(())
}

/// Number of blobs of this many trades.
pub(crate) fn chunks(trades: u64) -> u32 {
    u32::try_from(trades.div_ceil(CHUNK_TRADES as u64)).unwrap_or(u32::MAX)
}

pub(crate) fn read(blob: &[u8]) -> Result<Vec<Trade>, LogError> {
    let bytes = codec::decompress(blob)?;
    let mut reader = Reader(&bytes);
    let mut trades = Vec::new();
    while !reader.is_empty() {
        trades.push(Trade::read(&mut reader)?);
    }
    Ok(trades)
}

impl Weight for Vec<Trade> {
    fn weight(&self) -> usize {
        self.iter().map(|trade| size_of::<Trade>() + trade.fills.len() * 4 + 32).sum()
    }
}

/// The listings of a run with fills or updates, and their currencies.
#[derive(Debug, Default)]
pub(crate) struct Securities(pub(crate) Vec<(Box<str>, Box<str>)>);

impl Securities {
    pub(super) fn write(&self) -> Result<Vec<u8>, LogError> {
        let mut out = Vec::new();
        for (symbol, currency) in &self.0 {
            put_text(&mut out, symbol);
            put_text(&mut out, currency);
        }
        codec::compress(&out, codec::SEALED_LEVEL)
    }

    pub(crate) fn read(blob: &[u8]) -> Result<Self, LogError> {
        let bytes = codec::decompress(blob)?;
        let mut reader = Reader(&bytes);
        let mut securities = Vec::new();
        while !reader.is_empty() {
            securities.push((reader.text()?.into(), reader.text()?.into()));
        }
        Ok(Self(securities))
    }

    /// The currency of a listing, if the log names one. Listings are sorted.
    pub(crate) fn currency(&self, listing: &str) -> Option<Cow<'_, str>> {
        let place = self.0.binary_search_by(|(own, _)| (**own).cmp(listing)).ok()?;
        let (_, currency) = self.0.get(place)?;
        (!currency.is_empty()).then_some(Cow::Borrowed(currency))
    }
}

impl Weight for Securities {
    fn weight(&self) -> usize {
        self.0.iter().map(|(symbol, currency)| symbol.len() + currency.len() + 32).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trades_round_trip() {
        let mut open = OpenTrade::new("A", "EUR", true, Timestamp::from_nanos(-5));
        open.add(3, Decimal::from(2), Decimal::from(10), true);
        open.add(9, Decimal::from(2), Decimal::from(13), true);
        open.add_foreign_commission("USD", Decimal::ONE);
        open.add_foreign_commission("USD", Decimal::ONE);
        let mut closed = open.trade.clone();
        closed.closed = Some(Timestamp::from_nanos(8));
        closed.excursion = Some((Decimal::from(-4), Decimal::new(25, 1)));
        assert_eq!(open.trade.entry, Decimal::new(115, 1));
        assert_eq!(open.trade.foreign_commissions, [("USD".to_owned(), Decimal::TWO)]);
        let trades = vec![open.trade, closed];
        let mut blobs = Vec::new();
        write(&trades, &mut blobs).unwrap();
        assert_eq!((blobs.len(), chunks(2)), (1, 1));
        assert_eq!(read(&blobs[0].1).unwrap(), trades);
    }
}
