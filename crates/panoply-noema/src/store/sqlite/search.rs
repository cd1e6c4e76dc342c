//! Translation of searches to SQL, with Anki's semantics.

use std::sync::PoisonError;

use rusqlite::params_from_iter;

use super::Transaction;
use super::functions::strip_accents;
use super::read::Value;
use super::text_index::ChangedNotes;
use crate::collection;
use crate::deck::{DEFAULT_PRESET, Deck};
use crate::error::Result;
use crate::fsrs::{DAY, Parameters};
use crate::ids::{CardId, DeckId};
use crate::note::checksum;
use crate::numbers::{len_to_u64, round_to_i64};
use crate::search::{Comparison, Matching, Node, Property, State, Test, pattern};
use crate::store::{SearchContext, SearchResult, SortOrder, StoreReader};

impl Transaction<'_> {
    pub(super) fn find(
        &self,
        query: &Node,
        context: SearchContext,
        order: SortOrder,
        offset: u64,
        limit: u64,
    ) -> Result<SearchResult> {
        let mut clause = Clause {
            sql: String::new(),
            values: Vec::new(),
            id_lists: Vec::new(),
            context,
            reader: self,
        };
        clause.node(query)?;
        // Join notes only if a condition needs them: the join is half the cost of a search.
        let notes = if clause.sql.contains("n.") { "JOIN note n ON n.id = c.note" } else { "" };
        let order = match order {
            SortOrder::Created => "c.id",
            SortOrder::Due => "c.phase = 0, c.due, c.id",
            SortOrder::Modified => "c.modified DESC, c.id",
            SortOrder::Difficulty => "ifnull(c.difficulty, 0) DESC, c.id",
            SortOrder::Lapses => "c.lapses DESC, c.id",
        };
        let sql = format!(
            "SELECT c.id FROM card c {notes} WHERE c.deleted IS NULL AND {} ORDER BY {order}",
            clause.sql
        );
        let id_lists = self.text_index.map(|index| &index.id_lists);
        let set_id_lists = |ids: Vec<Vec<i64>>| {
            if let Some(id_lists) = id_lists {
                *id_lists.lock().unwrap_or_else(PoisonError::into_inner) = ids;
            }
        };
        set_id_lists(clause.id_lists);
        let cards =
            self.query_all(&sql, params_from_iter(clause.values), |row| row.get(0).map(CardId));
        set_id_lists(Vec::new());
        let cards = cards?;
        let total = len_to_u64(cards.len());
        let skip = usize::try_from(offset).unwrap_or(usize::MAX);
        let take = usize::try_from(limit).unwrap_or(usize::MAX);
        Ok(SearchResult { cards: cards.into_iter().skip(skip).take(take).collect(), total })
    }
}

struct Clause<'a> {
    sql: String,
    values: Vec<Value>,
    /// Note id lists referenced by index from `in_id_list`.
    id_lists: Vec<Vec<i64>>,
    context: SearchContext,
    reader: &'a Transaction<'a>,
}

const MAX_INLINE_IDS: usize = 2000;

/// Custom data as JSON, or NULL. SQLite may evaluate a JSON function before a condition on the same
/// row, so an empty text must not reach one.
const CUSTOM: &str = "nullif(c.custom, '')";

/// JSON path of a custom data key.
fn json_path(key: &str) -> String {
    format!("$.\"{}\"", key.replace(['"', '\\'], ""))
}

