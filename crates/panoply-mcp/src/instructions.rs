//! Server instructions for the model.

use panoply_contract::kernel::{Kernel, Scope};

/// Clients truncate instructions at this length.
const MAX_BYTES: usize = 2048;

const INTRODUCTION: &str = "Expert tools under one contract. Figures say as of when they are; a missing figure is \
null. An error has a code and a hint: follow the hint, then call again.";

/// Builds the instructions: introduction and the instructions of each pack, as far as they fit.
pub(crate) fn of(kernel: &Kernel, scope: &Scope) -> String {
    let mut text = INTRODUCTION.to_owned();
    for pack in kernel.packs(scope).filter(|pack| !pack.info.instructions.is_empty()) {
        append(&mut text, &format!("{}: {}", pack.info.title, pack.info.instructions));
    }
    text
}

fn append(text: &mut String, paragraph: &str) {
    if text.len() + paragraph.len() + 2 <= MAX_BYTES {
        text.push_str("\n\n");
        text.push_str(paragraph);
    } else {
        tracing::warn!(paragraph, "instructions are full; paragraph omitted");
    }
}
