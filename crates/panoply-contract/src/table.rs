//! Plain-text tables, shown below a reply's text.

/// Maximum size of a reply's table: clients display little more.
pub const MAX_TABLE_BYTES: usize = 2048;

/// Rows of text under headings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The headings.
    pub columns: Vec<String>,
    /// The rows; missing cells are shown empty.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with these headings.
    pub fn new(columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { columns: columns.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    #[must_use]
    pub fn row(mut self, cells: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.rows.push(cells.into_iter().map(Into::into).collect());
        self
    }

    /// Renders at most `limit` bytes; omitted rows are counted.
    pub fn render(&self, limit: usize) -> String {
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                cells.chain(self.columns.get(column)).map(|cell| width(cell)).max().unwrap_or(0)
            })
            .collect();
        // Space for the line with the number of omitted rows.
        const COUNT_LINE: usize = 40;
        let mut text = line(&self.columns, &widths);
        for (shown, row) in self.rows.iter().enumerate() {
            let next = line(row, &widths);
            let last = shown + 1 == self.rows.len();
            let room = if last { limit } else { limit.saturating_sub(COUNT_LINE) };
            if text.len() + 1 + next.len() > room {
                text.push_str(&format!("\n… and {} more rows", self.rows.len() - shown));
                break;
            }
            text.push('\n');
            text.push_str(&next);
        }
        text
    }
}

fn line(cells: &[String], widths: &[usize]) -> String {
    let padded: Vec<String> = widths
        .iter()
        .enumerate()
        .map(|(column, wanted)| {
            let cell = cells
                .get(column)
                .map(String::as_str)
                .unwrap_or_default()
                .replace(['\n', '\r', '\t'], " ");
            let padding = " ".repeat(wanted.saturating_sub(width(&cell)));
            cell + &padding
        })
        .collect();
    padded.join("  ").trim_end().to_owned()
}

/// Display width in terminal columns: Thai vowels and tone marks above and below have width zero.
pub fn width(text: &str) -> usize {
    let takes_room = |c: &char| !matches!(c, '\u{0E31}' | '\u{0E34}'..='\u{0E3A}' | '\u{0E47}'..='\u{0E4E}' | '\u{200B}'..='\u{200D}' | '\u{0300}'..='\u{036F}');
    text.chars().filter(takes_room).count()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn columns_align_with_thai_combining_marks() {
        let table = Table::new(["fund", "ชื่อ", "ytd"]).row(["A-RMF", "ทองคำ", "1.5"]).row([
            "LONGER-RMF",
            "หุ้นไทย",
            "-2",
        ]);
        expect![[r#"
            fund        ชื่อ     ytd
            A-RMF       ทองคำ  1.5
            LONGER-RMF  หุ้นไทย  -2"#]]
        .assert_eq(&table.render(MAX_TABLE_BYTES));
    }

    #[test]
    fn omitted_rows_are_counted() {
        let mut table = Table::new(["n"]);
        for n in 0..1000 {
            table.rows.push(vec![n.to_string()]);
        }
        let text = table.render(100);
        assert!(text.len() <= 100, "{}", text.len());
        assert!(text.ends_with("more rows"), "{text}");
    }
}
