//! `panoply migrate`: moves a user's data between a home and a database, and compares both sides.

use std::path::PathBuf;
use std::process::ExitCode;

use panoply_contract::clock::Clock as _;
use panoply_contract::table::Table;
use panoply_store::transfer::{ComparedTable, Direction, Outcome, Transferred};
use panoply_store::{Home, SystemClock};
use serde_json::{Value, json};

use super::Session;
use super::users::failed;
use crate::cli::Migrate;
use crate::config::StoreSettings;
use crate::failure::Failure;
use crate::out::{BAD, BOLD, Out};
use crate::stores::database;

pub(super) fn run(migrate: &Migrate, session: &Session) -> Result<ExitCode, Failure> {
    let (direction, folder, url) = sides(&migrate.from, &migrate.to)?;
    let home = Home::at(folder);
    match direction {
        Direction::ToServer if !home.folder().is_dir() => {
            return Err(Failure::usage(format!("`{}` is not a folder", home.folder().display()))
                .hint("name the home whose data move, such as sqlite:/srv/panoply"));
        }
        Direction::ToServer => {}
        Direction::ToFiles => home.create().map_err(|error| Failure::work(error.chain()))?,
    }
    let settings = session.config()?.store;
    let store = StoreSettings {
        url: url.to_owned(),
        password_file: settings.as_ref().and_then(|settings| settings.password_file.clone()),
        authorities: settings.as_ref().and_then(|settings| settings.authorities.clone()),
        connections: 2,
    };
    let now = SystemClock::new().now();
    let moved = database::transfer(&store, direction, &home, &migrate.user, now).map_err(failed)?;
    let differs = moved.iter().any(|one| one.outcome == Outcome::Differs);
    match migrate.json {
        true => print_json(&moved)?,
        false => print(&moved, &migrate.to)?,
    }
    Ok(if differs { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The direction, the home and the URL of the database.
fn sides<'a>(from: &'a str, to: &'a str) -> Result<(Direction, PathBuf, &'a str), Failure> {
    let folder = |side: &str| side.strip_prefix("sqlite:").map(PathBuf::from);
    let is_server =
        |side: &str| side.starts_with("postgres://") || side.starts_with("postgresql://");
    match (folder(from), folder(to)) {
        (Some(home), None) if is_server(to) => Ok((Direction::ToServer, home, to)),
        (None, Some(home)) if is_server(from) => Ok((Direction::ToFiles, home, from)),
        _ => Err(Failure::usage("one side must be a home and the other a database").hint(
            "write `--from sqlite:FOLDER --to postgres://ROLE@HOST/DATABASE`, or the other way round",
        )),
    }
}

const fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Copied => "copied",
        Outcome::Unchanged => "unchanged",
        Outcome::Differs => "differs",
    }
}

fn print(moved: &[Transferred], to: &str) -> Result<(), Failure> {
    let mut out = Out::new();
    let mut table = Table::new(["data", "table", "rows", "SHA-256", "result"]);
    for Transferred { pack, outcome, tables } in moved {
        for ComparedTable { table: name, source, target } in tables {
            let is_same = source == target;
            if is_same && source.rows == 0 {
                continue;
            }
            let (rows, hash) = match is_same {
                true => (source.rows.to_string(), start(&source.sha256).to_owned()),
                false => (
                    format!("{} / {}", source.rows, target.rows),
                    format!("{} / {}", start(&source.sha256), start(&target.sha256)),
                ),
            };
            let result = if is_same { word(*outcome) } else { "differs" };
            table = table.row([*pack, *name, &rows, &hash, result]);
        }
    }
    out.line(table.render(usize::MAX))?;
    let differ: Vec<&str> =
        moved.iter().filter(|one| one.outcome == Outcome::Differs).map(|one| one.pack).collect();
    if differ.is_empty() {
        let place = if to.starts_with("sqlite:") { "home" } else { "database" };
        out.line(format_args!("{BOLD}Both sides are the same{BOLD:#}: the {place} has all data."))?;
        out.line("API keys, shares, runs and documents are not moved.")?;
    } else {
        let differ = differ.join(", ");
        out.line(format_args!(
            "{BAD}The sides differ{BAD:#}: {differ}. The target had other data and was not changed; SOURCE / TARGET are shown."
        ))?;
    }
    out.finish()
}

/// Digits that tell two hashes apart for people.
fn start(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}

fn print_json(moved: &[Transferred]) -> Result<(), Failure> {
    let table = |one: &ComparedTable| {
        json!({
            "table": one.table,
            "source": {"rows": one.source.rows, "sha256": one.source.sha256},
            "target": {"rows": one.target.rows, "sha256": one.target.sha256},
        })
    };
    let all: Vec<Value> = moved
        .iter()
        .map(|one| {
            let tables: Vec<Value> = one.tables.iter().map(table).collect();
            json!({"data": one.pack, "result": word(one.outcome), "tables": tables})
        })
        .collect();
    let mut out = Out::new();
    out.json(&all)?;
    out.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_side_is_a_home_and_the_other_a_database() {
        let cases = [
            ("sqlite:/a", "postgres://r@h/d", Some((Direction::ToServer, "/a"))),
            ("postgresql://r@h/d", "sqlite:b c", Some((Direction::ToFiles, "b c"))),
            ("sqlite:/a", "sqlite:/b", None),
            ("postgres://r@h/d", "postgres://r@h/e", None),
            ("/a", "postgres://r@h/d", None),
        ];
        for (from, to, expected) in cases {
            let found = sides(from, to).ok().map(|(direction, home, _)| (direction, home));
            let expected = expected.map(|(direction, home)| (direction, PathBuf::from(home)));
            assert_eq!(found, expected, "{from} {to}");
        }
    }
}
