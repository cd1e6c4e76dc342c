//! Brokers' exports into transactions. Every row keeps its file and line, and what is not
//! understood becomes a warning, never silence.

mod cgtcalculator;
mod csv;
mod draft;
mod freetrade;
mod generic;
mod hargreaves_lansdown;
mod interactive_brokers;
mod revolut;
mod schwab;
mod schwab_awards;
mod trading212;
mod vanguard;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use generic::{Columns, DateOrder};

use crate::dsl;
use crate::transaction::Row;
use draft::Drafts;

/// Whose export it is.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Broker {
    /// Charles Schwab, JSON, with awards.
    Schwab,
    /// Trading 212, CSV.
    Trading212,
    /// Interactive Brokers, Flex query, XML or CSV.
    InteractiveBrokers,
    /// Freetrade, CSV.
    Freetrade,
    /// Vanguard UK, CSV.
    VanguardUk,
    /// Hargreaves Lansdown, CSV.
    HargreavesLansdown,
    /// Revolut, CSV.
    Revolut,
    /// The text form of cgtcalculator.
    CgtCalculator,
    /// Any CSV, with a map of its columns.
    Generic,
}

impl Broker {
    /// All of them.
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

    /// The word in arguments and on the command line.
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

    /// The broker of that word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|broker| broker.as_str() == word)
    }

    /// Whose export a text looks like, by what each alone has.
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
        } else if cgtcalculator::looks_like_it(text) {
            Some(Self::CgtCalculator)
        } else {
            None
        }
    }
}

/// A broker's export.
#[derive(Clone, Debug)]
pub struct File<'a> {
    /// Its name, for places.
    pub name: &'a str,
    /// Whose it is.
    pub broker: Broker,
    /// What it holds.
    pub text: &'a str,
    /// Schwab's awards, where there is such a file.
    pub awards: Option<&'a str>,
    /// What the columns of a generic file are called.
    pub columns: Option<&'a Columns>,
}

/// What was understood of one or more exports.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Imported {
    /// The transactions, by date.
    pub rows: Vec<Row>,
    /// What was not understood or needs a look, with file and line.
    pub warnings: Vec<String>,
    /// Rows that were passed over because they are not about shares, by what they are.
    pub skipped: BTreeMap<String, usize>,
    /// Transactions that another file has too; they count once.
    pub duplicates: Vec<String>,
}

/// Reads one export.
pub fn read(file: &File<'_>) -> Imported {
    let mut drafts = Drafts::new(file.name);
    match file.broker {
        Broker::Schwab => schwab::read(file.text, file.awards, &mut drafts),
        Broker::Trading212 => trading212::read(file.text, &mut drafts),
        Broker::InteractiveBrokers => interactive_brokers::read(file.text, &mut drafts),
        Broker::Freetrade => freetrade::read(file.text, &mut drafts),
        Broker::VanguardUk => vanguard::read(file.text, &mut drafts),
        Broker::HargreavesLansdown => hargreaves_lansdown::read(file.text, &mut drafts),
        Broker::Revolut => revolut::read(file.text, &mut drafts),
        Broker::CgtCalculator => cgtcalculator::read(file.text, &mut drafts),
        Broker::Generic => generic::read(file.text, file.columns, &mut drafts),
    }
    drafts.finish()
}

/// Reads several exports and drops what a later file repeats of an earlier one. Rows that stand
/// twice in one file are two transactions: brokers fill an order in pieces.
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
                all.duplicates.push(format!("{}: {line}", row.place));
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

/// The name of a file, shared by its rows.
pub(crate) type FileName = Arc<str>;

#[cfg(test)]
mod shapes;
#[cfg(test)]
mod tests;
