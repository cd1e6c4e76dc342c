//! Reading, searching and writing Anki packages.

use std::io::{Cursor, Write};

use panoply_noema::anki::{self, ImportSummary, Package, PackageLimits};
use panoply_noema::collection;
use panoply_noema::deck::{DeckOptions, LeechAction};
use panoply_noema::error::NoemaError;
use panoply_noema::fsrs::{Micros, Parameters};
use panoply_noema::note::Form;
use panoply_noema::search::{self, Node};
use panoply_noema::store::{NewAction, SearchContext, SortOrder, SqliteStore, Store};
use serde_json::Value;

use crate::study::{NOON, act, collection, lanes};

const LEGACY_1: &[u8] = include_bytes!("../golden/sample_genanki_legacy1.apkg");
const LEGACY_2: &[u8] = include_bytes!("../golden/sample_anki26_legacy2.apkg");
const LATEST: &[u8] = include_bytes!("../golden/sample_anki26_latest.apkg");
const WHOLE: &[u8] = include_bytes!("../golden/sample_anki26.colpkg");
const PRESETS_LEGACY: &[u8] = include_bytes!("../golden/presets_anki26_legacy2.apkg");
const PRESETS_LATEST: &[u8] = include_bytes!("../golden/presets_anki26_latest.apkg");
const ORACLE: &[u8] = include_bytes!("../golden/search_oracle.apkg");
const QUERIES: &str = include_str!("../golden/search_examples.json");

fn read(bytes: &[u8]) -> Package {
    anki::read(bytes, PackageLimits::default()).unwrap()
}

fn imported(store: &dyn Store, package: &Package, now: Micros) -> ImportSummary {
    act(store, now, |writer| anki::import(writer, package, now, &mut |_, _| Ok(()))).0
}

fn found(store: &dyn Store, query: &str, now: Micros) -> Vec<String> {
    let context = SearchContext {
        now,
        calendar: DeckOptions::default().calendar(panoply_noema::fsrs::Zone::UTC),
    };
    let query = search::parse(query).unwrap();
    store
        .read(|reader| {
            let cards = reader.search(&query, context, SortOrder::Created, 0, u64::MAX)?.cards;
            let mut keys = Vec::new();
            for id in cards {
                let card = reader.card(id)?.unwrap();
                keys.push(format!("{}/{}", reader.note(card.note)?.unwrap().guid, card.ordinal));
            }
            keys.sort();
            Ok(keys)
        })
        .unwrap()
}

fn media(package: &Package) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut collect = |name: &str, bytes: &[u8]| {
        files.push((name.to_owned(), bytes.to_vec()));
        Ok(())
    };
    package.media.for_each(&mut collect).unwrap();
    files
}

#[test]
fn all_three_package_formats_read_the_same_notes() {
    let notes = |bytes| {
        let mut notes: Vec<(String, String)> =
            read(bytes).notes.into_iter().map(|note| (note.guid, note.fields)).collect();
        notes.sort();
        notes
    };
    let first = notes(LEGACY_1);
    assert_eq!(first.len(), 8);
    for (name, bytes) in [("legacy 2", LEGACY_2), ("latest", LATEST), ("whole", WHOLE)] {
        assert_eq!(notes(bytes), first, "{name}");
        let package = read(bytes);
        assert_eq!(
            (package.cards.len(), package.reviews.len(), package.media.len()),
            (15, 12, 1),
            "{name}"
        );
        assert_eq!(media(&package)[0].0, "dot.png", "{name}");
        assert!(package.left_out.is_empty(), "{name}");
    }
    assert_eq!(media(&read(LATEST)), media(&read(LEGACY_2)));
}

#[test]
fn searches_match_recorded_anki_results() {
    let store = collection();
    imported(&*store, &read(ORACLE), NOON);
    let golden: Value = serde_json::from_str(QUERIES).unwrap();
    for query in golden["queries"].as_array().unwrap() {
        let mut expected: Vec<&str> =
            query["cards"].as_array().unwrap().iter().map(|card| card.as_str().unwrap()).collect();
        expected.sort_unstable();
        let text = query["query"].as_str().unwrap();
        assert_eq!(found(&*store, text, NOON), expected, "query: {text}");
    }
}

