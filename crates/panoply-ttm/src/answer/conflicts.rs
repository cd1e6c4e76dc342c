//! Reports conflicts between sources by quoting both.

use super::builder::AnswerBuilder;
use super::passages::{Passage, Section, of_entity, of_paper};
use super::question::ParsedQuestion;
use super::{Language, Role};
use crate::search::Kind;

/// Maximum number of conflicts reported.
const MAX_CONFLICTS: usize = 2;

/// Adds the conflicts about these entities that are relevant to the question.
pub(super) fn write(
    builder: &mut AnswerBuilder<'_>,
    question: &ParsedQuestion,
    entities: &[String],
) {
    let mut pairs: Vec<(Passage, Passage)> = Vec::new();
    if question.is_about_danger() {
        for entity in entities {
            pairs.extend(warning_against_null_finding(builder, entity));
        }
    }
    pairs.extend(conflicting_papers(builder));
    for (one, other) in pairs.into_iter().take(MAX_CONFLICTS) {
        let (first, second) = (one.text.trim_end_matches('.'), other.text.trim_end_matches('.'));
        let text = match builder.language {
            Language::Th => format!("“{first}” แต่ “{second}”"),
            Language::En => format!("“{first}”, but “{second}”"),
        };
        builder.write(text, &[one.clone(), other.clone()], Role::Contradiction);
    }
}

/// A source advises caution with a drug, and a cited paper found no significant effect.
fn warning_against_null_finding(
    builder: &AnswerBuilder<'_>,
    entity: &str,
) -> Option<(Passage, Passage)> {
    let catalog = builder.catalog;
    let denying = catalog.references.iter().find(|reference| {
        reference.entity == entity && reference.claim.en.contains("no significant")
    })?;
    let drug = catalog.drugs.iter().find(|drug| denying.claim.en.contains(&drug.name))?;
    if !builder.about.contains(&drug.name) && !builder.matched.contains(&drug.name) {
        return None;
    }
    let passages = of_entity(catalog, entity, builder.language);
    let warning = passages.iter().find(|passage| {
        passage.section == Section::Interactions
            && passage.verified
            && builder.citations.iter().any(|citation| citation.span == passage.text)
    })?;
    let denial = passages.iter().find(|passage| {
        passage.section == Section::Evidence && passage.text.contains(&denying.pmid)
    })?;
    Some((warning.clone(), denial.clone()))
}

/// Two cited papers on the same indication and subject, of which one reports no effect.
fn conflicting_papers(builder: &AnswerBuilder<'_>) -> Option<(Passage, Passage)> {
    let catalog = builder.catalog;
    let cited = builder.citations.iter().filter_map(|citation| catalog.paper(&citation.id));
    let cited: Vec<_> = cited.collect();
    for one in &cited {
        for other in &cited {
            let same = one.indications.iter().any(|icd| other.indications.contains(icd));
            let subject = one.herbs.iter().chain(&one.constituents).chain(&one.formulations);
            let shared = subject.clone().any(|id| {
                other.herbs.contains(id)
                    || other.constituents.contains(id)
                    || other.formulations.contains(id)
            });
            if same
                && shared
                && reports_no_effect(&other.finding.en)
                && !reports_no_effect(&one.finding.en)
            {
                let passages = (of_paper(one, builder.language), of_paper(other, builder.language));
                return Some(passages).filter(|(one, _)| one.kind == Kind::Paper);
            }
        }
    }
    None
}

/// Returns whether a finding states that there was no effect. A record without a stated result does
/// not count.
fn reports_no_effect(finding: &str) -> bool {
    let finding = finding.to_lowercase();
    [
        "did not differ",
        "no significant",
        "no difference",
        "no effect",
        "had no ",
        "did not reduce",
        "did not improve",
        "did not change",
    ]
    .iter()
    .any(|words| finding.contains(words))
}
