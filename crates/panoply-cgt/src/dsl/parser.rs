//! Parser: words to transactions. Each line yields a transaction or one problem.

use std::collections::HashMap;

use jiff::civil::Date;
use rust_decimal::Decimal;

use super::grammar::{FORMS, Form, form_of};
use super::lexer::{self, Word};
use crate::number;
use crate::problem::{Problem, suggest_similar};
use crate::security::{Country, IncomeKind, Isin, Security, SecurityClass};
use crate::transaction::{
    Amount, Demerger, InvalidTicker, Kind, Quantity, Row, SourceLocation, Takeover, Ticker,
    Transaction,
};

/// Keywords that may follow an amount and are not currencies.
const KEYWORDS: [&str; 11] =
    ["FEES", "TAX", "TOTAL", "RATIO", "COST", "RATE", "VALUE", "REMAINING", "CASH", "INTO", "TO"];
/// An amount of zero that is meant.
pub(super) const NIL: &str = "NIL";

/// Length of `2024-01-01 BUY A 1 @ 1`. Bounds the preallocation for texts of empty lines.
const MIN_LINE_BYTES: usize = 22;

/// Parses a text; every invalid line is a problem.
pub fn parse(text: &str) -> Result<Vec<Row>, Vec<Problem>> {
    // Preallocated: a vector grown by doubling would use up to three times the memory.
    let lines = text.bytes().filter(|byte| *byte == b'\n').count();
    let mut rows = Vec::with_capacity(lines.min(text.len() / MIN_LINE_BYTES) + 1);
    let mut problems = Vec::new();
    let mut words = Vec::new();
    let mut tickers = HashMap::new();
    for (number, line) in lexer::lines(text) {
        lexer::words(line, &mut words);
        if words.is_empty() {
            continue;
        }
        let parser = LineParser { line, number, words: &words, next: 0, form: None };
        match parser.transaction(&mut tickers) {
            Ok(transaction) => {
                rows.push(Row {
                    transaction,
                    location: SourceLocation { file: None, line: number },
                });
            }
            Err(problem) => problems.push(problem.truncated()),
        }
    }
    if problems.is_empty() { Ok(rows) } else { Err(problems) }
}

/// Boxed to keep the success path small.
type ParseResult<T> = Result<T, Box<Problem>>;

/// Parser of one line.
struct LineParser<'a, 'w> {
    line: &'a str,
    number: u32,
    words: &'w [Word<'a>],
    next: usize,
    form: Option<&'static Form>,
}

