//! `panoply docs`: generates `docs/tools.md` from the tool declarations.

use std::fmt::Write as _;
use std::process::ExitCode;

use panoply_contract::registry::{PackEntry, Registry, ToolEntry};
use panoply_contract::spec::{Expect, Listing};

use super::describe::{facts, nature};
use super::parameters;
use crate::app::App;
use crate::cli::Docs;
use crate::config::Config;
use crate::env_vars::Environment;
use crate::failure::Failure;
use crate::out::{Out, notice};

/// The document depends only on the program, not on settings or environment.
pub(super) fn run(docs: &Docs) -> Result<ExitCode, Failure> {
    let config = Config::load(&Environment::default(), None)?;
    let document = document(App::in_memory(&config)?.kernel.registry());
    if !docs.check {
        let mut out = Out::new();
        out.write(document)?;
        out.finish()?;
        return Ok(ExitCode::SUCCESS);
    }
    let there = std::fs::read_to_string(&docs.file).map_err(|error| {
        Failure::work(format!("cannot read `{}`: {error}", docs.file.display()))
            .hint("run it in the repository's root, or name the file with --file")
    })?;
    if there == document {
        notice(format_args!("`{}` is what this program prints.", docs.file.display()));
        return Ok(ExitCode::SUCCESS);
    }
    let differs = there.lines().zip(document.lines()).position(|(there, now)| there != now);
    let line = differs.unwrap_or_else(|| there.lines().count().min(document.lines().count())) + 1;
    Err(Failure::work(format!(
        "`{}` differs from what this program prints, from line {line} on",
        docs.file.display()
    ))
    .hint(format!("run `panoply docs > {}` and look at the difference", docs.file.display())))
}

fn document(registry: &Registry) -> String {
    let mut text = String::from(
        "# Tools\n\n\
         Printed by `panoply docs`; edit the tools' specs, not this file. Tools marked *extra* are \
         listed only with `--tools all`; agents find them with `search-tools`.\n",
    );
    for pack in registry.packs() {
        let tools = registry.get_all().iter().filter(|entry| entry.pack == pack.info.name);
        push_pack(&mut text, pack, &tools.collect::<Vec<_>>());
    }
    text
}

fn push_pack(text: &mut String, pack: &PackEntry, tools: &[&ToolEntry]) {
    push(
        text,
        format_args!(
            "\n## {}: {}\n\n{}\n",
            pack.info.name, pack.info.title, pack.info.instructions
        ),
    );
    if tools.is_empty() {
        return;
    }
    push(text, format_args!("\n| tool | kind | what it does |\n|---|---|---|\n"));
    for entry in tools {
        let extra = if entry.spec.listing == Listing::Extra { " *extra*" } else { "" };
        let (name, kind) = (entry.spec.name, entry.spec.category.as_str());
        let does = cell(entry.spec.description.does);
        push(text, format_args!("| [{name}](#{name}){extra} | {kind} | {does} |\n"));
    }
    for entry in tools {
        push_tool(text, entry);
    }
    for prompt in &pack.prompts {
        push(text, format_args!("\nPrompt `{}`: {}\n", prompt.name, prompt.description));
    }
}

fn push_tool(text: &mut String, entry: &ToolEntry) {
    let spec = entry.spec;
    push(text, format_args!("\n### {}\n\n*{}* · {}\n\n", spec.name, spec.title, facts(entry)));
    push(text, format_args!("{}\n", entry.description));
    let parameters = parameters::of(entry.input_schema());
    if !parameters.is_empty() {
        push(text, format_args!("\n| argument | type | meaning |\n|---|---|---|\n"));
    }
    for parameter in parameters {
        let kind = cell(&nature(&parameter));
        let meaning = cell(&parameter.description);
        push(text, format_args!("| `{}` | {kind} | {meaning} |\n", parameter.name));
    }
    push(text, format_args!("\n```sh\n"));
    for example in spec.examples {
        let outcome = match example.expect {
            Expect::Data(_) => String::new(),
            Expect::Error(code) => format!(", which fails with {code}"),
        };
        let parameters = example.params.replace('\'', r"'\''");
        push(
            text,
            format_args!(
                "# {}{outcome}\npanoply call {} '{parameters}'\n",
                example.shows, spec.name
            ),
        );
    }
    push(text, format_args!("```\n"));
}

fn push(text: &mut String, what: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = text.write_fmt(what);
}

/// Escapes text for a cell of a Markdown table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
