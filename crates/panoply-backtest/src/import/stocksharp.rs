//! Importer for StockSharp.AdvancedBacktest: JSONL of its debug mode, `{"type": …, "data": …}`.
//!
//! Reads candles, `indicator_NAME`, trades and states. Keys are camel case, times are in seconds
//! or milliseconds. A state's `pnL` is total profit, so realized profit is `pnL` minus
//! `unrealizedPnL`.

use std::io::BufRead;

use super::event_builder::{EventBuilder, parse_timestamp};
use super::records::{RecordOutcome, each_object};
use super::{Import, ImportControl};
use crate::error::LogError;
use crate::event::{EventType, Guid};
use crate::position::decimal;
use crate::scan;

/// Reads lines; `symbol` is the security of lines that name none.
pub fn read(
    source: impl BufRead,
    symbol: &str,
    run: Guid,
    import: &mut Import,
    control: &mut ImportControl<'_>,
) -> Result<(), LogError> {
    let mut reader = Reader { symbol: symbol.to_owned(), run, candle: None, fill: None };
    each_object(source, import, control, |number, json, import| {
        reader.read_event(number, json, import)
    })
}

struct Reader {
    /// The last named security, or the caller's.
    symbol: String,
    run: Guid,
    candle: Option<Guid>,
    fill: Option<Guid>,
}

impl Reader {
    fn read_event(&mut self, number: u64, json: &str, import: &mut Import) -> RecordOutcome {
        let kind = scan::member(json, "type").and_then(|token| token.text());
        let data = scan::member(json, "data").and_then(|token| token.json());
        let (Some(kind), Some(data)) = (kind, data) else {
            return Ok(Err("there is no `type` or no `data`".to_owned()));
        };
        let cell = |name: &str| scan::member(data, name).and_then(|token| token.id_text());
        let number_of = |name: &str| cell(name).unwrap_or_default().into_owned();
        let Some(time) = cell("time").as_deref().and_then(parse_timestamp) else {
            return Ok(Err("there is no `time` in `data`".to_owned()));
        };
        if let Some(symbol) = cell("securityId") {
            self.symbol = symbol.into_owned();
        }
        let (run, symbol) = (self.run, self.symbol.as_str());
        let name = format!("line {number}");
        let about = |event_type| EventBuilder::new(time, event_type).text("SecuritySymbol", symbol);
        match &*kind {
            "candle" => {
                let data: Vec<(&str, String)> = ["Open", "High", "Low", "Close", "Volume"]
                    .into_iter()
                    .map(|title| (title, number_of(&title.to_ascii_lowercase())))
                    .collect();
                let data: Vec<(&str, &str)> =
                    data.iter().map(|(title, value)| (*title, value.as_str())).collect();
                let event = about(EventType::MarketDataEvent).text("DataType", "Candle");
                let id = event.object("Data", &data).send(import, run, number, &name)?;
                self.candle = Some(id);
            }
            "trade" => {
                let order = cell("orderId").unwrap_or_else(|| format!("line-{number}").into());
                let direction = match cell("side").unwrap_or_default().to_ascii_lowercase().as_str()
                {
                    "buy" => "Buy",
                    "sell" => "Sell",
                    other => return Ok(Err(format!("`side` is `{other}`, not buy or sell"))),
                };
                let event = about(EventType::TradeExecution)
                    .parent(self.candle)
                    .order(run, &order)
                    .text("Direction", direction)
                    .number("Quantity", &number_of("volume"))
                    .number("Price", &number_of("price"))
                    .number("PnL", &number_of("pnL"));
                self.fill = Some(event.send(import, run, number, &name)?);
            }
            "state" => {
                let whole = decimal(&number_of("pnL")).unwrap_or_default();
                let open = decimal(&number_of("unrealizedPnL")).unwrap_or_default();
                let Some(realized) = whole.checked_sub(open) else {
                    return Ok(Err("the numbers of this state are too large".to_owned()));
                };
                let event = about(EventType::PositionUpdate)
                    .parent(self.fill.take())
                    .number("Quantity", &number_of("position"))
                    .decimal("UnrealizedPnL", open)
                    .decimal("RealizedPnL", realized);
                let update = event.send(import, run, number, &format!("{name} position"))?;
                EventBuilder::pnl(time, realized, Some(open))
                    .parent(Some(update))
                    .text_if("ProcessState", cell("processState").as_deref())
                    .send(import, run, number, &name)?;
            }
            other => match other.strip_prefix("indicator_") {
                Some(indicator) if !indicator.is_empty() => {
                    about(EventType::IndicatorCalculation)
                        .parent(self.candle)
                        .text("IndicatorName", indicator)
                        .number("Value", &number_of("value"))
                        .send(import, run, number, &name)?;
                }
                _ => return Ok(Err(format!("the type `{other}` is not known"))),
            },
        }
        Ok(Ok(()))
    }
}
