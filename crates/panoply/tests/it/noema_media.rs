//! `GET /noema/media/{name}`: who gets a media file over HTTP, and what a browser may do with it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use panoply_testkit::client::HttpClient;
use serde_json::json;

use crate::place::Place;
use crate::tenants::two_tenants::TwoTenants;

/// A GIF of one pixel.
const DOT: &str = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";

fn add(client: &HttpClient, name: &str) {
    let arguments = json!({"name": name, "contentBase64": DOT});
    let call = json!({"name": "add-media", "arguments": arguments});
    let reply = client.rpc("/mcp", "tools/call", call);
    assert_eq!(reply["result"]["isError"], json!(false), "{reply}");
}

#[test]
fn media_file_has_the_bytes_and_type_of_the_resource_and_nothing_in_it_runs() {
    let place = Place::new();
    let server = place.http(&["noema", "--tools", "all"]);
    let client = server.client();
    for name in ["ม้า 1.gif", "100%.gif"] {
        add(&client, name);
    }
    for path in ["%E0%B8%A1%E0%B9%89%E0%B8%B2%201.gif", "100%25.gif"] {
        let uri = format!("noema://media/{path}");
        let resource = client.rpc("/mcp", "resources/read", json!({"uri": uri}));
        let resource = &resource["result"]["contents"][0];
        let reply = client.get(&format!("/noema/media/{path}"));
        assert_eq!(reply.status, 200, "{}", reply.text());
        assert_eq!(STANDARD.encode(&reply.body), resource["blob"].as_str().unwrap(), "{path}");
        assert_eq!(reply.header("content-type"), resource["mimeType"].as_str());
    }
    let path = "/noema/media/100%25.gif";
    let reply = client.get(path);
    for (name, value) in [
        ("content-type", "image/gif"),
        ("x-content-type-options", "nosniff"),
        ("content-security-policy", "sandbox; default-src 'none'"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", "private, no-cache"),
    ] {
        assert_eq!(reply.header(name), Some(value), "{name}");
    }
    let part = client.request("GET", path, &[("range", "bytes=3-5")], b"");
    assert_eq!((part.status, part.body.as_slice()), (206, b"89a".as_slice()));
    assert_eq!(part.header("content-range"), Some("bytes 3-5/42"));
    let beyond = client.request("GET", path, &[("range", "bytes=42-")], b"");
    assert_eq!((beyond.status, beyond.header("content-range")), (416, Some("bytes */42")));
    let tag = reply.header("etag").unwrap();
    let again = client.request("GET", path, &[("if-none-match", tag)], b"");
    assert_eq!((again.status, again.body.len()), (304, 0));
    let head = client.request("HEAD", path, &[], b"");
    assert_eq!((head.status, head.header("content-length")), (200, Some("42")));
    for path in ["nobody.gif", "..%2f100%25.gif", "%FF.gif", "100%.gif%00"] {
        let missing = client.get(&format!("/noema/media/{path}"));
        assert_eq!(missing.status, 404, "{path}: {}", missing.text());
    }
    assert_eq!(client.request("DELETE", path, &[], b"").status, 405);
}

#[test]
fn only_the_owner_of_a_note_gets_its_media_over_http() {
    let world = TwoTenants::separate();
    let (ann, bob) = (&world.actors[0], &world.actors[1]);
    add(&ann.client, "ann.gif");
    add(&ann.client, "both.gif");
    let path = "/noema/media/ann.gif";
    assert_eq!(ann.client.get(path).status, 200);
    let unknown = bob.client.get("/noema/media/nobody.gif");
    let foreign = bob.client.get(path);
    assert_eq!(
        (foreign.status, foreign.json()["error"]["code"].clone()),
        (404, json!("MEDIA_NOT_FOUND"))
    );
    let anonymous = |text: String| text.replace("ann.gif", "X").replace("nobody.gif", "X");
    assert_eq!(anonymous(foreign.text()), anonymous(unknown.text()));
    assert_eq!(world.server.client().get(path).status, 401, "a key is needed");
    let operator = world.key(&["--profile", "operator"]);
    assert_eq!(operator.client.get(path).status, 404);
    let reader = world.key(&["--user", "ann", "--profile", "reader"]);
    assert_eq!(reader.client.get(path).status, 200);
}

#[test]
fn files_that_are_no_pictures_sounds_or_videos_are_not_served() {
    let place = Place::new();
    let server = place.http(&["cgt"]);
    let reply = server.client().get("/noema/media/dot.gif");
    assert_eq!(reply.status, 404, "the pack is not served: {}", reply.text());
}
