//! Any CSV, with a map that says what its columns are called.

use super::csv::Sheet;
use super::draft::{Drafts, Trade, day_first, iso_date, month_first};

/// What the columns are called. Those not named are looked for under their own names.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Columns {
    /// The day.
    pub date: Option<String>,
    /// Buy, sell or dividend, in words that contain one of these.
    pub action: Option<String>,
    /// The holding.
    pub ticker: Option<String>,
    /// How many shares.
    pub quantity: Option<String>,
    /// For each.
    pub price: Option<String>,
    /// Costs of the trade.
    pub fees: Option<String>,
    /// The currency of price and fees.
    pub currency: Option<String>,
    /// All of a dividend.
    pub total: Option<String>,
    /// Tax kept back from a dividend.
    pub tax: Option<String>,
    /// How days are written.
    pub dates: DateOrder,
}

/// How days are written.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum DateOrder {
    /// 2024-01-15.
    #[default]
    YearFirst,
    /// 15/01/2024.
    DayFirst,
    /// 01/15/2024.
    MonthFirst,
}

pub(super) fn read(text: &str, columns: Option<&Columns>, drafts: &mut Drafts) {
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
        return drafts.not_recognised(&format!(
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
            drafts.trade(record.line, &trade);
        } else if word.contains("dividend") {
            let amount = (get(&total), get(&currency));
            drafts.dividend(record.line, day, get(&ticker), amount, (get(&tax), get(&currency)));
        } else {
            drafts.warn(
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