impl<'a> LineParser<'a, '_> {
    fn transaction(mut self, tickers: &mut HashMap<&'a str, Ticker>) -> ParseResult<Transaction> {
        let date = self.date()?;
        let form = self.action()?;
        self.form = Some(form);
        let ticker = self.ticker(tickers)?;
        let kind = match self.reorganisation(form.word, &ticker, tickers)? {
            Some(kind) => kind,
            None => self.holding_event(form.word)?,
        };
        self.end()?;
        Ok(Transaction { date, ticker, kind })
    }

    /// Trades, income, capital and transfers.
    fn holding_event(&mut self, word: &str) -> ParseResult<Kind> {
        Ok(match word {
            "BUY" => {
                let (quantity, price, fees) = self.trade()?;
                Kind::Buy { quantity, price, fees }
            }
            "SELL" => {
                let (quantity, price, fees) = self.trade()?;
                Kind::Sell { quantity, price, fees }
            }
            "DIVIDEND" => {
                self.reject_legacy_dividend()?;
                let total = self.amount_after("TOTAL")?;
                Kind::Dividend { total, tax: self.optional_amount("TAX")? }
            }
            "INTEREST" => {
                let total = self.amount_after("TOTAL")?;
                Kind::Interest { total, tax: self.optional_amount("TAX")? }
            }
            "SECURITY" => Kind::Security(Box::new(self.security()?)),
            "ACCUMULATION" => {
                let quantity = self.quantity("quantity")?.get();
                let total = self.amount_after("TOTAL")?;
                Kind::Accumulation { quantity, total, tax: self.optional_amount("TAX")? }
            }
            "CAPRETURN" => {
                let quantity = self.quantity("quantity")?;
                let total = self.amount_after("TOTAL")?;
                let fees = self.optional_amount("FEES")?;
                let value = self.optional("VALUE", Self::positive_amount)?.map(Box::new);
                Kind::CapReturn { quantity, total, fees, value }
            }
            "EQUALISATION" => {
                let quantity = self.quantity("quantity")?;
                Kind::Equalisation { quantity, total: self.amount_after("TOTAL")? }
            }
            "SCRIP" => {
                let quantity = self.quantity("quantity")?;
                Kind::Scrip { quantity, total: self.amount_after("TOTAL")? }
            }
            "SPOUSE_OUT" => Kind::SpouseOut { quantity: self.quantity("quantity")? },
            "SPOUSE_IN" => {
                let quantity = self.quantity("quantity")?;
                Kind::SpouseIn { quantity, total: self.amount_after("TOTAL")? }
            }
            "NEGLIGIBLE" => Kind::Negligible { value: self.amount_after("VALUE")? },
            _ => {
                let quantity = self.quantity("quantity")?;
                Kind::Opening { quantity, cost: self.amount_after("COST")? }
            }
        })
    }

    /// Reorganisations of share capital; `None` for other actions.
    fn reorganisation(
        &mut self,
        word: &str,
        ticker: &Ticker,
        tickers: &mut HashMap<&'a str, Ticker>,
    ) -> ParseResult<Option<Kind>> {
        Ok(Some(match word {
            "SPLIT" => Kind::Split { ratio: self.ratio()? },
            "UNSPLIT" => Kind::Unsplit { ratio: self.ratio()? },
            "RESTRUCT" => {
                let (old, new) = self.old_and_new()?;
                Kind::Restruct { old, new }
            }
            "BONUS" => {
                let (held, new) = self.old_and_new()?;
                Kind::Bonus { held, new }
            }
            "RIGHTS" => {
                let (quantity, price, fees) = self.trade()?;
                Kind::Rights { quantity, price, fees }
            }
            "DEMERGER" => {
                let into = self.other_ticker("INTO", ticker, tickers)?;
                let quantity = self.quantity("quantity")?;
                let value = self.amount_after("VALUE")?;
                let remaining = self.amount_after("REMAINING")?;
                Kind::Demerger(Box::new(Demerger { into, quantity, value, remaining }))
            }
            "TAKEOVER" => {
                let into = self.other_ticker("INTO", ticker, tickers)?;
                let quantity = self.quantity("quantity")?;
                let cash = self.optional("CASH", Self::positive_amount)?;
                let value = self.optional("VALUE", Self::positive_amount)?;
                let cash = cash.unwrap_or(Amount::NONE);
                Kind::Takeover(Box::new(Takeover { into, quantity, cash, value }))
            }
            "RENAME" => Kind::Rename { into: self.other_ticker("TO", ticker, tickers)? },
            _ => return Ok(None),
        }))
    }

    /// Ticker of another holding after a keyword.
    fn other_ticker(
        &mut self,
        word: &'static str,
        own: &Ticker,
        tickers: &mut HashMap<&'a str, Ticker>,
    ) -> ParseResult<Ticker> {
        self.word(word)?;
        let other = self.ticker(tickers)?;
        if other != *own {
            return Ok(other);
        }
        let at = Self { next: self.next - 1, ..*self };
        let hint = "write the ticker of the other holding".to_owned();
        Err(at.problem(format!("`{own}` cannot become itself"), "another ticker", hint))
    }

    /// Facts about a security, in any order; the name ends the line.
    fn security(&mut self) -> ParseResult<Security> {
        let mut security = Security::default();
        let start = self.next;
        while !self.peek().is_empty() {
            let word = self.peek();
            self.next += 1;
            let value = self.peek();
            let problem = |message: String, expected: &str, hint: &str| {
                Err(self.problem(message, expected, hint.to_owned()))
            };
            match word.to_ascii_uppercase().as_str() {
                "CLASS" => match SecurityClass::parse(value) {
                    Ok(class) => security.class = Some(class),
                    Err(bad) => return problem(bad.to_string(), "a class of asset", bad.hint),
                },
                "ISIN" => match Isin::parse(value) {
                    Some(isin) => security.isin = Some(isin),
                    None => {
                        return problem(
                            format!("`{value}` is not an ISIN"),
                            "twelve characters with their check digit",
                            "copy it from the broker's statement, such as IE00BK5BQT80",
                        );
                    }
                },
                "INCOME" => match IncomeKind::parse(value) {
                    Some(kind) => security.income = Some(kind),
                    None => {
                        return problem(
                            format!("`{value}` is not a kind of income"),
                            "dividend or interest",
                            "write `interest` for a bond fund, otherwise `dividend`",
                        );
                    }
                },
                "COUNTRY" => match Country::parse(value) {
                    Some(country) => security.country = Some(country),
                    None => {
                        return problem(
                            format!("`{value}` is not a country"),
                            "two letters of ISO 3166",
                            "write the country's two letters, such as US",
                        );
                    }
                },
                "NAME" if !value.is_empty() => {
                    let ends = self.words.get(self.next..).unwrap_or_default();
                    let from = ends.first().map_or(0, |word| word.start);
                    let to = ends.last().map_or(0, |word| word.start + word.text.len());
                    security.name = self.line.get(from..to).and_then(Security::name_of);
                    self.next = self.words.len();
                    return Ok(security);
                }
                _ => {
                    self.next -= 1;
                    let form = self.form.map_or("", |form| form.form);
                    return Err(self.problem(
                        format!("unexpected `{word}`"),
                        "CLASS, ISIN, INCOME, COUNTRY or NAME",
                        format!("write it as: {form}"),
                    ));
                }
            }
            self.next += 1;
        }
        if self.next == start {
            self.word("CLASS")?;
        }
        Ok(security)
    }

    fn trade(&mut self) -> ParseResult<(Quantity, Amount, Amount)> {
        let quantity = self.quantity("quantity")?;
        self.word("@")?;
        let price = self.positive_amount("price")?;
        Ok((quantity, price, self.optional_amount("FEES")?))
    }

    fn date(&mut self) -> ParseResult<Date> {
        let text = self.peek();
        let day = read_date(text);
        if day.is_none() {
            let hint = match day_first(text) {
                Some(iso) => format!("write the year first: `{iso}` if the day came first"),
                None => "start each line with a date that exists, year first".to_owned(),
            };
            let message = format!("`{text}` is not a date");
            return Err(self.problem(message, "a date as YYYY-MM-DD", hint));
        }
        self.next += 1;
        day.ok_or_else(|| self.problem(String::new(), "", String::new()))
    }

    fn action(&mut self) -> ParseResult<&'static Form> {
        let text = self.peek();
        let Some(form) = form_of(text) else {
            let known: Vec<&str> = FORMS.iter().map(|form| form.word).collect();
            let hint = match suggest_similar(text, known.iter().copied()) {
                Some(close) => format!("write `{close}` if that was meant"),
                None => "write one of the actions after the date".to_owned(),
            };
            let message = match text {
                "" => "there is no action after the date".to_owned(),
                _ => format!("`{text}` is not an action"),
            };
            return Err(self.problem(message, known.join(", "), hint));
        };
        self.next += 1;
        Ok(form)
    }

    fn ticker(&mut self, tickers: &mut HashMap<&'a str, Ticker>) -> ParseResult<Ticker> {
        let text = self.peek();
        if let Some(ticker) = tickers.get(text) {
            self.next += 1;
            return Ok(ticker.clone());
        }
        let ticker = Ticker::parse(text).map_err(|bad| {
            let message = match text {
                "" => "there is no ticker".to_owned(),
                _ => bad.to_string(),
            };
            self.problem(
                message,
                InvalidTicker::EXPECTED,
                "write a ticker after the action".to_owned(),
            )
        })?;
        self.next += 1;
        tickers.insert(text, ticker.clone());
        Ok(ticker)
    }

    /// Until 2026 a DIVIDEND had a quantity and raised the cost. Accepting it would silently change
    /// its meaning.
    fn reject_legacy_dividend(&self) -> ParseResult<()> {
        let is_total = |word: &Word<'_>| word.text.eq_ignore_ascii_case("TOTAL");
        let followed = self.words.get(self.next + 1).is_some_and(is_total);
        if !followed || number::parse(self.peek()).is_err() {
            return Ok(());
        }
        let message = format!("a DIVIDEND has no quantity, but `{}` is one", self.peek());
        let hint = "leave the quantity out if cash was paid (DIVIDEND: income, cost unchanged); \
                    write ACCUMULATION if it was reinvested in the fund (added to the cost)";
        Err(self.problem(message, "TOTAL", hint.to_owned()))
    }

    fn quantity(&mut self, what: &'static str) -> ParseResult<Quantity> {
        let number = self.number(what)?;
        Quantity::new(number).ok_or_else(|| self.not_positive(what, self.next - 1))
    }

    fn not_positive(&self, what: &str, word: usize) -> Box<Problem> {
        let message = format!("the {what} is zero, but it must be positive");
        let at = Self { next: word, ..*self };
        at.problem(
            message,
            "a number above zero",
            format!("write the {what}, or leave the line out"),
        )
    }

    fn number(&mut self, what: &'static str) -> ParseResult<Decimal> {
        let text = self.peek();
        let number = number::parse(text).map_err(|bad| {
            let message = match (text, bad) {
                ("", _) => format!("there is no {what}"),
                (_, number::NumberError::Negative) => {
                    format!("the {what} `{text}` is negative, but it must be positive")
                }
                _ => format!("the {what} `{text}` {bad}"),
            };
            self.problem(message, format!("a number: the {what}"), bad.hint().to_owned())
        })?;
        self.next += 1;
        Ok(number)
    }

    fn word(&mut self, expected: &'static str) -> ParseResult<()> {
        let text = self.peek();
        if text.eq_ignore_ascii_case(expected) {
            self.next += 1;
            return Ok(());
        }
        let message = match text {
            "" => format!("there is no `{expected}`"),
            _ => format!("expected `{expected}`, found `{text}`"),
        };
        let form = self.form.map_or("", |form| form.form);
        Err(self.problem(message, format!("`{expected}`"), format!("write it as: {form}")))
    }

    fn amount_after(&mut self, word: &'static str) -> ParseResult<Amount> {
        self.word(word)?;
        self.positive_amount("amount")
    }

    /// Fees or tax: zero when omitted.
    fn optional_amount(&mut self, word: &'static str) -> ParseResult<Amount> {
        Ok(self.optional(word, Self::amount)?.unwrap_or(Amount::NONE))
    }

    fn optional(
        &mut self,
        word: &'static str,
        read: fn(&mut Self, &'static str) -> ParseResult<Amount>,
    ) -> ParseResult<Option<Amount>> {
        if !self.peek().eq_ignore_ascii_case(word) {
            return Ok(None);
        }
        self.next += 1;
        read(self, "amount").map(Some)
    }

    /// An amount above zero, or the word `NIL` for an intended zero. A bare 0 is usually a missing
    /// figure.
    fn positive_amount(&mut self, what: &'static str) -> ParseResult<Amount> {
        if self.peek().eq_ignore_ascii_case(NIL) {
            self.next += 1;
            return Ok(Amount::NONE);
        }
        let start = self.next;
        let amount = self.amount(what)?;
        if !amount.value().is_zero() {
            return Ok(amount);
        }
        let message = format!("the {what} is zero, but it must be positive");
        let at = Self { next: start, ..*self };
        let hint = format!("write the {what}, or `NIL` if nothing was paid");
        Err(at.problem(message, "an amount above zero, or NIL", hint))
    }

    fn amount(&mut self, what: &'static str) -> ParseResult<Amount> {
        let value = self.number(what)?;
        let amount = self.in_currency(value)?;
        let currency = amount.currency();
        if !self.peek().eq_ignore_ascii_case("RATE") {
            return Ok(amount);
        }
        if !currency.is_foreign() {
            let hint = "name the foreign currency before RATE, or leave RATE out".to_owned();
            let message = "an amount in pounds has no exchange rate".to_owned();
            return Err(self.problem(message, "a foreign currency before RATE", hint));
        }
        self.next += 1;
        Ok(amount.at_rate(Some(self.quantity("rate")?)))
    }

    /// The amount in the currency that follows; pounds without one, and pence become pounds.
    fn in_currency(&mut self, value: Decimal) -> ParseResult<Amount> {
        let text = self.peek();
        let keyword = KEYWORDS.iter().any(|word| word.eq_ignore_ascii_case(text));
        let looks_like_one =
            text.chars().count() == 3 && text.chars().all(char::is_alphabetic) && !keyword;
        let code = if looks_like_one { text } else { "GBP" };
        let amount = Amount::in_unit(value, code).map_err(|unknown| {
            let hint = unknown.hint().to_owned();
            self.problem(unknown.to_string(), "an ISO 4217 currency code", hint)
        })?;
        self.next += usize::from(looks_like_one);
        Ok(amount)
    }

    fn ratio(&mut self) -> ParseResult<Quantity> {
        self.word("RATIO")?;
        if self.peek().contains(':') {
            let hint = "write RESTRUCT for a ratio of two numbers".to_owned();
            let message = format!("`{}` is two numbers", self.peek());
            return Err(self.problem(message, "one number", hint));
        }
        self.quantity("ratio")
    }

    fn old_and_new(&mut self) -> ParseResult<(Quantity, Quantity)> {
        self.word("RATIO")?;
        let text = self.peek();
        let positive = |text: &str| number::parse(text).ok().and_then(Quantity::new);
        let both =
            text.split_once(':').and_then(|(old, new)| Some((positive(old)?, positive(new)?)));
        match both {
            Some(both) => {
                self.next += 1;
                Ok(both)
            }
            None => {
                let message = match text {
                    "" => "there is no ratio".to_owned(),
                    _ => format!("`{text}` is not two positive numbers"),
                };
                let hint = "write old and new shares with a colon: `8:7` turns 8 shares into 7";
                Err(self.problem(message, "old:new", hint.to_owned()))
            }
        }
    }

    fn end(&self) -> ParseResult<()> {
        let text = self.peek();
        if text.is_empty() {
            return Ok(());
        }
        let form = self.form.map_or("", |form| form.form);
        let hint = match suggest_similar(text, KEYWORDS) {
            Some(close) if !close.eq_ignore_ascii_case(text) => {
                format!("write `{close}` if that was meant")
            }
            _ => format!("put `#` before a comment; otherwise write it as: {form}"),
        };
        Err(self.problem(format!("unexpected `{text}`"), "the end of the line", hint))
    }

    /// The next word; empty at the end of the line.
    fn peek(&self) -> &'a str {
        self.words.get(self.next).map_or("", |word| word.text)
    }

    fn problem(&self, message: String, expected: impl Into<String>, hint: String) -> Box<Problem> {
        let after_last = self.words.last().map_or(0, |word| word.start + word.text.len() + 1);
        let byte = self.words.get(self.next).map_or(after_last, |word| word.start);
        let before = self.line.get(..byte).unwrap_or(self.line).chars().count();
        let past_end = byte.saturating_sub(self.line.len());
        Box::new(Problem {
            line: self.number,
            column: u32::try_from(before + past_end + 1).unwrap_or(u32::MAX),
            source: self.line.to_owned(),
            value: self.peek().to_owned(),
            message,
            expected: expected.into(),
            hint,
            example: self
                .form
                .map_or("2024-01-15 BUY AAPL 100 @ 150 USD FEES 10 USD", |form| form.example),
        })
    }
}

/// Parses `YYYY-MM-DD`; rejects dates that do not exist.
pub(crate) fn read_date(text: &str) -> Option<Date> {
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text.as_bytes() else { return None };
    let digit = |byte: u8| byte.is_ascii_digit().then(|| byte - b'0');
    let two = |tens: u8, ones: u8| i8::try_from(digit(tens)? * 10 + digit(ones)?).ok();
    let year = i16::from(two(y1, y2)?) * 100 + i16::from(two(y3, y4)?);
    Date::new(year, two(m1, m2)?, two(d1, d2)?).ok()
}

/// Converts `20/06/2024` to ISO format, if it is a date.
pub(crate) fn day_first(text: &str) -> Option<String> {
    let mut parts = text.split(['/', '.', '-']);
    let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
    let iso = format!("{year:0>4}-{month:0>2}-{day:0>2}");
    read_date(&iso).map(|_| iso)
}
