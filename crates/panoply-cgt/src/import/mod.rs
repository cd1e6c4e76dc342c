//! Importers of broker exports. Every row keeps its file and line; every row that is not understood
//! becomes a warning.

mod builder;
mod cgtcalculator;
mod freetrade;
mod generic;
mod hargreaves_lansdown;
mod interactive_brokers;
mod revolut;
mod schwab;
mod schwab_awards;
mod sheet;
mod trading212;
mod vanguard;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use generic::{Columns, DateOrder};
use serde::Deserialize;

use crate::dsl;
use crate::transaction::Row;
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
    /// Interactive Brokers: Flex query as XML or CSV.
    InteractiveBrokers,
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
    pub const ALL: [Self; 9] = [
        Self::Schwab,
        Self::Trading212,
        Self::InteractiveBrokers,
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
        let schwab = text.contains("BrokerageTransactions") || text.contains("TransactionDetails");
        if start.starts_with('{') && schwab || has(&["Fees & Comm", "Action", "Symbol"]) {
            Some(Self::Schwab)
        } else if has(&["<FlexQueryResponse"]) || has(&["CurrencyPrimary", "Symbol"]) {
            Some(Self::InteractiveBrokers)
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
}

/// Result of importing one or more exports.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Imported {
    /// Transactions, by date.
    pub rows: Vec<Row>,
    /// Rows that were not understood or need review, with file and line.
    pub warnings: Vec<String>,
    /// Number of skipped rows that are not about shares, by type.
    pub skipped: BTreeMap<String, usize>,
    /// Transactions that another file has too; they count once.
    pub duplicates: Vec<String>,
}

/// Imports one export.
pub fn read(file: &File<'_>) -> Imported {
    let mut builder = ImportBuilder::new(file.name);
    match file.broker {
        Broker::Schwab => schwab::read(file.text, file.awards, &mut builder),
        Broker::Trading212 => trading212::read(file.text, &mut builder),
        Broker::InteractiveBrokers => interactive_brokers::read(file.text, &mut builder),
        Broker::Freetrade => freetrade::read(file.text, &mut builder),
        Broker::VanguardUk => vanguard::read(file.text, &mut builder),
        Broker::HargreavesLansdown => hargreaves_lansdown::read(file.text, &mut builder),
        Broker::Revolut => revolut::read(file.text, &mut builder),
        Broker::CgtCalculator => cgtcalculator::read(file.text, &mut builder),
        Broker::Generic => generic::read(file.text, file.columns, &mut builder),
    }
    builder.finish()
}

/// Imports several exports and drops rows that repeat an earlier file. Equal rows within one file
/// are separate transactions: brokers fill an order in parts.
pub fn read_all(files: &[File<'_>]) -> Imported {
    let mut all = Imported::default();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for file in files {
        let imported = read(file);
        all.warnings.extend(imported.warnings);
        for (what, count) in imported.skipped {
            *all.skipped.entry(what).or_default() += count;
        }
        let mut own: BTreeMap<String, usize> = BTreeMap::new();
        for row in imported.rows {
            let line = dsl::line(&row.transaction);
            let seen = own.entry(line.clone()).or_default();
            *seen += 1;
            if *seen <= counts.get(&line).copied().unwrap_or(0) {
                all.duplicates.push(format!("{}: {line}", row.location));
            } else {
                all.rows.push(row);
            }
        }
        for (line, count) in own {
            let most = counts.entry(line).or_default();
            *most = (*most).max(count);
        }
    }
    all.rows.sort_by_key(|row| row.transaction.date);
    all
}

/// File name, shared by its rows.
pub(crate) type FileName = Arc<str>;

#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod tests;
