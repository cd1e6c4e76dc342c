//! Cursor pagination of lists.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rmcp::model::{ErrorData, PaginatedRequestParams};

/// Entries per page.
pub(crate) const PAGE_SIZE: usize = 200;

/// One page and the cursor of the next.
pub(crate) struct ListPage<T> {
    pub(crate) items: Vec<T>,
    pub(crate) next: Option<String>,
}

/// Returns the requested page. Lists have a fixed order, so a cursor encodes an offset.
pub(crate) fn page<T>(
    items: Vec<T>,
    request: Option<PaginatedRequestParams>,
    size: usize,
) -> Result<ListPage<T>, ErrorData> {
    let start = match request.and_then(|request| request.cursor) {
        Some(cursor) => {
            position(&cursor).filter(|start| *start <= items.len()).ok_or_else(unknown_cursor)?
        }
        None => 0,
    };
    let end = start.saturating_add(size);
    let next = (end < items.len()).then(|| URL_SAFE_NO_PAD.encode(format!("at:{end}")));
    Ok(ListPage { items: items.into_iter().skip(start).take(size).collect(), next })
}

fn position(cursor: &str) -> Option<usize> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
    text.strip_prefix("at:")?.parse().ok()
}

fn unknown_cursor() -> ErrorData {
    ErrorData::invalid_params("unknown cursor; start again without one", None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request_at(cursor: Option<String>) -> Option<PaginatedRequestParams> {
        Some(PaginatedRequestParams::default().with_cursor(cursor))
    }

    #[test]
    fn following_cursors_returns_every_item_once() {
        let mut cursor = None;
        let mut seen = Vec::new();
        loop {
            let page = page((0..7).collect(), request_at(cursor), 3).unwrap();
            seen.extend(page.items);
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, (0..7).collect::<Vec<_>>());
    }

    #[test]
    fn unknown_cursor_is_refused() {
        for cursor in ["", "x", "YXQ6OTk5", "YXQ6LTE", "////"] {
            assert!(
                page(vec![1, 2], request_at(Some(cursor.to_owned())), 10).is_err(),
                "cursor: {cursor:?}"
            );
        }
    }
}
