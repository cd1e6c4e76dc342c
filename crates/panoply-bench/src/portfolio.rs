//! Deterministic portfolios of any size for the cgt benchmarks.

use std::fmt::Write as _;

/// Trading days: ten years of 336 days, so that dates need no calendar.
const DAYS: u64 = 3360;
const HOLDINGS: u64 = 200;
const HOLDINGS_KEPT: usize = 200;

/// Lines of the transaction language: 200 holdings over ten years with purchases, sales, dividends
/// and capital returns, a quarter of them in dollars.
pub(crate) fn lines(count: u64) -> String {
    let mut random = Random(7);
    let mut held = [0_u64; HOLDINGS_KEPT];
    let mut text = String::new();
    for row in 0..count {
        let which = random.below(HOLDINGS);
        let Some(held) = usize::try_from(which).ok().and_then(|which| held.get_mut(which)) else {
            continue;
        };
        let currency = if which % 4 == 1 { " USD" } else { "" };
        let (price, fees) = (random.money(90_000), random.money(1_200));
        let _ = write!(text, "{} ", date(row * DAYS / count));
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

/// About `count` trades in pounds, as cgt-calc's CSV and as our lines. No holding is bought back
/// within 30 days or sold out: cgt-calc 1.14.0 rejects such portfolios.
pub(crate) fn for_cgt_calc(count: u64) -> (String, String) {
    let mut random = Random(7);
    let mut holdings = [(0_u64, None::<u64>); HOLDINGS_KEPT];
    let (mut csv, mut lines) = (String::new(), String::new());
    for row in 0..count {
        let day = row * DAYS / count;
        let which = random.below(HOLDINGS);
        let (shares, choice) = (random.below(200), random.below(100));
        let (price, fees) = (random.money(90_000), random.money(1_200));
        let Some((held, sold)) =
            usize::try_from(which).ok().and_then(|which| holdings.get_mut(which))
        else {
            continue;
        };
        let sold_lately = sold.is_some_and(|sold| day - sold < 40);
        let (action, shares) = if *held > 1 && (sold_lately || choice >= 58) {
            let shares = 1 + shares % (*held - 1);
            *held -= shares;
            *sold = Some(day);
            ("SELL", shares)
        } else if sold_lately {
            continue;
        } else {
            *held += shares + 1;
            ("BUY", shares + 1)
        };
        let date = date(day);
        let _ = writeln!(csv, "{date},{action},TK{which:03},{shares},{price},{fees},GBP");
        let _ = writeln!(lines, "{date} {action} TK{which:03} {shares} @ {price} FEES {fees}");
    }
    (csv, lines)
}

fn date(day: u64) -> String {
    format!("{}-{:02}-{:02}", 2015 + day / 336, 1 + day % 336 / 28, 1 + day % 28)
}

/// A linear congruential generator with Knuth's MMIX constants.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    /// Pounds and pence, at least one penny.
    fn money(&mut self, most_pence: u64) -> String {
        let pence = 1 + self.below(most_pence);
        format!("{}.{:02}", pence / 100, pence % 100)
    }
}
