//! `compare_rmf_funds`: two to five funds side by side.

use std::sync::Arc;

use panoply_contract::prelude::*;
use serde_json::json;

use super::data_age::DataAge;
use super::fund_detail::publishes_fees;
use super::listing::cell;
use super::service::{
    CACHE_POLICY, FUND_COMPARISON, KEYWORDS, READ_PERMISSIONS, ReplyExt, RmfService, related,
};
use super::wire::{Day, Figure, figure, funds_by_flag};
use crate::compare::{Highlights, highlights, total_expense};
use crate::fund::{Fee, Fund};
use crate::period::Period;
use crate::store::FundStore;

const SPEC: ToolSpec = ToolSpec {
    name: "compare_rmf_funds",
    title: "Compare RMF funds",
    description: Description {
        does: "Puts two to five Thai Retirement Mutual Funds (RMF) side by side: returns, benchmark, risk, fees and NAV.",
        when: "Use this when someone weighs named RMF funds against each other. Case, blanks and punctuation in the codes do not matter. Do not use it to find funds (use search_rmf_funds) nor with more than five.",
        returns: "Returns the funds in the order given, and which has the best and worst return since the start of the year, the least and most risk, and the lowest fees; ties go to the first listed, null where figures are missing. Keywords: RMF, retirement, mutual fund, Thailand, tax, NAV, performance.",
        asks: &["Compare ABAPAC-RMF and B-ASIARMF", "Which fund is better?", "เปรียบเทียบกองทุน RMF สองกองนี้"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: READ_PERMISSIONS,
    category: Category::Query,
    response_time: ResponseTime::Fast,
    cache: CACHE_POLICY,
    idempotent: true,
    data: &["rmf"],
    examples: &[
        Example {
            shows: "three funds",
            params: r#"{"fundCodes": ["ABAPAC-RMF", "B-ASIARMF", "ES-GOLDRMF-UH"], "compareBy": "performance"}"#,
            expect: Expect::Data(r#"{"comparisonHighlights": {"highestRisk": "ES-GOLDRMF-UH"}}"#),
        },
        Example {
            shows: "one fund alone",
            params: r#"{"fundCodes": ["ABAPAC-RMF"]}"#,
            expect: Expect::Error("BAD_REQUEST"),
        },
        Example {
            shows: "codes that no fund has",
            params: r#"{"fundCodes": ["NO-SUCH-1", "NO-SUCH-2"]}"#,
            expect: Expect::Error("NOT_FOUND"),
        },
    ],
    tags: KEYWORDS,
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: Some(FUND_COMPARISON.widget),
}
.checked();

/// Funds to compare.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Two to five distinct fund codes.
    #[schemars(length(min = 2, max = 5), inner(length(min = 1, max = 160)))]
    fund_codes: Vec<String>,
    /// Focus of the text; the structured content is always complete.
    #[serde(default)]
    compare_by: CompareBy,
}

/// Focus of the text.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum CompareBy {
    /// Everything.
    #[default]
    All,
    /// Returns.
    Performance,
    /// Risk.
    Risk,
    /// Fees.
    Fees,
}

impl CompareBy {
    const fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Performance => "performance",
            Self::Risk => "risk",
            Self::Fees => "fees",
        }
    }
}

/// The funds side by side.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The funds, in the order given.
    funds: Vec<Column>,
    /// Funds with the best or worst value of each criterion.
    comparison_highlights: ComparisonHighlights,
    /// Dates and ages of these figures.
    data_age: DataAge,
}

/// One fund of a comparison.
#[derive(Debug, Serialize, JsonSchema)]
struct Column {
    /// The fund's code.
    symbol: String,
    /// Its English name.
    fund_name: String,
    /// The company that manages it.
    amc: String,
    /// Risk from 1 (lowest) to 8 (highest).
    risk_level: u8,
    /// Return since the start of the year, in percent.
    perf_ytd: Option<Figure>,
    /// Return over a year, in percent.
    perf_1y: Option<Figure>,
    /// Return over three years, in percent a year.
    perf_3y: Option<Figure>,
    /// Return over five years, in percent a year.
    perf_5y: Option<Figure>,
    /// Benchmark.
    benchmark_name: Option<String>,
    /// The benchmark since the start of the year, in percent.
    benchmark_ytd: Option<Figure>,
    /// The benchmark over a year, in percent.
    benchmark_1y: Option<Figure>,
    /// Fees, one line per kind.
    fees: Option<Vec<FeeLine>>,
    /// Standard deviation of a year's returns, in percent.
    volatility_1y: Option<Figure>,
    /// Tracking error, in percent.
    tracking_error: Option<Figure>,
    /// Latest net asset value, in baht.
    nav_value: Option<Figure>,
    /// Date of that value.
    nav_date: Option<Day>,
}

