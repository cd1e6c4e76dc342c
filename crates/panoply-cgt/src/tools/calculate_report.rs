//! `calculate_report`: gains and losses by tax year.

use std::sync::Arc;

use panoply_contract::prelude::*;
use panoply_contract::spec::Widget;
use serde_json::json;

use super::arguments::{AbsenceParam, YearText};
use super::content::{self, Content, Transactions};
use super::pagination::{self, PageInfo, paginate};
use super::portfolios::PortfolioId;
use super::service::CgtService;
use super::wire::{OriginalOut, originals};
use crate::engine::report::{Report, RoundedDisposal, RoundedLeg, Rounding, YearReport, report};
use crate::engine::{Holding, Options, SameDaySplit, Transfer};
use crate::money::Money;
use crate::tax_year::TaxYear;

/// Byte budgets of the parts of a reply.
const HOLDINGS_BUDGET: usize = 12_000;
const TRANSFERS_BUDGET: usize = 6_000;
const DISPOSALS_BUDGET: usize = pagination::BYTE_BUDGET - HOLDINGS_BUDGET - TRANSFERS_BUDGET;

const SPEC: ToolSpec = ToolSpec {
    name: "calculate_report",
    title: "Capital gains report",
    description: Description {
        does: "Works out UK capital gains on shares: matches every sale with purchases (same day, 30 days, Section 104 pool) and gives gains, losses, allowable costs and the taxable gain of each tax year.",
        when: "Use this when the user asks for gains, losses or figures for the tax return. Give the whole history of each holding, and purchases up to 30 days after the last sale. Foreign amounts are converted at HMRC's monthly rates.",
        returns: "Returns each tax year with totals, disposals and their matches, and what is left in each pool; with `year` exactly that year, even when nothing was sold. Amounts are decimal strings in pounds.",
        asks: &["How much Capital Gains Tax applies to these sales?", "What were my gains in 2024/25?", "What is left in my Section 104 pool?"],
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
            // HMRC HS284, example 2: 1,000 + 500 bought, 700 sold at £4.80 with £100 fees.
            shows: "a sale from the pool",
            params: r#"{"cgt_content": "2015-04-01 BUY LOBSTER 1000 @ 4 FEES 150\n2018-09-01 BUY LOBSTER 500 @ 4.10 FEES 80\n2021-05-01 SELL LOBSTER 700 @ 4.80 FEES 100", "year": 2021}"#,
            expect: Expect::Data(
                r#"{"tax_years": [{"period": "2021/22", "disposal_count": 1, "net_gain": "329.33", "gross_proceeds": "3360.00"}]}"#,
            ),
        },
        Example {
            shows: "a sale of shares that were not held",
            params: r#"{"cgt_content": "2024-01-15 SELL A 1 @ 1"}"#,
            expect: Expect::Error("EXCEEDS_HOLDING"),
        },
    ],
    tags: &["tax", "uk", "shares", "capital-gains", "report"],
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: Some(Widget {
        resource_uri: "ui://panoply/cgt-report-v1.html",
        invoking: "Matching sales with purchases…",
        invoked: "Capital gains report",
    }),
}
.checked();

/// Parameters of a report.
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
    /// Tax year, by the year it starts in: 2024 is 2024/25. By default all years with disposals.
    year: Option<YearText>,
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
    /// Rounding of figures; default `per_leg`.
    #[serde(default)]
    #[schemars(extend("x-listed" = false))]
    rounding: Rounding,
    /// `full` shows disposals and their matches, `summary` only totals.
    #[serde(default)]
    detail: Detail,
    /// Maximum number of disposals to show; by default as many as fit.
    #[schemars(range(min = 1, max = 1000))]
    #[schemars(extend("x-listed" = false))]
    limit: Option<usize>,
    /// Number of disposals to skip, over all years shown.
    #[schemars(range(min = 0, max = 10_000_000))]
    #[serde(default)]
    #[schemars(extend("x-listed" = false))]
    offset: usize,
}

