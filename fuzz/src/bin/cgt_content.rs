//! Any text as transactions, in lines or as JSON: read or refused with a place, never a panic. What
//! is read prints and reads again as the same, and is computed or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use panoply_cgt::engine::report::{Rounding, report};
use panoply_cgt::engine::{Options, SameDaySplit, compute};
use panoply_cgt::fx::Rates;
use panoply_cgt::parameters::Parameters;
use panoply_cgt::{content, dsl};

fuzz_target!(|input: (u8, &str)| {
    let (choice, text) = input;
    let parsed = match content::read(text) {
        Ok(parsed) => parsed,
        Err(problems) => {
            assert!(!problems.is_empty());
            assert!(problems.iter().all(|problem| problem.line > 0 && problem.column > 0));
            return;
        }
    };
    let transactions: Vec<_> = parsed.rows.into_iter().map(|row| row.transaction).collect();
    let printed = dsl::print(&transactions);
    let rows = dsl::parse(&printed).unwrap_or_else(|problems| panic!("{printed}: {problems:?}"));
    let again: Vec<_> = rows.iter().map(|row| row.transaction.clone()).collect();
    assert_eq!(again, transactions, "{printed}");
    let same_day_split = [SameDaySplit::Refuse, SameDaySplit::BeforeTrades, SameDaySplit::AfterTrades];
    let options = Options {
        allow_short: choice & 1 == 1,
        same_day_split: same_day_split[usize::from(choice >> 1) % 3],
    };
    let Ok(computation) = compute(&rows, &Rates::default(), options) else { return };
    let parameters = Parameters::bundled().expect("they come with the program");
    for rounding in [Rounding::PerLeg, Rounding::Exact, Rounding::WholePounds] {
        let report = report(&computation, parameters, None, rounding);
        for disposal in report.years.iter().flat_map(|year| &year.disposals) {
            let legs = disposal.legs.iter().map(|leg| leg.gain).sum();
            assert_eq!(disposal.gain, legs, "legs add up");
        }
    }
});
