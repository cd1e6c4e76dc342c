//! A NAV series as a picture: SVG without scripts, fonts or anything from outside.

use std::fmt::Write as _;

use jiff::civil::Date;
use rust_decimal::Decimal;

use crate::figures::{count, to_f64};
use crate::fund::Fund;
use crate::nav::{NavPoint, summarise};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 48.0;
const BOTTOM: f64 = 40.0;
/// Horizontal lines.
const LINES: u8 = 4;

/// The last `records` days of a fund.
pub fn svg(fund: &Fund, records: usize) -> String {
    let points = fund.nav.tail(records);
    let summary = summarise(points);
    let title = format!("NAV of {}, {}", fund.symbol, span(points));
    let gained = summary.period_return.map(|gained| format!(", {gained} %")).unwrap_or_default();
    let mut svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" font-family="system-ui, sans-serif" font-size="12"><title>{0}</title><rect width="100%" height="100%" fill="#fff"/><text x="{LEFT}" y="28" font-size="16" fill="#1b1b1b">{0}{1}</text>"##,
        escaped(&title),
        escaped(&gained)
    );
    match (summary.min, summary.max) {
        (Some(low), Some(high)) => draw(&mut svg, points, low, high),
        _ => {
            let _ = write!(svg, r##"<text x="{LEFT}" y="160" fill="#5a5a5a">no NAV yet</text>"##);
        }
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw(svg: &mut String, points: &[NavPoint], low: Decimal, high: Decimal) {
    let (low, high) = (to_f64(low), to_f64(high));
    // A series that never moves is drawn in the middle.
    let spread = if high > low { high - low } else { 1.0 };
    let base = if high > low { low } else { low - 0.5 };
    let y = |nav: f64| TOP + (1.0 - (nav - base) / spread) * (HEIGHT - TOP - BOTTOM);
    let steps = count(points.len().saturating_sub(1).max(1));
    let x = |place: usize| LEFT + count(place) / steps * (WIDTH - LEFT - RIGHT);
    for line in 0..=LINES {
        let nav = base + spread * f64::from(line) / f64::from(LINES);
        let (at, label) = (y(nav), y(nav) + 4.0);
        let _ = write!(
            svg,
            r##"<path d="M{LEFT} {at:.1}H{}" stroke="#e0e0e0"/><text x="{}" y="{label:.1}" text-anchor="end" fill="#5a5a5a">{nav:.4}</text>"##,
            WIDTH - RIGHT,
            LEFT - 8.0
        );
    }
    let path: Vec<String> = points
        .iter()
        .enumerate()
        .map(|(place, point)| format!("{:.1} {:.1}", x(place), y(to_f64(point.nav))))
        .collect();
    let _ = write!(
        svg,
        r##"<path d="M{}" fill="none" stroke="#0b6e4f" stroke-width="2"/>"##,
        path.join("L")
    );
    for (place, anchor) in [(0, "start"), (points.len().saturating_sub(1), "end")] {
        if let Some(point) = points.get(place) {
            let _ = write!(
                svg,
                r##"<circle cx="{:.1}" cy="{:.1}" r="3" fill="#0b6e4f"/><text x="{:.1}" y="{}" text-anchor="{anchor}" fill="#5a5a5a">{} · {}</text>"##,
                x(place),
                y(to_f64(point.nav)),
                x(place),
                HEIGHT - 14.0,
                point.date,
                point.nav
            );
        }
    }
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
    fn a_series_becomes_a_line_with_its_ends_named() {
        let mut fund = samples::fund("A&B<RMF>", 6);
        fund.nav = samples::series(&["10", "11", "10.5"]);
        let picture = svg(&fund, 30);
        assert!(picture.contains("NAV of A&amp;B&lt;RMF&gt;, 2025-11-03 to 2025-11-05, 5 %"));
        assert!(picture.contains("2025-11-05 · 10.5"));
        assert!(picture.contains(r#"d="M64.0 280.0L384.0 48.0L704.0 164.0""#), "{picture}");
    }

    #[test]
    fn every_fund_can_be_drawn() {
        let book = crate::book::Book::bundled().unwrap();
        for fund in book.funds() {
            for records in [1, 2, 365] {
                let picture = svg(fund, records);
                assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"));
                assert!(!picture.contains("NaN") && !picture.contains("inf"), "{}", fund.symbol);
            }
        }
    }
}
