//! `import_transactions`: imports broker exports.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use panoply_contract::prelude::*;

use super::content;
use super::pagination::{self, PageInfo, paginate};
use crate::dsl;
use crate::import::decode::decode;
use crate::import::{Broker, Columns, File, Imported, KnownRows, RateChoice, read_more};
use crate::json::Parsed;
use crate::security;

/// Half of the reply is left for warnings.
const BYTE_BUDGET: usize = pagination::BYTE_BUDGET / 2;
/// Further warnings and duplicates are counted, not listed.
const MAX_LISTED: usize = 100;

const SPEC: ToolSpec = ToolSpec {
    name: "import_transactions",
    title: "Import a broker's export",
    description: Description {
        does: "Turns exports of Trading 212, Interactive Brokers (Flex, activity statement, transaction history), Schwab (with awards), Freetrade, Vanguard UK, Hargreaves Lansdown, interactive investor, Revolut, Morgan Stanley, Sharesight, Coinbase, cgt-calc, cgtcalculator, or any CSV with a map of its columns into transactions.",
        when: "Use this when the user gives a broker's file. The broker is recognised unless named. Give several files at once: rows that overlap count once. Splits are often missing from exports and must be added manually.",
        returns: "Returns the transactions as lines of text to pass on as `cgt_content`, with every row that was not understood as a warning with file and line, and duplicates between files.",
        asks: &["Here is my Trading 212 export", "Import these two broker files"],
    },
    version: "1.0.0",
    aliases: &[],
    permissions: &["cgt:read"],
    category: Category::Analysis,
    response_time: ResponseTime::Medium,
    cache: CachePolicy::Never,
    idempotent: true,
    data: &[],
    examples: &[
        Example {
            shows: "a file in cgtcalculator's form",
            params: r#"{"files": [{"name": "trades.txt", "content": "B 08/09/2010 BARC 5000 4.1565 9.95 104"}]}"#,
            expect: Expect::Data(
                r#"{"cgt_content": "2010-09-08 BUY BARC 5000 @ 4.1565 GBP FEES 113.95 GBP", "count": 1, "warnings": []}"#,
            ),
        },
        Example {
            shows: "a file of an unknown broker",
            params: r#"{"files": [{"name": "x.csv", "content": "hello"}]}"#,
            expect: Expect::Error("BROKER_NOT_RECOGNISED"),
        },
    ],
    tags: &["tax", "uk", "shares", "import", "broker"],
    rate_limit: None,
    deprecated: None,
    annotations: Annotations::CLOSED,
    listing: Listing::Core,
    widget: None,
}
.checked();

/// Files to import.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// Files.
    #[schemars(length(min = 1, max = 20))]
    files: Vec<FileParam>,
    /// Exchange rates of foreign trades: `broker` (default) uses the rate in the export where there is one, `hmrc` HMRC's month.
    #[serde(default)]
    rates: RateChoice,
    /// Also give a SECURITY line with the ISIN of each security, where the export has it: the other tools then know countries and excess reportable income.
    #[serde(default)]
    securities: bool,
    /// Number of transactions to skip.
    #[schemars(range(min = 0, max = 10_000_000))]
    #[serde(default)]
    offset: usize,
}

/// A broker's export.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FileParam {
    /// File name, for warnings.
    #[schemars(length(min = 1, max = 200))]
    pub(super) name: Option<String>,
    /// Broker; detected by default.
    broker: Option<Broker>,
    /// Content as text. Required, unless `content_base64` is given.
    #[schemars(length(min = 0, max = 4_000_000))]
    content: Option<String>,
    /// Content as base64: a workbook (.xlsx), or text in another encoding than UTF-8.
    #[schemars(length(min = 0, max = 4_000_000))]
    content_base64: Option<String>,
    /// Name of the account. Rows of different accounts are never duplicates.
    #[schemars(length(min = 1, max = 100))]
    account: Option<String>,
    /// Schwab's equity awards as JSON text: market values of vested shares.
    #[schemars(length(min = 0, max = 4_000_000))]
    awards: Option<String>,
    /// Column names, for `generic`.
    columns: Option<Columns>,
}

/// Result of an import.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Transactions, one per line, by date; pass it on as `cgt_content`.
    cgt_content: String,
    /// Number of transactions.
    count: usize,
    /// Page of the transactions shown.
    page: PageInfo,
    /// Rows that were not understood or need review, with file and line.
    warnings: Vec<String>,
    /// Number of warnings.
    warning_count: usize,
    /// Rows that another file has too; they count once.
    duplicates: Vec<String>,
    /// Number of duplicates.
    duplicate_count: usize,
    /// Skipped rows that are not about shares, by type.
    skipped: Vec<Skipped>,
}

/// Skipped rows of one type.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Skipped {
    /// Type in the export.
    pub(super) what: String,
    /// Number of rows.
    pub(super) count: usize,
}

pub(crate) struct ImportTransactions;

