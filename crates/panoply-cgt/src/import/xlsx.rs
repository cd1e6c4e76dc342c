//! Excel workbooks (ECMA-376) as CSV: the sheets in order, one below the other, dates in ISO format.
//!
//! Only values are read: shared and inline strings, numbers, and numbers whose style is a date.

use std::fmt::Write as _;
use std::io::{Cursor, Read as _};

use jiff::ToSpan;
use jiff::civil::date;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use zip::ZipArchive;

use super::decode::DecodeError;

/// Limit of an unpacked part, against archives that unpack to more than memory.
const MAX_PART_BYTES: u64 = 64 << 20;
const MAX_SHEETS: usize = 50;
/// A row or cell beyond these does not occur in a statement.
const MAX_COLUMNS: usize = 1_000;

/// Converts a workbook.
pub(super) fn as_csv(bytes: &[u8]) -> Result<String, DecodeError> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| bad(&error))?;
    let strings = match part(&mut archive, "xl/sharedStrings.xml")? {
        Some(xml) => shared_strings(&xml)?,
        None => Vec::new(),
    };
    let styles = part(&mut archive, "xl/styles.xml")?.unwrap_or_default();
    let dates = date_styles(&styles)?;
    let mut csv = String::new();
    let mut any = false;
    for number in 1..=MAX_SHEETS {
        let Some(xml) = part(&mut archive, &format!("xl/worksheets/sheet{number}.xml"))? else {
            continue;
        };
        any = true;
        sheet(&xml, &strings, &dates, &mut csv)?;
        csv.push('\n');
    }
    if any { Ok(csv) } else { Err(DecodeError::Workbook("it has no sheets".to_owned())) }
}

fn bad(error: &dyn std::fmt::Display) -> DecodeError {
    DecodeError::Workbook(error.to_string())
}

fn part(
    archive: &mut ZipArchive<Cursor<&[u8]>>,
    name: &str,
) -> Result<Option<String>, DecodeError> {
    let Ok(file) = archive.by_name(name) else { return Ok(None) };
    let mut text = String::new();
    let mut limited = file.take(MAX_PART_BYTES + 1);
    limited.read_to_string(&mut text).map_err(|error| bad(&error))?;
    if u64::try_from(text.len()).unwrap_or(u64::MAX) > MAX_PART_BYTES {
        return Err(DecodeError::Workbook(format!("`{name}` is too large")));
    }
    Ok(Some(text))
}

/// Texts of the shared string table; formatted runs of one string are joined.
fn shared_strings(xml: &str) -> Result<Vec<String>, DecodeError> {
    let mut reader = Reader::from_str(xml);
    let mut strings = Vec::new();
    let mut current: Option<String> = None;
    let mut in_text = false;
    loop {
        match reader.read_event().map_err(|error| bad(&error))? {
            Event::Start(tag) => match tag.local_name().into_inner() {
                "si" => current = Some(String::new()),
                "t" => in_text = true,
                _ => {}
            },
            Event::End(tag) => match tag.local_name().into_inner() {
                "si" => strings.extend(current.take()),
                "t" => in_text = false,
                _ => {}
            },
            event => {
                if in_text && let Some(current) = &mut current {
                    append_text(&event, current);
                }
                if matches!(event, Event::Eof) {
                    return Ok(strings);
                }
            }
        }
    }
}

/// Whether each cell style is a date.
fn date_styles(xml: &str) -> Result<Vec<bool>, DecodeError> {
    let mut reader = Reader::from_str(xml);
    let mut custom: Vec<String> = Vec::new();
    let mut styles = Vec::new();
    let mut in_cell_formats = false;
    loop {
        match reader.read_event().map_err(|error| bad(&error))? {
            Event::Start(tag) | Event::Empty(tag) => match tag.local_name().into_inner() {
                "numFmt" if is_date_format(&attribute(&tag, "formatCode")) => {
                    custom.push(attribute(&tag, "numFmtId"));
                }
                "cellXfs" => in_cell_formats = true,
                "xf" if in_cell_formats => {
                    let format = attribute(&tag, "numFmtId");
                    let built_in =
                        format.parse::<u32>().is_ok_and(|id| matches!(id, 14..=22 | 45..=47));
                    styles.push(built_in || custom.contains(&format));
                }
                _ => {}
            },
            Event::End(tag) if tag.local_name().into_inner() == "cellXfs" => {
                in_cell_formats = false;
            }
            Event::Eof => return Ok(styles),
            _ => {}
        }
    }
}

