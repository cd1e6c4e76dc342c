//! Lists that fit into a reply: as many as were asked for, and no more than there is room for.

use serde::Serialize;

/// About 17,000 tokens. The rest of a reply's room is for what stands around the list.
pub(super) const ROOM: usize = 66_000;

/// Which part of a list is shown, and how to go on.
#[derive(Clone, Copy, Debug, Serialize, panoply_contract::schemars::JsonSchema)]
#[schemars(crate = "panoply_contract::schemars")]
pub(super) struct Page {
    /// How many there are in all.
    pub(super) total: usize,
    /// How many were skipped.
    pub(super) offset: usize,
    /// How many are shown.
    pub(super) shown: usize,
    /// The `offset` that continues; null when this is the end.
    pub(super) next_offset: Option<usize>,
}

/// The items of a page and what is left. At least one is shown where there is one.
pub(super) fn fit<T: Serialize>(
    items: impl ExactSizeIterator<Item = T>,
    offset: usize,
    limit: Option<usize>,
    room: usize,
) -> (Vec<T>, Page) {
    let total = items.len();
    let mut shown = Vec::new();
    let mut bytes = 0;
    for item in items.skip(offset).take(limit.unwrap_or(usize::MAX)) {
        bytes += serde_json::to_string(&item).map_or(0, |text| text.len() + 1);
        if bytes > room && !shown.is_empty() {
            break;
        }
        shown.push(item);
    }
    let end = offset.saturating_add(shown.len());
    let page =
        Page { total, offset, shown: shown.len(), next_offset: (end < total).then_some(end) };
    (shown, page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_ends_at_the_byte_budget() {
        let items = || (0..10).map(|number| format!("{number:08}"));
        let cases = [
            (0, None, 1000, 10, None),
            (0, Some(3), 1000, 3, Some(3)),
            (8, Some(3), 1000, 2, None),
            (0, None, 33, 3, Some(3)),
            (0, None, 1, 1, Some(1)),
            (50, None, 1000, 0, None),
        ];
        for (offset, limit, room, shown, next) in cases {
            let (list, page) = fit(items(), offset, limit, room);
            assert_eq!((list.len(), page.next_offset), (shown, next), "{offset} {limit:?} {room}");
        }
    }
}
