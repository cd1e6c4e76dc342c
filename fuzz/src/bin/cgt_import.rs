//! Any text as any broker's export: always an answer, never a panic, and every row that comes out can
//! be read as a line of the transaction language.
#![no_main]

use libfuzzer_sys::fuzz_target;
use panoply_cgt::dsl;
use panoply_cgt::import::{Broker, File, read_all};

fuzz_target!(|input: (u8, &str, &str)| {
    let (choice, awards, text) = input;
    let chosen = Broker::ALL[usize::from(choice) % Broker::ALL.len()];
    let broker = Broker::recognise(text).unwrap_or(chosen);
    let file = File { name: "x", broker, text, awards: Some(awards), columns: None };
    let imported = read_all(&[file.clone(), file]);
    assert_eq!(imported.rows.len(), imported.duplicates.len(), "a file given twice counts once");
    let lines = dsl::print(imported.rows.iter().map(|row| &row.transaction));
    let again = dsl::parse(&lines).unwrap_or_else(|problems| panic!("{lines}: {problems:?}"));
    assert_eq!(again.len(), imported.rows.len(), "{lines}");
});
