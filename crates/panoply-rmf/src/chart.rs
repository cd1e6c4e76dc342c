//! A NAV series as a picture: marks on a sheet, and the sheet as SVG without scripts, fonts or
//! anything from outside. The program makes a PNG of the same marks.

use std::fmt::Write as _;

use jiff::civil::Date;
use rust_decimal::Decimal;

use crate::figures::{count, to_f64};
use crate::fund::Fund;
use crate::nav::{NavPoint, summarise};

/// A picture: where it is drawn and what is drawn, in this order.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// What it shows, for those who do not see it.
    pub title: String,
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
    /// What is drawn, the first below the others.
    pub marks: Vec<Mark>,
}

/// Something drawn. Places are counted from the upper left corner.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// A thin line across.
    Rule {
        /// Its left end.
        from: f64,
        /// Its right end.
        to: f64,
        /// How far down.
        y: f64,
    },
    /// The series.
    Line(Vec<(f64, f64)>),
    /// A point of the series that is named.
    Dot(f64, f64),
    /// Writing.
    Text {
        /// Where it is fastened.
        x: f64,
        /// Its base line.
        y: f64,
        /// Which end of it is fastened.
        anchor: Anchor,
        /// Whether it is the heading.
        ink: Ink,
        /// What it says.
        text: String,
    },
}

/// Which end of a text is fastened at its place.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Anchor {
    /// The left one.
    Start,
    /// The right one.
    End,
}

/// How a text is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ink {
    /// Large and dark.
    Heading,
    /// Small and grey.
    Label,
}

/// The line and its points, as red, green and blue.
pub const SERIES: [u8; 3] = [0x0b, 0x6e, 0x4f];
/// The thin lines.
pub const RULE: [u8; 3] = [0xe0, 0xe0, 0xe0];

impl Ink {
    /// Its size.
    pub const fn size(self) -> f64 {
        match self {
            Self::Heading => 16.0,
            Self::Label => 12.0,
        }
    }

    /// Its colour, as red, green and blue.
    pub const fn colour(self) -> [u8; 3] {
        match self {
            Self::Heading => [0x1b, 0x1b, 0x1b],
            Self::Label => [0x5a, 0x5a, 0x5a],
        }
    }
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 48.0;
const BOTTOM: f64 = 40.0;
/// Horizontal lines.
const LINES: u8 = 4;

/// The last `records` days of a fund.
pub fn picture(fund: &Fund, records: usize) -> Picture {
    let points = fund.nav.tail(records);
    let summary = summarise(points);
    let title = format!("NAV of {}, {}", fund.symbol, span(points));
    let gained = summary.period_return.map(|gained| format!(", {gained} %")).unwrap_or_default();
    let heading = Mark::Text {
        x: LEFT,
        y: 28.0,
        anchor: Anchor::Start,
        ink: Ink::Heading,
        text: format!("{title}{gained}"),
    };
    let mut marks = vec![heading];
    match (summary.min, summary.max) {
        (Some(low), Some(high)) => draw(&mut marks, points, low, high),
        _ => marks.push(label(LEFT, 160.0, Anchor::Start, "no NAV yet".to_owned())),
    }
    Picture { title, width: WIDTH, height: HEIGHT, marks }
}

fn draw(marks: &mut Vec<Mark>, points: &[NavPoint], low: Decimal, high: Decimal) {
    let (low, high) = (to_f64(low), to_f64(high));
    // A series that never moves is drawn in the middle.
    let spread = if high > low { high - low } else { 1.0 };
    let base = if high > low { low } else { low - 0.5 };
    let y = |nav: f64| TOP + (1.0 - (nav - base) / spread) * (HEIGHT - TOP - BOTTOM);
    let steps = count(points.len().saturating_sub(1).max(1));
    let x = |place: usize| LEFT + count(place) / steps * (WIDTH - LEFT - RIGHT);
    for line in 0..=LINES {
        let nav = base + spread * f64::from(line) / f64::from(LINES);
        marks.push(Mark::Rule { from: LEFT, to: WIDTH - RIGHT, y: y(nav) });
        marks.push(label(LEFT - 8.0, y(nav) + 4.0, Anchor::End, format!("{nav:.4}")));
    }
    let path =
        points.iter().enumerate().map(|(place, point)| (x(place), y(to_f64(point.nav)))).collect();
    marks.push(Mark::Line(path));
    for (place, anchor) in [(0, Anchor::Start), (points.len().saturating_sub(1), Anchor::End)] {
        if let Some(point) = points.get(place) {
            marks.push(Mark::Dot(x(place), y(to_f64(point.nav))));
            let text = format!("{} · {}", point.date, point.nav);
            marks.push(label(x(place), HEIGHT - 14.0, anchor, text));
        }
    }
}

const fn label(x: f64, y: f64, anchor: Anchor, text: String) -> Mark {
    Mark::Text { x, y, anchor, ink: Ink::Label, text }
}

/// The picture as SVG.
pub fn svg(picture: &Picture) -> String {
    let Picture { title, width, height, marks } = picture;
    let mut svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" font-family="system-ui, sans-serif"><title>{}</title><rect width="100%" height="100%" fill="#fff"/>"##,
        escaped(title)
    );
    for mark in marks {
        // Writing into a string cannot fail.
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
            Mark::Text { x, y, anchor, ink, text } => {
                let end = match anchor {
                    Anchor::Start => "",
                    Anchor::End => r#" text-anchor="end""#,
                };
                let (size, colour, text) = (ink.size(), hex(ink.colour()), escaped(text));
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

fn span(points: &[NavPoint]) -> String {
    let day = |point: Option<&NavPoint>| point.map(|point: &NavPoint| -> Date { point.date });
    match (day(points.first()), day(points.last())) {
        (Some(first), Some(last)) => format!("{first} to {last}"),
        _ => "no day".to_owned(),
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
        let picture = svg(&picture(&fund, 30));
        assert!(picture.contains("NAV of A&amp;B&lt;RMF&gt;, 2025-11-03 to 2025-11-05, 5 %"));
        assert!(picture.contains("2025-11-05 · 10.5"));
        assert!(picture.contains(r#"d="M64.0 280.0L384.0 48.0L704.0 164.0""#), "{picture}");
    }

    #[test]
    fn every_bundled_fund_has_a_chart() {
        let book = crate::book::Book::bundled().unwrap();
        for fund in book.funds() {
            for records in [1, 2, 365] {
                let picture = svg(&picture(fund, records));
                assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"));
                assert!(!picture.contains("NaN") && !picture.contains("inf"), "{}", fund.symbol);
            }
        }
    }
}
