//! Computes the numbers in `agentHints` from evidence. No other file computes a confidence.
//!
//! Confidence estimates the probability that what a reply states is right as of the dates it
//! states: the product of the applicable factors. Each factor lies between 0 and 1 and is
//! monotonic: less data, a smaller sample or a worse source never raises it. The property tests
//! below verify this. Age is not a factor: a NAV of last year is still the NAV of its day. Old data
//! are a risk with a probability, a warning and a short validity period instead.

use std::time::Duration;

use jiff::Timestamp;

use crate::evidence::{
    Ambiguity, Benefit, Evidence, Freshness, NextChange, Sample, Share, Source, SourceClass,
};
use crate::hints::{
    Alignment, EstimatedImpact, Level, RiskFactor, RiskKind, SourceQuality, ValidityPeriod,
};

/// Normal quantile of a two-sided 95 % confidence interval.
const Z_95: f64 = 1.96;
/// Factor of a figure without observations.
const NO_SAMPLE_FACTOR: f64 = 0.5;
/// Sources below this share of the weight do not affect the source quality.
const NEGLIGIBLE_WEIGHT: f64 = 0.05;
/// Impact of data that have probably changed.
const STALE_IMPACT: f64 = 0.5;
/// Risks below this product of probability and impact are omitted.
const NEGLIGIBLE_RISK: f64 = 0.01;

/// A confidence with its explanation.
#[derive(Clone, Debug, PartialEq)]
pub struct Assessment {
    /// From 0 to 1.
    pub confidence: f64,
    /// The named factors.
    pub reasoning: String,
    /// Inputs that would raise the confidence.
    pub missing: Vec<String>,
}

/// Computes the confidence.
pub fn assess(evidence: &Evidence) -> Assessment {
    let mut factors: Vec<(String, f64)> = Vec::new();
    let mut missing = Vec::new();
    if let Some(share) = evidence.completeness {
        factors.push((
            format!("completeness {}/{}", share.part, share.whole),
            completeness_factor(share),
        ));
        if share.part < share.whole {
            missing.push(format!("{} of {} needed values", share.whole - share.part, share.whole));
        }
    }
    if let Some(sample) = evidence.sample {
        let n = match sample {
            Sample::Proportion { n, .. } | Sample::Mean { n, .. } => n,
        };
        factors.push((format!("sample n={n}"), sample_factor(sample)));
        if n == 0 {
            missing.push("observations to measure from".to_owned());
        }
    }
    if let Some(share) = evidence.agreement {
        factors.push((
            format!("agreement {}/{}", share.part, share.whole),
            completeness_factor(share),
        ));
    }
    if let Some(ambiguity) = evidence.ambiguity {
        factors.push(("clearness of the match".to_owned(), margin_factor(ambiguity)));
    }
    match evidence.judged {
        None if evidence.fitted.is_some() => {
            let probability = evidence.fitted.unwrap_or_default();
            factors = vec![("fitted on judged replies".to_owned(), probability.clamp(0.0, 1.0))];
        }
        None => factors
            .push((provenance_label(&evidence.sources), provenance_factor(&evidence.sources))),
        // The rate holds for these sources.
        Some(judged) => {
            let label = format!("{}/{} judged right", judged.part, judged.whole);
            factors = vec![(label, rate_factor(judged))];
        }
    }
    if evidence.sources.is_empty() {
        missing.push("the sources of the data".to_owned());
    }
    let confidence = round(factors.iter().map(|(_, value)| value).product::<f64>(), 4);
    let term = |(name, value): &(String, f64)| match round(*value, 3) {
        1.0 => name.clone(),
        rounded => format!("{name} ({rounded})"),
    };
    // The sources are last; a factor of 1 before them says nothing.
    let last = factors.len() - 1;
    let matters = |(place, (_, value)): &(usize, &(String, f64))| *place == last || *value < 1.0;
    let terms: Vec<String> =
        factors.iter().enumerate().filter(matters).map(|(_, factor)| term(factor)).collect();
    let as_of = evidence.freshness.map(|freshness| format!(" as of {}", date_of(freshness.as_of)));
    let reasoning =
        format!("Confidence {confidence}{}: {}.", as_of.unwrap_or_default(), terms.join(", "));
    Assessment { confidence, reasoning, missing }
}

