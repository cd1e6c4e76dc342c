//! Merges API rows with the previous figures. A figure missing from the API keeps its previous
//! value and date, unless it may belong to another share class. A fund whose rows break the schema
//! or whose figures fail a gate is quarantined: it keeps all its previous figures.

use jiff::civil::Date;
use rust_decimal::Decimal;
use serde_json::Value;

use super::fetch::{MAIN, Project, ProjectRows, class_of};
use super::fields::{day, number, text, thai_text};
use super::{Rejected, SyncRequest, gates, schema};
use crate::fund::{
    Allocation, Benchmark, Documents, Fee, Flag, Fund, HoldingsReport, Minimums,
    PublishedDeviation, Quarantine, RiskLevel, Statistic, Statistics, Suitability, is_unbalanced,
};
use crate::lookup::folded;
use crate::nav::{NavPoint, NavSeries};
use crate::period::{ByPeriod, Period};

const FUND_RETURN: &str = "ผลตอบแทนกองทุนรวม";
const BENCHMARK_RETURN: &str = "ผลตอบแทนตัวชี้วัด";
const FUND_DEVIATION: &str = "ความผันผวนของกองทุนรวม";

/// Result of merging one project.
#[derive(Debug, Default)]
pub(super) struct Merged {
    pub(super) funds: Vec<Fund>,
    /// Codes of new funds left out, with the reason.
    pub(super) skipped: Vec<Rejected>,
    /// Known funds that keep their previous figures, with the reason.
    pub(super) quarantined: Vec<Rejected>,
}

/// Whether a known fund is still in the register.
pub(super) fn is_registered(projects: &[Project], fund: &Fund) -> bool {
    projects.iter().any(|project| {
        project.id == fund.fund_id
            && project.classes.iter().any(|class| is_class(project, class, fund))
    })
}

/// Whether `fund` is the named class. A fund with a single class may have another code than the
/// register; with several classes the code is the class name.
fn is_class(project: &Project, class: &str, fund: &Fund) -> bool {
    fund.fund_id == project.id
        && if class == MAIN {
            fund.share_classes.len() <= 1 || folded(&fund.symbol) == folded(&project.code)
        } else {
            folded(&fund.symbol) == folded(class)
        }
}

/// Merges a project into one fund per class.
pub(super) fn merge(request: &SyncRequest<'_>, project: &Project, rows: &ProjectRows) -> Merged {
    let mut merged = Merged::default();
    let several = project.classes.len() > 1;
    let invalid = schema::problems(rows);
    for name in &project.classes {
        let old = request.catalog.funds().iter().find(|fund| is_class(project, name, fund));
        let trusted = old.filter(|old| !old.shares_figures());
        let class = ShareClass { project, name, rows, old, trusted };
        let code = old.map_or_else(|| code(project, name), |old| old.symbol.clone());
        let accepted = request.accept.iter().any(|listed| folded(listed) == folded(&code));
        match class.checked_fund(request, &invalid, accepted) {
            Ok(mut fund) => {
                if several {
                    fund.share_classes =
                        project.classes.iter().map(|class| self::code(project, class)).collect();
                }
                merged.funds.push(fund);
            }
            Err(reason) => match old {
                Some(old) => {
                    let since = old.quarantine.as_ref().map(|earlier| earlier.since.clone());
                    let quarantine = Quarantine {
                        since: since.unwrap_or_else(|| request.now.to_owned()),
                        reason: reason.clone(),
                    };
                    merged.funds.push(Fund { quarantine: Some(quarantine), ..old.clone() });
                    merged.quarantined.push(Rejected { code, reason });
                }
                None => merged.skipped.push(Rejected { code, reason }),
            },
        }
    }
    merged
}

fn code(project: &Project, class: &str) -> String {
    if class == MAIN { project.code.clone() } else { class.to_owned() }
}

/// One share class: the rows of its project and its previous figures.
struct ShareClass<'a> {
    project: &'a Project,
    name: &'a str,
    rows: &'a ProjectRows,
    old: Option<&'a Fund>,
    /// `old`, unless its figures may belong to the first class.
    trusted: Option<&'a Fund>,
}

