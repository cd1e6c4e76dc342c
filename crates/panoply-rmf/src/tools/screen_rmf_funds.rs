//! `screen_rmf_funds`: funds by fee, size, age, hedging and return, share classes folded.

use std::collections::BTreeMap;
use std::sync::Arc;

use panoply_contract::params::SortOrder;
use panoply_contract::prelude::*;
use serde_json::json;

use super::data_age::DataAge;
use super::listing::cell;
use super::locale::Locale;
use super::service::{CACHE_POLICY, KEYWORDS, READ_PERMISSIONS, ReplyExt, RmfService};
use super::wire::{Figure, decimal, direction, figure, optional_whole, whole};
use crate::compare::total_expense;
use crate::fund::{Fund, RiskLevel};
use crate::period::Period;
use crate::query::Filter;
use crate::screen::{FoldedFund, Hedging, Screen, ScreenSort, Screened, age_years, volatility};
use crate::store::FundStore;

const SPEC: ToolSpec = ToolSpec {
    name: "screen_rmf_funds",
    title: "Screen RMF funds",
    description: Description {
        does: "Screens Thai Retirement Mutual Funds (RMF) by topic, company, risk, fee, size, age, first purchase, currency hedging, dividends and return over any period, and sorts them by any of these; the share classes of one fund are one row.",
        when: "Use this when someone wants the cheapest, largest, oldest or best funds of a kind, or hedged ones. Do not use it to look up one fund (use get_rmf_fund_detail).",
        returns: "Returns one row per fund with its classes, fee, size, age, hedging and returns, and how many funds were left out because a figure is not published.",
        asks: &["Cheapest global equity RMF with risk up to 6", "Gold RMF sorted by 5-year return", "กองทุน RMF หุ้นโลกค่าธรรมเนียมต่ำสุด"],
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
            shows: "gold funds by five-year return",
            params: r#"{"search": "ทองคำ", "sortBy": "5y", "limit": 3}"#,
            expect: Expect::Data(r#"{"totalFunds": 13}"#),
        },
        Example {
            shows: "a risk that does not exist",
            params: r#"{"maxRiskLevel": 9}"#,
            expect: Expect::Error("BAD_REQUEST"),
        },
    ],
    tags: KEYWORDS,
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: None,
}
.checked();

/// Conditions and order. All conditions must hold.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// Topic, company or words of the name, in English or Thai: `gold`, `หุ้นโลก`, `S&P 500`.
    #[schemars(length(min = 1, max = 200))]
    search: Option<String>,
    /// Company, by name or short name in English or Thai.
    #[schemars(length(min = 1, max = 200))]
    #[schemars(extend("x-listed" = false))]
    amc: Option<String>,
    /// EQUITY, FIXED, MIXED, ALTERNATIVE, PROPERTY, COMMODITY or the beginning of an AIMC class.
    #[schemars(length(min = 1, max = 40))]
    category: Option<String>,
    /// Minimum risk level, 1 to 8.
    #[serde(default, deserialize_with = "optional_whole")]
    #[schemars(range(min = 1, max = 8))]
    #[schemars(extend("x-listed" = false))]
    min_risk_level: Option<u32>,
    /// Maximum risk level, 1 to 8.
    #[serde(default, deserialize_with = "optional_whole")]
    #[schemars(range(min = 1, max = 8))]
    max_risk_level: Option<u32>,
    /// Maximum total expense, in percent a year.
    #[schemars(range(min = 0.0, max = 100.0))]
    max_fee: Option<f64>,
    /// Minimum net assets, in baht.
    #[schemars(range(min = 0.0, max = 1e13))]
    min_net_assets: Option<f64>,
    /// Minimum age of the fund, in years.
    #[serde(default, deserialize_with = "optional_whole")]
    #[schemars(range(min = 0, max = 100))]
    #[schemars(extend("x-listed" = false))]
    min_age_years: Option<u32>,
    /// Maximum first purchase, in baht.
    #[schemars(range(min = 0.0, max = 1e9))]
    #[schemars(extend("x-listed" = false))]
    max_minimum: Option<f64>,
    /// Currency hedging.
    hedging: Option<HedgingArgument>,
    /// Whether the fund pays dividends.
    #[schemars(extend("x-listed" = false))]
    dividend: Option<bool>,
    /// Period of `minReturn`.
    #[serde(default)]
    return_period: ScreenPeriod,
    /// Minimum return over `returnPeriod`, in percent; per year from 3y on.
    #[schemars(range(min = -100.0, max = 10_000.0))]
    min_return: Option<f64>,
    /// Sort key; funds without the figure come last.
    #[serde(default)]
    sort_by: SortKeyArgument,
    /// Sort direction; by default the natural one: lowest fee, risk and minimum first, highest
    /// return and size first.
    #[schemars(extend("x-listed" = false))]
    sort_order: Option<SortOrder>,
    /// Maximum number of funds to return.
    #[serde(default = "twenty", deserialize_with = "whole")]
    #[schemars(range(min = 1, max = 100))]
    limit: u32,
}

