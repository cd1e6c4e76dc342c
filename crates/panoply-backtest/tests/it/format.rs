//! The sealed format against its specification, docs/formats/sealed-run.md.

use std::collections::BTreeSet;
use std::sync::Arc;

use panoply_backtest::event::Guid;
use panoply_backtest::run::RunHeader;
use panoply_backtest::store::memory::MemoryStore;
use panoply_backtest::store::{BlobKey, BlobKind, Blobs, Store};

use crate::helpers::{OWN_RUN, line, sealed};

const SPECIFICATION: &str = include_str!("../../../../docs/formats/sealed-run.md");
/// Kinds with an example. The others are JSON, belong to open runs, contain a bitmap, or need a
/// larger run.
const KINDS: [BlobKind; 21] = [
    BlobKind::Block,
    BlobKind::Directory,
    BlobKind::Times,
    BlobKind::Bitmap,
    BlobKind::DictionaryIndex,
    BlobKind::DictionaryChunk,
    BlobKind::ColumnHead,
    BlobKind::ColumnBlock,
    BlobKind::Links,
    BlobKind::IdIndex,
    BlobKind::IdChunk,
    BlobKind::OrdersIndex,
    BlobKind::OrdersLong,
    BlobKind::OrdersOpen,
    BlobKind::Securities,
    BlobKind::FillIndex,
    BlobKind::FillChunk,
    BlobKind::Trades,
    BlobKind::TextColumnBlock,
    BlobKind::GroupStats,
    BlobKind::Digest,
];

#[test]
fn blobs_match_the_specification() {
    let run = example_run();
    let mut shown = BTreeSet::new();
    for (name, expected) in examples() {
        let mut fields = name.split(' ');
        let mut number = || fields.next().unwrap().parse::<u32>().unwrap();
        let (code, group, number) = (number(), number(), number());
        let kind = KINDS.into_iter().find(|kind| u32::from(kind.code()) == code).unwrap();
        let key = BlobKey::new(kind, u16::try_from(group).unwrap(), number);
        let blob = run.get(key).unwrap().unwrap_or_else(|| panic!("{name} is missing"));
        assert_eq!(hex(&part(&blob, fields.next())), expected, "{name}");
        shown.insert(kind);
    }
    assert_eq!(shown, KINDS.into_iter().collect(), "every kind has an example");
}

#[test]
fn keys_match_the_specification() {
    let key = BlobKey::new(BlobKind::OrdersOpen, 0x0102, 0x0304_0506);
    assert_eq!(key.to_i64(), 0x13_0102_0304_0506);
    for kind in KINDS {
        let name = format!("{kind:?}");
        let row = format!("| {} | {name} |", kind.code());
        assert!(SPECIFICATION.contains(&row), "{row}");
    }
}

/// Seals the events of the example, with the properties from the document.
fn example_run() -> Arc<dyn Blobs> {
    let events = SPECIFICATION.split("## Example").nth(1).unwrap();
    let rows = events.lines().filter_map(|row| {
        let cells: Vec<&str> = row.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect();
        let seq: u32 = cells[0].parse().ok()?;
        Some((seq, cells[1], cells[2].trim_matches('`')))
    });
    let lines: String = rows
        .map(|(seq, event_type, properties)| {
            let time = format!("2025-01-01T00:00:0{seq}.000Z");
            let parent = (seq == 1).then_some(1);
            line(OWN_RUN, seq + 1, &time, event_type, properties, parent) + "\n"
        })
        .collect();
    assert_eq!(lines.lines().count(), 3);
    let store = Arc::new(MemoryStore::default());
    sealed(Arc::clone(&store) as Arc<dyn Store>, RunHeader::default(), lines.as_bytes());
    store.sealed(Guid::parse(OWN_RUN).unwrap()).unwrap()
}

/// The names and bytes of the listing in the document.
fn examples() -> Vec<(String, String)> {
    let listing = SPECIFICATION.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    let mut examples: Vec<(String, String)> = Vec::new();
    for row in listing.lines() {
        match row.split_once(':') {
            Some((name, bytes)) => examples.push((name.to_owned(), bytes.trim().to_owned())),
            None => {
                let (_, bytes) = examples.last_mut().unwrap();
                bytes.push(' ');
                bytes.push_str(row.trim());
            }
        }
    }
    examples
}

/// The decompressed bytes of a blob without its checksum, or of the named part of it.
fn part(blob: &[u8], name: Option<&str>) -> Vec<u8> {
    let blob = &blob[..blob.len() - 8];
    let decompress = |bytes: &[u8]| zstd::decode_all(bytes).unwrap();
    match name {
        None => decompress(blob),
        Some("rows") => decompress(section(&mut &*blob)),
        Some("texts") => {
            let mut rest = blob;
            section(&mut rest);
            decompress(rest)
        }
        Some(other) => {
            assert_eq!(other, "statistics");
            let bytes = decompress(blob);
            let mut rest = bytes.as_slice();
            varint(&mut rest);
            section(&mut rest);
            bytes[..bytes.len() - rest.len()].to_vec()
        }
    }
}

fn varint(bytes: &mut &[u8]) -> usize {
    let length = bytes.iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
    let (own, rest) = bytes.split_at(length);
    *bytes = rest;
    own.iter().rev().fold(0, |value, byte| value << 7 | usize::from(byte & 0x7F))
}

fn section<'a>(bytes: &mut &'a [u8]) -> &'a [u8] {
    let length = varint(bytes);
    let (own, rest) = bytes.split_at(length);
    *bytes = rest;
    own
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}
