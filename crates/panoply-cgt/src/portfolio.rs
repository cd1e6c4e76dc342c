//! Portfolios that the program keeps: accounts with their tax wrapper, transactions with their
//! provenance, and the comparison with holdings that a broker states.

use std::borrow::Borrow;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::engine::Holding;
use crate::transaction::{Row, Ticker};

/// Tax wrapper of an account.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "tools", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Wrapper {
    /// General investment account: the only one whose gains are chargeable.
    #[default]
    Gia,
    /// Individual savings account: gains are exempt (SI 1998/1870 reg.22).
    Isa,
    /// Self-invested personal pension: gains are exempt (TCGA 1992 s.271).
    Sipp,
    /// An account of the spouse or civil partner, who has a return of their own.
    Spouse,
}

impl Wrapper {
    /// All wrappers.
    pub const ALL: [Self; 4] = [Self::Gia, Self::Isa, Self::Sipp, Self::Spouse];

    /// Name in arguments, replies and the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Gia => "gia",
            Self::Isa => "isa",
            Self::Sipp => "sipp",
            Self::Spouse => "spouse",
        }
    }

    /// Parses [`Wrapper::as_str`].
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|wrapper| wrapper.as_str() == word)
    }

    /// Whether disposals count for this person's tax.
    pub const fn is_taxable(self) -> bool {
        matches!(self, Self::Gia)
    }
}

/// An account of a portfolio.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Account {
    /// Name, unique in the portfolio.
    pub name: String,
    /// Its wrapper.
    pub wrapper: Wrapper,
}

/// Where a transaction came from.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Provenance {
    /// File of a broker; none for transactions that were given as text.
    pub file: Option<String>,
    /// Line of the file or text.
    pub line: u32,
    /// Broker.
    pub broker: Option<String>,
    /// The broker's own number.
    pub broker_id: Option<String>,
    /// ISIN in the export.
    pub isin: Option<String>,
    /// What recognises the same row in another export.
    pub key: Option<String>,
}

/// A stored transaction.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Entry {
    /// Number in the portfolio; never reused.
    pub id: i64,
    /// Name of the account.
    pub account: String,
    /// The transaction as a line of the transaction language.
    pub line: String,
    /// Where it came from.
    pub provenance: Provenance,
}

/// Number of shares that a broker states.
#[derive(Clone, Debug)]
pub struct StatedHolding {
    /// Ticker.
    pub ticker: Ticker,
    /// Number of shares.
    pub quantity: Decimal,
}

/// A holding in the records and as stated.
#[derive(Clone, Debug, PartialEq)]
pub struct Reconciled {
    /// Ticker.
    pub ticker: Ticker,
    /// Number of shares in the records.
    pub recorded: Decimal,
    /// Number stated; `None` when the statement does not name the holding.
    pub stated: Option<Decimal>,
    /// Likely reason of a difference.
    pub reason: Option<String>,
}

impl Reconciled {
    /// Stated less recorded; all recorded shares when the statement does not name them.
    pub fn difference(&self) -> Decimal {
        self.stated.unwrap_or_default() - self.recorded
    }
}

/// Compares holdings with a statement, by ticker. A holding that is not stated counts as none.
pub fn reconcile(holdings: &[Holding], stated: &[StatedHolding]) -> Vec<Reconciled> {
    let mut tickers: Vec<&Ticker> = holdings
        .iter()
        .map(|holding| &holding.ticker)
        .chain(stated.iter().map(|stated| &stated.ticker))
        .collect();
    tickers.sort();
    tickers.dedup();
    let compared = tickers.into_iter().map(|ticker| {
        let held = holdings.iter().find(|holding| holding.ticker == *ticker);
        let recorded: Decimal =
            held.and_then(|holding| holding.quantity.to_string().parse().ok()).unwrap_or_default();
        let on_paper = stated.iter().filter(|one| one.ticker == *ticker);
        let on_paper: Option<Decimal> = on_paper
            .map(|one| one.quantity)
            .fold(None, |sum, next| Some(sum.unwrap_or(Decimal::ZERO).saturating_add(next)));
        let reason = reason(recorded, on_paper);
        Reconciled { ticker: ticker.clone(), recorded, stated: on_paper, reason }
    });
    compared.filter(|one| !one.recorded.is_zero() || one.stated.is_some()).collect()
}

