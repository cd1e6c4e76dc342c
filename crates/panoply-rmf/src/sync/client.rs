//! Talks to the API: pages by cursor, keeps the distance between calls, waits when told to, and
//! tries again when the server is at fault.

use std::collections::HashSet;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::{Http, NoAnswer, Pace, Response};

/// The API allows 5,000 calls in 300 seconds, at least this far apart.
pub const LEAST_GAP: Duration = Duration::from_millis(16);
/// The most rows of a page.
const PAGE_SIZE: &str = "100";
/// How often a call is tried.
const TRIES: u32 = 6;
/// How long to wait when the server says that it is too much but not how long. Doubled with
/// each try, as is the wait after a failure of the server.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// No wait is longer, whatever the server says: a window of the limit is 300 seconds.
const LONGEST_WAIT: Duration = Duration::from_secs(330);

/// Why a sync ended without figures.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// The key is wrong.
    #[error("the SEC refused the key (status {status}); get one at secopendata.sec.or.th")]
    Key {
        /// The status.
        status: u16,
    },
    /// The server does not like the question.
    #[error("the SEC refused `{path}` with status {status}")]
    Refused {
        /// What was asked for.
        path: String,
        /// The status.
        status: u16,
    },
    /// The server kept failing.
    #[error(
        "the SEC did not answer `{path}` after {tries} tries: {last}; run the same command again to go on from here"
    )]
    GaveUp {
        /// What was asked for.
        path: String,
        /// How often.
        tries: u32,
        /// What came last.
        last: String,
    },
    /// An answer that is none.
    #[error("the answer to `{path}` is not what the API promises: {problem}")]
    Unreadable {
        /// What was asked for.
        path: String,
        /// What is wrong.
        problem: String,
    },
    /// Too many funds are gone.
    #[error(
        "{gone} of {before} funds are gone from the register, more than a tenth; nothing was changed"
    )]
    Shrunk {
        /// How many there were.
        before: usize,
        /// How many are gone.
        gone: usize,
    },
    /// The journal cannot be written.
    #[error("what was fetched could not be kept: {0}")]
    Journal(std::io::Error),
}

impl SyncError {
    pub(super) const fn journal(error: std::io::Error) -> Self {
        Self::Journal(error)
    }
}

/// What the API wraps rows in.
#[derive(Deserialize)]
struct Envelope {
    #[serde(default)]
    next_cursor: Option<String>,
    #[serde(default)]
    items: Vec<Value>,
}

/// A patient client.
pub(super) struct Client<'a> {
    http: &'a mut dyn Http,
    pace: &'a dyn Pace,
    last_call: Option<Duration>,
    calls: u64,
}

impl<'a> Client<'a> {
    pub(super) fn new(http: &'a mut dyn Http, pace: &'a dyn Pace) -> Self {
        Self { http, pace, last_call: None, calls: 0 }
    }

    pub(super) const fn calls(&self) -> u64 {
        self.calls
    }

    /// Every row at `path`, over all pages.
    pub(super) fn rows(
        &mut self,
        path: &str,
        query: &[(&str, &str)],
    ) -> Result<Vec<Value>, SyncError> {
        let mut rows = Vec::new();
        let mut cursor = String::new();
        let mut seen = HashSet::new();
        loop {
            let mut question = query.to_vec();
            question.push(("page_size", PAGE_SIZE));
            if !cursor.is_empty() {
                question.push(("next_cursor", &cursor));
            }
            let response = self.patient_get(path, &question)?;
            // 204: nothing (more) there.
            if response.status == 204 || response.body.trim().is_empty() {
                return Ok(rows);
            }
            let page: Envelope = serde_json::from_str(&response.body).map_err(|error| {
                SyncError::Unreadable { path: path.to_owned(), problem: error.to_string() }
            })?;
            let nothing_new = page.items.is_empty();
            rows.extend(page.items);
            cursor = page.next_cursor.unwrap_or_default();
            // A cursor that comes back would go round for ever.
            if cursor.is_empty() || nothing_new || !seen.insert(cursor.clone()) {
                return Ok(rows);
            }
        }
    }

    fn patient_get(&mut self, path: &str, query: &[(&str, &str)]) -> Result<Response, SyncError> {
        let mut last = String::new();
        for attempt in 0..TRIES {
            let backoff = FIRST_WAIT * 2_u32.pow(attempt);
            match self.spaced_get(path, query) {
                Ok(response) => match response.status {
                    200 | 204 => return Ok(response),
                    401 | 403 => return Err(SyncError::Key { status: response.status }),
                    // Over the limit. The API says 421 where others say 429.
                    421 | 429 => {
                        last = format!("status {}, over the limit", response.status);
                        let told = response.retry_after.unwrap_or_default();
                        self.pace.sleep(told.max(backoff).min(LONGEST_WAIT));
                    }
                    500.. => {
                        last = format!("status {}", response.status);
                        self.pace.sleep(response.retry_after.unwrap_or(backoff).min(LONGEST_WAIT));
                    }
                    status => return Err(SyncError::Refused { path: path.to_owned(), status }),
                },
                Err(NoAnswer(why)) => {
                    last = why;
                    self.pace.sleep(backoff);
                }
            }
        }
        Err(SyncError::GaveUp { path: path.to_owned(), tries: TRIES, last })
    }

