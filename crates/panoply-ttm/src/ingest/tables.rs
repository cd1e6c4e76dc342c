//! Facts in tables: the header of a column states the relation, a cell of the row names the subject.
//!
//! A table is a run of lines with the same number of cells, separated by tabs (wide gaps of a PDF)
//! or `|`. A line with another number of cells ends it: a missing cell would shift the columns. A
//! header has short cells, of which at least one has a cue of a relation; without one the run is
//! prose.

use std::ops::Range;

use super::fact_cues::{CARE, Cue, DENIALS, FORBIDS, HOLDS, INTERACTS, USED};
use super::facts::{PageFacts, Place, is_subject};
use super::gazetteer::{Gazetteer, Named};
use crate::model::{Level, NodeType};
use crate::text::normalize;
use crate::user_data::{Claim, Fact, Quotation};

/// Maximum length of a header cell in characters; longer ones are columns of prose.
const MAX_HEADER_LENGTH: usize = 40;
/// Cues of headers beyond those of sentences.
const HEADER_USES: [&str; 4] = ["indication", "uses", "ใช้รักษา", "ข้อบ่งใช้"];
/// Words by which a header or a cell takes a relation back.
const EXCEPTIONS: [&str; 8] =
    ["safe", "except", "none", "no known", "ปลอดภัย", "ยกเว้น", "ไม่มี", "ใช้ได้"];

/// A table: byte ranges of its lines and cells.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Table {
    /// Lines of the body with their cells.
    rows: Vec<(Range<usize>, Vec<Range<usize>>)>,
    /// Relation of each column.
    relations: Vec<Option<Relation>>,
    /// Header and body.
    range: Range<usize>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Relation {
    Forbids,
    Care,
    Interacts,
    Used,
    Holds,
}

/// Returns the tables of a page.
pub(super) fn tables(text: &str) -> Vec<Table> {
    let lines: Vec<(Range<usize>, Vec<Range<usize>>)> =
        lines(text).map(|line| (line.clone(), cells(text, line))).collect();
    let runs = lines.chunk_by(|one, other| one.1.len() == other.1.len());
    runs.filter_map(|run| {
        let ((head, header), rows) = run.split_first()?;
        let last = rows.last()?;
        if header.len() < 2 {
            return None;
        }
        let relations: Vec<Option<Relation>> =
            header.iter().map(|cell| relation(text.get(cell.clone())?)).collect();
        let is_rule = |cell: &Range<usize>| {
            text.get(cell.clone()).unwrap_or_default().chars().all(|one| "-: ".contains(one))
        };
        let body = rows.iter().filter(|(_, cells)| !cells.iter().all(is_rule)).cloned();
        relations.iter().any(Option::is_some).then(|| Table {
            rows: body.collect(),
            relations,
            range: head.start..last.0.end,
        })
    })
    .collect()
}

/// Returns the text with the tables blanked, at unchanged character offsets.
pub(super) fn prose(text: &str, tables: &[Table]) -> String {
    let inside = |at: usize| tables.iter().any(|table| table.range.contains(&at));
    let blank = |(at, one): (usize, char)| match one {
        '\n' => '\n',
        _ if inside(at) => ' ',
        one => one,
    };
    text.char_indices().map(blank).collect()
}

/// Extracts the facts of tables.
pub(super) fn facts(
    text: &str,
    tables: &[Table],
    place: Place<'_>,
    gazetteer: &Gazetteer,
) -> PageFacts {
    let mut found = PageFacts::default();
    if tables.is_empty() {
        return found;
    }
    let normalized = normalize(text);
    let named = gazetteer.named(&normalized).into_iter();
    let named = named.map(|one| (normalized.source(one.range.clone()), one)).collect();
    let page = TableParser { text, place, named };
    for table in tables {
        for (line, cells) in &table.rows {
            page.row(&table.relations, line, cells, &mut found);
        }
    }
    let inside = |at: usize| tables.iter().any(|table| table.range.contains(&at));
    let names = page.named.iter().filter(|(range, _)| inside(range.start));
    let names = names.map(|(range, one)| (page.characters(range.start), one.id.clone()));
    found.named = names.collect();
    found
}

/// State of extracting the tables of one page.
struct TableParser<'p> {
    text: &'p str,
    place: Place<'p>,
    /// Names with their byte ranges in the text.
    named: Vec<(Range<usize>, Named)>,
}