impl Tool for ImportTransactions {
    type Params = Params;
    type Output = Output;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, params: Params, _cx: &CallContext) -> Result<Reply<Output>, ToolError> {
        let known = KnownRows::default();
        let mut imported = import(&params.files, None, params.rates, known)?;
        if params.securities {
            let isins = imported.origins.iter().map(|origin| origin.isin.as_deref());
            let securities = security::of_isins(&imported.rows, isins);
            imported.rows.extend(securities);
        }
        let count = imported.rows.len();
        let lines = imported.rows.iter().map(|row| dsl::line(&row.transaction));
        let (shown, page) = paginate(lines, params.offset, None, BYTE_BUDGET);
        let (warning_count, duplicate_count) = (imported.warnings.len(), imported.duplicates.len());
        let text = format!(
            "{count} transactions were imported; {warning_count} rows need review, {duplicate_count} are duplicates of another file."
        );
        let table = imported
            .warnings
            .iter()
            .take(MAX_LISTED)
            .fold(Table::new(["to review"]), |table, warning| table.row([warning]));
        imported.warnings.truncate(MAX_LISTED);
        imported.duplicates.truncate(MAX_LISTED);
        let understood = u64::try_from(count).unwrap_or(u64::MAX);
        let left_out = u64::try_from(warning_count).unwrap_or(u64::MAX);
        let evidence =
            Evidence::from(Source::new(SourceClass::UserSupplied, "the broker's export"))
                .complete(understood, understood.saturating_add(left_out));
        let parsed = Parsed { rows: imported.rows, notices: Vec::new() };
        let echo = content::echo(&parsed.into()).filter(|_| count > 0);
        let skipped =
            imported.skipped.into_iter().map(|(what, count)| Skipped { what, count }).collect();
        let output = Output {
            cgt_content: shown.join("\n"),
            count,
            page,
            warnings: imported.warnings,
            warning_count,
            duplicates: imported.duplicates,
            duplicate_count,
            skipped,
        };
        let assumption = match params.rates {
            RateChoice::Broker => {
                "the broker's exchange rate is used where the export states it, otherwise HMRC's month"
            }
            RateChoice::Hmrc => {
                "foreign amounts are converted at HMRC's monthly rates, not at the broker's"
            }
        };
        let mut reply = Reply::new(output, text, evidence).table(table).assuming(assumption);
        if let Some(arguments) = echo {
            reply = reply.next(NextAction::new(
                "validate_transactions",
                arguments,
                "check that the records are complete",
            ));
        }
        Ok(reply)
    }
}

/// Reads files, without the rows that are known. Files that name no account are of `account`.
pub(super) fn import(
    files: &[FileParam],
    account: Option<&str>,
    rates: RateChoice,
    known: KnownRows,
) -> Result<Imported, ToolError> {
    let texts: Vec<String> = files.iter().map(text_of).collect::<Result<_, ToolError>>()?;
    let mut exports = Vec::new();
    for (file, text) in files.iter().zip(&texts) {
        exports.push(File {
            name: file.name.as_deref().unwrap_or("file"),
            broker: broker_of(file, text)?,
            text,
            awards: file.awards.as_deref(),
            columns: file.columns.as_ref(),
            account: file.account.as_deref().or(account),
            rates,
        });
    }
    Ok(read_more(&exports, known))
}

/// Text of a file, decoded when it was sent as bytes.
fn text_of(file: &FileParam) -> Result<String, ToolError> {
    let name = file.name.as_deref().unwrap_or("file");
    let invalid = |message: String, hint: &str| {
        ToolError::validation("INVALID_FILE", format!("`{name}`: {message}"))
            .hint(hint.to_owned())
            .detail("value", name)
    };
    match (&file.content, &file.content_base64) {
        (Some(text), None) => Ok(text.clone()),
        (None, Some(encoded)) => {
            let bytes = BASE64.decode(encoded.trim().as_bytes()).map_err(|error| {
                invalid(
                    format!("`content_base64` is not base64: {error}"),
                    "send the bytes of the file as base64",
                )
            })?;
            let text = decode(&bytes).map_err(|error| invalid(error.to_string(), error.hint()))?;
            Ok(text.into_owned())
        }
        _ => Err(invalid(
            "one of `content` and `content_base64` is required".to_owned(),
            "send text as `content`, and workbooks as `content_base64`",
        )),
    }
}

fn broker_of(file: &FileParam, text: &str) -> Result<Broker, ToolError> {
    let named = file.broker.or_else(|| file.columns.as_ref().map(|_| Broker::Generic));
    named.or_else(|| Broker::recognise(text)).ok_or_else(|| {
        let name = file.name.as_deref().unwrap_or("file");
        let known: Vec<&str> = Broker::ALL.iter().map(|broker| broker.as_str()).collect();
        ToolError::validation(
            "BROKER_NOT_RECOGNISED",
            format!("the broker of `{name}` cannot be detected"),
        )
        .hint(format!(
            "name the `broker`: one of {}; `generic` takes a map of the columns",
            known.join(", ")
        ))
        .detail("value", name)
    })
}
