//! MCP tools of this pack, one file each. [`pack`] registers them.

mod calc_rmf_tax_benefit;
mod check_rmf_holding;
mod compare_rmf_funds;
mod compare_rmf_holdings;
mod data_age;
mod dialect;
mod errors;
mod fund_detail;
mod get_rmf_data_status;
mod get_rmf_fund_detail;
mod get_rmf_fund_nav_history;
mod get_rmf_fund_nav_series;
mod get_rmf_fund_performance;
mod get_rmf_funds;
mod get_rmf_peer_rank;
mod get_rmf_risk_metrics;
pub mod judged;
mod listing;
mod locale;
mod prompts;
mod resources;
mod screen_rmf_funds;
mod search_rmf_funds;
mod service;
mod simulate_rmf_plan;
mod wire;

use std::sync::Arc;

use panoply_contract::pack::{Pack, PackInfo};
use panoply_contract::preferences::{Preference, PreferredArgument};

pub use self::dialect::RmfDialect;
use crate::store::FundStore;

const INFO: PackInfo = PackInfo {
    name: "rmf",
    title: "Thai Retirement Mutual Funds",
    instructions: "NAVs and returns are of different days: always give both dates. A figure that is null is not published: say so, never guess. Fund codes may be written carelessly. Work out tax with `calc_rmf_tax_benefit`, and say that it is not tax advice. Past performance is no promise.",
};

/// Arguments whose defaults are preferences of the person.
const PREFERRED: [PreferredArgument; 2] = [
    PreferredArgument {
        tool: "check_rmf_holding",
        argument: "birthDate",
        preference: Preference::BirthDate,
    },
    PreferredArgument {
        tool: "check_rmf_holding",
        argument: "purchases",
        preference: Preference::FundPurchases,
    },
];

/// Builds the pack over a fund store.
pub fn pack(store: Arc<FundStore>) -> Pack {
    let on = || Arc::clone(&store);
    let version = on();
    Pack::new(INFO, RmfDialect)
        .with_search_terms(include_str!("../search_terms.tsv"))
        .with_listed_texts(include_str!("../listed_texts.tsv"))
        .with_preferred_arguments(&PREFERRED)
        .with(get_rmf_funds::GetRmfFunds { store: on() })
        .with(search_rmf_funds::SearchRmfFunds { store: on() })
        .with(get_rmf_fund_detail::GetRmfFundDetail { store: on() })
        .with(get_rmf_fund_performance::GetRmfFundPerformance { store: on() })
        .with(get_rmf_fund_nav_history::GetRmfFundNavHistory { store: on() })
        .with(compare_rmf_funds::CompareRmfFunds { store: on() })
        .with(calc_rmf_tax_benefit::CalcRmfTaxBenefit { store: on() })
        .with(screen_rmf_funds::ScreenRmfFunds { store: on() })
        .with(check_rmf_holding::CheckRmfHolding { store: on() })
        .with(get_rmf_fund_nav_series::GetRmfFundNavSeries { store: on() })
        .with(compare_rmf_holdings::CompareRmfHoldings { store: on() })
        .with(simulate_rmf_plan::SimulateRmfPlan { store: on() })
        .with(get_rmf_peer_rank::GetRmfPeerRank { store: on() })
        .with(get_rmf_risk_metrics::GetRmfRiskMetrics { store: on() })
        .with(get_rmf_data_status::GetRmfDataStatus { store: on() })
        .with_prompt(prompts::CHOOSE_RMF)
        .with_prompt(prompts::REVIEW_RMF)
        .with_resources(resources::FundResources { store: on() })
        .with_completer(resources::FundCodeCompleter { store: on() })
        .with_data_version(move || version.version())
        .with_blocking_store()
}
