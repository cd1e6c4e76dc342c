//! How good search and answers are, on questions with judged answers.
//!
//! Questions come in [`sets`]: those that ship and those that a user brings. [`run()`] asks them
//! and measures what comes back; [`keep`] puts the report on a [shelf](ReportShelf) and says what
//! changed. Nothing here tunes anything: `data/ttm/eval/README.md` says which questions may, and a
//! test sees to it that those never judge.

mod answers;
mod compare;
mod extractive;
mod markdown;
pub mod measures;
mod metric;
mod retrieval;
mod run;
pub mod sets;
mod shelf;

pub use self::answers::{Answers, Cited, Given, JudgedAnswer, Stated, Verdict};
pub use self::compare::{Change, Summary};
pub use self::extractive::Extractive;
pub use self::metric::{DEEPEST, Metric, UnknownMetric};
pub use self::retrieval::{Asked, Figures, Ranked, Retrieval, ask, retrieval};
pub use self::run::{Bucket, Measured, Plan, Report, Row, fingerprint, run};
pub use self::shelf::{
    ADDRESS, Kept, MOST_BYTES, MOST_REPORTS, MemoryReports, ReportShelf, ShelfFailed, address, keep,
};
