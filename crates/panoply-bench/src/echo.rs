//! The measured tool: returns its input, so that only the overhead of a call is measured.

use panoply_contract::dialect::Published;
use panoply_contract::pack::{Pack, PackInfo};
use panoply_contract::prelude::*;

const ECHO: ToolSpec = ToolSpec {
    name: "bench-echo",
    title: "Echo",
    description: Description {
        does: "Returns its input without any work.",
        when: "Use this when the way to a tool is to be measured.",
        returns: "Returns the text.",
        asks: &["What does a call cost?"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["notes:read"],
    category: Category::Query,
    response_time: ResponseTime::Fast,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &[],
    examples: &[Example {
        shows: "a word",
        params: r#"{"text": "hello"}"#,
        expect: Expect::Data(r#"{"text": "hello"}"#),
    }],
    tags: &["bench"],
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: None,
}
.checked();

const CACHED_ECHO: ToolSpec =
    ToolSpec { name: "bench-kept", cache: CachePolicy::For(Duration::from_secs(3600)), ..ECHO }
        .checked();

/// The input.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Text {
    /// Text to return.
    #[schemars(length(max = 10_000_000))]
    pub(crate) text: String,
}

/// The output.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EchoOutput {
    /// The text.
    pub(crate) text: String,
}

/// Name of the uncached tool.
pub(crate) const NAME: &str = ECHO.name;
/// Name of the cached tool.
pub(crate) const CACHED_NAME: &str = CACHED_ECHO.name;

struct Echo(&'static ToolSpec);

impl Tool for Echo {
    type Params = Text;
    type Output = EchoOutput;

    fn spec(&self) -> &'static ToolSpec {
        self.0
    }

    async fn call(&self, params: Text, _cx: &CallContext) -> Result<Reply<EchoOutput>, ToolError> {
        let said = format!("You said: {}", params.text);
        let evidence = Evidence::from(Source::new(SourceClass::Exact, "the caller"));
        Ok(Reply::new(EchoOutput { text: params.text }, said, evidence))
    }
}

/// The pack with both tools.
pub(crate) fn pack() -> Pack {
    let info = PackInfo { name: "bench", title: "Bench", instructions: "For measuring." };
    Pack::new(info, Published::default()).with(Echo(&ECHO)).with(Echo(&CACHED_ECHO))
}
