//! Rows grouped by holding. A change of ticker leaves the shares as they are, so rows under the old
//! ticker up to that day belong to the holding of the new one. A demerger or takeover belongs to two
//! holdings: it leaves one and enters the other.

use std::collections::HashMap;

use jiff::civil::Date;

use crate::transaction::{Kind, Row, Ticker, Transaction};

/// Rows of one holding, by date.
pub(super) struct Group<'a> {
    pub(super) ticker: &'a Ticker,
    pub(super) rows: Vec<&'a Row>,
    /// Whether a demerger or takeover links it with another holding.
    pub(super) linked: bool,
}

/// Groups rows by holding, sorted by ticker and date.
pub(super) fn groups<'a>(rows: &'a [Row], names: &Names<'a>) -> Vec<Group<'a>> {
    let mut by_ticker: HashMap<&Ticker, (Vec<&Row>, bool)> = HashMap::new();
    for row in rows {
        let Transaction { date, ticker, kind } = &row.transaction;
        let entry = by_ticker.entry(names.current(ticker, *date)).or_default();
        entry.0.push(row);
        if let Kind::Demerger(_) | Kind::Takeover(_) = kind
            && let Some(into) = kind.into_ticker()
        {
            entry.1 = true;
            let entry = by_ticker.entry(names.current(into, *date)).or_default();
            entry.0.push(row);
            entry.1 = true;
        }
    }
    let mut groups: Vec<Group<'a>> = by_ticker
        .into_iter()
        .map(|(ticker, (rows, linked))| Group { ticker, rows, linked })
        .collect();
    groups.sort_unstable_by_key(|group| group.ticker);
    for group in &mut groups {
        group.rows.sort_by_key(|row| row.transaction.date);
    }
    groups
}

/// Changes of ticker.
pub(super) struct Names<'a>(Vec<(&'a Ticker, Date, &'a Ticker)>);

impl<'a> Names<'a> {
    pub(super) fn of(rows: &'a [Row]) -> Self {
        let renames = rows.iter().filter_map(|row| match &row.transaction.kind {
            Kind::Rename { into } => Some((&row.transaction.ticker, row.transaction.date, into)),
            _ => None,
        });
        let mut renames: Vec<_> = renames.collect();
        renames.sort_by_key(|(_, date, _)| *date);
        Self(renames)
    }

    /// Whether a ticker ever changed.
    pub(super) const fn is_any(&self) -> bool {
        !self.0.is_empty()
    }

    /// Latest name of the holding that had this ticker on a day. Renames are followed in order of
    /// date, so names that change back and forth come to an end.
    pub(super) fn current(&self, ticker: &'a Ticker, date: Date) -> &'a Ticker {
        let mut name = ticker;
        for (old, changed, new) in &self.0 {
            if *old == name && *changed >= date {
                name = new;
            }
        }
        name
    }
}
