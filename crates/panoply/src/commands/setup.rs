//! `panoply setup`: lists clients, and prints, writes or removes their configuration.
//!
//! The file belongs to the user. Only the entries of this program are changed, after a backup, and a
//! file that cannot be parsed is not written. Removal gives back the file as it was, byte for byte,
//! when nothing else changed since.

pub(super) mod clients;
mod file;
mod json_text;
mod steps;
mod toml_text;

use std::process::ExitCode;

use clap::ValueEnum as _;
use serde_json::{Map, Value};

use self::clients::{ClientFile, Format, LocalServer, WITH_FILE, is_ours};
use self::file::{read_text, refused_file, remove_file, replace};
use super::Session;
use crate::cli::{Client, Setup};
use crate::failure::Failure;
use crate::out::{BOLD, FAINT, Out};
use crate::packs;

pub(super) fn run(setup: &Setup, session: &Session) -> Result<ExitCode, Failure> {
    packs::check_names(&setup.packs)?;
    let Some(client) = setup.client else { return list(setup, session) };
    let program = std::env::current_exe()
        .map_err(|error| Failure::work(format!("cannot locate the program: {error}")))?;
    let home = session.home();
    let chosen = home.folder.as_deref().filter(|_| home.chosen);
    let servers: Vec<(String, LocalServer)> = entries_of(setup)
        .into_iter()
        .map(|(name, packs)| (name, LocalServer::new(&program, &packs, chosen)))
        .collect();
    let Some(mut file) = ClientFile::of(client, &session.environment) else {
        return steps::print(client, setup, &servers);
    };
    if setup.url.is_some() {
        return Err(Failure::usage(format!(
            "{} starts the program itself and needs no URL",
            file.title
        ))
        .hint("omit --url, or copy the configuration that `panoply http` prints"));
    }
    if let Some(path) = &setup.file {
        file.path = Some(path.clone());
    }
    if setup.remove {
        remove(&file, &servers)
    } else if setup.write {
        write(&file, &servers)
    } else {
        print(&file, client, &servers)
    }
}

/// Names of the entries and the packs of each: one, or one per pack.
fn entries_of(setup: &Setup) -> Vec<(String, Vec<String>)> {
    if !setup.each_pack {
        return vec![(setup.name.clone(), setup.packs.clone())];
    }
    let all = packs::ALL.iter().map(|pack| pack.name.to_owned());
    let chosen = if setup.packs.is_empty() { all.collect() } else { setup.packs.clone() };
    chosen.into_iter().map(|pack| (format!("{}-{pack}", setup.name), vec![pack])).collect()
}

/// Names of the entries that start this program.
pub(super) fn connected_entries(client: &ClientFile) -> Result<Vec<(String, Value)>, Failure> {
    let Some(path) = &client.path else { return Ok(Vec::new()) };
    let Some(text) = read_text(path)? else { return Ok(Vec::new()) };
    let servers = servers_in(client, &text).map_err(|refused| refused_file(path, &refused))?;
    let ours = servers.into_iter().filter(|(name, entry)| name == "panoply" || is_ours(entry));
    Ok(ours.collect())
}

