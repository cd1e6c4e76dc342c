//! The tool that is measured: it gives back a word, so that nothing but the way to it costs.

use panoply_contract::dialect::Published;
use panoply_contract::pack::{Pack, PackInfo};
use panoply_contract::prelude::*;

const ECHO: ToolSpec = ToolSpec {
    name: "bench-echo",
    title: "Echo",
    description: Description {
        does: "Gives back what it was given, which takes no time at all.",
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

/// A text.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Text {
    /// The text.
    pub(crate) text: String,
}

/// The same text.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EchoOutput {
    /// The text.
    pub(crate) text: String,
}

/// The name of the tool that is never cached.
pub(crate) const NAME: &str = ECHO.name;
/// The name of the tool that always is.
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

/// The pack with both.
pub(crate) fn pack() -> Pack {
    let info = PackInfo { name: "bench", title: "Bench", instructions: "For measuring." };
    Pack::new(info, Published::default()).with(Echo(&ECHO)).with(Echo(&CACHED_ECHO))
}
