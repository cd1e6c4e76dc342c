//! Interactive Brokers: a Flex query as XML or CSV, with trades and cash transactions.

use quick_xml::events::attributes::Attribute;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::builder::{ImportBuilder, Trade, amount, compact_date, iso_date};
use super::sheet::{Record, Sheet};

pub(super) fn read(text: &str, builder: &mut ImportBuilder) {
    let elements =
        if text.contains("<FlexQueryResponse") { elements(text, builder) } else { rows(text) };
    let is_trade = |element: &Element| element.name == "Trade";
    if elements.is_empty() {
        return builder.not_recognised(
            "expected a Flex query as XML, or as CSV with Symbol, TradeDate, Quantity, TradePrice",
        );
    }
    let cancelled = cancelled(elements.iter().filter(|element| is_trade(element)), builder);
    for element in elements.iter().filter(|element| is_trade(element)) {
        if !cancelled.contains(&element.line) {
            element.identify(builder);
            trade(element, builder);
        }
    }
    cash(&elements, builder);
    for element in elements.iter().filter(|element| element.name == "CorporateAction") {
        let what = format!("a corporate action is left out: {}", element.get("description"));
        builder.warn(element.line, what);
    }
}

/// Converts CSV rows to the elements of the XML format. One file may have several tables.
fn rows(text: &str) -> Vec<Element> {
    let mut found = Vec::new();
    for sheet in Sheet::all(text, &["symbol", "currencyprimary"]) {
        let is_marker = |record: &&Record| {
            let first = sheet.fields(record).next().map(|(_, field)| field);
            first.is_some_and(|field| MARKERS.contains(&field))
        };
        for record in sheet.records.iter().filter(|record| !is_marker(record)) {
            let attributes: Vec<(String, String)> = sheet
                .fields(record)
                .map(|(name, value)| (attribute_of(name).to_owned(), value.to_owned()))
                .collect();
            let has = |name: &str| attributes.iter().any(|(known, _)| known == name);
            let name = if has("tradeprice") {
                "Trade"
            } else if has("amount") && has("type") {
                "CashTransaction"
            } else if has("actiondescription") {
                "CorporateAction"
            } else {
                "Other"
            };
            found.push(Element { line: record.line, name: name.to_owned(), attributes });
        }
    }
    found
}

/// Section markers that a query may include: begin and end of file, account and section.
const MARKERS: [&str; 6] = ["BOF", "BOA", "BOS", "EOS", "EOA", "EOF"];

/// XML attribute name of a CSV column, in lower case.
fn attribute_of(column: &str) -> &str {
    match column {
        "currencyprimary" => "currency",
        "assetclass" => "assetcategory",
        "buy/sell" => "buysell",
        "date/time" => "datetime",
        other => other,
    }
}

fn cash(elements: &[Element], builder: &mut ImportBuilder) {
    let of_type = |types: &[&str]| -> Vec<&Element> {
        let is = |element: &&Element| {
            element.name == "CashTransaction" && types.contains(&element.get("type").as_str())
        };
        elements.iter().filter(is).collect()
    };
    let mut taxes = of_type(&["Withholding Tax"]);
    for dividend in of_type(&DIVIDENDS) {
        let key = (dividend.get("symbol"), dividend.day());
        let matching = taxes.iter().position(|tax| (tax.get("symbol"), tax.day()) == key);
        let tax = matching.map(|index| taxes.remove(index));
        let tax = tax.map_or_else(
            || (String::new(), String::new()),
            |tax| (tax.get("amount"), tax.get("currency")),
        );
        let (amount, currency) = (dividend.get("amount"), dividend.get("currency"));
        dividend.identify(builder);
        builder.dividend(
            dividend.line,
            date_of(&dividend.day()),
            &ticker_of(&key.0),
            (&amount, &currency),
            (&tax.0, &tax.1),
        );
    }
    for tax in taxes {
        let (amount, symbol) = (tax.get("amount"), tax.get("symbol"));
        builder.warn(
            tax.line,
            format!("tax of {amount} on {symbol} matches no dividend of that day and is left out"),
        );
    }
    for other in elements.iter().filter(|element| element.name == "CashTransaction") {
        let kind = other.get("type");
        if !DIVIDENDS.contains(&kind.as_str()) && kind != "Withholding Tax" {
            builder.skip(&kind);
        }
    }
}

const DIVIDENDS: [&str; 2] = ["Dividends", "Payment In Lieu Of Dividends"];

/// Lines of cancelled trades and of their cancellations (`BUY (Ca.)`).
fn cancelled<'a>(
    trades: impl Iterator<Item = &'a Element> + Clone,
    builder: &mut ImportBuilder,
) -> Vec<u32> {
    let is_cancel = |element: &Element| element.get("buySell").contains("(Ca.)");
    let key = |element: &Element| {
        let quantity = amount(&element.get("quantity")).map(|quantity| quantity.abs());
        (element.get("symbol"), quantity, amount(&element.get("tradePrice")))
    };
    let mut lines = Vec::new();
    for cancel in trades.clone().filter(|element| is_cancel(element)) {
        lines.push(cancel.line);
        let original = trades.clone().find(|element| {
            !is_cancel(element) && !lines.contains(&element.line) && key(element) == key(cancel)
        });
        match original {
            Some(original) => lines.push(original.line),
            None => builder.warn(
                cancel.line,
                format!("a cancelled trade of {} matches no trade", cancel.get("symbol")),
            ),
        }
    }
    lines
}