    fn spaced_get(&mut self, path: &str, query: &[(&str, &str)]) -> Result<Response, NoAnswer> {
        if let Some(last) = self.last_call {
            let passed = self.pace.elapsed().saturating_sub(last);
            if passed < LEAST_GAP {
                self.pace.sleep(LEAST_GAP.saturating_sub(passed));
            }
        }
        self.last_call = Some(self.pace.elapsed());
        self.calls += 1;
        self.http.get(path, query)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::collections::VecDeque;

    use super::*;

    #[derive(Default)]
    struct Watch {
        time: Cell<Duration>,
        slept: RefCell<Vec<Duration>>,
    }

    impl Pace for Watch {
        fn elapsed(&self) -> Duration {
            self.time.get()
        }

        fn sleep(&self, wait: Duration) {
            self.slept.borrow_mut().push(wait);
            self.time.set(self.time.get() + wait);
        }
    }

    struct Script(VecDeque<Result<Response, NoAnswer>>, Vec<String>);

    impl Http for Script {
        fn get(&mut self, path: &str, query: &[(&str, &str)]) -> Result<Response, NoAnswer> {
            self.1.push(format!("{path}?{query:?}"));
            self.0.pop_front().unwrap_or_else(|| Err(NoAnswer("the script has ended".to_owned())))
        }
    }

    fn said(status: u16, body: &str) -> Result<Response, NoAnswer> {
        Ok(Response { status, retry_after: None, body: body.to_owned() })
    }

    fn page(cursor: &str, items: &str) -> Result<Response, NoAnswer> {
        said(
            200,
            &format!(
                r#"{{"message":"success","page_size":100,"next_cursor":"{cursor}","items":[{items}]}}"#
            ),
        )
    }

    fn run(
        script: Vec<Result<Response, NoAnswer>>,
    ) -> (Result<Vec<Value>, SyncError>, Vec<Duration>, Vec<String>) {
        let watch = Watch::default();
        let mut http = Script(script.into(), Vec::new());
        let result = Client::new(&mut http, &watch).rows("/x", &[("proj_id", "M1")]);
        (result, watch.slept.into_inner(), http.1)
    }

    #[test]
    fn pagination_follows_the_cursor_to_the_end() {
        let (rows, slept, asked) = run(vec![page("a", "1,2"), page("b", "3"), page("", "4")]);
        assert_eq!(rows.unwrap().len(), 4);
        assert!(asked[1].contains("next_cursor\", \"a") && asked[2].contains("next_cursor\", \"b"));
        assert_eq!(slept, [LEAST_GAP, LEAST_GAP], "calls keep their distance");
    }

    #[test]
    fn repeated_cursor_ends_pagination() {
        let (rows, _, asked) = run(vec![page("a", "1"), page("a", "2"), page("a", "3")]);
        assert_eq!((rows.unwrap().len(), asked.len()), (2, 2));
    }

    #[test]
    fn empty_result_is_not_an_error() {
        assert!(run(vec![said(204, "")]).0.unwrap().is_empty());
        assert!(run(vec![page("", "")]).0.unwrap().is_empty());
        assert!(run(vec![page("more", "")]).0.unwrap().is_empty());
    }

    #[test]
    fn retry_after_is_respected_up_to_the_maximum() {
        let limited = |status, seconds: u64| {
            Ok(Response {
                status,
                retry_after: Some(Duration::from_secs(seconds)),
                body: String::new(),
            })
        };
        let (rows, slept, _) = run(vec![limited(421, 7), limited(429, 90), page("", "1")]);
        assert_eq!(rows.unwrap().len(), 1);
        assert_eq!(slept, [Duration::from_secs(7), Duration::from_secs(90)]);
        let (_, slept, _) = run(vec![limited(421, 0), limited(421, 1_000_000), page("", "1")]);
        assert_eq!(slept, [FIRST_WAIT, LONGEST_WAIT], "a useless answer is not believed");
    }

    #[test]
    fn server_failures_are_retried_with_exponential_backoff() {
        let (rows, slept, _) = run(vec![
            said(500, ""),
            Err(NoAnswer("reset".to_owned())),
            said(503, ""),
            page("", "1"),
        ]);
        assert_eq!(rows.unwrap().len(), 1);
        let seconds: Vec<u64> = slept.iter().map(Duration::as_secs).collect();
        assert_eq!(seconds, [1, 2, 4]);
        let (rows, _, asked) = run((0..10).map(|_| said(502, "")).collect());
        assert_eq!(asked.len(), TRIES as usize);
        assert!(rows.unwrap_err().to_string().contains("502"));
    }

    #[test]
    fn permanent_failures_are_not_retried() {
        assert!(matches!(run(vec![said(401, "{}")]).0, Err(SyncError::Key { status: 401 })));
        assert!(matches!(run(vec![said(403, "{}")]).0, Err(SyncError::Key { .. })));
        assert!(matches!(
            run(vec![said(400, "{}")]).0,
            Err(SyncError::Refused { status: 400, .. })
        ));
        assert!(matches!(run(vec![said(200, "<html>")]).0, Err(SyncError::Unreadable { .. })));
    }
}
