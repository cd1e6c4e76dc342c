//! Report as a document of any size, for the command line; agents use `calculate_report`.

use std::io::{self, Write};
use std::sync::Arc;

use panoply_contract::error::ToolError;

use super::calculate_report;
use super::errors;
use super::service::CgtService;
use super::settings::Settings;
use crate::content;
use crate::document::Heading;
use crate::engine::Options;
use crate::engine::report::{Rounding, report};
use crate::import::Broker;
use crate::store::{self, PortfolioError, PortfolioStore, Summary};
use crate::tax_year::TaxYear;
use crate::transaction::Row;
use crate::{html, pdf, spreadsheet, text};

/// Report to render.
#[derive(Clone, Copy, Debug)]
pub struct ReportRequest<'a> {
    /// Tax year; by default all.
    pub year: Option<TaxYear>,
    /// Taxpayer's name.
    pub name: Option<&'a str>,
    /// Rounding of figures.
    pub rounding: Rounding,
    /// Options of the computation.
    pub options: Options,
}

/// Document format.
#[derive(Clone, Copy, Debug)]
pub enum DocumentFormat {
    /// PDF.
    Pdf,
    /// HTML.
    Html,
    /// The members of `calculate_report`, with all disposals.
    Json,
    /// One row per match.
    Csv,
    /// Plain text.
    Text,
}

/// Why a report could not be written.
#[derive(Debug)]
pub enum RenderError {
    /// The transactions or settings are invalid.
    Input(ToolError),
    /// The output cannot be written.
    Output(io::Error),
}

impl From<ToolError> for RenderError {
    fn from(error: ToolError) -> Self {
        Self::Input(error)
    }
}

impl From<io::Error> for RenderError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// Parses transactions of either format. The text is dropped before the computation, which needs
/// the memory.
pub fn read_transactions(content: String) -> Result<Vec<Row>, ToolError> {
    let parsed = content::read(&content).map_err(|problems| match Broker::recognise(&content) {
        Some(broker) => errors::broker_export(broker.as_str())
            .hint("convert it first: panoply cgt import FILE --output trades.cgt"),
        None => errors::parse_error(&problems),
    })?;
    if parsed.rows.is_empty() { Err(errors::no_transactions()) } else { Ok(parsed.rows) }
}

/// Taxable transactions of a stored portfolio, named by its id or name, and what was left out.
pub fn stored_transactions(
    portfolios: Arc<dyn PortfolioStore>,
    portfolio: &str,
) -> Result<(Vec<Row>, Vec<String>), ToolError> {
    let id = find_portfolio(portfolios.as_ref(), portfolio)?;
    let loaded = portfolios.load(&id)?;
    let (rows, notices) = super::portfolios::taxable(&loaded)?;
    if rows.is_empty() { Err(errors::empty_portfolio(&id)) } else { Ok((rows, notices)) }
}

/// Id of a stored portfolio, named by its id or by its name in any case.
pub fn find_portfolio(
    portfolios: &dyn PortfolioStore,
    portfolio: &str,
) -> Result<String, ToolError> {
    let known = portfolios.list()?;
    let named = |summary: &&Summary| {
        summary.id == portfolio || summary.name.eq_ignore_ascii_case(portfolio.trim())
    };
    match known.iter().find(named) {
        Some(summary) => Ok(summary.id.clone()),
        None => Err(PortfolioError::NotFound(portfolio.to_owned()).into()),
    }
}

/// Computes the report and writes it as a document.
pub fn render_report(
    settings: &Settings,
    rows: &[Row],
    request: &ReportRequest<'_>,
    format: DocumentFormat,
    out: &mut dyn Write,
) -> Result<(), RenderError> {
    let service = CgtService::new(settings, store::in_memory())
        .map_err(|bad| ToolError::validation("BAD_SETTINGS", bad.to_string()))?;
    let options = Options { holdings_at: request.year.map(TaxYear::last_day), ..request.options };
    let computation = service.compute(rows, options)?;
    let rounding = request.rounding;
    let report = report(&computation, &service.parameters, request.year, rounding);
    let heading = || Heading::of(&report, request.name, rows, &service.rates, &service.parameters);
    match format {
        DocumentFormat::Pdf => pdf::write(&report, rounding, &heading(), out)?,
        DocumentFormat::Html => html::write(&report, rounding, &heading(), out)?,
        DocumentFormat::Csv => spreadsheet::write(&report, rounding, out)?,
        DocumentFormat::Text => text::write(&report, rounding, out)?,
        DocumentFormat::Json => calculate_report::write_json(&report, rounding, &service, out)?,
    }
    Ok(())
}