/// Level of detail.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Detail {
    /// Totals, disposals and matches.
    #[default]
    Full,
    /// Totals only.
    Summary,
}

/// Capital gains report. Amounts are decimal strings in pounds.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Tax years, in order.
    tax_years: Vec<YearOut>,
    /// Section 104 pools at the end of `holdings_as_of`, empty ones last.
    holdings: Vec<HoldingOut>,
    /// Last day of the requested tax year; null for the holdings after the last transaction.
    holdings_as_of: Option<String>,
    /// Transfers to the spouse, with the cost passed on.
    spouse_transfers: Vec<TransferOut>,
    /// Warnings for the reader.
    warnings: Vec<String>,
    /// Rounding applied.
    rounding: Rounding,
    /// Page of the disposals shown.
    page: PageInfo,
    /// Date on which the exempt amounts were verified.
    parameters_as_of: String,
}

/// A tax year.
#[derive(Debug, Serialize, JsonSchema)]
struct YearOut {
    #[serde(flatten)]
    totals: TotalsOut,
    /// Disposals on this page, by date and ticker.
    disposals: Vec<DisposalOut>,
}

/// Totals of a tax year.
#[derive(Debug, Serialize, JsonSchema)]
struct TotalsOut {
    /// Tax year, such as 2024/25.
    period: String,
    /// Number of disposals; all sales of a holding on one day are one disposal.
    disposal_count: usize,
    /// Total gains.
    total_gain: String,
    /// Total losses, as a positive amount.
    total_loss: String,
    /// Gains minus losses.
    net_gain: String,
    /// Gross proceeds, before costs.
    gross_proceeds: String,
    /// Allowable cost without costs of disposal.
    total_allowable_cost: String,
    /// Costs of disposal.
    selling_costs: String,
    /// Annual exempt amount; null when unknown.
    exempt_amount: Option<String>,
    /// Gain above the exempt amount, before losses of earlier years; null when unknown.
    taxable_gain: Option<String>,
    /// Unused net losses of earlier years in these transactions; they count only if they were claimed.
    earlier_losses: String,
    /// Taxable gain if those losses were claimed in time; null when unknown.
    taxable_gain_if_claimed: Option<String>,
    /// Gross dividends.
    dividend_income: String,
    /// Tax withheld from dividends.
    dividend_tax_paid: String,
}

/// All sales of a holding on one day.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DisposalOut {
    /// Date.
    date: String,
    /// Ticker.
    ticker: String,
    /// Sale, CapitalDistribution, TakeoverCash or NegligibleValue.
    occasion: &'static str,
    /// Number of shares; 0 for a part disposal.
    quantity: String,
    /// Gross proceeds, before costs.
    gross_proceeds: String,
    /// Net proceeds, after costs.
    proceeds: String,
    /// Gain; a loss is negative.
    gain_or_loss: String,
    /// Matches, in statutory order.
    matches: Vec<MatchOut>,
    /// Amounts before conversion; absent when all were in pounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    original: Option<Vec<OriginalOut>>,
}

/// Shares matched by one rule.
#[derive(Debug, Serialize, JsonSchema)]
struct MatchOut {
    /// SameDay, BedAndBreakfast, Section104, LaterAcquisition, PartDisposal, CostElection or NegligibleValue.
    rule: String,
    /// Number of shares, as of the disposal.
    quantity: String,
    /// Allowable cost.
    allowable_cost: String,
    /// Gain; a loss is negative.
    gain_or_loss: String,
    /// Acquisition date; absent for the pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    acquisition_date: Option<String>,
    /// The whole day's purchase before conversion; absent when all was in pounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    original: Option<Vec<OriginalOut>>,
}

/// Remaining Section 104 pool.
#[derive(Debug, Serialize, JsonSchema)]
struct HoldingOut {
    /// Ticker.
    ticker: String,
    /// Number of shares.
    quantity: String,
    /// Pooled cost.
    total_cost: String,
}

