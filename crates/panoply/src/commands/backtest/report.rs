//! `panoply backtest report`: figures and trades of a run.

use std::fs::File;
use std::io::Write as _;

use panoply_backtest::performance::CurveSource;
use panoply_backtest::report::converted::{
    AppliedRate, ConvertedFigures, NotConverted, parse_rates,
};
use panoply_backtest::report::{Figures, MoneyFigures, html};
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
    let mut report = run.performance_report(header).map_err(failed)?;
    if let Some(currency) = &arguments.currency {
        let given = parse_rates(&arguments.rate)
            .map_err(|error| Failure::usage(error.to_string()).hint("write `--rate JPY=0.0067`"))?;
        report.figures.converted =
            Some(run.converted_figures(currency, &given).map_err(not_converted)?);
    }
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

fn not_converted(error: NotConverted) -> Failure {
    match error {
        NotConverted::Log(error) => failed(error),
        NotConverted::NoRate { .. } => Failure::usage(error.to_string())
            .hint("add `--rate CURRENCY=RATE`, or leave out `--currency` to keep currencies apart"),
        NotConverted::TooLarge => Failure::work(error.to_string()),
    }
}

fn table(figures: &Figures) -> Table {
    let rows = [
        ("period".to_owned(), format!("{} to {}", figures.first, figures.last)),
        ("events".to_owned(), figures.events.to_string()),
    ];
    let money = figures.currencies.iter().flat_map(money_rows);
    let money = money.chain(figures.converted.iter().flat_map(converted_rows));
    let table = Table::new(["figure", "value"]);
    rows.into_iter().chain(money).fold(table, |table, (name, value)| table.row([name, value]))
}

fn money_rows(own: &MoneyFigures) -> Vec<(String, String)> {
    let unit = match own.currency.as_str() {
        "" => String::new(),
        currency => format!(" ({currency})"),
    };
    let share = own.max_drawdown_percent.map(|share| format!(" ({share:.2} %)"));
    let curve = own.curve.map_or("profit", CurveSource::title);
    let rows = [
        (curve, format!("{:.2} to {:.2}", own.start, own.end)),
        ("max drawdown", format!("{:.2}{}", own.max_drawdown, share.unwrap_or_default())),
        ("trades", format!("{} closed, {} open", own.trades, own.open)),
        ("won and lost", format!("{} and {}", own.wins, own.losses)),
        ("gross profit and loss", format!("{:.2} and {:.2}", own.gross_profit, own.gross_loss)),
        ("commissions", format!("{:.2}", own.commissions)),
    ];
    rows.into_iter().map(|(name, value)| (format!("{name}{unit}"), value)).collect()
}

fn converted_rows(own: &ConvertedFigures) -> Vec<(String, String)> {
    let currency = &own.currency;
    let (profit, loss) = (own.gross_profit, own.gross_loss);
    let mut rows = vec![
        (format!("profit, all in {currency}"), format!("{:.2}", own.profit)),
        (format!("gross profit and loss, all in {currency}"), format!("{profit:.2} and {loss:.2}")),
        (format!("commissions, all in {currency}"), format!("{:.2}", own.commissions)),
    ];
    let rate = |rate: &AppliedRate| {
        (format!("1 {} in {currency}", rate.from), format!("{} ({})", rate.rate, rate.source))
    };
    rows.extend(own.rates.iter().map(rate));
    rows
}