#[test]
fn searches_follow_the_anki_manual() {
    let store = collection();
    imported(&*store, &read(ORACLE), NOON);
    let count = |query: &str| found(&*store, query, NOON).len();
    let all = count("");
    assert_eq!(all, 458);
    // Each pair must match the same cards.
    let same = [
        ("deck:Science", "deck:science"),
        ("deck:*", ""),
        ("is:new or -is:new", ""),
        ("tag:anatomy", "tag:Anatomy"),
        ("dog cat", "dog and cat"),
        ("-(dog or cat)", "-dog -cat"),
        ("prop:d>=0 prop:d<=1", "prop:s>0"),
        ("nc:ubung", "nc:Übung"),
        ("card:1", "\"card:Card 1\" or (note:Cloze card:1)"),
        ("flag:1 or flag:2", "flag:2 or flag:1"),
        ("is:buried", "is:buried-manually or is:buried-sibling"),
    ];
    for (one, two) in same {
        assert_eq!(found(&*store, one, NOON), found(&*store, two, NOON), "{one} and {two}");
    }
    for nothing in
        ["prop:d>=9", "deck:filtered", "tag:nothing-like-it", "front:", "re:^$x", "rated:1"]
    {
        assert_eq!(count(nothing), 0, "query: {nothing}");
    }
    assert!(count("w:dog") < count("dog"), "whole words are fewer");
    assert!(count("d*g") >= count("dog") && count("d_g") >= count("dog"));
    assert_eq!(count("re:dog"), count("dog"));
}

#[test]
fn import_is_idempotent_and_undoable() {
    let store = collection();
    let package = read(LATEST);
    let empty = store
        .read(|reader| Ok((reader.decks()?, reader.note_types()?, lanes(reader, NOON)?)))
        .unwrap();
    let (first, action) =
        act(&*store, NOON, |writer| anki::import(writer, &package, NOON, &mut |_, _| Ok(())));
    assert_eq!((first.notes_added, first.cards, first.reviews, first.media), (8, 15, 12, 1));
    let again = imported(&*store, &package, NOON);
    assert_eq!((again.notes_added, again.notes_unchanged, again.cards), (0, 8, 0));
    act(&*store, NOON, |writer| writer.undo(action, NOON));
    let after = store
        .read(|reader| Ok((reader.decks()?, reader.note_types()?, lanes(reader, NOON)?)))
        .unwrap();
    assert_eq!(after, empty, "the undo removes every row");
    assert_eq!(
        imported(&*store, &package, NOON).notes_added,
        8,
        "the package can be imported again"
    );
}

#[test]
fn export_and_import_round_trip() {
    let store = collection();
    imported(&*store, &read(ORACLE), NOON);
    imported(&*store, &read(LATEST), NOON);
    let (bytes, exported) = store
        .read(|reader| {
            let decks: Vec<_> = reader.decks()?.into_iter().map(|deck| deck.id).collect();
            anki::export(reader, &decks, NOON, &mut |_, _| Ok(()))
        })
        .unwrap();
    assert_eq!(
        (exported.notes, exported.cards, exported.reviews, exported.media),
        (308, 473, 12, 1)
    );
    let other = collection();
    let back = imported(&*other, &read(&bytes), NOON);
    assert_eq!((back.notes_added, back.cards, back.reviews, back.media), (308, 473, 12, 1));
    for query in [
        "",
        "is:due",
        "is:suspended",
        "is:buried",
        "prop:ivl>=10",
        "prop:lapses>=2",
        "prop:s>50",
        "flag:3",
        "tag:anatomy",
        "deck:Science",
        "prop:due<0",
    ] {
        assert_eq!(found(&*store, query, NOON), found(&*other, query, NOON), "query: {query}");
    }
}

/// The options set in Anki before the packages were exported.
fn verbs() -> DeckOptions {
    let mut weights = panoply_noema::fsrs::parameters::DEFAULT_WEIGHTS;
    weights[0] = 0.3;
    DeckOptions {
        desired_retention: 0.85,
        learning_steps: vec![60.0, 300.0, 86_400.0],
        relearning_steps: vec![180.0],
        maximum_interval: 365,
        new_per_day: 7,
        reviews_per_day: 55,
        leech_threshold: 5,
        leech_action: LeechAction::Tag,
        bury_siblings: false,
        parameters: Some(Parameters::new(&weights).unwrap()),
        preset: Some("My preset".to_owned()),
        ..DeckOptions::default()
    }
}

