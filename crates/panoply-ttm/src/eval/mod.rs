//! How good search and answers are, on questions with judged answers.
//!
//! Questions come in [`sets`]: those that ship and those that a user brings. [`run()`] asks them
//! and measures what comes back; [`save`] puts the report on a [shelf](ReportShelf) and says what
//! changed. Nothing here tunes anything: `data/ttm/eval/README.md` says which questions may, and a
//! test sees to it that those never judge.

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
