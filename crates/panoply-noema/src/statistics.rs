//! Statistics: counts, calibration, forecasts and simulation input.

use std::collections::{BTreeMap, HashSet};

use crate::card::{Hold, ReviewKind};
use crate::collection;
use crate::deck::{Deck, DeckOptions};
use crate::error::Result;
use crate::fsrs::fit::{self, FitError, LoggedReview, SimulationInput, StudiedCard};
use crate::fsrs::{Calendar, Memory, Micros, Parameters, Phase, Rating};
use crate::ids::{CardId, DeckId};
use crate::numbers::{len_to_f64, round_to, round_to_u32, to_f64, u64_to_f64};
use crate::store::{LaneCount, LogEntry, QuarterHour, StoreReader};

/// Interval from which a card is mature.
pub const MATURE_DAYS: i64 = 21;

/// Card counts of a deck and its subdecks.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counts {
    /// All cards that are not deleted.
    pub cards: i64,
    /// New cards available for study.
    pub new: i64,
    /// In learning steps.
    pub learning: i64,
    /// In review.
    pub review: i64,
    /// In learning or review and due today.
    pub due: i64,
    /// Suspended.
    pub suspended: i64,
    /// Buried.
    pub buried: i64,
    /// Drafts.
    pub drafts: i64,
}

impl Counts {
    fn add(&mut self, lane: &LaneCount) {
        self.cards += lane.cards;
        match (lane.hold, lane.phase) {
            (Hold::None, Phase::New) => self.new += lane.cards,
            (Hold::None, Phase::Learning | Phase::Relearning) => {
                self.learning += lane.cards;
                self.due += lane.due;
            }
            (Hold::None, Phase::Review) => {
                self.review += lane.cards;
                self.due += lane.due;
            }
            (Hold::Suspended, _) => self.suspended += lane.cards,
            (Hold::BuriedByHand | Hold::BuriedAsSibling, _) => self.buried += lane.cards,
            (Hold::Draft, _) => self.drafts += lane.cards,
        }
    }
}

impl std::iter::Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), |sum, counts| Self {
            cards: sum.cards + counts.cards,
            new: sum.new + counts.new,
            learning: sum.learning + counts.learning,
            review: sum.review + counts.review,
            due: sum.due + counts.due,
            suspended: sum.suspended + counts.suspended,
            buried: sum.buried + counts.buried,
            drafts: sum.drafts + counts.drafts,
        })
    }
}

/// Counts of every deck including its subdecks; due dates use the rollover of each deck.
pub fn counts(
    reader: &dyn StoreReader,
    decks: &[Deck],
    now: Micros,
) -> Result<BTreeMap<DeckId, Counts>> {
    let home = reader.learner_zone()?;
    let horizon =
        |deck: &Deck| collection::options_among(deck, decks).calendar(home).due_cutoff(now);
    let horizons: BTreeMap<DeckId, Micros> =
        decks.iter().map(|deck| (deck.id, horizon(deck))).collect();
    let mut own: BTreeMap<DeckId, Counts> = BTreeMap::new();
    for (deck, until) in &horizons {
        let mut counts = Counts::default();
        for lane in reader.lanes(*deck, *until)? {
            counts.add(&lane);
        }
        own.insert(*deck, counts);
    }
    for card in reader.ended_burials(now)? {
        let (Some(counts), Some(until)) = (own.get_mut(&card.deck), horizons.get(&card.deck))
        else {
            continue;
        };
        let due = i64::from(card.schedule.due <= *until);
        let free = LaneCount { hold: Hold::None, phase: card.schedule.phase, cards: 1, due };
        counts.add(&free);
        // The card was counted as buried; now it is counted as available.
        counts.cards -= 1;
        counts.buried -= 1;
    }
    let within = |root: &Deck| {
        let inside = decks.iter().filter(|deck| deck.name.is_within(&root.name));
        inside.filter_map(|deck| own.get(&deck.id)).copied().sum()
    };
    Ok(decks.iter().map(|deck| (deck.id, within(deck))).collect())
}

