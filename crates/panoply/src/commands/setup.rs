//! `panoply setup`: prints or writes a client's configuration.
//!
//! The file belongs to the user. Only the entry of this program is changed, after a backup, and a
//! file that cannot be parsed is not written.

pub(super) mod clients;
mod json_text;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use panoply_contract::clock::Clock as _;
use panoply_store::SystemClock;
use serde_json::{Map, Value};

use self::clients::{ClientFile, LocalServer};
use self::json_text::Refused;
use super::Session;
use crate::cli::{Client, Setup};
use crate::failure::Failure;
use crate::out::{BOLD, FAINT, Out};
use crate::packs;

pub(super) fn run(setup: &Setup, session: &Session) -> Result<ExitCode, Failure> {
    packs::check_names(&setup.packs)?;
    let Some(client) = ClientFile::of(setup.client, &session.environment) else {
        return chatgpt(setup);
    };
    if setup.url.is_some() {
        return Err(Failure::usage(format!(
            "{} starts the program itself and needs no URL",
            client.title
        ))
        .hint("omit --url, or copy the configuration that `panoply http` prints"));
    }
    let program = std::env::current_exe()
        .map_err(|error| Failure::work(format!("cannot locate the program: {error}")))?;
    let home = session.home();
    let chosen = home.folder.as_deref().filter(|_| home.chosen);
    let server = LocalServer::new(&program, &setup.packs, chosen);
    if setup.remove {
        remove(&client, &setup.name)
    } else if setup.write {
        write(&client, &setup.name, &server)
    } else {
        print(&client, setup, &server)
    }
}

/// Returns the existing entry; `None` without a file or entry.
pub(super) fn existing_entry(client: &ClientFile, name: &str) -> Result<Option<Value>, Failure> {
    let Some(path) = &client.path else { return Ok(None) };
    let Some(text) = text_of(path)? else { return Ok(None) };
    let document = json_text::read(&text).map_err(|refused| refused_file(path, refused))?;
    Ok(document.get(client.section).and_then(|section| section.get(name)).cloned())
}

