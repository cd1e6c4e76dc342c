//! Mutations: idempotency keys, dry runs and audit rows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::future::BoxFuture;
use panoply_contract::audit::{AuditEntry, AuditFilter, AuditLog, AuditRow};
use panoply_contract::compliance::error_code;
use panoply_contract::kernel::{Kernel, KernelServices, Settings};
use panoply_contract::prelude::*;
use panoply_contract::testing::{FixedClock, SAMPLE_SPEC, call_with, noon};
use serde_json::{Value, json};

use crate::tools::*;

const MUTATION: ToolSpec =
    ToolSpec { category: Category::Mutation, data: &["samples"], ..SAMPLE_SPEC };

async fn change(kernel: &Kernel, input: Value, key: &str) -> panoply_contract::dialect::Envelope {
    let key = key.to_owned();
    call_with(kernel, "get-sample", input, |cx| cx.idempotency_key = Some(key)).await
}

#[tokio::test]
async fn a_repeated_idempotency_key_replays_the_first_result() {
    let (kernel, clock) = kernel_with(MUTATION, echo);
    let first = change(&kernel, json!({"text": "x"}), "k1").await;
    let again = change(&kernel, json!({"text": "x"}), "k1").await;
    assert_eq!(structured(&first), structured(&again));
    assert_eq!(meta(&again, "panoply/metadata")["replayed"], true);
    assert_eq!(structured(&change(&kernel, json!({"text": "x"}), "k2").await)["runs"], 2);
    clock.advance(MINUTE * 60 * 24);
    assert_eq!(structured(&change(&kernel, json!({"text": "x"}), "k1").await)["runs"], 3);
}

#[tokio::test]
async fn an_idempotency_key_is_bound_to_its_input() {
    let (kernel, _) = kernel_with(MUTATION, echo);
    change(&kernel, json!({"text": "x"}), "k").await;
    let other = change(&kernel, json!({"text": "y"}), "k").await;
    assert_eq!(error(&other)["code"], "IDEMPOTENCY_CONFLICT");
}

#[tokio::test]
async fn concurrent_calls_with_one_key_make_one_change() {
    let (kernel, _) = kernel_with(MUTATION, echo);
    let (one, two) = futures::join!(
        change(&kernel, json!({"text": "x"}), "k"),
        change(&kernel, json!({"text": "x"}), "k")
    );
    assert_eq!(structured(&one)["runs"], 1);
    assert_eq!(error(&two)["code"], "IDEMPOTENCY_RUNNING");
    assert_eq!(structured(&change(&kernel, json!({"text": "x"}), "k").await)["runs"], 1);
}

#[tokio::test]
async fn a_failed_mutation_releases_its_key() {
    fn fails_first(
        _: &Params,
        _: &CallContext,
        output: Output,
    ) -> Result<Reply<Output>, ToolError> {
        match output.runs {
            1 => Err(ToolError::conflict("BUSY", "busy")),
            _ => echo(
                &Params { text: String::new(), how_many: None, direction: None },
                &context(),
                output,
            ),
        }
    }
    fn context() -> CallContext {
        let clock = FixedClock::at(noon());
        CallContext::local(
            clock,
            panoply_contract::ids::TraceId::parse("4bf92f3577b34da6a3ce929d0e0e4736").unwrap(),
        )
    }
    let (kernel, _) = kernel_with(MUTATION, fails_first);
    assert_eq!(error(&change(&kernel, json!({"text": "x"}), "k").await)["code"], "BUSY");
    assert_eq!(structured(&change(&kernel, json!({"text": "x"}), "k").await)["runs"], 2);
}

#[tokio::test]
async fn a_dry_run_is_marked_and_does_not_use_the_key() {
    fn dry_runs_only(
        params: &Params,
        cx: &CallContext,
        output: Output,
    ) -> Result<Reply<Output>, ToolError> {
        assert!(cx.dry_run || output.runs > 1);
        echo(params, cx, output)
    }
    let (kernel, _) = kernel_with(MUTATION, dry_runs_only);
    let preview = call_with(&kernel, "get-sample", json!({"text": "x"}), |cx| {
        cx.dry_run = true;
        cx.idempotency_key = Some("k".to_owned());
    })
    .await;
    assert_eq!(meta(&preview, "panoply/metadata")["dryRun"], true);
    assert_eq!(structured(&change(&kernel, json!({"text": "x"}), "k").await)["runs"], 2);
}

#[tokio::test]
async fn an_invalid_idempotency_key_is_refused() {
    let (kernel, _) = kernel_with(MUTATION, echo);
    for key in [String::new(), "x".repeat(201)] {
        let reply = change(&kernel, json!({"text": "x"}), &key).await;
        assert_eq!(error(&reply)["code"], "BAD_IDEMPOTENCY_KEY", "key of {} bytes", key.len());
    }
}

