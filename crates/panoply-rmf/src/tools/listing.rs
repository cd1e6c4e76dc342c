//! Fund lists as text and as a table.

use panoply_contract::prelude::*;

use super::service::RmfService;
use crate::figures::to_f64;
use crate::fund::Fund;
use crate::period::Period;
use crate::query::SortKey;

/// `First 3: A (+1.00% YTD), … ` with a trailing blank; empty without funds.
pub(crate) fn top_funds_text(
    service: &RmfService,
    funds: &[&Fund],
    key: SortKey,
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
    match locale.0 {
        Lang::En => format!("First {first}: {listed}. "),
        Lang::Th => format!("{first} อันดับแรก: {listed} "),
    }
}

/// Formats the figure that a list is sorted by.
pub(crate) fn headline(service: &RmfService, fund: &Fund, key: SortKey) -> String {
    let locale = service.locale;
    match key {
        SortKey::Return(period) => {
            format!("{} {}", locale.percent(fund.returns.get(period)), locale.period(period))
        }
        SortKey::Risk => format!("{} {}/8", locale.pick("risk", "ความเสี่ยง"), fund.risk),
        SortKey::Nav => {
            format!("NAV {}", locale.nav(fund.nav.latest().map(|point| point.nav)))
        }
        SortKey::Name => {
            locale.percent(fund.returns.get(Period::Ytd)) + " " + locale.period(Period::Ytd)
        }
    }
}

/// Table of code, returns and risk. The NAV per unit does not compare funds, so it is shown only
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
        locale.pick("YTD %", "ต้นปี %"),
        locale.pick("1Y %", "1 ปี %"),
        locale.pick("risk", "เสี่ยง"),
    ];
    let headed = Table::new(with_nav(columns.map(str::to_owned), "NAV".to_owned()));
    funds.iter().fold(headed, |table, fund| {
        let figures = [
            fund.symbol.clone(),
            cell(fund.returns.get(Period::Ytd), 2),
            cell(fund.returns.get(Period::Y1), 2),
            fund.risk.to_string(),
        ];
        table.row(with_nav(figures, cell(fund.nav.latest().map(|point| point.nav), 4)))
    })
}

/// Formats a figure with a fixed number of decimals; a dash when missing.
pub(crate) fn cell(value: Option<rust_decimal::Decimal>, places: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{:.places$}", to_f64(value)))
}
