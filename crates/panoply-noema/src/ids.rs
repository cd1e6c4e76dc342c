//! Typed ids. Values are Unix milliseconds as in Anki, so ids sort by age and survive package
//! exchange; tools add a prefix such as `card_`.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($name:ident, $prefix:literal, $doc:literal) => {
        #[doc = $doc]
        #[derive(
            Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

id!(DeckId, "deck_", "A deck.");
id!(NoteTypeId, "type_", "A note type.");
id!(NoteId, "note_", "A note.");
id!(CardId, "card_", "A card.");
id!(ReviewId, "review_", "An entry of the review log.");
id!(SessionId, "session_", "A session of study.");
id!(MediaId, "media_", "A media file.");
id!(ActionId, "action_", "A change that can be undone.");