/// Data older than the time in which their source usually changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Staleness {
    /// The date of the data.
    pub date: String,
    /// Age in whole days.
    pub days: i64,
    /// The risk of acting on them.
    pub risk: RiskFactor,
}

/// Whether the data have probably changed since; `None` before half of their source's period.
pub fn staleness(evidence: &Evidence, now: Timestamp) -> Option<Staleness> {
    let freshness = evidence.freshness?;
    let probability = 1.0 - freshness_factor(freshness, now);
    if probability < 0.5 {
        return None;
    }
    let date = date_of(freshness.as_of);
    let days = now.duration_since(freshness.as_of).as_hours() / 24;
    let description = format!("the data are of {date}, {days} days old");
    let risk = risk(RiskKind::Accuracy, description, probability, STALE_IMPACT, None)?;
    Some(Staleness { date, days, risk })
}

/// Present share of the needed items; 1 when none are needed.
fn completeness_factor(share: Share) -> f64 {
    if share.whole == 0 {
        return 1.0;
    }
    (to_f64(share.part) / to_f64(share.whole)).clamp(0.0, 1.0)
}

/// Rate of a judged sample by Laplace's rule of succession: a small sample is never certain.
fn rate_factor(judged: Share) -> f64 {
    let part = judged.part.min(judged.whole);
    (to_f64(part) + 1.0) / (to_f64(judged.whole) + 2.0)
}

fn freshness_factor(freshness: Freshness, now: Timestamp) -> f64 {
    let age = now.duration_since(freshness.as_of).as_secs_f64().max(0.0);
    let half_life = freshness.half_life.as_secs_f64();
    if half_life <= 0.0 {
        return if age > 0.0 { 0.0 } else { 1.0 };
    }
    (-age / half_life).exp2()
}

/// One minus half the width of the 95 % interval: Wilson score for a proportion, relative for a
/// mean.
fn sample_factor(sample: Sample) -> f64 {
    match sample {
        Sample::Proportion { n: 0, .. } | Sample::Mean { n: 0, .. } => NO_SAMPLE_FACTOR,
        Sample::Proportion { successes, n } => {
            let trials = to_f64(n);
            let rate = (to_f64(successes) / trials).clamp(0.0, 1.0);
            let spread =
                (rate * (1.0 - rate) / trials + Z_95 * Z_95 / (4.0 * trials * trials)).sqrt();
            let half_width = Z_95 * spread / (1.0 + Z_95 * Z_95 / trials);
            (1.0 - half_width).clamp(NO_SAMPLE_FACTOR, 1.0)
        }
        Sample::Mean { n, variation } if variation.is_finite() => {
            let half_width = Z_95 * variation.abs() / to_f64(n).sqrt();
            (1.0 - half_width).clamp(NO_SAMPLE_FACTOR, 1.0)
        }
        Sample::Mean { .. } => NO_SAMPLE_FACTOR,
    }
}

fn margin_factor(ambiguity: Ambiguity) -> f64 {
    let (top, runner_up) = (ambiguity.top.max(0.0), ambiguity.runner_up.max(0.0));
    if !(top.is_finite() && runner_up.is_finite()) || top <= 0.0 {
        return 0.0;
    }
    (top / (top + runner_up)).clamp(0.0, 1.0)
}

/// Documented reliability of each source class.
const fn reliability_of(class: SourceClass) -> f64 {
    match class {
        SourceClass::Exact | SourceClass::Verified => 1.0,
        SourceClass::Authoritative => 0.97,
        SourceClass::UserSupplied => 0.9,
        SourceClass::Derived => 0.8,
        SourceClass::Unverified => 0.6,
    }
}

/// Weighted mean reliability of the sources; 0.5 when there are none.
fn provenance_factor(sources: &[Source]) -> f64 {
    let total = total_weight(sources);
    if total <= 0.0 {
        return NO_SAMPLE_FACTOR;
    }
    sources.iter().map(|source| reliability_of(source.class) * source.weight.max(0.0)).sum::<f64>()
        / total
}

fn total_weight(sources: &[Source]) -> f64 {
    sources.iter().map(|source| source.weight.max(0.0)).sum()
}

