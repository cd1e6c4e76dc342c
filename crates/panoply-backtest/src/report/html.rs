//! The HTML report: one self-contained page without scripts, in light and dark.

use std::fmt::Write as _;

use rust_decimal::Decimal;

use super::converted::ConvertedFigures;
use super::{MoneyFigures, Report};
use crate::performance::{CurveSource, Point, Trade};
use crate::position::to_f64;

/// Maximum points of a curve; a screen has no more columns.
const MAX_POINTS: usize = 1200;
/// Maximum trades in the table; the rest are counted.
const MAX_TRADES: usize = 1000;
const WIDTH: f64 = 960.0;
const LEFT: f64 = 104.0;

/// Renders a report as an HTML page.
pub fn render(report: &Report) -> String {
    let title = report.header.strategy_name.as_deref().unwrap_or("Backtest");
    let mut out = String::with_capacity(64 << 10);
    let _ = writeln!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{} – backtest report</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>",
        escape_html(title)
    );
    heading(&mut out, report, title);
    if let Some(converted) = &report.figures.converted {
        converted_cards(&mut out, converted);
    }
    for (figures, curve) in report.figures.currencies.iter().zip(&report.curves) {
        let currency = match figures.currency.as_str() {
            "" => String::new(),
            currency => format!(" in {}", escape_html(currency)),
        };
        summary_cards(&mut out, report, figures);
        let drawn = downsample(curve);
        let title = figures.curve.map_or("Equity", CurveSource::title);
        let _ = writeln!(out, "<h2>{title}{currency}</h2>");
        chart(&mut out, &drawn, 300.0, "line");
        let _ = writeln!(out, "<h2>Drawdown{currency}</h2>");
        chart(&mut out, &drawdowns(&drawn), 140.0, "fall");
    }
    trades(&mut out, report);
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

const STYLE: &str = "
:root{color-scheme:light dark;--ink:#1a1d21;--faint:#68707a;--paper:#fff;--card:#f4f6f8;--rule:#dde2e8;--line:#1f6feb;--good:#15803d;--bad:#c2362f}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ee;--faint:#98a2ae;--paper:#14171b;--card:#1d2127;--rule:#313843;--line:#6ea8fe;--good:#4ade80;--bad:#f98080}}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
main{max-width:1000px;margin:0 auto;padding:24px 20px 60px}
h1{font-size:26px;margin:0}h2{font-size:17px;margin:32px 0 8px}
p{color:var(--faint);margin:4px 0}
dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(200px,1fr));gap:10px;margin:20px 0 0}
dl div{background:var(--card);border-radius:8px;padding:10px 12px}
dt{color:var(--faint);font-size:13px}dd{margin:0;font-size:18px;font-variant-numeric:tabular-nums}
.good{color:var(--good)}.bad{color:var(--bad)}
svg{width:100%;height:auto;display:block}
svg text{fill:var(--faint);font-size:12px}svg .grid{stroke:var(--rule)}
svg .line{fill:none;stroke:var(--line);stroke-width:1.5}
svg .fall{fill:var(--bad);fill-opacity:.2;stroke:var(--bad);stroke-width:1.2}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{padding:5px 10px;border-bottom:1px solid var(--rule);text-align:right;white-space:nowrap}
th{color:var(--faint);font-weight:500;font-size:13px}
th:nth-child(-n+4),td:nth-child(-n+4){text-align:left}
@media print{main{max-width:none}}
";

/// Amounts of all currencies in one, and the rates that made them so.
fn converted_cards(out: &mut String, own: &ConvertedFigures) {
    let currency = escape_html(&own.currency);
    let _ = writeln!(out, "<h2>All amounts in {currency}</h2>\n<dl>");
    for (name, value) in [
        ("Profit", own.profit),
        ("Gross profit", own.gross_profit),
        ("Gross loss", own.gross_loss),
        ("Commissions", own.commissions),
    ] {
        let _ = writeln!(out, "<div><dt>{name}</dt><dd>{value:.2}</dd></div>");
    }
    out.push_str("</dl>\n");
    for rate in &own.rates {
        let (from, source) = (escape_html(&rate.from), escape_html(&rate.source));
        let _ = writeln!(out, "<p>1 {from} = {} {currency}: {source}</p>", rate.rate);
    }
}

fn heading(out: &mut String, report: &Report, title: &str) {
    let figures = &report.figures;
    let _ = writeln!(
        out,
        "<h1>{}</h1>\n<p>{} to {} · {} events{}</p>\n<p>Run {}</p>",
        escape_html(title),
        escape_html(&figures.first),
        escape_html(&figures.last),
        figures.events,
        report
            .header
            .source
            .as_deref()
            .map(|source| format!(" · {}", escape_html(source)))
            .unwrap_or_default(),
        escape_html(&report.run),
    );
}

