//! Importers of broker exports. Every row keeps its file and line; every row that is not understood
//! becomes a warning.

mod builder;
mod cgtcalculator;
mod coinbase;
pub mod decode;
mod duplicates;
mod freetrade;
mod generic;
mod hargreaves_lansdown;
mod ibkr_statement;
mod interactive_brokers;
mod interactive_investor;
mod raw;
mod revolut;
mod schwab;
mod schwab_awards;
mod sharesight;
mod sheet;
mod stock_plans;
mod trading212;
mod vanguard;
mod xlsx;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use duplicates::{read_all, read_more};
pub use generic::{Columns, DateOrder};
use serde::Deserialize;

use crate::transaction::{Row, Ticker};
use builder::ImportBuilder;

/// Broker of an export.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd)]
#[cfg_attr(feature = "tools", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Broker {
    /// Charles Schwab: JSON or CSV, with equity awards.
    Schwab,
    /// Trading 212: CSV.
    Trading212,
    /// Interactive Brokers: Flex query as XML or CSV, activity statement or transaction history as CSV.
    InteractiveBrokers,
    /// interactive investor: CSV.
    InteractiveInvestor,
    /// Coinbase: CSV.
    Coinbase,
    /// Morgan Stanley at Work: CSV of releases and withdrawals.
    MorganStanley,
    /// Sharesight: CSV of trades and of taxable income.
    Sharesight,
    /// cgt-calc's own CSV.
    #[serde(rename = "cgt_calc")]
    CgtCalc,
    /// Freetrade: CSV.
    Freetrade,
    /// Vanguard UK: CSV.
    VanguardUk,
    /// Hargreaves Lansdown: CSV.
    HargreavesLansdown,
    /// Revolut: CSV.
    Revolut,
    /// cgtcalculator: text.
    #[serde(rename = "cgtcalculator")]
    CgtCalculator,
    /// Any CSV, with a column map.
    Generic,
}

impl Broker {
    /// All brokers.
    pub const ALL: [Self; 14] = [
        Self::Schwab,
        Self::Trading212,
        Self::InteractiveBrokers,
        Self::InteractiveInvestor,
        Self::Coinbase,
        Self::MorganStanley,
        Self::Sharesight,
        Self::CgtCalc,
        Self::Freetrade,
        Self::VanguardUk,
        Self::HargreavesLansdown,
        Self::Revolut,
        Self::CgtCalculator,
        Self::Generic,
    ];

    /// Name in arguments and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Schwab => "schwab",
            Self::Trading212 => "trading212",
            Self::InteractiveBrokers => "interactive_brokers",
            Self::InteractiveInvestor => "interactive_investor",
            Self::Coinbase => "coinbase",
            Self::MorganStanley => "morgan_stanley",
            Self::Sharesight => "sharesight",
            Self::CgtCalc => "cgt_calc",
            Self::Freetrade => "freetrade",
            Self::VanguardUk => "vanguard_uk",
            Self::HargreavesLansdown => "hargreaves_lansdown",
            Self::Revolut => "revolut",
            Self::CgtCalculator => "cgtcalculator",
            Self::Generic => "generic",
        }
    }

    /// Parses [`Broker::as_str`].
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|broker| broker.as_str() == word)
    }

    /// Detects the broker by headings unique to its export.
    pub fn recognise(text: &str) -> Option<Self> {
        let head: String = text.lines().take(20).collect::<Vec<_>>().join("\n");
        let has = |words: &[&str]| words.iter().all(|word| head.contains(word));
        let start = text.trim_start_matches('\u{FEFF}').trim_start();
        let schwab = text.contains("BrokerageTransactions")
            || text.to_ascii_lowercase().contains("transactiondetails");
        if start.starts_with('{') && schwab || has(&["Fees & Comm", "Action", "Symbol"]) {
            Some(Self::Schwab)
        } else if has(&["<FlexQueryResponse"])
            || has(&["CurrencyPrimary", "Symbol"])
            || ibkr_statement::matches(&head)
        {
            Some(Self::InteractiveBrokers)
        } else if has(&["Symbol", "Sedol", "Debit", "Credit"]) {
            Some(Self::InteractiveInvestor)
        } else if has(&["Timestamp", "Transaction Type", "Quantity Transacted"]) {
            Some(Self::Coinbase)
        } else if stock_plans::matches(&head) {
            Some(Self::MorganStanley)
        } else if sharesight::matches(&head) {
            Some(Self::Sharesight)
        } else if raw::matches(&head) {
            Some(Self::CgtCalc)
        } else if has(&["Action,", "Time", "No. of shares"]) {
            Some(Self::Trading212)
        } else if has(&["Timestamp", "Buy / Sell"]) {
            Some(Self::Freetrade)
        } else if has(&["InvestmentName", "TransactionDetails"])
            || has(&["Date,Details,Amount,Balance"])
        {
            Some(Self::VanguardUk)
        } else if has(&["Trade date", "Reference", "Unit cost"]) {
            Some(Self::HargreavesLansdown)
        } else if has(&["Ticker", "Price per share", "Total Amount"]) {
            Some(Self::Revolut)
        } else if cgtcalculator::matches(text) {
            Some(Self::CgtCalculator)
        } else {
            None
        }
    }
}

