//! Persistence of papers, documents, jobs and evaluation reports.
//!
//! The traits are [`PaperStore`](crate::papers::PaperStore), [`UserStore`](crate::search::UserStore),
//! [`DocumentStore`](crate::user_data::DocumentStore), [`JobStore`](crate::jobs::JobStore) and
//! [`ReportStore`](crate::eval::ReportStore); the other modules depend on these only. SQL is in
//! [`sqlite`].

pub mod sqlite;

pub use self::sqlite::{SqliteReportStore, SqliteUserStore};
