//! `panoply db`: sets up, migrates and checks the database of the stores.

use std::process::ExitCode;

use panoply_store::StoreError;
use serde_json::json;

use super::Session;
use crate::cli::Db;
use crate::failure::Failure;
use crate::out::{BAD, FAINT, Out, WARN};
use crate::stores::database::{self, Finding, Verdict};

pub(super) fn run(db: &Db, session: &Session) -> Result<ExitCode, Failure> {
    let config = session.config()?;
    let Some(store) = &config.store else {
        return Err(Failure::usage("no database is set")
            .hint("set PANOPLY_STORE to a URL such as postgres://panoply_app@localhost/panoply"));
    };
    match db {
        Db::Init(admin) => said(database::init(store, admin)),
        Db::Migrate(admin) => said(database::migrate(store, admin)),
        Db::Check { json } => report(&database::check(store).map_err(failed)?, *json),
    }
}

fn failed(error: StoreError) -> Failure {
    Failure::work(error.chain())
}

fn said(lines: Result<Vec<String>, StoreError>) -> Result<ExitCode, Failure> {
    let mut out = Out::new();
    for line in lines.map_err(failed)? {
        out.line(line)?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn report(findings: &[Finding], json: bool) -> Result<ExitCode, Failure> {
    let mut out = Out::new();
    let word = |verdict| match verdict {
        Verdict::Good => "good",
        Verdict::Warning => "warning",
        Verdict::Bad => "bad",
    };
    if json {
        let all = findings.iter().map(
            |one| json!({"name": one.name, "verdict": word(one.verdict), "detail": one.detail}),
        );
        out.json(&all.collect::<Vec<_>>())?;
    } else {
        for Finding { name, verdict, detail } in findings {
            let word = word(*verdict);
            match verdict {
                Verdict::Good => {
                    out.line(format_args!("{word:8} {name}: {FAINT}{detail}{FAINT:#}"))?;
                }
                Verdict::Warning => {
                    out.line(format_args!("{WARN}{word:8}{WARN:#} {name}: {detail}"))?;
                }
                Verdict::Bad => out.line(format_args!("{BAD}{word:8}{BAD:#} {name}: {detail}"))?,
            }
        }
    }
    out.finish()?;
    let is_bad = findings.iter().any(|finding| finding.verdict == Verdict::Bad);
    Ok(if is_bad { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
