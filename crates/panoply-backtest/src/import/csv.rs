//! Comma-separated text, as pandas and spreadsheets write it (RFC 4180).

/// The cells of each record, quotes resolved.
pub(crate) fn records(text: &str) -> Vec<Vec<String>> {
    let mut records = Vec::new();
    let (mut record, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => record.push(std::mem::take(&mut cell)),
            '\r' if !quoted => {}
            '\n' if !quoted => {
                record.push(std::mem::take(&mut cell));
                records.push(std::mem::take(&mut record));
            }
            other => cell.push(other),
        }
    }
    if !cell.is_empty() || !record.is_empty() {
        record.push(cell);
        records.push(record);
    }
    records.retain(|record| record.iter().any(|cell| !cell.is_empty()));
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_commas_and_line_ends_inside_cells_are_kept() {
        let text = "a,\"b,\"\"c\"\"\",\r\n\n\"two\nlines\",2,3";
        assert_eq!(records(text), [vec!["a", "b,\"c\"", ""], vec!["two\nlines", "2", "3"]]);
    }
}
