//! `panoply tools`: every tool, by pack.

use std::process::ExitCode;

use panoply_contract::kernel_tools;
use panoply_contract::registry::{PackEntry, ToolEntry};
use panoply_contract::spec::Listing;
use panoply_contract::table::Table;
use serde_json::{Value, json};

use super::Session;
use crate::app::App;
use crate::cli::Tools;
use crate::failure::Failure;
use crate::out::{FAINT, Out};

pub(super) fn run(tools: &Tools, session: &Session) -> Result<ExitCode, Failure> {
    let mut config = session.config()?;
    let chosen = !tools.packs.is_empty();
    if chosen {
        // The kernel pack is in every server and cannot be selected there; here it can.
        let named = tools.packs.iter().filter(|pack| *pack != kernel_tools::PACK);
        config.packs = named.cloned().collect();
    }
    let app = App::in_memory(&config)?;
    let registry = app.kernel.registry();
    // `--pack` lists only the tools of that pack, not those of the kernel.
    let wanted = |pack: &str| !chosen || tools.packs.iter().any(|name| name == pack);
    let entries: Vec<&ToolEntry> =
        registry.get_all().iter().filter(|entry| wanted(entry.pack)).collect();
    let mut out = Out::new();
    if tools.json {
        out.json(&entries.iter().map(|entry| as_json(entry)).collect::<Vec<_>>())?;
        out.finish()?;
        return Ok(ExitCode::SUCCESS);
    }
    let headings = Table::new(["tool", "pack", "kind", "what it does"]);
    let table = entries.iter().fold(headings, |table, entry| {
        let title = match entry.spec.listing {
            Listing::Core => entry.spec.title.to_owned(),
            Listing::Extra => format!("{} (extra)", entry.spec.title),
        };
        table.row([entry.spec.name, entry.pack, entry.spec.category.as_str(), &title])
    });
    out.line(table.render(usize::MAX))?;
    let empty = |pack: &&PackEntry| !entries.iter().any(|entry| entry.pack == pack.info.name);
    for pack in registry.packs().iter().filter(|pack| wanted(pack.info.name)).filter(empty) {
        out.line(format_args!("The pack `{}` has no tools yet.", pack.info.name))?;
    }
    out.line(format_args!(
        "\n{FAINT}`panoply describe TOOL` shows one, `panoply call TOOL` calls it. Extra tools are listed by\n\
         a server only with `--tools all`; agents find them with `search-tools`.{FAINT:#}"
    ))?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn as_json(entry: &ToolEntry) -> Value {
    json!({
        "name": entry.spec.name,
        "title": entry.spec.title,
        "pack": entry.pack,
        "category": entry.spec.category,
        "listed": entry.spec.listing == Listing::Core,
        "version": entry.spec.version,
        "aliases": entry.spec.aliases,
        "tags": entry.spec.tags,
        "description": entry.description,
    })
}
