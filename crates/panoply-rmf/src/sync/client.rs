//! HTTP client of the SEC's API: cursor pagination, rate limiting, `Retry-After`, and exponential
//! backoff on server failures.

use std::collections::HashSet;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Http, Response, Timer, TransportError};

/// Minimum interval between calls. The API allows 5,000 calls in 300 seconds.
pub const MIN_CALL_INTERVAL: Duration = Duration::from_millis(16);
/// Maximum page size.
const PAGE_SIZE: &str = "100";
/// Maximum attempts per call.
const MAX_ATTEMPTS: u32 = 6;
/// First backoff, doubled with each attempt. Used when the server names no `Retry-After`.
const INITIAL_BACKOFF: Duration = Duration::from_secs(1);
/// Maximum wait, whatever `Retry-After` says: the API's rate limit window is 300 seconds.
const MAX_BACKOFF: Duration = Duration::from_secs(330);

/// Why a sync failed.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// The API rejected the key.
    #[error("the SEC rejected the API key (status {status}); get a key at secopendata.sec.or.th")]
    InvalidKey {
        /// HTTP status.
        status: u16,
    },
    /// The API rejected the request.
    #[error("the SEC rejected `{path}` with status {status}")]
    Rejected {
        /// Request path.
        path: String,
        /// HTTP status.
        status: u16,
    },
    /// All attempts failed.
    #[error(
        "the SEC did not answer `{path}` after {tries} attempts: {last}; run the same command again to resume"
    )]
    RetriesExhausted {
        /// Request path.
        path: String,
        /// Number of attempts.
        tries: u32,
        /// Last failure.
        last: String,
    },
    /// The register of funds is not what the API documents.
    #[error("the response to `{path}` is not valid: {problem}; nothing was changed")]
    InvalidResponse {
        /// Request path.
        path: String,
        /// Description of the problem.
        problem: String,
    },
    /// Too many funds failed a check.
    #[error(
        "the fetched figures of {failed} of {total} funds failed a check, more than a tenth; nothing was changed. For example {example}"
    )]
    TooManyQuarantined {
        /// Number of funds that failed.
        failed: usize,
        /// Number of funds.
        total: usize,
        /// Code and reason of some of them.
        example: String,
    },
    /// Too many funds vanished.
    #[error(
        "{gone} of {before} funds are missing from the register, more than a tenth; nothing was changed"
    )]
    UniverseShrank {
        /// Number of funds before.
        before: usize,
        /// Number of funds that vanished.
        gone: usize,
    },
    /// The journal cannot be written.
    #[error("the sync journal could not be written: {0}")]
    Journal(std::io::Error),
}

impl SyncError {
    pub(super) const fn journal(error: std::io::Error) -> Self {
        Self::Journal(error)
    }
}

/// Envelope of a page. `items` is required: a body such as `{"message": "internal error"}` with
/// status 200 is a failure, not an empty page.
#[derive(Deserialize)]
struct Envelope {
    #[serde(default)]
    next_cursor: Option<String>,
    items: Vec<Map<String, Value>>,
}

/// API client with rate limit and retries.
pub(super) struct Client<'a> {
    http: &'a mut dyn Http,
    timer: &'a dyn Timer,
    last_call: Option<Duration>,
    calls: u64,
}

impl<'a> Client<'a> {
    pub(super) fn new(http: &'a mut dyn Http, timer: &'a dyn Timer) -> Self {
        Self { http, timer, last_call: None, calls: 0 }
    }

    pub(super) const fn calls(&self) -> u64 {
        self.calls
    }

