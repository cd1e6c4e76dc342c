//! Media: adding, showing, undoing, importing and exporting.

use panoply_contract::context::CallContext;
use panoply_contract::dialect::Envelope;
use panoply_contract::ids::TraceId;
use panoply_contract::kernel::Scope;
use panoply_contract::resource::ResourceBody;
use panoply_contract::testing::call_as_owner;
use panoply_noema::anki::{self, PackageLimits};
use panoply_noema::statistics;
use serde_json::{Value, json};

use crate::study::{NOON, act};
use crate::tools::{call, kernel};

const DOT: &str = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
/// An ID3 tag without frames.
const SOUND: &str = "SUQzBAAAAAAAAA==";

#[tokio::test]
async fn pictures_and_sounds_of_a_card_are_content_of_the_reply() {
    let kernel = kernel();
    for (name, content) in [("heart 1.gif", DOT), ("ม้า.mp3", SOUND)] {
        let added = json!({"name": name, "contentBase64": content});
        call(&kernel, "add-media", added).await.unwrap();
    }
    let deck = call(&kernel, "create-deck", json!({"name": "Pictures"})).await.unwrap();
    let deck = deck["deck"]["deckId"].clone();
    let card = json!({"deckId": deck, "front": "<img src=\"heart%201.gif\">", "back": "[sound:ม้า.mp3] heart", "draft": false});
    call(&kernel, "create-card", card).await.unwrap();
    let Envelope::Result { attachments, structured: Some(structured), .. } =
        call_as_owner(&kernel, "get-next-card", json!({"deckId": deck})).await
    else {
        panic!("no reply")
    };
    let kinds = format!("{attachments:?}");
    assert!(kinds.contains("Image") && kinds.contains("image/gif"), "{kinds}");
    assert!(!kinds.contains("audio/mpeg"), "the front has no sound: {kinds}");
    let data = &structured.value()["data"];
    assert_eq!(data["card"]["media"][0]["name"], "heart 1.gif");
    let uri = data["card"]["media"][0]["uri"].as_str().unwrap().to_owned();
    let trace = TraceId::new(uuid::Uuid::from_u128(7));
    let cx = CallContext::local(std::sync::Arc::clone(kernel.clock()), trace);
    let read = kernel.read_resource(&Scope::All, &uri, &cx).await.unwrap();
    assert_eq!(read.mime_type, "image/gif");
    assert!(matches!(read.body, ResourceBody::Bytes(bytes) if bytes.len() == 42));
    let token = json!({"token": data["card"]["token"]});
    let Envelope::Result { attachments, .. } = call_as_owner(&kernel, "reveal-answer", token).await
    else {
        panic!("no reply")
    };
    let kinds = format!("{attachments:?}");
    assert!(kinds.contains("audio/mpeg") && !kinds.contains("image/gif"), "{kinds}");
}

#[tokio::test]
async fn media_are_checked_listed_deleted_and_restored() {
    let kernel = kernel();
    let add = |name: &str, content: &str| json!({"name": name, "contentBase64": content});
    for (name, content, code) in [
        ("../x.gif", DOT, "BAD_MEDIA"),
        ("x.png", DOT, "BAD_MEDIA"),
        ("x.html", "PGh0bWw+", "BAD_MEDIA"),
        ("dot.gif", "R0lGODlhAQABAIAAAP///wAAACH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "MEDIA_EXISTS"),
    ] {
        let refused = call(&kernel, "add-media", add(name, content)).await;
        assert_eq!(refused, Err(code.to_owned()), "{name}");
    }
    let same = call(&kernel, "add-media", add("dot.gif", DOT)).await.unwrap();
    assert_eq!(same["actionId"], Value::Null, "it was there");
    let missing = json!({"cardId": "card_123", "fields": {"Back": "<img src=gone.png>"}});
    call(&kernel, "update-card", missing).await.unwrap();
    let listed = call(&kernel, "list-media", json!({})).await.unwrap();
    assert_eq!((&listed["total"], &listed["missing"][0]["name"]), (&json!(1), &json!("gone.png")));
    let deleted = call(&kernel, "delete-media", json!({"names": ["dot.gif"]})).await.unwrap();
    let gone = call(&kernel, "get-media", json!({"name": "dot.gif"})).await;
    assert_eq!(gone, Err("MEDIA_NOT_FOUND".to_owned()));
    call(&kernel, "undo-action", json!({"actionId": deleted["actionId"]})).await.unwrap();
    let back = call(&kernel, "get-media", json!({"name": "dot.gif"})).await.unwrap();
    assert_eq!(back["media"]["bytes"], 42);
}

#[test]
fn imported_file_with_the_name_of_another_is_renamed_in_its_notes() {
    let store = crate::study::collection();
    let other = b"GIF89a other content";
    act(&*store, NOON, |writer| writer.put_media("dot.png", other, NOON));
    let bytes = include_bytes!("../golden/sample_anki26_latest.apkg");
    let package = anki::read(bytes, PackageLimits::default()).unwrap();
    act(&*store, NOON, |writer| anki::import(writer, &package, NOON, &mut |_, _| Ok(())));
    let (files, fields, exported) = store
        .read(|reader| {
            let mut fields = Vec::new();
            reader.for_each_note(&mut |note| {
                fields.extend(note.fields.into_iter().filter(|field| field.contains("<img")));
                Ok(())
            })?;
            let (decks, _) = statistics::scope(reader, None)?;
            let exported = anki::export(reader, &decks, NOON, &mut |_, _| Ok(()))?;
            Ok((reader.media_files()?, fields, exported))
        })
        .unwrap();
    assert_eq!(files.len(), 2, "{files:?}");
    let renamed = files.iter().find(|file| file.name != "dot.png").unwrap();
    assert!(renamed.name.starts_with("dot-") && renamed.name.ends_with(".png"));
    assert!(fields.iter().all(|field| field.contains(&renamed.name)), "{fields:?}");
    assert_eq!(exported.1.media, 1, "only the used file is exported");
}
