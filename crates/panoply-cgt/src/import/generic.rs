//! Generic CSV with a column map.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::builder::{
    ImportBuilder, Trade, amount, day_first, is_blank_or_zero, iso_date, month_first,
};
use super::sheet::Sheet;
use super::vanguard::slug;
use crate::transaction::Ticker;

/// Column names of a CSV. Unnamed columns have their default names.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq)]
#[cfg_attr(feature = "tools", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Columns {
    /// Date.
    #[cfg_attr(feature = "tools", schemars(length(min = 1, max = 100)))]
    pub date: Option<String>,
    /// Action: a text containing buy, sell or dividend.
    #[cfg_attr(feature = "tools", schemars(length(min = 1, max = 100)))]
    pub action: Option<String>,
    /// Ticker.
    #[cfg_attr(feature = "tools", schemars(length(min = 1, max = 100)))]
    pub ticker: Option<String>,
    /// Number of shares.
    #[cfg_attr(feature = "tools", schemars(length(min = 1, max = 100)))]
    pub quantity: Option<String>,
    /// Price per share.
    #[cfg_attr(feature = "tools", schemars(length(min = 1, max = 100)))]
    pub price: Option<String>,
    /// Incidental costs.
    #[cfg_attr(feature = "tools", schemars(length(min = 1, max = 100)))]
    pub fees: Option<String>,
    /// Currency of price and fees.
    #[cfg_attr(feature = "tools", schemars(length(min = 1, max = 100)))]
    pub currency: Option<String>,
    /// Total amount of a dividend.
    #[cfg_attr(feature = "tools", schemars(length(min = 1, max = 100)))]
    pub total: Option<String>,
    /// Tax withheld from a dividend.
    #[cfg_attr(feature = "tools", schemars(length(min = 1, max = 100)))]
    pub tax: Option<String>,
    /// Amount paid in pounds, with all charges; with `credit` it replaces price and fees.
    #[cfg_attr(feature = "tools", schemars(length(min = 1, max = 100)))]
    pub debit: Option<String>,
    /// Amount received in pounds, after all charges.
    #[cfg_attr(feature = "tools", schemars(length(min = 1, max = 100)))]
    pub credit: Option<String>,
    /// ISIN.
    #[cfg_attr(feature = "tools", schemars(length(min = 1, max = 100)))]
    pub isin: Option<String>,
    /// Broker's number of the order, to recognise duplicates.
    #[cfg_attr(feature = "tools", schemars(length(min = 1, max = 100), regex(pattern = r"\S")))]
    pub id: Option<String>,
    /// Date format; default `year_first`.
    #[serde(default)]
    pub dates: DateOrder,
    /// Unit of the price; by default the heading tells: `Price (pence)` and `Price (p)` are pence.
    pub price_unit: Option<PriceUnit>,
    /// Tickers by the names in the file, such as {"VODAFONE GROUP ORD": "VOD"}.
    #[cfg_attr(feature = "tools", schemars(length(max = 10_000), extend("additionalProperties" = serde_json::json!({"type": "string", "maxLength": 100}))))]
    #[serde(default)]
    pub names: BTreeMap<String, String>,
}

/// Unit of a price without currency.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[cfg_attr(feature = "tools", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PriceUnit {
    /// Pounds, or the currency of the row.
    Pounds,
    /// Pence.
    Pence,
}

/// Date format.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[cfg_attr(feature = "tools", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DateOrder {
    /// 2024-01-15.
    #[default]
    YearFirst,
    /// 15/01/2024.
    DayFirst,
    /// 01/15/2024.
    MonthFirst,
}