const fn twenty() -> u32 {
    20
}

/// Currency hedging.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum HedgingArgument {
    /// Most of the exposure is hedged.
    Hedged,
    /// Hardly any is.
    Unhedged,
    /// In between.
    Partial,
}

/// Periods of returns.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
enum ScreenPeriod {
    /// Since the start of the year.
    #[serde(rename = "ytd")]
    Ytd,
    /// Three months.
    #[serde(rename = "3m")]
    M3,
    /// Six months.
    #[serde(rename = "6m")]
    M6,
    /// One year.
    #[default]
    #[serde(rename = "1y")]
    Y1,
    /// Three years, per year.
    #[serde(rename = "3y")]
    Y3,
    /// Five years, per year.
    #[serde(rename = "5y")]
    Y5,
    /// Ten years, per year.
    #[serde(rename = "10y")]
    Y10,
}

impl ScreenPeriod {
    const fn period(self) -> Period {
        match self {
            Self::Ytd => Period::Ytd,
            Self::M3 => Period::M3,
            Self::M6 => Period::M6,
            Self::Y1 => Period::Y1,
            Self::Y3 => Period::Y3,
            Self::Y5 => Period::Y5,
            Self::Y10 => Period::Y10,
        }
    }
}

/// Sort key.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
enum SortKeyArgument {
    /// Return since the start of the year.
    #[serde(rename = "ytd")]
    Ytd,
    /// Return over three months.
    #[serde(rename = "3m")]
    M3,
    /// Return over six months.
    #[serde(rename = "6m")]
    M6,
    /// Return over a year.
    #[default]
    #[serde(rename = "1y")]
    Y1,
    /// Return over three years.
    #[serde(rename = "3y")]
    Y3,
    /// Return over five years.
    #[serde(rename = "5y")]
    Y5,
    /// Return over ten years.
    #[serde(rename = "10y")]
    Y10,
    /// Total expense.
    #[serde(rename = "fee")]
    Fee,
    /// Net assets.
    #[serde(rename = "size")]
    Size,
    /// Age.
    #[serde(rename = "age")]
    Age,
    /// First purchase.
    #[serde(rename = "minimum")]
    Minimum,
    /// Risk level.
    #[serde(rename = "risk")]
    Risk,
    /// Published volatility.
    #[serde(rename = "volatility")]
    Volatility,
    /// Code.
    #[serde(rename = "code")]
    Code,
}

impl SortKeyArgument {
    const fn key(self) -> ScreenSort {
        match self {
            Self::Ytd => ScreenSort::Return(Period::Ytd),
            Self::M3 => ScreenSort::Return(Period::M3),
            Self::M6 => ScreenSort::Return(Period::M6),
            Self::Y1 => ScreenSort::Return(Period::Y1),
            Self::Y3 => ScreenSort::Return(Period::Y3),
            Self::Y5 => ScreenSort::Return(Period::Y5),
            Self::Y10 => ScreenSort::Return(Period::Y10),
            Self::Fee => ScreenSort::Fee,
            Self::Size => ScreenSort::Size,
            Self::Age => ScreenSort::Age,
            Self::Minimum => ScreenSort::Minimum,
            Self::Risk => ScreenSort::Risk,
            Self::Volatility => ScreenSort::Volatility,
            Self::Code => ScreenSort::Code,
        }
    }

    /// The order that people mean.
    const fn natural(self) -> SortOrder {
        match self {
            Self::Fee | Self::Minimum | Self::Risk | Self::Volatility | Self::Code => {
                SortOrder::Asc
            }
            _ => SortOrder::Desc,
        }
    }
}

/// Funds that pass.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Funds up to `limit`, one row each.
    funds: Vec<Row>,
    /// Number of funds that pass, share classes counted once.
    total_funds: usize,
    /// Funds left out because a figure is not published, by condition.
    left_out: BTreeMap<&'static str, usize>,
    /// Dates and ages of these figures.
    data_age: DataAge,
}