#[test]
fn deck_options_round_trip_through_packages() {
    for (name, bytes) in [("legacy 2", PRESETS_LEGACY), ("latest", PRESETS_LATEST)] {
        let store = collection();
        imported(&*store, &read(bytes), NOON);
        let decks = |store: &dyn Store| {
            let decks = store.read(|reader| reader.decks()).unwrap();
            decks
                .into_iter()
                .map(|deck| (deck.name.to_string(), deck.description, deck.options))
                .collect::<Vec<_>>()
        };
        let expected = [
            ("Thai".to_owned(), String::new(), None),
            ("Thai::Verbs".to_owned(), "about verbs".to_owned(), Some(verbs())),
        ];
        assert_eq!(decks(&*store), expected, "{name}");
        let (bytes, _) = store
            .read(|reader| {
                let decks: Vec<_> = reader.decks()?.into_iter().map(|deck| deck.id).collect();
                anki::export(reader, &decks, NOON, &mut |_, _| Ok(()))
            })
            .unwrap();
        let other = collection();
        imported(&*other, &read(&bytes), NOON);
        assert_eq!(decks(&*other), expected, "{name}, out and in again");
        assert_eq!(found(&*other, "preset:\"my preset\"", NOON).len(), 1);
        assert_eq!(found(&*other, "preset:default", NOON).len(), 0);
        // An existing deck keeps its options.
        let existing = collection();
        crate::study::deck(&*existing, "Thai::Verbs", None);
        imported(&*existing, &read(&bytes), NOON);
        assert_eq!(decks(&*existing)[1].2, None);
    }
}

#[test]
fn custom_data_round_trips_and_is_searchable() {
    let mut package = read(LATEST);
    package.cards[0].data = r#"{"cd":"{\"v\":3,\"k\":\"ab\"}"}"#.to_owned();
    package.cards[1].data = r#"{"cd":"{\"v\":7.5}"}"#.to_owned();
    package.cards[2].data = r#"{"cd":"no JSON"}"#.to_owned();
    let store = collection();
    imported(&*store, &package, NOON);
    let (bytes, _) = store
        .read(|reader| {
            let decks: Vec<_> = reader.decks()?.into_iter().map(|deck| deck.id).collect();
            anki::export(reader, &decks, NOON, &mut |_, _| Ok(()))
        })
        .unwrap();
    let other = collection();
    imported(&*other, &read(&bytes), NOON);
    // The counts are those of Anki 26.9.3.
    let counts = [
        ("has-cd:v", 2),
        ("has-cd:k", 1),
        ("has-cd:V", 0),
        ("prop:cdn:v=3", 1),
        ("prop:cdn:v>2", 2),
        ("prop:cdn:v!=3", 1),
        ("prop:cds:k=ab", 1),
        ("prop:cds:k=AB", 0),
        ("prop:cds:k>aa", 1),
    ];
    for (query, expected) in counts {
        for store in [&*store, &*other] {
            assert_eq!(found(store, query, NOON).len(), expected, "query: {query}");
        }
    }
}

#[test]
fn text_search_sees_local_and_external_changes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("noema.db");
    let open = || Box::new(SqliteStore::open(&file).unwrap()) as Box<dyn Store>;
    let (store, other) = (open(), open());
    imported(&*store, &read(LATEST), NOON);
    let count = |query: &str| found(&*store, query, NOON).len();
    assert_eq!(count("zebra"), 0);
    let home = crate::study::deck(&*store, "Animals", None);
    let card = crate::study::note(&*store, home, Form::Basic, "A <b>Zeb</b>ra", "stripes")[0];
    assert_eq!((count("zebra"), count("ZEBRA"), count("<b>zeb")), (1, 1, 1), "a new note");
    let edit = |store: &dyn Store, text: &str| {
        let changes = collection::NoteChanges {
            fields: [("Front".to_owned(), text.to_owned())].into(),
            ..collection::NoteChanges::default()
        };
        act(store, NOON, |writer| collection::update_card(writer, card, changes, NOON)).1
    };
    let action = edit(&*store, "An okapi");
    assert_eq!((count("zebra"), count("okapi")), (0, 1), "changed here");
    act(&*store, NOON, |writer| writer.undo(action, NOON));
    assert_eq!((count("zebra"), count("okapi")), (1, 0), "undone here");
    edit(&*other, "A tapir");
    assert_eq!((count("zebra"), count("tapir")), (0, 1), "changed by another process");
    act(&*store, NOON, |writer| collection::delete_card(writer, card, NOON));
    assert_eq!(count("tapir"), 0, "deleted");
}