/// A broker's export.
#[derive(Clone, Debug)]
pub struct File<'a> {
    /// File name, for locations.
    pub name: &'a str,
    /// Broker.
    pub broker: Broker,
    /// Content.
    pub text: &'a str,
    /// Schwab's equity awards.
    pub awards: Option<&'a str>,
    /// Column names of a generic file.
    pub columns: Option<&'a Columns>,
    /// Account, when the caller names it. Rows of different accounts are never duplicates.
    pub account: Option<&'a str>,
    /// Exchange rates of foreign trades.
    pub rates: RateChoice,
}

impl<'a> File<'a> {
    /// An export without awards, column map or account.
    pub const fn new(name: &'a str, broker: Broker, text: &'a str) -> Self {
        let rates = RateChoice::Broker;
        Self { name, broker, text, awards: None, columns: None, account: None, rates }
    }
}

/// Exchange rates of foreign trades in an export.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[cfg_attr(feature = "tools", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RateChoice {
    /// The broker's rate where the export states one: what was paid or received in pounds is the
    /// cost or the proceeds (TCGA 1992 s.38).
    #[default]
    Broker,
    /// HMRC's monthly rate.
    Hmrc,
}

/// Identity of an imported row, for the recognition of duplicates.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Origin {
    /// Broker's own number of the order or trade.
    pub id: Option<String>,
    /// Date and time as exported, when there is a time.
    pub time: Option<String>,
    /// Account in the export.
    pub account: Option<String>,
    /// ISIN.
    pub isin: Option<String>,
}

/// Result of importing one or more exports.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Imported {
    /// Transactions, by date.
    pub rows: Vec<Row>,
    /// Identity of each transaction, in the same order.
    pub origins: Vec<Origin>,
    /// Rows that were not understood or need review, with file and line.
    pub warnings: Vec<String>,
    /// Number of skipped rows that are not about shares, by type.
    pub skipped: BTreeMap<String, usize>,
    /// Transactions that another file has too; they count once.
    pub duplicates: Vec<String>,
    /// What recognises each transaction in another export, in the same order.
    pub keys: Vec<RowKey>,
}

/// What recognises a row in another export of the same account.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RowKey {
    /// Broker.
    pub broker: Broker,
    /// Account, when the caller or the export names it.
    pub account: Option<String>,
    /// Broker, account, number or time, and figures as one text.
    pub text: String,
}

/// Rows imported before.
#[derive(Clone, Debug, Default)]
pub struct KnownRows {
    /// Number of rows by the text of their key.
    pub keys: BTreeMap<String, usize>,
    /// Tickers by ISIN.
    pub tickers: BTreeMap<String, Ticker>,
}

/// Imports one export.
pub fn read(file: &File<'_>) -> Imported {
    let mut builder = ImportBuilder::new(file);
    match file.broker {
        Broker::Schwab => schwab::read(file.text, file.awards, &mut builder),
        Broker::Trading212 => trading212::read(file.text, &mut builder),
        Broker::InteractiveBrokers if ibkr_statement::matches(file.text) => {
            ibkr_statement::read(file.text, &mut builder);
        }
        Broker::InteractiveBrokers => interactive_brokers::read(file.text, &mut builder),
        Broker::InteractiveInvestor => interactive_investor::read(file.text, &mut builder),
        Broker::Coinbase => coinbase::read(file.text, &mut builder),
        Broker::MorganStanley => stock_plans::read(file.text, &mut builder),
        Broker::Sharesight => sharesight::read(file.text, &mut builder),
        Broker::CgtCalc => raw::read(file.text, &mut builder),
        Broker::Freetrade => freetrade::read(file.text, &mut builder),
        Broker::VanguardUk => vanguard::read(file.text, &mut builder),
        Broker::HargreavesLansdown => hargreaves_lansdown::read(file.text, &mut builder),
        Broker::Revolut => revolut::read(file.text, &mut builder),
        Broker::CgtCalculator => cgtcalculator::read(file.text, &mut builder),
        Broker::Generic => generic::read(file.text, file.columns, &mut builder),
    }
    builder.finish()
}

/// File name, shared by its rows.
pub(crate) type FileName = Arc<str>;

#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod more_fixtures;
#[cfg(test)]
mod tests;
