//! `plan-exam`: plans the study of a deck for an exam.

use jiff::civil::Date;
use panoply_contract::prelude::*;
use serde_json::json;

use super::service::{NoemaService, memory_evidence, now, with_next};
use super::specs::{ANALYSIS, per_minute};
use super::wire::{DeckId, timestamp};
use crate::deck::DeckOptions;
use crate::error::Result;
use crate::exam::{self, ExamGoal, ExamPlan};
use crate::fsrs::fit::SimulationInput;
use crate::fsrs::{Calendar, DAY, Micros};
use crate::ids;
use crate::numbers::{len_to_f64, round_to};
use crate::statistics::{self, Calibration, StudyStats};
use crate::store::StoreReader;

pub(super) const SPEC: ToolSpec = ToolSpec {
    name: "plan-exam",
    title: "Plan for an exam",
    description: Description {
        does: "Finds the desired retention, new cards a day and longest interval with which a deck is remembered on the day of an exam in the least time, by simulation of its cards.",
        when: "Use this when the learner names a date, what share to know and how many minutes a day there are. It changes nothing: `update-deck` applies the plan.",
        returns: "Returns the options, expected recall on the day with its interval, minutes and cards of each week, the backlog, and whether target and minutes are both met.",
        asks: &["My exam is on 1 June, I have 30 minutes a day", "Can I know 90 % of this deck in three weeks?"],
    },
    permissions: &["schedule:read"],
    response_time: ResponseTime::Slow,
    data: &["cards", "decks", "schedule", "reviews"],
    examples: &[
        Example { shows: "an exam in a month", params: r##"{"deckId": "deck_456", "date": "2026-12-15", "targetRecall": 0.9, "minutesPerDay": 20}"##, expect: Expect::Data(r##"{"days": 30}"##) },
        Example { shows: "a date in the past", params: r##"{"deckId": "deck_457", "date": "2020-01-01"}"##, expect: Expect::Error("BAD_DATE") },
    ],
    tags: &["scheduling", "learning", "analytics"],
    rate_limit: per_minute(30),
    ..ANALYSIS
}
.checked();

/// The exam.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Deck, with its subdecks.
    deck_id: DeckId,
    /// Date of the exam, such as `2026-12-15`; at most a year ahead.
    #[schemars(length(min = 10, max = 10))]
    date: String,
    /// Share of all cards to be recalled on that day.
    #[schemars(range(min = 0.5, max = 0.98))]
    #[serde(default = "default_target")]
    target_recall: f64,
    /// Minutes a day.
    #[schemars(range(min = 1.0, max = 1440.0))]
    #[serde(default = "default_minutes")]
    minutes_per_day: f64,
}

const fn default_target() -> f64 {
    0.9
}

const fn default_minutes() -> f64 {
    30.0
}

/// The plan.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Days until the exam.
    days: u32,
    /// Whether target and minutes are both met.
    feasible: bool,
    /// Desired retention to set.
    desired_retention: f64,
    /// New cards a day to set.
    new_per_day: u32,
    /// Longest interval to set, in days.
    maximum_interval_days: u32,
    /// Expected share of all cards recalled on the day of the exam.
    expected_recall: f64,
    /// Lower end of its 95 % interval.
    recall_low: f64,
    /// Upper end of its 95 % interval.
    recall_high: f64,
    /// Mean minutes a day.
    minutes_per_day: f64,
    /// Minutes of the busiest day.
    most_minutes: f64,
    /// Overdue cards now.
    backlog: u32,
    /// Days until the backlog is gone within the minutes; null if it never is.
    backlog_days: Option<u32>,
    /// One entry per week.
    weeks: Vec<Week>,
}

/// One week.
#[derive(Debug, Serialize, JsonSchema)]
struct Week {
    /// Start of the week.
    begins: String,
    /// New cards.
    new: u32,
    /// Reviews.
    reviews: u32,
    /// Minutes.
    minutes: f64,
}

pub(super) fn call(
    service: &NoemaService,
    params: Params,
    cx: &CallContext,
) -> Result<Reply<Output>, ToolError> {
    let now = now(cx);
    let deck = params.deck_id.domain();
    let state = service.read(|reader| DeckState::of(reader, deck, now))?;
    let (date, days) = days_until(&params.date, state.calendar.day(now))?;
    if state.cards() == 0 {
        return Err(ToolError::business("EMPTY_DECK", "the deck has no cards to study")
            .hint("add cards with `create-cards` or `import-package` first"));
    }
    let goal = ExamGoal {
        days,
        target: params.target_recall,
        minutes_per_day: params.minutes_per_day,
        seconds_per_answer: (state.pace.reviews >= 50).then(|| state.pace.seconds_per_answer()),
    };
    let parameters = state.options.parameters.clone().unwrap_or_default();
    let plan = exam::plan(&parameters, &state.input, &goal).map_err(|error| {
        ToolError::business("NOT_SIMULATED", error.to_string()).hint("choose a nearer date")
    })?;
    let output = output(&state, &goal, &plan, now);
    let text = format!(
        "{date} in {days} days: expected recall {:.0} % ({:.0} to {:.0} %) with {:.0} minutes and {} new cards a day{}.",
        output.expected_recall * 100.0,
        output.recall_low * 100.0,
        output.recall_high * 100.0,
        output.minutes_per_day,
        output.new_per_day,
        if output.feasible { "" } else { "; target and minutes cannot both be met" }
    );
    let apply = NextAction::new(
        "update-deck",
        json!({"deckId": params.deck_id.as_str(), "options": {
            "desiredRetention": output.desired_retention, "newPerDay": output.new_per_day.min(9999),
            "maximumIntervalDays": output.maximum_interval_days.max(1), "reviewsPerDay": 9999}}),
        "apply the plan, once the learner agrees",
    );
    let mut reply = Reply::new(output, text, memory_evidence(&state.calibration))
        .assuming("the learner studies every day");
    if goal.seconds_per_answer.is_none() {
        reply = reply.assuming("an answer takes as long as an average learner's");
    }
    Ok(with_next(reply, [apply]))
}

