//! Handlers that fail, panic, hang or return invalid data: always a structured error.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use panoply_contract::audit::{AuditFilter, MemoryAuditLog};
use panoply_contract::kernel::{Kernel, KernelServices, Settings};
use panoply_contract::observe::{CallFinished, CallStarted, Observer};
use panoply_contract::prelude::*;
use panoply_contract::testing::{FixedClock, SAMPLE_SPEC, call_with, noon};
use serde_json::json;

use crate::tools::*;

#[tokio::test]
async fn a_panic_becomes_a_system_error_without_the_panic_message() {
    fn panics(_: &Params, _: &CallContext, _: Output) -> Result<Reply<Output>, ToolError> {
        panic!("secret: /etc/passwd")
    }
    for response_time in [ResponseTime::Fast, ResponseTime::Medium] {
        let (kernel, _) = kernel_with(ToolSpec { response_time, ..SAMPLE_SPEC }, panics);
        let reply = call(&kernel, json!({"text": "x"})).await;
        assert_eq!(error(&reply)["code"], "INTERNAL_ERROR");
        assert_eq!(error(&reply)["class"], "system");
        assert!(!format!("{reply:?}").contains("secret"), "{reply:?}");
        assert_eq!(
            meta(&reply, "panoply/metadata")["traceId"],
            "4bf92f35-77b3-4da6-a3ce-929d0e0e4736"
        );
        // The kernel remains usable.
        assert_eq!(error(&call(&kernel, json!({"text": "x"})).await)["code"], "INTERNAL_ERROR");
    }
}

/// Never returns.
struct Hangs(&'static ToolSpec);

impl Tool for Hangs {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        self.0
    }

    async fn call(&self, _: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        cx.cancel.cancelled().await;
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_handler_over_its_deadline_times_out() {
    for response_time in [ResponseTime::Fast, ResponseTime::Medium, ResponseTime::Slow] {
        let (kernel, clock) =
            kernel_of(published().with(Hangs(spec(ToolSpec { response_time, ..SAMPLE_SPEC }))));
        let calling = tokio::spawn({
            let kernel = Arc::clone(&kernel);
            async move { call(&kernel, json!({"text": "x"})).await }
        });
        while clock.sleeping() == 0 {
            tokio::task::yield_now().await;
        }
        clock.advance(response_time.deadline());
        let reply = calling.await.unwrap();
        assert_eq!(error(&reply)["code"], "TIMEOUT", "{response_time:?}");
        assert_eq!(error(&reply)["retryable"], true);
    }
}

#[tokio::test]
async fn cancellation_returns_without_waiting_for_the_handler() {
    let (kernel, _) = kernel_of(published().with(Hangs(spec(SAMPLE_SPEC))));
    let reply =
        call_with(&kernel, "get-sample", json!({"text": "x"}), |cx| cx.cancel.cancel()).await;
    assert_eq!(error(&reply)["code"], "CANCELLED");
}

#[tokio::test]
async fn a_result_that_violates_its_output_schema_is_not_sent() {
    /// Declares a maximum of ten and returns more.
    struct SchemaViolator;
    /// At most ten.
    #[derive(Serialize, JsonSchema)]
    struct Small {
        /// A small number.
        #[schemars(range(min = 0, max = 10))]
        n: u32,
    }
    impl Tool for SchemaViolator {
        type Params = Params;
        type Output = Small;
        fn spec(&self) -> &'static ToolSpec {
            spec(SAMPLE_SPEC)
        }
        async fn call(&self, _: Params, _: &CallContext) -> Result<Reply<Small>, ToolError> {
            Ok(Reply::new(
                Small { n: 11 },
                "Eleven.",
                Evidence::from(Source::new(SourceClass::Exact, "x")),
            ))
        }
    }
    let (kernel, _) = kernel_of(published().with(SchemaViolator));
    assert_eq!(error(&call(&kernel, json!({"text": "x"})).await)["code"], "INTERNAL_ERROR");
}

#[tokio::test]
async fn an_oversized_reply_is_refused_with_a_hint() {
    fn large(_: &Params, _: &CallContext, output: Output) -> Result<Reply<Output>, ToolError> {
        let output = Output { text: "x".repeat(90_000), ..output };
        Ok(Reply::new(output, "Large.", Evidence::from(Source::new(SourceClass::Exact, "x"))))
    }
    let (kernel, _) = kernel_with(SAMPLE_SPEC, large);
    let reply = call(&kernel, json!({"text": "x"})).await;
    assert_eq!(error(&reply)["code"], "REPLY_TOO_LARGE");
    assert!(error(&reply)["hint"].as_str().unwrap().starts_with("ask for less"));
}

/// Counts notifications.
#[derive(Default)]
struct Counting {
    started: AtomicUsize,
    finished: AtomicUsize,
    failed: AtomicUsize,
}

impl Observer for Counting {
    fn started(&self, call: &CallStarted<'_>) {
        assert_eq!((call.tool, call.pack), ("get-sample", "sample"));
        assert!(call.input.is_object());
        self.started.fetch_add(1, Ordering::SeqCst);
    }

    fn finished(&self, call: &CallFinished<'_>) {
        self.finished.fetch_add(1, Ordering::SeqCst);
        self.failed.fetch_add(usize::from(call.error.is_some()), Ordering::SeqCst);
    }
}

#[tokio::test]
async fn every_call_is_observed_counted_and_audited_at_start_and_end() {
    let observer = Arc::new(Counting::default());
    let audit = MemoryAuditLog::default();
    let services = KernelServices {
        audit: Arc::new(audit),
        observers: vec![observer.clone()],
        ..KernelServices::in_memory(FixedClock::at(noon()))
    };
    let pack = published().with(Sample::new(spec(SAMPLE_SPEC), echo));
    let kernel = Kernel::new(vec![pack], services, Settings::default()).unwrap();
    call(&kernel, json!({"text": "x"})).await;
    call(&kernel, json!({"bad": "x"})).await;
    let told = (&observer.started, &observer.finished, &observer.failed);
    assert_eq!(
        (
            told.0.load(Ordering::SeqCst),
            told.1.load(Ordering::SeqCst),
            told.2.load(Ordering::SeqCst)
        ),
        (2, 2, 1)
    );
    let rows =
        kernel.audit().read(AuditFilter { limit: 10, ..AuditFilter::default() }).await.unwrap();
    let codes: Vec<Option<&str>> = rows.iter().map(|row| row.entry.error_code.as_deref()).collect();
    assert_eq!(codes, [Some("INVALID_INPUT"), None]);
    assert!(rows.iter().all(|row| row.entry.audit.in_hash.len() == 64));
    let snapshot = kernel.registry().get("get-sample").unwrap().meter.snapshot();
    assert_eq!((snapshot.calls, snapshot.errors), (2, [1, 0, 0]));
}

#[tokio::test]
async fn identical_calls_at_the_same_time_return_identical_bytes() {
    let run = async || {
        let (kernel, _) = sample_kernel();
        format!("{:?}", call(&kernel, json!({"text": "x", "howMany": 3})).await)
    };
    assert_eq!(run().await, run().await);
}
