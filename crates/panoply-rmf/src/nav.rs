//! Daily net asset values (NAV) of a fund and statistics over them.

use jiff::civil::Date;
use rust_decimal::Decimal;

use crate::figures::{mean, percent_change, rounded, rounded_float, sample_deviation, to_f64};

/// NAV per unit on one day, in baht.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NavPoint {
    /// Date.
    pub date: Date,
    /// NAV per unit.
    pub nav: Decimal,
}

/// NAVs in ascending order of date, one per day. Days without trading are absent.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct NavSeries(Vec<NavPoint>);

/// The dates of a series are not strictly ascending.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the NAV of {date} does not come after the one before it")]
pub struct OutOfOrder {
    /// The first date that is not later than its predecessor.
    pub date: Date,
}

impl NavSeries {
    /// Checks that the dates are strictly ascending.
    pub fn new(points: Vec<NavPoint>) -> Result<Self, OutOfOrder> {
        let out_of_order = points.iter().zip(points.iter().skip(1)).find(|(a, b)| a.date >= b.date);
        match out_of_order {
            Some((_, later)) => Err(OutOfOrder { date: later.date }),
            None => Ok(Self(points)),
        }
    }

    /// All points.
    pub fn points(&self) -> &[NavPoint] {
        &self.0
    }

    /// The latest point.
    pub fn latest(&self) -> Option<NavPoint> {
        self.0.last().copied()
    }

    /// The last `records` points, or all when there are fewer.
    pub fn tail(&self, records: usize) -> &[NavPoint] {
        self.0.get(self.0.len().saturating_sub(records)..).unwrap_or_default()
    }

    /// The points of `date` and later.
    pub fn since(&self, date: Date) -> &[NavPoint] {
        let first = self.0.partition_point(|point| point.date < date);
        self.0.get(first..).unwrap_or_default()
    }

    /// Change from the second-latest to the latest point.
    pub fn latest_change(&self) -> Option<Change> {
        match self.tail(2) {
            [before, last] => change(*before, *last),
            _ => None,
        }
    }

    /// Merges `news` into this series. `news` wins on common dates, because the source restates
    /// NAVs.
    #[must_use]
    pub fn merged_with(&self, news: &Self) -> Self {
        let mut days: std::collections::BTreeMap<Date, Decimal> =
            self.0.iter().map(|point| (point.date, point.nav)).collect();
        days.extend(news.0.iter().map(|point| (point.date, point.nav)));
        Self(days.into_iter().map(|(date, nav)| NavPoint { date, nav }).collect())
    }
}

/// At most `most` of these points, all of them published ones: the last of each of equally long
/// stretches, besides the first, the lowest and the highest. `most` below 5 is taken as 5.
pub fn sampled(points: &[NavPoint], most: usize) -> Vec<NavPoint> {
    let most = most.max(5);
    if points.len() <= most {
        return points.to_vec();
    }
    let stretches = most - 3;
    let ends = (1..=stretches)
        .filter_map(|stretch| points.get((points.len() * stretch / stretches).checked_sub(1)?));
    let extremes = [
        points.first(),
        points.iter().min_by_key(|point| point.nav),
        points.iter().max_by_key(|point| point.nav),
    ];
    let kept = ends.chain(extremes.into_iter().flatten()).map(|point| (point.date, point.nav));
    let kept: std::collections::BTreeMap<Date, Decimal> = kept.collect();
    kept.into_iter().map(|(date, nav)| NavPoint { date, nav }).collect()
}

/// Return per year from the first to the last point, in percent; `None` for less than a year.
pub fn annual_return(points: &[NavPoint]) -> Option<Decimal> {
    let (first, last) = (points.first()?, points.last()?);
    let days = f64::from((last.date - first.date).get_days());
    if days < 365.0 || first.nav.is_zero() {
        return None;
    }
    let growth = to_f64(last.nav) / to_f64(first.nav);
    rounded_float((growth.powf(365.25 / days) - 1.0) * 100.0)
}

/// Change between two NAVs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Change {
    /// In baht.
    pub baht: Decimal,
    /// In percent of the earlier value, rounded to four places.
    pub percent: Decimal,
}

/// Change from `before` to `after`; `None` when `before` is zero.
pub fn change(before: NavPoint, after: NavPoint) -> Option<Change> {
    let percent = percent_change(before.nav, after.nav)?;
    Some(Change { baht: (after.nav - before.nav).normalize(), percent })
}

/// Simple daily returns as fractions.
pub fn daily_returns(points: &[NavPoint]) -> Vec<f64> {
    let pairs = points.iter().zip(points.iter().skip(1));
    pairs
        .filter(|(before, _)| !before.nav.is_zero())
        .map(|(before, after)| to_f64(after.nav) / to_f64(before.nav) - 1.0)
        .collect()
}

/// Statistics of a range of NAVs.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Return from the first to the last day, in percent; `None` for fewer than two days.
    pub period_return: Option<Decimal>,
    /// Sample standard deviation of simple daily returns, in percent; `None` for fewer than two
    /// returns.
    pub volatility: Option<Decimal>,
    /// Lowest NAV.
    pub min: Option<Decimal>,
    /// Highest NAV.
    pub max: Option<Decimal>,
    /// Mean NAV.
    pub average: Option<Decimal>,
}

