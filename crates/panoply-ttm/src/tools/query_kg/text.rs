//! Text summary of `query_kg`.

use panoply_contract::prelude::*;

use super::super::wire::{NOTICE, caller_language, pick};
use super::INFERENCE;
use crate::graph::NodeIndex;
use crate::graph::walk::{Path, PathQuery};
use crate::knowledge::Knowledge;

/// Summarises the result in a sentence.
pub(super) fn sentence(
    knowledge: &Knowledge,
    question: &PathQuery,
    shown: usize,
    more: bool,
    inferred: bool,
    lang: Lang,
) -> String {
    let display = caller_language(lang);
    let name = knowledge
        .graph
        .node(question.start)
        .map(|node| format!("{} [{}]", node.names.in_language(display), node.id))
        .unwrap_or_default();
    let end = question.end.and_then(|end| knowledge.graph.node(end));
    let name = end.map_or_else(
        || name.clone(),
        |end| {
            let to = format!("{} [{}]", end.names.in_language(display), end.id);
            pick(display, format!("{name} ไปยัง {to}"), format!("{name} to {to}"))
        },
    );
    let found = match (shown, more) {
        (0, _) => pick(
            display,
            format!("ไม่พบเส้นทางจาก {name} ที่ตรงตามที่ถาม ไม่พบในข้อมูลไม่ได้แปลว่าไม่มี"),
            format!(
                "No path from {name} fits; that the data have none does not mean that there is none."
            ),
        ),
        (_, true) => pick(
            display,
            format!("{shown} เส้นทางแรกจาก {name} (ยังมีอีก)"),
            format!("The best {shown} paths from {name}; there are more."),
        ),
        (_, false) => pick(
            display,
            format!("{shown} เส้นทางจาก {name}"),
            format!("{shown} paths from {name}."),
        ),
    };
    let caveat = if inferred {
        let text = pick(display, INFERENCE.0, INFERENCE.1);
        format!(" {}: {text}.", pick(display, "หมายเหตุ", "Note"))
    } else {
        String::new()
    };
    format!("{found}{caveat} {}", NOTICE.for_caller(lang))
}

/// Renders paths as a table.
pub(super) fn table<'k>(
    knowledge: &Knowledge,
    paths: impl Iterator<Item = &'k Path>,
    lang: Lang,
) -> Table {
    let display = caller_language(lang);
    let columns = [
        pick(display, "เส้นทาง", "path"),
        pick(display, "คะแนน", "score"),
        pick(display, "ตรวจสอบแล้ว", "verified"),
    ];
    paths.fold(Table::new(columns), |table, path| {
        let label = |at: NodeIndex| {
            knowledge.graph.node(at).map(|node| {
                let name = node.names.in_language(display);
                name.chars().take(40).collect::<String>()
            })
        };
        let mut route = label(path.start).unwrap_or_default();
        let mut verified = true;
        for (number, to) in &path.hops {
            let Some(edge) = knowledge.graph.edge(*number) else { continue };
            verified &= edge.verified;
            let relation = edge.relation.as_str();
            let arrow = if edge.to == *to {
                format!(" -{relation}→ ")
            } else {
                format!(" ←{relation}- ")
            };
            route += &arrow;
            route += &label(*to).unwrap_or_default();
        }
        let verified = if verified {
            pick(display, "ใช่", "yes")
        } else {
            pick(display, "ไม่", "no")
        };
        table.row([route, format!("{:.2}", path.score), verified])
    })
}
