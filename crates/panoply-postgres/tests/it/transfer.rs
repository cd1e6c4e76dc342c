//! Data of a tenant from a home to the database and back.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use panoply_cgt::portfolio::{Entry, Provenance};
use panoply_cgt::store::{PortfolioError, PortfolioStore, SqlitePortfolios};
use panoply_contract::preferences::{PreferenceStore as _, Preferences};
use panoply_contract::tenant::TenantId;
use panoply_contract::testing::{FixedClock, noon};
use panoply_noema::store::{SqliteStore, Store};
use panoply_postgres::transfer::Move;
use panoply_store::dump::dump;
use panoply_store::transfer::{Direction, Outcome, Transferred};
use panoply_store::{Home, KernelDb};
use panoply_ttm::papers::Record;
use panoply_ttm::search::PaperImport as _;
use panoply_ttm::store::SqliteUserStore;
use serde_json::{Value, json};

use crate::database::{Database, person};
use crate::noema::{cards, kernel, reply, review};

/// Fills a home with cards, reviews, portfolios and preferences.
async fn fill(home: &Home) {
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&home.pack("noema")).unwrap());
    let kernel = kernel(store, &FixedClock::at(noon()));
    let made = reply(&kernel, "create-deck", json!({"name": "ภาษา"})).await.unwrap();
    let deck = made["deck"]["deckId"].clone();
    for number in 0..20 {
        let card = json!({"deckId": deck, "front": format!("คำ {number}"), "back": "b", "tags": ["T::x"], "draft": false});
        reply(&kernel, "create-card", card).await.unwrap();
    }
    for _ in 0..5 {
        review(&kernel, &deck).await.unwrap();
    }
    let shares: &dyn PortfolioStore = &SqlitePortfolios::at(home.pack("cgt"));
    let made: Result<(), PortfolioError> = shares.change(true, |writer| {
        writer.create("pf_1", "Shares \0", 1)?;
        writer.ensure_account("pf_1", "Main", None)?;
        let change = writer.begin("pf_1", 2, "added")?;
        for day in 1..9 {
            let line = format!("2020-01-0{day} BUY A 1 @ 1 GBP");
            let provenance = Provenance::default();
            let entry = Entry { id: 0, account: "Main".to_owned(), line, provenance };
            writer.add("pf_1", change, entry)?;
        }
        writer.undo("pf_1", None, 3).map(drop)
    });
    made.unwrap();
    let papers = SqliteUserStore::at(home.pack("ttm"));
    let record = |number: usize| Record {
        pmid: number.to_string(),
        title: format!("ขมิ้น {number}"),
        ..Record::default()
    };
    papers.import_papers(&mut |keep| (1..9).map(record).try_for_each(keep)).unwrap();
    let preferences = Preferences { study_minutes: Some(25), ..Preferences::default() };
    let kernel_db = KernelDb::open(&home.kernel()).unwrap().0;
    kernel_db.set(&TenantId::local(), &preferences, None).unwrap();
}

/// All rows of a file by table, sorted, without what counts calls of a process.
fn rows(file: &Path) -> BTreeMap<String, Vec<String>> {
    let mut rows = BTreeMap::<String, Vec<String>>::new();
    let counts = |table: &str, row: &Value| {
        matches!(table, "mutation" | "version") || row["key"] == json!("note changes")
    };
    dump(file, |table, row| {
        if !counts(table, row) {
            rows.entry(table.to_owned()).or_default().push(row.to_string());
        }
        Ok::<_, std::convert::Infallible>(())
    })
    .unwrap();
    rows.values_mut().for_each(|rows| rows.sort());
    rows
}

fn transfer(database: &Database, home: &Home, direction: Direction) -> Vec<Transferred> {
    let kernel = KernelDb::open(&home.kernel()).unwrap().0;
    let moving = Move {
        direction,
        server: &database.postgres,
        tenant: &person(1),
        home,
        in_home: &TenantId::local(),
        kernel: kernel.as_ref(),
    };
    moving.run().unwrap()
}

fn outcomes(moved: &[Transferred]) -> Vec<(&'static str, Outcome)> {
    moved.iter().map(|one| (one.pack, one.outcome)).collect()
}

