//! Interactive Brokers: a Flex query as XML or CSV, with trades and cash transactions.

use super::csv::Sheet;
use super::draft::{Drafts, Trade, compact_date, iso_date};

pub(super) fn read(text: &str, drafts: &mut Drafts) {
    if text.contains("<FlexQueryResponse") {
        return xml(text, drafts);
    }
    let Some(sheet) = Sheet::find(text, &["symbol", "tradedate", "quantity", "tradeprice"]) else {
        return drafts.not_recognised(
            "expected a Flex query as XML, or as CSV with Symbol, TradeDate, Quantity, TradePrice",
        );
    };
    for record in &sheet.records {
        let get = |name: &str| sheet.get(record, name);
        let member = |name: &str| match name {
            "currency" => get("CurrencyPrimary").to_owned(),
            "assetCategory" => get("AssetClass").to_owned(),
            "ibCommissionCurrency" => get("IBCommissionCurrency").to_owned(),
            "ibCommission" => get("IBCommission").to_owned(),
            "buySell" => get("Buy/Sell").to_owned(),
            other => get(other).to_owned(),
        };
        trade(record.line, member, drafts);
    }
}

fn xml(text: &str, drafts: &mut Drafts) {
    let mut dividends: Vec<Element> = Vec::new();
    let mut taxes: Vec<Element> = Vec::new();
    for element in elements(text) {
        match element.name.as_str() {
            "Trade" => trade(element.line, |name| element.get(name), drafts),
            "CashTransaction" => match element.get("type").as_str() {
                "Dividends" | "Payment In Lieu Of Dividends" => dividends.push(element),
                "Withholding Tax" => taxes.push(element),
                other => drafts.skip(other),
            },
            "CorporateAction" => {
                let what =
                    format!("a corporate action is left out: {}", element.get("description"));
                drafts.warn(element.line, what);
            }
            _ => {}
        }
    }
    for dividend in dividends {
        let key = (dividend.get("symbol"), dividend.day());
        let place = taxes.iter().position(|tax| (tax.get("symbol"), tax.day()) == key);
        let tax = place.map(|place| taxes.remove(place));
        let tax = tax.map_or_else(
            || (String::new(), String::new()),
            |tax| (tax.get("amount"), tax.get("currency")),
        );
        let (amount, currency) = (dividend.get("amount"), dividend.get("currency"));
        drafts.dividend(
            dividend.line,
            date_of(&dividend.day()),
            &key.0,
            (&amount, &currency),
            (&tax.0, &tax.1),
        );
    }
    for tax in taxes {
        drafts.warn(
            tax.line,
            format!(
                "tax of {} on {} belongs to no dividend of that day and is left out",
                tax.get("amount"),
                tax.get("symbol")
            ),
        );
    }
}

fn trade(line: u32, get: impl Fn(&str) -> String, drafts: &mut Drafts) {
    let category = get("assetCategory");
    if !matches!(category.as_str(), "STK" | "ETF" | "FUND" | "") {
        return drafts.skip(&format!("{category} trade"));
    }
    let (symbol, quantity, price) = (get("symbol"), get("quantity"), get("tradePrice"));
    let (commission, taxes) = (get("ibCommission"), get("taxes"));
    let (currency, commission_currency) = (get("currency"), get("ibCommissionCurrency"));
    let commission_currency =
        if commission_currency.is_empty() { currency.clone() } else { commission_currency };
    let symbol = symbol.replace(' ', ".");
    let trade = Trade {
        date: date_of(&get("tradeDate")),
        ticker: &symbol,
        sells: quantity.trim_start().starts_with('-')
            || get("buySell").to_uppercase().starts_with("SELL"),
        quantity: &quantity,
        price: &price,
        currency: &currency,
        fees: vec![(&commission, &commission_currency), (&taxes, &currency)],
    };
    drafts.trade(line, &trade);
}

fn date_of(text: &str) -> Option<jiff::civil::Date> {
    iso_date(text).or_else(|| compact_date(text))
}

/// An XML element with its attributes. A Flex report has nothing but those.
struct Element {
    line: u32,
    name: String,
    attributes: Vec<(String, String)>,
}

impl Element {
    fn get(&self, name: &str) -> String {
        let found = self.attributes.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    }

    /// The day of a cash transaction, without its time.
    fn day(&self) -> String {
        let moment = [self.get("reportDate"), self.get("dateTime")]
            .into_iter()
            .find(|text| !text.is_empty());
        moment.unwrap_or_default().split([';', ',', ' ', 'T']).next().unwrap_or_default().to_owned()
    }
}

fn elements(text: &str) -> Vec<Element> {
    let mut found = Vec::new();
    let mut line = 1;
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        line += newlines(before);
        let (inside, next) = split_tag(after);
        let name: String = inside.chars().take_while(|c| c.is_alphanumeric()).collect();
        if !name.is_empty() {
            found.push(Element { line, attributes: attributes(inside), name });
        }
        line += newlines(inside);
        rest = next;
    }
    found
}

/// What stands before the `>` that is in no quotes, and what after it.
fn split_tag(text: &str) -> (&str, &str) {
    let mut quote: Option<char> = None;
    for (position, c) in text.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == '>' => {
                let (inside, rest) = text.split_at(position);
                return (inside, rest.get(1..).unwrap_or_default());
            }
            None => {}
        }
    }
    (text, "")
}

fn newlines(text: &str) -> u32 {
    u32::try_from(text.matches('\n').count()).unwrap_or(u32::MAX)
}

fn attributes(inside: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = inside;
    while let Some((before, after)) = rest.split_once("=\"") {
        let name = before.split_whitespace().next_back().unwrap_or_default();
        let (value, next) = after.split_once('"').unwrap_or((after, ""));
        let value = value
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&apos;", "'")
            .replace("&amp;", "&");
        found.push((name.to_owned(), value));
        rest = next;
    }
    found
}
