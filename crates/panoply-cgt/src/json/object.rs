//! Converts one JSON object to a transaction and collects all its problems.

use rust_decimal::Decimal;
use serde_json::{Map, Value};

use super::EXAMPLE;
use super::positions::Element;
use crate::currency::Currency;
use crate::dsl::grammar::{FORMS, form_of};
use crate::number::{self, NumberError};
use crate::problem::{Problem, suggest_similar};
use crate::transaction::{Amount, InvalidTicker, Kind, Quantity, Ticker, Transaction};

/// Accepted member names; the first is canonical.
const DATE: &[&str] = &["date"];
const ACTION: &[&str] = &["action", "type"];
const TICKER: &[&str] = &["ticker", "symbol"];
const QUANTITY: &[&str] = &["quantity", "amount"];
const PRICE: &[&str] = &["price"];
const FEES: &[&str] = &["fees"];
const TOTAL: &[&str] = &["total", "total_value"];
const COST: &[&str] = &["cost", "total", "total_value"];
const TAX: &[&str] = &["tax", "tax_paid"];
const RATIO: &[&str] = &["ratio"];
const CURRENCY: &[&str] = &["currency"];
/// Members that are ignored without notice.
const IGNORED: &[&str] = &["line", "file", "note", "comment", "id"];

/// Parser of one object.
pub(super) struct Object<'a> {
    value: &'a Value,
    element: Element<'a>,
    pub(super) problems: Vec<Problem>,
    pub(super) notices: Vec<String>,
}

impl<'a> Object<'a> {
    pub(super) const fn new(value: &'a Value, element: Element<'a>) -> Self {
        Self { value, element, problems: Vec::new(), notices: Vec::new() }
    }

    pub(super) fn line(&self) -> u32 {
        self.element.line()
    }

    /// Returns the transaction, or `None` with at least one problem.
    pub(super) fn transaction(&mut self) -> Option<Transaction> {
        let Value::Object(members) = self.value else {
            let message = "a transaction must be an object".to_owned();
            self.report(
                None,
                self.value,
                message,
                "an object",
                "write each transaction as an object",
            );
            return None;
        };
        self.report_unknown_members(members);
        let date = self.date();
        let ticker = self.ticker();
        let kind = self.kind();
        Some(Transaction { date: date?, ticker: ticker?, kind: kind? })
    }

    fn kind(&mut self) -> Option<Kind> {
        let word = self.action()?;
        Some(match word {
            "BUY" | "SELL" => {
                let quantity = self.positive(QUANTITY, word);
                let price = self.amount(PRICE, Some(word));
                let fees = self.amount(FEES, None);
                let (quantity, price, fees) = (quantity?, price?, fees?);
                match word {
                    "BUY" => Kind::Buy { quantity, price, fees },
                    _ => Kind::Sell { quantity, price, fees },
                }
            }
            "DIVIDEND" => {
                let total = self.amount(TOTAL, Some(word));
                let tax = self.amount(TAX, None);
                self.reject_legacy_dividend()?;
                Kind::Dividend { total: total?, tax: tax? }
            }
            "ACCUMULATION" => {
                let quantity = self.number(QUANTITY, word);
                let total = self.amount(TOTAL, Some(word));
                let tax = self.amount(TAX, None);
                let (quantity, total) = (quantity?, total?);
                if quantity.is_zero() && !total.value().is_zero() {
                    self.positive(QUANTITY, word)?;
                }
                Kind::Accumulation { quantity, total, tax: tax? }
            }
            "CAPRETURN" => {
                let quantity = self.positive(QUANTITY, word);
                let total = self.amount(TOTAL, Some(word));
                let fees = self.amount(FEES, None);
                Kind::CapReturn { quantity: quantity?, total: total?, fees: fees? }
            }
            "SPLIT" => Kind::Split { ratio: self.positive(RATIO, word)? },
            "UNSPLIT" => Kind::Unsplit { ratio: self.positive(RATIO, word)? },
            "RESTRUCT" => {
                let (old, new) = self.old_and_new()?;
                Kind::Restruct { old, new }
            }
            "SPOUSE_OUT" => Kind::SpouseOut { quantity: self.positive(QUANTITY, word)? },
            "SPOUSE_IN" => {
                let quantity = self.positive(QUANTITY, word);
                let total = self.amount(TOTAL, Some(word));
                Kind::SpouseIn { quantity: quantity?, total: total? }
            }
            _ => {
                let quantity = self.positive(QUANTITY, word);
                let cost = self.amount(COST, Some(word));
                Kind::Opening { quantity: quantity?, cost: cost? }
            }
        })
    }

