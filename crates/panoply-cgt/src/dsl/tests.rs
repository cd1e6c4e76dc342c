//! Transaction language: accepted input, rejected input, and the print/parse round trip.

use expect_test::expect;
use proptest::prelude::*;
use rust_decimal::Decimal;

use super::grammar::FORMS;
use super::{parse, print};
use crate::currency::Currency;
use crate::transaction::{Amount, Demerger, Kind, Quantity, Takeover, Ticker, Transaction};

fn printed(text: &str) -> String {
    let rows = parse(text).unwrap_or_else(|problems| panic!("{text}: {problems:#?}"));
    print(rows.iter().map(|row| &row.transaction))
}

#[test]
fn every_grammar_example_parses() {
    for form in FORMS {
        assert!(form.form.starts_with(form.word) && form.example.contains(form.word));
        assert_eq!(parse(form.example).map(|rows| rows.len()), Ok(1), "{}", form.example);
    }
}

#[test]
fn printer_writes_the_canonical_form() {
    let cases = [
        ("2024-01-15 buy aapl 100 @ 150.00", "2024-01-15 BUY AAPL 100 @ 150.00 GBP"),
        ("2024-01-15 BUY A 1@1 usd fees 0 usd", "2024-01-15 BUY A 1 @ 1 USD FEES 0 USD"),
        ("2024-01-15 BUY A 1 @ 1 FEES 0", "2024-01-15 BUY A 1 @ 1 GBP"),
        (
            "2024-01-15 SELL BRK.B 1 @ 1 USD RATE 1.27 # mine",
            "2024-01-15 SELL BRK.B 1 @ 1 USD RATE 1.27",
        ),
        ("2024-01-15 DIVIDEND A TOTAL 5 TAX 1 USD", "2024-01-15 DIVIDEND A TOTAL 5 GBP TAX 1 USD"),
        ("2024-01-15 accumulation A 10 total 5", "2024-01-15 ACCUMULATION A 10 TOTAL 5 GBP"),
        (
            "2024-01-15 CAP_RETURN A 10 TOTAL 5 FEES 1",
            "2024-01-15 CAPRETURN A 10 TOTAL 5 GBP FEES 1 GBP",
        ),
        ("2024-01-15 UNSPLIT A RATIO 2.5", "2024-01-15 UNSPLIT A RATIO 2.5"),
        ("2024-01-15 RESTRUCT A RATIO 8:7", "2024-01-15 RESTRUCT A RATIO 8:7"),
        ("2024-01-15 SPOUSE_OUT A 5", "2024-01-15 SPOUSE_OUT A 5"),
        ("2024-01-15 SPOUSE_IN A 5 TOTAL 10", "2024-01-15 SPOUSE_IN A 5 TOTAL 10 GBP"),
        ("2024-01-15 OPENING A 5 COST 10 EUR", "2024-01-15 OPENING A 5 COST 10 EUR"),
        ("\n# only a comment\n  \t\n", ""),
        // A ticker may equal a keyword or a currency.
        ("2024-01-15 BUY TAX 1 @ 2 TAX", ""),
        ("2024-01-15 SELL USD 1 @ 2 USD", "2024-01-15 SELL USD 1 @ 2 USD"),
    ];
    for (text, expected) in cases {
        match parse(text) {
            Ok(_) => assert_eq!(printed(text), expected, "text: {text:?}"),
            Err(problems) => assert_eq!(expected, "", "text: {text:?}: {problems:?}"),
        }
    }
}

