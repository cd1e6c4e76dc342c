//! NAV chart as drawing primitives, and their rendering as self-contained SVG (no scripts, no
//! fonts, no external references). The program renders the same primitives as PNG.

use std::fmt::Write as _;

use jiff::civil::Date;
use rust_decimal::Decimal;

use crate::figures::to_f64;
use crate::fund::Fund;
use crate::nav::{NavPoint, summarise};
use crate::period::Period;

/// Language of the labels.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ChartLanguage {
    /// English, dates as `2025-11-03`.
    #[default]
    English,
    /// Thai, dates as `3/11/2568` of the Buddhist era.
    Thai,
}

impl ChartLanguage {
    const fn pick<'a>(self, english: &'a str, thai: &'a str) -> &'a str {
        match self {
            Self::English => english,
            Self::Thai => thai,
        }
    }

    fn date(self, date: Date) -> String {
        match self {
            Self::English => date.to_string(),
            Self::Thai => format!("{}/{}/{}", date.day(), date.month(), date.year() + 543),
        }
    }
}

/// A chart: its size and its primitives in drawing order.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Accessible title.
    pub title: String,
    /// Width in user units.
    pub width: f64,
    /// Height in user units.
    pub height: f64,
    /// Primitives, bottom layer first.
    pub marks: Vec<Mark>,
}

/// A drawing primitive. The origin is the upper left corner.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// A horizontal grid line.
    Rule {
        /// Left end.
        from: f64,
        /// Right end.
        to: f64,
        /// Vertical position.
        y: f64,
    },
    /// The NAV series as a polyline.
    Line(Vec<(f64, f64)>),
    /// A labelled point of the series.
    Dot(f64, f64),
    /// A text label.
    Text {
        /// Horizontal anchor position.
        x: f64,
        /// Baseline.
        y: f64,
        /// Which end of the text `x` refers to.
        anchor: Anchor,
        /// Size and colour.
        style: TextStyle,
        /// The text.
        text: String,
    },
}

/// Which end of a text its position refers to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Anchor {
    /// The left end.
    Start,
    /// The right end.
    End,
}

/// Size and colour of a text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TextStyle {
    /// Large and dark.
    Heading,
    /// Small and grey.
    Label,
}

/// Colour of the series (RGB).
pub const SERIES: [u8; 3] = [0x0b, 0x6e, 0x4f];
/// Colour of the grid lines (RGB).
pub const RULE: [u8; 3] = [0xe0, 0xe0, 0xe0];

impl TextStyle {
    /// Font size in user units.
    pub const fn size(self) -> f64 {
        match self {
            Self::Heading => 16.0,
            Self::Label => 12.0,
        }
    }