/// A fee.
#[derive(Debug, Serialize, JsonSchema)]
struct FeeLine {
    /// Description from the factsheet.
    fee_desc: String,
    /// In percent; null when not published.
    fee_value: Option<Figure>,
}

/// Codes of the funds with the best or worst value.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ComparisonHighlights {
    /// Highest year-to-date return; null when no fund has one.
    best_ytd: Option<String>,
    /// Lowest year-to-date return; null when fewer than two funds have one.
    worst_ytd: Option<String>,
    /// Lowest risk level.
    lowest_risk: Option<String>,
    /// Highest risk level.
    highest_risk: Option<String>,
    /// Lowest total expense; null when fewer than two funds publish it.
    lowest_fees: Option<String>,
}

pub(crate) struct CompareRmfFunds {
    pub(crate) store: Arc<FundStore>,
}

impl Tool for CompareRmfFunds {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let service = RmfService::open(&self.store, cx);
        let funds = resolve_all(&service, &params.fund_codes)?;
        let found = highlights(&funds);
        let known = funds.iter().filter(|fund| fund.returns.get(Period::Ytd).is_some()).count();
        let evidence =
            service.evidence_from_returns(&funds).complete(known as u64, funds.len() as u64);
        let text = sentence(&service, params.compare_by, &funds, &found);
        let code = |fund: Option<&Fund>| fund.map(|fund| fund.symbol.clone());
        let output = Output {
            funds: funds.iter().map(|fund| Column::of(fund)).collect(),
            comparison_highlights: ComparisonHighlights {
                best_ytd: code(found.best_ytd),
                worst_ytd: code(found.worst_ytd),
                lowest_risk: code(found.lowest_risk),
                highest_risk: code(found.highest_risk),
                lowest_fees: code(found.lowest_fees),
            },
            data_age: DataAge::of(&service, &funds),
        };
        let mut reply = Reply::new(output, text, evidence)
            .table(table(&service, &funds))
            .meta("compareBy", params.compare_by.as_str())
            .meta("fundCount", funds.len())
            .meta("dataFlags", funds_by_flag(funds.iter().copied()))
            .meta("fundNamesTh", thai_names(&funds));
        for fund in &funds {
            reply = reply.related(related(fund));
        }
        if let Some(best) = found.best_ytd {
            reply = reply.next(NextAction::new(
                "get_rmf_fund_detail",
                json!({"fundCode": best.symbol}),
                service
                    .locale
                    .pick("see everything about the best of them", "ดูรายละเอียดกองทุนที่ดีที่สุด"),
            ));
        }
        Ok(reply.with_provenance(&service, Some(&FUND_COMPARISON), funds.iter().copied()))
    }
}

/// Resolves all codes, or reports every unknown one.
pub(crate) fn resolve_all<'a>(
    service: &'a RmfService,
    codes: &[String],
) -> Result<Vec<&'a Fund>, ToolError> {
    if codes.iter().any(|code| code.trim().is_empty()) {
        return Err(service.locale.empty_code());
    }
    let (found, unknown): (Vec<_>, Vec<_>) =
        codes.iter().map(|code| service.catalog.find(code)).partition(Result::is_ok);
    let unknown: Vec<_> = unknown.into_iter().filter_map(Result::err).collect();
    if !unknown.is_empty() {
        return Err(service.locale.unknown_funds(&unknown));
    }
    let funds: Vec<&Fund> = found.into_iter().filter_map(Result::ok).collect();
    let duplicate = funds
        .iter()
        .enumerate()
        .find(|(index, fund)| funds.iter().take(*index).any(|other| other.symbol == fund.symbol));
    match duplicate {
        Some((_, fund)) => Err(service.locale.duplicate_fund(&fund.symbol)),
        None => Ok(funds),
    }
}