#[test]
fn hostile_packages_are_rejected_with_a_reason() {
    let zip = |members: &[(&str, &[u8])]| {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in members {
            zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            zip.write_all(bytes).unwrap();
        }
        zip.finish().unwrap().into_inner()
    };
    let small = PackageLimits { collection: 1 << 20, medium: 1 << 10, media: 1 << 11, files: 10 };
    let bomb = zip(&[("collection.anki2", &vec![0; 8 << 20])]);
    assert!(bomb.len() < 20_000, "eight megabytes in {} bytes", bomb.len());
    let many: Vec<(String, Vec<u8>)> = (0..20).map(|n| (n.to_string(), vec![1])).collect();
    let many: Vec<(&str, &[u8])> =
        many.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("nothing", Vec::new(), "not an Anki package"),
        ("a text", b"hello".to_vec(), "not an Anki package"),
        ("cut off", LATEST[..LATEST.len() / 2].to_vec(), "not an Anki package"),
        ("a bomb", bomb, "larger than"),
        ("too many files", zip(&many), "at most 10"),
        ("no collection", zip(&[("media", b"{}")]), "no `collection.anki2`"),
        (
            "a collection that is none",
            zip(&[("collection.anki2", b"not a database at all")]),
            "database",
        ),
        ("an unknown format", zip(&[("meta", &[8, 9])]), "format 9"),
        ("zstd that is none", zip(&[("meta", &[8, 3]), ("collection.anki21b", b"xx")]), "zstd"),
    ];
    for (name, bytes, expected) in cases {
        let Err(NoemaError::File(message)) = anki::read(&bytes, small) else {
            panic!("{name} was read")
        };
        assert!(message.contains(expected), "{name}: {message}");
    }
}

#[test]
fn unknown_schema_and_damaged_collections_are_rejected() {
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut archive = zip::ZipArchive::new(Cursor::new(LEGACY_2)).unwrap();
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut archive.by_name("collection.anki21").unwrap(), &mut bytes)
            .unwrap();
        change(&mut bytes);
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in [
            ("meta", &[8, 2][..]),
            ("collection.anki21", &bytes),
            ("media", b"{\"0\": \"../evil\"}"),
            ("0", b"x"),
        ] {
            zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            zip.write_all(bytes).unwrap();
        }
        zip.finish().unwrap().into_inner()
    };
    let package = read(&with(&|_| {}));
    assert!(package.media.is_empty());
    assert_eq!(package.left_out, ["medium `../evil`: its name is a path"]);
    let unknown = with(&|bytes| {
        let mut connection = rusqlite::Connection::open_in_memory().unwrap();
        connection.deserialize_read_exact("main", &bytes[..], bytes.len(), false).unwrap();
        connection.execute("UPDATE col SET ver = 99", ()).unwrap();
        *bytes = connection.serialize("main").unwrap().to_vec();
    });
    let error = anki::read(&unknown, PackageLimits::default()).unwrap_err();
    assert!(error.to_string().contains("schema 99"), "{error}");
    // All pages but the first are overwritten: the file opens, but reading must fail.
    let damaged = with(&|bytes| {
        let page = 4096.min(bytes.len() / 2);
        bytes[page..].iter_mut().for_each(|byte| *byte = 0x5a);
    });
    assert!(anki::read(&damaged, PackageLimits::default()).is_err());
}

#[test]
fn failed_import_is_rolled_back() {
    let store = collection();
    let package = read(ORACLE);
    let action = NewAction { tool: "import-package", summary: "half", at: NOON, actor: "local" };
    let stopped = store.change(&action, true, |writer, _| {
        anki::import(writer, &package, NOON, &mut |_, _| Ok(()))?;
        Err::<(), _>(NoemaError::File("stopped".to_owned()))
    });
    assert_eq!(stopped, Err(NoemaError::File("stopped".to_owned())));
    let context = SearchContext {
        now: NOON,
        calendar: DeckOptions::default().calendar(panoply_noema::fsrs::Zone::UTC),
    };
    let left =
        store.read(|reader| reader.search(&Node::All, context, SortOrder::Created, 0, 9)).unwrap();
    assert_eq!(left.total, 0);
    imported(&*store, &package, NOON);
}
