//! The reply cache: partitions, time to live and invalidation.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use panoply_contract::context::{Caller, Lang};
use panoply_contract::permission::{Grants, Profile};
use panoply_contract::prelude::*;
use panoply_contract::tenant::DataVersions;
use panoply_contract::testing::{SAMPLE_SPEC, call_as_owner, call_with};
use serde_json::json;

use crate::tools::*;

const CACHED: ToolSpec =
    ToolSpec { cache: CachePolicy::For(MINUTE), data: &["samples"], ..SAMPLE_SPEC };

#[tokio::test]
async fn a_cache_hit_is_marked_and_has_a_new_timestamp() {
    let (kernel, clock) = kernel_with(CACHED, echo);
    let first = call(&kernel, json!({"text": "x"})).await;
    clock.advance(Duration::from_secs(30));
    let second = call(&kernel, json!({"text": "x"})).await;
    assert_eq!(structured(&second)["runs"], 1);
    let (before, after) = (meta(&first, "panoply/metadata"), meta(&second, "panoply/metadata"));
    assert_eq!((&before["cached"], &after["cached"]), (&json!(false), &json!(true)));
    assert_eq!(before["timestamp"], "2026-11-15T12:00:00Z");
    assert_eq!(after["timestamp"], "2026-11-15T12:00:30Z");
    assert_eq!(
        meta(&first, "panoply/audit")["out_hash"],
        meta(&second, "panoply/audit")["out_hash"]
    );
    let snapshot = kernel.registry().get("get-sample").unwrap().meter.snapshot();
    assert_eq!((snapshot.cache_hits, snapshot.cache_misses), (1, 1));
}

#[tokio::test]
async fn a_cached_reply_expires_after_its_time_to_live() {
    let (kernel, clock) = kernel_with(CACHED, echo);
    call(&kernel, json!({"text": "x"})).await;
    clock.advance(MINUTE);
    assert_eq!(structured(&call(&kernel, json!({"text": "x"})).await)["runs"], 2);
}