pub(super) fn read(text: &str, columns: Option<&Columns>, builder: &mut ImportBuilder) {
    let columns = columns.cloned().unwrap_or_default();
    let name =
        |given: &Option<String>, usual: &str| given.clone().unwrap_or_else(|| usual.to_owned());
    let (date, action, ticker) = (
        name(&columns.date, "date"),
        name(&columns.action, "action"),
        name(&columns.ticker, "ticker"),
    );
    let (quantity, price, fees) = (
        name(&columns.quantity, "quantity"),
        name(&columns.price, "price"),
        name(&columns.fees, "fees"),
    );
    let (currency, total, tax) = (
        name(&columns.currency, "currency"),
        name(&columns.total, "total"),
        name(&columns.tax, "tax"),
    );
    let needed =
        [date.as_str(), action.as_str(), ticker.as_str(), quantity.as_str(), price.as_str()];
    let Some(sheet) = Sheet::find(text, &needed) else {
        return builder.not_recognised(&format!(
            "expected the headings {}; name others in the column map",
            needed.join(", ")
        ));
    };
    let pence = match columns.price_unit {
        Some(unit) => unit == PriceUnit::Pence,
        None => is_pence(sheet.heading(&price)),
    };
    let optional = |column: &Option<String>, record| {
        column.as_deref().map_or("", |name| sheet.get(record, name))
    };
    for record in &sheet.records {
        let get = |name: &str| sheet.get(record, name);
        let word = get(&action).to_lowercase();
        let day = match columns.dates {
            DateOrder::YearFirst => iso_date(get(&date)),
            DateOrder::DayFirst => day_first(get(&date)),
            DateOrder::MonthFirst => month_first(get(&date)),
        };
        let holding = ticker_of(get(&ticker), &columns.names);
        let (debit, credit) = (optional(&columns.debit, record), optional(&columns.credit, record));
        builder.record(
            optional(&columns.id, record),
            get(&date),
            "",
            optional(&columns.isin, record),
        );
        let sells = word.contains("sell") || word.contains("sold") || word.contains("sale");
        if sells || word.contains("buy") || word.contains("bought") || word.contains("purchase") {
            let paid = if sells { credit } else { debit };
            let each = per_share(paid, get(&quantity));
            let trade = Trade {
                date: day,
                ticker: &holding,
                sells,
                quantity: get(&quantity),
                price: each.as_deref().unwrap_or_else(|| get(&price)),
                currency: match (&each, pence) {
                    (Some(_), _) => "GBP",
                    (None, true) => "GBX",
                    (None, false) => get(&currency),
                },
                fees: match each {
                    Some(_) => Vec::new(),
                    None => vec![(get(&fees), get(&currency))],
                },
                rate: "",
            };
            builder.trade(record.line, &trade);
        } else if word.contains("dividend") {
            let (amount, unit) = match get(&total) {
                "" if !credit.is_empty() => (credit, "GBP"),
                total => (total, get(&currency)),
            };
            builder.dividend(
                record.line,
                day,
                &holding,
                (amount, unit),
                (get(&tax), get(&currency)),
            );
        } else {
            builder.warn(
                record.line,
                format!(
                    "`{}` is not understood and left out; headings are {}",
                    get(&action),
                    sheet.headings()
                ),
            );
        }
    }
}

/// `Price (pence)`, `Unit cost (p)`.
fn is_pence(heading: &str) -> bool {
    heading.contains("pence") || heading.contains("(p)") || heading.contains("gbx")
}

/// Ticker of a name: by the map, as it is, or made from the name.
fn ticker_of(name: &str, names: &BTreeMap<String, String>) -> String {
    let named = names.iter().find(|(known, _)| known.trim().eq_ignore_ascii_case(name.trim()));
    match named {
        Some((_, ticker)) => ticker.clone(),
        None if Ticker::parse(name.trim()).is_ok() => name.trim().to_owned(),
        None => slug(name),
    }
}

/// What was paid or received for one share.
fn per_share(total: &str, quantity: &str) -> Option<String> {
    if is_blank_or_zero(total) {
        return None;
    }
    let each = amount(total)?.abs().checked_div(amount(quantity)?.abs())?;
    Some(each.round_dp(12).normalize().to_string())
}
