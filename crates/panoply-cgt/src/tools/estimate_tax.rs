//! `estimate_tax`: Capital Gains Tax of a year.

use std::sync::Arc;

use panoply_contract::prelude::*;
use serde_json::json;

use super::arguments::{AbsenceParam, NumberText, YearText, only_year, pounds_of, unknown_year};
use super::content::{self, Content};
use super::earlier_losses::{EarlierLossesOut, LossesGiven};
use super::other_gains::{OtherGainParam, PropertyReturn};
use super::portfolios::PortfolioId;
use super::service::CgtService;
use crate::engine::report::{Rounding, report};
use crate::engine::{Options, SameDaySplit};
use crate::estimate::{Estimate, OtherGain, Period, Situation, estimate};
use crate::losses::EarlierLosses;
use crate::money::Money;
use crate::parameters::AssetClass;
use crate::tax_year::TaxYear;

const SPEC: ToolSpec = ToolSpec {
    name: "estimate_tax",
    title: "Estimate the tax",
    description: Description {
        does: "Estimates the Capital Gains Tax of a year from the transactions, the person's taxable income and losses brought forward, with losses and the exempt amount set where they save most, also across the change of rates on 30 October 2024.",
        when: "Use this when the user asks what they will have to pay, or how losses help. Give income after allowances: it decides how much of the basic rate band is left. Shares only; England, Wales, Scotland and Northern Ireland have the same bands for gains.",
        returns: "Returns the tax, how gains of each period were taxed, losses used and carried forward, and what the return would compute by itself.",
        asks: &["How much Capital Gains Tax do I owe for 2024/25?", "What if I earn 60,000?", "How much do my old losses save?"],
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
            shows: "a higher-rate taxpayer in the year of the change",
            params: r#"{"cgt_content": "2020-01-01 BUY A 100 @ 10\n2024-12-01 SELL A 100 @ 110", "year": 2024, "taxable_income": "60000"}"#,
            expect: Expect::Data(r#"{"tax_due": "1680.00", "taxable_gain": "7000.00", "return_adjustment": "280.00"}"#),
        },
        Example {
            shows: "a year whose rates are not known",
            params: r#"{"cgt_content": "2020-01-01 BUY A 100 @ 10", "year": 2040, "taxable_income": "0"}"#,
            expect: Expect::Error("YEAR_NOT_KNOWN"),
        },
    ],
    tags: &["tax", "uk", "shares", "capital-gains", "estimate"],
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
    /// Income of that year after allowances and reliefs, in pounds, such as "37700".
    taxable_income: NumberText,
    /// Claimed and unused losses of earlier years by the person's own records, in pounds. Without it they are those of the transactions, if `earlier_losses` is `claimed`.
    losses_brought_forward: Option<NumberText>,
    /// Whether losses of earlier years in the transactions were claimed in time; ask the person. Without it they are not deducted, and the tax with them is given too.
    earlier_losses: Option<EarlierLosses>,
    /// Tax years whose losses were not claimed in time, when all others were.
    #[serde(default)]
    #[schemars(length(max = 30), extend("x-listed" = false))]
    unclaimed_loss_years: Vec<YearText>,
    /// Basic rate band in pounds, when extended by Gift Aid or pension contributions.
    #[schemars(extend("x-listed" = false))]
    basic_rate_band: Option<NumberText>,
    /// Gains and losses of the year on other assets, after reliefs.
    #[serde(default)]
    #[schemars(length(max = 50))]
    #[schemars(extend("x-listed" = false))]
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

/// Estimate. Amounts are decimal strings in pounds.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Tax year, such as 2024/25.
    period: String,
    /// Total gains.
    total_gain: String,
    /// Losses of the year.
    total_loss: String,
    /// Losses of earlier years used.
    losses_brought_forward_used: String,
    /// Losses of earlier years in the transactions, and whether they were claimed.
    earlier_losses: EarlierLossesOut,
    /// Tax due if the losses of earlier years in the transactions were claimed; null when that was said or there are none.
    tax_due_if_losses_claimed: Option<String>,
    /// Losses carried forward.
    losses_carried_forward: String,
    /// Exempt amount used.
    exempt_amount_used: String,
    /// Taxable gain.
    taxable_gain: String,
    /// Basic rate band remaining for gains after income.
    basic_rate_band_left: String,
    /// Gains by class of assets, and by period when rates changed within the year.
    rate_periods: Vec<PeriodOut>,
    /// Tax due.
    tax_due: String,
    /// Tax at the year's first rates: the amount that the return computes.
    tax_computed_by_return: String,
    /// Adjustment for box 51 of SA108.
    return_adjustment: String,
    /// Day by which the tax is due; tax on UK residential property is due earlier, see `property_returns`.
    payment_due: String,
    /// Gains on UK residential property: days by which each is reported and paid on account.
    property_returns: Vec<PropertyReturn>,
    /// Rounding of the figures.
    rounding: &'static str,
    /// Statutory references of rates, band and exempt amount.
    law: Vec<String>,
    /// Warnings for the reader.
    warnings: Vec<String>,
}

/// Gains of a period with uniform rates.
#[derive(Debug, Serialize, JsonSchema)]
struct PeriodOut {
    /// Class of assets: `general` is shares and everything without rates of its own.
    class: AssetClass,
    /// First day.
    from: String,
    /// Rate within the basic rate band, in percent.
    basic_rate_percent: u32,
    /// Rate above it, in percent.
    higher_rate_percent: u32,
    /// Gains before deductions.
    gains: String,
    /// Losses and exempt amount deducted.
    deducted: String,
    /// Amount taxed at the basic rate.
    taxed_at_basic_rate: String,
    /// Amount taxed at the higher rate.
    taxed_at_higher_rate: String,
    /// Tax on both.
    tax: String,
}