    /// Colour (RGB).
    pub const fn colour(self) -> [u8; 3] {
        match self {
            Self::Heading => [0x1b, 0x1b, 0x1b],
            Self::Label => [0x5a, 0x5a, 0x5a],
        }
    }
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 68.0;
const BOTTOM: f64 = 40.0;
/// Number of grid intervals.
const LINES: u8 = 4;

/// Builds the chart of the last `records` NAVs of a fund. `latin` leaves out what a font without
/// Thai letters cannot show.
pub fn nav_chart(fund: &Fund, records: usize, language: ChartLanguage, latin: bool) -> Chart {
    let points = fund.nav.tail(records);
    let summary = summarise(points);
    let title = format!(
        "{} {}, {}",
        language.pick("NAV of", "NAV ของ"),
        fund.symbol,
        span(points, language)
    );
    let gained = summary.period_return.map(|gained| format!(", {:+.2} %", to_f64(gained)));
    let gained = gained.unwrap_or_default();
    let heading = Mark::Text {
        x: LEFT,
        y: 28.0,
        anchor: Anchor::Start,
        style: TextStyle::Heading,
        text: format!("{title}{gained}"),
    };
    let name = match language {
        ChartLanguage::English => &fund.name,
        ChartLanguage::Thai => fund.name_th.as_ref().unwrap_or(&fund.name),
    };
    let mut marks = vec![heading, label(LEFT, 42.0, Anchor::Start, name.clone())];
    marks.extend(
        benchmark(fund, language, latin).map(|text| label(LEFT, 56.0, Anchor::Start, text)),
    );
    match (summary.min, summary.max) {
        (Some(low), Some(high)) => draw(&mut marks, points, low, high, language),
        _ => {
            let none = language.pick("no NAV yet", "ยังไม่มี NAV").to_owned();
            marks.push(label(LEFT, 160.0, Anchor::Start, none));
        }
    }
    Chart { title, width: WIDTH, height: HEIGHT, marks }
}

/// The benchmark and the returns over a year: its daily values are not published.
fn benchmark(fund: &Fund, language: ChartLanguage, latin: bool) -> Option<String> {
    let name = fund.benchmark.name.as_deref()?;
    let name: String = name.chars().filter(|c| !latin || c.is_ascii()).collect();
    let returns = [
        (language.pick("benchmark", "ดัชนีชี้วัด"), fund.benchmark.returns.get(Period::Y1)),
        (language.pick("fund", "กองทุน"), fund.returns.get(Period::Y1)),
    ];
    let returns: Vec<String> = returns
        .into_iter()
        .filter_map(|(what, value)| Some(format!("{what} {:+.2} %", to_f64(value?))))
        .collect();
    let over = match (fund.benchmark.as_of, returns.is_empty()) {
        (Some(date), false) => format!(
            ": {} ({} {})",
            returns.join(", "),
            language.pick("1 year to", "1 ปี ถึง"),
            language.date(date)
        ),
        _ => String::new(),
    };
    let name = name.trim();
    (!name.is_empty()).then(|| format!("{} {name}{over}", language.pick("Benchmark", "ดัชนีชี้วัด")))
}

fn draw(
    marks: &mut Vec<Mark>,
    points: &[NavPoint],
    low: Decimal,
    high: Decimal,
    language: ChartLanguage,
) {
    let (low, high) = (to_f64(low), to_f64(high));
    // A constant series is drawn in the middle.
    let spread = if high > low { high - low } else { 1.0 };
    let base = if high > low { low } else { low - 0.5 };
    let y = |nav: f64| TOP + (1.0 - (nav - base) / spread) * (HEIGHT - TOP - BOTTOM);
    // The axis is time: a gap of months is as wide as it was long.
    let days = |point: &NavPoint| {
        points.first().map_or(0.0, |first| f64::from((point.date - first.date).get_days()))
    };
    let length = points.last().map_or(0.0, days).max(1.0);
    let x = |point: &NavPoint| LEFT + days(point) / length * (WIDTH - LEFT - RIGHT);
    for line in 0..=LINES {
        let nav = base + spread * f64::from(line) / f64::from(LINES);
        marks.push(Mark::Rule { from: LEFT, to: WIDTH - RIGHT, y: y(nav) });
        marks.push(label(LEFT - 8.0, y(nav) + 4.0, Anchor::End, format!("{nav:.4}")));
    }
    let path = points.iter().map(|point| (x(point), y(to_f64(point.nav)))).collect();
    marks.push(Mark::Line(path));
    let last = points.last().filter(|_| points.len() > 1);
    for (point, anchor) in [(points.first(), Anchor::Start), (last, Anchor::End)] {
        if let Some(point) = point {
            marks.push(Mark::Dot(x(point), y(to_f64(point.nav))));
            let text = format!("{} · {:.4}", language.date(point.date), to_f64(point.nav));
            marks.push(label(x(point), HEIGHT - 14.0, anchor, text));
        }
    }
}

const fn label(x: f64, y: f64, anchor: Anchor, text: String) -> Mark {
    Mark::Text { x, y, anchor, style: TextStyle::Label, text }
}

/// Renders a chart as SVG.
pub fn svg(chart: &Chart) -> String {
    let Chart { title, width, height, marks } = chart;
    let mut svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" font-family="system-ui, sans-serif"><title>{}</title><rect width="100%" height="100%" fill="#fff"/>"##,
        escaped(title)
    );
    for mark in marks {
        // Writing to a `String` cannot fail.
        let _ = match mark {
            Mark::Rule { from, to, y } => {
                write!(svg, r#"<path d="M{from} {y:.1}H{to}" stroke="{}"/>"#, hex(RULE))
            }
            Mark::Line(points) => {
                let path: Vec<String> =
                    points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
                let (path, colour) = (path.join("L"), hex(SERIES));
                write!(svg, r#"<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>"#)
            }
            Mark::Dot(x, y) => {
                write!(svg, r#"<circle cx="{x:.1}" cy="{y:.1}" r="3" fill="{}"/>"#, hex(SERIES))
            }
            Mark::Text { x, y, anchor, style, text } => {
                let end = match anchor {
                    Anchor::Start => "",
                    Anchor::End => r#" text-anchor="end""#,
                };
                let (size, colour, text) = (style.size(), hex(style.colour()), escaped(text));
                write!(
                    svg,
                    r#"<text x="{x:.1}" y="{y:.1}" font-size="{size}"{end} fill="{colour}">{text}</text>"#
                )
            }
        };
    }
    svg.push_str("</svg>\n");
    svg
}

fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn span(points: &[NavPoint], language: ChartLanguage) -> String {
    let day = |point: Option<&NavPoint>| point.map(|point: &NavPoint| -> Date { point.date });
    match (day(points.first()), day(points.last())) {
        (Some(first), Some(last)) => {
            let to = language.pick("to", "ถึง");
            format!("{} {to} {}", language.date(first), language.date(last))
        }
        _ => language.pick("no day", "ไม่มีข้อมูล").to_owned(),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn nav_chart_draws_the_series_and_labels_its_ends() {
        let mut fund = samples::fund("A&B<RMF>", 6);
        fund.nav = samples::series(&["10", "11", "10.5"]);
        let svg_text = svg(&nav_chart(&fund, 30, ChartLanguage::English, false));
        assert!(svg_text.contains("NAV of A&amp;B&lt;RMF&gt;, 2025-11-03 to 2025-11-05, +5.00 %"));
        assert!(svg_text.contains("2025-11-05 · 10.5000"));
        assert!(svg_text.contains(r#"d="M64.0 300.0L384.0 68.0L704.0 184.0""#), "{svg_text}");
    }

    #[test]
    fn thai_chart_has_thai_names_and_years() {
        let catalog = crate::catalog::FundCatalog::bundled().unwrap();
        let fund = catalog.find("ABAPAC-RMF").unwrap();
        let thai = svg(&nav_chart(fund, 30, ChartLanguage::Thai, false));
        assert!(thai.contains("NAV ของ ABAPAC-RMF, 26/9/2568 ถึง 7/11/2568"), "{thai}");
        assert!(thai.contains("อเบอร์ดีน เอเชีย แปซิฟิค"), "{thai}");
        // The source's figures: benchmark 16.28 and fund 6.65 over a year to 30 September 2025.
        let beside =
            "MSCI AC Asia-Pacific ex Japan: ดัชนีชี้วัด +16.28 %, กองทุน +6.65 % (1 ปี ถึง 30/9/2568)";
        assert!(thai.contains(beside), "{thai}");
        let latin = svg(&nav_chart(fund, 30, ChartLanguage::English, true));
        let beside = "Benchmark MSCI AC Asia-Pacific ex Japan: benchmark +16.28 %, fund +6.65 % (1 year to 2025-09-30)";
        assert!(latin.contains(beside), "{latin}");
        assert!(latin.is_ascii() || !latin.chars().any(|c| ('\u{0E00}'..='\u{0E7F}').contains(&c)));
    }

    #[test]
    fn every_bundled_fund_has_a_chart() {
        let catalog = crate::catalog::FundCatalog::bundled().unwrap();
        for fund in catalog.funds() {
            for records in [1, 2, 365] {
                let svg_text = svg(&nav_chart(fund, records, ChartLanguage::Thai, false));
                assert!(svg_text.starts_with("<svg") && svg_text.ends_with("</svg>\n"));
                assert!(!svg_text.contains("NaN") && !svg_text.contains("inf"), "{}", fund.symbol);
            }
        }
    }
}
