//! The tables of flashcards, with their columns.
//!
//! What follows from them is not stored: tags of notes and the counts of cards and reviews.

use crate::working_copy::sqlite::{Kind, Table};

/// All tables, in the order in which rows are inserted.
pub(super) const TABLES: &[Table] = &[
    Table {
        name: "deck",
        key: 1,
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
        key: 1,
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
        key: 1,
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
        key: 1,
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
        key: 1,
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
        key: 1,
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
        key: 1,
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
        key: 1,
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
        key: 1,
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
    Table { name: "learner", key: 1, columns: &[("id", Kind::Integer), ("settings", Kind::Text)] },
    Table {
        name: "media_content",
        key: 1,
        columns: &[("id", Kind::Integer), ("added", Kind::Integer), ("bytes", Kind::Bytes)],
    },
    Table {
        name: "media_file",
        key: 1,
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
    use crate::noema::Cards;
    use crate::working_copy::sqlite::assert_columns_are_listed;

    #[test]
    fn every_column_of_the_sqlite_tables_is_listed() {
        let derived = ["due_count", "lane_count", "meta", "mutation", "note_tag", "quarter_hour"];
        assert_columns_are_listed::<Cards>(&derived);
    }
}
