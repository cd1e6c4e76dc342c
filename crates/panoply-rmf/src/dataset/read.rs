//! Reads a packed dataset and verifies its checksum.

use std::borrow::Cow;
use std::str::FromStr;

use jiff::Span;
use jiff::civil::Date;
use rust_decimal::Decimal;

use super::cells::unescape;
use super::write::checksum;
use super::{COLUMNS, Dataset, MAGIC, MAGIC_1, Provenance};
use crate::fund::{
    Allocation, Benchmark, Company, Documents, Fee, Flag, Fund, HoldingsReport, Minimums,
    PublishedDeviation, Quarantine, RiskLevel, Statistic, Statistics, Status, Suitability,
};
use crate::nav::{NavPoint, NavSeries};
use crate::period::{ByPeriod, Period};

/// Why a file is not a valid dataset.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum DatasetError {
    /// The file is not UTF-8.
    #[error("the file is not UTF-8 text")]
    NotText,
    /// The file has another format or version.
    #[error(
        "the file does not start with `panoply-rmf 2`; expected a file made by `panoply rmf pack-data` or `panoply rmf sync`"
    )]
    OtherFormat,
    /// The checksum is missing or wrong.
    #[error("the checksum at the end of the file is missing or wrong: the file is damaged")]
    Damaged,
    /// A line cannot be parsed.
    #[error("line {line}: {problem}")]
    Line {
        /// Line number, counted from 1.
        line: usize,
        /// Description of the problem.
        problem: String,
    },
}

impl Dataset {
    /// Parses a packed dataset.
    pub fn read(bytes: &[u8]) -> Result<Self, DatasetError> {
        let text = std::str::from_utf8(bytes).map_err(|_| DatasetError::NotText)?;
        if !matches!(text.lines().next(), Some(MAGIC | MAGIC_1)) {
            return Err(DatasetError::OtherFormat);
        }
        let (body, trailer) =
            text.rfind("sha256\t").map(|at| text.split_at(at)).ok_or(DatasetError::Damaged)?;
        let claimed = trailer.trim_end().strip_prefix("sha256\t").unwrap_or_default();
        if !body.ends_with('\n') || claimed != checksum(body) {
            return Err(DatasetError::Damaged);
        }
        let mut reader = Reader::default();
        for (number, line) in body.lines().enumerate().skip(1) {
            reader
                .parse_line(line)
                .map_err(|problem| DatasetError::Line { line: number + 1, problem })?;
        }
        Ok(Self {
            provenance: reader.provenance,
            funds: reader.funds,
            checksum: claimed.to_owned(),
        })
    }
}

#[derive(Default)]
struct Reader<'a> {
    provenance: Provenance,
    texts: Vec<Cow<'a, str>>,
    /// Position in the file of each of [`COLUMNS`]; `None` for a column that the file lacks.
    positions: Vec<Option<usize>>,
    funds: Vec<Fund>,
}

impl<'a> Reader<'a> {
    fn parse_line(&mut self, line: &'a str) -> Result<(), String> {
        let (kind, rest) = line.split_once('\t').unwrap_or((line, ""));
        match kind {
            "about" => self.parse_provenance(rest),
            "text" => {
                self.texts.push(unescape(rest));
                Ok(())
            }
            "columns" => self.parse_columns(rest),
            "fund" => {
                let raw: Vec<&str> = rest.split('\t').collect();
                let cell = |at: &Option<usize>| at.and_then(|at| raw.get(at).copied());
                let ordered = self.positions.iter().map(|at| cell(at).unwrap_or_default());
                let mut cells =
                    Cells { rest: ordered.collect::<Vec<_>>().into_iter(), texts: &self.texts };
                let mut fund = fund(&mut cells)?;
                if !self.has_column("benchmark_as_of") {
                    fund.benchmark.as_of = fund.returns_as_of;
                }
                self.funds.push(fund);
                Ok(())
            }
            _ => self.parse_part(kind, rest),
        }
    }

    /// A record that belongs to the fund above.
    fn parse_part(&mut self, kind: &str, rest: &'a str) -> Result<(), String> {
        let mut cells = self.cells(rest);
        match kind {
            "asset" => {
                let part = cells.part()?;
                self.last_fund()?.allocation.get_or_insert_default().push(part);
            }
            "fee" => {
                let fee = Fee {
                    kind: cells.text()?,
                    description: cells.text()?,
                    value: cells.parsed("value")?,
                    remark: cells.optional()?,
                };
                self.last_fund()?.fees.push(fee);
            }
            "nav" => {
                let series = nav_series(&mut cells)?;
                self.last_fund()?.nav = series;
            }
            "stat" => {
                let name = cells.text()?;
                let kind = Statistic::parse(&name)
                    .ok_or_else(|| format!("`{name}` is not a statistic"))?;
                let value = cells.required("statistic")?;
                self.last_fund()?.statistics.values.insert(kind, value);
            }
            "holding" | "held" => {
                let part = cells.part()?;
                let fund = self.last_fund()?;
                let report =
                    if kind == "held" { &mut fund.previous_holdings } else { &mut fund.holdings };
                report.get_or_insert_with(HoldingsReport::default).holdings.push(part);
            }
            "quarantine" => {
                let found = Quarantine { since: cells.text()?, reason: cells.text()? };
                self.last_fund()?.quarantine = Some(found);
            }
            other => return Err(format!("`{other}` is not a record kind")),
        }
        Ok(())
    }

