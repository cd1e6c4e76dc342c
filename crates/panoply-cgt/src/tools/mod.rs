//! MCP tools of this pack, one file each, with its resources, reply format and settings.

mod add_transactions;
mod arguments;
mod calculate_investment_income;
mod calculate_report;
mod check_repurchase;
mod compare_scenarios;
mod content;
mod convert_to_dsl;
mod create_portfolio;
mod delete_portfolio;
mod dialect;
mod documents;
mod earlier_losses;
mod edit_transactions;
mod errors;
mod estimate_tax;
mod explain_matching;
mod get_excess_reportable_income;
mod get_fx_rate;
mod import_transactions;
mod list_portfolio_transactions;
mod list_portfolios;
mod other_gains;
mod pagination;
mod parse_transactions;
mod plan_disposals;
mod portfolios;
mod reconcile_holdings;
mod render;
mod sa108_summary;
pub mod sample;
mod schema;
mod service;
mod settings;
mod undo_portfolio_change;
mod validate_transactions;
mod wire;

pub use dialect::ErrorForm;
pub use render::{
    DocumentFormat, RenderError, ReportRequest, find_portfolio, read_transactions, render_report,
    stored_transactions,
};
pub use settings::{Settings, SettingsError};

use std::sync::Arc;

use panoply_contract::pack::{Pack, PackInfo};
use panoply_contract::preferences::{Preference, PreferredArgument};
use panoply_contract::prompt::{Prompt, PromptArgument};
use panoply_contract::tenant::Tenancy;

use dialect::CgtDialect;
use service::CgtService;

use crate::store::{self, PortfolioStore};

const INFO: PackInfo = PackInfo {
    name: "cgt",
    title: "UK Capital Gains Tax",
    instructions: "Give every tool the whole history of each holding of shares as `cgt_content`, one \
        transaction a line (`2024-01-15 BUY AAPL 100 @ 150 USD FEES 10 USD`) or as JSON, or keep it in a \
        portfolio (`add_transactions`) and give `portfolio_id`. Start with `calculate_report`; \
        `explain_matching` says why a sale has its gain. Amounts are pounds unless a currency is given. \
        The syntax is at cgt://docs/dsl-syntax. Not tax advice.",
};

const STARTER: Prompt = Prompt {
    name: "work-out-my-capital-gains",
    title: "Work out my Capital Gains Tax",
    description: "Goes from a list of trades to the figures of the tax return, explaining each step.",
    arguments: &[
        PromptArgument {
            name: "trades",
            description: "The trades: lines of the transaction language, JSON, or a broker's export.",
            default: None,
        },
        PromptArgument {
            name: "year",
            description: "The tax year by the year it starts in, such as 2024 for 2024/25.",
            default: Some("the latest with sales"),
        },
    ],
    template: "Work out my UK Capital Gains Tax for the tax year {year}. First check the trades with \
        `parse_transactions` (a broker's export goes through `import_transactions`). Then call \
        `calculate_report` and show me the totals and each sale in a table. Explain the sale with the \
        largest gain or loss with `explain_matching`, in plain words. Say what I would enter on the \
        return with `sa108_summary`, and name everything you had to assume.\n\nMy trades:\n{trades}",
};

/// Arguments whose defaults are preferences of the person.
const PREFERRED: [PreferredArgument; 1] = [PreferredArgument {
    tool: "estimate_tax",
    argument: "taxable_income",
    preference: Preference::UkTaxableIncome,
}];

/// Builds the pack over an empty store in memory, or reports all problems with its settings.
pub fn pack(settings: &Settings) -> Result<Pack, SettingsError> {
    pack_with(settings, store::in_memory())
}

/// Builds the pack over stored portfolios, or reports all problems with its settings.
pub fn pack_with(
    settings: &Settings,
    portfolios: Arc<dyn PortfolioStore>,
) -> Result<Pack, SettingsError> {
    let version = Arc::clone(&portfolios);
    let figures = settings.figures.version;
    let log = Arc::clone(&portfolios).mutation_log();
    let service = Arc::new(CgtService::new(settings, portfolios)?);
    Ok(Pack::new(INFO, CgtDialect::new(settings.errors))
        .with_search_terms(include_str!("../search_terms.tsv"))
        .with_listed_texts(include_str!("../listed_texts.tsv"))
        .with_preferred_arguments(&PREFERRED)
        .with_samples(sample::CALLS)
        .with(parse_transactions::ParseTransactions::new(Arc::clone(&service)))
        .with(calculate_report::CalculateReport::new(Arc::clone(&service)))
        .with(explain_matching::ExplainMatching::new(Arc::clone(&service)))
        .with(get_fx_rate::GetFxRate::new(Arc::clone(&service)))
        .with(convert_to_dsl::ConvertToDsl::new(Arc::clone(&service)))
        .with(estimate_tax::EstimateTax::new(Arc::clone(&service)))
        .with(sa108_summary::Sa108Summary::new(Arc::clone(&service)))
        .with(compare_scenarios::CompareScenarios::new(Arc::clone(&service)))
        .with(check_repurchase::CheckRepurchase::new(Arc::clone(&service)))
        .with(plan_disposals::PlanDisposals::new(Arc::clone(&service)))
        .with(validate_transactions::ValidateTransactions::new(Arc::clone(&service)))
        .with(import_transactions::ImportTransactions)
        .with(get_excess_reportable_income::GetExcessReportableIncome::new(Arc::clone(&service)))
        .with(calculate_investment_income::CalculateInvestmentIncome::new(Arc::clone(&service)))
        .with(create_portfolio::CreatePortfolio::new(Arc::clone(&service)))
        .with(list_portfolios::ListPortfolios::new(Arc::clone(&service)))
        .with(add_transactions::AddTransactions::new(Arc::clone(&service)))
        .with(list_portfolio_transactions::ListPortfolioTransactions::new(Arc::clone(&service)))
        .with(edit_transactions::EditTransactions::new(Arc::clone(&service)))
        .with(undo_portfolio_change::UndoPortfolioChange::new(Arc::clone(&service)))
        .with(delete_portfolio::DeletePortfolio::new(Arc::clone(&service)))
        .with(reconcile_holdings::ReconcileHoldings::new(service))
        .with_resources(documents::Documents)
        .with_prompt(STARTER)
        .with_data_version(move || version.version() ^ figures)
        .with_mutation_log(log)
        .with_tenancy(Tenancy::Workspace))
}