impl Column {
    fn of(fund: &Fund) -> Self {
        let latest = fund.nav.latest();
        let perf = |period| figure(fund.returns.get(period));
        Self {
            symbol: fund.symbol.clone(),
            fund_name: fund.name.clone(),
            amc: fund.company.name.clone(),
            risk_level: fund.risk.get(),
            perf_ytd: perf(Period::Ytd),
            perf_1y: perf(Period::Y1),
            perf_3y: perf(Period::Y3),
            perf_5y: perf(Period::Y5),
            benchmark_name: fund.benchmark.name.clone(),
            benchmark_ytd: figure(fund.benchmark.returns.get(Period::Ytd)),
            benchmark_1y: figure(fund.benchmark.returns.get(Period::Y1)),
            fees: publishes_fees(fund).then(|| fee_lines(&fund.fees)),
            volatility_1y: figure(fund.volatility_1y),
            tracking_error: figure(fund.tracking_error),
            nav_value: latest.map(|point| Figure(point.nav)),
            nav_date: latest.map(|point| Day(point.date)),
        }
    }
}

/// Thai names by code, for the widget: hosts do not always tell the reader's language with the call.
fn thai_names(funds: &[&Fund]) -> serde_json::Value {
    let named = funds.iter().filter_map(|fund| Some((&fund.symbol, fund.name_th.as_ref()?)));
    json!(named.collect::<std::collections::BTreeMap<_, _>>())
}

/// One line per kind. The source repeats its table for funds with several classes.
fn fee_lines(fees: &[Fee]) -> Vec<FeeLine> {
    let mut seen = Vec::new();
    let mut lines = Vec::new();
    for fee in fees {
        let key = (&fee.description, fee.value);
        if !seen.contains(&key) {
            seen.push(key);
            lines.push(FeeLine { fee_desc: fee.description.clone(), fee_value: figure(fee.value) });
        }
    }
    lines
}

fn sentence(
    service: &RmfService,
    by: CompareBy,
    funds: &[&Fund],
    found: &Highlights<'_>,
) -> String {
    let locale = service.locale;
    let count = funds.len();
    let listed: Vec<String> = funds
        .iter()
        .map(|fund| {
            let ytd = locale.percent(fund.returns.get(Period::Ytd));
            let (name, code) = (locale.name(fund), &fund.symbol);
            match locale.0 {
                Lang::En => format!("{name} ({code}, Risk {}, {ytd} YTD)", fund.risk),
                Lang::Th => format!("{name} ({code}, ความเสี่ยง {}, {ytd} ตั้งแต่ต้นปี)", fund.risk),
            }
        })
        .collect();
    let listed = listed.join(", ");
    // The focus comes first.
    let mut differences = vec![
        (CompareBy::Performance, return_difference(service, found)),
        (CompareBy::Risk, risk_difference(service, found)),
        (CompareBy::Fees, Some(fee_difference(service, funds, found))),
    ];
    differences.sort_by_key(|(subject, _)| subject.as_str() != by.as_str());
    let mut differences: Vec<String> =
        differences.into_iter().filter_map(|(_, difference)| difference).collect();
    differences.extend(same_fund(service, funds));
    let differences = differences.join("; ");
    match locale.0 {
        Lang::En => format!(
            "Comparing {count} RMF funds: {listed}. Key differences: {differences}. {}",
            service.as_of(funds)
        ),
        Lang::Th => format!(
            "เปรียบเทียบกองทุน RMF {count} กองทุน: {listed} ความแตกต่างหลัก: {differences} {}",
            service.as_of(funds)
        ),
    }
}

fn return_difference(service: &RmfService, found: &Highlights<'_>) -> Option<String> {
    let (best, worst) = (found.best_ytd?, found.worst_ytd?);
    let gap = best.returns.get(Period::Ytd)? - worst.returns.get(Period::Ytd)?;
    if gap.is_zero() {
        let same = service.locale.pick("the same YTD return", "ผลตอบแทนตั้งแต่ต้นปีเท่ากัน");
        return Some(same.to_owned());
    }
    let gap = super::locale::fixed(gap, 2);
    Some(match service.locale.0 {
        Lang::En => format!("{} leads {} by {gap} points YTD", best.symbol, worst.symbol),
        Lang::Th => format!("{} นำ {} อยู่ {gap} จุดตั้งแต่ต้นปี", best.symbol, worst.symbol),
    })
}