/// Quoted text and colours of a format are not date letters.
fn is_date_format(code: &str) -> bool {
    let mut plain = String::new();
    let (mut quoted, mut bracketed) = (false, false);
    for c in code.chars() {
        match c {
            '"' => quoted = !quoted,
            '[' => bracketed = true,
            ']' => bracketed = false,
            c if !quoted && !bracketed => plain.push(c.to_ascii_lowercase()),
            _ => {}
        }
    }
    plain.contains('y') || plain.contains("dd") || plain.contains("mmm")
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> String {
    let found =
        tag.attributes().filter_map(Result::ok).find(|found| found.key.into_inner() == name);
    let value = found.and_then(|found| {
        found.normalized_value(XmlVersion::Implicit1_0).ok().map(std::borrow::Cow::into_owned)
    });
    value.unwrap_or_default()
}

fn append_text(event: &Event<'_>, into: &mut String) {
    match event {
        Event::Text(text) => into.push_str(text),
        Event::GeneralRef(name) => into.push_str(match &**name {
            "amp" => "&",
            "lt" => "<",
            "gt" => ">",
            "quot" => "\"",
            "apos" => "'",
            _ => "?",
        }),
        _ => {}
    }
}

/// A cell that is being read.
#[derive(Default)]
struct Cell {
    column: usize,
    kind: String,
    is_date: bool,
    text: String,
}

fn sheet(
    xml: &str,
    strings: &[String],
    dates: &[bool],
    csv: &mut String,
) -> Result<(), DecodeError> {
    let mut reader = Reader::from_str(xml);
    let mut row: Vec<String> = Vec::new();
    let mut cell: Option<Cell> = None;
    let mut in_value = false;
    loop {
        match reader.read_event().map_err(|error| bad(&error))? {
            Event::Start(tag) => match tag.local_name().into_inner() {
                "row" => row.clear(),
                "c" => {
                    let style = attribute(&tag, "s").parse::<usize>().unwrap_or(0);
                    cell = Some(Cell {
                        column: column(&attribute(&tag, "r")).unwrap_or(row.len()),
                        kind: attribute(&tag, "t"),
                        is_date: dates.get(style).copied().unwrap_or(false),
                        text: String::new(),
                    });
                }
                "v" | "t" => in_value = true,
                _ => {}
            },
            Event::End(tag) => match tag.local_name().into_inner() {
                "row" => {
                    write_row(&row, csv);
                    // A long shared string may be repeated in every cell.
                    if u64::try_from(csv.len()).unwrap_or(u64::MAX) > MAX_PART_BYTES {
                        return Err(DecodeError::Workbook("it is too large".to_owned()));
                    }
                }
                "c" => {
                    if let Some(cell) = cell.take().filter(|cell| cell.column < MAX_COLUMNS) {
                        row.resize(row.len().max(cell.column + 1), String::new());
                        if let Some(place) = row.get_mut(cell.column) {
                            *place = value(&cell, strings);
                        }
                    }
                }
                "v" | "t" => in_value = false,
                _ => {}
            },
            Event::Eof => return Ok(()),
            event => {
                if in_value && let Some(cell) = &mut cell {
                    append_text(&event, &mut cell.text);
                }
            }
        }
    }
}

fn value(cell: &Cell, strings: &[String]) -> String {
    match cell.kind.as_str() {
        "s" => {
            let index = cell.text.trim().parse::<usize>().ok();
            index.and_then(|index| strings.get(index)).cloned().unwrap_or_default()
        }
        "" | "n" if cell.is_date => iso_date(cell.text.trim()).unwrap_or_else(|| cell.text.clone()),
        "" | "n" => plain_number(cell.text.trim()),
        _ => cell.text.clone(),
    }
}

/// Excel counts days from 30 December 1899; the fraction is the time of day.
fn iso_date(serial: &str) -> Option<String> {
    let (days, fraction) = serial.split_once('.').unwrap_or((serial, ""));
    let day = date(1899, 12, 30).checked_add(days.parse::<i32>().ok()?.days()).ok()?;
    let fraction: rust_decimal::Decimal = format!("0.{fraction}0").parse().ok()?;
    let seconds = (fraction * rust_decimal::Decimal::from(86_400)).round();
    let seconds: i64 = seconds.to_string().parse().ok()?;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    Some(match seconds {
        0 => day.to_string(),
        _ => format!("{day} {hour:02}:{minute:02}:{second:02}"),
    })
}

/// Excel stores binary fractions: `68.840000000000003` is 68.84. Fifteen digits are significant.
fn plain_number(text: &str) -> String {
    let Ok(number) = rust_decimal::Decimal::from_scientific(text).or_else(|_| text.parse()) else {
        return text.to_owned();
    };
    number.round_sf(15).unwrap_or(number).normalize().to_string()
}

/// Column of a cell reference: `B7` is 1.
fn column(reference: &str) -> Option<usize> {
    let letters = reference.bytes().take_while(u8::is_ascii_alphabetic);
    let number = letters.fold(0_usize, |number, letter| {
        let digit = usize::from(letter.to_ascii_uppercase() - b'A') + 1;
        number.saturating_mul(26).saturating_add(digit)
    });
    number.checked_sub(1)
}

fn write_row(row: &[String], csv: &mut String) {
    for (index, field) in row.iter().enumerate() {
        if index > 0 {
            csv.push(',');
        }
        let _ = match field.contains(['"', ',', '\n', '\r']) {
            true => write!(csv, "\"{}\"", field.replace('"', "\"\"")),
            false => write!(csv, "{field}"),
        };
    }
    csv.push('\n');
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Write as _;

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    /// A workbook with one sheet, as Excel writes it: shared strings, a date style, numbers.
    pub(in super::super) fn workbook(strings: &[&str], rows: &str) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        let shared: String = strings.iter().map(|text| format!("<si><t>{text}</t></si>")).collect();
        for (name, text) in [
            ("xl/sharedStrings.xml", format!("<sst>{shared}</sst>")),
            ("xl/styles.xml", "<styleSheet><numFmts><numFmt numFmtId=\"170\" formatCode=\"dd/mm/yyyy\"/></numFmts><cellStyleXfs><xf numFmtId=\"14\"/></cellStyleXfs><cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"170\"/></cellXfs></styleSheet>".to_owned()),
            ("xl/worksheets/sheet1.xml", format!("<worksheet><sheetData>{rows}</sheetData></worksheet>")),
        ] {
            zip.start_file(name, SimpleFileOptions::default()).unwrap();
            zip.write_all(text.as_bytes()).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }

    #[test]
    fn workbook_becomes_csv_with_iso_dates() {
        let bytes = workbook(
            &["Date", "S&amp;P 500, Dist"],
            "<row r=\"1\"><c r=\"A1\" t=\"s\"><v>0</v></c><c r=\"C1\" t=\"inlineStr\"><is><t>Price</t></is></c></row>\
             <row r=\"2\"><c r=\"A2\" s=\"1\"><v>45306</v></c><c r=\"B2\" t=\"s\"><v>1</v></c><c r=\"C2\"><v>68.840000000000003</v></c></row>\
             <row r=\"3\"><c r=\"A3\" s=\"1\"><v>45306.5</v></c><c r=\"C3\"><v>1.5E-2</v></c></row>",
        );
        // 45306 is 15 January 2024.
        assert_eq!(
            as_csv(&bytes).unwrap(),
            "Date,,Price\n2024-01-15,\"S&P 500, Dist\",68.84\n2024-01-15 12:00:00,,0.015\n\n"
        );
    }
}
