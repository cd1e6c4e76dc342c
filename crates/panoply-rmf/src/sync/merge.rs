//! Makes funds of what the API said and what we had. A figure that did not come stays what it
//! was, with its old date, unless it may have been another share class's.

use rust_decimal::Decimal;
use serde_json::Value;

use super::fields::{day, number, text, thai_text};
use super::gather::{Gathered, MAIN, Project, class_of};
use crate::book::Book;
use crate::fund::{
    Allocation, Benchmark, Documents, Fee, Flag, Fund, Minimums, PublishedDeviation, RiskLevel,
    Suitability, does_not_add_up,
};
use crate::lookup::folded;
use crate::nav::{NavPoint, NavSeries};
use crate::period::{ByPeriod, Period};

const FUND_RETURN: &str = "ผลตอบแทนกองทุนรวม";
const BENCHMARK_RETURN: &str = "ผลตอบแทนตัวชี้วัด";
const FUND_DEVIATION: &str = "ความผันผวนของกองทุนรวม";

/// What became of a project.
#[derive(Debug, Default)]
pub(super) struct Merged {
    pub(super) funds: Vec<Fund>,
    /// Codes of new funds without a level of risk.
    pub(super) skipped: Vec<String>,
}

/// Whether a fund we had is still in the register.
pub(super) fn kept_of(projects: &[Project], fund: &Fund) -> bool {
    projects.iter().any(|project| {
        project.id == fund.fund_id
            && project.classes.iter().any(|class| is_class(project, class, fund))
    })
}

/// Whether `fund` is the class of that name. The code of a fund with one class need not be the
/// register's; that of one of several classes is the class's name.
fn is_class(project: &Project, class: &str, fund: &Fund) -> bool {
    fund.fund_id == project.id
        && if class == MAIN {
            fund.share_classes.len() <= 1 || folded(&fund.symbol) == folded(&project.code)
        } else {
            folded(&fund.symbol) == folded(class)
        }
}

/// The funds of a project, one a class.
pub(super) fn merge(book: &Book, project: &Project, rows: &Gathered, now: &str) -> Merged {
    let mut merged = Merged::default();
    let several = project.classes.len() > 1;
    for class in &project.classes {
        let old = book.funds().iter().find(|fund| is_class(project, class, fund));
        match fund(project, class, rows, old, now) {
            Some(mut fund) => {
                if several {
                    fund.share_classes =
                        project.classes.iter().map(|class| code(project, class)).collect();
                }
                merged.funds.push(fund);
            }
            None => merged.skipped.push(code(project, class)),
        }
    }
    merged
}

fn code(project: &Project, class: &str) -> String {
    if class == MAIN { project.code.clone() } else { class.to_owned() }
}

