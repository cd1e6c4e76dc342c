//! Exam plans: deck options with which the expected recall on a date reaches a target in the least
//! time, found by simulation.

use crate::fsrs::Parameters;
use crate::fsrs::fit::{self, FitError, SimulationInput, SimulationResult};
use crate::numbers::{len_to_f64, round_to_u32};

/// What the learner wants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExamGoal {
    /// Days until the exam.
    pub days: u32,
    /// Expected share of all cards recalled on the day of the exam.
    pub target: f64,
    /// Minutes a day.
    pub minutes_per_day: f64,
    /// The learner's seconds per answer; `None` for those of an average learner.
    pub seconds_per_answer: Option<f64>,
}

/// Options and the days that follow from them.
#[derive(Clone, Debug, PartialEq)]
pub struct ExamPlan {
    /// Desired retention until the exam.
    pub desired_retention: f64,
    /// New cards a day, so that all are learnt in time.
    pub new_per_day: u32,
    /// Longest interval in days.
    pub maximum_interval: u32,
    /// Expected share of all cards recalled on the day of the exam.
    pub recall: f64,
    /// Minutes of each day.
    pub minutes: Vec<f64>,
    /// Reviews of each day.
    pub reviews: Vec<u32>,
    /// New cards of each day.
    pub new: Vec<u32>,
    /// Whether target and minutes are both met.
    pub feasible: bool,
}

impl ExamPlan {
    /// Mean minutes a day.
    pub fn mean_minutes(&self) -> f64 {
        self.minutes.iter().sum::<f64>() / len_to_f64(self.minutes.len().max(1))
    }
}

/// Retentions that are tried.
const RETENTIONS: [f64; 11] = [0.70, 0.75, 0.80, 0.83, 0.86, 0.88, 0.90, 0.92, 0.94, 0.96, 0.98];

/// Finds the plan with the least time that reaches the target within the minutes. If there is none:
/// the one with the highest recall within the minutes, or else the one with the least time.
pub fn plan(
    parameters: &Parameters,
    input: &SimulationInput,
    goal: &ExamGoal,
) -> Result<ExamPlan, FitError> {
    let total = input.new_cards + input.studied.len();
    let days = goal.days.max(1);
    // The last days are for reviews: a card that is learnt on the eve is hardly remembered.
    let reserve = (days / 6).clamp(1, 14).min(days - 1);
    let new_per_day = input.new_cards.div_ceil((days - reserve).max(1) as usize);
    let mut best: Option<ExamPlan> = None;
    // A cap brings every card back before the exam.
    for maximum_interval in [input.maximum_interval, days.div_ceil(2).max(2)] {
        for retention in RETENTIONS {
            let input = SimulationInput {
                days: days as usize,
                new_per_day,
                reviews_per_day: 9999,
                maximum_interval: maximum_interval.min(input.maximum_interval),
                ..input.clone()
            };
            let simulated = fit::simulate(parameters, retention, &input)?;
            let candidate = ExamPlan {
                desired_retention: retention,
                new_per_day: u32::try_from(new_per_day).unwrap_or(u32::MAX),
                maximum_interval: input.maximum_interval,
                recall: simulated.remembered.last().copied().unwrap_or(0.0)
                    / len_to_f64(total.max(1)),
                minutes: minutes(&simulated, goal.seconds_per_answer),
                reviews: simulated.reviews,
                new: simulated.new,
                feasible: false,
            };
            let feasible =
                candidate.recall >= goal.target && candidate.mean_minutes() <= goal.minutes_per_day;
            let candidate = ExamPlan { feasible, ..candidate };
            if best.as_ref().is_none_or(|best| is_better(&candidate, best, goal)) {
                best = Some(candidate);
            }
        }
    }
    best.ok_or_else(FitError::nothing)
}

fn is_better(one: &ExamPlan, other: &ExamPlan, goal: &ExamGoal) -> bool {
    let within = |plan: &ExamPlan| plan.mean_minutes() <= goal.minutes_per_day;
    match (one.feasible, other.feasible) {
        (true, true) => one.mean_minutes() < other.mean_minutes(),
        (true, false) => true,
        (false, true) => false,
        (false, false) => match (within(one), within(other)) {
            (true, true) => one.recall > other.recall,
            (true, false) => true,
            (false, true) => false,
            (false, false) => one.mean_minutes() < other.mean_minutes(),
        },
    }
}

/// Minutes of each day, at the learner's own pace if it is known.
fn minutes(simulated: &SimulationResult, seconds_per_answer: Option<f64>) -> Vec<f64> {
    let answers: u32 = simulated.reviews.iter().chain(&simulated.new).sum();
    let total: f64 = simulated.minutes.iter().sum();
    let pace = match seconds_per_answer {
        Some(seconds) if answers > 0 && total > 0.0 => {
            seconds / (total * 60.0 / f64::from(answers))
        }
        _ => 1.0,
    };
    simulated.minutes.iter().map(|minutes| minutes * pace).collect()
}

/// The days after which the backlog is gone if `per_day` overdue cards are answered a day beside
/// those that come due; `None` if it never is.
pub fn backlog_days(overdue: u32, due_per_day: f64, answers_per_day: f64) -> Option<u32> {
    let spare = answers_per_day - due_per_day;
    (spare > 0.0).then(|| round_to_u32((f64::from(overdue) / spare).ceil()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fsrs::fit::StudiedCard;

    fn input(new_cards: usize, studied: usize) -> SimulationInput {
        let card =
            StudiedCard { stability: 8.0, difficulty: 5.0, days_ago: 4.0, due_in: 4.0, lapses: 0 };
        SimulationInput {
            days: 60,
            new_cards,
            new_per_day: 20,
            reviews_per_day: 9999,
            maximum_interval: 36_500,
            studied: vec![card; studied],
        }
    }

    fn goal(target: f64, minutes_per_day: f64) -> ExamGoal {
        ExamGoal { days: 60, target, minutes_per_day, seconds_per_answer: None }
    }

    #[test]
    fn all_new_cards_are_learnt_before_the_exam() {
        let plan = plan(&Parameters::default(), &input(300, 100), &goal(0.85, 60.0)).unwrap();
        assert_eq!(plan.new.iter().sum::<u32>(), 300);
        assert!(plan.new.iter().rev().take(5).all(|new| *new == 0), "{:?}", plan.new);
        assert!(plan.feasible && plan.recall >= 0.85, "{}", plan.recall);
    }

    #[test]
    fn higher_target_takes_more_time_and_short_time_is_infeasible() {
        let parameters = Parameters::default();
        let run =
            |target, minutes| plan(&parameters, &input(300, 100), &goal(target, minutes)).unwrap();
        assert!(run(0.93, 600.0).mean_minutes() > run(0.80, 600.0).mean_minutes());
        let hurried = run(0.95, 1.0);
        assert!(!hurried.feasible && hurried.recall < 0.95);
    }

    #[test]
    fn backlog_shrinks_only_with_spare_answers() {
        assert_eq!(backlog_days(100, 30.0, 50.0), Some(5));
        assert_eq!(backlog_days(100, 50.0, 50.0), None);
    }
}