fn all(outcome: Outcome) -> Vec<(&'static str, Outcome)> {
    ["kernel", "noema", "cgt", "ttm"].map(|pack| (pack, outcome)).to_vec()
}

#[tokio::test(flavor = "multi_thread")]
async fn there_and_back_gives_the_same_rows() {
    let database = Database::start();
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (home, other) = (Home::at(one.path()), Home::at(two.path()));
    fill(&home).await;
    let folder = tempfile::tempdir().unwrap();
    // A replica that has used the empty collection follows.
    let replica =
        kernel(cards(&database.postgres, &person(1), folder.path()), &FixedClock::at(noon()));
    assert_eq!(reply(&replica, "list-decks", json!({})).await.unwrap()["decks"], json!([]));
    let copied = transfer(&database, &home, Direction::ToServer);
    assert_eq!(outcomes(&copied), all(Outcome::Copied));
    let cards_table = copied[1].tables.iter().find(|one| one.table == "card").unwrap();
    assert_eq!((cards_table.source.rows, &cards_table.target), (20, &cards_table.source));
    let version = database.admin("SELECT version FROM noema.collection");
    assert_eq!(outcomes(&transfer(&database, &home, Direction::ToServer)), all(Outcome::Unchanged));
    assert_eq!(database.admin("SELECT version FROM noema.collection"), version);
    let sqlite: Arc<dyn Store> = Arc::new(SqliteStore::open(&home.pack("noema")).unwrap());
    let expected = kernel(sqlite, &FixedClock::at(noon()));
    for tool in ["list-decks", "get-stats", "search-cards"] {
        let on_sqlite = reply(&expected, tool, json!({})).await.unwrap();
        assert_eq!(reply(&replica, tool, json!({})).await.unwrap(), on_sqlite, "{tool}");
    }
    assert_eq!(outcomes(&transfer(&database, &other, Direction::ToFiles)), all(Outcome::Copied));
    for pack in ["noema", "cgt", "ttm"] {
        let (before, after) = (rows(&home.pack(pack)), rows(&other.pack(pack)));
        assert!(before.len() >= 3, "{pack}: {:?}", before.keys());
        assert_eq!(after, before, "{pack}");
    }
    assert_eq!(outcomes(&transfer(&database, &other, Direction::ToFiles)), all(Outcome::Unchanged));
}

#[tokio::test(flavor = "multi_thread")]
async fn target_with_other_rows_is_reported_and_not_changed() {
    let database = Database::start();
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    fill(&home).await;
    transfer(&database, &home, Direction::ToServer);
    let attacks = [
        (
            "noema",
            "card",
            "UPDATE noema.card SET reps = reps + 1 WHERE id = (SELECT min(id) FROM noema.card)",
        ),
        (
            "noema",
            "review",
            "DELETE FROM noema.review WHERE id = (SELECT min(id) FROM noema.review)",
        ),
        ("noema", "collection", "UPDATE noema.collection SET secret = '\\x00'"),
        (
            "cgt",
            "entry",
            "INSERT INTO cgt.entry (tenant, row_version, portfolio, id, account, line, file_line, change) SELECT tenant, 1, 'pf_1', 99, '', '', 0, 1 FROM cgt.collection",
        ),
        (
            "kernel",
            "preferences",
            "UPDATE kernel.preferences SET members = '{\"studyMinutes\":26}'",
        ),
    ];
    for (pack, table, sql) in attacks {
        database.admin(&format!("CREATE TABLE public.kept AS SELECT * FROM {pack}.{table}"));
        database.admin(sql);
        for direction in [Direction::ToServer, Direction::ToFiles] {
            let moved = transfer(&database, &home, direction);
            let one = moved.iter().find(|one| one.pack == pack).unwrap();
            assert_eq!(one.outcome, Outcome::Differs, "{sql}");
            let differ = one.tables.iter().filter(|table| table.source != table.target);
            assert_eq!(differ.map(|one| one.table).collect::<Vec<_>>(), [table], "{sql}");
        }
        database.admin(&format!(
            "DELETE FROM {pack}.{table}; INSERT INTO {pack}.{table} SELECT * FROM public.kept; DROP TABLE public.kept"
        ));
        let moved = transfer(&database, &home, Direction::ToServer);
        assert_eq!(outcomes(&moved), all(Outcome::Unchanged), "{sql}: it was not changed back");
    }
}