fn fund(
    project: &Project,
    class: &str,
    rows: &Gathered,
    old: Option<&Fund>,
    now: &str,
) -> Option<Fund> {
    let of_class = |rows: &[Value]| -> Vec<Value> {
        rows.iter().filter(|row| class_of(row) == class).cloned().collect()
    };
    // Figures that may have been the first class's are not worth keeping.
    let trusted = old.filter(|old| !old.shares_figures());
    let performance = latest(of_class(&rows.performance));
    let (risk, suits) = rows
        .risk
        .iter()
        .find_map(|row| {
            let risk = RiskLevel::parse_spectrum(&text(row, "risk_spectrum")?)?;
            Some((risk, thai_text(row, "risk_spectrum_desc")))
        })
        .or_else(|| old.map(|old| (old.risk, None)))?;
    let nav_rows = of_class(&rows.nav);
    let nav =
        trusted.map(|old| old.nav.clone()).unwrap_or_default().merged_with(&series(&nav_rows));
    let last_row = nav_rows.iter().max_by_key(|row| day(row, "nav_date"));
    let price = |name: &str, before: Option<Decimal>| match last_row {
        Some(row) => number(row, name).filter(|price| !price.is_zero()),
        None => before,
    };
    let allocation = allocation(&latest(rows.allocation.clone()))
        .or_else(|| old.and_then(|old| old.allocation.clone()));
    let returns = by_period(&performance, FUND_RETURN);
    let dated = performance.iter().find_map(|row| day(row, "start_date"));
    let fees = fees(&latest(of_class(&rows.fees)));
    let statistics = latest(of_class(&rows.statistics));
    let minimums = latest(of_class(&rows.minimums));
    let dividend = of_class(&rows.dividends).iter().find_map(|row| text(row, "dividend_policy"));
    let mut flags = Vec::new();
    if allocation.as_deref().is_some_and(does_not_add_up) {
        flags.push(Flag::AllocationDoesNotAddUp);
    }
    if nav.latest().is_none() {
        flags.push(Flag::NoNav);
    }
    let have_returns = performance.iter().any(|row| is_kind(row, FUND_RETURN));
    Some(Fund {
        fund_id: project.id.clone(),
        symbol: old.map_or_else(|| code(project, class), |old| old.symbol.clone()),
        name: project.name.clone().or_else(|| old.map(|old| old.name.clone())).unwrap_or_default(),
        name_th: project.name_th.clone().or_else(|| old.and_then(|old| old.name_th.clone())),
        company: if project.company.name.is_empty() {
            old.map(|old| old.company.clone()).unwrap_or_default()
        } else {
            project.company.clone()
        },
        // The new API has neither; they change rarely.
        classification: old.and_then(|old| old.classification.clone()),
        compare_code: old.and_then(|old| old.compare_code.clone()),
        management_style: project
            .management_style
            .clone()
            .or_else(|| old.and_then(|old| old.management_style.clone())),
        dividend_policy: dividend
            .map(|policy| yes_or_no(&policy))
            .or_else(|| old.and_then(|old| old.dividend_policy.clone())),
        policy_th: project.policy_th.clone().or_else(|| old.and_then(|old| old.policy_th.clone())),
        risk,
        status: project.status,
        registered: project.registered.or_else(|| old.and_then(|old| old.registered)),
        buy_price: price("buy_price", trusted.and_then(|old| old.buy_price)),
        sell_price: price("sell_price", trusted.and_then(|old| old.sell_price)),
        net_assets: price("net_asset", trusted.and_then(|old| old.net_assets)),
        nav,
        returns: if have_returns {
            returns
        } else {
            trusted.map(|old| old.returns.clone()).unwrap_or_default()
        },
        returns_as_of: if have_returns { dated } else { trusted.and_then(|old| old.returns_as_of) },
        benchmark: benchmark(&rows.benchmarks, &performance, old),
        deviation: deviation(&performance)
            .or_else(|| trusted.filter(|_| !have_returns).and_then(|old| old.deviation.clone())),
        volatility_1y: deviation_over(&performance, Period::Y1),
        tracking_error: statistics.iter().find_map(|row| number(row, "tracking_error")),
        allocation,
        fees: if fees.is_empty() {
            old.map(|old| old.fees.clone()).unwrap_or_default()
        } else {
            fees
        },
        minimums: minimums.first().map_or_else(
            || old.map(|old| old.minimums.clone()).unwrap_or_default(),
            |row| Minimums {
                initial: number(row, "minimum_sub_ipo"),
                additional: number(row, "minimum_sub"),
                redemption: number(row, "minimum_redempt"),
                balance: number(row, "lowbal_val"),
            },
        ),
        documents: Documents {
            factsheet: of_class(&rows.urls)
                .iter()
                .find_map(|row| {
                    text(row, "pdf_factsheet").or_else(|| text(row, "amc_url_factsheet"))
                })
                .or_else(|| old.and_then(|old| old.documents.factsheet.clone())),
            ..old.map(|old| old.documents.clone()).unwrap_or_default()
        },
        suitability: Suitability {
            risk_level: suits.or_else(|| old.and_then(|old| old.suitability.risk_level.clone())),
            ..old.map(|old| old.suitability.clone()).unwrap_or_default()
        },
        share_classes: Vec::new(),
        fetched_at: Some(now.to_owned()),
        flags,
    })
}

/// The rows of the newest factsheet among these.
fn latest(rows: Vec<Value>) -> Vec<Value> {
    let newest = rows.iter().filter_map(|row| day(row, "start_date")).max();
    match newest {
        Some(newest) => rows
            .into_iter()
            .filter(|row| day(row, "start_date").is_none_or(|day| day == newest))
            .collect(),
        None => rows,
    }
}

