//! Starter prompts that users can select in their client.

use std::collections::BTreeMap;

/// A prompt template.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// Its name.
    pub name: &'static str,
    /// Display name.
    pub title: &'static str,
    /// Purpose.
    pub description: &'static str,
    /// Its arguments.
    pub arguments: &'static [PromptArgument],
    /// Text with `{name}` placeholders.
    pub template: &'static str,
}

/// An argument of a prompt.
#[derive(Clone, Copy, Debug)]
pub struct PromptArgument {
    /// Its name.
    pub name: &'static str,
    /// Description.
    pub description: &'static str,
    /// Default value; `None` makes the argument required.
    pub default: Option<&'static str>,
}

impl Prompt {
    /// Substitutes the placeholders, or returns the names of missing arguments.
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

/// Single pass, so that braces inside a value are not substituted.
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
    fn placeholders_are_substituted_once_with_defaults() {
        let given = BTreeMap::from([("fund".to_owned(), "{years}".to_owned())]);
        assert_eq!(PROMPT.fill(&given).unwrap(), "Look at {years} over 5 years, {unknown}.");
    }

    #[test]
    fn a_missing_required_argument_is_reported() {
        assert_eq!(PROMPT.fill(&BTreeMap::new()), Err(vec!["fund"]));
    }
}