    fn parse_columns(&mut self, rest: &str) -> Result<(), String> {
        let listed: Vec<&str> = rest.split('\t').collect();
        if let Some(unknown) = listed.iter().find(|name| !COLUMNS.contains(name)) {
            return Err(format!("`{unknown}` is not one of the columns of this version"));
        }
        self.positions =
            COLUMNS.iter().map(|name| listed.iter().position(|other| other == name)).collect();
        Ok(())
    }

    fn has_column(&self, name: &str) -> bool {
        let at = COLUMNS.iter().position(|column| *column == name);
        at.and_then(|at| self.positions.get(at)).is_some_and(Option::is_some)
    }

    fn parse_provenance(&mut self, rest: &str) -> Result<(), String> {
        let (name, value) = rest.split_once('\t').unwrap_or((rest, ""));
        let field = match name {
            "source" => &mut self.provenance.source,
            "licence" => &mut self.provenance.licence,
            "fetched_at" => &mut self.provenance.fetched_at,
            "history_from" => &mut self.provenance.history_from,
            other => return Err(format!("`{other}` is not a provenance field")),
        };
        *field = unescape(value).into_owned();
        Ok(())
    }

    fn cells<'b>(&'b self, rest: &'a str) -> Cells<'a, 'b> {
        Cells { rest: rest.split('\t').collect::<Vec<_>>().into_iter(), texts: &self.texts }
    }

    fn last_fund(&mut self) -> Result<&mut Fund, String> {
        self.funds.last_mut().ok_or_else(|| "the record belongs to no fund".to_owned())
    }
}

/// Iterates over the cells of a line. Cells past its end are empty.
struct Cells<'a, 'b> {
    rest: std::vec::IntoIter<&'a str>,
    texts: &'b [Cow<'a, str>],
}

impl<'a> Cells<'a, '_> {
    fn raw(&mut self) -> &'a str {
        self.rest.next().unwrap_or_default()
    }

    fn text(&mut self) -> Result<String, String> {
        let cell = self.raw();
        let Some(number) = cell.strip_prefix('=') else { return Ok(unescape(cell).into_owned()) };
        let text = number.parse().ok().and_then(|number: usize| self.texts.get(number));
        text.map(ToString::to_string).ok_or_else(|| format!("the dictionary has no text `{cell}`"))
    }

    fn optional(&mut self) -> Result<Option<String>, String> {
        self.text().map(|text| Some(text).filter(|text| !text.is_empty()))
    }

    fn parsed<T: FromStr>(&mut self, what: &str) -> Result<Option<T>, String> {
        let cell = self.raw();
        if cell.is_empty() {
            return Ok(None);
        }
        cell.parse().map(Some).map_err(|_| format!("`{cell}` is not a valid {what}"))
    }

    fn required<T: FromStr>(&mut self, what: &str) -> Result<T, String> {
        self.parsed(what)?.ok_or_else(|| format!("the {what} is missing"))
    }

    fn part(&mut self) -> Result<Allocation, String> {
        Ok(Allocation { asset_class: self.text()?, percent: self.required("percent")? })
    }

    /// An empty report with this date; its holdings are records of their own.
    fn report(&mut self) -> Result<Option<HoldingsReport>, String> {
        let as_of: Option<Date> = self.parsed("date")?;
        Ok(as_of.map(|date| HoldingsReport { as_of: Some(date), holdings: Vec::new() }))
    }

    fn by_period(&mut self) -> Result<ByPeriod<Decimal>, String> {
        let mut values = ByPeriod::default();
        for period in Period::ALL {
            values.set(period, self.parsed("return")?);
        }
        Ok(values)
    }
}

fn fund(cells: &mut Cells<'_, '_>) -> Result<Fund, String> {
    let mut fund = fund_of_version_1(cells)?;
    fund.benchmark.as_of = cells.parsed("date")?;
    fund.isin = cells.optional()?;
    fund.master_fund = cells.optional()?;
    fund.master_country = cells.optional()?;
    fund.statistics.as_of = cells.parsed("date")?;
    fund.holdings = cells.report()?;
    fund.previous_holdings = cells.report()?;
    Ok(fund)
}