/// Transfer to the spouse.
#[derive(Debug, Serialize, JsonSchema)]
struct TransferOut {
    /// Date.
    date: String,
    /// Ticker.
    ticker: String,
    /// Number of shares.
    quantity: String,
    /// Cost passed on: the spouse records it in SPOUSE_IN.
    cost: String,
}

pub(crate) struct CalculateReport {
    service: Arc<CgtService>,
}

impl CalculateReport {
    pub(super) const fn new(service: Arc<CgtService>) -> Self {
        Self { service }
    }
}

impl Tool for CalculateReport {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let parsed = self.service.transactions(
            params.cgt_content.as_ref(),
            params.transactions.as_ref(),
            params.portfolio_id.as_ref(),
        )?;
        let year = params.year.as_ref().map(YearText::year).transpose()?;
        cx.check_cancelled()?;
        let options = Options {
            allow_short: params.allow_short,
            same_day_split: params.same_day_split,
            absence: params.non_resident.as_ref().map(AbsenceParam::absence).transpose()?,
            holdings_at: year.map(TaxYear::last_day),
            ..Options::default()
        };
        let computation = self.service.compute(&parsed.rows, options)?;
        cx.check_cancelled()?;
        let rounding = params.rounding;
        let report = report(&computation, &self.service.parameters, year, rounding);
        let text = summary_text(&report, year);
        let table = table_of(&report);
        let suggestions = suggestions(&report, &parsed, &params);
        let evidence = self.service.evidence(parsed.rows.len());
        let output = build_output(&report, rounding, &params, parsed.notices, &self.service);
        let mut reply = Reply::new(output, text, evidence)
            .table(table)
            .assuming("the transactions are the whole history of each holding")
            .assuming("the person was UK resident throughout (TCGA 1992 s.106A(5A))");
        for suggestion in suggestions {
            reply = reply.next(suggestion);
        }
        Ok(reply)
    }
}

fn build_output(
    report: &Report<'_>,
    rounding: Rounding,
    params: &Params,
    notices: Vec<String>,
    service: &CgtService,
) -> Output {
    let disposals: Vec<(usize, &RoundedDisposal<'_>)> = report
        .years
        .iter()
        .enumerate()
        .flat_map(|(index, year)| year.disposals.iter().map(move |disposal| (index, disposal)))
        .collect();
    let limit = if params.detail == Detail::Summary { Some(0) } else { params.limit };
    let out = disposals.iter().map(|(index, disposal)| (*index, disposal_out(disposal, rounding)));
    let (shown, page) = paginate(out, params.offset, limit, DISPOSALS_BUDGET);
    let mut tax_years: Vec<YearOut> = report
        .years
        .iter()
        .map(|year| YearOut { totals: totals_out(year, rounding), disposals: Vec::new() })
        .collect();
    for (index, disposal) in shown {
        if let Some(year) = tax_years.get_mut(index) {
            year.disposals.push(disposal);
        }
    }
    let mut warnings = notices;
    warnings.extend(report.warnings.iter().cloned());
    if let (Some(next), Detail::Full) = (page.next_offset, params.detail) {
        warnings.push(format!(
            "{} of {} disposals are shown; totals are of all. Go on with `offset` {next}",
            page.shown, page.total
        ));
    }
    let mut held: Vec<&Holding> = report.holdings.iter().collect();
    held.sort_by_key(|held| held.quantity.is_zero());
    let (holdings, of_holdings) = paginate(
        held.into_iter().map(|held| holding_out(held, rounding)),
        0,
        None,
        HOLDINGS_BUDGET,
    );
    let transfers = report.transfers.iter().map(|transfer| transfer_out(transfer, rounding));
    let (spouse_transfers, of_transfers) = paginate(transfers, 0, None, TRANSFERS_BUDGET);
    for (what, page) in [("holdings", of_holdings), ("transfers to the spouse", of_transfers)] {
        if page.next_offset.is_some() {
            warnings.push(format!(
                "{} of {} {what} are shown; give fewer tickers to see the others",
                page.shown, page.total
            ));
        }
    }
    Output {
        tax_years,
        holdings,
        holdings_as_of: report.holdings_at.map(|date| date.to_string()),
        spouse_transfers,
        warnings,
        rounding: params.rounding,
        page,
        parameters_as_of: service.parameters.as_of.to_string(),
    }
}

/// Writes the members of the reply with all disposals, one at a time.
pub(super) fn write_json(
    report: &Report<'_>,
    rounding: Rounding,
    service: &CgtService,
    out: &mut dyn std::io::Write,
) -> std::io::Result<()> {
    let total: usize = report.years.iter().map(|year| year.disposals.len()).sum();
    let whole = WholeReport {
        tax_years: Lazy(|| {
            report.years.iter().map(|year| WholeYear {
                totals: totals_out(year, rounding),
                disposals: Lazy(move || {
                    year.disposals.iter().map(move |disposal| disposal_out(disposal, rounding))
                }),
            })
        }),
        holdings: Lazy(|| report.holdings.iter().map(|held| holding_out(held, rounding))),
        holdings_as_of: report.holdings_at.map(|date| date.to_string()),
        spouse_transfers: Lazy(|| {
            report.transfers.iter().map(|transfer| transfer_out(transfer, rounding))
        }),
        warnings: &report.warnings,
        rounding,
        page: PageInfo { total, offset: 0, shown: total, next_offset: None },
        parameters_as_of: service.parameters.as_of.to_string(),
    };
    serde_json::to_writer_pretty(&mut *out, &whole)?;
    writeln!(out)
}

/// [`Output`] without limits.
#[derive(Serialize)]
struct WholeReport<'a, Y: Serialize, H: Serialize, T: Serialize> {
    tax_years: Y,
    holdings: H,
    holdings_as_of: Option<String>,
    spouse_transfers: T,
    warnings: &'a [String],
    rounding: Rounding,
    page: PageInfo,
    parameters_as_of: String,
}

