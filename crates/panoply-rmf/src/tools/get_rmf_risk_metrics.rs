//! `get_rmf_risk_metrics`: drawdown, volatility and return per unit of risk of one fund.

use std::sync::Arc;

use panoply_contract::evidence::Sample;
use panoply_contract::prelude::*;
use rust_decimal::Decimal;
use serde_json::json;

use super::answer::{Desk, Dressed, KEPT, KEYWORDS, READ, related};
use super::wire::{Day, Figure, optional_whole};
use super::words::fixed;
use crate::fund::Fund;
use crate::risk::{Measured, RiskMetrics, Unmeasured, measure};
use crate::store::Shelf;

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
    permissions: READ,
    category: Category::Analysis,
    response_time: ResponseTime::Fast,
    cache: KEPT,
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

/// Which fund, against which riskless return.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Params {
    /// The fund's code, such as `ABAPAC-RMF`.
    #[schemars(length(min = 1, max = 60))]
    fund_code: String,
    /// How many days with a published NAV, counted back from the last; all unless told.
    #[serde(default, deserialize_with = "optional_whole")]
    #[schemars(range(min = 2, max = 5_000))]
    days: Option<u32>,
    /// The riskless return in percent a year, for Sharpe and Sortino; 0 unless told.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 30.0))]
    risk_free_rate: f64,
}

/// The figures.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The fund's code.
    fund_code: String,
    /// How many days were used.
    records: usize,
    /// The first of them.
    from: Option<Day>,
    /// The last of them.
    to: Option<Day>,
    /// The riskless return, in percent a year.
    risk_free_rate: f64,
    /// The deepest fall from a peak, in percent, zero or negative.
    max_drawdown: Metric,
    /// The day of the peak before it.
    drawdown_peak: Option<Day>,
    /// The day of the lowest value.
    drawdown_trough: Option<Day>,
    /// Sample deviation of daily simple returns, times the root of 252, in percent.
    volatility: Metric,
    /// Excess return a year over volatility.
    sharpe_ratio: Metric,
    /// Excess return a year over downside deviation.
    sortino_ratio: Metric,
    /// Return a year over the deepest fall.
    calmar_ratio: Metric,
    /// The standard deviation the SEC publishes, in percent a year.
    sec_standard_deviation: Option<Published>,
}

/// A figure, or the reason why there is none.
#[derive(Debug, Serialize, JsonSchema)]
struct Metric {
    /// The figure.
    value: Option<Figure>,
    /// Why it is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// A figure of the SEC.
#[derive(Debug, Serialize, JsonSchema)]
struct Published {
    /// In percent a year.
    value: Figure,
    /// Over which period; inferred from the fund's age in the bundled figures.
    period: String,
}

/// See the module.
pub(crate) struct GetRmfRiskMetrics {
    pub(crate) shelf: Arc<Shelf>,
}

impl Tool for GetRmfRiskMetrics {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let desk = Desk::open(&self.shelf, cx);
        let fund = desk.fund(&params.fund_code)?;
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
        // The relative error of a deviation from n returns is that of a mean with variation 1/√2.
        let sample = Sample::Mean { n: returns, variation: std::f64::consts::FRAC_1_SQRT_2 };
        let evidence = desk
            .resting_on_nav(fund.nav.latest().map(|point| point.date))
            .complete(known, measured.len() as u64)
            .sampled(sample);
        let text = sentence(&desk, fund, &metrics);
        let drawdown = metrics.max_drawdown.as_ref().ok().copied();
        let output = Output {
            fund_code: fund.symbol.clone(),
            records: metrics.records,
            from: metrics.span.map(|(first, _)| Day(first)),
            to: metrics.span.map(|(_, last)| Day(last)),
            risk_free_rate: params.risk_free_rate,
            max_drawdown: metric(&desk, metrics.max_drawdown.map(|fall| fall.percent)),
            drawdown_peak: drawdown.map(|fall| Day(fall.peak)),
            drawdown_trough: drawdown.map(|fall| Day(fall.trough)),
            volatility: metric(&desk, metrics.volatility),
            sharpe_ratio: metric(&desk, metrics.sharpe),
            sortino_ratio: metric(&desk, metrics.sortino),
            calmar_ratio: metric(&desk, metrics.calmar),
            sec_standard_deviation: fund.deviation.as_ref().map(|deviation| Published {
                value: Figure(deviation.percent),
                period: deviation.period.clone(),
            }),
        };
        let mut reply = Reply::new(output, text, evidence)
            .related(related(fund))
            .assuming("252 trading days a year, simple daily returns")
            .next(NextAction::new(
                "get_rmf_fund_nav_history",
                json!({"fundCode": fund.symbol, "days": 365}),
                desk.words.pick("see the NAVs behind these figures", "ดู NAV ที่ใช้คำนวณ"),
            ));
        if params.risk_free_rate == 0.0 {
            reply = reply.assuming("a riskless return of 0 % a year");
        }
        Ok(reply.dressed(&desk, None, [fund]))
    }
}

fn metric(desk: &Desk, measured: Measured<Decimal>) -> Metric {
    match measured {
        Ok(value) => Metric { value: Some(Figure(value)), reason: None },
        Err(reason) => Metric { value: None, reason: Some(explained(desk, &reason)) },
    }
}

fn explained(desk: &Desk, reason: &Unmeasured) -> String {
    match (desk.words.0, reason) {
        (Lang::En, reason) => reason.to_string(),
        (Lang::Th, Unmeasured::TooFew { needed, found, .. }) => {
            format!("ต้องมีข้อมูลอย่างน้อย {needed} วัน มีเพียง {found} วัน")
        }
        (Lang::Th, Unmeasured::NothingToDivideBy(_)) => {
            "คำนวณไม่ได้เพราะ NAV ไม่เคลื่อนไหวในทางที่ต้องใช้".to_owned()
        }
    }
}

fn sentence(desk: &Desk, fund: &Fund, metrics: &RiskMetrics) -> String {
    let words = desk.words;
    let symbol = &fund.symbol;
    let Some(span) = metrics.span else {
        return format!("{symbol}: {}.", words.flag(crate::fund::Flag::NoNav));
    };
    let (records, span) = (metrics.records, words.dates(span));
    let percent = |measured: &Measured<Decimal>| {
        measured
            .as_ref()
            .map_or_else(|_| words.missing().to_owned(), |value| format!("{}%", fixed(*value, 2)))
    };
    let ratio = |measured: &Measured<Decimal>| {
        measured.as_ref().map_or_else(|_| words.missing().to_owned(), |value| fixed(*value, 2))
    };
    let fall = percent(&metrics.max_drawdown.clone().map(|fall| fall.percent));
    let volatility = percent(&metrics.volatility);
    let (sharpe, sortino, calmar) =
        (ratio(&metrics.sharpe), ratio(&metrics.sortino), ratio(&metrics.calmar));
    let too_few = metrics.calmar.as_ref().err().map(|reason| explained(desk, reason));
    let note = too_few.map(|reason| format!(" ({reason})")).unwrap_or_default();
    match words.0 {
        Lang::En => format!(
            "{symbol} over {records} published NAVs ({span}): maximum drawdown {fall}, volatility {volatility} a year, Sharpe {sharpe}, Sortino {sortino}, Calmar {calmar}{note}. {}",
            words.past_performance()
        ),
        Lang::Th => format!(
            "{symbol} จาก NAV {records} วัน ({span}): ลดลงสูงสุด {fall} ความผันผวน {volatility} ต่อปี Sharpe {sharpe} Sortino {sortino} Calmar {calmar}{note} {}",
            words.past_performance()
        ),
    }
}