/// What a client is called on the command line.
pub(super) fn word_of(client: Client) -> String {
    client.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

fn servers_in(client: &ClientFile, text: &str) -> Result<Map<String, Value>, json_text::Refused> {
    let document = match client.format {
        Format::Json => json_text::read(text),
        Format::Toml => toml_text::read(text),
    }?;
    Ok(document.get(client.section).and_then(Value::as_object).cloned().unwrap_or_default())
}

fn set(
    client: &ClientFile,
    text: &str,
    name: &str,
    entry: &Value,
) -> Result<String, json_text::Refused> {
    match client.format {
        Format::Json => json_text::set(text, client.section, name, entry),
        Format::Toml => toml_text::set(text, client.section, name, entry),
    }
}

/// Lists the clients that were found and how to connect each.
fn list(setup: &Setup, session: &Session) -> Result<ExitCode, Failure> {
    if setup.write || setup.remove || setup.file.is_some() || setup.url.is_some() {
        return Err(Failure::usage("name the client")
            .hint("`panoply setup` lists them; for example: panoply setup claude --write"));
    }
    let mut out = Out::new();
    let mut others = Vec::new();
    for client in WITH_FILE {
        let Some(file) = ClientFile::of(client, &session.environment) else { continue };
        if !file.is_installed() {
            others.push(word_of(client));
            continue;
        }
        let state = match connected_entries(&file) {
            Ok(entries) if entries.is_empty() => {
                format!("not connected: panoply setup {} --write", word_of(client))
            }
            Ok(entries) => {
                let names: Vec<String> = entries.into_iter().map(|(name, _)| name).collect();
                format!("connected as {}", names.join(", "))
            }
            Err(failure) => failure.message().to_owned(),
        };
        out.line(format_args!("{BOLD}{}{BOLD:#}: {state}", file.title))?;
    }
    out.line(format_args!("{FAINT}Not found here: {}.{FAINT:#}", others.join(", ")))?;
    out.line(format_args!(
        "{FAINT}Configured otherwise: goose, continue, chatgpt. `panoply setup NAME` prints the steps.{FAINT:#}"
    ))?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn print(
    client: &ClientFile,
    word: Client,
    servers: &[(String, LocalServer)],
) -> Result<ExitCode, Failure> {
    let mut entries = Map::new();
    for (name, server) in servers {
        entries.insert(name.clone(), client.entry(server, None));
    }
    let mut out = Out::new();
    let place = match &client.path {
        Some(path) => format!("`{}`", path.display()),
        None => "its settings file".to_owned(),
    };
    out.line(format_args!("{BOLD}{}{BOLD:#}: put this into {place},", client.title))?;
    out.line(format_args!("or let `panoply setup {} --write` do it.\n", word_of(word)))?;
    match client.format {
        Format::Json => {
            let mut document = Map::new();
            document.insert(client.section.to_owned(), Value::Object(entries));
            out.json(&document)?;
        }
        Format::Toml => {
            let mut text = String::new();
            for (name, entry) in &entries {
                text = toml_text::set(&text, client.section, name, entry)
                    .map_err(|_| Failure::work("the entry cannot be written as TOML"))?;
            }
            out.write(text)?;
        }
    }
    out.line(format_args!("\n{FAINT}Then {}.{FAINT:#}", client.then))?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn write(client: &ClientFile, servers: &[(String, LocalServer)]) -> Result<ExitCode, Failure> {
    let path = file::path_of(client)?;
    let text = read_text(&path)?;
    let refuse = |refused: json_text::Refused| refused_file(&path, &refused);
    let mut changed = text.clone().unwrap_or_default();
    let mut names = Vec::new();
    for (name, server) in servers {
        let there = servers_in(client, &changed).map_err(refuse)?.shift_remove(name);
        let entry = client.entry(server, there.as_ref());
        if there.as_ref() != Some(&entry) {
            changed = set(client, &changed, name, &entry).map_err(refuse)?;
            names.push(format!("`{name}`"));
        }
    }
    let mut out = Out::new();
    if names.is_empty() {
        out.line(format_args!("`{}` has it already; nothing was changed.", path.display()))?;
    } else {
        let backup = replace(&path, text.as_deref(), &changed)?;
        let verb = if names.len() == 1 { "is" } else { "are" };
        out.line(format_args!("{} {verb} now in `{}`.", names.join(", "), path.display()))?;
        if let Some(backup) = backup {
            out.line(format_args!("The file as it was is `{}`.", backup.display()))?;
        }
        out.line(format_args!("Now {}.", client.then))?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn remove(client: &ClientFile, servers: &[(String, LocalServer)]) -> Result<ExitCode, Failure> {
    let path = file::path_of(client)?;
    let text = read_text(&path)?.unwrap_or_default();
    let refuse = |refused: json_text::Refused| refused_file(&path, &refused);
    let mut there = servers_in(client, &text).map_err(refuse)?;
    let ours: Vec<(String, Value)> = servers
        .iter()
        .filter_map(|(name, _)| there.shift_remove(name).map(|entry| (name.clone(), entry)))
        .collect();
    let names: Vec<String> = servers.iter().map(|(name, _)| format!("`{name}`")).collect();
    let names = names.join(", ");
    let mut out = Out::new();
    if ours.is_empty() {
        out.line(format_args!("`{}` has no {names}; nothing was changed.", path.display()))?;
        out.finish()?;
        return Ok(ExitCode::SUCCESS);
    }
    let backup = match without(client, &path, &text, &ours).map_err(refuse)? {
        Some(changed) => replace(&path, Some(&text), &changed)?,
        None => remove_file(&path)?,
    };
    out.line(format_args!("{names}: no longer in `{}`.", path.display()))?;
    if let Some(backup) = backup {
        out.line(format_args!("The file as it was is `{}`.", backup.display()))?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// The text without our entries; `None` when `setup` created the file and nothing else is in it.
///
/// An edit cannot know how the file was written before: an empty one, a section that did not exist,
/// a missing line end. So a backup that becomes the present text by adding the entries is the answer.
fn without(
    client: &ClientFile,
    path: &std::path::Path,
    text: &str,
    ours: &[(String, Value)],
) -> Result<Option<String>, json_text::Refused> {
    let becomes_text = |before: &str| {
        let with = ours
            .iter()
            .try_fold(before.to_owned(), |text, (name, entry)| set(client, &text, name, entry));
        with.as_deref() == Ok(text)
    };
    if let Some(before) = file::backups(path).into_iter().find(|before| becomes_text(before)) {
        return Ok(Some(before));
    }
    if becomes_text("") {
        return Ok(None);
    }
    let mut left = text.to_owned();
    for (name, _) in ours {
        let removed = match client.format {
            Format::Json => json_text::remove(&left, client.section, name),
            Format::Toml => toml_text::remove(&left, client.section, name),
        }?;
        left = removed.unwrap_or(left);
    }
    Ok(Some(left))
}
