//! Writes a packed dataset. The output is deterministic.

use std::fmt::Write as _;

use jiff::civil::Date;
use rust_decimal::Decimal;
use sha2::{Digest, Sha256};

use super::cells::{Dictionary, escape};
use super::{COLUMNS, Dataset, MAGIC, Provenance};
use crate::fund::{Allocation, Fee, Flag, Fund, Statistic};
use crate::nav::NavPoint;
use crate::period::{ByPeriod, Period};

impl Dataset {
    /// Creates a dataset, sorted by code.
    pub fn new(provenance: Provenance, mut funds: Vec<Fund>) -> Self {
        funds.sort_by(|a, b| a.symbol.cmp(&b.symbol));
        let mut dataset = Self { provenance, funds, checksum: String::new() };
        dataset.checksum = checksum(&dataset.body());
        dataset
    }

    /// Encodes the dataset.
    pub fn packed(&self) -> String {
        let mut text = self.body();
        let _ = writeln!(text, "sha256\t{}", checksum(&text));
        text
    }

    fn body(&self) -> String {
        let rows: Vec<Row> = self.funds.iter().flat_map(rows_of).collect();
        let texts = rows.iter().filter(|row| row.kind != "nav").flat_map(|row| &row.cells);
        let dictionary = Dictionary::of(texts.map(String::as_str));
        let mut text = format!("{MAGIC}\n");
        for (name, value) in [
            ("source", &self.provenance.source),
            ("licence", &self.provenance.licence),
            ("fetched_at", &self.provenance.fetched_at),
            ("history_from", &self.provenance.history_from),
        ] {
            if name == "history_from" && value.is_empty() {
                continue;
            }
            let _ = writeln!(text, "about\t{name}\t{}", escape(value));
        }
        for repeated in &dictionary.texts {
            let _ = writeln!(text, "text\t{}", escape(repeated));
        }
        let _ = writeln!(text, "columns\t{}", COLUMNS.join("\t"));
        for row in &rows {
            text.push_str(&row.line(&dictionary));
            text.push('\n');
        }
        text
    }
}

/// SHA-256 in hexadecimal.
pub(super) fn checksum(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().fold(String::with_capacity(64), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

struct Row {
    kind: &'static str,
    cells: Vec<String>,
}

impl Row {
    fn line(&self, dictionary: &Dictionary<'_>) -> String {
        let used = self.cells.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1);
        let mut line = self.kind.to_owned();
        for cell in self.cells.iter().take(used) {
            line.push('\t');
            // NAV cells are numbers, never dictionary references, and there are thousands of them.
            if self.kind == "nav" {
                line.push_str(cell);
            } else {
                line.push_str(&dictionary.cell(cell));
            }
        }
        line
    }
}

fn rows_of(fund: &Fund) -> Vec<Row> {
    let mut rows = vec![Row { kind: "fund", cells: fund_cells(fund) }];
    rows.extend(fund.allocation.iter().flatten().map(asset_row));
    rows.extend(fund.fees.iter().map(fee_row));
    rows.extend(nav_row(fund.nav.points()));
    let value = |(kind, value): (&Statistic, &Decimal)| Row {
        kind: "stat",
        cells: vec![kind.as_str().to_owned(), value.to_string()],
    };
    rows.extend(fund.statistics.values.iter().map(value));
    for (kind, report) in [("holding", &fund.holdings), ("held", &fund.previous_holdings)] {
        let held = report.iter().flat_map(|report| &report.holdings);
        rows.extend(held.map(|part| Row { kind, ..asset_row(part) }));
    }
    rows.extend(fund.quarantine.iter().map(|quarantine| Row {
        kind: "quarantine",
        cells: vec![quarantine.since.clone(), quarantine.reason.clone()],
    }));
    rows
}

fn fund_cells(fund: &Fund) -> Vec<String> {
    let mut cells = vec![
        fund.fund_id.clone(),
        fund.symbol.clone(),
        fund.name.clone(),
        text(&fund.name_th),
        fund.company.id.clone(),
        fund.company.name.clone(),
        text(&fund.classification),
        text(&fund.compare_code),
        text(&fund.management_style),
        text(&fund.dividend_policy),
        text(&fund.policy_th),
        fund.risk.to_string(),
        fund.status.as_str().to_owned(),
        day(fund.registered),
        figure(fund.buy_price),
        figure(fund.sell_price),
        figure(fund.net_assets),
    ];
    cells.extend(by_period(&fund.returns));
    cells.extend([day(fund.returns_as_of), text(&fund.benchmark.name)]);
    cells.extend(by_period(&fund.benchmark.returns));
    let deviation = fund.deviation.as_ref();
    cells.extend([
        figure(deviation.map(|deviation| deviation.percent)),
        deviation.map(|deviation| deviation.period.clone()).unwrap_or_default(),
        figure(fund.volatility_1y),
        figure(fund.tracking_error),
        figure(fund.minimums.initial),
        figure(fund.minimums.additional),
        figure(fund.minimums.redemption),
        figure(fund.minimums.balance),
        text(&fund.documents.factsheet),
        text(&fund.documents.annual_report),
        text(&fund.documents.halfyear_report),
        text(&fund.suitability.risk_level),
        text(&fund.suitability.target_investor),
        text(&fund.suitability.investment_horizon),
        fund.share_classes.join("|"),
        text(&fund.fetched_at),
        fund.flags.iter().map(|flag| Flag::as_str(*flag)).collect::<Vec<_>>().join(" "),
        day(fund.benchmark.as_of),
        text(&fund.isin),
        text(&fund.master_fund),
        text(&fund.master_country),
        day(fund.statistics.as_of),
        day(fund.holdings.as_ref().and_then(|report| report.as_of)),
        day(fund.previous_holdings.as_ref().and_then(|report| report.as_of)),
    ]);
    cells
}

fn asset_row(part: &Allocation) -> Row {
    Row { kind: "asset", cells: vec![part.asset_class.clone(), part.percent.to_string()] }
}

fn fee_row(fee: &Fee) -> Row {
    let cells =
        vec![fee.kind.clone(), fee.description.clone(), figure(fee.value), text(&fee.remark)];
    Row { kind: "fee", cells }
}

fn nav_row(points: &[NavPoint]) -> Option<Row> {
    let first = points.first()?;
    let mut cells = vec![first.date.to_string(), first.nav.to_string()];
    for (before, after) in points.iter().zip(points.iter().skip(1)) {
        let days = (after.date - before.date).get_days();
        cells.extend([days.to_string(), after.nav.to_string()]);
    }
    Some(Row { kind: "nav", cells })
}

fn by_period(values: &ByPeriod<Decimal>) -> impl Iterator<Item = String> + '_ {
    Period::ALL.into_iter().map(|period| figure(values.get(period)))
}

fn figure(value: Option<Decimal>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn day(value: Option<Date>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn text(value: &Option<String>) -> String {
    value.clone().unwrap_or_default()
}
