//! `create_portfolio`: creates a portfolio that later calls name by its id.

use std::sync::Arc;

use panoply_contract::prelude::*;

use super::portfolios::{AccountArgument, MUTATION, now, stored_evidence};
use super::service::CgtService;

const SPEC: ToolSpec = ToolSpec {
    name: "create_portfolio",
    title: "Create a portfolio",
    description: Description {
        does: "Creates a stored portfolio of share transactions, with accounts and their tax wrappers.",
        when: "Use this when the user wants to keep trades for later, or has more of them than fit a call: `add_transactions` fills it, and every other tool takes its `portfolio_id` in place of `cgt_content`. Only transactions in accounts of the wrapper `gia` count for tax.",
        returns: "Returns the id of the portfolio and its accounts.",
        asks: &["Keep my trades for next year", "Set up my portfolio with an ISA and a general account"],
    },
    permissions: &["portfolios:create"],
    examples: &[
        Example {
            shows: "a portfolio with two accounts",
            params: r#"{"name": "My shares", "accounts": [{"name": "Trading 212"}, {"name": "Vanguard ISA", "wrapper": "isa"}]}"#,
            expect: Expect::Data(
                r#"{"name": "My shares", "accounts": [{"name": "Trading 212", "wrapper": "gia"}, {"name": "Vanguard ISA", "wrapper": "isa"}]}"#,
            ),
        },
        Example {
            shows: "a name that is taken",
            params: r#"{"name": "Sample"}"#,
            expect: Expect::Error("PORTFOLIO_EXISTS"),
        },
    ],
    listing: Listing::Core,
    ..MUTATION
}
.checked();

/// The portfolio to create.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// Name, unique among the portfolios.
    #[schemars(length(min = 1, max = 100))]
    name: String,
    /// Accounts; more are created by `add_transactions`.
    #[schemars(length(max = 50))]
    #[serde(default)]
    accounts: Vec<AccountArgument>,
}

/// The new portfolio.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Id, for the other tools.
    portfolio_id: String,
    /// Name.
    name: String,
    /// Accounts.
    accounts: Vec<AccountArgument>,
}

pub(crate) struct CreatePortfolio {
    service: Arc<CgtService>,
}

impl CreatePortfolio {
    pub(super) const fn new(service: Arc<CgtService>) -> Self {
        Self { service }
    }
}

impl Tool for CreatePortfolio {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let name = params.name.trim().to_owned();
        if name.is_empty() {
            return Err(ToolError::validation("INVALID_NAME", "`name` is empty")
                .hint("name the portfolio, such as `My shares`"));
        }
        // A repeated call with the same idempotency key makes the same id.
        let marker = cx.mutation.as_ref().map_or_else(|| "new".to_owned(), |one| one.marker());
        let id = format!("pf_{marker}");
        self.service.change(
            cx,
            |writer| {
                writer.create(&id, &name, now(cx))?;
                for account in &params.accounts {
                    writer.ensure_account(&id, &account.name, Some(account.wrapper))?;
                }
                Ok(writer.accounts(&id)?)
            },
            |accounts| {
                let text = format!("The portfolio `{name}` has the id {id}.");
                let accounts = accounts.iter().map(AccountArgument::from).collect();
                let output = Output { portfolio_id: id.clone(), name: name.clone(), accounts };
                Reply::new(output, text, stored_evidence())
                    .needing("the transactions or broker files, for `add_transactions`")
            },
        )
    }
}
