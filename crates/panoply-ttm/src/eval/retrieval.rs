//! Rankings of an engine for annotated questions, with their metrics.

use std::collections::BTreeMap;

use serde::Serialize;

use super::measures::{ndcg_at, recall_at, reciprocal_rank};
use super::sets::JudgedQuestion;
use crate::arithmetic::round4;
use crate::papers::UserStoreError;
use crate::search::{Engine, SearchQuery, Tuning};

/// Rankings for a set of questions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Retrieval {
    /// Number of hits requested.
    pub k: usize,
    /// Questions in the order of the set.
    pub asked: Vec<RankedQuestion>,
}

/// A question with its ranking.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankedQuestion {
    /// The question.
    #[serde(flatten)]
    pub question: JudgedQuestion,
    /// Ranking, best first. Unjudged ids are included and keep their rank.
    pub ranked: Vec<Ranked>,
    /// Metrics; `None` for a question without an answer.
    pub figures: Option<Figures>,
}

/// A ranked hit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranked {
    /// Document id.
    pub id: String,
    /// Score from 0 to 1, rounded to four digits.
    pub score: f64,
}

/// Metrics of one ranking, or means over several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Number of questions.
    pub questions: usize,
    /// R@k.
    pub recall: f64,
    /// (Mean) reciprocal rank.
    pub reciprocal_rank: f64,
    /// nDCG@k.
    pub ndcg: f64,
}

/// Ranks `k` hits for each question.
pub fn retrieval(
    engine: &Engine,
    tuning: &Tuning,
    questions: Vec<JudgedQuestion>,
    k: usize,
) -> Result<Retrieval, UserStoreError> {
    let ask = |question| ask(engine, tuning, question, k);
    Ok(Retrieval { k, asked: questions.into_iter().map(ask).collect::<Result<_, _>>()? })
}

/// Ranks `k` hits for one question.
pub fn ask(
    engine: &Engine,
    tuning: &Tuning,
    question: JudgedQuestion,
    k: usize,
) -> Result<RankedQuestion, UserStoreError> {
    let ranked = ranking(engine, tuning, &question.query, k)?;
    let figures = figures(&question, &ranked, k);
    Ok(RankedQuestion { question, ranked, figures })
}

fn ranking(
    engine: &Engine,
    tuning: &Tuning,
    query: &str,
    k: usize,
) -> Result<Vec<Ranked>, UserStoreError> {
    let question = SearchQuery { top: k, ..SearchQuery::new(query) };
    let hits = engine.search_with(&question, tuning)?.hits;
    let ranked = hits
        .iter()
        .map(|hit| Ranked { id: hit.document.id.clone(), score: round4(f64::from(hit.score)) });
    Ok(ranked.collect())
}

fn figures(question: &JudgedQuestion, ranked: &[Ranked], k: usize) -> Option<Figures> {
    let ranked: Vec<&str> = ranked.iter().map(|one| one.id.as_str()).collect();
    let relevant: Vec<&str> = question.relevant.iter().map(String::as_str).collect();
    (!relevant.is_empty()).then(|| Figures {
        questions: 1,
        recall: recall_at(k, &ranked, &relevant),
        reciprocal_rank: reciprocal_rank(&ranked, &relevant),
        ndcg: ndcg_at(k, &ranked, &relevant),
    })
}

impl Retrieval {
    /// Returns the means over all answerable questions.
    pub fn mean(&self) -> Figures {
        Figures::mean(self.asked.iter().filter_map(|asked| asked.figures))
    }

    /// Returns the same rankings truncated to `k` hits.
    pub fn first(&self, k: usize) -> Self {
        Self { k, asked: self.asked.iter().map(|asked| asked.first(k)).collect() }
    }

    /// Returns the means by language.
    pub fn by_lang(&self) -> BTreeMap<&str, Figures> {
        self.by(|question| &question.lang)
    }