fn trade(element: &Element, builder: &mut ImportBuilder) {
    let get = |name: &str| element.get(name);
    let category = get("assetCategory");
    // Orders, summaries and closed lots repeat the executions.
    let level = get("levelOfDetail");
    if !matches!(level.as_str(), "EXECUTION" | "") {
        return builder.skip(&format!("{level} of trades"));
    }
    if !matches!(category.as_str(), "STK" | "ETF" | "FUND" | "") {
        return builder.unsupported(element.line, instrument(&category), &get("symbol"));
    }
    let (quantity, price) = (get("quantity"), get("tradePrice"));
    let (commission, taxes) = (get("ibCommission"), get("taxes"));
    let (currency, commission_currency) = (get("currency"), get("ibCommissionCurrency"));
    let commission_currency =
        if commission_currency.is_empty() { currency.clone() } else { commission_currency };
    let date = date_of(&get("tradeDate")).or_else(|| date_of(&get("dateTime")));
    let trade = Trade {
        date,
        ticker: &ticker_of(&get("symbol")),
        sells: quantity.trim_start().starts_with('-')
            || get("buySell").to_uppercase().starts_with("SELL"),
        quantity: &quantity,
        price: &price,
        currency: &currency,
        fees: vec![(&commission, &commission_currency), (&taxes, &currency)],
        rate: "",
    };
    builder.trade(element.line, &trade);
}

/// Name of an asset category.
fn instrument(category: &str) -> &str {
    match category {
        "OPT" | "FOP" => "options",
        "FUT" => "futures",
        "CASH" => "currency",
        "BOND" | "BILL" => "bonds",
        "CFD" => "contracts for difference",
        "WAR" => "warrants",
        "CMDTY" => "commodities",
        "CRYPTO" => "cryptoassets",
        other => other,
    }
}

/// `BRK B` is `BRK.B` at other brokers.
fn ticker_of(symbol: &str) -> String {
    symbol.trim().replace(' ', ".")
}

fn date_of(text: &str) -> Option<jiff::civil::Date> {
    iso_date(text).or_else(|| compact_date(text))
}

/// An XML element; attribute names are case-insensitive.
struct Element {
    line: u32,
    name: String,
    attributes: Vec<(String, String)>,
}

impl Element {
    fn get(&self, name: &str) -> String {
        let found = self.attributes.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    }

    /// Tells the builder which trade or payment follows.
    fn identify(&self, builder: &mut ImportBuilder) {
        let first = |names: [&str; 3]| {
            names.into_iter().map(|name| self.get(name)).find(|text| !text.is_empty())
        };
        let id = first(["tradeID", "transactionID", "ibExecID"]).unwrap_or_default();
        let account = first(["accountId", "ClientAccountID", "account"]).unwrap_or_default();
        builder.record(&id, &self.get("dateTime"), &account, &self.get("isin"));
    }

    /// Date of a cash transaction, without its time.
    fn day(&self) -> String {
        let timestamp = [self.get("reportDate"), self.get("dateTime")]
            .into_iter()
            .find(|text| !text.is_empty());
        timestamp
            .unwrap_or_default()
            .split([';', ',', ' ', 'T'])
            .next()
            .unwrap_or_default()
            .to_owned()
    }
}

/// The elements of a Flex report. A damaged report is read up to the damage, with a warning.
fn elements(text: &str, builder: &mut ImportBuilder) -> Vec<Element> {
    let mut reader = Reader::from_str(text);
    let mut found = Vec::new();
    let mut line = LineCounter { text, offset: 0, line: 1 };
    loop {
        let start = reader.buffer_position();
        match reader.read_event() {
            Ok(Event::Start(tag) | Event::Empty(tag)) => found.push(Element {
                line: line.at(start),
                name: tag.name().into_inner().to_owned(),
                attributes: attributes(&tag),
            }),
            Ok(Event::Eof) => return found,
            Ok(_) => {}
            Err(error) => {
                builder.warn(line.at(reader.error_position()), format!("invalid XML: {error}"));
                return found;
            }
        }
    }
}

/// Converts ascending byte offsets to line numbers in one pass over the text.
struct LineCounter<'a> {
    text: &'a str,
    offset: usize,
    line: u32,
}

impl LineCounter<'_> {
    fn at(&mut self, offset: u64) -> u32 {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let passed = self.text.as_bytes().get(self.offset..offset).unwrap_or_default();
        let newlines = passed.iter().filter(|byte| **byte == b'\n').count();
        self.line = self.line.saturating_add(u32::try_from(newlines).unwrap_or(u32::MAX));
        self.offset = offset;
        self.line
    }
}

fn attributes(tag: &BytesStart<'_>) -> Vec<(String, String)> {
    let attribute = |attribute: Attribute<'_>| {
        let value = attribute.normalized_value(XmlVersion::Implicit1_0).ok()?;
        Some((attribute.key.into_inner().to_owned(), value.into_owned()))
    };
    tag.attributes().filter_map(Result::ok).filter_map(attribute).collect()
}
