//! Prints how long reading and computing take for 10,000, 100,000 and 1,000,000 transactions.
//!
//! `cargo run --release -p panoply-cgt --example cgt_speed [rows…]`
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "a stopwatch for people"
)]

use std::fmt::Write as _;
use std::time::Instant;

use panoply_cgt::dsl;
use panoply_cgt::engine::report::{Rounding, report};
use panoply_cgt::engine::{Options, compute};
use panoply_cgt::fx::Rates;
use panoply_cgt::parameters::Parameters;

fn main() {
    let asked: Vec<usize> =
        std::env::args().skip(1).filter_map(|count| count.parse().ok()).collect();
    let counts = if asked.is_empty() { vec![10_000, 100_000, 1_000_000] } else { asked };
    println!(
        "{:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>8}",
        "rows", "parse ms", "match ms", "report ms", "total ms", "ns a row", "peak MB"
    );
    for count in counts {
        let text = portfolio(count);
        let start = Instant::now();
        let rows = dsl::parse(&text).expect("the portfolio can be read");
        let parsed = start.elapsed();
        let computation =
            compute(&rows, &Rates::default(), Options::default()).expect("it can be computed");
        let computed = start.elapsed();
        let parameters = Parameters::bundled().expect("the parameters are bundled");
        let report = report(&computation, parameters, None, Rounding::PerLeg);
        let total = start.elapsed();
        let disposals: usize = report.years.iter().map(|year| year.disposals.len()).sum();
        assert!(disposals > 0);
        let millis = |duration: std::time::Duration| duration.as_secs_f64() * 1e3;
        println!(
            "{count:>9}  {:>9.1}  {:>9.1}  {:>9.1}  {:>9.1}  {:>9.0}  {:>8}",
            millis(parsed),
            millis(computed - parsed),
            millis(total - computed),
            millis(total),
            millis(total) * 1e6 / f64::from(u32::try_from(count).unwrap_or(u32::MAX)),
            peak_megabytes()
        );
    }
}

/// The most memory this process has had, as Linux tells it.
fn peak_megabytes() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.map_or_else(|| "?".to_owned(), |kilobytes| (kilobytes / 1024).to_string())
}

/// A portfolio of 200 holdings over ten years: purchases, sales, dividends, accumulations and
/// splits, a quarter of it in dollars. The same every time.
fn portfolio(count: usize) -> String {
    let mut random = Random(7);
    let mut held = [0_u64; 200];
    let mut text = String::with_capacity(count * 50);
    for row in 0..count {
        let day = u64::try_from(row).unwrap_or_default() * 3360 / u64::try_from(count).unwrap_or(1);
        let (year, month, day_of_month) = (2015 + day / 336, 1 + day % 336 / 28, 1 + day % 28);
        let which = random.below(200);
        let Some(held) = usize::try_from(which).ok().and_then(|which| held.get_mut(which)) else {
            continue;
        };
        let currency = if which % 4 == 1 { " USD" } else { "" };
        let (price, fees) = (random.below(90_000), random.below(1200));
        let (price, fees) = (
            format!("{}.{:02}", price / 100, price % 100),
            format!("{}.{:02}", fees / 100, fees % 100),
        );
        let _ = write!(text, "{year}-{month:02}-{day_of_month:02} ");
        let _ = match random.below(100) {
            0 => writeln!(text, "DIVIDEND TK{which:03} TOTAL {price}{currency}"),
            1 if *held > 2_000 => writeln!(text, "CAPRETURN TK{which:03} 1 TOTAL 0.01"),
            choice if choice < 58 || *held == 0 => {
                let shares = 1 + random.below(200);
                *held += shares;
                writeln!(
                    text,
                    "BUY TK{which:03} {shares} @ {price}{currency} FEES {fees}{currency}"
                )
            }
            _ => {
                let shares = 1 + random.below((*held).min(200));
                *held -= shares;
                writeln!(
                    text,
                    "SELL TK{which:03} {shares} @ {price}{currency} FEES {fees}{currency}"
                )
            }
        };
    }
    text
}

/// A linear congruential generator: Knuth's MMIX constants.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}
