//! Evidence about an answer: handlers provide it, the kernel computes hints from it.

use std::time::Duration;

use jiff::Timestamp;

/// Evidence for an answer. A part that does not apply stays `None` and does not lower confidence.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// Share of the needed data that is present.
    pub completeness: Option<Share>,
    /// Age and half-life of the data.
    pub freshness: Option<Freshness>,
    /// Observations behind a figure.
    pub sample: Option<Sample>,
    /// Share of independent checks that agree.
    pub agreement: Option<Share>,
    /// Margin between the best match and the next.
    pub ambiguity: Option<Ambiguity>,
    /// How often replies of this kind were right when they were judged.
    pub judged: Option<Share>,
    /// Probability that the reply is right, by a model fitted on judged replies.
    pub fitted: Option<f64>,
    /// Sources of the data.
    pub sources: Vec<Source>,
    /// When the answer may change.
    pub next_change: NextChange,
    /// Benefit of the first suggestion, by the pack's own measure.
    pub benefit: Option<Benefit>,
}

impl Evidence {
    /// Evidence from one source.
    pub fn from(source: Source) -> Self {
        Self {
            completeness: None,
            freshness: None,
            sample: None,
            agreement: None,
            ambiguity: None,
            judged: None,
            fitted: None,
            sources: vec![source],
            next_change: NextChange::NotScheduled,
            benefit: None,
        }
    }

    /// `present` of `needed` items are available.
    #[must_use]
    pub const fn complete(mut self, present: u64, needed: u64) -> Self {
        self.completeness = Some(Share { part: present, whole: needed });
        self
    }

    /// The data describe `as_of`; half of them have changed after `half_life`.
    #[must_use]
    pub const fn as_of(mut self, as_of: Timestamp, half_life: Duration) -> Self {
        self.freshness = Some(Freshness { as_of, half_life });
        self
    }

    /// A figure is based on a sample.
    #[must_use]
    pub const fn sampled(mut self, sample: Sample) -> Self {
        self.sample = Some(sample);
        self
    }

    /// `agreeing` of `checks` independent checks agree.
    #[must_use]
    pub const fn agreed(mut self, agreeing: u64, checks: u64) -> Self {
        self.agreement = Some(Share { part: agreeing, whole: checks });
        self
    }

    /// The best match scored `top`, the next `runner_up`.
    #[must_use]
    pub const fn matched(mut self, top: f64, runner_up: f64) -> Self {
        self.ambiguity = Some(Ambiguity { top, runner_up });
        self
    }

    /// A model that was fitted on judged replies gives this one the probability to be right. It is
    /// the confidence; `panoply contract calibration` judges it on other sets.
    #[must_use]
    pub const fn fitted(mut self, probability: f64) -> Self {
        self.fitted = Some(probability);
        self
    }

    /// Of `replies` of this kind that were judged, `right` were right. The confidence is then this
    /// rate: completeness, sample and margin say what a reply lacks, not how often it errs.
    /// `panoply contract calibration` compares it with judged replies of other sets.
    #[must_use]
    pub const fn judged(mut self, right: u64, replies: u64) -> Self {
        self.judged = Some(Share { part: right, whole: replies });
        self
    }

    /// Adds another source.
    #[must_use]
    pub fn and_source(mut self, source: Source) -> Self {
        self.sources.push(source);
        self
    }

    /// When the answer may change.
    #[must_use]
    pub const fn changes(mut self, next_change: NextChange) -> Self {
        self.next_change = next_change;
        self
    }

    /// Sets the benefit of the first suggestion.
    #[must_use]
    pub fn benefits(mut self, benefit: Benefit) -> Self {
        self.benefit = Some(benefit);
        self
    }
}

/// A part of a whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Count.
    pub part: u64,
    /// Total.
    pub whole: u64,
}

/// Age and half-life of data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Freshness {
    /// The time the data describe.
    pub as_of: Timestamp,
    /// The age at which the data have changed with probability 0.5.
    pub half_life: Duration,
}

/// The observations behind a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sample {
    /// `successes` in `n` trials.
    Proportion {
        /// Number of successes.
        successes: u64,
        /// Number of trials.
        n: u64,
    },
    /// A mean of `n` values with this coefficient of variation (deviation over mean).
    Mean {
        /// Number of values.
        n: u64,
        /// Standard deviation divided by the absolute mean.
        variation: f64,
    },
}

/// Margin between the best match and the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ambiguity {
    /// Score of the selected match.
    pub top: f64,
    /// Score of the runner-up.
    pub runner_up: f64,
}

/// A source of data.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// Name of the source.
    pub label: String,
    /// Reliability class.
    pub class: SourceClass,
    /// Weight relative to the other sources.
    pub weight: f64,
}

impl Source {
    /// A source of weight 1.
    pub fn new(class: SourceClass, label: impl Into<String>) -> Self {
        Self { label: label.into(), class, weight: 1.0 }
    }

    /// Sets the weight.
    #[must_use]
    pub const fn weighing(mut self, weight: f64) -> Self {
        self.weight = weight;
        self
    }
}

/// Reliability of a source, best first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Hash)]
pub enum SourceClass {
    /// The answer is the stored or given item itself.
    Exact,
    /// An authority's data whose checksum was verified.
    Verified,
    /// An authority's data.
    Authoritative,
    /// Stated by the user.
    UserSupplied,
    /// Computed or inferred from the above.
    Derived,
    /// Unverified.
    Unverified,
}

/// When an answer may change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NextChange {
    /// Not scheduled: valid until the data change.
    NotScheduled,
    /// At this time.
    At(Timestamp),
    /// The caller's own next action changes it.
    WithNextAction,
}

/// Benefit of following the first suggestion.
#[derive(Clone, Debug, PartialEq)]
pub struct Benefit {
    /// From 0 to 1, by the pack's own measure.
    pub value: f64,
    /// The affected measures.
    pub metrics: Vec<String>,
    /// Seconds of the user's time, in addition to the tool's duration.
    pub human_seconds: f64,
}