#[tokio::test]
async fn the_cache_key_ignores_key_order_and_includes_language() {
    let (kernel, _) = kernel_with(CACHED, echo);
    call(&kernel, serde_json::from_str(r#"{"text":"x","howMany":2}"#).unwrap()).await;
    let same = call(&kernel, serde_json::from_str(r#"{"howMany":2,"text":"x"}"#).unwrap()).await;
    assert_eq!(structured(&same)["runs"], 1);
    let thai = call_with(&kernel, "get-sample", json!({"text": "x", "howMany": 2}), |cx| {
        cx.lang = Lang::Th;
    })
    .await;
    assert_eq!(structured(&thai)["runs"], 2);
}

#[tokio::test]
async fn cached_replies_are_private_per_caller_unless_shared() {
    let other = || Caller {
        principal: None,
        partition: "other".to_owned(),
        grants: Grants::of(Profile::Reader),
        ..Caller::local(Profile::Reader)
    };
    for (cache, runs) in [(CachePolicy::For(MINUTE), 2), (CachePolicy::Shared(MINUTE), 1)] {
        let (kernel, _) = kernel_with(ToolSpec { cache, ..CACHED }, echo);
        call(&kernel, json!({"text": "x"})).await;
        let reply =
            call_with(&kernel, "get-sample", json!({"text": "x"}), |cx| cx.caller = other()).await;
        assert_eq!(structured(&reply)["runs"], runs, "cache: {cache:?}");
        // Callers without the permission do not get a shared reply.
        let barred = || Caller { grants: Grants::from_patterns([]), ..other() };
        let reply =
            call_with(&kernel, "get-sample", json!({"text": "x"}), |cx| cx.caller = barred()).await;
        assert_eq!(error(&reply)["code"], "FORBIDDEN");
    }
}

/// An admission over a shared store returns the versions of the data with the credential.
#[tokio::test]
async fn a_cached_reply_ends_with_the_data_version_of_the_admission() {
    let (kernel, _) = kernel_with(CACHED, echo);
    let pack = kernel.registry().get("get-sample").unwrap().pack;
    for (version, runs) in [(1, 1), (1, 1), (2, 2), (2, 2)] {
        let data_versions = DataVersions::new([(pack.to_owned(), version)].into());
        let reply = call_with(&kernel, "get-sample", json!({"text": "x"}), |cx| {
            cx.caller = Caller { data_versions, ..Caller::local_owner() };
        })
        .await;
        assert_eq!(structured(&reply)["runs"], runs, "version {version}");
    }
}

#[tokio::test]
async fn concurrent_identical_queries_share_one_execution() {
    let (kernel, _) = kernel_with(CACHED, echo);
    let replies =
        futures::future::join_all((0..100).map(|_| call(&kernel, json!({"text": "x"})))).await;
    assert!(replies.iter().all(|reply| structured(reply)["runs"] == 1));
    assert_eq!(structured(&call(&kernel, json!({"text": "y"})).await)["runs"], 2);
}

#[tokio::test]
async fn errors_are_not_cached() {
    fn fails_first(
        _: &Params,
        _: &CallContext,
        output: Output,
    ) -> Result<Reply<Output>, ToolError> {
        match output.runs {
            1 => Err(ToolError::business("NOT_NOW", "not now")),
            _ => {
                Ok(Reply::new(output, "Now.", Evidence::from(Source::new(SourceClass::Exact, "x"))))
            }
        }
    }
    let (kernel, _) = kernel_with(CACHED, fails_first);
    assert_eq!(error(&call(&kernel, json!({"text": "x"})).await)["code"], "NOT_NOW");
    assert_eq!(structured(&call(&kernel, json!({"text": "x"})).await)["runs"], 2);
}

#[tokio::test]
async fn a_mutation_invalidates_only_replies_about_its_data() {
    let change = ToolSpec {
        name: "change-sample",
        category: Category::Mutation,
        data: &["samples"],
        ..SAMPLE_SPEC
    };
    let unrelated = ToolSpec { name: "get-other", data: &["others"], ..CACHED };
    let (kernel, _) = kernel_of(
        published()
            .with(Sample::new(spec(CACHED), echo))
            .with(Sample::new(spec(change), echo))
            .with(Sample::new(spec(unrelated), echo)),
    );
    let input = json!({"text": "x"});
    let ask = async |tool: &str| {
        structured(&call_as_owner(&kernel, tool, input.clone()).await)["runs"].clone()
    };
    assert_eq!((ask("get-sample").await, ask("get-other").await), (json!(1), json!(1)));
    // A dry run changes no data and invalidates nothing.
    call_with(&kernel, "change-sample", input.clone(), |cx| cx.dry_run = true).await;
    assert_eq!(ask("get-sample").await, 1);
    ask("change-sample").await;
    assert_eq!((ask("get-sample").await, ask("get-other").await), (json!(2), json!(1)));
}

#[tokio::test]
async fn a_mutation_that_fails_after_its_effect_invalidates_replies_about_its_data() {
    fn fails(_: &Params, _: &CallContext, _: Output) -> Result<Reply<Output>, ToolError> {
        Err(ToolError::conflict("BUSY", "the outcome of the commit is unknown"))
    }
    let change = ToolSpec {
        name: "change-sample",
        category: Category::Mutation,
        data: &["samples"],
        ..SAMPLE_SPEC
    };
    let (kernel, _) = kernel_of(
        published().with(Sample::new(spec(CACHED), echo)).with(Sample::new(spec(change), fails)),
    );
    let input = json!({"text": "x"});
    assert_eq!(structured(&call(&kernel, input.clone()).await)["runs"], 1);
    assert_eq!(structured(&call(&kernel, input.clone()).await)["runs"], 1, "cached");
    let failed = call_as_owner(&kernel, "change-sample", input.clone()).await;
    assert_eq!(error(&failed)["code"], "BUSY");
    assert_eq!(structured(&call(&kernel, input).await)["runs"], 2, "computed again");
}

#[tokio::test]
async fn a_new_data_version_invalidates_cached_replies() {
    let version = Arc::new(AtomicU64::new(1));
    let seen = Arc::clone(&version);
    let pack = published()
        .with(Sample::new(spec(CACHED), echo))
        .with_data_version(move || seen.load(Ordering::SeqCst));
    let (kernel, _) = kernel_of(pack);
    call(&kernel, json!({"text": "x"})).await;
    version.store(2, Ordering::SeqCst);
    assert_eq!(structured(&call(&kernel, json!({"text": "x"})).await)["runs"], 2);
}
