//! Report as a self-contained HTML page: no scripts, no external references, light and dark colour
//! scheme, print style.

use std::fmt::{self, Write as _};
use std::io::{self, Write};

use crate::document::{
    COLUMNS, Heading, TITLE, disposal_title, dividends, holding_name, holdings_title, notes,
    summary, too_many,
};
use crate::engine::report::{Report, RoundedDisposal, RoundedLeg, Rounding, YearReport};
use crate::money::Money;
use crate::security::Securities;

const STYLE: &str = include_str!("html.css");

/// Writes the report. The page is written out after each disposal, so that it is never in memory as
/// a whole.
pub fn write(
    report: &Report<'_>,
    rounding: Rounding,
    heading: &Heading<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut page = HtmlPage(String::new());
    let title = match heading.name {
        Some(name) => format!("{TITLE}: {name}"),
        None => TITLE.to_owned(),
    };
    page.raw("<!doctype html>\n<html lang=\"en-GB\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n");
    page.element("title", &title);
    page.raw(&format!("<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n"));
    page.element("h1", TITLE);
    if let Some(name) = heading.name {
        page.element("p", &format!("For {name}"));
    }
    page.element("p", &heading.about(rounding));
    page.summary(report, rounding);
    for year in report.years.iter().filter(|year| !year.disposals.is_empty()) {
        page.disposals(report, year, rounding, out)?;
    }
    page.holdings(report, rounding);
    page.boxes(heading);
    page.rates(heading);
    page.transactions(heading, out)?;
    page.element("h2", "Notes");
    page.raw("<ul>\n");
    for note in notes(report) {
        page.element("li", &note);
    }
    page.raw("</ul>\n</main>\n</body>\n</html>\n");
    page.flush(out)
}

struct HtmlPage(String);

impl HtmlPage {
    /// Appends trusted markup.
    fn raw(&mut self, markup: &str) {
        self.0 += markup;
    }

    /// Appends an element with escaped text.
    fn element(&mut self, name: &str, text: &str) {
        let _ = writeln!(self.0, "<{name}>{}</{name}>", Escaped(text));
    }

    /// Opens a table. The first `words` columns are text, the others numbers.
    fn table(&mut self, columns: &[&str], words: usize) {
        self.raw("<div class=\"wide\"><table>\n<thead><tr>");
        for (index, column) in columns.iter().enumerate() {
            let class = if index < words { "" } else { " class=\"number\"" };
            let _ = write!(self.0, "<th scope=\"col\"{class}>{}</th>", Escaped(column));
        }
        self.raw("</tr></thead>\n<tbody>\n");
    }

    fn row(&mut self, cells: &[&str], words: usize) {
        self.raw("<tr>");
        for (index, cell) in cells.iter().enumerate() {
            let class = if index < words { "" } else { " class=\"number\"" };
            let _ = match index {
                0 => write!(self.0, "<th scope=\"row\">{}</th>", Escaped(cell)),
                _ => write!(self.0, "<td{class}>{}</td>", Escaped(cell)),
            };
        }
        self.raw("</tr>\n");
    }

    fn end_table(&mut self) {
        self.raw("</tbody>\n</table></div>\n");
    }

    fn summary(&mut self, report: &Report<'_>, rounding: Rounding) {
        self.element("h2", "Summary");
        if report.years.is_empty() {
            return self.element("p", "Nothing was sold.");
        }
        self.table(&COLUMNS, 1);
        for row in summary(report, rounding) {
            self.row(&row.each_ref().map(String::as_str), 1);
        }
        self.end_table();
        for sentence in dividends(report, rounding) {
            self.element("p", &sentence);
        }
    }

    fn disposals(
        &mut self,
        report: &Report<'_>,
        year: &YearReport<'_>,
        rounding: Rounding,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        self.element("h2", &format!("Disposals in {}", year.year));
        for (number, disposal) in (1..).zip(&year.disposals) {
            self.disposal(number, disposal, report.securities, rounding);
            self.flush(out)?;
        }
        Ok(())
    }

    fn flush(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(self.0.as_bytes())?;
        self.0.clear();
        Ok(())
    }

    fn disposal(
        &mut self,
        number: usize,
        rounded: &RoundedDisposal<'_>,
        securities: &Securities,
        rounding: Rounding,
    ) {
        let disposal = rounded.disposal;
        let text = |amount: Money| rounding.text(amount);
        self.raw("<section class=\"disposal\">\n");
        let title = format!("{number}. {}", disposal_title(disposal, securities));
        self.element("h3", &title);
        let costs = match disposal.fees.is_zero() {
            true => String::new(),
            false => format!(", costs of selling £{}", text(disposal.fees)),
        };
        let (word, size) = match rounded.gain.is_negative() {
            true => ("Loss", -rounded.gain),
            false => ("Gain", rounded.gain),
        };
        self.element(
            "p",
            &format!("Proceeds £{}{costs}. {word} £{}.", text(rounded.gross), text(size)),
        );
        for original in disposal.originals.iter().flat_map(|originals| originals.iter()) {
            let rate = original.rate;
            let (units, source) = (rate.units_per_pound, rate.source.as_str());
            self.element(
                "p",
                &format!("{} {} at {units} a pound ({source})", original.gross, original.currency),
            );
        }
        self.table(&["rule", "from", "law", "shares", "cost", "result"], 3);
        for leg in &rounded.legs {
            let cells = [
                leg.leg.rule.title().to_owned(),
                origin(leg, rounding),
                leg.leg.rule.law().to_owned(),
                leg.leg.quantity.to_string(),
                text(leg.cost),
                text(leg.gain),
            ];
            self.row(&cells.each_ref().map(String::as_str), 3);
        }
        self.end_table();
        self.raw("</section>\n");
    }

