//! Corporate actions: worked examples of HMRC's manuals and of published guidance, with the source
//! of each in `corporate_actions.json`. Where the source gives the rule only, the figures are
//! computed by hand from it, and the case says so.

use panoply_cgt::dsl;
use panoply_cgt::engine::{EngineError, Options, compute};
use panoply_cgt::fx::Rates;
use rust_decimal::Decimal;
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    about: String,
    source: String,
    input: Vec<String>,
    /// Date, ticker, rule, cost and gain of each match.
    disposals: Vec<(String, String, String, String, String)>,
    /// Ticker, shares and cost of each holding that is left.
    holdings: Vec<(String, String, String)>,
    /// Date, ticker, shares and cost of each transfer.
    transfers: Vec<(String, String, String, String)>,
    tolerance: String,
}

#[test]
fn corporate_actions_match_their_worked_examples() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("corporate_actions.json")).unwrap();
    assert!(cases.len() >= 40);
    for case in &cases {
        let at = format!("{} ({})", case.about, case.source);
        let rows = dsl::parse(&case.input.join("\n")).unwrap_or_else(|bad| panic!("{at}: {bad:?}"));
        let computed = compute(&rows, &Rates::default(), Options::default())
            .unwrap_or_else(|errors| panic!("{at}: {errors:?}"));
        let near = |what: &str, seen: String, expected: &str| {
            let (seen, expected): (Decimal, Decimal) =
                (seen.parse().unwrap(), expected.parse().unwrap());
            let tolerance: Decimal = case.tolerance.parse().unwrap();
            assert!((seen - expected).abs() <= tolerance, "{at}: {what}: {seen}, not {expected}");
        };
        let legs: Vec<_> = computed
            .disposals
            .iter()
            .flat_map(|disposal| disposal.legs.iter().map(move |leg| (disposal, leg)))
            .collect();
        assert_eq!(legs.len(), case.disposals.len(), "{at}: {legs:?}");
        for ((disposal, leg), (date, ticker, rule, cost, gain)) in legs.iter().zip(&case.disposals)
        {
            assert_eq!(
                (&disposal.date.to_string(), disposal.ticker.as_str(), leg.rule.as_str()),
                (date, ticker.as_str(), rule.as_str()),
                "{at}"
            );
            near("cost", leg.cost.exact(), cost);
            near("gain", leg.gain().exact(), gain);
            assert!(!leg.rule.law().is_empty());
        }
        let held: Vec<_> =
            computed.holdings.iter().filter(|held| !held.quantity.is_zero()).collect();
        assert_eq!(held.len(), case.holdings.len(), "{at}: {held:?}");
        for (held, (ticker, shares, cost)) in held.iter().zip(&case.holdings) {
            assert_eq!(
                (held.ticker.as_str(), &held.quantity.to_string()),
                (ticker.as_str(), shares),
                "{at}"
            );
            near("pool", held.cost.exact(), cost);
        }
        assert_eq!(computed.transfers.len(), case.transfers.len(), "{at}");
        for (transfer, (date, ticker, shares, cost)) in
            computed.transfers.iter().zip(&case.transfers)
        {
            assert_eq!(
                (
                    &transfer.date.to_string(),
                    transfer.ticker.as_str(),
                    &transfer.quantity.to_string()
                ),
                (date, ticker.as_str(), shares),
                "{at}"
            );
            near("transferred cost", transfer.cost.exact(), cost);
        }
        // The order of rows does not matter.
        let mut reversed = rows.clone();
        reversed.reverse();
        let again = compute(&reversed, &Rates::default(), Options::default()).unwrap();
        let figures = |computed: &panoply_cgt::engine::Computation| -> Vec<String> {
            computed
                .holdings
                .iter()
                .map(|held| format!("{} {} {}", held.ticker, held.quantity, held.cost))
                .collect()
        };
        assert_eq!(figures(&again), figures(&computed), "{at}, rows reversed");
    }
}

#[test]
fn impossible_corporate_actions_are_refused() {
    let cases = [
        ("2020-01-01 RIGHTS A 10 @ 1", "rights issue"),
        ("2020-01-01 DEMERGER A INTO B 5 VALUE 1 REMAINING 1", "demerger"),
        ("2020-01-01 TAKEOVER A INTO B 5", "takeover"),
        ("2020-01-01 NEGLIGIBLE A VALUE NIL", "negligible"),
        (
            "2020-01-01 BUY A 10 @ 1000\n2020-02-01 CAPRETURN A 10 TOTAL 3000.01",
            "value of what remained",
        ),
        (
            "2020-01-01 BUY A 10 @ 1000\n2020-02-01 TAKEOVER A INTO B 5 CASH 3001",
            "value of what remained",
        ),
        (
            "2020-01-01 BUY A 10 @ 1\n2020-02-01 TAKEOVER A INTO B 5\n2020-02-01 TAKEOVER B INTO A 5",
            "lead back",
        ),
        (
            "2020-01-01 BUY A 10 @ 1\n2020-02-01 TAKEOVER A INTO B 5\n2020-03-01 SELL A 1 @ 1",
            "only 0 were held",
        ),
        ("2007-01-01 BUY A 10 @ 1\n2008-01-01 NEGLIGIBLE A VALUE NIL", "before 6 April 2008"),
    ];
    for (text, word) in cases {
        let errors = compute(&dsl::parse(text).unwrap(), &Rates::default(), Options::default());
        let errors: Vec<EngineError> = errors.err().unwrap_or_default();
        let said: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert!(said.iter().any(|said| said.contains(word)), "{text}: {said:?}");
    }
}