/// What the plan is computed from.
struct DeckState {
    input: SimulationInput,
    options: DeckOptions,
    calendar: Calendar,
    calibration: Calibration,
    pace: StudyStats,
    /// Cards due on each of the next seven days; overdue ones count for today.
    due: Vec<u32>,
}

impl DeckState {
    fn of(reader: &dyn StoreReader, deck: ids::DeckId, now: Micros) -> Result<Self> {
        let (decks, options) = statistics::scope(reader, Some(deck))?;
        let calendar = options.calendar(reader.learner_zone()?);
        let log = reader.log(now - 365 * DAY, now, Some(decks.as_slice()))?;
        let logs = statistics::review_logs(&log, calendar);
        Ok(Self {
            input: statistics::simulation_input(reader, &decks, &options, now, 1)?,
            calibration: statistics::calibration(&logs, &options),
            pace: statistics::study_stats(reader, None, calendar, (now - 30 * DAY, now), now)?,
            due: statistics::forecast(reader, &decks, calendar, now, 7)?,
            options,
            calendar,
        })
    }

    const fn cards(&self) -> usize {
        self.input.new_cards + self.input.studied.len()
    }
}

/// The date of the exam, and the days until then.
fn days_until(date: &str, today: i64) -> Result<(Date, u32), ToolError> {
    let bad_date = |message: String| {
        ToolError::validation("BAD_DATE", message)
            .hint("give a date from tomorrow to a year ahead, such as `2026-12-15`")
    };
    let parsed: Date = date.parse().map_err(|_| bad_date(format!("`{date}` is not a date")))?;
    let day = parsed.since(Date::constant(1970, 1, 1)).map_or(0, |span| i64::from(span.get_days()));
    let days = u32::try_from(day - today).ok().filter(|days| (1..=366).contains(days));
    let days = days.ok_or_else(|| bad_date(format!("{parsed} is not within the next year")))?;
    Ok((parsed, days))
}

fn output(state: &DeckState, goal: &ExamGoal, plan: &ExamPlan, now: Micros) -> Output {
    // Error of the memory model, and chance of the questions.
    let chance = plan.recall * (1.0 - plan.recall) / len_to_f64(state.cards());
    let spread = 1.96 * (state.calibration.expected_error().powi(2) + chance).sqrt();
    let backlog = state.due.first().copied().unwrap_or(0);
    let later: u32 = state.due.iter().skip(1).sum();
    let answers = goal.minutes_per_day * 60.0 / state.pace.seconds_per_answer();
    Output {
        days: goal.days,
        feasible: plan.feasible,
        desired_retention: plan.desired_retention,
        new_per_day: plan.new_per_day,
        maximum_interval_days: plan.maximum_interval,
        expected_recall: round_to(plan.recall, 4),
        recall_low: round_to((plan.recall - spread).max(0.0), 4),
        recall_high: round_to((plan.recall + spread).min(1.0), 4),
        minutes_per_day: round_to(plan.mean_minutes(), 1),
        most_minutes: round_to(plan.minutes.iter().copied().fold(0.0, f64::max), 1),
        backlog,
        backlog_days: exam::backlog_days(backlog, f64::from(later) / 6.0, answers),
        weeks: weeks(plan, state.calendar, now),
    }
}

fn weeks(plan: &ExamPlan, calendar: Calendar, now: Micros) -> Vec<Week> {
    let today = calendar.day(now);
    let starts = (0_usize..).step_by(7).take_while(|start| *start < plan.minutes.len());
    starts
        .map(|start| {
            let sum = |list: &[u32]| list.iter().skip(start).take(7).sum();
            let offset = i64::try_from(start).unwrap_or(0);
            Week {
                begins: timestamp(calendar.start(today + offset)),
                new: sum(&plan.new),
                reviews: sum(&plan.reviews),
                minutes: round_to(plan.minutes.iter().skip(start).take(7).sum(), 1),
            }
        })
        .collect()
}