/// Calibration: predicted against observed recall of this learner.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Calibration {
    /// Reviews at least a day after the previous one.
    pub reviews: u64,
    /// Number of those recalled.
    pub recalled: u64,
    /// Mean predicted recall.
    pub predicted: f64,
    /// RMSE between predicted and observed recall over bins of similar predictions.
    pub rmse: f64,
}

/// Assumed RMSE of a learner without a log: default FSRS-6 weights on the srs-benchmark.
const PRIOR_RMSE: f64 = 0.08;
/// The prior weighs as much as this many reviews.
const PRIOR_WEIGHT: f64 = 400.0;

impl Calibration {
    /// The expected error: the learner's RMSE shrunk towards the prior.
    pub fn expected_error(&self) -> f64 {
        let reviews = u64_to_f64(self.reviews);
        let own = reviews / (reviews + PRIOR_WEIGHT);
        own * self.rmse + (1.0 - own) * PRIOR_RMSE
    }
}

/// Compares predicted with observed recall.
pub fn calibration(logs: &[Vec<LoggedReview>], options: &DeckOptions) -> Calibration {
    const BINS: usize = 20;
    let parameters = options.parameters.clone().unwrap_or_default();
    let mut bins = [(0_u64, 0_u64, 0.0_f64); BINS];
    for log in logs {
        let mut memory: Option<Memory> = None;
        for logged in log {
            let Some(rating) = Rating::from_ordinal(i64::from(logged.rating)) else { continue };
            memory = Some(match memory {
                None => Memory::first(&parameters, rating),
                Some(memory) => {
                    if logged.days > 0 {
                        let recall =
                            parameters.retrievability(f64::from(logged.days), memory.stability);
                        let index = (round_to_u32(recall * 20.0 - 0.5) as usize).min(BINS - 1);
                        if let Some((seen, recalled, predicted)) = bins.get_mut(index) {
                            *seen += 1;
                            *recalled += u64::from(rating.passed());
                            *predicted += recall;
                        }
                    }
                    memory.after(&parameters, rating, logged.days)
                }
            });
        }
    }
    let seen: u64 = bins.iter().map(|bin| bin.0).sum();
    if seen == 0 {
        return Calibration::default();
    }
    let squares: f64 = bins
        .iter()
        .filter(|bin| bin.0 > 0)
        .map(|(seen, recalled, predicted)| {
            u64_to_f64(*seen) * ((predicted - u64_to_f64(*recalled)) / u64_to_f64(*seen)).powi(2)
        })
        .sum();
    Calibration {
        reviews: seen,
        recalled: bins.iter().map(|bin| bin.1).sum(),
        predicted: bins.iter().map(|bin| bin.2).sum::<f64>() / u64_to_f64(seen),
        rmse: (squares / u64_to_f64(seen)).sqrt(),
    }
}

/// Review logs by card, oldest first, without manual changes.
pub fn review_logs(entries: &[LogEntry], calendar: Calendar) -> Vec<Vec<LoggedReview>> {
    let mut logs: BTreeMap<CardId, (Micros, Vec<LoggedReview>)> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.rating > 0) {
        let (last, log) = logs.entry(entry.card).or_insert((entry.at, Vec::new()));
        let days = if log.is_empty() { 0 } else { calendar.elapsed(*last, entry.at) };
        log.push(LoggedReview { rating: u32::from(entry.rating), days });
        *last = entry.at;
    }
    logs.into_values().map(|(_, log)| log).collect()
}

/// Study statistics over a range of days.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StudyStats {
    /// Number of reviews.
    pub reviews: u64,
    /// Reviews of young cards in review, and how many were recalled.
    pub young: (u64, u64),
    /// The same for mature cards.
    pub mature: (u64, u64),
    /// Cards reviewed for the first time.
    pub introduced: u64,
    /// Answer time in milliseconds.
    pub taken_ms: i64,
    /// Reviews by rating, from again to easy.
    pub ratings: [u64; 4],
    /// Reviews by day, counted back from today as 0.
    pub by_day: BTreeMap<i64, u64>,
    /// Reviews and recalled reviews by local hour.
    pub by_hour: BTreeMap<u8, (u64, u64)>,
}

