//! Events as columns and rows: what rows share is written once.
//!
//! A value of all rows is a constant. Repeated parts of texts are patterns: timestamps of a month
//! share their year, ids of an engine their start, rejection reasons all but their prices.

use std::collections::BTreeMap;

use panoply_contract::prelude::*;
use serde_json::{Value, json};

/// Stands in a pattern for the part of a text that differs.
const HOLE: char = '*';
/// Characters of JSON around one part of a text in a row.
const PART_OVERHEAD: usize = 4;
/// Patterns of one column.
const MAX_PATTERNS: usize = 20;

/// Events as columns and rows.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct EventTable {
    /// Values that all rows share, by column.
    constants: BTreeMap<String, Value>,
    /// Repeated parts of the texts of a column. A text in such a column stands for the `*` of its
    /// pattern; a list is the number of a pattern, from 0, and what stands for each `*`.
    #[serde(skip_serializing_if = "Option::is_none")]
    patterns: Option<BTreeMap<String, Vec<String>>>,
    /// Column names; properties by path.
    columns: Vec<String>,
    /// One row per event; null where it has no such property. Nulls at the end are left out.
    rows: Vec<Vec<Value>>,
}

impl EventTable {
    /// The table of rows of named cells. `as_is` keeps columns that were asked for by name as they
    /// are.
    pub(crate) fn of(rows: Vec<Vec<(String, Value)>>, as_is: bool) -> Self {
        let mut names: Vec<String> = Vec::new();
        for name in rows.iter().flatten().map(|(name, _)| name) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        let mut table = Self::default();
        let mut columns: Vec<(String, Vec<Value>)> = Vec::new();
        for name in names {
            let cells: Vec<Value> = rows.iter().map(|row| cell(row, &name)).collect();
            let first = cells.first().cloned().unwrap_or_default();
            if cells.len() > 1 && !as_is && cells.iter().all(|cell| *cell == first) {
                if !first.is_null() {
                    table.constants.insert(name, first);
                }
                continue;
            }
            let packed = if as_is { None } else { Packed::of(&cells) };
            match packed {
                None => columns.push((name, cells)),
                Some(packed) => {
                    table.patterns.get_or_insert_default().insert(name.clone(), packed.patterns);
                    columns.push((name, packed.cells));
                }
            }
        }
        if !as_is {
            // Values that few events have come last, where their nulls are left out.
            columns.sort_by_key(|(_, cells)| cells.iter().filter(|cell| cell.is_null()).count());
        }
        let row = |place: usize| -> Vec<Value> {
            let cells = columns.iter().filter_map(|(_, cells)| cells.get(place).cloned());
            let mut row: Vec<Value> = cells.collect();
            while !as_is && row.last().is_some_and(Value::is_null) {
                row.pop();
            }
            row
        };
        table.rows = (0..rows.len()).map(row).collect();
        table.columns = columns.into_iter().map(|(name, _)| name).collect();
        table
    }
}

fn cell(row: &[(String, Value)], name: &str) -> Value {
    row.iter().find(|(own, _)| own == name).map_or(Value::Null, |(_, value)| value.clone())
}

/// A column of texts without their repeated parts.
#[derive(Debug, PartialEq)]
struct Packed {
    patterns: Vec<String>,
    cells: Vec<Value>,
    /// Characters saved.
    saving: usize,
}

impl Packed {
    /// Packs a column of texts and nulls, if that is shorter.
    fn of(cells: &[Value]) -> Option<Self> {
        let mut texts = Vec::new();
        for cell in cells.iter().filter(|cell| !cell.is_null()) {
            texts.push(cell.as_str().filter(|text| !text.contains(HOLE))?);
        }
        if texts.iter().all(|text| text.parse::<f64>().is_ok()) {
            return None;
        }
        let candidates = [Self::by_ends(cells, &texts), Self::by_numbers(cells, &texts)];
        candidates.into_iter().flatten().max_by_key(|packed| packed.saving)
    }

    /// One pattern: the start and the end that all texts share.
    fn by_ends(cells: &[Value], texts: &[&str]) -> Option<Self> {
        let start = common_start(texts);
        let rests: Vec<&str> = texts.iter().filter_map(|text| text.get(start..)).collect();
        let end = common_end(&rests);
        let pattern = texts.first().map(|text| {
            format!(
                "{}{HOLE}{}",
                text.get(..start).unwrap_or_default(),
                text.get(text.len() - end..).unwrap_or_default()
            )
        })?;
        let middle = |text: &str| text.get(start..text.len() - end).map(str::to_owned);
        let is_empty = texts.iter().all(|text| text.len() == start + end);
        let saving = (texts.len() * (start + end)).checked_sub(pattern.len() + PART_OVERHEAD)?;
        // A handle such as `e17` stays what a caller passes on.
        if is_empty || saving == 0 || start + end < 2 {
            return None;
        }
        let cells = cells.iter().map(|cell| cell.as_str().and_then(middle).into()).collect();
        Some(Self { patterns: vec![pattern], cells, saving })
    }

