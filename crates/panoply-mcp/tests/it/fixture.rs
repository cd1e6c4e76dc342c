//! A pack that triggers failures, delays and large outputs on demand.

use std::sync::Arc;

use futures::future::BoxFuture;
use panoply_contract::clock::Clock;
use panoply_contract::context::CallContext;
use panoply_contract::dialect::Published;
use panoply_contract::error::ToolError;
use panoply_contract::kernel::{Kernel, Settings};
use panoply_contract::pack::{Pack, PackInfo};
use panoply_contract::prelude::*;
use panoply_contract::prompt::{Prompt, PromptArgument};
use panoply_contract::reply::Attachment;
use panoply_contract::resource::{
    Completer, CompletionTarget, Resource, ResourceBody, ResourceContent, ResourceProvider,
    ResourceTemplate,
};
use panoply_contract::spec::Widget;
use panoply_contract::tenant::Tenants;
use panoply_contract::testing::kernel_in_memory;

/// A kernel with the fixture pack and, to tell packs apart, an empty one.
pub(crate) fn kernel(clock: Arc<dyn Clock>) -> Arc<Kernel> {
    let other = PackInfo { name: "other", title: "Other", instructions: "" };
    let packs = vec![pack(), Pack::new(other, Published::default())];
    kernel_in_memory(packs, clock, Settings::default())
        .unwrap_or_else(|violations| panic!("{violations:?}"))
}

fn pack() -> Pack {
    let info = PackInfo {
        name: "fixture",
        title: "Fixture",
        instructions: "Use `echo-text` to hear yourself.",
    };
    Pack::new(info, Published::default())
        .with(EchoText)
        .with(CountUp)
        .with(PanicNow)
        .with(KeepNote)
        .with(WaitLong)
        .with_resources(Notes)
        .with_completer(Letters)
        .with_prompt(Prompt {
            name: "greet",
            title: "Greet",
            description: "Greets a user.",
            arguments: &[
                PromptArgument { name: "who", description: "Whom.", default: None },
                PromptArgument { name: "how", description: "How.", default: Some("warmly") },
            ],
            template: "Greet {who} {how}.",
        })
}

const BASE: ToolSpec = ToolSpec {
    name: "echo-text",
    title: "Echo",
    description: Description {
        does: "Gives back what it was given, for tests of the server.",
        when: "Use this when a test needs a tool that cannot fail.",
        returns: "Returns the text.",
        asks: &["What did I say?"],
    },
    version: "1.0.0",
    aliases: &["tool.echo"],
    permissions: &["notes:read"],
    category: Category::Query,
    response_time: ResponseTime::Fast,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &[],
    examples: &[Example {
        shows: "a word",
        params: r#"{"text": "hi"}"#,
        expect: Expect::Data(r#"{"text": "hi"}"#),
    }],
    tags: &["test"],
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: None,
};

const ECHO: ToolSpec = BASE.checked();
const COUNT: ToolSpec =
    ToolSpec { name: "count-up", aliases: &[], widget: Some(PAGE), ..BASE }.checked();
const PAGE: Widget =
    Widget { resource_uri: "ui://fixture/count-v1.html", invoking: "Counting", invoked: "Counted" };
const PANIC: ToolSpec = ToolSpec { name: "panic-now", aliases: &[], ..BASE }.checked();
const WAIT: ToolSpec =
    ToolSpec { name: "wait-long", aliases: &[], response_time: ResponseTime::Slow, ..BASE }
        .checked();
const NOTE: ToolSpec = ToolSpec {
    name: "keep-note",
    aliases: &[],
    permissions: &["notes:create"],
    category: Category::Mutation,
    data: &["notes"],
    ..BASE
}
.checked();

/// A text.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Text {
    /// The text.
    #[schemars(length(max = 10_000_000))]
    text: String,
}

/// Echo of the text and the call context.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Heard {
    /// The text.
    text: String,
    /// The user.
    user_id: Option<String>,
    /// The client.
    agent_id: String,
    /// The language.
    lang: String,
    /// Whether the call is a dry run.
    dry_run: bool,
}

fn heard(text: String, cx: &CallContext) -> Result<Reply<Heard>, ToolError> {
    let said = format!("You said: {text}");
    let heard = Heard {
        text,
        user_id: cx.user_id().map(str::to_owned),
        agent_id: cx.agent_id.clone(),
        lang: cx.lang.as_str().to_owned(),
        dry_run: cx.dry_run,
    };
    Ok(Reply::new(heard, said, Evidence::from(Source::new(SourceClass::Exact, "the caller"))))
}

