//! The tables that PostgreSQL and the copy in SQLite have in common, with their columns.
//!
//! What follows from them is not stored: tags of notes and the counts of cards and reviews.

use super::rows::Kind;

/// A table with an integer key `id`, its first column.
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) columns: &'static [(&'static str, Kind)],
}

/// All tables, in the order in which rows are inserted.
pub(super) const TABLES: [Table; 12] = [
    Table {
        name: "deck",
        columns: &[
            ("id", Kind::Integer),
            ("name", Kind::Text),
            ("folded", Kind::Text),
            ("description", Kind::Text),
            ("options", Kind::Text),
            ("filter", Kind::Text),
            ("created", Kind::Integer),
            ("modified", Kind::Integer),
            ("version", Kind::Integer),
            ("deleted", Kind::Integer),
            ("batch", Kind::Integer),
        ],
    },
    Table {
        name: "note_type",
        columns: &[
            ("id", Kind::Integer),
            ("name", Kind::Text),
            ("cloze", Kind::Integer),
            ("fields", Kind::Text),
            ("templates", Kind::Text),
            ("css", Kind::Text),
            ("batch", Kind::Integer),
            ("config", Kind::Text),
        ],
    },
    Table {
        name: "note",
        columns: &[
            ("id", Kind::Integer),
            ("guid", Kind::Text),
            ("note_type", Kind::Integer),
            ("fields", Kind::Text),
            ("tags", Kind::Text),
            ("checksum", Kind::Integer),
            ("source", Kind::Text),
            ("created", Kind::Integer),
            ("modified", Kind::Integer),
            ("version", Kind::Integer),
            ("deleted", Kind::Integer),
            ("batch", Kind::Integer),
        ],
    },
    Table {
        name: "past_content",
        columns: &[
            ("id", Kind::Integer),
            ("note", Kind::Integer),
            ("version", Kind::Integer),
            ("fields", Kind::Text),
            ("tags", Kind::Text),
            ("replaced", Kind::Integer),
        ],
    },
    Table {
        name: "card",
        columns: &[
            ("id", Kind::Integer),
            ("note", Kind::Integer),
            ("ordinal", Kind::Integer),
            ("deck", Kind::Integer),
            ("position", Kind::Integer),
            ("phase", Kind::Integer),
            ("step", Kind::Integer),
            ("stability", Kind::Real),
            ("difficulty", Kind::Real),
            ("last_review", Kind::Integer),
            ("due", Kind::Integer),
            ("interval_days", Kind::Integer),
            ("reps", Kind::Integer),
            ("lapses", Kind::Integer),
            ("ease", Kind::Integer),
            ("flag", Kind::Integer),
            ("hold", Kind::Integer),
            ("held_until", Kind::Integer),
            ("sequence", Kind::Integer),
            ("created", Kind::Integer),
            ("modified", Kind::Integer),
            ("deleted", Kind::Integer),
            ("batch", Kind::Integer),
            ("custom", Kind::Text),
        ],
    },
    Table {
        name: "review",
        columns: &[
            ("id", Kind::Integer),
            ("card", Kind::Integer),
            ("rating", Kind::Integer),
            ("kind", Kind::Integer),
            ("interval", Kind::Integer),
            ("last_interval", Kind::Integer),
            ("factor", Kind::Integer),
            ("taken_ms", Kind::Integer),
            ("predicted", Kind::Real),
            ("felt", Kind::Real),
            ("token", Kind::Text),
            ("outcome", Kind::Text),
            ("batch", Kind::Integer),
        ],
    },
    Table {
        name: "tally",
        columns: &[
            ("id", Kind::Integer),
            ("deck", Kind::Integer),
            ("day", Kind::Integer),
            ("new", Kind::Integer),
            ("reviews", Kind::Integer),
        ],
    },
    Table {
        name: "session",
        columns: &[
            ("id", Kind::Integer),
            ("deck", Kind::Integer),
            ("started", Kind::Integer),
            ("ended", Kind::Integer),
            ("card_limit", Kind::Integer),
            ("answered", Kind::Integer),
            ("passed", Kind::Integer),
            ("taken_ms", Kind::Integer),
        ],
    },
    Table {
        name: "action",
        columns: &[
            ("id", Kind::Integer),
            ("tool", Kind::Text),
            ("summary", Kind::Text),
            ("at", Kind::Integer),
            ("undone", Kind::Integer),
            ("changed", Kind::Integer),
            ("bulk", Kind::Integer),
            ("images", Kind::Text),
            ("actor", Kind::Text),
        ],
    },
    Table { name: "learner", columns: &[("id", Kind::Integer), ("settings", Kind::Text)] },
    Table {
        name: "media_content",
        columns: &[("id", Kind::Integer), ("added", Kind::Integer), ("bytes", Kind::Bytes)],
    },
    Table {
        name: "media_file",
        columns: &[
            ("id", Kind::Integer),
            ("name", Kind::Text),
            ("content", Kind::Integer),
            ("added", Kind::Integer),
            ("deleted", Kind::Integer),
            ("batch", Kind::Integer),
        ],
    },
];

#[cfg(test)]
mod tests {
    use panoply_noema::store::sqlite;
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn every_column_of_the_sqlite_tables_is_listed() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(sqlite::SCHEMA).unwrap();
        let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
        let mut statement = connection.prepare(sql).unwrap();
        let tables = statement.query_map((), |row| row.get::<_, String>(0)).unwrap();
        let derived = ["due_count", "lane_count", "meta", "note_tag", "quarter_hour"];
        for table in tables.map(Result::unwrap).filter(|name| !derived.contains(&name.as_str())) {
            let listed = TABLES
                .iter()
                .find(|one| one.name == table)
                .unwrap_or_else(|| panic!("the table `{table}` is not stored in PostgreSQL"));
            let sql = format!("SELECT name FROM pragma_table_info('{table}')");
            let mut statement = connection.prepare(&sql).unwrap();
            let columns = statement.query_map((), |row| row.get::<_, String>(0)).unwrap();
            let columns: Vec<String> = columns.map(Result::unwrap).collect();
            let listed: Vec<&str> = listed.columns.iter().map(|(name, _)| *name).collect();
            assert_eq!(listed, columns, "{table}");
        }
    }
}
