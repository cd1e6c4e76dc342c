//! Tenants in the pipeline: caches, rate limits, metrics, and packs without storage for a tenant.

use panoply_contract::context::Caller;
use panoply_contract::dialect::Envelope;
use panoply_contract::kernel::{Kernel, Settings};
use panoply_contract::permission::{Grants, Profile};
use panoply_contract::prelude::*;
use panoply_contract::tenant::{Tenancy, TenantId, TenantKind, Tenants};
use panoply_contract::testing::{
    FixedClock, SAMPLE_SPEC, call_with, check_pack, kernel_in_memory, noon,
};
use serde_json::{Value, json};

use crate::tools::*;

fn person(number: u8) -> TenantId {
    TenantId::new(TenantKind::Person, [number; 16])
}

fn caller(tenants: Tenants, key: &str) -> Caller {
    Caller {
        principal: None,
        partition: tenants.partition(key),
        tenants,
        operator: false,
        grants: Grants::of(Profile::Owner),
        ..Caller::local(Profile::Reader)
    }
}

const CACHED: ToolSpec =
    ToolSpec { cache: CachePolicy::Tenant(MINUTE), data: &["samples"], ..SAMPLE_SPEC };

/// Calls a tool; `ok` or the code of the error.
async fn outcome(kernel: &Kernel, tool: &str, input: Value, caller: Caller) -> String {
    let reply = call_with(kernel, tool, input, |cx| cx.caller = caller).await;
    let Envelope::Result { is_error: true, structured, .. } = &reply else {
        structured(&reply);
        return "ok".to_owned();
    };
    let error = match structured {
        Some(structured) => structured.value().get("error").cloned().unwrap_or_default(),
        None => error(&reply),
    };
    error.get("code").and_then(Value::as_str).unwrap().to_owned()
}

async fn sample(kernel: &Kernel, caller: Caller) -> String {
    outcome(kernel, "get-sample", json!({"text": "x"}), caller).await
}

#[tokio::test]
async fn shared_replies_of_a_pack_with_tenant_data_are_refused() {
    let shared = || ToolSpec { cache: CachePolicy::Shared(MINUTE), ..CACHED };
    for (tenancy, violations) in
        [(Tenancy::Global, 0), (Tenancy::Person, 1), (Tenancy::Workspace, 1)]
    {
        let pack = published().with(Sample::new(spec(shared()), echo)).with_tenancy(tenancy);
        let found = check_pack(pack).await;
        let about_cache =
            found.iter().filter(|one| one.to_string().contains("CachePolicy::Tenant"));
        assert_eq!(about_cache.count(), violations, "{tenancy:?}: {found:?}");
    }
}

#[tokio::test]
async fn a_pack_without_storage_for_a_tenant_serves_the_local_tenant_only() {
    let pack = published().with(Sample::new(spec(CACHED), echo)).with_tenancy(Tenancy::Person);
    let kernel = kernel_in_memory(vec![pack], FixedClock::at(noon()), Settings::default()).unwrap();
    assert_eq!(sample(&kernel, Caller::local_owner()).await, "ok");
    let ann = caller(Tenants::of(person(1)), "key:a");
    assert_eq!(sample(&kernel, ann).await, "TENANT_UNAVAILABLE");
}

#[tokio::test]
async fn credentials_of_a_person_share_one_rate_limit() {
    let limit = RateLimit { max_calls: 2, window: MINUTE };
    let (kernel, _) = kernel_with(ToolSpec { rate_limit: Some(limit), ..SAMPLE_SPEC }, echo);
    let of = |number: u8, key: &str| caller(Tenants::of(person(number)), key);
    for key in ["key:a", "key:b"] {
        assert_eq!(sample(&kernel, of(1, key)).await, "ok");
    }
    assert_eq!(sample(&kernel, of(1, "key:c")).await, "RATE_LIMITED");
    assert_eq!(sample(&kernel, of(2, "key:a")).await, "ok");
}

#[tokio::test]
async fn metrics_of_the_server_are_refused_to_callers_of_a_tenant() {
    let (kernel, _) = kernel_with(SAMPLE_SPEC, echo);
    let ann = caller(Tenants::of(person(1)), "key:a");
    let operator = Caller { operator: true, ..ann.clone() };
    let cases = [(ann, "FORBIDDEN"), (operator, "ok"), (Caller::local(Profile::Reader), "ok")];
    for (caller, expected) in cases {
        assert_eq!(outcome(&kernel, "get-tool-metrics", json!({}), caller).await, expected);
    }
}
