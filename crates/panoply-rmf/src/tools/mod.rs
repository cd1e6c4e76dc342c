//! What agents can call. One file a tool; [`pack`] is the list of them.

mod answer;
mod calc_rmf_tax_benefit;
mod check_rmf_holding;
mod compare_rmf_funds;
mod dialect;
mod fund_detail;
mod get_rmf_data_status;
mod get_rmf_fund_detail;
mod get_rmf_fund_nav_history;
mod get_rmf_fund_performance;
mod get_rmf_funds;
mod get_rmf_peer_rank;
mod get_rmf_risk_metrics;
mod listing;
mod prompts;
mod resources;
mod search_rmf_funds;
mod wire;
mod words;

use std::sync::Arc;

use panoply_contract::pack::{Pack, PackInfo};

pub use self::dialect::RmfDialect;
use crate::store::Shelf;

const INFO: PackInfo = PackInfo {
    name: "rmf",
    title: "Thai Retirement Mutual Funds",
    instructions: "NAVs and returns are of different days: always give both dates. A figure that is null is not published: say so, never guess. Fund codes may be written carelessly. Work out tax with `calc_rmf_tax_benefit`, and say that it is not tax advice. Past performance is no promise.",
};

/// The pack over the figures of a shelf.
pub fn pack(shelf: Arc<Shelf>) -> Pack {
    let on = || Arc::clone(&shelf);
    let version = on();
    Pack::new(INFO, RmfDialect)
        .with(get_rmf_funds::GetRmfFunds { shelf: on() })
        .with(search_rmf_funds::SearchRmfFunds { shelf: on() })
        .with(get_rmf_fund_detail::GetRmfFundDetail { shelf: on() })
        .with(get_rmf_fund_performance::GetRmfFundPerformance { shelf: on() })
        .with(get_rmf_fund_nav_history::GetRmfFundNavHistory { shelf: on() })
        .with(compare_rmf_funds::CompareRmfFunds { shelf: on() })
        .with(calc_rmf_tax_benefit::CalcRmfTaxBenefit { shelf: on() })
        .with(check_rmf_holding::CheckRmfHolding { shelf: on() })
        .with(get_rmf_peer_rank::GetRmfPeerRank { shelf: on() })
        .with(get_rmf_risk_metrics::GetRmfRiskMetrics { shelf: on() })
        .with(get_rmf_data_status::GetRmfDataStatus { shelf: on() })
        .with_prompt(prompts::CHOOSE_RMF)
        .with_prompt(prompts::REVIEW_RMF)
        .with_resources(resources::FundDocuments { shelf: on() })
        .with_completer(resources::FundCodes { shelf: on() })
        .with_data_version(move || version.version())
        .with_blocking_store()
}