fn summary_cards(out: &mut String, report: &Report, figures: &MoneyFigures) {
    let change = figures.end - figures.start;
    out.push_str("<dl>\n");
    let mut card = |name: &str, value: String, sign_class: &str| {
        let _ = writeln!(out, "<div><dt>{name}</dt><dd class=\"{sign_class}\">{value}</dd></div>");
    };
    card("Start", amount(figures.start), "");
    card("End", amount(figures.end), "");
    card("Change", signed(change), sign_class(change));
    let share = figures.max_drawdown_percent.map(|share| format!(" ({share:.2} %)"));
    card(
        "Max drawdown",
        format!("{}{}", amount(figures.max_drawdown), share.unwrap_or_default()),
        "",
    );
    card("Trades", figures.trades.to_string(), "");
    card("Won / lost", format!("{} / {}", figures.wins, figures.losses), "");
    let factor = if figures.gross_loss < 0.0 {
        format!("{:.2}", figures.gross_profit / -figures.gross_loss)
    } else {
        "–".to_owned()
    };
    card("Profit factor", factor, "");
    card("Commissions", amount(figures.commissions), "");
    out.push_str("</dl>\n");
    let unusable_fills = report.figures.unusable_fills;
    if figures.open > 0 || unusable_fills > 0 {
        let _ = writeln!(
            out,
            "<p>{} trades are still open at the end; {} fills could not be used.</p>",
            figures.open, unusable_fills
        );
    }
}

/// An SVG chart with five grid lines.
fn chart(out: &mut String, points: &[(i64, f64)], height: f64, class: &str) {
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        out.push_str("<p>No data.</p>\n");
        return;
    };
    let bottom = points.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
    let top = points.iter().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max);
    let range = if top > bottom { top - bottom } else { 1.0 };
    let span = (last.0 - first.0).max(1);
    let x = |time: i64| LEFT + (WIDTH - LEFT - 8.0) * ratio(time - first.0, span);
    let y = |value: f64| 10.0 + (height - 40.0) * (1.0 - (value - bottom) / range);
    let _ = writeln!(out, "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\">");
    for step in 0..5_u8 {
        let value = bottom + range * f64::from(step) / 4.0;
        let level = y(value);
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{level:.1}\" y2=\"{level:.1}\"/>\
             <text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            level + 4.0,
            level_text(value, range)
        );
    }
    let mut path = String::new();
    for (place, (time, value)) in points.iter().enumerate() {
        let letter = if place == 0 { 'M' } else { 'L' };
        let _ = write!(path, "{letter}{:.1} {:.1}", x(*time), y(*value));
    }
    if class == "fall" {
        let _ = write!(path, "L{:.1} {:.1}L{:.1} {:.1}Z", x(last.0), y(top), x(first.0), y(top));
    }
    let _ = writeln!(out, "<path class=\"{class}\" d=\"{path}\"/>");
    // Short periods show the time of day.
    let shown = if span < 4 * 86_400_000_000_000 { 16 } else { 10 };
    let date = |nanos| {
        let text = crate::timestamp::Timestamp::from_nanos(nanos).to_string();
        text.chars().take(shown).collect::<String>().replace('T', " ")
    };
    let foot = height - 8.0;
    let _ = writeln!(
        out,
        "<text x=\"{LEFT}\" y=\"{foot}\">{}</text>\
         <text x=\"{:.0}\" y=\"{foot}\" text-anchor=\"middle\">{}</text>\
         <text x=\"{WIDTH}\" y=\"{foot}\" text-anchor=\"end\">{}</text>\n</svg>",
        date(first.0),
        f64::midpoint(LEFT, WIDTH),
        date(first.0 + span / 2),
        date(last.0)
    );
}

fn trades(out: &mut String, report: &Report) {
    out.push_str("<h2>Trades</h2>\n");
    if report.trades.is_empty() {
        out.push_str("<p>No trade was closed.</p>\n");
        return;
    }
    let left = report.trades.len().saturating_sub(MAX_TRADES);
    if left > 0 {
        let _ = writeln!(out, "<p>The first {MAX_TRADES}; {left} more are in the run.</p>");
    }
    out.push_str("<div class=\"wide\"><table>\n<tr><th>Security</th><th>Side</th><th>Opened</th><th>Closed</th><th>Size</th><th>Entry</th><th>Exit</th><th>Fills</th><th>Profit</th></tr>\n");
    for trade in report.trades.iter().take(MAX_TRADES) {
        row(out, trade);
    }
    out.push_str("</table></div>\n");
}

