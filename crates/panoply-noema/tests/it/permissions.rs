//! Permissions: agents cannot approve drafts or undo beyond their rights.

use std::sync::Arc;

use panoply_contract::compliance::error_code;
use panoply_contract::context::Caller;
use panoply_contract::dialect::Envelope;
use panoply_contract::kernel::{Kernel, Settings};
use panoply_contract::permission::{Grants, Profile};
use panoply_contract::testing::{FixedClock, call_with, kernel_in_memory, noon};
use panoply_noema::tools::{pack, sample};
use serde_json::{Value, json};

fn kernel() -> Arc<Kernel> {
    let pack = pack(sample::store().unwrap());
    kernel_in_memory(vec![pack], FixedClock::at(noon()), Settings::default()).unwrap()
}

/// Calls with the grants of a profile; returns the data or the error code.
async fn call_as(
    kernel: &Kernel,
    profile: Profile,
    tool: &str,
    input: Value,
) -> Result<Value, String> {
    let reply = call_with(kernel, tool, input, |cx| {
        let partition = format!("key:{}", profile.as_str());
        cx.caller = Caller {
            principal: None,
            partition,
            grants: Grants::of(profile),
            ..Caller::local(profile)
        };
    });
    let reply = reply.await;
    match &reply {
        Envelope::Result { structured: Some(json), is_error: false, .. } => {
            Ok(json.value().get("data").cloned().unwrap_or_default())
        }
        _ => Err(error_code(&reply).unwrap_or_default()),
    }
}

#[tokio::test]
async fn agent_can_create_drafts_but_not_approve_them() {
    let kernel = kernel();
    let agent = async |tool, input| call_as(&kernel, Profile::Agent, tool, input).await;
    let card =
        |draft: bool| json!({"deckId": "deck_456", "front": "q", "back": "a", "draft": draft});
    let made = agent("create-card", card(true)).await.unwrap();
    let ids = &made["note"]["cardIds"];
    let text = json!({"deckId": "deck_456", "content": "front,back\nx,y\n", "draft": false});
    for (tool, input) in [
        ("approve-drafts", json!({"cardIds": ids})),
        ("create-card", card(false)),
        ("create-cards", json!({"deckId": "deck_456", "notes": [{"front": "q"}], "draft": false})),
        ("import-cards", text),
        ("import-package", json!({"contentBase64": "aGVsbG8="})),
    ] {
        assert_eq!(agent(tool, input).await, Err("FORBIDDEN".to_owned()), "{tool}");
    }
    let approved =
        call_as(&kernel, Profile::Owner, "approve-drafts", json!({"cardIds": ids})).await.unwrap();
    assert_eq!(approved["changed"], 1);
}

#[tokio::test]
async fn undo_requires_matching_permissions_and_own_actions() {
    let kernel = kernel();
    let agent = async |tool, input| call_as(&kernel, Profile::Agent, tool, input).await;
    let owner = async |tool, input| call_as(&kernel, Profile::Owner, tool, input).await;
    let tag = json!({"cardIds": ["card_123"], "tags": ["x"]});
    let owners = owner("tag-cards", tag).await.unwrap();
    assert_eq!(agent("undo-action", json!({})).await, Err("NOTHING_TO_UNDO".to_owned()));
    let named = json!({"actionId": owners["actionId"]});
    assert_eq!(agent("undo-action", named.clone()).await, Err("FORBIDDEN".to_owned()));
    assert_eq!(agent("undo-review", json!({})).await, Err("NOTHING_TO_UNDO".to_owned()));
    // An agent may undo its own change, unless that deletes.
    agent("tag-cards", json!({"cardIds": ["card_124"], "tags": ["y"]})).await.unwrap();
    assert_eq!(agent("undo-action", json!({})).await.unwrap()["tool"], "tag-cards");
    let draft = json!({"deckId": "deck_456", "front": "q", "back": "a"});
    agent("create-card", draft).await.unwrap();
    assert_eq!(agent("undo-action", json!({})).await, Err("FORBIDDEN".to_owned()));
    // The owner may undo everything.
    assert_eq!(owner("undo-action", json!({})).await.unwrap()["tool"], "create-card");
    assert_eq!(owner("undo-action", named).await.unwrap()["tool"], "tag-cards");
}