impl Clause<'_> {
    fn node(&mut self, node: &Node) -> Result<()> {
        match node {
            Node::All => self.sql.push_str("true"),
            Node::And(nodes) => self.joined(nodes, " AND ")?,
            Node::Or(nodes) => self.joined(nodes, " OR ")?,
            // As in Anki, a property that a card lacks is unknown: neither it nor its negation
            // matches.
            Node::Not(node) => {
                self.sql.push_str("NOT ");
                self.node(node)?;
            }
            Node::Test(test) => {
                self.sql.push('(');
                self.test(test)?;
                self.sql.push(')');
            }
        }
        Ok(())
    }

    fn joined(&mut self, nodes: &[Node], with: &str) -> Result<()> {
        self.sql.push('(');
        for (position, node) in nodes.iter().enumerate() {
            if position > 0 {
                self.sql.push_str(with);
            }
            self.node(node)?;
        }
        self.sql.push(')');
        Ok(())
    }

    fn test(&mut self, test: &Test) -> Result<()> {
        match test {
            Test::Text(text) => {
                if let Some(notes) = self.notes_containing(text)? {
                    self.notes(notes);
                    return Ok(());
                }
                // Markup may split text, so Anki also searches the first field without markup.
                let text = format!("%{}%", pattern::like(text));
                self.push(
                    "n.fields LIKE ? ESCAPE '\\' OR (n.fields GLOB '*[<&]*' AND plain_first_field(n.fields) LIKE ? ESCAPE '\\')",
                    [text.clone(), text],
                );
            }
            // Anki searches the note as one string, so a match may span fields.
            Test::Regex(text) => self.push("n.fields REGEXP ?", [format!("(?i){text}")]),
            Test::Unaccented(text) => self.push(
                "unaccented(n.fields) LIKE ? ESCAPE '\\'",
                [format!("%{}%", pattern::like(&strip_accents(text)))],
            ),
            Test::Word(text) => {
                self.push("n.fields REGEXP ?", [format!(r"(?i)\b{}\b", pattern::regex(text))]);
            }
            Test::ClozeText(text) => self.push(
                "n.note_type IN (SELECT id FROM note_type WHERE cloze) AND expand_clozes(n.fields) LIKE ? ESCAPE '\\'",
                [format!("%{}%", pattern::like(text))],
            ),
            Test::Field { name, value } => self.field(name, value)?,
            Test::Deck(name) => self.deck(name)?,
            Test::Preset(name) => self.preset(name)?,
            Test::CustomKey(key) => {
                self.push(&format!("json_type({CUSTOM}, ?) IS NOT NULL"), [json_path(key)]);
            }
            Test::CustomNumber(key, comparison, figure) => {
                let sql = format!("json_extract({CUSTOM}, ?) {} {figure:?}", comparison.sign());
                self.push(&sql, [json_path(key)]);
            }
            Test::CustomText(key, comparison, text) => {
                let sql = format!("json_extract({CUSTOM}, ?) {} ?", comparison.sign());
                self.push(&sql, [json_path(key), text.clone()]);
            }
            Test::Tag(tag) => self.tag(tag),
            Test::NoteType(name) => self.push(
                "n.note_type IN (SELECT id FROM note_type WHERE name REGEXP ?)",
                [format!("(?i)^{}$", pattern::regex(name))],
            ),
            Test::Ordinal(ordinal) => self.push("c.ordinal = ?", [i64::from(*ordinal)]),
            Test::Template(name) => self.template(name)?,
            Test::Flag(flag) => self.push("c.flag = ?", [i64::from(*flag)]),
            Test::State(state) => self.state(*state),
            Test::Property(property, comparison, figure) => {
                self.property(*property, *comparison, *figure)?;
            }
            Test::Rated { days, rating } => {
                let since = self.since(*days) / 1000;
                match rating {
                    Some(rating) => self.push(
                        "c.id IN (SELECT card FROM review WHERE id > ? AND rating = ?)",
                        [since, i64::from(*rating)],
                    ),
                    None => self.push(
                        "c.id IN (SELECT card FROM review WHERE id > ? AND rating > 0)",
                        [since],
                    ),
                }
            }
            Test::RatedOn { comparison, day, rating } => {
                let rating = rating.map_or("> 0".to_owned(), |rating| format!("= {rating}"));
                self.logged_on(*comparison, *day, &rating);
            }
            Test::RescheduledOn(comparison, day) => self.logged_on(*comparison, *day, "= 0"),
            Test::Rescheduled(days) => {
                let since = self.since(*days) / 1000;
                self.push("c.id IN (SELECT card FROM review WHERE id > ? AND rating = 0)", [since]);
            }
            Test::Added(days) => self.push("c.created > ?", [self.since(*days)]),
            Test::Edited(days) => self.push("n.modified > ?", [self.since(*days)]),
            Test::Introduced(days) => {
                let since = self.since(*days) / 1000;
                self.push(
                    "c.id IN (SELECT card FROM review WHERE rating > 0 GROUP BY card HAVING min(id) > ?)",
                    [since],
                );
            }
            Test::Cards(ids) => self.one_of("c.id", ids),
            Test::Notes(ids) => self.one_of("c.note", ids),
            Test::DeckId(id) => self.push("c.deck = ?", [*id]),
            Test::NoteTypeId(id) => self.push("n.note_type = ?", [*id]),
            Test::Duplicate { note_type, text } => {
                self.push("n.note_type = ? AND n.checksum = ?", [*note_type, checksum(text)]);
            }
        }
        Ok(())
    }

    fn push<T: rusqlite::ToSql + 'static>(
        &mut self,
        sql: &str,
        values: impl IntoIterator<Item = T>,
    ) {
        self.sql.push_str(sql);
        self.values.extend(values.into_iter().map(|value| Box::new(value) as Value));
    }

    fn one_of(&mut self, column: &str, ids: &[i64]) {
        let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
        self.sql.push_str(&format!("{column} IN ({})", ids.join(", ")));
    }

    /// The start of the day `days` back, counting today as 1.
    fn since(&self, days: i64) -> i64 {
        let calendar = self.context.calendar;
        calendar.start(calendar.day(self.context.now) + 1 - days)
    }

    fn field(&mut self, name: &str, value: &Matching) -> Result<()> {
        let Ok(names) = regex::Regex::new(&format!("(?i)^{}$", pattern::regex(name))) else {
            self.sql.push_str("false");
            return Ok(());
        };
        let mut fields_by_type: Vec<(i64, usize)> = Vec::new();
        for note_type in self.reader.note_types()? {
            let fields = note_type.fields.iter().enumerate();
            fields_by_type.extend(
                fields
                    .filter(|(_, field)| names.is_match(field))
                    .map(|(position, _)| (note_type.id.0, position)),
            );
        }
        if fields_by_type.is_empty() {
            self.sql.push_str("false");
        }
        for (nth, (note_type, position)) in fields_by_type.into_iter().enumerate() {
            if nth > 0 {
                self.sql.push_str(" OR ");
            }
            self.sql.push_str(&format!("(n.note_type = {note_type} AND "));
            let field = format!("field(n.fields, {position})");
            match value {
                Matching::Glob(text) => {
                    self.push(&format!("{field} LIKE ? ESCAPE '\\'"), [pattern::like(text)]);
                }
                Matching::Regex(text) => {
                    self.push(&format!("{field} REGEXP ?"), [format!("(?i){text}")]);
                }
                Matching::Unaccented(text) => self.push(
                    &format!("unaccented({field}) LIKE ? ESCAPE '\\'"),
                    [pattern::like(&strip_accents(text))],
                ),
            }
            self.sql.push(')');
        }
        Ok(())
    }

    fn deck(&mut self, name: &str) -> Result<()> {
        match name.to_lowercase().as_str() {
            "*" => self.sql.push_str("true"),
            // Filtered decks contain no cards.
            "filtered" => self.sql.push_str("false"),
            // The deck of the latest session.
            "current" => {
                let sql = "SELECT deck FROM session ORDER BY id DESC LIMIT 1";
                let last = self.reader.query_one(sql, (), |row| row.get::<_, Option<i64>>(0))?;
                let last = last.flatten().and_then(|id| self.reader.deck(DeckId(id)).transpose());
                let last = last.transpose()?;
                self.decks(|deck| {
                    last.as_ref().is_some_and(|last| deck.name.is_within(&last.name))
                })?;
            }
            _ => {
                let wanted = format!("(?is)^{}($|::)", pattern::regex(name));
                match regex::Regex::new(&wanted) {
                    Ok(wanted) => self.decks(|deck| wanted.is_match(deck.name.as_str()))?,
                    Err(_) => self.sql.push_str("false"),
                }
            }
        }
        Ok(())
    }

    fn decks(&mut self, wanted: impl Fn(&Deck) -> bool) -> Result<()> {
        let decks = self.reader.decks()?;
        let wanted = decks.iter().filter(|deck| wanted(deck));
        let ids: Vec<i64> = wanted.map(|deck| deck.id.0).collect();
        self.one_of("c.deck", &ids);
        Ok(())
    }

    /// Decks without a named preset use Anki's default.
    fn preset(&mut self, name: &str) -> Result<()> {
        let Some(name) = pattern::literal(name).map(|name| name.to_lowercase()) else {
            self.sql.push_str("false");
            return Ok(());
        };
        let decks = self.reader.decks()?;
        let preset = |deck: &Deck| collection::options_among(deck, &decks).preset;
        self.decks(|deck| preset(deck).as_deref().unwrap_or(DEFAULT_PRESET).to_lowercase() == name)
    }

    /// Matches cards with a log entry on a day.
    fn logged_on(&mut self, comparison: Comparison, day: i64, rating: &str) {
        let on = self.on_day("id", 1000, comparison, day);
        let sql = format!("c.id IN (SELECT card FROM review WHERE rating {rating} AND {on})");
        self.sql.push_str(&sql);
    }

    /// A condition on the study day of a time column, relative to today; `unit` is the length of the
    /// column's unit in microseconds. The bounds come from the calendar, so a day may have 23 hours.
    fn on_day(&self, column: &str, unit: i64, comparison: Comparison, day: i64) -> String {
        let calendar = self.context.calendar;
        let day = calendar.day(self.context.now).saturating_add(day.clamp(-100_000, 100_000));
        let (from, to) = (calendar.start(day) / unit, calendar.start(day + 1) / unit);
        match comparison {
            Comparison::AtMost => format!("{column} < {to}"),
            Comparison::AtLeast => format!("{column} >= {from}"),
            Comparison::Unequal => format!("({column} < {from} OR {column} >= {to})"),
            Comparison::Equal => format!("({column} >= {from} AND {column} < {to})"),
            Comparison::Below => format!("{column} < {from}"),
            Comparison::Above => format!("{column} >= {to}"),
        }
    }

    /// Whether a card in steps is due at the start of a day, as Anki's steps of a day or more are.
    fn is_day_start(&self) -> String {
        const HALF_YEAR: i64 = 182 * DAY;
        let now = self.context.now;
        // The offsets in winter and in summer.
        let starts = [now - HALF_YEAR, now, now + HALF_YEAR]
            .map(|time| self.context.calendar.next_start(time).rem_euclid(DAY));
        let starts = starts.map(|start| format!("c.due % {DAY} = {start}"));
        format!("({})", starts.join(" OR "))
    }

    /// Deck id and forgetting curve decay of decks with their own weights, as a CASE expression.
    fn decay(&self) -> Result<String> {
        let default = Parameters::default().decay();
        let decks = self.reader.decks()?;
        let own = decks.iter().filter_map(|deck| {
            let decay = collection::options_among(deck, &decks).parameters?.decay();
            Some(format!("WHEN {} THEN {decay:?}", deck.id.0))
        });
        let own: Vec<String> = own.collect();
        Ok(if own.is_empty() {
            format!("{default:?}")
        } else {
            format!("CASE c.deck {} ELSE {default:?} END", own.join(" "))
        })
    }

    /// Note ids from the text index, if the pattern is literal.
    fn notes_containing(&self, text: &str) -> Result<Option<Vec<i64>>> {
        let Some(text) = pattern::literal(text).filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        // The index does not contain uncommitted changes.
        let usable = matches!(self.reader.changed_notes, ChangedNotes::None);
        let index = self.reader.text_index.filter(|_| usable);
        index.map(|index| index.find(self.reader, &text)).transpose()
    }

    /// Short lists use the index on `card.note`; long ones are tested per card by binary search.
    fn notes(&mut self, notes: Vec<i64>) {
        if notes.len() <= MAX_INLINE_IDS {
            let ids: Vec<String> = notes.iter().map(ToString::to_string).collect();
            let ids = format!("[{}]", ids.join(","));
            self.push("c.note IN (SELECT value FROM json_each(?))", [ids]);
        } else {
            self.sql.push_str(&format!("in_id_list({}, c.note)", self.id_lists.len()));
            self.id_lists.push(notes);
        }
    }

    fn tag(&mut self, tag: &Matching) {
        match tag {
            Matching::Glob(text) if text.contains(' ') => self.sql.push_str("false"),
            Matching::Glob(text) if text == "none" => self.sql.push_str("n.tags = ''"),
            Matching::Glob(text) if text == "*" => self.sql.push_str("true"),
            Matching::Glob(text) => match pattern::literal(text) {
                // A tag and its descendants are a range of the index: `:` sorts directly before
                // `;`.
                Some(tag) => {
                    let tag = tag.to_lowercase();
                    self.push(
                        "c.note IN (SELECT note FROM note_tag WHERE tag = ? UNION ALL SELECT note FROM note_tag WHERE tag >= ? AND tag < ?)",
                        [tag.clone(), format!("{tag}::"), format!("{tag}:;")],
                    );
                }
                None => self.push(
                    "c.note IN (SELECT note FROM note_tag WHERE tag REGEXP ?)",
                    [format!("^{}($|::)", pattern::regex(&text.to_lowercase()))],
                ),
            },
            Matching::Regex(text) => self.push(
                "c.note IN (SELECT note FROM note_tag WHERE tag REGEXP ?)",
                [format!("(?i){text}")],
            ),
            Matching::Unaccented(text) => self.push(
                "c.note IN (SELECT note FROM note_tag WHERE unaccented(tag) REGEXP ?)",
                [format!("^{}($|::)", pattern::regex(&strip_accents(&text.to_lowercase())))],
            ),
        }
    }

    fn template(&mut self, name: &str) -> Result<()> {
        let Ok(wanted) = regex::Regex::new(&format!("(?i)^{}$", pattern::regex(name))) else {
            self.sql.push_str("false");
            return Ok(());
        };
        let mut any = false;
        for note_type in self.reader.note_types()? {
            for (position, template) in note_type.templates.iter().enumerate() {
                if !wanted.is_match(&template.name) {
                    continue;
                }
                if any {
                    self.sql.push_str(" OR ");
                }
                any = true;
                // Cloze deletions share one template; Anki matches only the first.
                let sql = format!("(n.note_type = {} AND c.ordinal = {position})", note_type.id.0);
                self.sql.push_str(&sql);
            }
        }
        if !any {
            self.sql.push_str("false");
        }
        Ok(())
    }

    fn state(&mut self, state: State) {
        let now = self.context.now;
        let sql = match state {
            State::New => "c.phase = 0",
            State::Review => "c.phase IN (2, 3)",
            State::Learning => "c.phase IN (1, 3)",
            State::Suspended => "c.hold = 1",
            State::Buried => return self.push("c.hold IN (2, 3) AND c.held_until > ?", [now]),
            State::BuriedByHand => return self.push("c.hold = 2 AND c.held_until > ?", [now]),
            State::BuriedAsSibling => return self.push("c.hold = 3 AND c.held_until > ?", [now]),
            State::Draft => "c.hold = 4",
            State::Due => {
                let until = self.context.calendar.next_start(self.context.now);
                return self.push(
                    "(c.hold = 0 OR c.hold IN (2, 3) AND c.held_until <= ?) AND c.phase > 0 AND c.due < ?",
                    [now, until],
                );
            }
        };
        self.sql.push_str(sql);
    }

    fn property(&mut self, property: Property, comparison: Comparison, figure: f64) -> Result<()> {
        let sign = comparison.sign();
        let number = round_to_i64(figure);
        let calendar = self.context.calendar;
        match property {
            // Cards due on a day compare by day number. Cards due at a time compare by whole days
            // to the end of today, as in Anki.
            Property::Due => {
                let end = calendar.next_start(self.context.now);
                let on_day = self.on_day("c.due", 1, comparison, number);
                let starts = self.is_day_start();
                self.push(
                    &format!(
                        "(c.hold = 0 OR c.hold IN (2, 3) AND c.held_until <= ?) AND c.phase > 0 AND
                        CASE WHEN c.phase = 2 OR {starts} THEN {on_day} ELSE (c.due - {end}) / {DAY} {sign} ? END"
                    ),
                    [self.context.now, number],
                );
            }
            Property::Interval => self.push(&format!("c.interval_days {sign} ?"), [number]),
            Property::Reps => self.push(&format!("c.reps {sign} ?"), [number]),
            Property::Lapses => self.push(&format!("c.lapses {sign} ?"), [number]),
            Property::Ease => {
                // Anki converts to an unsigned number, which makes negative ones 0.
                self.push(&format!("c.ease {sign} ?"), [round_to_i64(figure * 1000.0).max(0)]);
            }
            Property::Position => {
                self.push(&format!("c.phase = 0 AND c.position {sign} ?"), [number]);
            }
            Property::Stability => self.push(&format!("c.stability {sign} ?"), [figure]),
            Property::Difficulty => {
                self.push(&format!("(c.difficulty - 1) / 9 {sign} ?"), [figure]);
            }
            Property::Retrievability => {
                let decay = self.decay()?;
                let sql = format!("recall(c.stability, ? - c.last_review, {decay}) {sign} ");
                self.push(&sql, [self.context.now]);
                self.push("?", [figure]);
            }
        }
        Ok(())
    }
}