fn row(out: &mut String, trade: &Trade) {
    let profit = to_f64(trade.profit());
    let _ = writeln!(
        out,
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"{}\">{}</td></tr>",
        escape_html(&trade.symbol),
        if trade.is_long { "long" } else { "short" },
        shown_time(trade.opened),
        trade.closed.map(shown_time).unwrap_or_default(),
        plain(trade.size),
        plain(trade.entry),
        plain(trade.exit),
        trade.fills.len(),
        sign_class(profit),
        signed(profit),
    );
}

fn shown_time(time: crate::timestamp::Timestamp) -> String {
    time.to_string().replace('T', " ").trim_end_matches('Z').to_owned()
}

/// At most [`MAX_POINTS`] points: the minimum and maximum of each bucket, so no peak is lost.
fn downsample(points: &[Point]) -> Vec<(i64, f64)> {
    let all = points.iter().map(|point| (point.time.nanos(), to_f64(point.value)));
    if points.len() <= MAX_POINTS {
        return all.collect();
    }
    let all: Vec<(i64, f64)> = all.collect();
    let bucket_size = all.len().div_ceil(MAX_POINTS / 2);
    let mut sampled = Vec::with_capacity(MAX_POINTS + 2);
    for part in all.chunks(bucket_size) {
        let by_value = |a: &&(i64, f64), b: &&(i64, f64)| a.1.total_cmp(&b.1);
        let ends = [part.iter().min_by(by_value), part.iter().max_by(by_value)];
        let mut ends: Vec<(i64, f64)> = ends.into_iter().flatten().copied().collect();
        ends.sort_by_key(|end| end.0);
        sampled.extend(ends);
    }
    sampled.extend(all.last());
    sampled
}

/// The distance of each point from the running maximum, as numbers below zero.
fn drawdowns(points: &[(i64, f64)]) -> Vec<(i64, f64)> {
    let mut height = f64::NEG_INFINITY;
    let fall = |(time, value): &(i64, f64)| {
        height = height.max(*value);
        (*time, value - height)
    };
    points.iter().map(fall).collect()
}

fn sign_class(value: f64) -> &'static str {
    if value > 0.0 {
        "good"
    } else if value < 0.0 {
        "bad"
    } else {
        ""
    }
}

#[expect(clippy::cast_precision_loss, reason = "a place on a screen")]
fn ratio(part: i64, whole: i64) -> f64 {
    part as f64 / whole as f64
}

fn plain(decimal: Decimal) -> String {
    decimal.round_dp(8).normalize().to_string()
}

fn signed(value: f64) -> String {
    let text = amount(value);
    if value > 0.0 { format!("+{text}") } else { text }
}

/// The label of a grid line, with enough digits to distinguish adjacent ones.
fn level_text(value: f64, range: f64) -> String {
    let digits = match range {
        range if range >= 400.0 => 0,
        range if range >= 4.0 => 2,
        range if range >= 0.04 => 4,
        _ => 8,
    };
    group_thousands(&format!("{value:.digits$}"))
}

/// An amount with two fraction digits, or more if it is small.
fn amount(value: f64) -> String {
    let digits = match value.abs() {
        size if size >= 100.0 || size == 0.0 => 2,
        size if size >= 1.0 => 4,
        _ => 8,
    };
    let text = group_thousands(&format!("{value:.digits$}"));
    if digits > 2 { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Inserts thousands separators and a minus sign of the width of a plus.
fn group_thousands(text: &str) -> String {
    let (sign, text) = text.strip_prefix('-').map_or(("", text), |rest| ("−", rest));
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(a, b)| (a, Some(b)));
    let mut out = sign.to_owned();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

fn escape_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_formatted_with_separators() {
        let cases = [
            (1_234_567.891, "1,234,567.89"),
            (-999.5, "−999.50"),
            (0.0, "0.00"),
            (0.000_012_3, "0.0000123"),
            (1.5, "1.5"),
            (-12.0, "−12"),
        ];
        for (value, expected) in cases {
            assert_eq!(amount(value), expected);
        }
    }

    #[test]
    fn downsampled_curve_keeps_its_extremes() {
        let point = |place: i64| Point {
            time: crate::timestamp::Timestamp::from_nanos(place),
            value: if place == 777 { Decimal::from(999) } else { Decimal::from(place % 7) },
        };
        let points: Vec<Point> = (0..100_000).map(point).collect();
        let sampled = downsample(&points);
        assert!(sampled.len() <= MAX_POINTS + 2, "{}", sampled.len());
        assert!(sampled.iter().any(|(_, value)| (value - 999.0).abs() < 0.5));
        assert!(sampled.is_sorted_by_key(|(time, _)| *time));
    }
}