#[test]
fn parse_error_shows_location_and_example() {
    let problems = parse("2024-01-15 BUY AAPL 100 @ 150\n2024-02-28 SELL AAPL x").unwrap_err();
    assert_eq!(problems.len(), 1);
    expect![[r#"
        line 2, column 22: the quantity `x` is not a number
        2024-02-28 SELL AAPL x
                             ^
        expected: a number: the quantity
        hint: write digits with an optional decimal point
        example: 2024-06-20 SELL AAPL 50 @ 180 USD FEES 5 USD"#]]
    .assert_eq(&problems[0].to_string());
}

#[test]
fn every_invalid_line_is_reported() {
    let text = "2024-02-30 BUY A 1 @ 1\n2024-01-01 BUY A 1 @ 1\n\n2024-01-01 HOLD A\nx";
    let lines: Vec<u32> = parse(text).unwrap_err().iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [1, 4, 5]);
}

#[test]
fn every_parse_error_has_a_hint() {
    let cases = [
        ("2024-02-30 SELL AAPL 1 @ 2", 1, "`2024-02-30` is not a date", "a date that exists"),
        ("20/06/2024 SELL AAPL 1 @ 2", 1, "20/06/2024", "2024-06-20"),
        ("2024-01-15", 12, "no action", "one of the actions"),
        ("2024-01-15 BYU A 1 @ 1", 12, "`BYU` is not an action", "write `BUY`"),
        ("2024-01-15 BUY", 16, "no ticker", "a ticker"),
        ("2024-01-15 BUY A!B 1 @ 1", 16, "`A!B` is not a ticker", "a ticker"),
        ("2024-01-15 BUY A 0 @ 1", 18, "must be positive", "leave the line out"),
        ("2024-01-15 BUY A -5 @ 1", 18, "`-5` is negative, but it must be positive", "positive"),
        ("2024-01-15 BUY A 1,000 @ 1", 18, "comma", "leave out the comma"),
        ("2024-01-15 BUY A 1 @ £5", 22, "currency sign", "without a sign"),
        ("2024-01-15 BUY A 1 @ .5", 22, "point", "before and after"),
        ("2024-01-15 BUY A 1 1", 20, "expected `@`, found `1`", "BUY ticker quantity @ price"),
        ("2024-01-15 BUY A 1 @", 22, "there is no price", "digits"),
        ("2024-01-15 BUY A 1 @ 5 ZZZ", 24, "`ZZZ`", "three-letter code"),
        ("2024-01-15 BUY A 1 @ 5 PNC", 24, "`PNC`", "`GBX` for pence"),
        ("2024-01-15 RENAME A TO A", 24, "cannot become itself", "the other holding"),
        (
            "2024-01-15 DEMERGER A INTO B 5 VALUE 1",
            40,
            "there is no `REMAINING`",
            "DEMERGER ticker",
        ),
        ("2024-01-15 BUY A 1 @ 5 FEE 1", 24, "`FEE`", "three-letter code"),
        ("2024-01-15 BUY A 1 @ 5 FEESS 1", 24, "unexpected `", "write `FEES`"),
        ("2024-01-15 BUY A 1 @ 5 a note", 24, "unexpected `", "`#` before a comment"),
        (
            "2024-01-15 BUY A 1 @ 5 RATE 2",
            24,
            "an amount in pounds has no exchange rate",
            "foreign currency",
        ),
        ("2024-01-15 BUY A 1 @ 5 USD RATE 0", 33, "rate is zero", "rate"),
        ("2024-01-15 DIVIDEND A 10 TOTAL 5", 23, "a DIVIDEND has no quantity", "ACCUMULATION"),
        ("2024-01-15 ACCUMULATION A 0 TOTAL 5", 27, "must be positive", "quantity"),
        ("2024-01-15 SPLIT A 2", 20, "expected `RATIO`, found `2`", "SPLIT ticker RATIO"),
        ("2024-01-15 SPLIT A RATIO 1:2", 26, "two numbers", "RESTRUCT"),
        ("2024-01-15 RESTRUCT A RATIO 2", 29, "`2` is not two positive numbers", "8:7"),
        ("2024-01-15 RESTRUCT A RATIO 0:7", 29, "not two positive", "8:7"),
        ("2024-01-15 SPOUSE_IN A 5", 26, "there is no `TOTAL`", "SPOUSE_IN ticker"),
        ("ééé", 1, "`ééé` is not a date", "date"),
    ];
    for (text, column, message, hint) in cases {
        let problems = parse(text).expect_err(text);
        let [problem] = problems.as_slice() else { panic!("{text}: {problems:?}") };
        assert_eq!(problem.column, column, "column of {text:?}: {problem}");
        assert!(problem.message.contains(message), "message of {text:?}: {}", problem.message);
        assert!(problem.hint.contains(hint), "hint of {text:?}: {}", problem.hint);
        assert!(!problem.expected.is_empty(), "expected of {text:?}");
        assert!(parse(problem.example).is_ok(), "example of {text:?}");
    }
}

#[test]
fn zero_amounts_are_refused_unless_written_as_nil() {
    for (zero, nil) in [
        ("2024-01-15 BUY A 1 @ 0", "2024-01-15 BUY A 1 @ NIL"),
        ("2024-01-15 SELL A 1 @ 0.00 USD", "2024-01-15 SELL A 1 @ nil"),
        ("2024-01-15 DIVIDEND A TOTAL 0", "2024-01-15 DIVIDEND A TOTAL NIL"),
        ("2024-01-15 OPENING A 1 COST 0", "2024-01-15 OPENING A 1 COST NIL"),
        ("2024-01-15 CAPRETURN A 1 TOTAL 0", "2024-01-15 CAPRETURN A 1 TOTAL NIL"),
        ("2024-01-15 ACCUMULATION A 1 TOTAL 0", "2024-01-15 ACCUMULATION A 1 TOTAL NIL"),
        ("2024-01-15 NEGLIGIBLE A VALUE 0", "2024-01-15 NEGLIGIBLE A VALUE NIL"),
    ] {
        let problem = parse(zero).expect_err(zero).remove(0);
        assert!(problem.message.contains("must be positive"), "{zero}: {problem}");
        assert!(problem.hint.contains("`NIL`"), "{zero}: {problem}");
        assert_eq!(printed(nil), nil.replace("nil", "NIL"));
    }
    assert_eq!(printed("2024-01-15 BUY A 1 @ 2 FEES 0"), "2024-01-15 BUY A 1 @ 2 GBP");
}

#[test]
fn pence_are_read_as_pounds() {
    for text in ["2024-01-15 BUY VOD 10 @ 120.5 GBp", "2024-01-15 BUY VOD 10 @ 120.5 GBX"] {
        assert_eq!(printed(text), "2024-01-15 BUY VOD 10 @ 1.205 GBP");
    }
    assert_eq!(printed("2024-01-15 BUY VOD 10 @ 120.5 gbp"), "2024-01-15 BUY VOD 10 @ 120.5 GBP");
}

proptest! {
    #[test]
    fn printed_transactions_round_trip(transactions in prop::collection::vec(any_transaction(), 0..20)) {
        let rows = parse(&print(&transactions)).unwrap();
        let again: Vec<Transaction> = rows.into_iter().map(|row| row.transaction).collect();
        prop_assert_eq!(again, transactions);
    }

    /// Any text yields rows or problems, and every problem points into its line.
    #[test]
    fn parser_does_not_panic_on_arbitrary_text(text in "(?s).{0,200}") {
        if let Err(problems) = parse(&text) {
            for problem in problems {
                let length = problem.source.chars().count();
                prop_assert!(usize::try_from(problem.column).unwrap() <= length + 2, "{}", problem);
            }
        }
    }

    #[test]
    fn parser_does_not_panic_on_keyword_sequences(
        words in prop::collection::vec(prop::sample::select(vec![
            "2024-01-15", "2024-13-15", "BUY", "sell", "DIVIDEND", "SPLIT", "RESTRUCT", "OPENING", "A", "BRK.B", "0", "1.5",
            "-1", "@", "USD", "XYZ", "FEES", "TAX", "TOTAL", "RATIO", "RATE", "COST", "1:2", "#", "\n", "\t", "£1", "é",
        ]), 0..40),
    ) {
        let _ = parse(&words.join(" "));
        let _ = parse(&words.concat());
    }
}

pub(crate) fn any_transaction() -> impl Strategy<Value = Transaction> {
    let date = (1990_i16..2060, 1_i8..=12, 1_i8..=28)
        .prop_map(|(year, month, day)| jiff::civil::date(year, month, day));
    let ticker = "[A-Z0-9][A-Z0-9.:_/^&+-]{0,8}".prop_map(|text| Ticker::parse(&text).unwrap());
    let kind = (0_u8..19, any_quantity(), any_quantity(), any_price(), any_amount()).prop_map(
        |(which, quantity, other, first, second)| match which {
            10 => Kind::Equalisation { quantity, total: first },
            11 => Kind::Rights { quantity, price: first, fees: second },
            12 => Kind::Bonus { held: quantity, new: other },
            13 => Kind::Scrip { quantity, total: first },
            14 => Kind::Rename { into: other_ticker() },
            15 => Kind::Negligible { value: first },
            16 => Kind::Demerger(Box::new(Demerger {
                into: other_ticker(),
                quantity,
                value: first,
                remaining: first,
            })),
            17 => Kind::Takeover(Box::new(Takeover {
                into: other_ticker(),
                quantity,
                cash: if second.value().is_zero() { Amount::NONE } else { second },
                value: Some(first),
            })),
            0 => Kind::Buy { quantity, price: first, fees: second },
            1 => Kind::Sell { quantity, price: first, fees: second },
            2 => Kind::Dividend { total: first, tax: second },
            3 => Kind::Accumulation { quantity: quantity.get(), total: first, tax: second },
            4 => Kind::CapReturn { quantity, total: first, fees: second, value: None },
            5 => Kind::Split { ratio: quantity },
            6 => Kind::Unsplit { ratio: quantity },
            7 => Kind::Restruct { old: quantity, new: other },
            8 => Kind::SpouseOut { quantity },
            9 => Kind::SpouseIn { quantity, total: first },
            _ => Kind::Opening { quantity, cost: first },
        },
    );
    (date, ticker, kind).prop_map(|(date, ticker, kind)| Transaction { date, ticker, kind })
}

/// Longer than the tickers of `any_transaction`.
fn other_ticker() -> Ticker {
    Ticker::parse("ANOTHER-ONE").unwrap()
}

/// An amount in a form that printing keeps: zero is pounds.
fn any_price() -> impl Strategy<Value = Amount> {
    any_amount().prop_map(|amount| if amount.value().is_zero() { Amount::NONE } else { amount })
}

fn any_quantity() -> impl Strategy<Value = Quantity> {
    (1_i64..1_000_000_000, 0_u32..10)
        .prop_map(|(mantissa, scale)| Quantity::new(Decimal::new(mantissa, scale)).unwrap())
}

fn any_amount() -> impl Strategy<Value = Amount> {
    let currency = prop::sample::select(vec!["GBP", "USD", "EUR", "JPY"])
        .prop_map(|code| Currency::parse(code).unwrap());
    let plain =
        (0_i64..1_000_000_000, 0_u32..6, currency).prop_map(|(mantissa, scale, currency)| {
            let value = Decimal::new(mantissa, scale);
            // Zero pounds are omitted by the printer, whatever their decimals.
            if value.is_zero() && !currency.is_foreign() {
                Amount::NONE
            } else {
                Amount::new(value, currency).unwrap()
            }
        });
    (plain, prop::option::of(any_quantity())).prop_map(|(amount, rate)| amount.at_rate(rate))
}

#[test]
fn security_lines_round_trip_with_names_of_any_script() {
    let cases = [
        ("2024-01-01 security f name  กองทุน  รวม # note", "2024-01-01 SECURITY F NAME กองทุน รวม"),
        (
            "2024-01-01 SECURITY F ISIN ie00b3rbwm25 CLASS Listed COUNTRY us INCOME Interest",
            "2024-01-01 SECURITY F CLASS listed ISIN IE00B3RBWM25 INCOME interest COUNTRY US",
        ),
        ("2024-01-01 SECURITY F NAME a@b 中国", "2024-01-01 SECURITY F NAME a@b 中国"),
    ];
    for (text, canonical) in cases {
        let rows = parse(text).unwrap();
        assert_eq!(crate::dsl::line(&rows[0].transaction), canonical);
        assert_eq!(parse(canonical).unwrap()[0].transaction, rows[0].transaction, "{text}");
    }
    let refused = [
        ("2024-01-01 SECURITY F", "`CLASS`"),
        ("2024-01-01 SECURITY F NAME", "unexpected `NAME`"),
        ("2024-01-01 SECURITY F CLASS option", "s.144"),
        ("2024-01-01 SECURITY F ISIN IE00B3RBWM26", "not an ISIN"),
        ("2024-01-01 SECURITY F COUNTRY XS", "not a country"),
        ("2024-01-01 SECURITY F INCOME rent", "kind of income"),
        ("2024-01-01 SECURITY F CLASS listed 5", "unexpected `5`"),
    ];
    for (text, message) in refused {
        let problems = parse(text).unwrap_err();
        assert!(problems[0].message.contains(message), "{text}: {problems:?}");
    }
}
