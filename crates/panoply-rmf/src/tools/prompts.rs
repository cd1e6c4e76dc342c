//! Starter prompts.

use panoply_contract::prompt::{Prompt, PromptArgument};

/// From risk and income to a fund and a tax saving.
pub(crate) const CHOOSE_RMF: Prompt = Prompt {
    name: "choose-rmf",
    title: "Choose an RMF and see the tax it saves",
    description: "Finds RMF funds of a bearable risk that did well, compares the best, and works out the tax that buying saves.",
    arguments: &[
        PromptArgument {
            name: "maxRiskLevel",
            description: "The most risk, from 1 (lowest) to 8 (highest).",
            default: Some("5"),
        },
        PromptArgument {
            name: "annualIncome",
            description: "Yearly income before deductions, in baht.",
            default: Some("1200000"),
        },
    ],
    template: "Which Thai RMF with a risk level of at most {maxRiskLevel} did best this year? Search with search_rmf_funds, compare the three best with compare_rmf_funds, and say for each why it may or may not suit me. Then work out with calc_rmf_tax_benefit how much RMF I may buy this year and how much tax that saves on an income of {annualIncome} baht. Give the date of every figure, and say that past performance is no promise and that this is not tax advice.",
};

/// Review of one fund.
pub(crate) const REVIEW_RMF: Prompt = Prompt {
    name: "review-rmf",
    title: "Look at one RMF from all sides",
    description: "Returns, peers, risk and NAV of one fund, with what to be careful about.",
    arguments: &[PromptArgument {
        name: "fundCode",
        description: "The fund's code, such as ABAPAC-RMF.",
        default: None,
    }],
    template: "Tell me about the Thai RMF {fundCode}: what it is (get_rmf_fund_detail), how it did among its peers (get_rmf_peer_rank), how risky it was (get_rmf_risk_metrics) and how its NAV moved lately (get_rmf_fund_nav_history). Give the date of every figure and name the quality flags of the data.",
};
