//! Generic CSV with a column map.

use serde::Deserialize;

use super::builder::{ImportBuilder, Trade, day_first, iso_date, month_first};
use super::sheet::Sheet;

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
    /// Date format; default `year_first`.
    #[serde(default)]
    pub dates: DateOrder,
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
    for record in &sheet.records {
        let get = |name: &str| sheet.get(record, name);
        let word = get(&action).to_lowercase();
        let day = match columns.dates {
            DateOrder::YearFirst => iso_date(get(&date)),
            DateOrder::DayFirst => day_first(get(&date)),
            DateOrder::MonthFirst => month_first(get(&date)),
        };
        let sells = word.contains("sell") || word.contains("sold") || word.contains("sale");
        if sells || word.contains("buy") || word.contains("bought") || word.contains("purchase") {
            let trade = Trade {
                date: day,
                ticker: get(&ticker),
                sells,
                quantity: get(&quantity),
                price: get(&price),
                currency: get(&currency),
                fees: vec![(get(&fees), get(&currency))],
            };
            builder.trade(record.line, &trade);
        } else if word.contains("dividend") {
            let amount = (get(&total), get(&currency));
            builder.dividend(record.line, day, get(&ticker), amount, (get(&tax), get(&currency)));
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