fn print(client: &ClientFile, setup: &Setup, server: &LocalServer) -> Result<ExitCode, Failure> {
    let mut entries = Map::new();
    entries.insert(setup.name.clone(), client.entry(server, None));
    let mut document = Map::new();
    document.insert(client.section.to_owned(), Value::Object(entries));
    let mut out = Out::new();
    let place = match &client.path {
        Some(path) => format!("`{}`", path.display()),
        None => "its settings file".to_owned(),
    };
    let client_word = clap::ValueEnum::to_possible_value(&setup.client)
        .map(|value| value.get_name().to_owned())
        .unwrap_or_default();
    out.line(format_args!("{BOLD}{}{BOLD:#}: put this into {place},", client.title))?;
    out.line(format_args!("or let `panoply setup {client_word} --write` do it.\n"))?;
    out.json(&document)?;
    if setup.client == Client::Claude {
        let words = std::iter::once(&server.program).chain(&server.arguments);
        let command: Vec<String> = words.map(|word| quoted(word)).collect();
        let home = server
            .home
            .as_ref()
            .map(|home| format!(" --env {}={}", crate::env_vars::HOME.name, quoted(home)));
        out.line(format_args!("\n{BOLD}Claude Code{BOLD:#}: run this.\n"))?;
        // `--env` takes all following words, so another option must follow it.
        out.line(format_args!(
            "claude mcp add{} --scope user {} -- {}",
            home.unwrap_or_default(),
            setup.name,
            command.join(" ")
        ))?;
    }
    out.line(format_args!("\n{FAINT}Then {}.{FAINT:#}", client.then))?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn write(client: &ClientFile, name: &str, server: &LocalServer) -> Result<ExitCode, Failure> {
    let path = file_of(client)?;
    let there = existing_entry(client, name)?;
    let text = text_of(&path)?;
    let entry = client.entry(server, there.as_ref());
    let mut out = Out::new();
    if there.as_ref() == Some(&entry) {
        out.line(format_args!("`{}` has it already; nothing was changed.", path.display()))?;
    } else {
        let changed =
            json_text::set(text.as_deref().unwrap_or_default(), client.section, name, &entry)
                .map_err(|refused| refused_file(&path, refused))?;
        let backup = replace(&path, text.as_deref(), &changed)?;
        out.line(format_args!("`{name}` is now in `{}`.", path.display()))?;
        if let Some(backup) = backup {
            out.line(format_args!("The file as it was is `{}`.", backup.display()))?;
        }
        out.line(format_args!("Now {}.", client.then))?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn remove(client: &ClientFile, name: &str) -> Result<ExitCode, Failure> {
    let path = file_of(client)?;
    let text = text_of(&path)?.unwrap_or_default();
    let removed = json_text::remove(&text, client.section, name)
        .map_err(|refused| refused_file(&path, refused))?;
    let mut out = Out::new();
    match removed {
        None => {
            out.line(format_args!("`{}` has no `{name}`; nothing was changed.", path.display()))?;
        }
        Some(changed) => {
            let backup = replace(&path, Some(&text), &changed)?;
            out.line(format_args!("`{name}` is no longer in `{}`.", path.display()))?;
            if let Some(backup) = backup {
                out.line(format_args!("The file as it was is `{}`.", backup.display()))?;
            }
        }
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// ChatGPT is a remote service without a file: it needs a reachable URL.
fn chatgpt(setup: &Setup) -> Result<ExitCode, Failure> {
    if setup.write || setup.remove {
        return Err(Failure::usage("ChatGPT has no file to write")
            .hint("run `panoply setup chatgpt` and follow the steps"));
    }
    let served: String = setup.packs.iter().map(|pack| format!(" {pack}")).collect();
    let url = setup.url.clone().unwrap_or_else(|| "https://tools.example.com/mcp".to_owned());
    let host = url
        .split("://")
        .nth(1)
        .and_then(|rest| rest.split('/').next())
        .unwrap_or("tools.example.com");
    let mut out = Out::new();
    out.line(format_args!(
        "{BOLD}ChatGPT{BOLD:#} takes the address of a server that it can reach over HTTPS.\n"
    ))?;
    out.line("1. Choose who logs people in: set the three settings of an OAuth issuer (docs/operating.md).")?;
    out.line(format_args!("2. Serve:  panoply http{served} --allowed-host {host}"))?;
    out.line(format_args!(
        "3. Put a reverse proxy or tunnel with TLS in front of it, so that {url}"
    ))?;
    out.line("   leads to http://127.0.0.1:8642/mcp.")?;
    out.line(
        "4. In ChatGPT: Settings, Apps & Connectors, Advanced settings: switch on developer mode.",
    )?;
    out.line(format_args!(
        "5. Create a connector named `{}` with the URL {url} and OAuth.",
        setup.name
    ))?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn file_of(client: &ClientFile) -> Result<PathBuf, Failure> {
    client.path.clone().ok_or_else(|| {
        Failure::work(format!(
            "cannot tell where {} keeps its settings: HOME is not set",
            client.title
        ))
        .hint("run it without --write and copy what it prints")
    })
}

fn text_of(path: &Path) -> Result<Option<String>, Failure> {
    match std::fs::read(path) {
        Ok(bytes) => String::from_utf8(bytes)
            .map(Some)
            .map_err(|_| refused_file(path, Refused::NotJson("it is not UTF-8".to_owned()))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::work(format!("cannot read `{}`: {error}", path.display()))),
    }
}

fn refused_file(path: &Path, refused: Refused) -> Failure {
    let what = match refused {
        Refused::NotJson(why) => format!("`{}` is not valid JSON: {why}", path.display()),
        Refused::NotAnObject => {
            format!("`{}` does not have the shape that its client reads", path.display())
        }
        Refused::Ambiguous => format!("`{}` has a name twice", path.display()),
    };
    Failure::work(format!("{what}; it was not touched"))
        .hint("fix the file, or run without --write and copy what is printed into it")
}

/// Backs up the file and replaces it atomically by a rename.
fn replace(path: &Path, old: Option<&str>, new: &str) -> Result<Option<PathBuf>, Failure> {
    let failed = |what: &str, path: &Path, error: std::io::Error| {
        Failure::work(format!("cannot {what} `{}`: {error}", path.display()))
    };
    // Follows links, so that a file in a dotfiles repository stays there.
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if let Some(folder) = real.parent() {
        std::fs::create_dir_all(folder).map_err(|error| failed("make", folder, error))?;
    }
    let timestamp = SystemClock::new().now().strftime("%Y%m%dT%H%M%S%.3fZ").to_string();
    let sibling = |suffix: &str| {
        let name = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
        real.with_file_name(format!("{name}.{suffix}"))
    };
    let backup = match old {
        Some(_) => {
            let backup = sibling(&format!("backup-{timestamp}"));
            std::fs::copy(&real, &backup).map_err(|error| failed("write", &backup, error))?;
            Some(backup)
        }
        None => None,
    };
    let fresh = sibling(&format!("new-{timestamp}"));
    std::fs::write(&fresh, new).map_err(|error| failed("write", &fresh, error))?;
    if let Ok(about) = std::fs::metadata(&real) {
        std::fs::set_permissions(&fresh, about.permissions())
            .map_err(|error| failed("set the permissions of", &fresh, error))?;
    }
    std::fs::rename(&fresh, &real).map_err(|error| failed("replace", &real, error))?;
    Ok(backup)
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@=+,\\".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