/// A fund.
#[derive(Debug, Serialize, JsonSchema)]
struct Row {
    /// Code of the class shown.
    symbol: String,
    /// Codes of all classes that pass.
    classes: Vec<String>,
    /// English name.
    fund_name: String,
    /// Asset management company.
    amc: String,
    /// Class of investment.
    class: String,
    /// Why it has this class: aimc_classification, sec_compare_code, name_or_benchmark, sec_policy.
    class_reason: &'static str,
    /// Risk from 1 (lowest) to 8 (highest).
    risk_level: u8,
    /// Total expense, in percent a year.
    total_expense: Option<Figure>,
    /// Net assets, in baht.
    net_assets: Option<Figure>,
    /// Age in years.
    age_years: Option<i16>,
    /// Minimum first purchase, in baht.
    min_initial: Option<Figure>,
    /// hedged, unhedged or partial; null when neither the SEC nor the name says.
    hedging: Option<&'static str>,
    /// Published volatility, in percent.
    volatility: Option<Figure>,
    /// Returns by period, in percent; per year from 3y on.
    returns: BTreeMap<&'static str, Figure>,
}

impl Row {
    fn of(service: &RmfService, folded: &FoldedFund<'_>) -> Self {
        let fund = folded.fund;
        let returns = Period::ALL
            .into_iter()
            .filter_map(|period| Some((period.as_str(), Figure(fund.returns.get(period)?))))
            .collect();
        Self {
            symbol: fund.symbol.clone(),
            classes: folded.classes.iter().map(|class| class.symbol.clone()).collect(),
            fund_name: fund.name.clone(),
            amc: fund.company.name.clone(),
            class: folded.class.code.clone(),
            class_reason: folded.class.reason.as_str(),
            risk_level: fund.risk.get(),
            total_expense: figure(total_expense(fund)),
            net_assets: figure(fund.net_assets),
            age_years: age_years(fund, service.today()),
            min_initial: figure(fund.minimums.initial),
            hedging: folded.hedging.map(Hedging::as_str),
            volatility: figure(volatility(fund)),
            returns,
        }
    }
}

pub(crate) struct ScreenRmfFunds {
    pub(crate) store: Arc<FundStore>,
}

impl Tool for ScreenRmfFunds {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let service = RmfService::open(&self.store, cx);
        let screen = screen_of(service.locale, &params)?;
        let order = direction(params.sort_order.unwrap_or(params.sort_by.natural()));
        let screened = screen.apply(&service.catalog, params.sort_by.key(), order, service.today());
        let shown: Vec<&FoldedFund<'_>> =
            screened.funds.iter().take(params.limit as usize).collect();
        let funds: Vec<&Fund> = shown.iter().map(|folded| folded.fund).collect();
        let evidence =
            service.evidence_from_returns(&funds).complete(funds.len() as u64, funds.len() as u64);
        let text = sentence(&service, &screened, &shown, params.sort_by.key())
            + &service.locale.words_left_out(&screened.words_left_out);
        let output = Output {
            funds: shown.iter().map(|folded| Row::of(&service, folded)).collect(),
            total_funds: screened.funds.len(),
            left_out: screened.left_out.clone(),
            data_age: DataAge::of(&service, &funds),
        };
        let mut reply =
            Reply::new(output, text, evidence).table(table(&service, &shown, params.sort_by.key()));
        if let Some(first) = funds.first() {
            reply = reply.next(NextAction::new(
                "get_rmf_fund_detail",
                json!({"fundCode": first.symbol}),
                service.locale.pick("see everything about the first fund", "ดูรายละเอียดกองทุนแรก"),
            ));
        }
        Ok(reply.with_provenance(&service, None, []))
    }
}