    fn holdings(&mut self, report: &Report<'_>, rounding: Rounding) {
        self.element("h2", &holdings_title(report));
        let held: Vec<_> = report.holdings.iter().filter(|held| !held.quantity.is_zero()).collect();
        if held.is_empty() {
            self.element("p", "None.");
        } else {
            self.table(&["holding", "shares", "cost"], 1);
            for held in held {
                let (shares, cost) = (held.quantity.to_string(), rounding.text(held.cost));
                let name = holding_name(&held.ticker, report.securities);
                self.row(&[&name, &shares, &cost], 1);
            }
            self.end_table();
        }
        if report.transfers.is_empty() {
            return;
        }
        self.element("h2", "Transfers to the spouse or civil partner");
        self.table(&["holding", "on", "shares", "at a cost of"], 2);
        for transfer in &report.transfers {
            let (date, shares) = (transfer.date.to_string(), transfer.quantity.to_string());
            let cost = rounding.text(transfer.cost);
            self.row(&[transfer.ticker.as_str(), &date, &shares, &cost], 2);
        }
        self.end_table();
    }
}

impl HtmlPage {
    fn boxes(&mut self, heading: &Heading<'_>) {
        for (year, boxes) in &heading.boxes {
            self.element("h2", &format!("Entries of form SA108 for {year}"));
            self.table(&["section", "box", "asks for", "enter"], 3);
            for filled in boxes {
                let entry = filled.entry.as_deref().unwrap_or_default();
                self.row(&[filled.section, &filled.number, filled.label, entry], 3);
            }
            self.end_table();
        }
    }

    fn rates(&mut self, heading: &Heading<'_>) {
        if heading.rates.is_empty() {
            return;
        }
        self.element("h2", "Exchange rates used");
        self.table(&["currency", "month", "source", "units a pound"], 3);
        for used in &heading.rates {
            let (currency, month) = (used.currency.to_string(), used.month.to_string());
            let units = used.rate.units_per_pound.to_string();
            self.row(&[&currency, &month, used.rate.source.as_str(), &units], 3);
        }
        self.end_table();
    }

    fn transactions(&mut self, heading: &Heading<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.element("h2", "Transactions");
        let Some(lines) = heading.transactions() else {
            self.element("p", &too_many(heading));
            return Ok(());
        };
        self.raw("<pre>\n");
        for line in lines {
            let _ = writeln!(self.0, "{}", Escaped(&line));
            self.flush(out)?;
        }
        self.raw("</pre>\n");
        Ok(())
    }
}

/// Source of a leg's shares.
fn origin(leg: &RoundedLeg<'_>, rounding: Rounding) -> String {
    match (leg.leg.acquired, &leg.leg.pool) {
        (Some(date), _) => format!("bought {date}"),
        (None, Some(pool)) => {
            let (shares, cost) = (pool.before.quantity, rounding.text(pool.before.cost));
            format!("pool of {shares} that had cost £{cost}")
        }
        (None, None) => "pool".to_owned(),
    }
}

/// Escapes HTML in its `Display` output.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dsl;
    use crate::engine::report::report;
    use crate::engine::{Options, compute};
    use crate::fx::Rates;
    use crate::parameters::Parameters;

    #[test]
    fn html_report_shows_the_figures_and_escapes_names() {
        let rows = dsl::parse("2024-01-15 BUY A&B 100 @ 150 USD FEES 10 USD\n2024-06-20 SELL A&B 50 @ 180 USD FEES 5 USD\n2024-06-25 BUY A&B 10 @ 170 USD\n2024-07-01 SPOUSE_OUT A&B 5\n2024-08-01 DIVIDEND A&B TOTAL 7\n2024-01-01 SECURITY A&B NAME บริษัท <i>ไทย</i>").unwrap();
        let computation = compute(&rows, &Rates::default(), Options::default()).unwrap();
        let parameters = Parameters::bundled().unwrap();
        let report = report(&computation, parameters, None, Rounding::PerLeg);
        let name = Some("A <b>Person</b>");
        let heading = Heading::of(&report, name, &rows, &Rates::default(), parameters);
        let html = || {
            let mut bytes = Vec::new();
            write(&report, Rounding::PerLeg, &heading, &mut bytes).unwrap();
            String::from_utf8(bytes).unwrap()
        };
        let page = html();
        // The same figures as in the PDF test.
        for word in [
            "994.16",
            "7081.60",
            "1337.63",
            "4745.87",
            "bought 2024-06-25",
            "1.2709",
            "For A &lt;b&gt;Person&lt;/b&gt;",
            "A&amp;B",
            "s.106A",
            "2024/25",
            "Dividends in 2024/25: £7.00",
            "Transfers to the spouse",
            "A&amp;B (บริษัท &lt;i&gt;ไทย&lt;/i&gt;)",
            "2024-06-20 SELL A&amp;B 50 @ 180 USD FEES 5 USD",
            "Entries of form SA108 for 2024/25",
            "Exchange rates used",
        ] {
            assert!(page.contains(word), "{word} is not in it");
        }
        for word in ["<script", "http:", "https:", "url(", "A&B", "<b>"] {
            assert!(!page.contains(word), "{word} is in it");
        }
        assert_eq!(page, html(), "the same page every time");
    }
}
