//! Starter prompts: what a person can pick in their client to see what a pack is for.

use std::collections::BTreeMap;

/// A text with blanks.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// Its name.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it is for.
    pub description: &'static str,
    /// The blanks.
    pub arguments: &'static [PromptArgument],
    /// The text, with `{name}` where an argument goes.
    pub template: &'static str,
}

/// A blank in a prompt.
#[derive(Clone, Copy, Debug)]
pub struct PromptArgument {
    /// Its name.
    pub name: &'static str,
    /// What goes there.
    pub description: &'static str,
    /// What stands there when nothing is given; `None` makes the argument required.
    pub default: Option<&'static str>,
}

impl Prompt {
    /// The text with its blanks filled, or the names of the arguments that are missing.
    pub fn fill(&self, given: &BTreeMap<String, String>) -> Result<String, Vec<&'static str>> {
        let mut missing = Vec::new();
        let mut values: Vec<(&str, &str)> = Vec::new();
        for argument in self.arguments {
            match given.get(argument.name).map(String::as_str).or(argument.default) {
                Some(value) => values.push((argument.name, value)),
                None => missing.push(argument.name),
            }
        }
        if missing.is_empty() { Ok(fill_blanks(self.template, &values)) } else { Err(missing) }
    }
}

/// One pass from left to right, so that braces inside a value are left alone.
fn fill_blanks(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, from_brace)) = rest.split_once('{') {
        text.push_str(before);
        let filled = from_brace.split_once('}').and_then(|(name, after)| {
            values.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value, after))
        });
        match filled {
            Some((value, after)) => {
                text.push_str(value);
                rest = after;
            }
            None => {
                text.push('{');
                rest = from_brace;
            }
        }
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROMPT: Prompt = Prompt {
        name: "p",
        title: "P",
        description: "…",
        arguments: &[
            PromptArgument { name: "fund", description: "…", default: None },
            PromptArgument { name: "years", description: "…", default: Some("5") },
        ],
        template: "Look at {fund} over {years} years, {unknown}.",
    };

    #[test]
    fn blanks_are_filled_once_and_defaults_apply() {
        let given = BTreeMap::from([("fund".to_owned(), "{years}".to_owned())]);
        assert_eq!(PROMPT.fill(&given).unwrap(), "Look at {years} over 5 years, {unknown}.");
    }

    #[test]
    fn a_required_argument_that_is_missing_is_named() {
        assert_eq!(PROMPT.fill(&BTreeMap::new()), Err(vec!["fund"]));
    }
}
