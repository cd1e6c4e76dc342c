//! Several exports as one list: overlapping exports of one account repeat rows, which count once.
//!
//! Rows are the same when the broker's own number says so, otherwise when account, time and figures
//! are equal. Where an export states dates only, equal rows of one account in two files are taken as
//! repeated, as many times as the other file has them. Rows of different brokers or accounts are
//! never the same, and every row left out is reported.

use std::collections::{BTreeMap, BTreeSet};

use super::{Broker, File, Imported, KnownRows, Origin, RowKey, read};
use crate::dsl;
use crate::transaction::{Row, Ticker};

/// Imports several exports, without the rows that repeat an earlier file.
pub fn read_all(files: &[File<'_>]) -> Imported {
    read_more(files, KnownRows::default())
}

/// Imports several exports, without the rows that repeat an earlier file or an earlier import.
pub fn read_more(files: &[File<'_>], known: KnownRows) -> Imported {
    let mut all = Imported::default();
    let mut merged: Vec<(Row, Origin, RowKey)> = Vec::new();
    let mut seen = Seen { known: known.keys, ..Seen::default() };
    for file in files {
        let imported = read(file);
        all.warnings.extend(imported.warnings);
        for (what, count) in imported.skipped {
            *all.skipped.entry(what).or_default() += count;
        }
        let mut own = Counts::new();
        for (row, origin) in imported.rows.into_iter().zip(imported.origins) {
            let line = dsl::line(&row.transaction);
            let key = Key::of(file, &origin, &line);
            if let Some(other) = seen.conflict(&key, &line) {
                all.warnings.push(format!(
                    "{}: the number `{}` is also that of `{other}`; both are kept",
                    row.location,
                    origin.id.as_deref().unwrap_or_default()
                ));
            }
            let count = own.entry(key.clone()).or_insert((0, line.clone()));
            count.0 += 1;
            if count.0 <= seen.count(&key, &line) {
                all.duplicates.push(format!("{}: {line}{}", row.location, key.reason()));
            } else {
                merged.push((row, origin, key.row_key()));
            }
        }
        seen.add(own);
    }
    unify_tickers(&mut merged, known.tickers, &mut all.warnings);
    merged.sort_by_key(|(row, ..)| row.transaction.date);
    for (row, origin, key) in merged {
        all.rows.push(row);
        all.origins.push(origin);
        all.keys.push(key);
    }
    all
}

/// What identifies a row.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Key {
    /// The broker's number. One order may have several rows: position among equal lines is counted.
    Id { broker: Broker, account: Option<String>, id: String, line: String },
    /// Time and figures.
    Time { broker: Broker, account: Option<String>, time: Option<String>, line: String },
}

impl Key {
    fn of(file: &File<'_>, origin: &Origin, line: &str) -> Self {
        let account = file.account.map(str::to_owned).or_else(|| origin.account.clone());
        let (broker, line) = (file.broker, line.to_owned());
        match &origin.id {
            Some(id) => Self::Id { broker, account, id: id.clone(), line },
            None => Self::Time { broker, account, time: origin.time.clone(), line },
        }
    }

    /// The key in a form that can be stored.
    fn row_key(&self) -> RowKey {
        let (broker, account, kind, mark, line) = match self {
            Self::Id { broker, account, id, line } => (broker, account, "id", id.as_str(), line),
            Self::Time { broker, account, time, line } => {
                (broker, account, "time", time.as_deref().unwrap_or_default(), line)
            }
        };
        let named = account.as_deref().unwrap_or_default();
        // The unit separator occurs in none of the parts of an export.
        let text = [broker.as_str(), named, kind, mark, line].join("\u{1f}");
        RowKey { broker: *broker, account: account.clone(), text }
    }

    const fn reason(&self) -> &'static str {
        match self {
            Self::Id { .. } => " (same number)",
            Self::Time { time: Some(_), .. } => " (same time)",
            Self::Time { time: None, .. } => " (same date; the file has no times)",
        }
    }
}

/// Number of rows with a key, and their line.
type Counts = BTreeMap<Key, (usize, String)>;

/// Rows of the files read before.
#[derive(Default)]
struct Seen {
    /// Rows of earlier imports, by the text of their key.
    known: BTreeMap<String, usize>,
    counts: Counts,
    ids: BTreeMap<(Broker, Option<String>, String), BTreeSet<String>>,
}

impl Seen {
    fn count(&self, key: &Key, line: &str) -> usize {
        let here =
            self.counts.get(key).filter(|(_, known)| known == line).map_or(0, |(count, _)| *count);
        let before = match self.known.is_empty() {
            true => 0,
            false => self.known.get(&key.row_key().text).copied().unwrap_or(0),
        };
        here.max(before)
    }

    /// Another row of an earlier file with the same number, when none is equal.
    fn conflict(&self, key: &Key, line: &str) -> Option<&str> {
        let Key::Id { broker, account, id, .. } = key else { return None };
        let known = self.ids.get(&(*broker, account.clone(), id.clone()))?;
        if known.contains(line) { None } else { known.first().map(String::as_str) }
    }

    fn add(&mut self, own: Counts) {
        for (key, (count, line)) in own {
            if let Key::Id { broker, account, id, .. } = &key {
                let ids = self.ids.entry((*broker, account.clone(), id.clone())).or_default();
                ids.insert(line.clone());
            }
            let most = self.counts.entry(key).or_insert((0, line));
            most.0 = most.0.max(count);
        }
    }
}

/// One security has one ticker, whatever brokers call it: the first that was read for its ISIN.
fn unify_tickers(
    rows: &mut [(Row, Origin, RowKey)],
    mut tickers: BTreeMap<String, Ticker>,
    warnings: &mut Vec<String>,
) {
    let mut isins: BTreeMap<Ticker, String> = BTreeMap::new();
    let mut said: BTreeSet<(String, Ticker)> = BTreeSet::new();
    for (row, origin, _) in rows {
        let Some(isin) = &origin.isin else { continue };
        let own = row.transaction.ticker.clone();
        let ticker = tickers.entry(isin.clone()).or_insert_with(|| own.clone()).clone();
        if ticker != own && said.insert((isin.clone(), own.clone())) {
            warnings.push(format!(
                "{}: {own} and {ticker} are the same security, {isin}; it is imported as {ticker}",
                row.location
            ));
        }
        let known = isins.entry(ticker.clone()).or_insert_with(|| isin.clone());
        if known != isin && said.insert((isin.clone(), ticker.clone())) {
            warnings.push(format!(
                "{}: {ticker} is {isin} here and {known} before: two securities, or one whose ISIN changed; rename one ticker if they are two",
                row.location
            ));
        }
        row.transaction.ticker = ticker;
    }
}
