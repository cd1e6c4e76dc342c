//! `panoply backtest verify`: reads the catalog, open runs and every blob of sealed runs, and
//! verifies their checksums.

use panoply_backtest::event::Guid;
use panoply_backtest::run::Status;
use panoply_backtest::store::Store;

use super::{failed, found, sealed};
use crate::failure::Failure;
use crate::out::Out;

pub(super) fn run(runs: &[String], store: &dyn Store) -> Result<(), Failure> {
    let mut out = Out::new();
    let mut first_failure = None;
    if runs.is_empty() {
        match store.verify().map_err(failed) {
            Ok(()) => out.line("the catalog and the open runs are intact")?,
            Err(failure) => {
                out.line("the catalog or an open run is damaged")?;
                first_failure = Some(failure);
            }
        }
    }
    let ids: Vec<Guid> = if runs.is_empty() {
        let all = store.runs().map_err(failed)?;
        let complete = all.into_iter().filter(|run| run.status == Status::Completed);
        complete.map(|run| run.id).collect()
    } else {
        runs.iter().map(|run| found(run, store).map(|(id, _)| id)).collect::<Result<_, _>>()?
    };
    for id in &ids {
        let (_, store) = found(&id.to_string(), store)?;
        let verified = sealed(*id, store).and_then(|run| run.verify(&|| false).map_err(failed));
        match verified {
            Ok((blobs, bytes)) => {
                out.line(format_args!("run {id}: {blobs} blobs of {bytes} bytes are intact"))?;
            }
            Err(failure) => {
                out.line(format_args!("run {id} is damaged"))?;
                first_failure.get_or_insert(failure);
            }
        }
    }
    if ids.is_empty() {
        out.line("There are no sealed runs.")?;
    }
    out.finish()?;
    first_failure.map_or(Ok(()), Err)
}
