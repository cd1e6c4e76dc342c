//! Lists without duplicates, in insertion order.

/// Appends an element unless the list contains it.
pub(crate) fn push_unique(list: &mut Vec<String>, one: &str) {
    if !list.iter().any(|known| known == one) {
        list.push(one.to_owned());
    }
}

/// Appends the elements that the list does not contain.
pub(crate) fn extend_unique(
    list: &mut Vec<String>,
    more: impl IntoIterator<Item = impl AsRef<str>>,
) {
    more.into_iter().for_each(|one| push_unique(list, one.as_ref()));
}

/// Returns the distinct elements.
pub(crate) fn unique(all: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<String> {
    let mut list = Vec::new();
    extend_unique(&mut list, all);
    list
}
