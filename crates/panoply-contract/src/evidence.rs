//! What a handler knows about its own answer. Handlers give evidence; the kernel does the sums.

use std::time::Duration;

use jiff::Timestamp;

/// What is known about an answer. A part that does not apply stays `None` and costs nothing.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// How much of what was needed is there.
    pub completeness: Option<Share>,
    /// How old the data are, against how fast they age.
    pub freshness: Option<Freshness>,
    /// How many observations stand behind a figure.
    pub sample: Option<Sample>,
    /// How many independent checks agree.
    pub agreement: Option<Share>,
    /// How clearly the best match beat the next.
    pub ambiguity: Option<Ambiguity>,
    /// Where the data come from.
    pub sources: Vec<Source>,
    /// When the answer may change.
    pub next_change: NextChange,
    /// What following the first suggestion would bring, by the pack's own measure.
    pub benefit: Option<Benefit>,
}

impl Evidence {
    /// Evidence of an answer from one source; add what else is known.
    pub fn from(source: Source) -> Self {
        Self {
            completeness: None,
            freshness: None,
            sample: None,
            agreement: None,
            ambiguity: None,
            sources: vec![source],
            next_change: NextChange::NotScheduled,
            benefit: None,
        }
    }

    /// Some of what was needed is there: `present` of `needed`.
    #[must_use]
    pub const fn complete(mut self, present: u64, needed: u64) -> Self {
        self.completeness = Some(Share { part: present, whole: needed });
        self
    }

    /// The data are of `as_of` and lose half their worth in `half_life`.
    #[must_use]
    pub const fn as_of(mut self, as_of: Timestamp, half_life: Duration) -> Self {
        self.freshness = Some(Freshness { as_of, half_life });
        self
    }

    /// A figure rests on a sample.
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

    /// Another source took part.
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

    /// What the first suggestion would bring: `value` from 0 to 1, in which measures.
    #[must_use]
    pub fn benefits(mut self, benefit: Benefit) -> Self {
        self.benefit = Some(benefit);
        self
    }
}

/// A part of a whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// How many.
    pub part: u64,
    /// Of how many.
    pub whole: u64,
}

/// How old data are, and how fast they age.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Freshness {
    /// The moment the data describe.
    pub as_of: Timestamp,
    /// The age at which they are worth half.
    pub half_life: Duration,
}

/// The observations behind a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sample {
    /// `successes` in `n` trials.
    Proportion {
        /// How often it happened.
        successes: u64,
        /// How often it was tried.
        n: u64,
    },
    /// A mean of `n` values with this coefficient of variation (deviation over mean).
    Mean {
        /// How many values.
        n: u64,
        /// Standard deviation divided by the absolute mean.
        variation: f64,
    },
}

/// How clearly the best match beat the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ambiguity {
    /// The score of the one that was taken.
    pub top: f64,
    /// The score of the next best.
    pub runner_up: f64,
}

/// Where data come from.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// What it is called.
    pub label: String,
    /// How far it can be trusted.
    pub class: SourceClass,
    /// How much of the answer rests on it, relative to the other sources.
    pub weight: f64,
}

impl Source {
    /// The only source, or one of equals.
    pub fn new(class: SourceClass, label: impl Into<String>) -> Self {
        Self { label: label.into(), class, weight: 1.0 }
    }

    /// Gives the source a weight of its own.
    #[must_use]
    pub const fn weighing(mut self, weight: f64) -> Self {
        self.weight = weight;
        self
    }
}

/// How far a source can be trusted, best first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Hash)]
pub enum SourceClass {
    /// The answer is the stored or given thing itself: nothing to be wrong about.
    Exact,
    /// An authority's data whose checksum was verified.
    Verified,
    /// An authority's data.
    Authoritative,
    /// What the user says.
    UserSupplied,
    /// Computed or inferred from the above.
    Derived,
    /// Nobody checked it.
    Unverified,
}

/// When an answer may change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NextChange {
    /// Nothing is scheduled: it holds until somebody changes the data.
    NotScheduled,
    /// At this moment.
    At(Timestamp),
    /// The caller's own next action changes it.
    WithNextAction,
}

/// What following the first suggestion would bring.
#[derive(Clone, Debug, PartialEq)]
pub struct Benefit {
    /// From 0 to 1, by the pack's own measure.
    pub value: f64,
    /// What would move.
    pub metrics: Vec<String>,
    /// Seconds of a person's time it would take, beside the tool's.
    pub human_seconds: f64,
}
