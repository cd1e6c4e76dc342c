//! The verification checklist: the kernel tools pass it, and each line can fail.

use panoply_contract::compliance::{self, Line};
use panoply_contract::context::Caller;
use panoply_contract::kernel::{ListingMode, Scope, Settings};
use panoply_contract::prelude::*;
use panoply_contract::registry::Registry;
use panoply_contract::testing::{FixedClock, SAMPLE_SPEC, kernel_in_memory, noon};

use crate::tools::*;

#[tokio::test]
async fn kernel_tools_pass_every_checklist_line_in_both_dialects() {
    for pack in [published(), unified()] {
        let (kernel, _) = kernel_of(pack.with(Sample::new(spec(SAMPLE_SPEC), echo)));
        let matrix = compliance::check(&kernel).await;
        assert_eq!(matrix.violations, Vec::new());
        let tools = kernel.registry().get_all().len();
        assert_eq!((matrix.lines.len(), matrix.tools.len()), (29, tools));
    }
}

fn violated(pack: panoply_contract::pack::Pack) -> Vec<Line> {
    Registry::new(vec![pack])
        .unwrap_err()
        .iter()
        .map(panoply_contract::compliance::Violation::line)
        .collect()
}

#[test]
fn an_invalid_run_time_spec_is_refused_with_its_checklist_line() {
    let cases: Vec<(ToolSpec, Line)> = vec![
        (ToolSpec { name: "Sample", ..SAMPLE_SPEC }, Line::UniqueName),
        (ToolSpec { tags: &[], ..SAMPLE_SPEC }, Line::Tag),
        (ToolSpec { examples: &[], ..SAMPLE_SPEC }, Line::Example),
        (ToolSpec { permissions: &["nonsense"], ..SAMPLE_SPEC }, Line::Permissions),
        (ToolSpec { cache: CachePolicy::For(Duration::ZERO), ..SAMPLE_SPEC }, Line::CacheTtl),
        (
            ToolSpec { cache: CachePolicy::For(MINUTE), idempotent: false, ..SAMPLE_SPEC },
            Line::Idempotent,
        ),
        (
            ToolSpec {
                cache: CachePolicy::For(MINUTE),
                category: Category::Mutation,
                data: &["x"],
                ..SAMPLE_SPEC
            },
            Line::Cacheable,
        ),
    ];
    for (broken, line) in cases {
        assert_eq!(violated(published().with(Sample::new(spec(broken), echo))), [line]);
    }
}

#[test]
fn names_and_aliases_may_not_collide() {
    let aliased = ToolSpec { name: "get-other", aliases: &["get-sample"], ..SAMPLE_SPEC };
    let pack = published()
        .with(Sample::new(spec(SAMPLE_SPEC), echo))
        .with(Sample::new(spec(aliased), echo));
    assert_eq!(violated(pack), [Line::UniqueName]);
}

#[test]
fn parameters_need_descriptions_limits_and_deny_unknown_fields() {
    #[derive(Deserialize, JsonSchema)]
    struct LooseParams {
        #[expect(dead_code, reason = "only its schema matters")]
        n: u32,
    }
    struct UndocumentedTool;
    impl Tool for UndocumentedTool {
        type Params = LooseParams;
        type Output = Output;
        fn spec(&self) -> &'static ToolSpec {
            spec(SAMPLE_SPEC)
        }
        async fn call(&self, _: LooseParams, _: &CallContext) -> Result<Reply<Output>, ToolError> {
            Err(ToolError::system("never called"))
        }
    }
    let violations = Registry::new(vec![published().with(UndocumentedTool)]).unwrap_err();
    let messages: Vec<String> = violations.iter().map(ToString::to_string).collect();
    for expected in
        ["no description", "unknown arguments are let through", "no minimum and maximum"]
    {
        assert!(
            messages.iter().any(|message| message.contains(expected)),
            "{expected} in {messages:#?}"
        );
    }
}