    /// Fetches all pages at `path`.
    pub(super) fn rows(
        &mut self,
        path: &str,
        query: &[(&str, &str)],
    ) -> Result<Vec<Value>, SyncError> {
        let mut rows = Vec::new();
        let mut cursor = String::new();
        let mut seen = HashSet::new();
        loop {
            let mut arguments = query.to_vec();
            arguments.push(("page_size", PAGE_SIZE));
            if !cursor.is_empty() {
                arguments.push(("next_cursor", &cursor));
            }
            let Some(page) = self.page_with_retry(path, &arguments)? else { return Ok(rows) };
            let nothing_new = page.items.is_empty();
            rows.extend(page.items.into_iter().map(Value::Object));
            cursor = page.next_cursor.unwrap_or_default();
            // A repeated cursor would loop forever.
            if cursor.is_empty() || nothing_new || !seen.insert(cursor.clone()) {
                return Ok(rows);
            }
        }
    }

    /// Fetches one page; `None` is the end of the result. A body that is not a page (HTML, cut off,
    /// an error message with status 200) is retried like a server failure.
    fn page_with_retry(
        &mut self,
        path: &str,
        query: &[(&str, &str)],
    ) -> Result<Option<Envelope>, SyncError> {
        let mut last = String::new();
        for attempt in 0..MAX_ATTEMPTS {
            let backoff = INITIAL_BACKOFF * 2_u32.pow(attempt);
            match self.get_rate_limited(path, query) {
                Ok(response) => match response.status {
                    204 => return Ok(None),
                    200 => match serde_json::from_str(&response.body) {
                        Ok(page) => return Ok(Some(page)),
                        Err(error) => {
                            last = format!("the body is not a page of rows: {error}");
                            self.timer.sleep(backoff);
                        }
                    },
                    401 | 403 => return Err(SyncError::InvalidKey { status: response.status }),
                    // Rate limited. The API answers 421 where others answer 429.
                    421 | 429 => {
                        last = format!("status {}, rate limited", response.status);
                        let requested = response.retry_after.unwrap_or_default();
                        self.timer.sleep(requested.max(backoff).min(MAX_BACKOFF));
                    }
                    500.. => {
                        last = format!("status {}", response.status);
                        self.timer.sleep(response.retry_after.unwrap_or(backoff).min(MAX_BACKOFF));
                    }
                    status => return Err(SyncError::Rejected { path: path.to_owned(), status }),
                },
                Err(TransportError(why)) => {
                    last = why;
                    self.timer.sleep(backoff);
                }
            }
        }
        Err(SyncError::RetriesExhausted { path: path.to_owned(), tries: MAX_ATTEMPTS, last })
    }

