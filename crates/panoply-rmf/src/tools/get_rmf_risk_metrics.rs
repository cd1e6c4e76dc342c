//! `get_rmf_risk_metrics`: drawdown, volatility, Sharpe, Sortino and Calmar ratio of one fund.

use std::sync::Arc;

use panoply_contract::evidence::Sample;
use panoply_contract::prelude::*;
use rust_decimal::Decimal;

use super::locale::fixed;
use super::service::{CACHE_POLICY, KEYWORDS, READ_PERMISSIONS, ReplyExt, RmfService, related};
use super::wire::{Day, Figure, optional_whole};
use crate::fund::Fund;
use crate::risk::{MetricError, MetricResult, RiskMetrics, measure};
use crate::store::FundStore;

const SPEC: ToolSpec = ToolSpec {
    name: "get_rmf_risk_metrics",
    title: "Risk figures of an RMF fund",
    description: Description {
        does: "Computes maximum drawdown, annualised volatility, and Sharpe, Sortino and Calmar ratios of one Thai Retirement Mutual Fund (RMF) from its daily NAVs.",
        when: "Use this when someone asks how risky a fund really was or what return it gave for its risk. Do not use it for the official risk level 1-8 (use get_rmf_fund_detail).",
        returns: "Returns each figure, or null with the reason when there are too few days for it; also the standard deviation the SEC publishes.",
        asks: &["What is the maximum drawdown of ES-GOLDRMF-UH?", "Sharpe ratio of ABAPAC-RMF", "กองทุนนี้ผันผวนแค่ไหน"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: READ_PERMISSIONS,
    category: Category::Analysis,
    response_time: ResponseTime::Fast,
    cache: CACHE_POLICY,
    idempotent: true,
    data: &["rmf"],
    examples: &[
        Example {
            shows: "all days that are known",
            params: r#"{"fundCode": "ABAPAC-RMF"}"#,
            expect: Expect::Data(r#"{"fundCode": "ABAPAC-RMF"}"#),
        },
        Example {
            shows: "a fund without NAV",
            params: r#"{"fundCode": "B-USPASSIVERMF"}"#,
            expect: Expect::Data(r#"{"records": 0, "volatility": {"value": null}}"#),
        },
    ],
    tags: KEYWORDS,
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: None,
}
.checked();

/// Fund, days and risk-free return.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The fund's code, such as `ABAPAC-RMF`.
    #[schemars(length(min = 1, max = 160))]
    fund_code: String,
    /// Number of days with a published NAV, counted back from the latest; by default all.
    #[serde(default, deserialize_with = "optional_whole")]
    #[schemars(range(min = 2, max = 5_000))]
    days: Option<u32>,
    /// Risk-free return in percent a year, for Sharpe and Sortino; by default 0.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 30.0))]
    risk_free_rate: f64,
}

/// Risk metrics.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The fund's code.
    fund_code: String,
    /// Number of NAVs used.
    records: usize,
    /// First date used.
    from: Option<Day>,
    /// Last date used.
    to: Option<Day>,
    /// Risk-free return, in percent a year.
    risk_free_rate: f64,
    /// Maximum drawdown, in percent, zero or negative.
    max_drawdown: Metric,
    /// Date of the peak before the drawdown.
    drawdown_peak: Option<Day>,
    /// Date of the trough.
    drawdown_trough: Option<Day>,
    /// Sample deviation of simple daily returns times √252, in percent.
    volatility: Metric,
    /// Annualised excess return divided by volatility.
    sharpe_ratio: Metric,
    /// Annualised excess return divided by downside deviation.
    sortino_ratio: Metric,
    /// Annualised return divided by maximum drawdown.
    calmar_ratio: Metric,
    /// Standard deviation published by the SEC.
    sec_standard_deviation: Option<Published>,
}

/// A metric, or the reason why it is absent.
#[derive(Debug, Serialize, JsonSchema)]
struct Metric {
    /// Value.
    value: Option<Figure>,
    /// Why the value is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// Published standard deviation.
#[derive(Debug, Serialize, JsonSchema)]
struct Published {
    /// In percent a year.
    value: Figure,
    /// Reference period; inferred from the fund's age in the bundled figures.
    period: String,
}

pub(crate) struct GetRmfRiskMetrics {
    pub(crate) store: Arc<FundStore>,
}

impl Tool for GetRmfRiskMetrics {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let service = RmfService::open(&self.store, cx);
        let fund = service.fund(&params.fund_code)?;
        let points = match params.days {
            Some(days) => fund.nav.tail(days as usize),
            None => fund.nav.points(),
        };
        let metrics = measure(points, params.risk_free_rate);
        let returns = points.len().saturating_sub(1) as u64;
        let measured = [
            metrics.max_drawdown.is_ok(),
            metrics.volatility.is_ok(),
            metrics.sharpe.is_ok(),
            metrics.sortino.is_ok(),
            metrics.calmar.is_ok(),
        ];
        let known = measured.iter().filter(|known| **known).count() as u64;
        // The relative standard error of a deviation from n returns is that of a mean with
        // variation 1/√2.
        let sample = Sample::Mean { n: returns, variation: std::f64::consts::FRAC_1_SQRT_2 };
        let evidence = service
            .evidence_from_nav(fund.nav.latest().map(|point| point.date))
            .complete(known, measured.len() as u64)
            .sampled(sample);
        let text = sentence(&service, fund, &metrics);
        let drawdown = metrics.max_drawdown.as_ref().ok().copied();
        let output = Output {
            fund_code: fund.symbol.clone(),
            records: metrics.records,
            from: metrics.span.map(|(first, _)| Day(first)),
            to: metrics.span.map(|(_, last)| Day(last)),
            risk_free_rate: params.risk_free_rate,
            max_drawdown: metric(&service, metrics.max_drawdown.map(|drawdown| drawdown.percent)),
            drawdown_peak: drawdown.map(|drawdown| Day(drawdown.peak)),
            drawdown_trough: drawdown.map(|drawdown| Day(drawdown.trough)),
            volatility: metric(&service, metrics.volatility),
            sharpe_ratio: metric(&service, metrics.sharpe),
            sortino_ratio: metric(&service, metrics.sortino),
            calmar_ratio: metric(&service, metrics.calmar),
            sec_standard_deviation: fund.deviation.as_ref().map(|deviation| Published {
                value: Figure(deviation.percent),
                period: deviation.period.clone(),
            }),
        };
        let mut reply = Reply::new(output, text, evidence)
            .related(related(fund))
            .assuming("252 trading days a year, simple daily returns");
        if params.risk_free_rate == 0.0 {
            reply = reply.assuming("a risk-free return of 0 % a year");
        }
        Ok(reply.with_provenance(&service, None, [fund]))
    }
}

fn metric(service: &RmfService, measured: MetricResult<Decimal>) -> Metric {
    match measured {
        Ok(value) => Metric { value: Some(Figure(value)), reason: None },
        Err(reason) => Metric { value: None, reason: Some(explained(service, &reason)) },
    }
}

fn explained(service: &RmfService, reason: &MetricError) -> String {
    match (service.locale.0, reason) {
        (Lang::En, reason) => reason.to_string(),
        (Lang::Th, MetricError::TooFewObservations { needed, found, .. }) => {
            format!("ต้องมีข้อมูลอย่างน้อย {needed} วัน มีเพียง {found} วัน")
        }
        (Lang::Th, MetricError::ZeroDivisor(_)) => {
            "คำนวณไม่ได้เพราะ NAV ไม่เคลื่อนไหวในทางที่ต้องใช้".to_owned()
        }
    }
}

fn sentence(service: &RmfService, fund: &Fund, metrics: &RiskMetrics) -> String {
    let locale = service.locale;
    let symbol = &fund.symbol;
    let Some(span) = metrics.span else {
        return format!("{symbol}: {}.", locale.flag(crate::fund::Flag::NoNav));
    };
    let (records, span) = (metrics.records, locale.dates(span));
    let percent = |measured: &MetricResult<Decimal>| {
        measured
            .as_ref()
            .map_or_else(|_| locale.missing().to_owned(), |value| format!("{}%", fixed(*value, 2)))
    };
    let ratio = |measured: &MetricResult<Decimal>| {
        measured.as_ref().map_or_else(|_| locale.missing().to_owned(), |value| fixed(*value, 2))
    };
    let fall = percent(&metrics.max_drawdown.clone().map(|drawdown| drawdown.percent));
    let volatility = percent(&metrics.volatility);
    let (sharpe, sortino, calmar) =
        (ratio(&metrics.sharpe), ratio(&metrics.sortino), ratio(&metrics.calmar));
    let too_few = metrics.calmar.as_ref().err().map(|reason| explained(service, reason));
    let note = too_few.map(|reason| format!(" ({reason})")).unwrap_or_default();
    match locale.0 {
        Lang::En => format!(
            "{symbol} over {records} published NAVs ({span}): maximum drawdown {fall}, volatility {volatility} a year, Sharpe {sharpe}, Sortino {sortino}, Calmar {calmar}{note}. {}",
            locale.past_performance()
        ),
        Lang::Th => format!(
            "{symbol} จาก NAV {records} วัน ({span}): ลดลงสูงสุด {fall} ความผันผวน {volatility} ต่อปี Sharpe {sharpe} Sortino {sortino} Calmar {calmar}{note} {}",
            locale.past_performance()
        ),
    }
}
