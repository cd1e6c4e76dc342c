//! Lists of funds in words and as a plain table.

use panoply_contract::prelude::*;

use super::answer::Desk;
use crate::figures::to_f64;
use crate::fund::Fund;
use crate::period::Period;
use crate::query::SortKey;

/// `Top 3 by YTD return: A (+1.00%), … `, with a blank at the end; empty without funds.
pub(crate) fn best_of(desk: &Desk, funds: &[&Fund], key: SortKey, count: usize) -> String {
    let words = desk.words;
    if funds.is_empty() {
        return String::new();
    }
    let shown: Vec<String> = funds
        .iter()
        .take(count)
        .map(|fund| format!("{} ({})", fund.symbol, headline(desk, fund, key)))
        .collect();
    let first = shown.len();
    let listed = shown.join(", ");
    match words.0 {
        Lang::En => format!("First {first}: {listed}. "),
        Lang::Th => format!("{first} อันดับแรก: {listed} "),
    }
}

/// The figure a list is sorted by, in words.
pub(crate) fn headline(desk: &Desk, fund: &Fund, key: SortKey) -> String {
    let words = desk.words;
    match key {
        SortKey::Return(period) => {
            format!("{} {}", words.percent(fund.returns.get(period)), words.period(period))
        }
        SortKey::Risk => format!("{} {}/8", words.pick("risk", "ความเสี่ยง"), fund.risk),
        SortKey::Nav => {
            format!("NAV {}", words.nav(fund.nav.latest().map(|point| point.nav)))
        }
        SortKey::Name => {
            words.percent(fund.returns.get(Period::Ytd)) + " " + words.period(Period::Ytd)
        }
    }
}

/// Code, returns and risk of each fund. The price of a unit says nothing about a fund, so NAV is
/// there only for those who sort by it; the structured content has it always.
pub(crate) fn table_of(desk: &Desk, funds: &[&Fund], key: SortKey) -> Table {
    let words = desk.words;
    let with_nav = |cells: [String; 4], nav: String| {
        let [fund, figures @ ..] = cells;
        let nav = (key == SortKey::Nav).then_some(nav);
        [fund].into_iter().chain(nav).chain(figures)
    };
    let columns = [
        words.pick("fund", "กองทุน"),
        words.pick("YTD %", "ต้นปี %"),
        words.pick("1Y %", "1 ปี %"),
        words.pick("risk", "เสี่ยง"),
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

/// A figure in a table: so many places, a dash for what is not known.
pub(crate) fn cell(value: Option<rust_decimal::Decimal>, places: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{:.places$}", to_f64(value)))
}
