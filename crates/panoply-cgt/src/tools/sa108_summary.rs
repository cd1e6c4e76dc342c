//! `sa108_summary`: entries of form SA108, and whether a return is required.

use std::sync::Arc;

use panoply_contract::prelude::*;
use serde_json::json;

use super::arguments::{only_year, pounds_or_none};
use super::calculate_report::year_of;
use super::content::{self, Content};
use super::service::CgtService;
use crate::engine::report::{Rounding, report};
use crate::engine::{Options, SameDaySplit};
use crate::estimate::{Situation, estimate};
use crate::money::Money;
use crate::sa108::{FilledBox, boxes, reasons_to_report};

const SPEC: ToolSpec = ToolSpec {
    name: "sa108_summary",
    title: "Figures for SA108",
    description: Description {
        does: "Gives the figures for the listed shares section of form SA108 of a tax year, box by box in whole pounds, and says whether the gains must be reported at all.",
        when: "Use this when the user fills in a Self Assessment return. Give `taxable_income` for 2024/25: without it the adjustment in box 51 cannot be said.",
        returns: "Returns boxes 23 to 27, 45, 47 and 51 with what to enter, and the reasons to report.",
        asks: &["What do I put in box 24?", "Do I have to report these gains?", "Fill in SA108 for 2023/24"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["cgt:read"],
    category: Category::Analysis,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &["hmrc-rates", "uk-parameters"],
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
    /// The transactions: lines of text, JSON text, or a JSON array. Required, here or as `transactions`.
    cgt_content: Option<Content>,
    /// Alias of `cgt_content`.
    transactions: Option<Content>,
    /// Tax year, by the year it starts in: 2024 is 2024/25.
    #[schemars(range(min = 1900, max = 2100))]
    year: i64,
    /// Income of that year after allowances and reliefs, in pounds; required for box 51 only.
    #[schemars(length(min = 1, max = 30))]
    taxable_income: Option<String>,
    /// Claimed and unused losses of earlier years, in pounds; default 0.
    #[schemars(length(min = 1, max = 30))]
    losses_brought_forward: Option<String>,
    /// Match sales exceeding the holding with later purchases instead of rejecting them.
    #[serde(default)]
    allow_short: bool,
    /// Order of a split and trades on the same day; default `refuse`.
    #[serde(default)]
    same_day_split: SameDaySplit,
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
    /// Statute of the duty to report.
    law: String,
    /// Warnings for the reader.
    warnings: Vec<String>,
}

/// Box of the form.
#[derive(Debug, Serialize, JsonSchema)]
struct BoxOut {
    /// Box number.
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
        let year = year_of(params.year)?;
        let situation = Situation {
            taxable_income: pounds_or_none("taxable_income", params.taxable_income.as_deref())?,
            losses_brought_forward: pounds_or_none(
                "losses_brought_forward",
                params.losses_brought_forward.as_deref(),
            )?,
            basic_rate_band: None,
        };
        let parsed = Content::read_some(params.cgt_content.as_ref(), params.transactions.as_ref())?;
        let computation = self.service.compute(
            &parsed.rows,
            Options { allow_short: params.allow_short, same_day_split: params.same_day_split },
        )?;
        let parameters = &self.service.parameters;
        let report = report(&computation, parameters, Some(year), Rounding::WholePounds);
        let of_year = only_year(&report)?;
        let estimate = estimate(of_year, parameters, situation);
        let filled = boxes(of_year, estimate.as_ref(), params.taxable_income.is_some(), parameters);
        let losses_used = estimate.as_ref().map_or(Money::ZERO, |estimate| estimate.losses_used);
        let reasons = reasons_to_report(of_year, losses_used, parameters);
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
            law: parameters.reporting_law().to_owned(),
            warnings: report.warnings.clone(),
        };
        let mut reply = Reply::new(output, text, self.service.evidence(parsed.rows.len()))
            .table(table)
            .assuming("all holdings are listed shares or securities: unlisted shares go into boxes 31 to 35")
            .assuming("there are no other gains or losses in the year");
        if incomplete {
            reply = reply.needing("taxable income of the year, for box 51");
        }
        let more = json!({
            "year": year.start(),
            "taxable_income": params.taxable_income.as_deref().unwrap_or("0"),
            "losses_brought_forward": params.losses_brought_forward,
        });
        let arguments =
            content::repeat_arguments(&parsed, params.allow_short, params.same_day_split, more);
        if let (Some(arguments), Some(_)) = (arguments, &estimate) {
            reply = reply.next(NextAction::new(
                "estimate_tax",
                arguments,
                "see what the gains cost in tax",
            ));
        }
        Ok(reply)
    }
}

fn box_out(filled: FilledBox) -> BoxOut {
    BoxOut { number: filled.number, label: filled.label.to_owned(), entry: filled.entry }
}
