//! Interns the dotted paths of numeric properties, so that each column has a small id.

use crate::error::LogError;
use crate::scan::Token;
use crate::scan::outline::{MAX_DEPTH, Outline};

/// Maximum names in one object; an object used as a map does not get a column for every key.
const MAX_NAMES_PER_OBJECT: usize = 1024;

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct PathId(pub(crate) u32);

/// A trie of member names.
#[derive(Debug)]
pub(crate) struct PathTable {
    paths: Vec<PathNode>,
}

#[derive(Debug, Default)]
struct PathNode {
    parent: Option<u32>,
    name: Box<str>,
    children: Vec<u32>,
}

impl Default for PathTable {
    fn default() -> Self {
        Self { paths: vec![PathNode::default()] }
    }
}

impl PathTable {
    /// Calls `visit` with each number, text and boolean. Returns false if some were nested too deep or
    /// exceeded [`MAX_NAMES_PER_OBJECT`].
    pub(crate) fn walk(
        &mut self,
        outline: &Outline<'_>,
        mut visit: impl FnMut(PathId, Token<'_>) -> Result<(), LogError>,
    ) -> Result<bool, LogError> {
        let mut complete = outline.complete;
        // The path of the enclosing object at each depth; `None` if it has none.
        let mut parent_at_depth = [None; MAX_DEPTH + 1];
        parent_at_depth[0] = Some(0);
        for member in &outline.members {
            if matches!(member.value, Token::Array(_) | Token::Null) {
                continue;
            }
            let parent = parent_at_depth.get(member.depth).copied().flatten();
            let path = match parent.map(|parent| self.lookup_or_insert(parent, member.name)) {
                None | Some(PathLookup::Unqueryable) => None,
                Some(PathLookup::Path(path)) => Some(path),
                Some(PathLookup::TooMany) => {
                    complete = false;
                    None
                }
            };
            match (member.value, path) {
                (Token::Object(_), path) => {
                    if let Some(slot) = parent_at_depth.get_mut(member.depth + 1) {
                        *slot = path;
                    }
                }
                (token, Some(path)) => visit(PathId(path), token)?,
                (_, None) => {}
            }
        }
        Ok(complete)
    }

    fn lookup_or_insert(&mut self, parent: u32, name: &str) -> PathLookup {
        let Some(node) = self.paths.get(parent as usize) else { return PathLookup::Unqueryable };
        let matches =
            |path: &&u32| self.paths.get(**path as usize).is_some_and(|node| *node.name == *name);
        if let Some(path) = node.children.iter().find(matches) {
            return PathLookup::Path(*path);
        }
        if !is_queryable_name(name) {
            return PathLookup::Unqueryable;
        }
        if node.children.len() >= MAX_NAMES_PER_OBJECT {
            return PathLookup::TooMany;
        }
        let Ok(path) = u32::try_from(self.paths.len()) else { return PathLookup::TooMany };
        self.paths.push(PathNode { parent: Some(parent), name: name.into(), children: Vec::new() });
        if let Some(node) = self.paths.get_mut(parent as usize) {
            node.children.push(path);
        }
        PathLookup::Path(path)
    }

    /// The member names of a path, joined by dots.
    pub(crate) fn path(&self, path: PathId) -> String {
        let mut names = Vec::new();
        let mut at = self.paths.get(path.0 as usize);
        while let Some(node) = at.filter(|node| node.parent.is_some()) {
            names.push(&*node.name);
            at = node.parent.and_then(|parent| self.paths.get(parent as usize));
        }
        names.reverse();
        names.join(".")
    }
}

enum PathLookup {
    Path(u32),
    /// The name is outside the pattern that a query accepts.
    Unqueryable,
    /// [`MAX_NAMES_PER_OBJECT`] is reached.
    TooMany,
}

/// The published pattern of a property path.
pub(crate) fn is_queryable_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The text of a number, or of a string that may contain one.
pub(crate) fn numeric_text(token: Token<'_>) -> Option<&str> {
    match token {
        Token::Number(text) => Some(text),
        Token::Text(text) => {
            let text = text.trim();
            let starts = text.starts_with(|c: char| c.is_ascii_digit() || c == '-');
            (text.len() <= 40 && starts).then_some(text)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_reported_by_path() {
        let mut properties = PathTable::default();
        let mut seen = Vec::new();
        let json = r#"{"A":1,"B":{"C":"2.50","D":{"A":-3}},"E":[4],"F":"text","G-H":5,"I":" 7 ","J":null}"#;
        let complete = properties
            .walk(&Outline::of(json), |path, token| {
                seen.push((path, numeric_text(token).unwrap_or("-").to_owned()));
                Ok(())
            })
            .unwrap();
        let named: Vec<String> =
            seen.iter().map(|(path, text)| format!("{}={text}", properties.path(*path))).collect();
        assert_eq!(named, ["A=1", "B.C=2.50", "B.D.A=-3", "F=-", "I=7"]);
        assert!(complete);
    }

    #[test]
    fn too_deep_or_too_wide_objects_are_incomplete() {
        let mut properties = PathTable::default();
        let deep = "{\"a\":".repeat(100) + "1" + &"}".repeat(100);
        assert!(!properties.walk(&Outline::of(&deep), |_, _| Ok(())).unwrap());
        let wide: Vec<String> = (0..2000).map(|n| format!("\"k{n}\":{n}")).collect();
        let wide = format!("{{{}}}", wide.join(","));
        assert!(!properties.walk(&Outline::of(&wide), |_, _| Ok(())).unwrap());
    }
}
