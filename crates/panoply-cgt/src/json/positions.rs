//! Positions of the elements of a JSON array in its text, for error locations. `serde_json` does
//! not report them for valid values.

/// Text and byte range of each element of the outer array.
pub(crate) struct ElementPositions<'a> {
    text: &'a str,
    elements: Vec<(usize, usize)>,
    /// Byte offset of each line.
    lines: Vec<usize>,
}

/// One element; without text, only its number.
#[derive(Clone, Copy)]
pub(crate) struct Element<'a> {
    positions: &'a ElementPositions<'a>,
    index: usize,
}

impl<'a> ElementPositions<'a> {
    /// Without text: elements have numbers only.
    pub(super) const fn none() -> Self {
        Self { text: "", elements: Vec::new(), lines: Vec::new() }
    }

    /// Elements of a text that is a valid JSON array.
    pub(super) fn of(text: &'a str) -> Self {
        Self::from(text, 0)
    }

    /// Elements of the array under `name`.
    pub(crate) fn of_member(text: &'a str, name: &str) -> Self {
        let quoted = format!("\"{name}\"");
        let after_name = text.find(&quoted).map(|start| start + quoted.len());
        let array = after_name.and_then(|from| Some(from + text.get(from..)?.find('[')?));
        Self::from(text, array.unwrap_or(text.len()))
    }

    /// Scans the array that starts at byte `from`.
    fn from(text: &'a str, from: usize) -> Self {
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0).chain(newlines.map(|(offset, _)| offset + 1)).collect();
        let mut elements = Vec::new();
        let (mut depth, mut start, mut in_string, mut escaped) = (0_usize, None, false, false);
        for (position, byte) in text.bytes().enumerate().skip(from) {
            if in_string {
                match byte {
                    _ if escaped => escaped = false,
                    b'\\' => escaped = true,
                    b'"' => in_string = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => in_string = true,
                b'[' | b'{' => {
                    depth += 1;
                }
                b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            let inside = depth >= 1 && !byte.is_ascii_whitespace();
            match (start, byte) {
                (None, b'[') if depth == 1 => {}
                (Some(from), b',') if depth == 1 => {
                    elements.push((from, position));
                    start = None;
                }
                (start, b']') if depth == 0 => {
                    elements.extend(start.map(|from| (from, position)));
                    break;
                }
                (None, b',') => {}
                (None, _) if inside => start = Some(position),
                _ => {}
            }
        }
        Self { text, elements, lines }
    }

    pub(crate) const fn element(&'a self, index: usize) -> Element<'a> {
        Element { positions: self, index }
    }
}

impl Element<'_> {
    /// Line of the element; its number without text.
    pub(crate) fn line(self) -> u32 {
        match self.span() {
            Some((start, _)) => self.line_at(start).0,
            None => u32::try_from(self.index + 1).unwrap_or(u32::MAX),
        }
    }

    /// Line, column and source line of a member; of the element when it has no such member.
    pub(super) fn member(self, name: Option<&str>) -> (u32, u32, String) {
        let Some((start, end)) = self.span() else { return (self.line(), 1, String::new()) };
        let body = self.positions.text.get(start..end).unwrap_or_default();
        let quoted = name.map(|name| format!("\"{name}\""));
        let offset = quoted.and_then(|quoted| body.find(&quoted)).unwrap_or(0);
        let (line, line_start) = self.line_at(start + offset);
        let before = self.positions.text.get(line_start..start + offset).unwrap_or_default();
        let column = u32::try_from(before.chars().count() + 1).unwrap_or(u32::MAX);
        let source = self.positions.text.get(line_start..).unwrap_or_default();
        (line, column, source.lines().next().unwrap_or_default().to_owned())
    }

    fn span(self) -> Option<(usize, usize)> {
        self.positions.elements.get(self.index).copied()
    }

    /// Number and start of the line at `byte`.
    fn line_at(self, byte: usize) -> (u32, usize) {
        let number = self.positions.lines.partition_point(|start| *start <= byte);
        let start = self.positions.lines.get(number.saturating_sub(1)).copied().unwrap_or(0);
        (u32::try_from(number).unwrap_or(u32::MAX), start)
    }
}