impl TableParser<'_> {
    fn row(
        &self,
        relations: &[Option<Relation>],
        line: &Range<usize>,
        cells: &[Range<usize>],
        found: &mut PageFacts,
    ) {
        let names: Vec<Vec<&Named>> = cells.iter().map(|cell| self.in_cell(cell)).collect();
        let subjects = names.iter().find(|names| names.iter().any(|one| is_subject(one.kind)));
        let Some(subjects) = subjects else { return };
        let said = self.quotation(line);
        for ((names, relation), cell) in names.iter().zip(relations).zip(cells) {
            let Some(relation) = relation else { continue };
            let taken_back = is_taken_back(self.text.get(cell.clone()).unwrap_or_default());
            for object in names {
                let Some(claim) = claim(object, *relation) else { continue };
                for subject in subjects.iter().filter(|one| is_subject(one.kind)) {
                    if matches!(claim, Claim::Holds { .. }) && subject.kind != NodeType::Herb {
                        continue;
                    }
                    if taken_back {
                        found.denied += 1;
                        continue;
                    }
                    let certainty = self.certainty(subject, object);
                    let said = Quotation { certainty, ..said.clone() };
                    let (subject, claim) = (subject.id.clone(), claim.clone());
                    found.add(Fact { subject, claim, said });
                }
            }
        }
    }

    fn in_cell(&self, cell: &Range<usize>) -> Vec<&Named> {
        let inside = |range: &Range<usize>| cell.start <= range.start && range.end <= cell.end;
        self.named.iter().filter(|(range, _)| inside(range)).map(|(_, one)| one).collect()
    }

    fn certainty(&self, subject: &Named, object: &Named) -> u8 {
        let names = u32::from(subject.certainty.min(object.certainty).saturating_sub(10));
        u8::try_from(names * u32::from(self.place.certainty) / 100).unwrap_or(0)
    }

    /// Quotes a row.
    fn quotation(&self, line: &Range<usize>) -> Quotation {
        let at = |byte: usize| u32::try_from(self.characters(byte)).unwrap_or(u32::MAX);
        let words = self.text.get(line.clone()).unwrap_or_default().split_whitespace();
        Quotation {
            document: self.place.document.to_owned(),
            chunk: 0,
            page: self.place.page,
            start: at(line.start),
            end: at(line.end),
            quote: words.collect::<Vec<_>>().join(" "),
            certainty: 0,
            rule: "table".to_owned(),
        }
    }

    /// Converts a byte offset to a character offset.
    fn characters(&self, byte: usize) -> usize {
        self.text.get(..byte).map_or(0, |before| before.chars().count())
    }
}

fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    text.split('\n').map(move |line| {
        let range = start..start + line.len();
        start = range.end + 1;
        range
    })
}

/// Splits a line at tabs or `|`; a line without any is one cell.
fn cells(text: &str, line: Range<usize>) -> Vec<Range<usize>> {
    let whole = text.get(line.clone()).unwrap_or_default();
    let separator = if whole.contains('\t') { '\t' } else { '|' };
    let framed = whole.trim();
    let inner = framed.strip_prefix('|').unwrap_or(framed);
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    let mut start = line.start + whole.find(inner).unwrap_or(0);
    let cell = |cell: &str| {
        let skipped = cell.len() - cell.trim_start().len();
        let range = start + skipped..start + skipped + cell.trim().len();
        start += cell.len() + separator.len_utf8();
        range
    };
    inner.split(separator).map(cell).collect()
}

/// Returns the relation that a header states.
fn relation(header: &str) -> Option<Relation> {
    if header.chars().count() > MAX_HEADER_LENGTH {
        return None;
    }
    let header = normalize(header).text().to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| header.contains(normalize(word).text()));
    let cue = |cue: &Cue| has(cue.words);
    // `contraindications` contains `indications`; `ไม่มีข้อห้าม` takes the cue back.
    match () {
        () if has(&EXCEPTIONS) => None,
        () if cue(&FORBIDS) => Some(Relation::Forbids),
        () if cue(&CARE) => Some(Relation::Care),
        () if cue(&INTERACTS) => Some(Relation::Interacts),
        () if cue(&HOLDS) => Some(Relation::Holds),
        () if cue(&USED) || has(&HEADER_USES) => Some(Relation::Used),
        () => None,
    }
}

