//! Fund lists as text and as a table.

use panoply_contract::prelude::*;

use super::service::RmfService;
use crate::figures::to_f64;
use crate::fund::Fund;
use crate::period::Period;
use crate::query::{Direction, SortKey};

/// `Top performers: A (+1.00% YTD), … ` with a trailing blank; empty without funds. Lists that are
/// not sorted by return, best first, start with `First 3:`.
pub(crate) fn top_funds_text(
    service: &RmfService,
    funds: &[&Fund],
    key: SortKey,
    direction: Direction,
    count: usize,
) -> String {
    let locale = service.locale;
    if funds.is_empty() {
        return String::new();
    }
    let shown: Vec<String> = funds
        .iter()
        .take(count)
        .map(|fund| format!("{} ({})", fund.symbol, headline(service, fund, key)))
        .collect();
    let first = shown.len();
    let listed = shown.join(", ");
    let best = matches!(key, SortKey::Return(_)) && direction == Direction::Descending;
    match (locale.0, best) {
        (Lang::En, true) => format!("Top performers: {listed}. "),
        (Lang::En, false) => format!("First {first}: {listed}. "),
        (Lang::Th, _) => format!("{first} อันดับแรก: {listed} "),
    }
}

/// `Top performer: A (+3.20% YTD, Risk 3). ` with a trailing blank; empty without funds.
pub(crate) fn first_fund_text(
    service: &RmfService,
    funds: &[&Fund],
    key: SortKey,
    direction: Direction,
) -> String {
    let Some(fund) = funds.first() else { return String::new() };
    let best = matches!(key, SortKey::Return(_)) && direction == Direction::Descending;
    let shown = headline(service, fund, key);
    let (symbol, risk) = (&fund.symbol, fund.risk);
    match (service.locale.0, best) {
        (Lang::En, true) => format!("Top performer: {symbol} ({shown}, Risk {risk}). "),
        (Lang::En, false) => format!("First: {symbol} ({shown}, Risk {risk}). "),
        (Lang::Th, true) => format!("ผลตอบแทนสูงสุด: {symbol} ({shown}, ความเสี่ยง {risk}) "),
        (Lang::Th, false) => format!("อันดับแรก: {symbol} ({shown}, ความเสี่ยง {risk}) "),
    }
}

/// Formats the figure that a list is sorted by.
pub(crate) fn headline(service: &RmfService, fund: &Fund, key: SortKey) -> String {
    let locale = service.locale;
    match key {
        // Thai investors write YTD too; the Thai words take twelve times the bytes.
        SortKey::Return(Period::Ytd) | SortKey::Name => {
            format!("{} YTD", locale.percent(fund.returns.get(Period::Ytd)))
        }
        SortKey::Return(period) => {
            format!("{} {}", locale.percent(fund.returns.get(period)), locale.period(period))
        }
        SortKey::Risk => format!("{} {}/8", locale.pick("risk", "ความเสี่ยง"), fund.risk),
        SortKey::Nav => {
            format!("NAV {}", locale.nav(fund.nav.latest().map(|point| point.nav)))
        }
    }
}

/// Rows of the table below a list; the structured content has all of them.
const TABLE_ROWS: usize = 5;

/// Table of code, returns and risk of the first funds. The NAV per unit does not compare funds, so it is shown only
/// when sorting by it; the structured content always has it.
pub(crate) fn table_of(service: &RmfService, funds: &[&Fund], key: SortKey) -> Table {
    let locale = service.locale;
    let with_nav = |cells: [String; 4], nav: String| {
        let [fund, figures @ ..] = cells;
        let nav = (key == SortKey::Nav).then_some(nav);
        [fund].into_iter().chain(nav).chain(figures)
    };
    let columns = [
        locale.pick("fund", "กองทุน"),
        "YTD %",
        locale.pick("1Y %", "1 ปี %"),
        locale.pick("risk", "เสี่ยง"),
    ];
    let headed = Table::new(with_nav(columns.map(str::to_owned), "NAV".to_owned()));
    let table = funds.iter().take(TABLE_ROWS).fold(headed, |table, fund| {
        let figures = [
            fund.symbol.clone(),
            cell(fund.returns.get(Period::Ytd), 2),
            cell(fund.returns.get(Period::Y1), 2),
            fund.risk.to_string(),
        ];
        table.row(with_nav(figures, cell(fund.nav.latest().map(|point| point.nav), 4)))
    });
    match (funds.len().saturating_sub(TABLE_ROWS), locale.0) {
        (0, _) => table,
        (more, Lang::En) => table.row([format!("… {more} more")]),
        (more, Lang::Th) => table.row([format!("… อีก {more} กองทุน")]),
    }
}

/// Formats a figure with a fixed number of decimals; a dash when missing.
pub(crate) fn cell(value: Option<rust_decimal::Decimal>, places: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{:.places$}", to_f64(value)))
}