    /// A pattern for each sentence that differs only in its numbers.
    fn by_numbers(cells: &[Value], texts: &[&str]) -> Option<Self> {
        let mut patterns: Vec<String> = Vec::new();
        let (mut before, mut after, mut holes) = (0, 0, 0);
        let mut packed = Vec::new();
        for cell in cells {
            let Some(text) = cell.as_str() else {
                packed.push(Value::Null);
                continue;
            };
            let (pattern, numbers) = without_numbers(text);
            let known = patterns.iter().position(|own| *own == pattern);
            let number = known.unwrap_or_else(|| {
                after += pattern.len() + PART_OVERHEAD;
                patterns.push(pattern);
                patterns.len() - 1
            });
            if patterns.len() > MAX_PATTERNS || patterns.len() * 2 > texts.len() {
                return None;
            }
            before += text.len();
            holes += numbers.len();
            after += PART_OVERHEAD;
            after += numbers.iter().map(|own| own.len() + PART_OVERHEAD).sum::<usize>();
            let mut parts = vec![json!(number)];
            parts.extend(numbers.into_iter().map(Value::from));
            packed.push(Value::Array(parts));
        }
        // Words without numbers stay readable: `Buy` is no pattern.
        if holes < texts.len() {
            return None;
        }
        let saving = before.checked_sub(after).filter(|saving| *saving > 0)?;
        Some(Self { patterns, cells: packed, saving })
    }
}

/// Whether a text may be cut between two characters: not inside of a word or a number.
fn is_boundary(before: Option<char>, after: Option<char>) -> bool {
    let (Some(before), Some(after)) = (before, after) else { return true };
    let both = |is: fn(char) -> bool| is(before) && is(after);
    !both(char::is_alphabetic) && !both(|c| c.is_ascii_digit() || c == '.')
}

/// Bytes at the start that all texts share, up to a boundary in each of them.
fn common_start(texts: &[&str]) -> usize {
    let Some((first, others)) = texts.split_first() else { return 0 };
    let shared = |other: &&str| {
        let same = first.chars().zip(other.chars()).take_while(|(a, b)| a == b);
        same.map(|(own, _)| own.len_utf8()).sum::<usize>()
    };
    let mut length = others.iter().map(shared).min().unwrap_or(first.len());
    let is_cut = |length: usize| {
        texts.iter().all(|text| {
            let Some((start, rest)) = text.split_at_checked(length) else { return false };
            is_boundary(start.chars().next_back(), rest.chars().next())
        })
    };
    while length > 0 && !is_cut(length) {
        length -= 1;
    }
    length
}

/// Bytes at the end that all texts share, up to a boundary in each of them.
fn common_end(texts: &[&str]) -> usize {
    let Some((first, others)) = texts.split_first() else { return 0 };
    let shared = |other: &&str| {
        let same = first.chars().rev().zip(other.chars().rev()).take_while(|(a, b)| a == b);
        same.map(|(own, _)| own.len_utf8()).sum::<usize>()
    };
    let mut length = others.iter().map(shared).min().unwrap_or(first.len());
    let is_cut = |length: usize| {
        texts.iter().all(|text| {
            let at = text.len().checked_sub(length);
            let Some((rest, end)) = at.and_then(|at| text.split_at_checked(at)) else {
                return false;
            };
            is_boundary(rest.chars().next_back(), end.chars().next())
        })
    };
    while length > 0 && !is_cut(length) {
        length -= 1;
    }
    length
}

