//! A portfolio with a fixed id, used to replay the examples of the tools.

use std::sync::Arc;

use panoply_contract::spec::SampleCall;

use crate::portfolio::{Entry, Provenance, Wrapper};
use crate::store::{self, PortfolioError, PortfolioStore};

const ID: &str = "pf_sample";
/// Creation time of the sample: 2026-11-15 12:00 UTC, in microseconds.
const MADE: i64 = 1_794_744_000_000_000;
/// Each is a change.
const BATCHES: [(&str, &[&str]); 2] = [
    (
        "Broker",
        &[
            "2024-01-15 BUY AAPL 100 @ 150 USD FEES 10 USD",
            "2024-01-16 BUY MSFT 10 @ 380 USD",
            "2024-06-20 SELL AAPL 50 @ 180 USD",
        ],
    ),
    ("ISA", &["2024-02-01 BUY VWRL 20 @ 90 GBP"]),
];

/// Calls that create what the examples refer to in an empty home.
pub(super) const CALLS: &[SampleCall] = &[
    SampleCall {
        tool: "create_portfolio",
        params: r#"{"name": "Sample", "accounts": [{"name": "Broker"}, {"name": "ISA", "wrapper": "isa"}]}"#,
        literals: &[(ID, "/portfolio_id"), ("Sample", "")],
    },
    SampleCall {
        tool: "add_transactions",
        params: r#"{"portfolio_id": "pf_sample", "account": "Broker", "cgt_content": "2024-01-15 BUY AAPL 100 @ 150 USD FEES 10 USD\n2024-01-16 BUY MSFT 10 @ 380 USD\n2024-06-20 SELL AAPL 50 @ 180 USD"}"#,
        literals: &[(ID, ""), ("Sample", "")],
    },
    SampleCall {
        tool: "add_transactions",
        params: r#"{"portfolio_id": "pf_sample", "account": "ISA", "cgt_content": "2024-02-01 BUY VWRL 20 @ 90 GBP"}"#,
        literals: &[(ID, ""), ("Sample", "")],
    },
];

/// A store with the sample portfolio.
pub fn store() -> Result<Arc<dyn PortfolioStore>, PortfolioError> {
    let store = store::in_memory();
    store.change(true, |writer| {
        writer.create(ID, "Sample", MADE)?;
        writer.ensure_account(ID, "Broker", None)?;
        writer.ensure_account(ID, "ISA", Some(Wrapper::Isa))?;
        for (account, lines) in BATCHES {
            let summary = format!("added {} transactions", lines.len());
            let change = writer.begin(ID, MADE, &summary)?;
            for (number, line) in (1..).zip(lines) {
                let provenance = Provenance { line: number, ..Provenance::default() };
                let (account, line) = (account.to_owned(), (*line).to_owned());
                writer.add(ID, change, Entry { id: 0, account, line, provenance })?;
            }
        }
        Ok::<_, PortfolioError>(())
    })?;
    Ok(store)
}