impl ShareClass<'_> {
    /// The merged fund, or why the fetched figures are rejected.
    fn checked_fund(
        &self,
        request: &SyncRequest<'_>,
        invalid: &[String],
        accepted: bool,
    ) -> Result<Fund, String> {
        if !invalid.is_empty() {
            return Err(invalid.join("; "));
        }
        let fund = self.fund(request.now).ok_or("no risk level is published")?;
        let failures = gates::failures(self.old, &fund, request.today);
        if failures.is_empty() || accepted { Ok(fund) } else { Err(failures.join("; ")) }
    }

    /// The merged fund; `None` for a new fund without a risk level.
    fn fund(&self, now: &str) -> Option<Fund> {
        let project = self.project;
        let (risk, risk_text) = self.risk()?;
        let performance = self.own(&self.rows.performance);
        let (nav, [buy_price, sell_price, net_assets]) = self.nav_and_prices();
        let (returns, returns_as_of) = self.returns(&performance);
        let deviations = latest(of_kind(&performance, FUND_DEVIATION));
        let allocation = self
            .or_previous(allocation(&latest(self.rows.allocation.clone())), |old| &old.allocation);
        let mut flags = Vec::new();
        if allocation.as_deref().is_some_and(is_unbalanced) {
            flags.push(Flag::AllocationDoesNotAddUp);
        }
        if nav.latest().is_none() {
            flags.push(Flag::NoNav);
        }
        let statistics = latest(self.own(&self.rows.statistics));
        let holdings = holdings(&latest(self.rows.holdings.clone()));
        let dividend =
            self.own(&self.rows.dividends).iter().find_map(|row| text(row, "dividend_policy"));
        let factsheet = self
            .own(&self.rows.urls)
            .iter()
            .find_map(|row| text(row, "pdf_factsheet").or_else(|| text(row, "amc_url_factsheet")));
        Some(Fund {
            fund_id: project.id.clone(),
            symbol: self.old.map_or_else(|| code(project, self.name), |old| old.symbol.clone()),
            name: project.name.clone().unwrap_or_else(|| self.previous(|old| &old.name)),
            name_th: self.or_previous(project.name_th.clone(), |old| &old.name_th),
            company: if project.company.name.is_empty() {
                self.previous(|old| &old.company)
            } else {
                project.company.clone()
            },
            // API version 2 has neither; they change rarely.
            classification: self.previous(|old| &old.classification),
            compare_code: self.previous(|old| &old.compare_code),
            management_style: self
                .or_previous(project.management_style.clone(), |old| &old.management_style),
            dividend_policy: self
                .or_previous(dividend.map(|policy| yes_or_no(&policy)), |old| &old.dividend_policy),
            policy_th: self.or_previous(project.policy_th.clone(), |old| &old.policy_th),
            risk,
            status: project.status,
            registered: self.or_previous(project.registered, |old| &old.registered),
            nav,
            buy_price,
            sell_price,
            net_assets,
            returns,
            returns_as_of,
            benchmark: benchmark(&self.rows.benchmarks, &performance, self.old),
            deviation: deviation(&deviations).or_else(|| self.trusted?.deviation.clone()),
            volatility_1y: deviation_over(&deviations, Period::Y1)
                .or_else(|| self.trusted?.volatility_1y),
            tracking_error: match statistics.first() {
                Some(row) => number(row, "tracking_error"),
                None => self.trusted.and_then(|old| old.tracking_error),
            },
            allocation,
            fees: Some(fees(&latest(self.own(&self.rows.fees))))
                .filter(|fees| !fees.is_empty())
                .unwrap_or_else(|| self.previous(|old| &old.fees)),
            minimums: self.minimums(),
            documents: Documents {
                factsheet: factsheet.or_else(|| self.old?.documents.factsheet.clone()),
                ..self.previous(|old| &old.documents)
            },
            suitability: Suitability {
                risk_level: risk_text.or_else(|| self.old?.suitability.risk_level.clone()),
                ..self.previous(|old| &old.suitability)
            },
            share_classes: Vec::new(),
            fetched_at: Some(now.to_owned()),
            flags,
            isin: project.isins.get(self.name).cloned().or_else(|| self.old?.isin.clone()),
            master_fund: self.or_previous(project.master_fund.clone(), |old| &old.master_fund),
            master_country: self
                .or_previous(project.master_country.clone(), |old| &old.master_country),
            statistics: statistics
                .first()
                .map(published_statistics)
                .or_else(|| self.trusted.map(|old| old.statistics.clone()))
                .unwrap_or_default(),
            previous_holdings: self.previous_holdings(holdings.as_ref()),
            holdings: self.or_previous(holdings, |old| &old.holdings),
            quarantine: None,
        })
    }

    /// The rows of this class.
    fn own(&self, rows: &[Value]) -> Vec<Value> {
        rows.iter().filter(|row| class_of(row) == self.name).cloned().collect()
    }

    fn previous<T: Clone + Default>(&self, field: fn(&Fund) -> &T) -> T {
        self.old.map(|old| field(old).clone()).unwrap_or_default()
    }

    fn or_previous<T: Clone>(&self, new: Option<T>, field: fn(&Fund) -> &Option<T>) -> Option<T> {
        new.or_else(|| field(self.old?).clone())
    }

    /// Risk level and its description. The risk spectrum is published per project.
    fn risk(&self) -> Option<(RiskLevel, Option<String>)> {
        let published = self.rows.risk.iter().find_map(|row| {
            let risk = RiskLevel::parse_spectrum(&text(row, "risk_spectrum")?)?;
            Some((risk, thai_text(row, "risk_spectrum_desc")))
        });
        published.or_else(|| self.old.map(|old| (old.risk, None)))
    }

    /// NAV series, and offer price, bid price and net assets of its latest day.
    fn nav_and_prices(&self) -> (NavSeries, [Option<Decimal>; 3]) {
        let rows = self.own(&self.rows.nav);
        let old = self.trusted.map(|old| old.nav.clone()).unwrap_or_default();
        let prices = match rows.iter().max_by_key(|row| day(row, "nav_date")) {
            Some(row) => ["buy_price", "sell_price", "net_asset"]
                .map(|name| number(row, name).filter(|price| !price.is_zero())),
            None => self
                .trusted
                .map_or([None; 3], |old| [old.buy_price, old.sell_price, old.net_assets]),
        };
        (old.merged_with(&series(&rows)), prices)
    }

    /// Returns and their date: both from the API, or both previous.
    fn returns(&self, performance: &[Value]) -> (ByPeriod<Decimal>, Option<Date>) {
        let rows = latest(of_kind(performance, FUND_RETURN));
        if rows.is_empty() {
            let old = self.trusted.map(|old| (old.returns.clone(), old.returns_as_of));
            return old.unwrap_or_default();
        }
        (by_period(&rows), sheet_date(&rows))
    }

    /// The report before the latest one, to tell what changed.
    fn previous_holdings(&self, new: Option<&HoldingsReport>) -> Option<HoldingsReport> {
        let old = self.old?;
        match (new, &old.holdings) {
            (Some(new), Some(before)) if new.as_of > before.as_of => Some(before.clone()),
            _ => old.previous_holdings.clone(),
        }
    }

    fn minimums(&self) -> Minimums {
        let rows = latest(self.own(&self.rows.minimums));
        rows.first().map_or_else(
            || self.previous(|old| &old.minimums),
            |row| {
                let old = self.previous(|old| &old.minimums);
                Minimums {
                    initial: number(row, "minimum_sub_ipo").or(old.initial),
                    additional: number(row, "minimum_sub").or(old.additional),
                    redemption: number(row, "minimum_redempt").or(old.redemption),
                    balance: number(row, "lowbal_val").or(old.balance),
                }
            },
        )
    }
}