fn fund_of_version_1(cells: &mut Cells<'_, '_>) -> Result<Fund, String> {
    // The order of these fields is the order of `COLUMNS`: each reads the next cell.
    Ok(Fund {
        fund_id: cells.text()?,
        symbol: cells.text()?,
        name: cells.text()?,
        name_th: cells.optional()?,
        company: Company { id: cells.text()?, name: cells.text()? },
        classification: cells.optional()?,
        compare_code: cells.optional()?,
        management_style: cells.optional()?,
        dividend_policy: cells.optional()?,
        policy_th: cells.optional()?,
        risk: RiskLevel::new(cells.required("risk level")?)
            .ok_or_else(|| "the risk level is not on the scale".to_owned())?,
        status: Status::parse(cells.raw()).ok_or_else(|| "the status is unknown".to_owned())?,
        registered: cells.parsed("date")?,
        nav: NavSeries::default(),
        buy_price: cells.parsed("price")?,
        sell_price: cells.parsed("price")?,
        net_assets: cells.parsed("amount")?,
        returns: cells.by_period()?,
        returns_as_of: cells.parsed("date")?,
        benchmark: Benchmark { name: cells.optional()?, returns: cells.by_period()?, as_of: None },
        deviation: match (cells.parsed("deviation")?, cells.optional()?) {
            (Some(percent), Some(period)) => Some(PublishedDeviation { percent, period }),
            _ => None,
        },
        volatility_1y: cells.parsed("volatility")?,
        tracking_error: cells.parsed("tracking error")?,
        allocation: None,
        fees: Vec::new(),
        minimums: Minimums {
            initial: cells.parsed("amount")?,
            additional: cells.parsed("amount")?,
            redemption: cells.parsed("amount")?,
            balance: cells.parsed("amount")?,
        },
        documents: Documents {
            factsheet: cells.optional()?,
            annual_report: cells.optional()?,
            halfyear_report: cells.optional()?,
        },
        suitability: Suitability {
            risk_level: cells.optional()?,
            target_investor: cells.optional()?,
            investment_horizon: cells.optional()?,
        },
        share_classes: split_list(&cells.text()?, '|').map(str::to_owned).collect(),
        fetched_at: cells.optional()?,
        flags: split_list(&cells.text()?, ' ')
            .map(|name| Flag::parse(name).ok_or_else(|| format!("`{name}` is not a flag")))
            .collect::<Result<_, _>>()?,
        isin: None,
        master_fund: None,
        master_country: None,
        statistics: Statistics::default(),
        holdings: None,
        previous_holdings: None,
        quarantine: None,
    })
}

fn split_list(text: &str, separator: char) -> impl Iterator<Item = &str> {
    text.split(separator).filter(|part| !part.is_empty())
}

fn nav_series(cells: &mut Cells<'_, '_>) -> Result<NavSeries, String> {
    let mut date: Date = cells.required("date")?;
    let mut points = vec![NavPoint { date, nav: cells.required("NAV")? }];
    while let Some(days) = cells.parsed::<u16>("number of days")? {
        let span = Span::new().days(i64::from(days));
        date = date.checked_add(span).map_err(|_| "the date is beyond the calendar".to_owned())?;
        points.push(NavPoint { date, nav: cells.required("NAV")? });
    }
    NavSeries::new(points).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn dataset_round_trips() {
        let dataset = samples::dataset();
        let packed = dataset.packed();
        assert_eq!(Dataset::read(packed.as_bytes()), Ok(dataset));
    }

    #[test]
    fn damaged_dataset_is_rejected_with_the_reason() {
        let packed = samples::dataset().packed();
        let cut: String = packed.chars().take(packed.chars().count() / 2).collect();
        let changed = packed.replace("12.5", "12.6");
        let sealed = |body: &str| format!("{body}sha256\t{}\n", checksum(body));
        let cases: [(&str, Vec<u8>, &str); 7] = [
            ("bytes", vec![0xff, 0xfe], "UTF-8"),
            ("another file", b"symbol,date,nav\n".to_vec(), "pack-data"),
            ("cut", cut.into_bytes(), "damaged"),
            ("changed", changed.into_bytes(), "damaged"),
            ("kind", sealed("panoply-rmf\t1\nsurprise\tx\n").into_bytes(), "line 2: `surprise`"),
            ("columns", sealed("panoply-rmf\t2\ncolumns\tx\n").into_bytes(), "columns"),
            ("no fund", sealed("panoply-rmf\t1\nasset\tGold\t1\n").into_bytes(), "no fund"),
        ];
        for (name, bytes, expected) in cases {
            let error = Dataset::read(&bytes).unwrap_err().to_string();
            assert!(error.contains(expected), "{name}: {error}");
        }
    }
}
