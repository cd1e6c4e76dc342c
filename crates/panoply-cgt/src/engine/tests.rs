//! Engine invariants over random portfolios, and rejected input.

use jiff::ToSpan;
use jiff::civil::{Date, date};
use proptest::prelude::*;
use rust_decimal::Decimal;

use super::*;
use crate::dsl;
use crate::transaction::SourceLocation;
use crate::transaction::{Amount, Kind, Quantity, Transaction};

fn computed(text: &str) -> Computation {
    compute(&dsl::parse(text).unwrap(), &Rates::default(), Options::default()).unwrap()
}

fn refusal(text: &str, options: Options) -> String {
    let errors = compute(&dsl::parse(text).unwrap(), &Rates::default(), options).unwrap_err();
    errors
        .iter()
        .map(|error| format!("{}: {error}", error.location()))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn sale_exceeding_the_holding_is_rejected_with_the_quantity_held() {
    let text = "2022-01-01 BUY OC 10 @ 1\n2022-06-01 BUY OC 2 @ 1\n2022-06-01 SELL OC 15 @ 2\n2022-06-11 BUY OC 5 @ 1.5";
    assert_eq!(
        refusal(text, Options::default()),
        "line 3: OC, 2022-06-01: 15 shares were disposed of, but only 10 were held and 2 bought that day"
    );
}

#[test]
fn errors_of_every_holding_are_reported() {
    let text = "2022-01-01 SELL A 1 @ 1\n2022-01-01 SELL B 2 @ 1\n2010-01-01 BUY C 1 @ 1 USD\n2010-02-01 BUY C 1 @ 1 EUR";
    let found = refusal(text, Options::default());
    assert_eq!(found.lines().count(), 4, "{found}");
}

#[test]
fn uncovered_short_sale_is_rejected() {
    let options = Options { allow_short: true, ..Options::default() };
    let found = refusal("2022-01-01 SELL A 5 @ 1\n2022-06-01 BUY A 2 @ 1", options);
    assert_eq!(found, "line 1: A, 2022-01-01: 3 shares were sold short and never bought back");
}

#[test]
fn same_day_split_without_an_order_is_rejected() {
    let text = "2022-01-01 BUY A 10 @ 10\n2022-02-01 SPLIT A RATIO 2\n2022-02-01 SELL A 5 @ 12";
    assert!(refusal(text, Options::default()).contains("which came first"));
    let rows = dsl::parse(text).unwrap();
    for (same_day_split, left, cost) in
        [(SameDaySplit::BeforeTrades, "15", "75.00"), (SameDaySplit::AfterTrades, "10", "50.00")]
    {
        let options = Options { same_day_split, ..Options::default() };
        let computation = compute(&rows, &Rates::default(), options).unwrap();
        let held = &computation.holdings[0];
        assert_eq!(
            (held.quantity.to_string().as_str(), held.cost.to_string().as_str()),
            (left, cost)
        );
    }
}

#[test]
fn oversized_numbers_are_rejected_not_rounded() {
    for text in [
        "2022-01-01 BUY A 9999999999999999999999999999 @ 9999999999999999999999999999",
        "2022-01-01 BUY A 1 @ 1000000000001",
        "2022-01-01 BUY A 0.000000000000000000000000001 @ 1\n2022-01-02 SPLIT A RATIO 9999999999999999\n2022-01-03 SPLIT A RATIO 9999999999999999\n2022-01-04 BUY A 1 @ 1",
    ] {
        assert!(refusal(text, Options::default()).contains("too large"), "{text}");
    }
}

#[test]
fn same_day_sale_and_spouse_transfer_share_every_leg() {
    // s.105(1)(a): one disposal. 40 of 100 pooled shares at £2, and 20 bought that day at £5.
    let text = "2022-01-01 BUY A 100 @ 2\n2022-06-01 BUY A 20 @ 5\n2022-06-01 SELL A 30 @ 10\n2022-06-01 SPOUSE_OUT A 30";
    let computation = computed(text);
    let (sale, gift) = (&computation.disposals[0], &computation.transfers[0]);
    let legs: Vec<_> = sale
        .legs
        .iter()
        .map(|leg| (leg.rule, leg.quantity.to_string(), leg.cost.to_string()))
        .collect();
    assert_eq!(
        legs,
        [
            (Rule::SameDay, "10".to_owned(), "50.00".to_owned()),
            (Rule::Section104, "20".to_owned(), "40.00".to_owned())
        ]
    );
    assert_eq!(
        (sale.gain().to_string(), gift.cost.to_string()),
        ("210.00".to_owned(), "90.00".to_owned())
    );
}

#[test]
fn opening_pool_is_not_matched_by_date() {
    let text = "2022-06-01 OPENING A 100 COST 100\n2022-06-01 SELL A 40 @ 2";
    let computation = computed(text);
    assert_eq!(computation.disposals[0].legs[0].rule, Rule::Section104);
    assert_eq!(computation.holdings[0].cost.to_string(), "60.00");
}

#[test]
fn rate_on_the_transaction_overrides_hmrc() {
    let computation =
        computed("2010-01-01 BUY A 1 @ 16 USD RATE 1.6\n2024-03-01 SELL A 1 @ 12.614 USD");
    let disposal = &computation.disposals[0];
    // HMRC, USD, March 2024: 1.2614.
    assert_eq!(
        (disposal.gross.to_string().as_str(), disposal.gain().to_string().as_str()),
        ("10.00", "0.00")
    );
    let originals = disposal.originals.as_ref().unwrap();
    assert_eq!((originals[0].currency.as_str(), originals[0].gross.as_str()), ("USD", "12.614"));
}

#[test]
fn same_day_rule_takes_precedence_over_30_day_rule() {
    // HMRC CG51560: the 30-day rule has priority over all others except the same-day rule.
    let text = "2020-12-31 BUY A 700 @ 1\n2021-01-13 SELL A 700 @ 2\n2021-01-13 BUY A 500 @ 2\n2021-01-14 BUY A 650 @ 2\n2021-01-14 SELL A 600 @ 2";
    let computation = computed(text);
    let legs = |disposal: &Disposal| -> Vec<(Rule, String)> {
        disposal.legs.iter().map(|leg| (leg.rule, leg.quantity.to_string())).collect()
    };
    let [first, second] = computation.disposals.as_slice() else { panic!("two sales") };
    assert_eq!(
        legs(first),
        [
            (Rule::SameDay, "500".to_owned()),
            (Rule::BedAndBreakfast, "50".to_owned()),
            (Rule::Section104, "150".to_owned()),
        ]
    );
    assert_eq!(legs(second), [(Rule::SameDay, "600".to_owned())]);
}

/// Random rows that never sell more than is held.
fn portfolio() -> impl Strategy<Value = Vec<Transaction>> {
    let step = (0_u8..10, 0_i64..20, 1_i64..500, 1_i64..90_000, 0_i64..2_000, 0_usize..2);
    prop::collection::vec(step, 1..40).prop_map(|steps| {
        let tickers = [Ticker::parse("AA").unwrap(), Ticker::parse("BB").unwrap()];
        let mut held = [0_i64; 2];
        let mut day: Date = date(2020, 1, 1);
        let mut rows = Vec::new();
        for (what, days, shares, price, fees, which) in steps {
            day = day.checked_add(days.days()).unwrap();
            let pounds = |pence: i64| Amount::new(Decimal::new(pence, 2), Currency::GBP).unwrap();
            let quantity = |shares: i64| Quantity::new(Decimal::from(shares)).unwrap();
            let kind = match what {
                0..5 => {
                    held[which] += shares;
                    Kind::Buy {
                        quantity: quantity(shares),
                        price: pounds(price),
                        fees: pounds(fees),
                    }
                }
                5..8 if held[which] > 0 => {
                    let sold = shares.min(held[which]);
                    held[which] -= sold;
                    Kind::Sell {
                        quantity: quantity(sold),
                        price: pounds(price),
                        fees: pounds(fees),
                    }
                }
                8 if held[which] > 1 => {
                    let given = 1 + shares % (held[which] - 1);
                    held[which] -= given;
                    Kind::SpouseOut { quantity: quantity(given) }
                }
                9 if held[which] > 0 && rows_before(&rows, day, &tickers[which]) => {
                    Kind::Accumulation {
                        quantity: Decimal::from(shares),
                        total: pounds(fees),
                        tax: Amount::NONE,
                    }
                }
                _ => Kind::Dividend { total: pounds(price), tax: pounds(fees) },
            };
            rows.push(Transaction { date: day, ticker: tickers[which].clone(), kind });
        }
        rows
    })
}

/// Whether the pool was certainly non-empty before that day.
fn rows_before(rows: &[Transaction], day: Date, ticker: &Ticker) -> bool {
    let moved =
        |row: &&Transaction| &row.ticker == ticker && !matches!(row.kind, Kind::Dividend { .. });
    rows.iter().filter(moved).all(|row| row.date < day)
}

fn rows(transactions: &[Transaction]) -> Vec<Row> {
    (1..)
        .zip(transactions)
        .map(|(line, transaction)| Row {
            transaction: transaction.clone(),
            location: SourceLocation { file: None, line },
        })
        .collect()
}

fn try_compute(transactions: &[Transaction]) -> Option<Computation> {
    compute(&rows(transactions), &Rates::default(), Options::default()).ok()
}

/// All figures, unrounded.
fn figures(computation: &Computation) -> Vec<String> {
    let leg = |leg: &Leg| {
        format!(
            "{:?} {} {:?} {:?} {:?} {:?}",
            leg.rule, leg.quantity, leg.proceeds, leg.cost, leg.acquired, leg.pool
        )
    };
    let mut lines: Vec<String> = computation
        .disposals
        .iter()
        .map(|disposal| {
            let legs: Vec<String> = disposal.legs.iter().map(leg).collect();
            format!(
                "{} {} {} {:?} {:?} {legs:?}",
                disposal.date, disposal.ticker, disposal.quantity, disposal.gross, disposal.fees
            )
        })
        .collect();
    lines.extend(computation.transfers.iter().map(|transfer| {
        let legs: Vec<String> = transfer.legs.iter().map(leg).collect();
        format!(
            "{} {} {} {:?} {legs:?}",
            transfer.date, transfer.ticker, transfer.quantity, transfer.cost
        )
    }));
    lines.extend(
        computation
            .holdings
            .iter()
            .map(|held| format!("{} {} {:?}", held.ticker, held.quantity, held.cost)),
    );
    lines.extend(computation.dividends.iter().map(|dividends| format!("{dividends:?}")));
    lines
}

proptest! {
    #[test]
    fn row_order_does_not_matter(
        (given, shuffled) in portfolio().prop_flat_map(|rows| (Just(rows.clone()), Just(rows).prop_shuffle())),
    ) {
        let (Some(given), Some(shuffled)) = (try_compute(&given), try_compute(&shuffled)) else { return Ok(()) };
        prop_assert_eq!(figures(&given), figures(&shuffled));
    }

    #[test]
    fn holdings_are_independent(given in portfolio()) {
        let Some(together) = try_compute(&given) else { return Ok(()) };
        let alone = |ticker: &str| -> Computation {
            let own: Vec<Transaction> = given.iter().filter(|row| row.ticker.as_str() == ticker).cloned().collect();
            try_compute(&own).unwrap()
        };
        let disposals = |computation: &Computation| -> Money { computation.disposals.iter().map(Disposal::gain).sum() };
        let costs = |computation: &Computation| -> Money { computation.holdings.iter().map(|held| held.cost).sum() };
        let (first, second) = (alone("AA"), alone("BB"));
        prop_assert_eq!(disposals(&together), disposals(&first) + disposals(&second));
        prop_assert_eq!(costs(&together), costs(&first) + costs(&second));
    }

    #[test]
    fn splitting_a_trade_does_not_change_the_result(given in portfolio(), which in 0_usize..40) {
        let mut pieces = given.clone();
        let which = which % pieces.len();
        let row = pieces[which].clone();
        let halves = |quantity: Quantity| {
            let part = Quantity::new(quantity.get() / Decimal::from(4)).unwrap();
            (part, Quantity::new(quantity.get() - part.get()).unwrap())
        };
        let kinds = match row.kind {
            Kind::Buy { quantity, price, fees } => {
                let (a, b) = halves(quantity);
                [Kind::Buy { quantity: a, price, fees }, Kind::Buy { quantity: b, price, fees: Amount::NONE }]
            }
            Kind::Sell { quantity, price, fees } => {
                let (a, b) = halves(quantity);
                [Kind::Sell { quantity: a, price, fees: Amount::NONE }, Kind::Sell { quantity: b, price, fees }]
            }
            _ => return Ok(()),
        };
        let [first, second] = kinds.map(|kind| Transaction { kind, ..row.clone() });
        pieces[which] = first;
        pieces.push(second);
        let (Some(whole), Some(pieces)) = (try_compute(&given), try_compute(&pieces)) else { return Ok(()) };
        prop_assert_eq!(figures(&whole), figures(&pieces));
    }

    /// Doubling every share from some day on, at half the price, does not change any amount.
    #[test]
    fn split_changes_share_counts_only(given in portfolio(), which in 0_usize..40) {
        let day = given[which % given.len()].date.checked_add(1.day()).unwrap();
        if given.iter().any(|row| row.date == day) {
            return Ok(());
        }
        let two = Decimal::TWO;
        let doubled = |quantity: Quantity| Quantity::new(quantity.get() * two).unwrap();
        let halved = |amount: Amount| Amount::new(amount.value() / two, amount.currency()).unwrap();
        let mut split: Vec<Transaction> = given.iter().cloned().map(|mut row| {
            if row.date > day {
                row.kind = match row.kind {
                    Kind::Buy { quantity, price, fees } => Kind::Buy { quantity: doubled(quantity), price: halved(price), fees },
                    Kind::Sell { quantity, price, fees } => Kind::Sell { quantity: doubled(quantity), price: halved(price), fees },
                    Kind::SpouseOut { quantity } => Kind::SpouseOut { quantity: doubled(quantity) },
                    other => other,
                };
            }
            row
        }).collect();
        for ticker in ["AA", "BB"] {
            let kind = Kind::Split { ratio: Quantity::new(two).unwrap() };
            split.push(Transaction { date: day, ticker: Ticker::parse(ticker).unwrap(), kind });
        }
        let (Some(plain), Some(split)) = (try_compute(&given), try_compute(&split)) else { return Ok(()) };
        let pounds = |computation: &Computation| -> Vec<(Date, Money, Money, usize)> {
            computation.disposals.iter().map(|disposal| (disposal.date, disposal.gross, disposal.gain(), disposal.legs.len())).collect()
        };
        prop_assert_eq!(pounds(&plain), pounds(&split));
        let costs = |computation: &Computation| -> Vec<Money> { computation.holdings.iter().map(|held| held.cost).collect() };
        prop_assert_eq!(costs(&plain), costs(&split));
    }

    #[test]
    fn shares_and_cost_are_conserved(given in portfolio()) {
        let Some(computation) = try_compute(&given) else { return Ok(()) };
        let (mut shares_in, mut shares_out) = (Decimal::ZERO, Decimal::ZERO);
        let mut paid = Money::ZERO;
        for row in &given {
            let pounds = |amount: Amount| Money::of(amount.value()).unwrap();
            match &row.kind {
                Kind::Buy { quantity, price, fees } => {
                    shares_in += quantity.get();
                    paid += Money::of(quantity.get() * price.value()).unwrap() + pounds(*fees);
                }
                Kind::Sell { quantity, .. } | Kind::SpouseOut { quantity } => shares_out += quantity.get(),
                Kind::Accumulation { total, .. } => paid += pounds(*total),
                _ => {}
            }
        }
        let left: Decimal = computation.holdings.iter().map(|held| held.quantity.to_string().parse::<Decimal>().unwrap()).sum();
        prop_assert_eq!(shares_in - shares_out, left);
        let used: Money = computation.disposals.iter().flat_map(|disposal| &disposal.legs).map(|leg| leg.cost).sum();
        let given_away: Money = computation.transfers.iter().map(|transfer| transfer.cost).sum();
        let pooled: Money = computation.holdings.iter().map(|held| held.cost).sum();
        prop_assert_eq!(used + given_away + pooled, paid);
        for disposal in &computation.disposals {
            let proceeds: Money = disposal.legs.iter().map(|leg| leg.proceeds).sum();
            prop_assert_eq!(proceeds, disposal.proceeds());
        }
    }
}

/// Statutory: s.106A(5A) takes a purchase by a non-resident out of the 30-day rule; s.1M moves gains
/// of a temporary absence to the year of return.
#[test]
fn absence_stops_the_30_day_rule_and_moves_gains_to_the_return() {
    let rows = dsl::parse("2019-01-01 BUY A 100 @ 1\n2020-04-01 SELL A 50 @ 3\n2020-04-20 BUY A 50 @ 2\n2021-06-01 SELL A 10 @ 5").unwrap();
    let of = |returned: Option<Date>| {
        let absence = Some(Absence { left: date(2020, 4, 6), returned });
        compute(&rows, &Rates::default(), Options { absence, ..Options::default() }).unwrap()
    };
    let resident = compute(&rows, &Rates::default(), Options::default()).unwrap();
    assert_eq!(resident.disposals[0].legs[0].rule, Rule::BedAndBreakfast);
    let temporary = of(Some(date(2023, 4, 6)));
    assert_eq!(temporary.disposals[0].legs[0].rule, Rule::Section104);
    let parameters = crate::parameters::Parameters::bundled().unwrap();
    let years = |computation: &Computation| -> Vec<(String, String)> {
        report::report(computation, parameters, None, report::Rounding::PerLeg)
            .years
            .iter()
            .map(|year| (year.year.to_string(), year.net_gain.to_string()))
            .collect()
    };
    let pair = |year: &str, gain: &str| (year.to_owned(), gain.to_owned());
    // 50 x (3 - 1) on leaving; 10 x (5 - 1.50) while away, on a pool of 50 @ 1 and 50 @ 2.
    assert_eq!(years(&temporary), [pair("2019/20", "100.00"), pair("2023/24", "35.00")]);
    assert_eq!(years(&of(Some(date(2025, 4, 7)))), [pair("2019/20", "100.00")]);
    assert_eq!(years(&of(None)), [pair("2019/20", "100.00")]);
}

#[test]
fn gilts_and_qualifying_corporate_bonds_are_exempt() {
    let computation = computed(
        "2020-01-01 BUY TR68 100 @ 90\n2020-01-01 BUY A 1 @ 1\n2020-01-01 SECURITY TR68 CLASS gilt\n2021-01-01 SELL TR68 100 @ 80\n2021-01-01 SELL A 1 @ 3",
    );
    let sold: Vec<&str> = computation.disposals.iter().map(|sale| sale.ticker.as_str()).collect();
    assert_eq!((sold, computation.exempt.len()), (vec!["A"], 1));
    let parameters = crate::parameters::Parameters::bundled().unwrap();
    let report = report::report(&computation, parameters, None, report::Rounding::PerLeg);
    assert_eq!(report.years[0].total_loss, Money::ZERO);
    assert!(report.warnings[0].contains("TR68 on 2021-01-01"), "{:?}", report.warnings);
}
