//! Which shares to sell before the end of a tax year: gains within the exempt amount, or losses that
//! bring taxable gains down to it.
//!
//! A plan is a list of sales on one day. Its effect is never estimated: the sales are added to the
//! transactions and the engine computes the year again, so same-day and 30-day matches count.

use jiff::ToSpan;
use jiff::civil::Date;
use rust_decimal::Decimal;

use crate::engine::Holding;
use crate::money::Money;
use crate::transaction::{Amount, Kind, Quantity, Row, SourceLocation, Ticker, Transaction};

/// Price of a holding, in pounds.
#[derive(Clone, Debug)]
pub struct Price {
    /// Ticker.
    pub ticker: Ticker,
    /// Price per share.
    pub each: Amount,
}

/// Purpose of a sale.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Purpose {
    /// Realises a gain that is exempt.
    UseExemptAmount,
    /// Realises a gain that is taxed at the basic rate.
    UseBasicRateBand,
    /// Realises a loss that reduces taxable gains.
    ReduceTaxableGain,
}

/// A sale of the plan.
#[derive(Clone, Debug)]
pub struct PlannedSale {
    /// Ticker.
    pub ticker: Ticker,
    /// Number of whole shares, or the whole holding.
    pub quantity: Quantity,
    /// Price per share.
    pub price: Amount,
    /// Purpose.
    pub purpose: Purpose,
    /// Gain expected from the average cost; a loss is negative.
    pub expected_gain: Money,
}

/// A holding with its gain at the given price.
struct Candidate<'a> {
    price: &'a Price,
    held: Decimal,
    gain_each: Money,
    /// Gain as a share of the price, for the order.
    gain_share: Money,
}

/// Chooses sales. `net` is the year's net gain so far, after losses brought forward; `exempt` the
/// exempt amount. Holdings without a price are left alone.
pub fn plan(holdings: &[Holding], prices: &[Price], net: Money, exempt: Money) -> Vec<PlannedSale> {
    let mut candidates: Vec<Candidate<'_>> =
        prices.iter().filter_map(|price| candidate(holdings, price)).collect();
    let (purpose, mut room) = if net > exempt {
        candidates.retain(|candidate| candidate.gain_each.is_negative());
        candidates.sort_by_key(|candidate| candidate.gain_share);
        (Purpose::ReduceTaxableGain, net - exempt)
    } else {
        candidates.retain(|candidate| candidate.gain_each > Money::ZERO);
        candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.gain_share));
        (Purpose::UseExemptAmount, exempt - net)
    };
    choose(&mut candidates, purpose, &mut room)
}

/// Chooses sales whose gains fill the rest of the exempt amount, and then the rest of the basic rate
/// band, band by band.
pub fn plan_with_band(
    holdings: &[Holding],
    prices: &[Price],
    exempt_left: Money,
    band_left: Money,
) -> Vec<PlannedSale> {
    let mut candidates: Vec<Candidate<'_>> =
        prices.iter().filter_map(|price| candidate(holdings, price)).collect();
    candidates.retain(|candidate| candidate.gain_each > Money::ZERO);
    candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.gain_share));
    let mut sales = Vec::new();
    for (purpose, mut room) in
        [(Purpose::UseExemptAmount, exempt_left), (Purpose::UseBasicRateBand, band_left)]
    {
        sales.extend(choose(&mut candidates, purpose, &mut room));
    }
    sales
}

/// Takes shares of the candidates in their order until the room is used up.
fn choose(
    candidates: &mut [Candidate<'_>],
    purpose: Purpose,
    room: &mut Money,
) -> Vec<PlannedSale> {
    let mut sales = Vec::new();
    for candidate in candidates {
        if *room <= Money::ZERO {
            break;
        }
        let Some(shares) = shares_for(candidate, *room, purpose) else { continue };
        let Some(gain) = times(candidate.gain_each, shares) else { continue };
        let Some(quantity) = Quantity::new(shares) else { continue };
        *room -= if gain.is_negative() { -gain } else { gain };
        candidate.held -= shares;
        sales.push(PlannedSale {
            ticker: candidate.price.ticker.clone(),
            quantity,
            price: candidate.price.each,
            purpose,
            expected_gain: gain,
        });
    }
    sales
}

fn candidate<'a>(holdings: &[Holding], price: &'a Price) -> Option<Candidate<'a>> {
    let holding = holdings.iter().find(|holding| holding.ticker == price.ticker)?;
    let held: Decimal = holding.quantity.to_string().parse().ok()?;
    let cost = holding.cost.share(holding.quantity.denominator(), holding.quantity.numerator())?;
    let each = Money::of(price.each.value())?;
    let gain_each = each - cost;
    // A per mille of the price is fine enough for an order.
    let gain_share = gain_each.share(1_000, each.attopounds()?.max(1))?;
    Some(Candidate { price, held, gain_each, gain_share })
}

