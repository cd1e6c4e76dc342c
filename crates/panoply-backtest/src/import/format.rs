//! Detection of a file's format from its first bytes.

use std::fmt;

use serde_json::Value;

use super::vectorbt::is_currency;
use crate::scan::{self, Token};

/// A supported file format.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Format {
    /// The native JSONL of the published contract.
    Native,
    /// nautilus_trader event dicts.
    Nautilus,
    /// A result of freqtrade, as `.zip` or JSON.
    Freqtrade,
    /// Order events of LEAN.
    Lean,
    /// Trades or equity of backtesting.py, as CSV.
    BacktestingPy,
    /// Debug JSONL of StockSharp.AdvancedBacktest.
    StockSharp,
    /// Transactions of backtrader's PyFolio analyzer, or the file of its writer, as CSV.
    Backtrader,
    /// Orders or value of a vectorbt portfolio, as CSV.
    Vectorbt,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 8] = [
        Self::Native,
        Self::Nautilus,
        Self::Freqtrade,
        Self::Lean,
        Self::BacktestingPy,
        Self::StockSharp,
        Self::Backtrader,
        Self::Vectorbt,
    ];

    /// The name on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Nautilus => "nautilus",
            Self::Freqtrade => "freqtrade",
            Self::Lean => "lean",
            Self::BacktestingPy => "backtesting-py",
            Self::StockSharp => "stocksharp",
            Self::Backtrader => "backtrader",
            Self::Vectorbt => "vectorbt",
        }
    }

    /// Detects the format. `head` may be only the start of the file.
    pub fn detect(head: &[u8]) -> Result<Self, UnknownFormat> {
        if head.starts_with(b"PK\x03\x04") {
            return Ok(Self::Freqtrade);
        }
        let text = String::from_utf8_lossy(head);
        let text = text.trim_start_matches('\u{feff}').trim_ascii_start();
        if text.is_empty() {
            return Err(UnknownFormat("the file is empty".to_owned()));
        }
        if text.starts_with("=====") {
            // The writer of backtrader draws a ruler, then the names of the columns.
            let names = text.lines().nth(1).unwrap_or_default();
            if names.starts_with("Id,") {
                return Ok(Self::Backtrader);
            }
        }
        match text.as_bytes().first() {
            Some(b'[') => detect_json(text.trim_start_matches(['[', ' ', '\t', '\r', '\n'])),
            Some(b'{') => detect_json(text),
            _ => detect_csv(text.lines().next().unwrap_or_default()),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The content of a file in no known format.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct UnknownFormat(pub String);

/// By the member names of the first object, which may be truncated.
fn detect_json(text: &str) -> Result<Format, UnknownFormat> {
    let members: Vec<(&str, Token<'_>)> = scan::members(text).take(40).collect();
    let has = |name: &str| members.iter().any(|(known, _)| *known == name);
    let format = if has("eventId") && has("eventType") {
        Format::Native
    } else if has("type") && has("data") {
        Format::StockSharp
    } else if has("type") && (has("event_id") || has("ts_event") || has("ts_init")) {
        Format::Nautilus
    } else if has("status") && (has("orderId") || has("order-id")) {
        Format::Lean
    // The value of `strategy` extends beyond `head`.
    } else if text.trim_start_matches(['{', ' ', '\t', '\r', '\n']).starts_with("\"strategy\"") {
        Format::Freqtrade
    } else {
        let names: Vec<&str> = members.iter().map(|(name, _)| *name).take(12).collect();
        return Err(UnknownFormat(if names.is_empty() {
            "a JSON object that ends before its first member".to_owned()
        } else {
            format!("JSON objects with {}", names.join(", "))
        }));
    };
    Ok(format)
}

/// By column names.
fn detect_csv(line: &str) -> Result<Format, UnknownFormat> {
    let names: Vec<&str> = line.split(',').map(|name| name.trim().trim_matches('"')).collect();
    let has = |name: &str| names.contains(&name);
    if has("EntryTime") && has("ExitTime") && has("Size") || has("Equity") && has("DrawdownPct") {
        return Ok(Format::BacktestingPy);
    }
    if has("amount") && has("price") && has("symbol") && (has("sid") || has("order_id")) {
        return Ok(Format::Backtrader);
    }
    let is_value = names.len() == 2 && names.last() == Some(&"value")
        || names.len() > 1 && names.iter().skip(1).all(|name| is_currency(name));
    if has("Order Id") && has("Side") && has("Fees") || is_value {
        return Ok(Format::Vectorbt);
    }
    let shown: String = line.chars().take(120).collect();
    Err(UnknownFormat(if names.len() > 1 {
        format!("a table with the columns {shown}")
    } else {
        format!("text that begins with {}", Value::from(shown))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_is_detected_from_the_first_bytes() {
        let cases: [(&[u8], Format); 17] = [
            (b"PK\x03\x04rest", Format::Freqtrade),
            (br#"{"strategy":{"S":{"trades":[{"pair":"#, Format::Freqtrade),
            (
                br#"{"eventId":"1","runId":"2","timestamp":"3","eventType":"RiskEvent"}"#,
                Format::Native,
            ),
            (b"\xEF\xBB\xBF\n {\"eventType\":\"x\",\"eventId\":\"1\"}", Format::Native),
            (br#"{"type":"candle","data":{"time":1}}"#, Format::StockSharp),
            (br#"{"type":"AccountState","event_id":"1","ts_event":1}"#, Format::Nautilus),
            (b"[\n  {\"type\": \"OrderFilled\", \"event_id\": \"1\"}, {", Format::Nautilus),
            (br#"[{"id":"a-1-1","orderId":1,"status":"filled"}]"#, Format::Lean),
            (br#"[{"order-id":1,"status":"filled"}]"#, Format::Lean),
            (
                b",Size,EntryBar,ExitBar,EntryPrice,ExitPrice,EntryTime,ExitTime\n0,1",
                Format::BacktestingPy,
            ),
            (b",Equity,DrawdownPct,DrawdownDuration\n", Format::BacktestingPy),
            (b"\"Size\",\"EntryTime\",\"ExitTime\"\n", Format::BacktestingPy),
            (b"date,amount,price,sid,symbol,value\n", Format::Backtrader),
            (b"=======\nId,AAA,len,datetime,open\n", Format::Backtrader),
            (b",Order Id,Column,Timestamp,Size,Price,Fees,Side\n", Format::Vectorbt),
            (b"Date,value\n2024-01-01,100.0\n", Format::Vectorbt),
            (b"Date,JPY,USD\n2024-01-01,100.0,5\n", Format::Vectorbt),
        ];
        for (head, expected) in cases {
            let shown = String::from_utf8_lossy(head);
            assert_eq!(Format::detect(head), Ok(expected), "{shown}");
        }
    }

    #[test]
    fn unknown_format_describes_the_content() {
        let cases: [(&[u8], &str); 5] = [
            (b"", "the file is empty"),
            (b"{\"a\":1,\"b\":2}", "JSON objects with a, b"),
            (b"when,what\n1,2", "a table with the columns when,what"),
            (b"hello", "text that begins with \"hello\""),
            (b"{", "a JSON object that ends before its first member"),
        ];
        for (head, expected) in cases {
            assert_eq!(Format::detect(head).unwrap_err().to_string(), expected);
        }
    }
}