/// Explains a difference: whole ratios are splits or consolidations that exports often lack.
fn reason(recorded: Decimal, stated: Option<Decimal>) -> Option<String> {
    let Some(stated) = stated else {
        return Some("the statement does not name it: a sale or transfer out is missing, or it is held elsewhere".to_owned());
    };
    if stated == recorded {
        return None;
    }
    let whole = |ratio: Option<Decimal>| {
        ratio.filter(|ratio| ratio.fract().is_zero() && *ratio > Decimal::ONE)
    };
    if let Some(ratio) = whole(stated.checked_div(recorded)) {
        return Some(format!("a SPLIT with RATIO {} is missing", ratio.normalize()));
    }
    if let Some(ratio) = whole(recorded.checked_div(stated)) {
        return Some(format!("an UNSPLIT with RATIO {} is missing", ratio.normalize()));
    }
    Some(match stated > recorded {
        true => "a purchase, scrip dividend or transfer in is missing".to_owned(),
        false => "a sale or transfer out is missing".to_owned(),
    })
}

/// Rows of stored transactions, each located by its number.
pub fn rows<E: Borrow<Entry>>(entries: &[E]) -> Result<Vec<Row>, Vec<crate::problem::Problem>> {
    let mut text = String::new();
    for entry in entries {
        text.push_str(&entry.borrow().line);
        text.push('\n');
    }
    let mut rows = crate::dsl::parse(&text)?;
    for (row, entry) in rows.iter_mut().zip(entries) {
        row.location.line = u32::try_from(entry.borrow().id).unwrap_or(u32::MAX);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(ticker: &str, quantity: i64) -> Holding {
        let text = format!("2020-01-01 BUY {ticker} {quantity} @ 1");
        let rows = crate::dsl::parse(&text).unwrap();
        let rates = crate::fx::Rates::default();
        let computed = crate::engine::compute(&rows, &rates, crate::engine::Options::default());
        computed.unwrap().holdings[0].clone()
    }

    fn stated(ticker: &str, quantity: i64) -> StatedHolding {
        StatedHolding { ticker: held(ticker, 1).ticker, quantity: Decimal::from(quantity) }
    }

    #[test]
    fn reconciliation_names_the_likely_reason() {
        let holdings = [
            held("A", 10),
            held("B", 10),
            held("C", 100),
            held("D", 10),
            held("E", 5),
            held("F", 7),
        ];
        let statement = [
            stated("A", 10),
            stated("B", 40),
            stated("C", 10),
            stated("D", 13),
            stated("E", 3),
            stated("G", 2),
        ];
        let found = reconcile(&holdings, &statement);
        let reason = |ticker: &str| {
            let one = found.iter().find(|one| one.ticker.as_str() == ticker).unwrap();
            (one.difference().to_string(), one.reason.clone().unwrap_or_default())
        };
        assert_eq!(reason("A"), ("0".to_owned(), String::new()));
        assert_eq!(reason("B"), ("30".to_owned(), "a SPLIT with RATIO 4 is missing".to_owned()));
        assert_eq!(
            reason("C"),
            ("-90".to_owned(), "an UNSPLIT with RATIO 10 is missing".to_owned())
        );
        assert!(reason("D").1.starts_with("a purchase"));
        assert!(reason("E").1.starts_with("a sale"));
        assert!(reason("F").1.contains("does not name it"));
        assert_eq!(reason("G").0, "2");
    }

    #[test]
    fn only_a_general_account_is_taxable() {
        let taxable: Vec<&str> = Wrapper::ALL
            .into_iter()
            .filter(|wrapper| wrapper.is_taxable())
            .map(Wrapper::as_str)
            .collect();
        assert_eq!(taxable, ["gia"]);
    }
}