/// A text with a hole for each number, and the numbers.
fn without_numbers(text: &str) -> (String, Vec<String>) {
    let (mut pattern, mut numbers) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, tail) = rest.split_at(start);
        let is_part = |c: char| c.is_ascii_digit() || c == '.';
        let length = tail.find(|c| !is_part(c)).unwrap_or(tail.len());
        // A full stop after a number belongs to the sentence.
        let number = tail.get(..length).unwrap_or_default().trim_end_matches('.');
        pattern.push_str(before);
        pattern.push(HOLE);
        numbers.push(number.to_owned());
        rest = tail.get(number.len()..).unwrap_or_default();
    }
    pattern.push_str(rest);
    (pattern, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts of a packed column.
    fn unpacked(packed: &Packed) -> Vec<Value> {
        let fill = |pattern: &str, parts: &[&str]| {
            let mut text = String::new();
            let mut parts = parts.iter();
            for c in pattern.chars() {
                match c {
                    HOLE => text.push_str(parts.next().unwrap()),
                    c => text.push(c),
                }
            }
            assert_eq!(parts.next(), None);
            text
        };
        let cell = |cell: &Value| match cell {
            Value::Null => Value::Null,
            Value::String(part) => fill(&packed.patterns[0], &[part]).into(),
            Value::Array(parts) => {
                let pattern = usize::try_from(parts[0].as_u64().unwrap()).unwrap();
                let parts: Vec<&str> =
                    parts[1..].iter().map(|part| part.as_str().unwrap()).collect();
                fill(&packed.patterns[pattern], &parts).into()
            }
            other => panic!("{other}"),
        };
        packed.cells.iter().map(cell).collect()
    }

    #[test]
    fn texts_are_cut_at_words_and_numbers() {
        let cases: [(&[&str], Option<&str>); 9] = [
            (
                &["2017-04-20T06:00:00.000Z", "2017-04-21T07:00:00.000Z"],
                Some("2017-04-*:00:00.000Z"),
            ),
            (&["e17", "e18", "e25", "e26", "e27", "e28", "e29", "e300"], None),
            // The currency pairs stay readable.
            (&["EURUSD", "GBPUSD", "AUDUSD"], None),
            (&["EURUSD-NET", "GBPUSD-NET", "AUDUSD-NET"], Some("*-NET")),
            (&["SIM-1-046", "SIM-2-047", "SIM-2-048"], Some("SIM-*")),
            (&["a*b", "a*c"], None),
            (&["ราคา 1", "ราคา 2", "ราคา 3"], Some("ราคา *")),
            (&["", "x"], None),
            (&["814786633366918.3", "814786633366918.7"], None),
        ];
        for (texts, pattern) in cases {
            let cells: Vec<Value> = texts.iter().copied().map(Value::from).collect();
            let packed = Packed::of(&cells);
            assert_eq!(packed.as_ref().map(|own| own.patterns[0].as_str()), pattern, "{texts:?}");
            if let Some(packed) = packed {
                assert_eq!(unpacked(&packed), cells);
            }
        }
    }

    #[test]
    fn sentences_that_differ_in_numbers_share_their_words() {
        let reason = |side: &str, price: f64| {
            json!(format!("POST_ONLY {side} at {price} would take: bid=1.08980, ask=1.0899."))
        };
        let mut cells = vec![Value::Null, json!("margin")];
        cells.extend((0..9).map(|n| reason(["Buy", "Sell"][n % 2], n as f64 / 8.0)));
        let packed = Packed::of(&cells).unwrap();
        assert_eq!(packed.patterns.len(), 3, "{packed:?}");
        assert_eq!(packed.patterns[1], "POST_ONLY Buy at * would take: bid=*, ask=*.");
        assert_eq!(packed.cells[2], json!([1, "0", "1.08980", "1.0899"]));
        assert_eq!(unpacked(&packed), cells);
    }

    #[test]
    fn rare_values_come_last_and_their_nulls_are_left_out() {
        let row = |n: u32, rare: Value| {
            vec![("rare".to_owned(), rare), ("n".to_owned(), json!(n)), ("same".into(), json!(1))]
        };
        let rows = || vec![row(1, Value::Null), row(2, json!(true)), row(3, Value::Null)];
        let table = EventTable::of(rows(), false);
        assert_eq!(table.columns, ["n", "rare"]);
        assert_eq!(json!(table.rows), json!([[1], [2, true], [3]]));
        assert_eq!(json!(table.constants), json!({"same": 1}));
        // What was asked for by name comes as it is.
        let table = EventTable::of(rows(), true);
        assert_eq!(table.columns, ["rare", "n", "same"]);
        assert_eq!(json!(table.rows), json!([[null, 1, 1], [true, 2, 1], [null, 3, 1]]));
    }

    #[test]
    fn column_of_other_values_than_texts_is_not_packed() {
        for cells in [
            vec![json!("e1"), json!(2), json!("e3")],
            vec![json!("e1"), json!(["e2"]), json!("e3")],
            vec![Value::Null, Value::Null],
            vec![json!("same words"), Value::Null, json!("same words")],
            vec![json!("Buy"), json!("Sell"), json!("Buy"), json!("Buy"), json!("Sell")],
        ] {
            assert_eq!(Packed::of(&cells), None, "{cells:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn packed_texts_are_recovered(texts in proptest::collection::vec("(e[0-9]{1,4}|2017-0[1-9]T0[0-9]:00Z|[a-c*. ]{0,6}[0-9.]{0,6}[ก-ค.]{0,3})", 0..12)) {
            let cells: Vec<Value> = texts.into_iter().map(Value::from).collect();
            if let Some(packed) = Packed::of(&cells) {
                proptest::prop_assert_eq!(unpacked(&packed), cells);
            }
        }
    }
}