fn provenance_label(sources: &[Source]) -> String {
    match sources {
        [] => "sources unknown".to_owned(),
        [only] if only.class == SourceClass::Exact => format!("exact read of {}", only.label),
        [only] => format!("source {}", only.label),
        [first, rest @ ..] => format!("sources {} and {} more", first.label, rest.len()),
    }
}

/// High requires fresh data and that every source with relevant weight is an authority.
pub fn source_quality(evidence: &Evidence, now: Timestamp) -> SourceQuality {
    let total = total_weight(&evidence.sources);
    let matters = |source: &&Source| source.weight > NEGLIGIBLE_WEIGHT * total;
    let Some(worst) = evidence.sources.iter().filter(matters).map(|source| source.class).max()
    else {
        return SourceQuality::Unknown;
    };
    let freshness = evidence.freshness.map_or(1.0, |freshness| freshness_factor(freshness, now));
    if worst <= SourceClass::Authoritative && freshness >= 0.9 {
        SourceQuality::High
    } else if worst <= SourceClass::Derived && freshness >= 0.5 {
        SourceQuality::Medium
    } else {
        SourceQuality::Low
    }
}

/// Derives the validity period from the next scheduled change, else from how often the source
/// changes.
pub fn validity(evidence: &Evidence, now: Timestamp) -> ValidityPeriod {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    let timestamp = match (evidence.next_change, evidence.freshness) {
        (NextChange::NotScheduled, None) => return ValidityPeriod::Indefinite,
        (NextChange::WithNextAction, _) => return ValidityPeriod::Immediate,
        (NextChange::At(timestamp), _) => timestamp,
        (NextChange::NotScheduled, Some(Freshness { as_of, half_life })) => {
            // Overdue data may be replaced at any time, but not by the caller's next action.
            let soon = now + Duration::from_secs(1);
            as_of.checked_add(half_life).map_or(soon, |due| due.max(soon))
        }
    };
    match timestamp.duration_since(now).as_secs() {
        left if left <= 0 => ValidityPeriod::Immediate,
        left if left <= 10 * MINUTE => ValidityPeriod::Short,
        left if left <= 2 * HOUR => ValidityPeriod::Medium,
        left if left <= 36 * HOUR => ValidityPeriod::Long,
        _ => ValidityPeriod::Indefinite,
    }
}

/// Benefit and effort of the first suggestion; `typical` is the tool's usual duration. The return
/// on investment is exactly their ratio.
pub fn impact(benefit: Option<&Benefit>, typical: Option<Duration>) -> EstimatedImpact {
    const MIN_EFFORT: f64 = 0.01;
    let Some(typical) = typical else {
        return EstimatedImpact {
            benefit: 0.0,
            effort: MIN_EFFORT,
            roi: 0.0,
            affected_metrics: Vec::new(),
        };
    };
    let human = benefit.map_or(0.0, |benefit| finite_or_zero(benefit.human_seconds).max(0.0));
    let seconds = typical.as_secs_f64() + human;
    let effort = round((seconds / (seconds + 60.0)).clamp(MIN_EFFORT, 1.0), 4);
    let value =
        round(benefit.map_or(0.0, |benefit| finite_or_zero(benefit.value)).clamp(0.0, 1.0), 4);
    EstimatedImpact {
        benefit: value,
        effort,
        roi: value / effort,
        affected_metrics: benefit.map(|benefit| benefit.metrics.clone()).unwrap_or_default(),
    }
}

/// Computes the severity of a risk; `None` for a negligible one.
pub fn risk(
    kind: RiskKind,
    description: impl Into<String>,
    probability: f64,
    impact: f64,
    mitigation: Option<String>,
) -> Option<RiskFactor> {
    let (probability, impact) = (clamp_to_unit(probability), clamp_to_unit(impact));
    let severity = match probability * impact {
        product if product < NEGLIGIBLE_RISK => return None,
        product if product >= 0.5 => Level::Critical,
        product if product >= 0.25 => Level::High,
        product if product >= 0.1 => Level::Medium,
        _ => Level::Low,
    };
    let (probability, impact) = (round(probability, 4), round(impact, 4));
    Some(RiskFactor {
        kind,
        severity,
        description: description.into(),
        probability,
        impact,
        mitigation,
    })
}

