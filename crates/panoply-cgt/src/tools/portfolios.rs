//! What the tools of stored portfolios share: ids, transactions as arguments, changes and errors.

use std::borrow::Cow;

use jiff::Timestamp;
use panoply_contract::prelude::*;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::json;

use super::dialect::EXAMPLE_KEY;
use super::service::CgtService;
use crate::portfolio::{self, Account, Entry, Wrapper};
use crate::security;
use crate::store::{Portfolio, PortfolioError, PortfolioWriter};
use crate::transaction::Row;

/// Tags of the tools.
pub(super) const TAGS: &[&str] = &["tax", "uk", "shares", "portfolio"];

/// Spec fields that the tools share. The empty fields and the malformed permission fail
/// [`ToolSpec::checked`], so a tool that forgets its own does not compile.
pub(super) const QUERY: ToolSpec = ToolSpec {
    name: "",
    title: "",
    description: Description { does: "", when: "", returns: "", asks: &[] },
    version: "1.0.0",
    aliases: &[],
    permissions: &["undeclared"],
    category: Category::Query,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &["portfolios"],
    examples: &[],
    tags: TAGS,
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Extra,
    widget: None,
};

/// A change of a portfolio.
pub(super) const MUTATION: ToolSpec =
    ToolSpec { category: Category::Mutation, idempotent: false, ..QUERY };

/// Id of a stored portfolio.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub(super) struct PortfolioId(String);

impl PortfolioId {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl JsonSchema for PortfolioId {
    fn schema_name() -> Cow<'static, str> {
        "PortfolioId".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "pattern": "^pf_[0-9a-z]{1,24}$", "minLength": 4, "maxLength": 27})
    }
}

/// Account with its wrapper, as an argument and in replies.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AccountArgument {
    /// Name of the account.
    #[schemars(length(min = 1, max = 100))]
    pub(super) name: String,
    /// Wrapper: `gia` (default) is taxable; `isa`, `sipp` and `spouse` are not this person's.
    #[serde(default)]
    pub(super) wrapper: Wrapper,
}

impl From<&Account> for AccountArgument {
    fn from(account: &Account) -> Self {
        Self { name: account.name.clone(), wrapper: account.wrapper }
    }
}

impl CgtService {
    /// Runs a change in one transaction with the record of the call. A dry run is rolled back.
    pub(super) fn change<T, O: Serialize>(
        &self,
        cx: &CallContext,
        work: impl FnOnce(&dyn PortfolioWriter) -> Result<T, ToolError>,
        shape: impl FnOnce(T) -> Reply<O>,
    ) -> Result<Reply<O>, ToolError> {
        let (reply, record) = self.portfolios.change(!cx.dry_run, |writer| {
            let reply = shape(work(writer)?);
            let record = cx.mutation.as_ref().map(|one| one.record(&reply)).transpose()?;
            if let Some(record) = &record {
                writer.attach(record)?;
            }
            Ok::<_, ToolError>((reply, record))
        })?;
        if let (Some(mutation), Some(record)) = (&cx.mutation, record) {
            mutation.committed(record);
        }
        Ok(reply)
    }

    /// Taxable transactions of a portfolio, and what was left out.
    pub(super) fn taxable(&self, id: &PortfolioId) -> Result<(Vec<Row>, Vec<String>), ToolError> {
        taxable(&self.portfolios.load(id.as_str())?)
    }
}

/// Taxable transactions of a loaded portfolio with the ISINs of brokers' files, and what was left
/// out.
pub(super) fn taxable(portfolio: &Portfolio) -> Result<(Vec<Row>, Vec<String>), ToolError> {
    let is_taxable = |entry: &&Entry| portfolio.wrapper(&entry.account).is_taxable();
    let (taxable, others): (Vec<&Entry>, Vec<&Entry>) =
        portfolio.entries.iter().partition(|entry| is_taxable(entry));
    let mut rows = portfolio::rows(&taxable).map_err(|_| unreadable())?;
    let isins = taxable.iter().map(|entry| entry.provenance.isin.as_deref());
    rows.extend(security::of_isins(&rows, isins));
    let notices = match others.len() {
        0 => Vec::new(),
        count => vec![format!(
            "{count} transactions in accounts of the wrappers {} are left out",
            wrappers_of(portfolio)
        )],
    };
    Ok((rows, notices))
}

/// The wrappers of a portfolio that are not taxable.
fn wrappers_of(portfolio: &Portfolio) -> String {
    let held = |wrapper: &Wrapper| {
        portfolio.summary.accounts.iter().any(|account| account.wrapper == *wrapper)
    };
    let words: Vec<&str> = Wrapper::ALL
        .into_iter()
        .filter(|wrapper| !wrapper.is_taxable() && held(wrapper))
        .map(Wrapper::as_str)
        .collect();
    words.join(", ")
}

/// Error for a stored line that is not a transaction.
pub(super) fn unreadable() -> ToolError {
    ToolError::system("a stored transaction cannot be read")
}

/// Time of the call in microseconds since 1970.
pub(super) fn now(cx: &CallContext) -> i64 {
    cx.clock.now().as_microsecond()
}

/// Microseconds since 1970 as text.
pub(super) fn time_text(micros: i64) -> String {
    Timestamp::from_microsecond(micros).map_or_else(|_| String::new(), |time| time.to_string())
}

/// Evidence of what is stored.
pub(super) fn stored_evidence() -> Evidence {
    Evidence::from(Source::new(SourceClass::UserSupplied, "the stored portfolio"))
}

impl From<PortfolioError> for ToolError {
    fn from(error: PortfolioError) -> Self {
        let message = error.to_string();
        match error {
            PortfolioError::NotFound(id) => Self::not_found("PORTFOLIO_NOT_FOUND", message)
                .hint("find the id with `list_portfolios`, or create one with `create_portfolio`")
                .detail("value", id),
            PortfolioError::NameTaken(name) => Self::conflict("PORTFOLIO_EXISTS", message)
                .hint("choose another name, or add to that one: `list_portfolios` has its id")
                .detail("value", name)
                .detail(EXAMPLE_KEY, json!({"name": "Shares 2"})),
            PortfolioError::NoEntry(id) => Self::not_found("TRANSACTION_NOT_FOUND", message)
                .hint("find the numbers with `list_portfolio_transactions`")
                .detail("value", id),
            PortfolioError::NoAccount(name) => Self::not_found("ACCOUNT_NOT_FOUND", message)
                .hint("find the accounts with `list_portfolios`")
                .detail("value", name),
            PortfolioError::OtherWrapper { name, .. } => Self::conflict("OTHER_WRAPPER", message)
                .hint("leave out `wrapper`, name another account, or change it with `edit_transactions`")
                .detail("value", name),
            PortfolioError::NoChange(id) => Self::not_found("CHANGE_NOT_FOUND", message)
                .hint("use the `change_id` of a reply, or leave it out for the last change")
                .detail("value", id),
            PortfolioError::NothingToUndo => Self::business("NOTHING_TO_UNDO", message)
                .hint("change something first"),
            PortfolioError::AlreadyUndone(id) => Self::conflict("ALREADY_UNDONE", message)
                .hint("undo the change that undid it, to redo this one")
                .detail("value", id),
            PortfolioError::ChangedSince { entry, .. } => Self::conflict("CHANGED_SINCE", message)
                .hint("undo the later change first")
                .detail("value", entry),
            PortfolioError::Store(error) => error.pack_error("cgt"),
        }
    }
}