struct EchoText;

impl Tool for EchoText {
    type Params = Text;
    type Output = Heard;

    fn spec(&self) -> &'static ToolSpec {
        &ECHO
    }

    async fn call(&self, params: Text, cx: &CallContext) -> Result<Reply<Heard>, ToolError> {
        let reply = heard(params.text, cx)?;
        Ok(reply.attach(Attachment::Image { bytes: vec![1, 2, 3], mime_type: "image/png" }))
    }
}

struct CountUp;

impl Tool for CountUp {
    type Params = Text;
    type Output = Heard;

    fn spec(&self) -> &'static ToolSpec {
        &COUNT
    }

    async fn call(&self, params: Text, cx: &CallContext) -> Result<Reply<Heard>, ToolError> {
        for step in 1..=3 {
            cx.report_progress(step, Some(3), "counting");
            tokio::task::yield_now().await;
        }
        heard(params.text, cx)
    }
}

struct PanicNow;

impl Tool for PanicNow {
    type Params = Text;
    type Output = Heard;

    fn spec(&self) -> &'static ToolSpec {
        &PANIC
    }

    #[expect(clippy::panic, reason = "that is what it is for")]
    async fn call(&self, params: Text, _cx: &CallContext) -> Result<Reply<Heard>, ToolError> {
        panic!("as asked: {}", params.text)
    }
}

/// Waits until it is cancelled, or for as many milliseconds as its text says.
struct WaitLong;

impl Tool for WaitLong {
    type Params = Text;
    type Output = Heard;

    fn spec(&self) -> &'static ToolSpec {
        &WAIT
    }

    async fn call(&self, params: Text, cx: &CallContext) -> Result<Reply<Heard>, ToolError> {
        let millis = params.text.parse().unwrap_or(60_000);
        tokio::select! {
            () = cx.cancel.cancelled() => {}
            () = tokio::time::sleep(Duration::from_millis(millis)) => {}
        }
        cx.check_cancelled()?;
        heard(params.text, cx)
    }
}

struct KeepNote;

impl Tool for KeepNote {
    type Params = Text;
    type Output = Heard;

    fn spec(&self) -> &'static ToolSpec {
        &NOTE
    }

    async fn call(&self, params: Text, cx: &CallContext) -> Result<Reply<Heard>, ToolError> {
        heard(params.text, cx)
    }
}

struct Notes;

impl ResourceProvider for Notes {
    fn permissions(&self) -> &'static [&'static str] {
        &["notes:read"]
    }

    fn resources(&self) -> Vec<Resource> {
        vec![Resource {
            uri: "fixture://note".to_owned(),
            name: "note".to_owned(),
            title: "A note".to_owned(),
            description: "Always the same.".to_owned(),
            mime_type: "text/markdown".to_owned(),
            size: Some(5),
        }]
    }

    fn templates(&self) -> Vec<ResourceTemplate> {
        vec![ResourceTemplate {
            uri_template: "fixture://blob/{name}".to_owned(),
            name: "blob".to_owned(),
            title: "A blob".to_owned(),
            description: "Its own name as bytes.".to_owned(),
            mime_type: "application/octet-stream".to_owned(),
        }]
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        _cx: &'a CallContext,
    ) -> BoxFuture<'a, Option<Result<ResourceContent, ToolError>>> {
        let body = match uri {
            "fixture://note" => Some(ResourceBody::Text("# Hi\n".to_owned())),
            _ => uri
                .strip_prefix("fixture://blob/")
                .map(|name| ResourceBody::Bytes(name.as_bytes().to_vec())),
        };
        let mime_type = "text/markdown".to_owned();
        let found = body.map(|body| {
            Ok(ResourceContent {
                uri: uri.to_owned(),
                mime_type,
                body,
                meta: serde_json::Map::new(),
            })
        });
        Box::pin(std::future::ready(found))
    }
}

struct Letters;

impl Completer for Letters {
    fn complete(
        &self,
        of: CompletionTarget<'_>,
        argument: &str,
        typed: &str,
        _: &Tenants,
    ) -> Option<Vec<String>> {
        let known = matches!(of, CompletionTarget::Prompt("greet")) && argument == "who";
        known.then(|| (0..150).map(|number| format!("{typed}{number}")).collect())
    }
}