#[derive(Serialize)]
struct WholeYear<D: Serialize> {
    #[serde(flatten)]
    totals: TotalsOut,
    disposals: D,
}

/// A list whose elements are made while it is serialised.
struct Lazy<F>(F);

impl<F, I> Serialize for Lazy<F>
where
    F: Fn() -> I,
    I: Iterator,
    I::Item: Serialize,
{
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

fn totals_out(year: &YearReport<'_>, rounding: Rounding) -> TotalsOut {
    let text = |amount: Money| rounding.text(amount);
    TotalsOut {
        period: year.year.to_string(),
        disposal_count: year.disposals.len(),
        total_gain: text(year.total_gain),
        total_loss: text(year.total_loss),
        net_gain: text(year.net_gain),
        gross_proceeds: text(year.gross_proceeds),
        total_allowable_cost: text(year.allowable_cost),
        selling_costs: text(year.selling_costs),
        exempt_amount: year.exempt_amount.map(text),
        taxable_gain: year.taxable_gain.map(text),
        earlier_losses: text(year.earlier_losses),
        taxable_gain_if_claimed: year.taxable_gain_if_claimed().map(text),
        dividend_income: text(year.dividends.income),
        dividend_tax_paid: text(year.dividends.tax),
    }
}

fn disposal_out(rounded: &RoundedDisposal<'_>, rounding: Rounding) -> DisposalOut {
    let disposal = rounded.disposal;
    DisposalOut {
        date: disposal.date.to_string(),
        ticker: disposal.ticker.to_string(),
        occasion: disposal.occasion.as_str(),
        quantity: disposal.quantity.to_string(),
        gross_proceeds: rounding.text(rounded.gross),
        proceeds: rounding.text(rounded.proceeds),
        gain_or_loss: rounding.text(rounded.gain),
        matches: rounded.legs.iter().map(|leg| match_out(leg, rounding)).collect(),
        original: originals(disposal.originals.as_deref()),
    }
}

fn match_out(rounded: &RoundedLeg<'_>, rounding: Rounding) -> MatchOut {
    let leg = rounded.leg;
    MatchOut {
        rule: leg.rule.as_str().to_owned(),
        quantity: leg.quantity.to_string(),
        allowable_cost: rounding.text(rounded.cost),
        gain_or_loss: rounding.text(rounded.gain),
        acquisition_date: leg.acquired.map(|date| date.to_string()),
        original: originals(leg.originals.as_deref()),
    }
}

fn holding_out(held: &Holding, rounding: Rounding) -> HoldingOut {
    HoldingOut {
        ticker: held.ticker.to_string(),
        quantity: held.quantity.to_string(),
        total_cost: rounding.text(held.cost),
    }
}

fn transfer_out(transfer: &Transfer, rounding: Rounding) -> TransferOut {
    TransferOut {
        date: transfer.date.to_string(),
        ticker: transfer.ticker.to_string(),
        quantity: transfer.quantity.to_string(),
        cost: rounding.text(transfer.cost),
    }
}

fn summary_text(report: &Report<'_>, asked: Option<TaxYear>) -> String {
    match (report.years.as_slice(), asked) {
        ([], _) => "Nothing was sold, so there is no gain or loss.".to_owned(),
        ([year], Some(_)) if year.disposals.is_empty() => {
            format!("Nothing was sold in {}: no gain, no loss.", year.year)
        }
        ([year], _) => {
            let taxable = match year.taxable_gain {
                Some(taxable) => format!("£{taxable} of it above the exempt amount"),
                None => "with no exempt amount known for that year".to_owned(),
            };
            let (what, amount) = gain_or_loss(year.net_gain);
            format!(
                "{}: a net {what} of £{amount} from {}, {taxable}.",
                year.year,
                disposals(year.disposals.len())
            )
        }
        (years, _) => {
            let all: usize = years.iter().map(|year| year.disposals.len()).sum();
            format!("{} in {} tax years.", disposals(all), years.len())
        }
    }
}

fn disposals(count: usize) -> String {
    if count == 1 { "1 disposal".to_owned() } else { format!("{count} disposals") }
}

/// Label and absolute amount.
pub(super) fn gain_or_loss(amount: Money) -> (&'static str, Money) {
    if amount.is_negative() { ("loss", -amount) } else { ("gain", amount) }
}

fn table_of(report: &Report<'_>) -> Table {
    let years =
        Table::new(["tax year", "disposals", "gains", "losses", "net", "exempt", "taxable"]);
    let shown =
        |amount: Option<Money>| amount.map_or_else(|| "?".to_owned(), |amount| amount.to_string());
    report.years.iter().fold(years, |table, year| {
        table.row([
            year.year.to_string(),
            year.disposals.len().to_string(),
            year.total_gain.to_string(),
            year.total_loss.to_string(),
            year.net_gain.to_string(),
            shown(year.exempt_amount),
            shown(year.taxable_gain),
        ])
    })
}

/// Suggests explaining the largest gain or loss, and the return of its year.
fn suggestions(report: &Report<'_>, parsed: &Transactions, params: &Params) -> Vec<NextAction> {
    let size = |disposal: &&RoundedDisposal<'_>| gain_or_loss(disposal.gain).1;
    let largest = report.years.iter().flat_map(|year| &year.disposals).max_by_key(size);
    let Some(largest) = largest else { return Vec::new() };
    let disposal = largest.disposal;
    let explain =
        json!({"disposal_date": disposal.date.to_string(), "ticker": disposal.ticker.as_str()});
    let year = content::year_argument(TaxYear::of(disposal.date));
    let sa108 = year
        .map(|year| ("sa108_summary", json!({"year": year}), "see what to enter on the return"));
    let explain = ("explain_matching", explain, "see how the largest gain or loss came about");
    std::iter::once(explain)
        .chain(sa108)
        .filter_map(|(tool, more, why)| {
            let arguments =
                content::repeat_arguments(parsed, params.allow_short, params.same_day_split, more)?;
            Some(NextAction::new(tool, arguments, why))
        })
        .collect()
}
