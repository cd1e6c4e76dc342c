//! Evaluation of search and answers on annotated questions.
//!
//! [`sets`] has the bundled and user-supplied questions. [`run()`] executes a plan; [`save`] stores
//! the report in a [`ReportStore`] and compares it with the previous one. Nothing here tunes
//! parameters: `data/ttm/eval/README.md` says which questions may be used for tuning, and a test
//! keeps them out of the test sets.

mod answers;
mod compare;
mod extractive;
mod markdown;
pub mod measures;
mod metric;
mod report_store;
mod retrieval;
mod run;
pub mod sets;

pub use self::answers::{
    AnswerStatement, Answers, GivenAnswer, JudgedAnswer, StatementCitation, Verdict,
};
pub use self::compare::{Change, Summary};
pub use self::extractive::Extractive;
pub use self::metric::{MAX_DEPTH, Metric, UnknownMetric};
pub use self::report_store::{
    ADDRESS, MAX_REPORTS, MAX_TOTAL_BYTES, MemoryReportStore, ReportStore, ReportStoreError,
    StoredReport, address, save,
};
pub use self::retrieval::{Figures, Ranked, RankedQuestion, Retrieval, ask, retrieval};
pub use self::run::{Bucket, Measured, Plan, Report, Row, fingerprint, run};