fn risk_difference(service: &RmfService, found: &Highlights<'_>) -> Option<String> {
    let (low, high) = (found.lowest_risk?, found.highest_risk?);
    let same = low.risk == high.risk;
    Some(match (service.locale.0, same) {
        (Lang::En, true) => format!("all have risk {}/8", low.risk),
        (Lang::Th, true) => format!("ทุกกองทุนมีความเสี่ยง {}/8", low.risk),
        (Lang::En, false) => format!(
            "{} has the lowest risk ({}/8), {} the highest ({}/8)",
            low.symbol, low.risk, high.symbol, high.risk
        ),
        (Lang::Th, false) => format!(
            "{} เสี่ยงต่ำสุด ({}/8) {} เสี่ยงสูงสุด ({}/8)",
            low.symbol, low.risk, high.symbol, high.risk
        ),
    })
}

/// Names share classes of one fund: their portfolio is the same.
fn same_fund(service: &RmfService, funds: &[&Fund]) -> Option<String> {
    let pair = funds.iter().enumerate().find_map(|(at, fund)| {
        let other = funds.iter().skip(at + 1).find(|other| other.fund_id == fund.fund_id)?;
        Some((fund, other))
    });
    pair.map(|(a, b)| {
        let shared = a.shares_figures() || b.shares_figures();
        match (service.locale.0, shared) {
            (Lang::En, false) => format!("{} and {} are share classes of one fund", a.symbol, b.symbol),
            (Lang::En, true) => format!(
                "{} and {} are share classes of one fund, and the source gives both the figures of the first",
                a.symbol, b.symbol
            ),
            (Lang::Th, false) => format!("{} และ {} เป็นกองทุนเดียวกันคนละชนิดหน่วย", a.symbol, b.symbol),
            (Lang::Th, true) => format!(
                "{} และ {} เป็นกองทุนเดียวกันคนละชนิดหน่วย และแหล่งข้อมูลใช้ตัวเลขของชนิดแรก",
                a.symbol, b.symbol
            ),
        }
    })
}

fn fee_difference(service: &RmfService, funds: &[&Fund], found: &Highlights<'_>) -> String {
    let locale = service.locale;
    let fees: Vec<String> = funds
        .iter()
        .filter_map(|fund| {
            let total = super::locale::fixed(total_expense(fund)?, 2);
            Some(format!("{} {total}%", fund.symbol))
        })
        .collect();
    match found.lowest_fees {
        Some(fund) => {
            let lowest = locale.pick("lowest total fees", "ค่าธรรมเนียมรวมต่ำสุด");
            format!("{lowest}: {} ({})", fund.symbol, fees.join(", "))
        }
        _ => locale
            .pick(
                "fees are not published in these figures, see the factsheets",
                "ไม่มีข้อมูลค่าธรรมเนียม โปรดดูหนังสือชี้ชวน",
            )
            .to_owned(),
    }
}

/// One column per fund. Rows without any figure are omitted.
fn table(service: &RmfService, funds: &[&Fund]) -> Table {
    let locale = service.locale;
    let head = std::iter::once(String::new()).chain(funds.iter().map(|fund| fund.symbol.clone()));
    let mut table = Table::new(head);
    for period in [Period::Ytd, Period::Y1, Period::Y3, Period::Y5] {
        if funds.iter().any(|fund| fund.returns.get(period).is_some()) {
            let figures = funds.iter().map(|fund| cell(fund.returns.get(period), 2));
            table =
                table.row(std::iter::once(format!("{} %", locale.period(period))).chain(figures));
        }
    }
    if funds.iter().any(|fund| total_expense(fund).is_some()) {
        let fees = funds.iter().map(|fund| cell(total_expense(fund), 2));
        let name = locale.pick("total fees %", "ค่าธรรมเนียมรวม %").to_owned();
        table = table.row(std::iter::once(name).chain(fees));
    }
    let risks = funds.iter().map(|fund| fund.risk.to_string());
    table = table.row(std::iter::once(locale.pick("risk", "ความเสี่ยง").to_owned()).chain(risks));
    let navs = funds.iter().map(|fund| cell(fund.nav.latest().map(|point| point.nav), 4));
    table.row(std::iter::once("NAV".to_owned()).chain(navs))
}