pub(crate) struct EstimateTax {
    service: Arc<CgtService>,
}

impl EstimateTax {
    pub(super) const fn new(service: Arc<CgtService>) -> Self {
        Self { service }
    }
}

impl Tool for EstimateTax {
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
            other: &other,
            taxable_income: pounds_of("taxable_income", params.taxable_income.as_str())?,
            losses_brought_forward: losses.brought_forward,
            basic_rate_band: params
                .basic_rate_band
                .as_ref()
                .map(|text| pounds_of("basic_rate_band", text.as_str()))
                .transpose()?,
        };
        let estimated = |losses_brought_forward: Money| {
            let situation = Situation { losses_brought_forward, ..situation };
            estimate(of_year, parameters, situation).ok_or_else(|| unknown_year(year, parameters))
        };
        let estimate = estimated(losses.brought_forward)?;
        let if_claimed = losses.open.map(estimated).transpose()?;
        let mut text = format!(
            "The tax on gains of {year} comes to about £{}: £{} is taxable after £{} of losses and £{} of the exempt amount.",
            estimate.tax,
            estimate.taxable,
            estimate.losses_in_year + estimate.losses_used,
            estimate.exempt_amount_used
        );
        if let Some(with_losses) = &if_claimed {
            text += &format!(
                " If the losses of earlier years in these transactions were claimed in time, it is £{}.",
                with_losses.tax
            );
        }
        let table = estimate.periods.iter().fold(
            Table::new([
                "class",
                "from",
                "rates %",
                "gains",
                "deducted",
                "at basic",
                "at higher",
                "tax",
            ]),
            |table, period| table.row(row_of(period)),
        );
        let output = Output {
            period: year.to_string(),
            law: vec![
                parameters.rates_law().to_owned(),
                parameters.basic_rate_band_law().to_owned(),
                parameters.exempt_amount_law().to_owned(),
            ],
            earlier_losses: EarlierLossesOut::of(&report, of_year, &losses),
            tax_due_if_losses_claimed: if_claimed.map(|estimate| estimate.tax.to_string()),
            payment_due: payment_due(year),
            property_returns: property_returns(&params)?,
            warnings: losses.warnings(of_year),
            ..build_output(&estimate)
        };
        let mut reply = Reply::new(output, text, self.service.evidence(parsed.rows.len()))
            .table(table)
            .assuming("there are no other gains or losses in the year than those given")
            .assuming("losses brought forward were claimed in time");
        if losses.open.is_some() {
            reply = reply
                .needing("whether the losses of earlier years were claimed (`earlier_losses`)");
        }
        let more = json!({
            "year": year.start(),
            "taxable_income": params.taxable_income.as_str(),
            "losses_brought_forward": params.losses_brought_forward.as_ref().map(NumberText::as_str),
            "earlier_losses": params.earlier_losses,
        });
        if let Some(arguments) =
            content::repeat_arguments(&parsed, params.allow_short, params.same_day_split, more)
        {
            reply = reply.next(NextAction::new(
                "sa108_summary",
                arguments,
                "see what to enter on the return",
            ));
        }
        Ok(reply)
    }
}

/// How the figures are rounded.
pub(super) const ROUNDING: &str =
    "each match to the penny, half away from zero; totals are sums of those; tax to the penny";

/// Returns of gains on residential property.
fn property_returns(params: &Params) -> Result<Vec<PropertyReturn>, ToolError> {
    let returns = params.other_gains.iter().map(OtherGainParam::property_return);
    returns.filter_map(Result::transpose).collect()
}

/// 31 January after the end of the tax year (TMA 1970 s.59B(4)).
pub(super) fn payment_due(year: TaxYear) -> String {
    format!("{}-01-31", year.start() + 2)
}

fn build_output(estimate: &Estimate) -> Output {
    Output {
        period: String::new(),
        total_gain: estimate.total_gain.to_string(),
        total_loss: estimate.losses_in_year.to_string(),
        losses_brought_forward_used: estimate.losses_used.to_string(),
        losses_carried_forward: estimate.losses_carried_forward.to_string(),
        exempt_amount_used: estimate.exempt_amount_used.to_string(),
        taxable_gain: estimate.taxable.to_string(),
        basic_rate_band_left: estimate.band_left.to_string(),
        rate_periods: estimate.periods.iter().map(period_out).collect(),
        tax_due: estimate.tax.to_string(),
        tax_computed_by_return: estimate.tax_at_first_rates.to_string(),
        return_adjustment: (estimate.tax - estimate.tax_at_first_rates).to_string(),
        law: Vec::new(),
        earlier_losses: EarlierLossesOut::default(),
        tax_due_if_losses_claimed: None,
        payment_due: String::new(),
        property_returns: Vec::new(),
        rounding: ROUNDING,
        warnings: Vec::new(),
    }
}

fn period_out(period: &Period) -> PeriodOut {
    PeriodOut {
        class: period.class,
        from: period.from.to_string(),
        basic_rate_percent: period.rates.basic,
        higher_rate_percent: period.rates.higher,
        gains: period.gains.to_string(),
        deducted: period.deducted.to_string(),
        taxed_at_basic_rate: period.at_basic.to_string(),
        taxed_at_higher_rate: period.at_higher.to_string(),
        tax: period.tax.to_string(),
    }
}

fn row_of(period: &Period) -> [String; 8] {
    [
        period.class.as_str().to_owned(),
        period.from.to_string(),
        format!("{}/{}", period.rates.basic, period.rates.higher),
        period.gains.to_string(),
        period.deducted.to_string(),
        period.at_basic.to_string(),
        period.at_higher.to_string(),
        period.tax.to_string(),
    ]
}
