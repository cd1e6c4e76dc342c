//! The performance report, compared with the engine's own figures.

use std::sync::Arc;

use panoply_backtest::performance::CurveSource;
use panoply_backtest::query::cache::Cache;
use panoply_backtest::query::reader::SealedRun;
use panoply_backtest::report::{MoneyFigures, Report, html};
use panoply_backtest::run::RunHeader;
use panoply_backtest::store::Store;

use crate::helpers::{REAL, RUN_A};
use crate::importers::{golden, imported, number, truth};

fn report(store: &dyn Store, header: Option<RunHeader>) -> Report {
    let record = store.runs().unwrap().remove(0);
    let blobs = store.sealed(record.id).unwrap();
    let run = SealedRun::open(record.id, blobs, Cache::new(1 << 20)).unwrap();
    run.performance_report(header.unwrap_or(record.header)).unwrap()
}

fn only(report: &Report) -> &MoneyFigures {
    report.figures.only.as_ref().unwrap()
}

#[test]
fn equity_curve_and_max_drawdown_match_the_engine() {
    let (store, _) = imported(&[&golden("trades.csv"), &golden("equity.csv")], "TEST");
    let report = report(store.as_ref(), None);
    let (figures, truth) = (only(&report), truth("backtesting_py"));
    assert_eq!(figures.curve, Some(CurveSource::Equity));
    assert!((figures.start - number(&truth["start"])).abs() < 1e-9);
    assert!((figures.end - number(&truth["equityFinal"])).abs() < 1e-6);
    let fall = figures.max_drawdown_percent.unwrap();
    assert!((fall - number(&truth["maxDrawdownPercent"])).abs() < 1e-9, "{fall}");
    assert!((figures.commissions - number(&truth["commissions"])).abs() < 1e-6);
    let earned = figures.gross_profit + figures.gross_loss;
    assert!((earned - number(&truth["realized"])).abs() < 1e-6, "{earned}");
    assert_eq!(figures.open, 0);
}

#[test]
fn trades_run_from_flat_to_flat_and_split_at_zero() {
    let (store, _) = imported(&[&golden("nautilus.jsonl.zst")], "");
    let report = report(store.as_ref(), None);
    // The engine counts twelve closed positions; a change of sides counts as a close.
    let figures = only(&report);
    assert_eq!(figures.trades, 12);
    // The log has bars, so the fills are valued at their closes.
    assert_eq!((figures.curve, figures.open), (Some(CurveSource::MarkToMarket), 0));
    let truth = truth("nautilus");
    assert!((figures.end - number(&truth["balance"])).abs() < 0.005);
    assert!((figures.start - number(&truth["start"])).abs() < 1e-9);
}

#[test]
fn html_report_is_self_contained_and_escapes_log_text() {
    let store: Arc<dyn Store> = REAL.clone();
    let name = "<script>alert('x')</script>".to_owned();
    let header = RunHeader { strategy_name: Some(name), ..RunHeader::default() };
    let id = panoply_backtest::event::Guid::parse(RUN_A).unwrap();
    let run = SealedRun::open(id, store.sealed(id).unwrap(), Cache::new(1 << 20)).unwrap();
    let html_text = html::render(&run.performance_report(header).unwrap());
    assert!(html_text.contains("&lt;script&gt;"), "{}", &html_text[..300]);
    for forbidden in ["<script", "http:", "https:", "src=", "@import"] {
        assert!(!html_text.contains(forbidden), "{forbidden}");
    }
    assert!(html_text.contains("<svg") && html_text.contains("prefers-color-scheme:dark"));
    assert_eq!(html_text.matches("<table>").count(), 1);
    assert!(html_text.ends_with("</html>\n"));
}

#[test]
fn run_without_trades_renders_a_report() {
    let line = crate::helpers::line(
        crate::helpers::OWN_RUN,
        1,
        "2025-01-01T00:00:00.000Z",
        "RiskEvent",
        "{}",
        None,
    );
    let (store, _) = imported(&[line.as_bytes()], "");
    let html_text = html::render(&report(store.as_ref(), None));
    assert!(html_text.contains("No trade was closed."));
}
