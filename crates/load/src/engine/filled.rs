//! Texts with values in them that differ from request to request: `/item/{id}`.

use std::fmt::Write as _;

use crate::values::{COUNTER, Values};

/// A text in which names in braces stand for values. Braces with anything else between them are part of the text, as in a
/// body of JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Filled(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Column(usize),
    Counter,
}

/// How a value is written into a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writing {
    /// As it is.
    Plain,
    /// As a part of a path or a query: everything but letters, digits and `-._~` is escaped (RFC 3986, section 2.3).
    Escaped,
}

impl Filled {
    /// Takes a text; `None` if nothing in it stands for a value.
    pub(crate) fn of(text: &str, values: &Values) -> Option<Self> {
        let meant = |name: &str| match values.columns().iter().position(|one| one == name) {
            Some(index) => Some(Part::Column(index)),
            None => (name == COUNTER).then_some(Part::Counter),
        };
        let mut parts = Vec::new();
        let (mut text_so_far, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once('{') {
            text_so_far.push_str(before);
            let named = after.split_once('}').and_then(|(name, rest)| Some((meant(name)?, rest)));
            if let Some((part, after)) = named {
                parts.push(Part::Text(std::mem::take(&mut text_so_far)));
                parts.push(part);
                rest = after;
            } else {
                text_so_far.push('{');
                rest = after;
            }
        }
        text_so_far.push_str(rest);
        if parts.is_empty() {
            return None;
        }
        parts.push(Part::Text(text_so_far));
        Some(Self(parts))
    }

    /// Writes it for a request; the first one has the number 0 and the counter 1.
    pub(crate) fn fill(&self, values: &Values, number: u64, writing: Writing) -> String {
        let row = values.row(number);
        let mut filled = String::new();
        for part in &self.0 {
            match part {
                Part::Text(text) => filled.push_str(text),
                Part::Counter => {
                    let _ = write!(filled, "{}", number + 1);
                }
                Part::Column(index) => {
                    let value = row.get(*index).map_or("", String::as_str);
                    match writing {
                        Writing::Plain => filled.push_str(value),
                        Writing::Escaped => escape(value, &mut filled),
                    }
                }
            }
        }
        filled
    }
}

fn escape(value: &str, into: &mut String) {
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            into.push(char::from(byte));
        } else {
            let _ = write!(into, "%{byte:02X}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(text: &str, number: u64, writing: Writing) -> Option<String> {
        let values = Values::of_csv("id,name\n7,a b/ü\n8,{id}\n").unwrap();
        Filled::of(text, &values).map(|filled| filled.fill(&values, number, writing))
    }

    #[test]
    fn names_are_replaced_and_other_braces_stay() {
        let plain = |text, number| fill(text, number, Writing::Plain);
        assert_eq!(plain("{id}-{counter}", 0).as_deref(), Some("7-1"));
        assert_eq!(plain("{id}-{counter}", 3).as_deref(), Some("8-4"));
        assert_eq!(plain(r#"{"n": {id}, "m": {}}"#, 0).as_deref(), Some(r#"{"n": 7, "m": {}}"#));
        assert_eq!(plain("{{id}", 0).as_deref(), Some("{7"));
        // A value is not looked at again.
        assert_eq!(plain("{name}", 1).as_deref(), Some("{id}"));
        for text in ["", "id", "{port}", "{", "}{", "{ id }"] {
            assert_eq!(plain(text, 0), None, "{text}");
        }
    }

    #[test]
    fn a_value_in_a_path_cannot_change_the_path() {
        assert_eq!(
            fill("/a/{name}?b", 0, Writing::Escaped).as_deref(),
            Some("/a/a%20b%2F%C3%BC?b")
        );
    }
}
