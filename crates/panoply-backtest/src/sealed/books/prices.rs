//! The price in a market data event: close, last or mid price, and the range of a bar.

use rust_decimal::Decimal;

use crate::position::decimal;
use crate::scan::outline::Outline;
use crate::scan::{self, Token};

/// Names of the price of a bar or tick, most specific first.
const LAST: [&str; 8] =
    ["Close", "Price", "Last", "LastPrice", "close", "price", "last", "last_price"];
const BID: [&str; 4] = ["BidPrice", "Bid", "bid_price", "bid"];
const ASK: [&str; 4] = ["AskPrice", "Ask", "ask_price", "ask"];
const HIGH: [&str; 2] = ["High", "high"];
const LOW: [&str; 2] = ["Low", "low"];

/// The prices of one market data event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Quote {
    pub(crate) last: Decimal,
    pub(crate) high: Decimal,
    pub(crate) low: Decimal,
}

/// The price of an event. A bar whose price is null or not a number has none: the price before it
/// stays the last one.
pub(crate) fn last_price(outline: &Outline<'_>) -> Option<Decimal> {
    last_by(&|name| find(outline, name))
}

/// The prices of an event.
pub(crate) fn quote(outline: &Outline<'_>) -> Option<Quote> {
    quote_by(|name| find(outline, name))
}

/// The prices of an event, from its properties.
pub(crate) fn quote_of(json: &str) -> Option<Quote> {
    let data = scan::member(json, "Data").and_then(|token| token.json()).unwrap_or_default();
    quote_by(|name| scan::member(data, name).or_else(|| scan::member(json, name)))
}

fn quote_by<'a>(find: impl Fn(&str) -> Option<Token<'a>>) -> Option<Quote> {
    let last = last_by(&find)?;
    let high = first(&find, &HIGH).map_or(last, |high| high.max(last));
    let low = first(&find, &LOW).map_or(last, |low| low.min(last));
    Some(Quote { last, high, low })
}

/// Close, last or mid price.
fn last_by<'a>(find: &impl Fn(&str) -> Option<Token<'a>>) -> Option<Decimal> {
    first(find, &LAST).or_else(|| {
        let (bid, ask) = (first(find, &BID)?, first(find, &ASK)?);
        bid.checked_add(ask)?.checked_div(Decimal::TWO)
    })
}

/// The first of these members that is a number.
fn first<'a>(find: &impl Fn(&str) -> Option<Token<'a>>, names: &[&str]) -> Option<Decimal> {
    names.iter().find_map(|name| find(name)?.number_text().and_then(decimal))
}

/// A member of `Data`, or of the properties themselves.
fn find<'a>(outline: &Outline<'a>, name: &str) -> Option<Token<'a>> {
    outline.member_of("Data", name).or_else(|| outline.member(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn price_is_the_close_the_last_trade_or_the_middle_of_the_quote() {
        let cases = [
            (r#"{"Data":{"Open":1,"High":4,"Low":0.5,"Close":2}}"#, Some(("2", "4", "0.5"))),
            (r#"{"Data":{"Price":"3.5"}}"#, Some(("3.5", "3.5", "3.5"))),
            (r#"{"Data":{"BidPrice":1.1,"AskPrice":1.3}}"#, Some(("1.2", "1.2", "1.2"))),
            (r#"{"Close":7}"#, Some(("7", "7", "7"))),
            (r#"{"Data":{"Volume":7}}"#, None),
            (r#"{"Data":{"Close":"NaN"}}"#, None),
            (r#"{"Data":{"Close":null,"BidPrice":1.5}}"#, None),
        ];
        for (json, expected) in cases {
            let of = |text: &str| text.parse::<Decimal>().unwrap();
            let expected = expected.map(|(last, high, low)| Quote {
                last: of(last),
                high: of(high),
                low: of(low),
            });
            assert_eq!(quote_of(json), expected, "{json}");
            assert_eq!(quote(&Outline::of(json)), expected, "{json}");
            let last = expected.map(|quote| quote.last);
            assert_eq!(last_price(&Outline::of(json)), last, "{json}");
        }
    }
}