    fn get_rate_limited(
        &mut self,
        path: &str,
        query: &[(&str, &str)],
    ) -> Result<Response, TransportError> {
        if let Some(last) = self.last_call {
            let passed = self.timer.elapsed().saturating_sub(last);
            if passed < MIN_CALL_INTERVAL {
                self.timer.sleep(MIN_CALL_INTERVAL.saturating_sub(passed));
            }
        }
        self.last_call = Some(self.timer.elapsed());
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
    struct FakeTimer {
        time: Cell<Duration>,
        slept: RefCell<Vec<Duration>>,
    }

    impl Timer for FakeTimer {
        fn elapsed(&self) -> Duration {
            self.time.get()
        }

        fn sleep(&self, wait: Duration) {
            self.slept.borrow_mut().push(wait);
            self.time.set(self.time.get() + wait);
        }
    }

    struct ScriptedHttp(VecDeque<Result<Response, TransportError>>, Vec<String>);

    impl Http for ScriptedHttp {
        fn get(&mut self, path: &str, query: &[(&str, &str)]) -> Result<Response, TransportError> {
            self.1.push(format!("{path}?{query:?}"));
            self.0
                .pop_front()
                .unwrap_or_else(|| Err(TransportError("the script has ended".to_owned())))
        }
    }

    fn response(status: u16, body: &str) -> Result<Response, TransportError> {
        Ok(Response { status, retry_after: None, body: body.to_owned() })
    }

    fn page(cursor: &str, items: &str) -> Result<Response, TransportError> {
        response(
            200,
            &format!(
                r#"{{"message":"success","page_size":100,"next_cursor":"{cursor}","items":[{items}]}}"#
            ),
        )
    }

    fn run(
        script: Vec<Result<Response, TransportError>>,
    ) -> (Result<Vec<Value>, SyncError>, Vec<Duration>, Vec<String>) {
        let timer = FakeTimer::default();
        let mut http = ScriptedHttp(script.into(), Vec::new());
        let result = Client::new(&mut http, &timer).rows("/x", &[("proj_id", "M1")]);
        (result, timer.slept.into_inner(), http.1)
    }

    #[test]
    fn pagination_follows_the_cursor_to_the_end() {
        let (rows, slept, requests) =
            run(vec![page("a", "{},{}"), page("b", "{}"), page("", "{}")]);
        assert_eq!(rows.unwrap().len(), 4);
        assert!(
            requests[1].contains("next_cursor\", \"a")
                && requests[2].contains("next_cursor\", \"b")
        );
        assert_eq!(slept, [MIN_CALL_INTERVAL, MIN_CALL_INTERVAL], "calls are rate limited");
    }

    #[test]
    fn repeated_cursor_ends_pagination() {
        let (rows, _, requests) = run(vec![page("a", "{}"), page("a", "{}"), page("a", "{}")]);
        assert_eq!((rows.unwrap().len(), requests.len()), (2, 2));
    }

    #[test]
    fn empty_result_is_not_an_error() {
        assert!(run(vec![response(204, "")]).0.unwrap().is_empty());
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
        let (rows, slept, _) = run(vec![limited(421, 7), limited(429, 90), page("", "{}")]);
        assert_eq!(rows.unwrap().len(), 1);
        assert_eq!(slept, [Duration::from_secs(7), Duration::from_secs(90)]);
        let (_, slept, _) = run(vec![limited(421, 0), limited(421, 1_000_000), page("", "{}")]);
        assert_eq!(
            slept,
            [INITIAL_BACKOFF, MAX_BACKOFF],
            "a zero or excessive Retry-After is clamped"
        );
    }

    #[test]
    fn server_failures_are_retried_with_exponential_backoff() {
        let (rows, slept, _) = run(vec![
            response(500, ""),
            Err(TransportError("reset".to_owned())),
            response(503, ""),
            page("", "{}"),
        ]);
        assert_eq!(rows.unwrap().len(), 1);
        let seconds: Vec<u64> = slept.iter().map(Duration::as_secs).collect();
        assert_eq!(seconds, [1, 2, 4]);
        let (rows, _, requests) = run((0..10).map(|_| response(502, "")).collect());
        assert_eq!(requests.len(), MAX_ATTEMPTS as usize);
        assert!(rows.unwrap_err().to_string().contains("502"));
    }

    #[test]
    fn permanent_failures_are_not_retried() {
        assert!(matches!(
            run(vec![response(401, "{}")]).0,
            Err(SyncError::InvalidKey { status: 401 })
        ));
        assert!(matches!(run(vec![response(403, "{}")]).0, Err(SyncError::InvalidKey { .. })));
        assert!(matches!(
            run(vec![response(400, "{}")]).0,
            Err(SyncError::Rejected { status: 400, .. })
        ));
    }

    #[test]
    fn body_that_is_not_a_page_is_retried() {
        for body in [
            "<html>",
            r#"{"message":"success","items":[{"a":1}"#,
            r#"{"message":"internal error, try later"}"#,
            r#"{"items":null}"#,
            r#"{"items":[1]}"#,
            "",
        ] {
            let (rows, slept, _) = run(vec![response(200, body), page("", "{}")]);
            assert_eq!(rows.unwrap().len(), 1, "body: {body}");
            assert_eq!(slept, [INITIAL_BACKOFF], "body: {body}");
            let (rows, ..) = run((0..10).map(|_| response(200, body)).collect());
            let told = rows.unwrap_err().to_string();
            assert!(told.contains("not a page") && told.contains("again to resume"), "{told}");
        }
    }
}