    /// Returns the means by kind of question.
    pub fn by_kind(&self) -> BTreeMap<&str, Figures> {
        self.by(|question| &question.kind)
    }

    fn by<'a>(
        &'a self,
        group: impl Fn(&'a JudgedQuestion) -> &'a str,
    ) -> BTreeMap<&'a str, Figures> {
        let mut groups: BTreeMap<&str, Vec<Figures>> = BTreeMap::new();
        for asked in &self.asked {
            groups.entry(group(&asked.question)).or_default().extend(asked.figures);
        }
        groups.retain(|_, figures| !figures.is_empty());
        groups.into_iter().map(|(name, all)| (name, Figures::mean(all.into_iter()))).collect()
    }
}

impl RankedQuestion {
    /// Returns the same ranking truncated to `k` hits.
    pub fn first(&self, k: usize) -> Self {
        let ranked: Vec<Ranked> = self.ranked.iter().take(k).cloned().collect();
        let figures = figures(&self.question, &ranked, k);
        Self { question: self.question.clone(), ranked, figures }
    }

    /// Returns the relevant ids that are not in the ranking.
    pub fn missed(&self) -> Vec<&str> {
        let found = |id: &str| self.ranked.iter().any(|one| one.id == id);
        let relevant = self.question.relevant.iter().map(String::as_str);
        relevant.filter(|id| !found(id)).collect()
    }
}

impl Figures {
    fn mean(all: impl Iterator<Item = Self>) -> Self {
        let sum = all.fold(Self::default(), |sum, one| Self {
            questions: sum.questions + one.questions,
            recall: sum.recall + one.recall,
            reciprocal_rank: sum.reciprocal_rank + one.reciprocal_rank,
            ndcg: sum.ndcg + one.ndcg,
        });
        let share = |sum_of: f64| sum_of / sum.questions.max(1) as f64;
        Self {
            questions: sum.questions,
            recall: share(sum.recall),
            reciprocal_rank: share(sum.reciprocal_rank),
            ndcg: share(sum.ndcg),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sets::parse;
    use super::*;

    fn run(rankings: &[(&str, &[&str])], k: usize) -> Retrieval {
        let asked = rankings.iter().map(|(line, ids)| {
            let question = parse(line).unwrap().remove(0);
            let ranked: Vec<Ranked> =
                ids.iter().map(|id| Ranked { id: (*id).to_owned(), score: 0.5 }).collect();
            let figures = figures(&question, &ranked, k);
            RankedQuestion { question, ranked, figures }
        });
        Retrieval { k, asked: asked.collect() }
    }

    #[test]
    fn means_exclude_unanswerable_questions_and_are_grouped() {
        let run = run(
            &[
                (r#"{"query": "ขิง", "kind": "name", "relevant": ["a", "b"]}"#, &["x", "a"]),
                (r#"{"query": "ginger", "kind": "name", "relevant": ["a"]}"#, &["a"]),
                (r#"{"query": "stocks", "kind": "unanswerable", "relevant": []}"#, &["a"]),
            ],
            2,
        );
        // R: 1/2 and 1; ranks: 1/2 and 1.
        let mean = run.mean();
        assert_eq!((mean.questions, mean.recall, mean.reciprocal_rank), (2, 0.75, 0.75));
        let langs = run.by_lang();
        assert_eq!(langs.keys().copied().collect::<Vec<_>>(), ["en", "th"]);
        assert!((langs["th"].recall - 0.5).abs() < 1e-9);
        let kinds: Vec<&str> = run.by_kind().into_keys().collect();
        assert_eq!(kinds, ["name"], "nothing can be found for the unanswerable");
        assert_eq!(run.asked[0].missed(), ["b"]);
        // Of the first hit alone only the second question is answered: R@1 0 and 1.
        let first = run.first(1).mean();
        assert_eq!((first.recall, first.reciprocal_rank), (0.5, 0.5));
    }
}
