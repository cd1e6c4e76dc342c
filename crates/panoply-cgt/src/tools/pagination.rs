//! Pagination of lists by item limit and byte budget.

use serde::Serialize;

/// 17,000 tokens of 2.5 bytes; the rest of a reply is for the parts around the list.
pub(super) const BYTE_BUDGET: usize = 42_000;

/// Page of a list.
#[derive(Clone, Copy, Debug, Serialize, panoply_contract::schemars::JsonSchema)]
#[schemars(crate = "panoply_contract::schemars")]
pub(super) struct PageInfo {
    /// Total number of items.
    pub(super) total: usize,
    /// Number of items skipped.
    pub(super) offset: usize,
    /// Number of items shown.
    pub(super) shown: usize,
    /// `offset` of the next page; null on the last page.
    pub(super) next_offset: Option<usize>,
}

/// Returns the items of a page. A non-empty list yields at least one item.
pub(super) fn paginate<T: Serialize>(
    items: impl ExactSizeIterator<Item = T>,
    offset: usize,
    limit: Option<usize>,
    budget: usize,
) -> (Vec<T>, PageInfo) {
    let total = items.len();
    let mut shown = Vec::new();
    let mut bytes = 0;
    for item in items.skip(offset).take(limit.unwrap_or(usize::MAX)) {
        bytes += serde_json::to_string(&item).map_or(0, |text| text.len() + 1);
        if bytes > budget && !shown.is_empty() {
            break;
        }
        shown.push(item);
    }
    let end = offset.saturating_add(shown.len());
    let page =
        PageInfo { total, offset, shown: shown.len(), next_offset: (end < total).then_some(end) };
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
        for (offset, limit, budget, shown, next) in cases {
            let (list, page) = paginate(items(), offset, limit, budget);
            assert_eq!(
                (list.len(), page.next_offset),
                (shown, next),
                "{offset} {limit:?} {budget}"
            );
        }
    }
}
