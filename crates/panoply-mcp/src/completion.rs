//! `completion/complete`: argument completion.

use panoply_contract::context::CallContext;
use panoply_contract::resource::{Completion, CompletionSubject};
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, ErrorData, Reference};

use crate::resources;
use crate::server::Inner;

/// Returns matching values, best first; none for an unknown argument.
pub(crate) async fn complete(
    server: &Inner,
    request: CompleteRequestParams,
    cx: CallContext,
) -> Result<CompleteResult, ErrorData> {
    let of = match request.r#ref {
        Reference::Prompt(prompt) => CompletionSubject::Prompt(prompt.name),
        Reference::Resource(template) => CompletionSubject::Template(template.uri),
        // `Reference` is non-exhaustive; other kinds have no completions.
        _ => return Ok(CompleteResult::default()),
    };
    let asked = Completion { of, argument: request.argument.name, typed: request.argument.value };
    let found = server.kernel.complete(&server.scope, &asked, &cx).await;
    let mut values = found.map_err(|error| resources::refused(&error, &cx))?;
    let mut info = CompletionInfo::default();
    info.total = u32::try_from(values.len()).ok();
    info.has_more = Some(values.len() > CompletionInfo::MAX_VALUES);
    values.truncate(CompletionInfo::MAX_VALUES);
    info.values = values;
    Ok(CompleteResult::new(info))
}