    fn action(&mut self) -> Option<&'static str> {
        let known: Vec<&str> = FORMS.iter().map(|form| form.word).collect();
        let expected = format!("one of {}", known.join(", "));
        let (name, value) = self.required(ACTION, &expected)?;
        let text = value.as_str().unwrap_or_default();
        if let Some(form) = form_of(text.trim()) {
            return Some(form.word);
        }
        let hint = match suggest_similar(text, known.iter().copied()) {
            Some(close) => format!("write `{close}` if that was meant"),
            None => format!("write {expected}"),
        };
        self.report(
            Some(name),
            value,
            format!("{value} is not an action; the actions are {}", known.join(", ")),
            &expected,
            &hint,
        );
        None
    }

    fn date(&mut self) -> Option<jiff::civil::Date> {
        let expected = "a date as YYYY-MM-DD";
        let (name, value) = self.required(DATE, expected)?;
        let text = value.as_str().unwrap_or_default().trim();
        let date = crate::dsl::read_date(text);
        if date.is_none() {
            self.report(
                Some(name),
                value,
                format!("{value} is not a date"),
                expected,
                "write a date that exists, year first, such as `2024-01-15`",
            );
        }
        date
    }

    fn ticker(&mut self) -> Option<Ticker> {
        let (name, value) = self.required(TICKER, InvalidTicker::EXPECTED)?;
        let ticker = Ticker::parse(value.as_str().unwrap_or_default().trim());
        if ticker.is_err() {
            self.report(
                Some(name),
                value,
                format!("{value} is not a ticker"),
                InvalidTicker::EXPECTED,
                "write the holding's short name",
            );
        }
        ticker.ok()
    }

    fn positive(&mut self, names: &'static [&'static str], word: &str) -> Option<Quantity> {
        let number = self.number(names, word)?;
        let quantity = Quantity::new(number);
        if quantity.is_none()
            && let Some((name, value)) = self.find(names)
        {
            let message = format!("`{name}` is {value}, but it must be positive");
            self.report(
                Some(name),
                value,
                message,
                "a number above zero",
                "write how many, or leave the transaction out",
            );
        }
        quantity
    }

    fn number(&mut self, names: &'static [&'static str], word: &str) -> Option<Decimal> {
        let main = names.first().copied().unwrap_or_default();
        let expected = format!("`{main}`, a number: {word} needs it");
        let (name, value) = self.required(names, &expected)?;
        self.read_number(name, value)
    }

    fn read_number(&mut self, name: &'static str, value: &Value) -> Option<Decimal> {
        let bad = match number_of(value) {
            Ok(number) => return Some(number),
            Err(bad) => bad,
        };
        let message = match bad {
            NumberError::Negative => format!("`{name}` is {value}, but it must be positive"),
            _ => format!("`{name}` is {value}, which {bad}"),
        };
        self.report(Some(name), value, message, "a number, best as text", bad.hint());
        None
    }

    /// Parses an amount; `needed_by` names the action that requires it.
    fn amount(
        &mut self,
        names: &'static [&'static str],
        needed_by: Option<&str>,
    ) -> Option<Amount> {
        let main = names.first().copied().unwrap_or_default();
        let found = match needed_by {
            Some(word) => {
                let expected = format!("`{main}`, an amount: {word} needs it");
                Some(self.required(names, &expected)?)
            }
            None => self.find(names),
        };
        let Some((name, value)) = found else { return Some(Amount::NONE) };
        match value {
            Value::Object(members) => self.amount_object(name, value, members),
            _ => {
                let number = self.read_number(name, value)?;
                Amount::new(number, self.own_currency()?)
            }
        }
    }

    fn amount_object(
        &mut self,
        name: &'static str,
        value: &Value,
        members: &Map<String, Value>,
    ) -> Option<Amount> {
        let member = |wanted: &str| {
            members
                .iter()
                .find(|(name, _)| name.eq_ignore_ascii_case(wanted))
                .map(|(_, value)| value)
        };
        if member("gbp").is_some() {
            let message = format!("`{name}` has a member `gbp`, which is an old form");
            self.report(
                Some(name),
                value,
                message,
                "a plain string in pounds",
                "write the pounds as a plain string, such as \"150\"",
            );
            return None;
        }
        let Some(amount) = member("amount").or_else(|| member("value")) else {
            let message = format!("`{name}` is an object without `amount`");
            self.report(
                Some(name),
                value,
                message,
                "{\"amount\": …, \"currency\": …}",
                "add `amount`, or write a plain string in pounds",
            );
            return None;
        };
        let Some(currency) = member("currency") else {
            let message =
                format!("`{name}` is an object without `currency`: the object form needs one");
            self.report(
                Some(name),
                value,
                message,
                "{\"amount\": …, \"currency\": …}",
                "use a plain string for pounds, such as \"150\", or add `currency`, such as {\"amount\": \"150\", \"currency\": \"USD\"}",
            );
            return None;
        };
        let currency = self.read_currency(name, currency)?;
        let amount = Amount::new(self.read_number(name, amount)?, currency)?;
        let Some(rate) = member("rate").filter(|rate| !rate.is_null()) else { return Some(amount) };
        let number = self.read_number(name, rate)?;
        let Some(rate) = Quantity::new(number) else {
            let message = format!("the rate of `{name}` is zero, but it must be positive");
            self.report(
                Some(name),
                value,
                message,
                "units of the currency a pound",
                "write the rate, or leave it out",
            );
            return None;
        };
        Some(amount.at_rate(Some(rate)))
    }

    /// Currency of plain amounts; pounds by default.
    fn own_currency(&mut self) -> Option<Currency> {
        match self.find(CURRENCY) {
            Some((name, value)) => self.read_currency(name, value),
            None => Some(Currency::GBP),
        }
    }

    fn read_currency(&mut self, name: &'static str, value: &Value) -> Option<Currency> {
        match Currency::parse(value.as_str().unwrap_or_default().trim()) {
            Ok(currency) => Some(currency),
            Err(unknown) => {
                let message = format!("{value} in `{name}` is not an ISO 4217 currency code");
                self.report(
                    Some(name),
                    value,
                    message,
                    "a currency code such as \"USD\"",
                    unknown.hint(),
                );
                None
            }
        }
    }

    fn old_and_new(&mut self) -> Option<(Quantity, Quantity)> {
        let expected = "`ratio`, such as \"8:7\": 8 old shares became 7 new ones";
        let (name, value) = self.required(RATIO, expected)?;
        let positive = |text: &str| number::parse(text.trim()).ok().and_then(Quantity::new);
        let text = value.as_str().unwrap_or_default();
        let both =
            text.split_once(':').and_then(|(old, new)| Some((positive(old)?, positive(new)?)));
        if both.is_none() {
            self.report(
                Some(name),
                value,
                format!("`{name}` is {value}, not two positive numbers"),
                expected,
                "write old and new shares with a colon between",
            );
        }
        both
    }

    /// See the parser of the transaction language: a quantity would change the meaning.
    fn reject_legacy_dividend(&mut self) -> Option<()> {
        let Some((name, value)) = self.find(QUANTITY) else { return Some(()) };
        let message = format!("a DIVIDEND has no quantity, but `{name}` is {value}");
        self.report(
            Some(name),
            value,
            message,
            "`total` and perhaps `tax`",
            "leave the quantity out if cash was paid (DIVIDEND: income, cost unchanged); write ACCUMULATION if it was reinvested in the fund (added to the cost)",
        );
        None
    }

    fn required(
        &mut self,
        names: &'static [&'static str],
        expected: &str,
    ) -> Option<(&'static str, &'a Value)> {
        let found = self.find(names);
        if found.is_none() {
            let main = names.first().copied().unwrap_or_default();
            let also = match names.get(1) {
                Some(other) => format!("add `{main}` (or `{other}`) to the object"),
                None => format!("add `{main}` to the object"),
            };
            self.report(None, &Value::Null, format!("there is no `{main}`"), expected, &also);
        }
        found
    }

    fn find(&self, names: &'static [&'static str]) -> Option<(&'static str, &'a Value)> {
        let members = self.value.as_object()?;
        names.iter().find_map(|wanted| {
            let exact = members.get(*wanted);
            let found = exact.or_else(|| {
                members
                    .iter()
                    .find(|(name, _)| name.eq_ignore_ascii_case(wanted))
                    .map(|(_, value)| value)
            });
            found.filter(|value| !value.is_null()).map(|value| (*wanted, value))
        })
    }

    fn report_unknown_members(&mut self, members: &Map<String, Value>) {
        let known =
            [DATE, ACTION, TICKER, QUANTITY, PRICE, FEES, COST, TAX, RATIO, CURRENCY, IGNORED];
        let known: Vec<&str> = known.into_iter().flatten().copied().collect();
        let unread = members
            .keys()
            .filter(|name| !known.iter().any(|known| known.eq_ignore_ascii_case(name)));
        for name in unread {
            let line = self.line();
            self.notices.push(match suggest_similar(name, known.iter().copied()) {
                Some(close) => {
                    format!("line {line}: `{name}` is ignored; did you mean `{close}`?")
                }
                None => format!("line {line}: `{name}` is ignored"),
            });
        }
    }

    fn report(
        &mut self,
        member: Option<&str>,
        value: &Value,
        message: String,
        expected: &str,
        hint: &str,
    ) {
        let (line, column, source) = self.element.member(member);
        self.problems.push(Problem {
            line,
            column,
            source,
            value: match value {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                other => other.to_string().chars().take(120).collect(),
            },
            message,
            expected: expected.to_owned(),
            hint: hint.to_owned(),
            example: EXAMPLE,
        });
    }
}

/// Parses a number sent as string or JSON number. JSON writes small numbers as `1e-7`.
fn number_of(value: &Value) -> Result<Decimal, NumberError> {
    match value {
        Value::String(text) => number::parse(text.trim()),
        Value::Number(number) => {
            let text = number.to_string();
            number::parse(&text).or_else(|bad| match Decimal::from_scientific(&text) {
                Ok(number) if !number.is_sign_negative() => Ok(number),
                _ => Err(bad),
            })
        }
        _ => Err(NumberError::NotANumber),
    }
}