/// Whole shares whose gain stays within `room`, or whose loss covers it; the whole holding when that
/// is less.
fn shares_for(candidate: &Candidate<'_>, room: Money, purpose: Purpose) -> Option<Decimal> {
    let each =
        if candidate.gain_each.is_negative() { -candidate.gain_each } else { candidate.gain_each };
    let (room, each) = (room.attopounds()?, each.attopounds().filter(|each| *each > 0)?);
    let shares = match purpose {
        Purpose::UseExemptAmount | Purpose::UseBasicRateBand => room / each,
        Purpose::ReduceTaxableGain => room.div_ceil(each),
    };
    let shares = Decimal::try_from_i128_with_scale(i128::try_from(shares).ok()?, 0).ok();
    let shares = shares.map_or(candidate.held, |shares| shares.min(candidate.held));
    (shares > Decimal::ZERO).then_some(shares)
}

fn times(each: Money, shares: Decimal) -> Option<Money> {
    let scale = 10_u128.checked_pow(shares.scale())?;
    each.share(u128::try_from(shares.mantissa()).ok()?, scale)
}

/// The transactions with the sales of a plan on a day.
pub fn with_sales(rows: &[Row], sales: &[PlannedSale], date: Date) -> Vec<Row> {
    let planned = sales.iter().map(|sale| {
        let kind = Kind::Sell { quantity: sale.quantity, price: sale.price, fees: Amount::NONE };
        let transaction = Transaction { date, ticker: sale.ticker.clone(), kind };
        Row { transaction, location: SourceLocation::default() }
    });
    rows.iter().cloned().chain(planned).collect()
}

/// First day on which a purchase is not matched with a sale of `date` (TCGA 1992 s.106A(5)).
pub fn first_safe_day(date: Date) -> Option<Date> {
    date.checked_add(31.days()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::currency::Currency;
    use crate::dsl;
    use crate::engine::{Options, compute};
    use crate::fx::Rates;

    fn planned(text: &str, prices: &[(&str, &str)], net: i64, exempt: i64) -> Vec<String> {
        let rows = dsl::parse(text).unwrap();
        let computation = compute(&rows, &Rates::default(), Options::default()).unwrap();
        let prices: Vec<Price> = prices
            .iter()
            .map(|(ticker, price)| Price {
                ticker: Ticker::parse(ticker).unwrap(),
                each: Amount::new(price.parse().unwrap(), Currency::GBP).unwrap(),
            })
            .collect();
        plan(&computation.holdings, &prices, Money::pounds(net), Money::pounds(exempt))
            .iter()
            .map(|sale| format!("{} {} {}", sale.ticker, sale.quantity, sale.expected_gain))
            .collect()
    }

    const HELD: &str = "2020-01-01 BUY UP 1000 @ 10\n2020-01-01 BUY FLAT 100 @ 10\n2020-01-01 BUY DOWN 500 @ 20.00\n2020-01-01 BUY TINY 3.5 @ 10";

    #[test]
    fn gains_fill_the_exempt_amount_and_losses_reduce_gains_to_it() {
        let prices = [("UP", "17"), ("FLAT", "10"), ("DOWN", "12"), ("TINY", "30"), ("NONE", "5")];
        // 3,000 exempt: TINY has the largest gain for its price, 3.5 x 20 = 70; then 2,930 / 7 = 418.
        assert_eq!(planned(HELD, &prices, 0, 3_000), ["TINY 3.5 70.00", "UP 418 2926.00"]);
        // 5,000 of gains, 3,000 exempt: 2,000 / 8 = 250 shares of DOWN.
        assert_eq!(planned(HELD, &prices, 5_000, 3_000), ["DOWN 250 -2000.00"]);
        // A net loss leaves more room: gains absorb it before the exempt amount.
        assert_eq!(planned(HELD, &prices[..1], -4_000, 3_000), ["UP 1000 7000.00"]);
        assert!(planned(HELD, &[("DOWN", "12")], 0, 3_000).is_empty());
    }

    #[test]
    fn gains_fill_the_exempt_amount_and_then_the_basic_rate_band() {
        // By hand: 3,000 exempt at 10 a share is 300 shares; 7,700 of the band 770; 930 are left.
        let rows = dsl::parse("2020-01-01 BUY A 2000 @ 1\n2020-01-01 BUY B 10 @ 9").unwrap();
        let computation = compute(&rows, &Rates::default(), Options::default()).unwrap();
        let price = |ticker: &str, each: &str| Price {
            ticker: Ticker::parse(ticker).unwrap(),
            each: Amount::new(each.parse().unwrap(), Currency::GBP).unwrap(),
        };
        let prices = [price("A", "11"), price("B", "10")];
        let sales = plan_with_band(
            &computation.holdings,
            &prices,
            Money::pounds(3_000),
            Money::pounds(7_700),
        );
        let shown: Vec<String> = sales
            .iter()
            .map(|sale| format!("{} {} {:?}", sale.ticker, sale.quantity, sale.purpose))
            .collect();
        assert_eq!(shown, ["A 300 UseExemptAmount", "A 770 UseBasicRateBand"]);
    }
}
