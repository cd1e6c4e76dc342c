//! `completion/complete`: values for an argument that a person is typing.

use panoply_contract::resource::CompletionTarget;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};

use crate::server::Inner;

/// The values that fit, best first; none when nobody knows the argument.
pub(crate) fn complete(server: &Inner, request: &CompleteRequestParams) -> CompleteResult {
    let target = match &request.r#ref {
        Reference::Prompt(prompt) => CompletionTarget::Prompt(&prompt.name),
        Reference::Resource(template) => CompletionTarget::Template(&template.uri),
        // rmcp may learn of more kinds; none of ours has completions for them.
        _ => return CompleteResult::default(),
    };
    let argument = &request.argument;
    let mut values = server.kernel.complete(&server.scope, target, &argument.name, &argument.value);
    let mut info = CompletionInfo::default();
    info.total = u32::try_from(values.len()).ok();
    info.has_more = Some(values.len() > CompletionInfo::MAX_VALUES);
    values.truncate(CompletionInfo::MAX_VALUES);
    info.values = values;
    CompleteResult::new(info)
}