/// Keeps the rows of the latest factsheet.
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
    // The map's keys are ascending and unique, so the series is always valid.
    NavSeries::new(days.into_iter().map(|(date, nav)| NavPoint { date, nav }).collect())
        .unwrap_or_default()
}

fn of_kind(rows: &[Value], kind: &str) -> Vec<Value> {
    let matches = |row: &&Value| text(row, "performance_type_desc").as_deref() == Some(kind);
    rows.iter().filter(matches).cloned().collect()
}

/// Date of a factsheet.
fn sheet_date(rows: &[Value]) -> Option<Date> {
    rows.iter().find_map(|row| day(row, "start_date"))
}

fn by_period(rows: &[Value]) -> ByPeriod<Decimal> {
    let mut values = ByPeriod::default();
    for row in rows {
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
    let rows = latest(of_kind(performance, BENCHMARK_RETURN));
    let (returns, as_of) = if rows.is_empty() {
        old.map(|old| (old.benchmark.returns.clone(), old.benchmark.as_of)).unwrap_or_default()
    } else {
        (by_period(&rows), sheet_date(&rows))
    };
    let name = name.or_else(|| old.and_then(|old| old.benchmark.name.clone()));
    Benchmark { name, returns, as_of }
}

fn published_statistics(row: &Value) -> Statistics {
    let value = |kind: Statistic| Some((kind, number(row, kind.as_str())?));
    Statistics {
        as_of: day(row, "start_date"),
        values: Statistic::ALL.into_iter().filter_map(value).collect(),
    }
}

fn holdings(rows: &[Value]) -> Option<HoldingsReport> {
    let mut holdings = allocation(rows)?;
    holdings.sort_by_key(|part| std::cmp::Reverse(part.percent));
    Some(HoldingsReport { as_of: sheet_date(rows), holdings })
}

fn deviation_over(rows: &[Value], period: Period) -> Option<Decimal> {
    by_period(rows).get(period)
}

/// Deviation over the longest published period.
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
    // A fund with several classes may repeat its allocation per class.
    let mut seen = std::collections::BTreeSet::new();
    let once = rows.iter().filter(|row| {
        let position = number(row, "asset_seq");
        position.is_none() || seen.insert((position, text(row, "asset_name")))
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

/// Normalised type of a factsheet fee. The first matching entry wins.
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
