//! Vanguard UK: CSV with Date, InvestmentName, TransactionDetails, Quantity, Price and Cost.

use super::csv::Sheet;
use super::draft::{Drafts, Trade, amount, day_first};

pub(super) fn read(text: &str, drafts: &mut Drafts) {
    let Some(sheet) =
        Sheet::find(text, &["date", "investmentname", "transactiondetails", "quantity", "price"])
    else {
        return drafts.not_recognised(
            "expected the headings Date, InvestmentName, TransactionDetails, Quantity, Price",
        );
    };
    for record in &sheet.records {
        let get = |name: &str| sheet.get(record, name);
        let (name, details, line) = (get("InvestmentName"), get("TransactionDetails"), record.line);
        let lower = details.to_lowercase();
        let negative = amount(get("Quantity")).is_some_and(|quantity| quantity.is_sign_negative());
        let sells = lower.starts_with("sold") || lower.starts_with("sell") || negative;
        let buys =
            lower.starts_with("bought") || lower.starts_with("buy") || lower.contains("reinvest");
        if sells || buys {
            let ticker = ticker_in(name).or_else(|| ticker_in(details));
            let ticker = ticker.unwrap_or_else(|| slug(name));
            let trade = Trade {
                date: day_first(get("Date")),
                ticker: &ticker,
                sells,
                quantity: get("Quantity"),
                price: get("Price"),
                currency: "GBP",
                fees: Vec::new(),
            };
            drafts.trade(line, &trade);
        } else if lower.contains("dividend")
            || lower.contains("deposit")
            || lower.contains("fee")
            || lower.contains("interest")
        {
            drafts.skip(details);
        } else {
            drafts.warn(line, format!("`{details}` is not understood and left out"));
        }
    }
}

/// The ticker in brackets at the end of a name: `S&P 500 UCITS ETF (VUSA)`.
fn ticker_in(name: &str) -> Option<String> {
    let (_, rest) = name.rsplit_once('(')?;
    let (ticker, _) = rest.split_once(')')?;
    let fits = (2..=6).contains(&ticker.len())
        && ticker.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    fits.then(|| ticker.to_owned())
}

/// A name as a ticker: its letters and digits, words joined by dashes.
pub(super) fn slug(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_uppercase().chars().take(50).collect()
}
