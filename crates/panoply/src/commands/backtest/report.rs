//! `panoply backtest report`: figures and trades of a run.

use std::fs::File;
use std::io::Write as _;

use panoply_backtest::report::{Figures, html};
use panoply_backtest::store::Store;
use panoply_contract::table::Table;

use super::{failed, found, sealed, unread};
use crate::cli::BacktestReport;
use crate::failure::Failure;
use crate::out::{Out, notice};

pub(super) fn run(arguments: &BacktestReport, store: &dyn Store) -> Result<(), Failure> {
    let (id, store) = found(&arguments.run, store)?;
    let run = sealed(id, store)?;
    let header = store.run(id).map_err(failed)?.map(|record| record.header).unwrap_or_default();
    let report = run.performance_report(header, &|| false).map_err(failed)?;
    if let Some(path) = &arguments.html {
        let mut file = File::create_new(path).map_err(|error| unread(path, &error))?;
        file.write_all(html::render(&report).as_bytes()).map_err(|error| unread(path, &error))?;
        notice(format_args!("wrote {}", path.display()));
        if !arguments.json {
            return Ok(());
        }
    }
    let mut out = Out::new();
    if arguments.json {
        out.json(&report.figures)?;
    } else {
        out.line(table(&report.figures).render(usize::MAX))?;
    }
    out.finish()
}

fn table(figures: &Figures) -> Table {
    let share = figures.max_drawdown_percent.map(|share| format!(" ({share:.2} %)"));
    let rows = [
        ("period", format!("{} to {}", figures.first, figures.last)),
        ("events", figures.events.to_string()),
        (figures.curve.title(), format!("{:.2} to {:.2}", figures.start, figures.end)),
        ("deepest fall", format!("{:.2}{}", figures.max_drawdown, share.unwrap_or_default())),
        ("trades", format!("{} closed, {} open", figures.trades, figures.open)),
        ("won and lost", format!("{} and {}", figures.wins, figures.losses)),
        ("earned and lost", format!("{:.2} and {:.2}", figures.gross_profit, figures.gross_loss)),
        ("commissions", format!("{:.2}", figures.commissions)),
    ];
    let table = Table::new(["figure", "value"]);
    rows.into_iter().fold(table, |table, (name, value)| table.row([name.to_owned(), value]))
}
