//! The report as a document, for the command line. An agent has no use for one.

use panoply_contract::error::ToolError;

use super::calculate_report::year_of;
use super::desk::Desk;
use super::errors;
use super::settings::Settings;
use crate::content;
use crate::document::Heading;
use crate::engine::Options;
use crate::engine::report::{Rounding, report};
use crate::html::html;
use crate::pdf::pdf;

/// What to print.
#[derive(Clone, Copy, Debug)]
pub struct PaperReport<'a> {
    /// The transactions, in either form.
    pub content: &'a str,
    /// The tax year by the year it starts in; all unless given.
    pub year: Option<i64>,
    /// Whose report it is.
    pub name: Option<&'a str>,
    /// How figures are rounded.
    pub rounding: Rounding,
    /// How the computation goes.
    pub options: Options,
}

/// What kind of document.
#[derive(Clone, Copy, Debug)]
pub enum PaperForm {
    /// A PDF document.
    Pdf,
    /// A page of HTML.
    Html,
}

/// The report as the bytes of a document.
pub fn report_on_paper(
    settings: &Settings,
    asked: &PaperReport<'_>,
    form: PaperForm,
) -> Result<Vec<u8>, ToolError> {
    let desk = Desk::new(settings)
        .map_err(|bad| ToolError::validation("BAD_SETTINGS", bad.to_string()))?;
    let parsed = content::read(asked.content).map_err(|problems| errors::unreadable(&problems))?;
    if parsed.rows.is_empty() {
        return Err(errors::nothing_given());
    }
    let year = asked.year.map(year_of).transpose()?;
    let computation = desk.compute(&parsed.rows, asked.options)?;
    let report = report(&computation, &desk.parameters, year, asked.rounding);
    let heading = Heading {
        name: asked.name,
        transactions: parsed.rows.len(),
        parameters_as_of: desk.parameters.as_of.to_string(),
    };
    Ok(match form {
        PaperForm::Pdf => pdf(&report, asked.rounding, &heading),
        PaperForm::Html => html(&report, asked.rounding, &heading).into_bytes(),
    })
}
