//! `sa108_summary`: what to enter on the return, and whether one is needed.

use std::sync::Arc;

use panoply_contract::prelude::*;
use serde_json::json;

use super::calculate_report::year_of;
use super::content::{self, Content};
use super::desk::Desk;
use super::options::{SameDaySplitParam, options};
use super::person::{only_year, pounds_or_none};
use crate::engine::report::{Rounding, report};
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

/// Which return.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// The transactions: lines of text, JSON text, or a JSON array. Required, here or as `transactions`.
    cgt_content: Option<Content>,
    /// Another name for `cgt_content`.
    transactions: Option<Content>,
    /// The tax year by the year it starts in: 2024 is 2024/25.
    #[schemars(range(min = 1900, max = 2100))]
    year: i64,
    /// Income of that year after allowances and reliefs, in pounds; only box 51 needs it.
    #[schemars(length(min = 1, max = 30))]
    taxable_income: Option<String>,
    /// Losses of earlier years that were claimed and not yet used, in pounds; none unless given.
    #[schemars(length(min = 1, max = 30))]
    losses_brought_forward: Option<String>,
    /// Match sales of more than was held with later purchases instead of refusing them.
    #[serde(default)]
    allow_short: bool,
    /// What to do with a split on a day with trades; `refuse` unless given.
    #[serde(default)]
    same_day_split: SameDaySplitParam,
}

/// The figures.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Such as 2024/25.
    period: String,
    /// The boxes, in order of the form.
    boxes: Vec<BoxOut>,
    /// Whether the gains must be reported.
    report_needed: bool,
    /// Why.
    reasons: Vec<String>,
    /// The law behind the duty to report.
    law: String,
    /// What a reader should know.
    warnings: Vec<String>,
}

/// A box of the form.
#[derive(Debug, Serialize, JsonSchema)]
struct BoxOut {
    /// Its number.
    number: String,
    /// What it asks for.
    label: String,
    /// What to enter; null when more must be known.
    entry: Option<String>,
}

/// See the module.
pub(crate) struct Sa108Summary {
    desk: Arc<Desk>,
}

impl Sa108Summary {
    pub(super) const fn new(desk: Arc<Desk>) -> Self {
        Self { desk }
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
        let computation =
            self.desk.compute(&parsed.rows, options(params.allow_short, params.same_day_split))?;
        let parameters = &self.desk.parameters;
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
        let mut reply = Reply::new(output, text, self.desk.evidence(parsed.rows.len()))
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
        let arguments = content::again(&parsed, params.allow_short, params.same_day_split, more);
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
