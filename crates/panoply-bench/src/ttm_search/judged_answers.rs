//! Quality of answers on the evaluation questions, as `eval_run` measures it, with goals.

use panoply_ttm::answer::TAU;
use panoply_ttm::eval::sets::Bundled;
use panoply_ttm::eval::{Extractive, Metric, Plan};
use panoply_ttm::knowledge::Knowledge;
use panoply_ttm::papers::UserStoreError;
use panoply_ttm::search::Engine;

use crate::{Outcome, report};

const GOALS: [(Metric, Option<f64>); 6] = [
    (Metric::Factuality, Some(0.9)),
    (Metric::CitationPrecision, Some(0.95)),
    (Metric::FactRecall, None),
    (Metric::WithholdingRate, None),
    (Metric::WithholdingPrecision, None),
    // Questions without an answer must get none.
    (Metric::WithholdingRecall, Some(1.0)),
];

pub(super) fn run(engine: &Engine) -> Outcome {
    let knowledge = Knowledge::bundled()?;
    let questions = [Bundled::Held.questions()?, Bundled::Answers.questions()?].concat();
    let plan = Plan {
        set: "curated/held".to_owned(),
        questions,
        k: 10,
        metrics: GOALS.map(|(metric, _)| metric).to_vec(),
        seed: 0,
        limit: None,
    };
    let answers = Extractive { knowledge: &knowledge, engine, tau: TAU };
    let told = &mut |_, _| Ok::<(), UserStoreError>(());
    let run = panoply_ttm::eval::run(plan, engine, Some(&answers), told)?;
    report::heading("Answers", "on questions not used for tuning");
    for (measured, (_, goal)) in run.metrics.iter().zip(GOALS) {
        let value = measured.value.unwrap_or(f64::NAN);
        let name = format!("{} (of {})", measured.name, measured.of);
        let verdict = match goal {
            Some(goal) => format!("   goal {goal}: {}", report::verdict(value >= goal)),
            None => String::new(),
        };
        report::remark(&format!("{name:<46} {value:>10.3}{verdict}"));
    }
    Ok(())
}