fn is_taken_back(cell: &str) -> bool {
    let cell = format!(" {} ", normalize(cell).text().to_lowercase());
    DENIALS.iter().chain(&EXCEPTIONS).any(|word| cell.contains(normalize(word).text()))
}

fn claim(object: &Named, relation: Relation) -> Option<Claim> {
    let id = || object.id.clone();
    let level = match relation {
        Relation::Forbids => Some(Level::Contraindicated),
        Relation::Care => Some(Level::Precaution),
        Relation::Interacts => Some(Level::Interaction),
        Relation::Used | Relation::Holds => None,
    };
    match (object.kind, relation) {
        (NodeType::Caution, _) => level.map(|level| Claim::Warns { code: id(), level }),
        (NodeType::Drug, _) => level.map(|_| Claim::InteractsWith { drug: id() }),
        (NodeType::Indication, Relation::Used) => Some(Claim::UsedFor { icd: id() }),
        (NodeType::Constituent, Relation::Holds) => Some(Claim::Holds { constituent: id() }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::HerbCatalog;

    fn said(text: &str) -> Vec<String> {
        let gazetteer = Gazetteer::new(&HerbCatalog::bundled().unwrap()).unwrap();
        let place = Place { document: "D:x", page: 1, certainty: 100 };
        let found = facts(text, &tables(text), place, &gazetteer);
        let mut said: Vec<String> = found
            .facts
            .iter()
            .map(|fact| match &fact.claim {
                Claim::Warns { code, level } => {
                    format!("{} {} {code}", fact.subject, level.as_str())
                }
                claim => format!("{} {} {}", fact.subject, fact.said.rule, claim.object()),
            })
            .collect();
        said.sort();
        said
    }

    #[test]
    fn column_header_states_the_relation_of_each_row() {
        let english = "Safety of herbs\n\nHerb\tContraindications\tUse with caution in\tInteracts with\tActive constituents\nAndrographis\tpregnancy, breastfeeding\tliver disease\twarfarin\tandrographolide\nTurmeric\tbile duct obstruction\tgallstones\taspirin\tcurcumin\n";
        let found = said(english);
        for expected in [
            "H:andrographis contraindicated PREG",
            "H:andrographis contraindicated LACT",
            "H:andrographis table warfarin",
            "H:andrographis table C:andrographolide",
            "H:turmeric precaution GALL",
            "H:turmeric table aspirin",
            "H:turmeric table C:curcumin",
        ] {
            assert!(found.iter().any(|one| one == expected), "{expected}: {found:?}");
        }
        assert!(!found.iter().any(|one| one.starts_with("H:turmeric") && one.ends_with("PREG")));
        let thai = "สมุนไพร | ข้อห้ามใช้ | สรรพคุณ\n--- | --- | ---\nฟ้าทะลายโจร | หญิงตั้งครรภ์ | ไข้หวัด\nขิง | นิ่วในถุงน้ำดี | คลื่นไส้อาเจียน";
        let found = said(thai);
        for expected in ["H:andrographis contraindicated PREG", "H:ginger table R11"] {
            assert!(found.iter().any(|one| one == expected), "{expected}: {found:?}");
        }
    }

    #[test]
    fn denied_cells_shifted_rows_and_prose_in_columns_yield_no_facts() {
        for text in [
            // A cell or a header that takes the relation back.
            "Herb\tContraindications\nPsyllium\tnone in pregnancy\nPandan\tnot pregnancy",
            "Herb\tSafe, no contraindication\nPsyllium\tpregnancy",
            "สมุนไพร\tไม่มีข้อห้ามใช้\nเตยหอม\tหญิงตั้งครรภ์",
            // A missing cell shifts the columns.
            "Herb\tUses\tContraindications\nPsyllium\tpregnancy",
            // Two columns of prose.
            "In this long chapter on herbs that are contraindicated\tand others that may be used freely\nwe speak of psyllium\tand then of pregnancy",
            "Psyllium\tpregnancy",
            "",
        ] {
            assert_eq!(said(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn prose_keeps_the_offsets_of_the_page() {
        let text = "ก่อน\nสมุนไพร\tข้อห้ามใช้\nขิง\tหญิงตั้งครรภ์\nหลัง";
        let prose = prose(text, &tables(text));
        assert_eq!(prose.chars().count(), text.chars().count());
        assert!(prose.starts_with("ก่อน\n ") && prose.ends_with("\nหลัง"), "{prose:?}");
        assert!(!prose.contains("ขิง"), "{prose:?}");
    }
}
