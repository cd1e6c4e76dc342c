//! Portfolios on disk: changes, undo and rehearsals.

use super::*;
use crate::portfolio::{Entry, Provenance, Wrapper};
use crate::store::Undone;

const ID: &str = "pf_0000000000000001";

fn entry(line: &str) -> Entry {
    let provenance =
        Provenance { file: Some("t212.csv".to_owned()), line: 2, ..Provenance::default() };
    Entry { id: 0, account: "Main".to_owned(), line: line.to_owned(), provenance }
}

fn lines(store: &dyn PortfolioStore) -> Vec<String> {
    store.load(ID).unwrap().entries.into_iter().map(|entry| entry.line).collect()
}

type Result<T> = std::result::Result<T, PortfolioError>;

fn filled(store: &dyn PortfolioStore) -> i64 {
    let made: Result<i64> = store.change(true, |writer| {
        writer.create(ID, "Shares", 1)?;
        writer.ensure_account(ID, "Main", None)?;
        let change = writer.begin(ID, 2, "added two")?;
        writer.add(ID, change, entry("2020-01-01 BUY A 1 @ 1 GBP"))?;
        writer.add(ID, change, entry("2020-01-02 BUY B 1 @ 1 GBP"))?;
        Ok(change)
    });
    made.unwrap()
}

#[test]
fn looking_and_dry_runs_make_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cgt.db");
    let store: &dyn PortfolioStore = &SqlitePortfolios::at(file.clone());
    assert_eq!(store.list().unwrap(), []);
    assert!(matches!(store.load(ID), Err(PortfolioError::NotFound(_))));
    let tried: Result<()> = store.change(false, |writer| writer.create(ID, "Shares", 1));
    tried.unwrap();
    assert!(!file.exists());
    filled(store);
    assert!(file.exists());
    let tried: Result<usize> = store.change(false, |writer| writer.delete(ID));
    assert_eq!(tried.unwrap(), 2);
    assert_eq!(SqlitePortfolios::at(file).list().unwrap()[0].entries, 2);
}

#[test]
fn undo_restores_edits_removals_and_additions_and_can_be_undone() {
    let store: &dyn PortfolioStore = &SqlitePortfolios::in_memory();
    let first = filled(store);
    let edited: Result<i64> = store.change(true, |writer| {
        let change = writer.begin(ID, 3, "edited")?;
        let line = "2020-01-01 BUY A 5 @ 1 GBP";
        writer.edit(ID, change, 1, &|entry| entry.line = line.to_owned())?;
        writer.remove(ID, change, 2)?;
        writer.add(ID, change, entry("2020-01-03 BUY C 1 @ 1 GBP"))?;
        Ok(change)
    });
    let edited = edited.unwrap();
    let after = ["2020-01-01 BUY A 5 @ 1 GBP", "2020-01-03 BUY C 1 @ 1 GBP"];
    assert_eq!(lines(store), after);
    let undo = |change: Option<i64>| -> Result<Undone> {
        store.change(true, |writer| writer.undo(ID, change, 4))
    };
    // The first change added what the second edited.
    assert!(matches!(undo(Some(first)), Err(PortfolioError::ChangedSince { entry: 1, .. })));
    let undone = undo(None).unwrap();
    assert_eq!((undone.undoes, undone.entries), (edited, 3));
    assert_eq!(lines(store), ["2020-01-01 BUY A 1 @ 1 GBP", "2020-01-02 BUY B 1 @ 1 GBP"]);
    assert!(matches!(undo(Some(edited)), Err(PortfolioError::AlreadyUndone(_))));
    undo(Some(undone.change)).unwrap();
    assert_eq!(lines(store), after);
    // Redone, it can be undone again, and then the change before it.
    assert_eq!(undo(None).unwrap().undoes, edited);
    assert_eq!(undo(None).unwrap().undoes, first);
    assert_eq!(lines(store), Vec::<String>::new());
    assert!(matches!(undo(None), Err(PortfolioError::NothingToUndo)));
    assert!(matches!(undo(Some(99)), Err(PortfolioError::NoChange(99))));
}

#[test]
fn failed_change_leaves_nothing() {
    let store: &dyn PortfolioStore = &SqlitePortfolios::in_memory();
    filled(store);
    let version = store.version();
    let failed: Result<()> = store.change(true, |writer| {
        let change = writer.begin(ID, 3, "half")?;
        writer.remove(ID, change, 1)?;
        writer.remove(ID, change, 7)
    });
    assert!(matches!(failed, Err(PortfolioError::NoEntry(7))));
    assert_eq!((lines(store).len(), store.version()), (2, version));
    assert_eq!(store.changes(ID, 10).unwrap().len(), 1);
}

#[test]
fn account_wrapper_is_not_changed_by_an_import() {
    let store: &dyn PortfolioStore = &SqlitePortfolios::in_memory();
    filled(store);
    let isa: Result<bool> =
        store.change(true, |writer| writer.ensure_account(ID, "Main", Some(Wrapper::Isa)));
    assert!(matches!(isa, Err(PortfolioError::OtherWrapper { .. })));
    let set: Result<()> = store.change(true, |writer| writer.set_wrapper(ID, "Main", Wrapper::Isa));
    set.unwrap();
    assert_eq!(store.load(ID).unwrap().wrapper("Main"), Wrapper::Isa);
}
