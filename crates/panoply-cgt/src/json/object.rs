//! Converts one JSON object to a transaction and collects all its problems.

use rust_decimal::Decimal;
use serde_json::{Map, Value};

use super::EXAMPLE;
use super::positions::Element;
use crate::currency::Currency;
use crate::dsl::grammar::{FORMS, form_of};
use crate::number::{self, NumberError};
use crate::problem::{Problem, suggest_similar};
use crate::security::{Country, IncomeKind, Isin, Security, SecurityClass};
use crate::transaction::{
    Amount, Demerger, InvalidTicker, Kind, Quantity, Takeover, Ticker, Transaction,
};

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
const INTO: &[&str] = &["into", "new_ticker"];
const VALUE: &[&str] = &["value"];
const REMAINING: &[&str] = &["remaining", "remaining_value"];
const CASH: &[&str] = &["cash"];
/// Members of SECURITY.
const CLASS: &[&str] = &["class"];
const ISIN: &[&str] = &["isin"];
const INCOME: &[&str] = &["income"];
const COUNTRY: &[&str] = &["country"];
const NAME: &[&str] = &["name"];
const NONE: &[&str] = &[];
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
        self.report_conflicts(members);
        let date = self.date();
        let ticker = self.ticker(TICKER);
        let kind = self.kind();
        let (date, ticker, kind) = (date?, ticker?, kind?);
        if kind.into_ticker() == Some(&ticker) {
            let message = format!("`{ticker}` cannot become itself");
            let hint = "write the ticker of the other holding";
            self.report(Some("into"), self.value, message, "another ticker", hint);
        }
        self.problems.is_empty().then_some(Transaction { date, ticker, kind })
    }

    fn kind(&mut self) -> Option<Kind> {
        let word = self.action()?;
        match word {
            "BUY" | "SELL" | "RIGHTS" => {
                let quantity = self.positive(QUANTITY, word);
                let price = self.positive_amount(PRICE, word);
                let fees = self.optional_amount(FEES);
                let (quantity, price, fees) = (quantity?, price?, fees?);
                Some(match word {
                    "BUY" => Kind::Buy { quantity, price, fees },
                    "SELL" => Kind::Sell { quantity, price, fees },
                    _ => Kind::Rights { quantity, price, fees },
                })
            }
            "DIVIDEND" => {
                let total = self.positive_amount(TOTAL, word);
                let tax = self.optional_amount(TAX);
                self.reject_legacy_dividend()?;
                Some(Kind::Dividend { total: total?, tax: tax? })
            }
            "INTEREST" => {
                let total = self.positive_amount(TOTAL, word);
                let tax = self.optional_amount(TAX);
                Some(Kind::Interest { total: total?, tax: tax? })
            }
            "SECURITY" => self.security().map(|security| Kind::Security(Box::new(security))),
            "SPLIT" => Some(Kind::Split { ratio: self.positive(RATIO, word)? }),
            "UNSPLIT" => Some(Kind::Unsplit { ratio: self.positive(RATIO, word)? }),
            "RESTRUCT" => self.old_and_new().map(|(old, new)| Kind::Restruct { old, new }),
            "BONUS" => self.old_and_new().map(|(held, new)| Kind::Bonus { held, new }),
            "SPOUSE_OUT" => Some(Kind::SpouseOut { quantity: self.positive(QUANTITY, word)? }),
            "RENAME" => Some(Kind::Rename { into: self.ticker(INTO)? }),
            "NEGLIGIBLE" => Some(Kind::Negligible { value: self.positive_amount(VALUE, word)? }),
            "DEMERGER" | "TAKEOVER" => self.exchange(word),
            _ => self.quantity_and_total(word),
        }
    }

    fn security(&mut self) -> Option<Security> {
        let class = self.fact(CLASS, |text| {
            SecurityClass::parse(text).map_err(|bad| (bad.to_string(), bad.hint))
        });
        let isin = self.fact(ISIN, |text| {
            Isin::parse(text).ok_or_else(|| {
                (
                    format!("`{text}` is not an ISIN"),
                    "copy it from the broker's statement, such as IE00BK5BQT80",
                )
            })
        });
        let income = self.fact(INCOME, |text| {
            IncomeKind::parse(text).ok_or_else(|| {
                (
                    format!("`{text}` is not a kind of income"),
                    "write `interest` for a bond fund, otherwise `dividend`",
                )
            })
        });
        let country = self.fact(COUNTRY, |text| {
            Country::parse(text).ok_or_else(|| {
                (
                    format!("`{text}` is not a country"),
                    "write the country's two letters, such as US",
                )
            })
        });
        let name = self.fact(NAME, |text| {
            Security::name_of(text)
                .ok_or_else(|| ("the name is empty".to_owned(), "write the name of the security"))
        });
        let (class, isin, income, country, name) = (class?, isin?, income?, country?, name?);
        let security = Security { class, isin, income, country, name };
        if security == Security::default() {
            self.required(
                CLASS,
                "`class`, `isin`, `income`, `country` or `name`: SECURITY needs one",
            )?;
        }
        Some(security)
    }

    /// A member of SECURITY, which may be absent. The outer `None` is an error.
    fn fact<T>(
        &mut self,
        names: &'static [&'static str],
        parse: impl Fn(&str) -> Result<T, (String, &'static str)>,
    ) -> Option<Option<T>> {
        let Some((name, value)) = self.find(names) else { return Some(None) };
        match parse(value.as_str().unwrap_or_default().trim()) {
            Ok(fact) => Some(Some(fact)),
            Err((message, hint)) => {
                self.report(Some(name), value, message, "a fact about the security as text", hint);
                None
            }
        }
    }

    fn exchange(&mut self, word: &'static str) -> Option<Kind> {
        let into = self.ticker(INTO);
        let quantity = self.positive(QUANTITY, word);
        if word == "DEMERGER" {
            let value = self.positive_amount(VALUE, word);
            let remaining = self.positive_amount(REMAINING, word);
            let (into, quantity, value, remaining) = (into?, quantity?, value?, remaining?);
            return Some(Kind::Demerger(Box::new(Demerger { into, quantity, value, remaining })));
        }
        let cash = self.optional_amount(CASH);
        let value = self.given_amount(VALUE, word);
        let (into, quantity, cash, value) = (into?, quantity?, cash?, value?);
        Some(Kind::Takeover(Box::new(Takeover { into, quantity, cash, value })))
    }

    fn quantity_and_total(&mut self, word: &'static str) -> Option<Kind> {
        let quantity = self.positive(QUANTITY, word);
        let total = self.positive_amount(if word == "OPENING" { COST } else { TOTAL }, word);
        let (fees, tax) = (self.optional_amount(FEES), self.optional_amount(TAX));
        let value = self.given_amount(VALUE, word);
        let (quantity, total, fees, tax, value) = (quantity?, total?, fees?, tax?, value?);
        Some(match word {
            "ACCUMULATION" => Kind::Accumulation { quantity: quantity.get(), total, tax },
            "CAPRETURN" => Kind::CapReturn { quantity, total, fees, value: value.map(Box::new) },
            "EQUALISATION" => Kind::Equalisation { quantity, total },
            "SCRIP" => Kind::Scrip { quantity, total },
            "SPOUSE_IN" => Kind::SpouseIn { quantity, total },
            _ => Kind::Opening { quantity, cost: total },
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

    fn ticker(&mut self, names: &'static [&'static str]) -> Option<Ticker> {
        let (name, value) = self.required(names, InvalidTicker::EXPECTED)?;
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

    /// Parses fees or tax; zero pounds when absent.
    fn optional_amount(&mut self, names: &'static [&'static str]) -> Option<Amount> {
        match self.find(names) {
            Some((name, value)) => self.amount(name, value),
            None => Some(Amount::NONE),
        }
    }

    /// Parses an amount that may be absent, but not zero. The outer `None` is an error.
    fn given_amount(
        &mut self,
        names: &'static [&'static str],
        word: &str,
    ) -> Option<Option<Amount>> {
        match self.find(names) {
            Some(_) => self.positive_amount(names, word).map(Some),
            None => Some(None),
        }
    }

    /// Parses an amount above zero, or the word `NIL` for an intended zero.
    fn positive_amount(&mut self, names: &'static [&'static str], word: &str) -> Option<Amount> {
        let main = names.first().copied().unwrap_or_default();
        let expected = format!("`{main}`, an amount: {word} needs it");
        let (name, value) = self.required(names, &expected)?;
        if value.as_str().is_some_and(|text| text.trim().eq_ignore_ascii_case("NIL")) {
            return Some(Amount::NONE);
        }
        let amount = self.amount(name, value)?;
        if !amount.value().is_zero() {
            return Some(amount);
        }
        let message = format!("`{name}` is zero, but it must be positive");
        let hint = "write the amount, or \"NIL\" if nothing was paid";
        self.report(Some(name), value, message, "an amount above zero, or \"NIL\"", hint);
        None
    }

    fn amount(&mut self, name: &'static str, value: &Value) -> Option<Amount> {
        match value {
            Value::Object(members) => self.amount_object(name, value, members),
            _ => {
                let number = self.read_number(name, value)?;
                match self.find(CURRENCY) {
                    Some((member, code)) => self.in_unit(member, number, code),
                    None => Amount::new(number, Currency::GBP),
                }
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
        let number = self.read_number(name, amount)?;
        let amount = self.in_unit(name, number, currency)?;
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

    /// The amount in a currency; pence become pounds.
    fn in_unit(&mut self, name: &'static str, number: Decimal, code: &Value) -> Option<Amount> {
        match Amount::in_unit(number, code.as_str().unwrap_or_default().trim()) {
            Ok(amount) => Some(amount),
            Err(unknown) => {
                let message = format!("{code} in `{name}` is not an ISO 4217 currency code");
                let expected = "a currency code such as \"USD\"";
                self.report(Some(name), code, message, expected, unknown.hint());
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

    /// Reports members that name the same thing and differ, such as `quantity` and `amount`.
    fn report_conflicts(&mut self, members: &Map<String, Value>) {
        for names in [DATE, ACTION, TICKER, QUANTITY, PRICE, FEES, TOTAL, TAX, RATIO, CURRENCY] {
            let named = |(name, value): &(&String, &Value)| {
                !value.is_null() && names.iter().any(|known| known.eq_ignore_ascii_case(name))
            };
            let mut given = members.iter().filter(named);
            let Some((first, value)) = given.next() else { continue };
            let Some((second, other)) = given.find(|(_, other)| *other != value) else { continue };
            let message = format!("`{first}` is {value}, but `{second}` is {other}");
            let hint = format!("leave out `{second}` or `{first}`: they are the same member");
            self.report(names.first().copied(), other, message, "one of the two", &hint);
        }
    }

    fn report_unknown_members(&mut self, members: &Map<String, Value>) {
        let known = [
            DATE, ACTION, TICKER, QUANTITY, PRICE, FEES, COST, TAX, RATIO, CURRENCY, INTO, VALUE,
            REMAINING, CASH, IGNORED,
        ];
        let action = self.find(ACTION).and_then(|(_, action)| action.as_str());
        let facts = action.is_some_and(|word| word.trim().eq_ignore_ascii_case("SECURITY"));
        let facts = if facts { [CLASS, ISIN, INCOME, COUNTRY, NAME] } else { [NONE; 5] };
        let known: Vec<&str> = known.into_iter().chain(facts).flatten().copied().collect();
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
