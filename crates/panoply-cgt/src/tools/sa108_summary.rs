//! `sa108_summary`: entries of form SA108, and whether a return is required.

use std::sync::Arc;

use panoply_contract::prelude::*;

use super::arguments::{AbsenceParam, NumberText, YearText, only_year, pounds_or_none};
use super::content::Content;
use super::earlier_losses::{EarlierLossesOut, LossesGiven};
use super::estimate_tax::payment_due;
use super::other_gains::OtherGainParam;
use super::portfolios::PortfolioId;
use super::service::CgtService;
use crate::engine::report::{Rounding, report};
use crate::engine::{Options, SameDaySplit};
use crate::estimate::{OtherGain, Situation, estimate};
use crate::losses::EarlierLosses;
use crate::money::Money;
use crate::sa108::{FilledBox, Known, ROUNDING, boxes, reasons_to_report};

const SPEC: ToolSpec = ToolSpec {
    name: "sa108_summary",
    title: "Figures for SA108",
    description: Description {
        does: "Gives the figures of form SA108 of a tax year, box by box in whole pounds and by class of asset (listed, unlisted, crypto, other), and says whether the gains must be reported at all.",
        when: "Use this when the user fills in a Self Assessment return. Give `taxable_income` for 2024/25: without it the adjustment in box 51 cannot be said.",
        returns: "Returns the boxes of each section with what to enter, such as 23 to 27 for listed shares, 45, 47 and 51, the day by which the tax is due, and the reasons to report.",
        asks: &["What do I put in box 24?", "Do I have to report these gains?", "Fill in SA108 for 2023/24"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["cgt:read"],
    category: Category::Analysis,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &["hmrc-rates", "portfolios", "uk-parameters"],
    examples: &[
        Example {
            shows: "a year below every limit",
            params: r#"{"cgt_content": "2020-01-01 BUY A 100 @ 10\n2023-12-01 SELL A 100 @ 20", "year": 2023}"#,
            expect: Expect::Data(r#"{"period": "2023/24", "report_needed": false}"#),
        },
        Example {
            shows: "text that is no transaction",
            params: r#"{"cgt_content": "hello", "year": 2023}"#,
            expect: Expect::Error("PARSE_ERROR"),
        },
    ],
    tags: &["tax", "uk", "shares", "capital-gains", "return"],
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: None,
}
.checked();

/// Tax year, transactions and the taxpayer's income and losses.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// The transactions: lines of text, JSON text, or a JSON array. Required, unless `portfolio_id` is given.
    cgt_content: Option<Content>,
    /// Alias of `cgt_content`.
    #[schemars(extend("x-listed" = false))]
    transactions: Option<Content>,
    /// Stored portfolio, in place of `cgt_content`.
    #[schemars(extend("x-listed" = false))]
    portfolio_id: Option<PortfolioId>,
    /// Tax year, by the year it starts in: 2024 is 2024/25.
    year: YearText,
    /// Income of that year after allowances and reliefs, in pounds; required for box 51 only.
    taxable_income: Option<NumberText>,
    /// Claimed and unused losses of earlier years by the person's own records, in pounds. Without it they are those of the transactions, if `earlier_losses` is `claimed`.
    losses_brought_forward: Option<NumberText>,
    /// Whether losses of earlier years in the transactions were claimed in time; ask the person. Without it boxes 45 and 47 stay empty when there are such losses.
    earlier_losses: Option<EarlierLosses>,
    /// Tax years whose losses were not claimed in time, when all others were.
    #[serde(default)]
    #[schemars(length(max = 30), extend("x-listed" = false))]
    unclaimed_loss_years: Vec<YearText>,
    /// Gains and losses of the year on other assets, after reliefs: they change boxes 45, 47 and 51.
    #[serde(default)]
    #[schemars(length(max = 50), extend("x-listed" = false))]
    other_gains: Vec<OtherGainParam>,
    /// Match sales exceeding the holding with later purchases instead of rejecting them.
    #[serde(default)]
    #[schemars(extend("x-listed" = false))]
    allow_short: bool,
    /// Order of a split and trades on the same day; default `refuse`.
    #[serde(default)]
    #[schemars(extend("x-listed" = false))]
    same_day_split: SameDaySplit,
    /// Time of non-residence: no 30-day rule for purchases in it, and gains of it are charged on a return within five years.
    #[schemars(extend("x-listed" = false))]
    non_resident: Option<AbsenceParam>,
}

/// SA108 entries.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Tax year, such as 2024/25.
    period: String,
    /// Boxes, in the order of the form.
    boxes: Vec<BoxOut>,
    /// Whether the gains must be reported.
    report_needed: bool,
    /// Reasons to report.
    reasons: Vec<String>,
    /// Day by which the online return is filed and the tax paid.
    due: String,
    /// Losses of earlier years in the transactions, and whether they were claimed.
    earlier_losses: EarlierLossesOut,
    /// Rounding of the entries.
    rounding: &'static str,
    /// Statute of the duty to report.
    law: String,
    /// Warnings for the reader.
    warnings: Vec<String>,
}

/// Box of the form.
#[derive(Debug, Serialize, JsonSchema)]
struct BoxOut {
    /// Section of the form.
    section: &'static str,
    /// Box number; empty before 2016/17, whose forms had other numbers.
    number: String,
    /// Label of the box.
    label: String,
    /// Entry; null when more information is needed.
    entry: Option<String>,
}

pub(crate) struct Sa108Summary {
    service: Arc<CgtService>,
}

impl Sa108Summary {
    pub(super) const fn new(service: Arc<CgtService>) -> Self {
        Self { service }
    }
}

impl Tool for Sa108Summary {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, _cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let year = params.year.year()?;
        let parsed = self.service.transactions(
            params.cgt_content.as_ref(),
            params.transactions.as_ref(),
            params.portfolio_id.as_ref(),
        )?;
        let computation = self.service.compute(
            &parsed.rows,
            Options {
                allow_short: params.allow_short,
                same_day_split: params.same_day_split,
                absence: params.non_resident.as_ref().map(AbsenceParam::absence).transpose()?,
                ..Options::default()
            },
        )?;
        let parameters = &self.service.parameters;
        let report = report(&computation, parameters, Some(year), Rounding::PerLeg);
        let of_year = only_year(&report)?;
        let losses = LossesGiven::of(
            params.losses_brought_forward.as_ref(),
            params.earlier_losses,
            &params.unclaimed_loss_years,
            (&report.losses, of_year, parameters),
        )?;
        let other = params
            .other_gains
            .iter()
            .map(|other| other.read(year, parameters))
            .collect::<Result<Vec<OtherGain>, ToolError>>()?;
        let situation = Situation {
            taxable_income: pounds_or_none("taxable_income", params.taxable_income.as_ref())?,
            losses_brought_forward: losses.brought_forward,
            basic_rate_band: None,
            other: &other,
        };
        let estimate = estimate(of_year, parameters, situation);
        let known =
            Known { income: params.taxable_income.is_some(), losses: losses.open.is_none() };
        let facts = (report.securities, other.as_slice());
        let filled = boxes(of_year, facts, estimate.as_ref(), known, parameters);
        let losses_used = estimate.as_ref().map_or(Money::ZERO, |estimate| estimate.losses_used);
        let taxable = match (&estimate, other.is_empty()) {
            (Some(estimate), false) => Some(estimate.taxable + losses_used),
            (Some(_) | None, true) | (None, false) => of_year.taxable_gain,
        };
        let reasons = reasons_to_report(of_year, taxable, losses_used, parameters);
        let text = match reasons.as_slice() {
            [] => format!("The gains of {year} need not be reported."),
            _ => format!("The gains of {year} should be reported: {}.", reasons.join("; ")),
        };
        let shown = |entry: &Option<String>| entry.clone().unwrap_or_else(|| "?".to_owned());
        let table =
            filled.iter().fold(Table::new(["box", "asks for", "enter"]), |table, filled| {
                table.row([filled.number.clone(), filled.label.to_owned(), shown(&filled.entry)])
            });
        let incomplete = filled.iter().any(|filled| filled.entry.is_none());
        let output = Output {
            period: year.to_string(),
            boxes: filled.into_iter().map(box_out).collect(),
            report_needed: !reasons.is_empty(),
            reasons,
            due: payment_due(year),
            law: parameters.reporting_law().to_owned(),
            earlier_losses: EarlierLossesOut::of(&report, of_year, &losses),
            rounding: ROUNDING,
            warnings: report.warnings.iter().cloned().chain(losses.warnings(of_year)).collect(),
        };
        let mut reply = Reply::new(output, text, self.service.evidence(parsed.rows.len()))
            .table(table)
            .assuming("holdings without `SECURITY … CLASS` are listed shares or securities")
            .assuming(match other.is_empty() {
                true => "there are no other gains or losses in the year",
                false => "other gains and losses are entered in their own sections of the form",
            });
        if losses.open.is_some() {
            reply = reply.needing("whether the losses of earlier years were claimed (`earlier_losses`), for boxes 45 and 47");
        }
        if incomplete && !known.income {
            reply = reply.needing("taxable income of the year, for box 51");
        }
        Ok(reply)
    }
}

fn box_out(filled: FilledBox) -> BoxOut {
    BoxOut {
        section: filled.section,
        number: filled.number,
        label: filled.label.to_owned(),
        entry: filled.entry,
    }
}