/// Study statistics from `from` to `to`, of these decks or all.
pub fn study_stats(
    reader: &dyn StoreReader,
    decks: Option<&[DeckId]>,
    calendar: Calendar,
    (from, to): (Micros, Micros),
    now: Micros,
) -> Result<StudyStats> {
    let sums = match decks {
        // The store maintains these sums incrementally.
        None => reader.quarter_hours(from, to)?,
        Some(decks) => sums_per_entry(&reader.log(from, to, Some(decks))?),
    };
    let today = calendar.day(now);
    let mut study = StudyStats::default();
    for sum in &sums {
        study.reviews += sum.answers;
        study.taken_ms += sum.taken_ms;
        study.introduced += sum.introduced;
        for (all, of_these) in study.ratings.iter_mut().zip(sum.ratings) {
            *all += of_these;
        }
        study.young = (study.young.0 + sum.young.0, study.young.1 + sum.young.1);
        study.mature = (study.mature.0 + sum.mature.0, study.mature.1 + sum.mature.1);
        *study.by_day.entry(today - calendar.day(sum.start)).or_default() += sum.answers;
        let hourly = study.by_hour.entry(calendar.hour(sum.start)).or_default();
        *hourly = (hourly.0 + sum.answers, hourly.1 + sum.passed);
    }
    Ok(study)
}

/// One sum per log entry, at its own time.
fn sums_per_entry(entries: &[LogEntry]) -> Vec<QuarterHour> {
    let mut seen = HashSet::new();
    let answers = entries.iter().filter(|entry| entry.rating > 0);
    answers
        .map(|entry| {
            let passed = u64::from(entry.rating > 1);
            let in_review = matches!(entry.kind, ReviewKind::Review | ReviewKind::Early);
            let mature = i64::from(entry.last_interval) >= MATURE_DAYS;
            let counted = |this: bool| if this { (1, passed) } else { (0, 0) };
            let first = seen.insert(entry.card);
            QuarterHour {
                start: entry.at,
                answers: 1,
                passed,
                taken_ms: i64::from(entry.taken_ms),
                ratings: [1, 2, 3, 4].map(|rating| u64::from(entry.rating == rating)),
                young: counted(in_review && !mature),
                mature: counted(in_review && mature),
                introduced: u64::from(
                    first && entry.kind == ReviewKind::Learning && entry.last_interval == 0,
                ),
            }
        })
        .collect()
}

impl StudyStats {
    /// Consecutive days with study, up to today or yesterday.
    pub fn streak(&self) -> u32 {
        let first = i64::from(!self.by_day.contains_key(&0));
        let days = (first..).take_while(|day| self.by_day.contains_key(day)).count();
        u32::try_from(days).unwrap_or(u32::MAX)
    }

    /// Reviews of cards in review, and how many were recalled.
    pub fn in_review(&self) -> (u64, u64) {
        (self.young.0 + self.mature.0, self.young.1 + self.mature.1)
    }

    /// Mean seconds per review; a conservative default without a log.
    pub fn seconds_per_answer(&self) -> f64 {
        if self.reviews == 0 {
            return 10.0;
        }
        to_f64(self.taken_ms) / 1000.0 / u64_to_f64(self.reviews)
    }
}

/// The share recalled of a pair of reviews and recalled reviews; `None` without reviews.
pub fn share_recalled((reviews, recalled): (u64, u64)) -> Option<f64> {
    (reviews > 0).then(|| round_to(u64_to_f64(recalled) / u64_to_f64(reviews), 4))
}

/// Number of cards due on each of the next days; overdue cards count for today.
pub fn forecast(
    reader: &dyn StoreReader,
    decks: &[DeckId],
    calendar: Calendar,
    now: Micros,
    days: u32,
) -> Result<Vec<u32>> {
    let today = calendar.day(now);
    let until = calendar.start(today + i64::from(days)) - 1;
    let mut due = vec![0_u32; days as usize];
    for deck in decks {
        for due_at in reader.due_dates(Some(*deck), until)? {
            let day = usize::try_from((calendar.day(due_at) - today).max(0)).unwrap_or(usize::MAX);
            if let Some(sum) = due.get_mut(day) {
                *sum += 1;
            }
        }
    }
    Ok(due)
}