/// A log with injectable failures.
#[derive(Default)]
struct BrokenLog {
    refuses_to_start: AtomicBool,
    refuses_to_append: AtomicBool,
}

impl AuditLog for BrokenLog {
    fn ready(&self) -> Result<(), ToolError> {
        if self.refuses_to_start.load(Ordering::SeqCst) {
            Err(ToolError::system("disk full"))
        } else {
            Ok(())
        }
    }

    fn append(&self, _: AuditEntry) -> BoxFuture<'static, Result<(), ToolError>> {
        let broken = self.refuses_to_append.load(Ordering::SeqCst);
        Box::pin(async move { if broken { Err(ToolError::system("disk full")) } else { Ok(()) } })
    }

    fn read(&self, _: AuditFilter) -> BoxFuture<'static, Result<Vec<AuditRow>, ToolError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }
}

#[tokio::test]
async fn a_mutation_is_refused_when_the_audit_log_cannot_be_written() {
    let log = Arc::new(BrokenLog::default());
    let tool = Sample::new(spec(MUTATION), echo);
    let runs = Arc::clone(&tool.runs);
    let services =
        KernelServices { audit: log.clone(), ..KernelServices::in_memory(FixedClock::at(noon())) };
    let kernel = Kernel::new(vec![published().with(tool)], services, Settings::default()).unwrap();
    log.refuses_to_start.store(true, Ordering::SeqCst);
    assert_eq!(error(&call(&kernel, json!({"text": "x"})).await)["code"], "INTERNAL_ERROR");
    assert_eq!(runs.load(Ordering::SeqCst), 0);
    log.refuses_to_start.store(false, Ordering::SeqCst);
    log.refuses_to_append.store(true, Ordering::SeqCst);
    // The handler ran, but the caller gets an error.
    assert_eq!(error(&call(&kernel, json!({"text": "x"})).await)["code"], "INTERNAL_ERROR");
}

/// Blocks the handlers of one test until it is released.
static GATE: std::sync::Mutex<()> = std::sync::Mutex::new(());
static GATE_REACHED: AtomicBool = AtomicBool::new(false);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_timed_out_mutation_holds_its_key_and_its_late_effect_is_audited_once() {
    fn waits(
        params: &Params,
        cx: &CallContext,
        output: Output,
    ) -> Result<Reply<Output>, ToolError> {
        GATE_REACHED.store(true, Ordering::SeqCst);
        drop(GATE.lock());
        echo(params, cx, output)
    }
    const SLOW: ToolSpec = ToolSpec { response_time: ResponseTime::Medium, ..MUTATION };
    let (kernel, clock) = kernel_with(SLOW, waits);
    let held = GATE.lock();
    let calling = tokio::spawn({
        let kernel = Arc::clone(&kernel);
        async move { change(&kernel, json!({"text": "x"}), "k").await }
    });
    // The handler now blocks its thread and cannot be dropped.
    while clock.sleeping() == 0 || !GATE_REACHED.load(Ordering::SeqCst) {
        tokio::task::yield_now().await;
    }
    clock.advance(ResponseTime::Medium.deadline());
    assert_eq!(error(&calling.await.unwrap())["code"], "TIMEOUT");
    let early = change(&kernel, json!({"text": "x"}), "k").await;
    assert_eq!(error(&early)["code"], "IDEMPOTENCY_RUNNING", "its handler has not ended");
    drop(held);
    let late = loop {
        let reply = change(&kernel, json!({"text": "x"}), "k").await;
        if error_code(&reply).as_deref() != Some("IDEMPOTENCY_RUNNING") {
            break reply;
        }
    };
    assert_eq!(structured(&late)["runs"], 1, "the first handler made the change");
    let filter = AuditFilter { limit: 100, ..AuditFilter::default() };
    let rows = kernel.audit().read(filter).await.unwrap();
    assert_eq!(rows.iter().filter(|row| row.entry.mutation).count(), 1, "{rows:?}");
}

#[tokio::test]
async fn recovery_appends_nothing_when_nothing_is_missing() {
    let (kernel, _) = kernel_with(MUTATION, echo);
    change(&kernel, json!({"text": "x"}), "k").await;
    let rows = || async {
        let filter = AuditFilter { limit: 100, ..AuditFilter::default() };
        kernel.audit().read(filter).await.unwrap().len()
    };
    assert_eq!(rows().await, 1);
    assert_eq!(kernel.recover_audit().await.unwrap(), 0, "nothing is missing");
    assert_eq!(rows().await, 1);
}
