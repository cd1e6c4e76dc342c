//! Walks an event's properties and names the paths of its numbers, each name kept once.

use crate::error::LogError;
use crate::scan::{self, Token};

/// Nested deeper than this, numbers get no column.
const DEEPEST: usize = 8;
/// Names under one parent; an object used as a map of many keys has no columns beyond these.
const MOST_NAMES: usize = 1024;

/// A path, as a number.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct PathId(pub(crate) u32);

/// The paths seen so far.
#[derive(Debug)]
pub(crate) struct Properties {
    paths: Vec<PathNode>,
}

#[derive(Debug, Default)]
struct PathNode {
    parent: Option<u32>,
    name: Box<str>,
    below: Vec<u32>,
}

impl Default for Properties {
    fn default() -> Self {
        Self { paths: vec![PathNode::default()] }
    }
}

impl Properties {
    /// Calls `found` with each number and each text that may be one. False when some were too
    /// deep or too many to be named.
    pub(crate) fn walk(
        &mut self,
        json: &str,
        found: &mut dyn FnMut(PathId, &str) -> Result<(), LogError>,
    ) -> Result<bool, LogError> {
        self.walk_below(json, 0, 0, found)
    }

    fn walk_below(
        &mut self,
        json: &str,
        parent: u32,
        depth: usize,
        found: &mut dyn FnMut(PathId, &str) -> Result<(), LogError>,
    ) -> Result<bool, LogError> {
        let mut complete = true;
        for (name, token) in scan::members(json) {
            let text = match token {
                Token::Number(text) => text,
                Token::Text(text) if looks_numeric(text) => text.trim(),
                Token::Object(_) if depth + 1 >= DEEPEST => {
                    complete = false;
                    continue;
                }
                Token::Object(_) => "",
                Token::Text(_) | Token::Array(_) | Token::Bool(_) | Token::Null => continue,
            };
            if !is_plain(name) {
                continue;
            }
            let Some(path) = self.name(parent, name) else {
                complete = false;
                continue;
            };
            match token {
                Token::Object(json) => complete &= self.walk_below(json, path, depth + 1, found)?,
                _ => found(PathId(path), text)?,
            }
        }
        Ok(complete)
    }

    fn name(&mut self, parent: u32, name: &str) -> Option<u32> {
        let below = &self.paths.get(parent as usize)?.below;
        let known = below
            .iter()
            .find(|path| self.paths.get(**path as usize).is_some_and(|node| *node.name == *name));
        if let Some(path) = known {
            return Some(*path);
        }
        if below.len() >= MOST_NAMES {
            return None;
        }
        let path = u32::try_from(self.paths.len()).ok()?;
        self.paths.push(PathNode { parent: Some(parent), name: name.into(), below: Vec::new() });
        self.paths.get_mut(parent as usize)?.below.push(path);
        Some(path)
    }

    /// The names of a path, joined by dots.
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

/// Only such names can be asked for: the published pattern of a property path.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A cheap look before a real one.
fn looks_numeric(text: &str) -> bool {
    let text = text.trim();
    text.len() <= 40 && text.starts_with(|c: char| c.is_ascii_digit() || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_named_by_their_path() {
        let mut properties = Properties::default();
        let mut seen = Vec::new();
        let json = r#"{"A":1,"B":{"C":"2.50","D":{"A":-3}},"E":[4],"F":"text","G-H":5,"I":" 7 ","J":null}"#;
        let complete = properties
            .walk(json, &mut |path, text| {
                seen.push((path, text.to_owned()));
                Ok(())
            })
            .unwrap();
        let named: Vec<String> =
            seen.iter().map(|(path, text)| format!("{}={text}", properties.path(*path))).collect();
        assert_eq!(named, ["A=1", "B.C=2.50", "B.D.A=-3", "I=7"]);
        assert!(complete);
    }

    #[test]
    fn objects_without_end_are_given_up() {
        let mut properties = Properties::default();
        let deep = "{\"a\":".repeat(100) + "1" + &"}".repeat(100);
        assert!(!properties.walk(&deep, &mut |_, _| Ok(())).unwrap());
        let wide: Vec<String> = (0..2000).map(|n| format!("\"k{n}\":{n}")).collect();
        let wide = format!("{{{}}}", wide.join(","));
        assert!(!properties.walk(&wide, &mut |_, _| Ok(())).unwrap());
    }
}
