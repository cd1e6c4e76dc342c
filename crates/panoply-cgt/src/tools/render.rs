//! Report as a document, for the command line; agents use `calculate_report`.

use panoply_contract::error::ToolError;

use super::calculate_report::year_of;
use super::errors;
use super::service::CgtService;
use super::settings::Settings;
use crate::content;
use crate::document::Heading;
use crate::engine::Options;
use crate::engine::report::{Rounding, report};
use crate::html::html;
use crate::pdf::pdf;

/// Report to render.
#[derive(Clone, Copy, Debug)]
pub struct ReportRequest<'a> {
    /// Transactions, in either format.
    pub content: &'a str,
    /// Tax year, by the year it starts in; by default all.
    pub year: Option<i64>,
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
}

/// Renders the report as a document.
pub fn render_report(
    settings: &Settings,
    request: &ReportRequest<'_>,
    format: DocumentFormat,
) -> Result<Vec<u8>, ToolError> {
    let service = CgtService::new(settings)
        .map_err(|bad| ToolError::validation("BAD_SETTINGS", bad.to_string()))?;
    let parsed =
        content::read(request.content).map_err(|problems| errors::parse_error(&problems))?;
    if parsed.rows.is_empty() {
        return Err(errors::no_transactions());
    }
    let year = request.year.map(year_of).transpose()?;
    let computation = service.compute(&parsed.rows, request.options)?;
    let report = report(&computation, &service.parameters, year, request.rounding);
    let heading = Heading {
        name: request.name,
        transactions: parsed.rows.len(),
        parameters_as_of: service.parameters.as_of.to_string(),
    };
    Ok(match format {
        DocumentFormat::Pdf => pdf(&report, request.rounding, &heading),
        DocumentFormat::Html => html(&report, request.rounding, &heading).into_bytes(),
    })
}