fn series(rows: &[Value]) -> NavSeries {
    let point = |row: &Value| {
        let nav = number(row, "last_val").filter(|nav| *nav > Decimal::ZERO)?;
        Some((day(row, "nav_date")?, nav))
    };
    let days: std::collections::BTreeMap<_, _> = rows.iter().filter_map(point).collect();
    NavSeries::new(days.into_iter().map(|(date, nav)| NavPoint { date, nav }).collect())
        .unwrap_or_default()
}

fn is_kind(row: &Value, kind: &str) -> bool {
    text(row, "performance_type_desc").as_deref() == Some(kind)
}

fn by_period(rows: &[Value], kind: &str) -> ByPeriod<Decimal> {
    let mut values = ByPeriod::default();
    for row in rows.iter().filter(|row| is_kind(row, kind)) {
        if let Some(period) = period_of(row) {
            values.set(period, number(row, "performance_value"));
        }
    }
    values
}

fn period_of(row: &Value) -> Option<Period> {
    let name = text(row, "reference_period")?.to_lowercase();
    Period::ALL.into_iter().find(|period| period.sec_name() == name)
}

fn benchmark(names: &[Value], performance: &[Value], old: Option<&Fund>) -> Benchmark {
    let mut listed: Vec<String> = Vec::new();
    for name in latest(names.to_vec()).iter().filter_map(|row| text(row, "benchmark")) {
        if !listed.contains(&name) {
            listed.push(name);
        }
    }
    let name = (!listed.is_empty()).then(|| listed.join(" + "));
    let returns = if performance.iter().any(|row| is_kind(row, BENCHMARK_RETURN)) {
        by_period(performance, BENCHMARK_RETURN)
    } else {
        old.map(|old| old.benchmark.returns.clone()).unwrap_or_default()
    };
    Benchmark { name: name.or_else(|| old.and_then(|old| old.benchmark.name.clone())), returns }
}

fn deviation_over(rows: &[Value], period: Period) -> Option<Decimal> {
    by_period(rows, FUND_DEVIATION).get(period)
}

/// The deviation over the longest period there is one for.
fn deviation(rows: &[Value]) -> Option<PublishedDeviation> {
    [Period::Y5, Period::Y3, Period::Y1].into_iter().find_map(|period| {
        let percent = deviation_over(rows, period)?;
        Some(PublishedDeviation { percent, period: period.as_str().to_owned() })
    })
}

fn allocation(rows: &[Value]) -> Option<Vec<Allocation>> {
    let part = |row: &Value| {
        Some(Allocation {
            asset_class: text(row, "asset_name")?,
            percent: number(row, "asset_ratio")?,
        })
    };
    // A fund with several classes may list its parts once a class.
    let mut seen = std::collections::BTreeSet::new();
    let once = rows.iter().filter(|row| {
        let place = number(row, "asset_seq");
        place.is_none() || seen.insert((place, text(row, "asset_name")))
    });
    let parts: Vec<Allocation> = once.filter_map(part).collect();
    (!parts.is_empty()).then_some(parts)
}

fn fees(rows: &[Value]) -> Vec<Fee> {
    let fee = |row: &Value| {
        let description = text(row, "fee_type_desc")?;
        Some(Fee {
            kind: fee_kind(&description).to_owned(),
            value: number(row, "actual_value").or_else(|| number(row, "rate")),
            remark: text(row, "fee_other_desc"),
            description,
        })
    };
    rows.iter().filter_map(fee).collect()
}

/// Our word for what factsheets call a fee. The order matters: the first that fits decides.
fn fee_kind(description: &str) -> &'static str {
    const KINDS: [(&str, &str); 9] = [
        ("รวมทั้งหมด", Fee::TOTAL),
        ("Front-end", "front_end"),
        ("Back-end", "back_end"),
        ("SWITCHING IN", "switch_in"),
        ("SWITCHING OUT", "switch_out"),
        ("การจัดการ", "management"),
        ("การโอน", "transfer"),
        ("นายทะเบียน", "registrar"),
        ("ผู้ดูแลผลประโยชน์", "trustee"),
    ];
    KINDS.iter().find(|(part, _)| description.contains(part)).map_or("other", |(_, kind)| kind)
}

fn yes_or_no(policy: &str) -> String {
    match policy {
        "N" => "No".to_owned(),
        "Y" => "Yes".to_owned(),
        other => other.to_owned(),
    }
}
