//! Trading 212: CSV with Action, Time, Ticker, No. of shares, Price / share and fees.

use super::csv::Sheet;
use super::draft::{Drafts, Trade, iso_date};

const FEES: [&str; 7] = [
    "Stamp duty reserve tax",
    "Stamp duty",
    "Currency conversion fee",
    "Transaction fee",
    "Finra fee",
    "PTM levy",
    "French transaction tax",
];

pub(super) fn read(text: &str, drafts: &mut Drafts) {
    let Some(sheet) = Sheet::find(text, &["action", "time", "ticker", "no. of shares"]) else {
        return drafts.not_recognised("expected the headings Action, Time, Ticker, No. of shares");
    };
    for record in &sheet.records {
        let get = |name: &str| sheet.get(record, name);
        let (action, line) = (get("Action"), record.line);
        let lower = action.to_lowercase();
        let date = iso_date(get("Time"));
        if lower.ends_with("buy") || lower.ends_with("sell") {
            let fees = FEES
                .iter()
                .map(|fee| (sheet.exact(record, fee), fee_currency(&sheet, record, fee)))
                .collect();
            let trade = Trade {
                date,
                ticker: get("Ticker"),
                sells: lower.ends_with("sell"),
                quantity: get("No. of shares"),
                price: get("Price / share"),
                currency: get("Currency (Price / share)"),
                fees,
            };
            drafts.trade(line, &trade);
        } else if lower.starts_with("dividend") {
            dividend(&sheet, record, date, drafts);
        } else if lower.contains("split") {
            drafts.warn(
                line,
                format!(
                    "`{action}` of {}: add a SPLIT or UNSPLIT with its ratio by hand",
                    get("Ticker")
                ),
            );
        } else if [
            "deposit",
            "withdrawal",
            "interest",
            "currency conversion",
            "spending",
            "card",
            "cashback",
            "result adjustment",
        ]
        .iter()
        .any(|word| lower.contains(word))
        {
            drafts.skip(action);
        } else {
            drafts.warn(line, format!("`{action}` is not understood and left out"));
        }
    }
}

/// Dividends are told per share; the total is the product, the tax is kept back from it.
fn dividend(
    sheet: &Sheet,
    record: &super::csv::Record,
    date: Option<jiff::civil::Date>,
    drafts: &mut Drafts,
) {
    let get = |name: &str| sheet.get(record, name);
    let shares = super::draft::amount(get("No. of shares"));
    let each = super::draft::amount(get("Price / share"));
    let total = shares.zip(each).and_then(|(shares, each)| shares.checked_mul(each));
    let total = total.map_or_else(String::new, |total| total.normalize().to_string());
    let tax = (get("Withholding tax"), get("Currency (Withholding tax)"));
    drafts.dividend(
        record.line,
        date,
        get("Ticker"),
        (&total, get("Currency (Price / share)")),
        tax,
    );
}

fn fee_currency<'a>(sheet: &Sheet, record: &'a super::csv::Record, fee: &str) -> &'a str {
    sheet.exact(record, &format!("Currency ({fee})"))
}