#[tokio::test]
async fn a_failing_example_violates_its_checklist_line() {
    let wrong = ToolSpec {
        examples: &[
            Example {
                shows: "a wrong value",
                params: r#"{"text": "a"}"#,
                expect: Expect::Data(r#"{"text": "b"}"#),
            },
            Example {
                shows: "a missing error",
                params: r#"{"text": "a"}"#,
                expect: Expect::Error("NOT_FOUND"),
            },
        ],
        ..SAMPLE_SPEC
    };
    let (kernel, _) = kernel_with(wrong, echo);
    let matrix = compliance::check(&kernel).await;
    let lines: Vec<Line> =
        matrix.violations.iter().map(panoply_contract::compliance::Violation::line).collect();
    assert_eq!(lines, [Line::Tests, Line::Tests]);
    assert!(!matrix.holds("get-sample", Line::Tests) && matrix.holds("get-sample", Line::Hints));
}

#[test]
fn the_registry_finds_tools_by_name_alias_category_and_tag() {
    let aliased = ToolSpec { aliases: &["tool.sample"], ..SAMPLE_SPEC };
    let registry = Registry::new(vec![published().with(Sample::new(spec(aliased), echo))]).unwrap();
    assert_eq!(registry.get("tool.sample").unwrap().spec.name, "get-sample");
    assert!(registry.get("nothing").is_none());
    assert_eq!(registry.get_all().len(), 1);
    assert_eq!(registry.get_by_category(Category::Query).count(), 1);
    assert_eq!(registry.get_by_category(Category::Mutation).count(), 0);
    assert_eq!(registry.get_by_tag("testing").count(), 1);
    assert_eq!(registry.validate(registry.get("get-sample").unwrap()), Vec::new());
}

#[test]
fn listing_modes_core_all_and_lazy_list_their_tools() {
    const EXTRA: ToolSpec = ToolSpec { name: "get-extra", listing: Listing::Extra, ..SAMPLE_SPEC };
    let cases = [
        (ListingMode::Core, vec!["search-tools", "describe-tool", "call-tool", "get-sample"]),
        (
            ListingMode::All,
            vec![
                "search-tools",
                "describe-tool",
                "call-tool",
                "get-tool-metrics",
                "get-audit-trail",
                "share-item",
                "withdraw-share",
                "list-shares",
                "get-preferences",
                "set-preferences",
                "get-sample",
                "get-extra",
            ],
        ),
        (ListingMode::Lazy, vec!["search-tools", "describe-tool", "call-tool"]),
    ];
    for (offer, expected) in cases {
        let pack = published()
            .with(Sample::new(spec(SAMPLE_SPEC), echo))
            .with(Sample::new(spec(EXTRA), echo));
        let kernel = kernel_in_memory(
            vec![pack],
            FixedClock::at(noon()),
            Settings { offer, ..Settings::default() },
        )
        .unwrap();
        let listed: Vec<&str> = kernel
            .listed(&Scope::All, &Caller::local_owner())
            .iter()
            .map(|entry| entry.spec.name)
            .collect();
        assert_eq!(listed, expected, "{offer:?}");
    }
}

#[tokio::test]
async fn a_query_or_dry_run_that_changes_data_violates_the_checklist() {
    let version = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let seen = std::sync::Arc::clone(&version);
    struct MutatingQuery(std::sync::Arc<std::sync::atomic::AtomicU64>);
    impl Tool for MutatingQuery {
        type Params = Params;
        type Output = Output;
        fn spec(&self) -> &'static ToolSpec {
            spec(SAMPLE_SPEC)
        }
        async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
            self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let text = params.text.clone();
            echo(&params, cx, Output { text, runs: 1 })
        }
    }
    let pack = published()
        .with(MutatingQuery(version))
        .with_data_version(move || seen.load(std::sync::atomic::Ordering::SeqCst));
    let matrix = compliance::check(&kernel_of(pack).0).await;
    let lines: Vec<Line> =
        matrix.violations.iter().map(panoply_contract::compliance::Violation::line).collect();
    assert_eq!(lines, [Line::Idempotent]);
}
