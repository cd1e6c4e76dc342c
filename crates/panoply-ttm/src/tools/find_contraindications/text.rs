//! Text summary of `find_contraindications` for a person.

use panoply_contract::prelude::*;

use crate::safety::{SafetyQuery, SafetyReport};
use crate::tools::safety_words::SafetyWords;
use crate::tools::wire::{NOTICE, pick};

/// Maximum number of rows in the text table.
const MAX_ROWS_SHOWN: usize = 12;

pub(super) fn sentence(
    words: &SafetyWords<'_>,
    query: &SafetyQuery,
    report: &SafetyReport,
    lang: Lang,
) -> String {
    let names = query.herbs.iter().chain(&query.formulations);
    let names: Vec<String> = names.take(5).map(|id| words.entity_name(id)).collect();
    let asked = query.herbs.len() + query.formulations.len();
    let rest = asked.saturating_sub(names.len());
    let names = if rest > 0 {
        pick(
            words.display,
            format!("{} และอีก {rest} รายการ", names.join(", ")),
            format!("{} and {rest} more", names.join(", ")),
        )
    } else {
        names.join(", ")
    };
    let known = report.statements.iter().filter(|one| !one.subject.is_gap()).count();
    let checked = report.statements.iter().filter(|one| one.verified).count();
    let coverage = &report.coverage;
    let (considered, without) = (coverage.considered.len(), coverage.without.len());
    let text = pick(
        words.display,
        format!(
            "{names}: พบข้อห้าม ข้อควรระวัง และอันตรกิริยา {known} รายการ ตรวจสอบกับแหล่งอ้างอิงแล้ว {checked} รายการ; ไม่มีบันทึกความปลอดภัย {without} จาก {considered} รายการที่พิจารณา ไม่มีบันทึกไม่ได้แปลว่าปลอดภัย"
        ),
        format!(
            "{names}: {known} contraindications, cautions and interactions on record, {checked} of them checked against a source; {without} of {considered} considered herbs and formulations have no safety record, and no record does not mean that it is safe."
        ),
    );
    format!("{text} {}", NOTICE.for_caller(lang))
}

pub(super) fn table(words: &SafetyWords<'_>, report: &SafetyReport) -> Table {
    let display = words.display;
    let columns = [
        pick(display, "สมุนไพร/ตำรับ", "entity"),
        pick(display, "ระดับ", "strength"),
        pick(display, "ข้อความ", "statement"),
        pick(display, "แหล่ง", "source"),
    ];
    report.statements.iter().take(MAX_ROWS_SHOWN).fold(Table::new(columns), |table, one| {
        let sources = if one.sources.is_empty() { "-".to_owned() } else { one.sources.join(", ") };
        let statement: String = words.contraindication(one).chars().take(90).collect();
        table.row([one.entity.clone(), one.strength.as_str().to_owned(), statement, sources])
    })
}