/// Computes the statistics of these points.
pub fn summarise(points: &[NavPoint]) -> Summary {
    let values: Vec<Decimal> = points.iter().map(|point| point.nav).collect();
    let period_return = match points {
        [first, .., last] => percent_change(first.nav, last.nav),
        _ => None,
    };
    let volatility = sample_deviation(&daily_returns(points));
    Summary {
        period_return,
        volatility: volatility.and_then(|deviation| rounded_float(deviation * 100.0)),
        min: values.iter().min().copied(),
        max: values.iter().max().copied(),
        average: mean(&values).map(rounded),
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    fn series(values: &[&str]) -> NavSeries {
        let start = date(2025, 11, 1);
        let points = values.iter().zip(0..).map(|(value, day)| NavPoint {
            date: start + jiff::Span::new().days(day),
            nav: value.parse().unwrap(),
        });
        NavSeries::new(points.collect()).unwrap()
    }

    #[test]
    fn latest_change_requires_two_days() {
        assert_eq!(series(&[]).latest_change(), None);
        assert_eq!(series(&["10"]).latest_change(), None);
        let change = series(&["9", "15.8339", "15.6260"]).latest_change().unwrap();
        assert_eq!(
            (change.baht.to_string(), change.percent.to_string()),
            ("-0.2079".to_owned(), "-1.313".to_owned())
        );
    }

    #[test]
    fn tail_longer_than_the_series_returns_all_of_it() {
        let series = series(&["1", "2", "3"]);
        assert_eq!(series.tail(2).len(), 2);
        assert_eq!(series.tail(365).len(), 3);
        assert_eq!(series.tail(0).len(), 0);
    }

    #[test]
    fn summary_of_too_few_navs_has_no_figures() {
        let none = summarise(series(&[]).points());
        assert_eq!((none.period_return, none.volatility, none.min), (None, None, None));
        let two = summarise(series(&["10", "11"]).points());
        assert_eq!(two.period_return, Some("10".parse().unwrap()));
        assert_eq!(two.volatility, None, "one return has no sample deviation");
    }

    #[test]
    fn volatility_is_the_sample_deviation_of_daily_returns_in_percent() {
        // Returns +10 % and −10 %: mean 0, sum of squares 0.02, divisor 1, root 0.141421.
        let summary = summarise(series(&["100", "110", "99"]).points());
        assert_eq!(summary.volatility, Some("14.1421".parse().unwrap()));
        assert_eq!(summary.average, Some("103".parse().unwrap()));
    }

    #[test]
    fn nav_series_rejects_days_out_of_order() {
        let point = |day| NavPoint { date: date(2025, 11, day), nav: Decimal::ONE };
        assert!(NavSeries::new(vec![point(2), point(1)]).is_err());
        assert!(NavSeries::new(vec![point(1), point(1)]).is_err());
    }

    #[test]
    fn sample_keeps_published_points_with_both_ends_and_both_extremes() {
        let values: Vec<String> = (0..1000).map(|day| (10 + day % 7).to_string()).collect();
        let mut all = series(&values.iter().map(String::as_str).collect::<Vec<_>>()).0;
        all[333].nav = "1".parse().unwrap();
        all[444].nav = "99".parse().unwrap();
        for most in [5, 50, 120] {
            let kept = sampled(&all, most);
            assert!(kept.len() <= most && kept.len() + 4 >= most, "{} of {most}", kept.len());
            assert!(kept.iter().all(|point| all.contains(point)));
            for needed in [all[0], all[333], all[444], all[999]] {
                assert!(kept.contains(&needed), "{needed:?} of {most}");
            }
            assert!(kept.windows(2).all(|pair| pair[0].date < pair[1].date));
        }
        assert_eq!(sampled(&all, 1000), all);
        assert_eq!(sampled(&[], 50), []);
    }

    #[test]
    fn annual_return_is_compound_and_needs_a_year() {
        let point =
            |year, nav: &str| NavPoint { date: date(year, 1, 1), nav: nav.parse().unwrap() };
        // 2 = 1.0718^10; 1 January 2015 to 2025 are 3,653 days, ten years of 365.25 and half a day.
        let ten = annual_return(&[point(2015, "10"), point(2025, "20")]).unwrap();
        assert!((to_f64(ten) - 7.1773).abs() < 0.01, "{ten}");
        assert_eq!(annual_return(&series(&["10", "20"]).0), None);
    }

    #[test]
    fn since_starts_at_the_first_day_not_before_the_date() {
        let all = series(&["1", "2", "3"]);
        assert_eq!(all.since(date(2025, 11, 2)).len(), 2);
        assert_eq!(all.since(date(2020, 1, 1)).len(), 3);
        assert_eq!(all.since(date(2026, 1, 1)).len(), 0);
    }

    #[test]
    fn restated_nav_replaces_the_previous_value() {
        let old = series(&["1", "2"]);
        let news = NavSeries::new(vec![
            NavPoint { date: date(2025, 11, 2), nav: "2.5".parse().unwrap() },
            NavPoint { date: date(2025, 11, 3), nav: "3".parse().unwrap() },
        ])
        .unwrap();
        let merged = old.merged_with(&news);
        let values: Vec<String> =
            merged.points().iter().map(|point| point.nav.to_string()).collect();
        assert_eq!(values, ["1", "2.5", "3"]);
    }
}