/// Expected answers of one day.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ExpectedDay {
    /// Mean of the simulations.
    pub mean: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end of the 95 % interval.
    pub high: f64,
}

/// Simulations per forecast.
const FORECAST_RUNS: u64 = 5;
/// Cards of a forecast that is simulated more than once.
const MANY_CARDS: usize = 20_000;

/// Expected answers of each day: reviews, lapses and new cards, by simulation. The interval covers
/// the chance of the answers and the difference between the simulations.
pub fn expected_days(
    parameters: &Parameters,
    retention: f64,
    input: &SimulationInput,
) -> Result<Vec<ExpectedDay>, FitError> {
    let cards = input.new_cards + input.studied.len();
    if cards == 0 {
        return Ok(vec![ExpectedDay::default(); input.days]);
    }
    let runs = if cards > MANY_CARDS { 1 } else { FORECAST_RUNS };
    let mut days: Vec<Vec<f64>> = vec![Vec::new(); input.days];
    for seed in 0..runs {
        let run = fit::simulate_with_seed(parameters, retention, input, seed)?;
        for (day, (reviews, new)) in days.iter_mut().zip(run.reviews.iter().zip(&run.new)) {
            day.push(f64::from(*reviews) + f64::from(*new));
        }
    }
    let expected = |counts: &Vec<f64>| {
        let count = len_to_f64(counts.len().max(1));
        let mean = counts.iter().sum::<f64>() / count;
        let variance =
            counts.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
        let spread = 1.96 * (variance + mean).sqrt();
        ExpectedDay { mean, low: (mean - spread).max(0.0), high: mean + spread }
    };
    Ok(days.iter().map(expected).collect())
}

/// The decks of a request: a deck with its subdecks, or all decks.
pub fn scope(reader: &dyn StoreReader, deck: Option<DeckId>) -> Result<(Vec<DeckId>, DeckOptions)> {
    let decks = reader.decks()?;
    let Some(id) = deck else {
        return Ok((decks.iter().map(|deck| deck.id).collect(), DeckOptions::default()));
    };
    let root = collection::deck(reader, id)?;
    let inside = decks.iter().filter(|deck| deck.name.is_within(&root.name)).map(|deck| deck.id);
    Ok((inside.collect(), collection::options_among(&root, &decks)))
}

/// Collects the simulation input of these decks.
pub fn simulation_input(
    reader: &dyn StoreReader,
    decks: &[DeckId],
    options: &DeckOptions,
    now: Micros,
    days: usize,
) -> Result<SimulationInput> {
    let calendar = options.calendar(reader.learner_zone()?);
    let today = calendar.day(now);
    let mut studied = Vec::new();
    for card in reader.answered_cards()? {
        let (Some(memory), Some(last)) = (card.schedule.memory, card.schedule.last_review) else {
            continue;
        };
        if !decks.contains(&card.deck) || card.hold == Hold::Suspended {
            continue;
        }
        studied.push(StudiedCard {
            stability: memory.stability,
            difficulty: memory.difficulty,
            days_ago: f64::from(calendar.elapsed(last, now)),
            due_in: to_f64(calendar.day(card.schedule.due) - today),
            lapses: card.lapses,
        });
    }
    let mut new = 0;
    for deck in decks {
        let lanes = reader.lanes(*deck, now)?;
        let free = lanes.iter().filter(|lane| lane.hold == Hold::None && lane.phase == Phase::New);
        new += free.map(|lane| lane.cards).sum::<i64>();
    }
    Ok(SimulationInput {
        days,
        new_cards: usize::try_from(new).unwrap_or_default(),
        new_per_day: options.new_per_day as usize,
        reviews_per_day: options.reviews_per_day as usize,
        maximum_interval: options.maximum_interval,
        studied,
    })
}