fn screen_of(locale: Locale, params: &Params) -> Result<Screen, ToolError> {
    let level = |level: Option<u32>| {
        level.and_then(|level| u8::try_from(level).ok()).and_then(RiskLevel::new)
    };
    let amount = |value: Option<f64>| value.map(|value| decimal(locale, value)).transpose();
    Ok(Screen {
        filter: Filter {
            search: params.search.clone().filter(|text| !text.trim().is_empty()),
            company: params.amc.clone().filter(|text| !text.trim().is_empty()),
            category: params.category.clone().filter(|text| !text.trim().is_empty()),
            min_risk: level(params.min_risk_level),
            max_risk: level(params.max_risk_level),
            min_ytd: None,
        },
        max_fee: amount(params.max_fee)?,
        min_net_assets: amount(params.min_net_assets)?,
        min_age_years: params.min_age_years.and_then(|years| i16::try_from(years).ok()),
        max_minimum: amount(params.max_minimum)?,
        hedging: params.hedging.map(|hedging| match hedging {
            HedgingArgument::Hedged => Hedging::Hedged,
            HedgingArgument::Unhedged => Hedging::Unhedged,
            HedgingArgument::Partial => Hedging::Partial,
        }),
        dividend: params.dividend,
        min_return: amount(params.min_return)?.map(|least| (params.return_period.period(), least)),
    })
}

/// The figure that the list is sorted by.
fn headline(service: &RmfService, fund: &Fund, sort: ScreenSort) -> String {
    let locale = service.locale;
    let percent = |value| locale.percent(value);
    match sort {
        ScreenSort::Return(period) => {
            format!("{} {}", percent(fund.returns.get(period)), locale.period(period))
        }
        ScreenSort::Fee => {
            let fee = total_expense(fund).map_or_else(
                || locale.missing().to_owned(),
                |fee| format!("{}%", super::locale::fixed(fee, 2)),
            );
            format!("{} {fee}", locale.pick("fee", "ค่าธรรมเนียม"))
        }
        ScreenSort::Size => {
            fund.net_assets.map_or_else(|| locale.missing().to_owned(), |size| locale.baht(size))
        }
        ScreenSort::Minimum => fund
            .minimums
            .initial
            .map_or_else(|| locale.missing().to_owned(), |least| locale.baht(least)),
        ScreenSort::Volatility => volatility(fund).map_or_else(
            || locale.missing().to_owned(),
            |deviation| format!("{}%", super::locale::fixed(deviation, 2)),
        ),
        ScreenSort::Age | ScreenSort::Risk | ScreenSort::Code => {
            format!("{} {}/8", locale.pick("risk", "ความเสี่ยง"), fund.risk)
        }
    }
}

fn sentence(
    service: &RmfService,
    screened: &Screened<'_>,
    shown: &[&FoldedFund<'_>],
    sort: ScreenSort,
) -> String {
    let locale = service.locale;
    let total = screened.funds.len();
    let listed: Vec<String> = shown
        .iter()
        .take(3)
        .map(|folded| format!("{} ({})", folded.fund.symbol, headline(service, folded.fund, sort)))
        .collect();
    let listed = listed.join(", ");
    let missing: Vec<String> =
        screened.left_out.iter().map(|(figure, count)| format!("{figure}: {count}")).collect();
    let missing = missing.join(", ");
    let funds: Vec<&Fund> = shown.iter().map(|folded| folded.fund).collect();
    let dated = service.as_of(&funds);
    match (locale.0, missing.is_empty()) {
        (Lang::En, true) => format!("{total} RMF funds pass. First: {listed}. {dated}"),
        (Lang::En, false) => format!(
            "{total} RMF funds pass. First: {listed}. Left out because the figure is not published: {missing}. {dated}"
        ),
        (Lang::Th, true) => format!("พบ {total} กองทุน อันดับแรก: {listed} {dated}"),
        (Lang::Th, false) => {
            format!("พบ {total} กองทุน อันดับแรก: {listed} ไม่แสดงเพราะไม่มีข้อมูล: {missing} {dated}")
        }
    }
}

fn table(service: &RmfService, shown: &[&FoldedFund<'_>], sort: ScreenSort) -> Table {
    let locale = service.locale;
    let period = match sort {
        ScreenSort::Return(period) => period,
        _ => Period::Y1,
    };
    let columns = [
        locale.pick("fund", "กองทุน").to_owned(),
        format!("{} %", locale.period(period)),
        locale.pick("fee %", "ค่าธรรมเนียม %").to_owned(),
        locale.pick("risk", "เสี่ยง").to_owned(),
        locale.pick("classes", "ชนิดหน่วย").to_owned(),
    ];
    shown.iter().fold(Table::new(columns), |table, folded| {
        table.row([
            folded.fund.symbol.clone(),
            cell(folded.fund.returns.get(period), 2),
            cell(total_expense(folded.fund), 2),
            folded.fund.risk.to_string(),
            folded.classes.len().to_string(),
        ])
    })
}