/// Maps an alignment score between -1 and 1 to its category.
pub fn alignment(score: f64) -> Alignment {
    match score {
        score if score >= 0.66 => Alignment::Strong,
        score if score >= 0.33 => Alignment::Moderate,
        score if score > 0.0 => Alignment::Weak,
        score if score > -0.33 => Alignment::Neutral,
        _ => Alignment::Conflict,
    }
}

fn clamp_to_unit(value: f64) -> f64 {
    finite_or_zero(value).clamp(0.0, 1.0)
}

fn finite_or_zero(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

/// Rounds to the nearest value with this many decimal places; 0 for non-finite results.
fn round(value: f64, places: i32) -> f64 {
    let scale = 10_f64.powi(places);
    let rounded = (value * scale).round() / scale;
    if rounded.is_finite() { rounded } else { 0.0 }
}

fn date_of(timestamp: Timestamp) -> String {
    timestamp.to_string().chars().take(10).collect()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts beyond 2^53 do not occur, and a ratio would not notice"
)]
fn to_f64(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    fn now() -> Timestamp {
        "2026-11-15T12:00:00Z".parse().unwrap()
    }

    fn evidence() -> Evidence {
        Evidence::from(Source::new(SourceClass::Verified, "the register"))
    }

    #[test]
    fn an_exact_read_has_confidence_one_with_its_reason() {
        let stored = Evidence::from(Source::new(SourceClass::Exact, "stored card"));
        let assessment = assess(&stored);
        assert_eq!(assessment.confidence.to_string(), "1");
        assert!(
            assessment.reasoning.contains("exact read of stored card"),
            "{}",
            assessment.reasoning
        );
    }

    #[test]
    fn confidence_of_judged_replies_is_the_rate_of_right_ones() {
        let judged = evidence().complete(1, 3).matched(0.5, 0.5).judged(97, 98);
        let assessment = assess(&judged);
        assert_eq!(assessment.confidence.to_string(), "0.98");
        assert!(assessment.reasoning.contains("97/98 judged right"), "{assessment:?}");
        assert_eq!(assessment.missing, ["2 of 3 needed values"]);
    }

    #[test]
    fn old_data_are_a_risk_and_not_less_true() {
        let old = evidence().as_of(now() - DAY, DAY);
        let assessment = assess(&old);
        assert_eq!(assessment.confidence.to_string(), assess(&evidence()).confidence.to_string());
        assert!(assessment.reasoning.contains("as of 2026-11-14"), "{}", assessment.reasoning);
        assert_eq!(source_quality(&old, now()), SourceQuality::Medium);
        let stale = staleness(&old, now()).unwrap();
        assert_eq!((stale.date.as_str(), stale.days), ("2026-11-14", 1));
        assert_eq!((stale.risk.probability, stale.risk.severity), (0.5, Level::High));
        assert_eq!(validity(&old, now()), ValidityPeriod::Short);
        let fresh = evidence().as_of(now() - DAY / 2, DAY);
        assert_eq!(staleness(&fresh, now()), None);
        assert_eq!(validity(&fresh, now()), ValidityPeriod::Long);
    }

    #[test]
    fn missing_sources_give_unknown_source_quality() {
        let mut nothing = evidence();
        nothing.sources.clear();
        assert_eq!(source_quality(&nothing, now()), SourceQuality::Unknown);
        assert_eq!(assess(&nothing).missing, ["the sources of the data"]);
    }

    #[test]
    fn validity_follows_the_next_change() {
        let cases = [
            (Duration::from_secs(0), ValidityPeriod::Immediate),
            (Duration::from_secs(300), ValidityPeriod::Short),
            (Duration::from_secs(3600), ValidityPeriod::Medium),
            (DAY, ValidityPeriod::Long),
            (DAY * 7, ValidityPeriod::Indefinite),
        ];
        for (left, expected) in cases {
            let evidence = evidence().changes(NextChange::At(now() + left));
            assert_eq!(validity(&evidence, now()), expected, "left: {left:?}");
        }
        let immediate = evidence().changes(NextChange::WithNextAction);
        assert_eq!(validity(&immediate, now()), ValidityPeriod::Immediate);
        assert_eq!(validity(&evidence(), now()), ValidityPeriod::Indefinite);
    }

    #[test]
    fn roi_is_benefit_over_effort() {
        let benefit =
            Benefit { value: 0.6, metrics: vec!["retention".to_owned()], human_seconds: 60.0 };
        let impact = impact(Some(&benefit), Some(Duration::ZERO));
        assert_eq!((impact.benefit, impact.effort, impact.roi), (0.6, 0.5, 1.2));
    }

    #[test]
    fn a_negligible_risk_is_omitted() {
        assert!(risk(RiskKind::Accuracy, "tiny", 0.05, 0.1, None).is_none());
        let grave = risk(RiskKind::Accuracy, "grave", 0.9, 1.0, None).unwrap();
        assert_eq!(grave.severity, Level::Critical);
    }

    #[test]
    fn wilson_agrees_with_the_published_interval() {
        // Newcombe (1998), Statistics in Medicine 17:857, example 15/148: 0.0624 to 0.1605.
        let half_width = (0.1605 - 0.0624) / 2.0;
        let factor = sample_factor(Sample::Proportion { successes: 15, n: 148 });
        assert!((factor - (1.0 - half_width)).abs() < 1e-4, "{factor}");
    }

    proptest! {
        #[test]
        fn less_data_never_raises_confidence(whole in 1_u64..500, part in 0_u64..500, fewer in 0_u64..500) {
            let part = part.min(whole);
            let fewer = fewer.min(part);
            let more_data = assess(&evidence().complete(part, whole)).confidence;
            let less_data = assess(&evidence().complete(fewer, whole)).confidence;
            prop_assert!(less_data <= more_data);
        }

        #[test]
        fn older_data_never_lower_the_risk(age in 0_u64..10_000, older in 0_u64..10_000, half_life in 0_u64..5_000) {
            let half_life = Duration::from_secs(half_life * 60);
            let at = |minutes: u64| now() - Duration::from_secs(minutes * 60);
            let risk = |minutes| {
                let evidence = evidence().as_of(at(minutes), half_life);
                staleness(&evidence, now()).map_or(0.0, |stale| stale.risk.probability)
            };
            prop_assert!(risk(age) <= risk(age + older));
        }

        #[test]
        fn a_smaller_sample_of_the_same_rate_never_raises_confidence(successes in 0_u64..50, failures in 0_u64..50, times in 1_u64..20) {
            let small = Sample::Proportion { successes, n: successes + failures };
            let large = Sample::Proportion { successes: successes * times, n: (successes + failures) * times };
            let confidence = |sample| assess(&evidence().sampled(sample)).confidence;
            prop_assert!(confidence(small) <= confidence(large));
        }

        #[test]
        fn a_smaller_sample_of_a_mean_never_raises_confidence(n in 0_u64..500, more in 0_u64..500, variation in 0.0_f64..5.0) {
            let confidence = |n| assess(&evidence().sampled(Sample::Mean { n, variation })).confidence;
            prop_assert!(confidence(n) <= confidence(n + more));
        }

        #[test]
        fn every_confidence_is_a_probability(part in any::<u64>(), whole in any::<u64>(), top in any::<f64>(), next in any::<f64>(), variation in any::<f64>(), weight in any::<f64>()) {
            let wild = Evidence::from(Source::new(SourceClass::Derived, "x").weighing(weight))
                .complete(part, whole).matched(top, next).sampled(Sample::Mean { n: part, variation });
            let confidence = assess(&wild).confidence;
            prop_assert!((0.0..=1.0).contains(&confidence), "{}", confidence);
        }

        #[test]
        fn a_worse_source_never_raises_confidence(better in 0_usize..6, worse in 0_usize..6) {
            let classes = [SourceClass::Exact, SourceClass::Verified, SourceClass::Authoritative,
                SourceClass::UserSupplied, SourceClass::Derived, SourceClass::Unverified];
            let (better, worse) = (better.min(worse), better.max(worse));
            let confidence = |index: usize| assess(&Evidence::from(Source::new(classes[index], "x"))).confidence;
            prop_assert!(confidence(worse) <= confidence(better));
        }
    }
}
