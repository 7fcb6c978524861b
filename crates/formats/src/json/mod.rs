//! Reading JSON with errors that name the field, and with the tokens that are no JSON and that some
//! tools write all the same: `NaN`, `Infinity`, `-Infinity`.

mod place;

use std::ops::Deref;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::lines;
use crate::{File, ImportError};

/// Returns the first 4096 bytes of a text without white space in front, by which a format is recognised.
pub(crate) fn beginning(text: &str) -> &str {
    lines::beginning(text.trim_start(), 4096)
}

/// Reads a whole file as one JSON document.
pub(crate) fn read<T: DeserializeOwned>(file: &File) -> Result<T, ImportError> {
    read_text(file, file.text()?, 0)
}

/// Reads a part of a file as one JSON document; `lines_before` is how many lines stand before it.
pub(crate) fn read_text<T: DeserializeOwned>(
    file: &File,
    text: &str,
    lines_before: usize,
) -> Result<T, ImportError> {
    let mut clean = with_null_for_words(text);
    let mut parsed = serde_json::from_str(clean.as_deref().unwrap_or(text));
    // `inf` is part of many words: only a text that is refused is looked through for it.
    if parsed.is_err() && clean.is_none() {
        clean = without_bare_tokens(text);
        if let Some(clean) = &clean {
            parsed = serde_json::from_str(clean);
        }
    }
    let error = match parsed {
        Ok(document) => return Ok(document),
        Err(error) => error,
    };
    let mut problem = without_position(&error.to_string());
    if clean.is_some() && problem.contains("null") {
        problem.push_str("; `NaN` and infinities count as null");
    }
    Err(ImportError::Json {
        file: file.name.clone(),
        line: lines_before + error.line().max(1),
        place: place::path_at(clean.as_deref().unwrap_or(text), error.line(), error.column()),
        problem,
    })
}

/// Puts `null` in place of tokens that are no JSON, in a text with such words: most likely it has them as tokens, and
/// reading it twice would take longer.
fn with_null_for_words(text: &str) -> Option<String> {
    let mut words = ["NaN", "Infinity"].iter();
    let has_words =
        words.any(|word| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some());
    has_words.then(|| without_bare_tokens(text)).flatten()
}

/// `serde_json` says where twice: in words and in numbers.
fn without_position(problem: &str) -> String {
    problem.rfind(" at line ").map_or(problem, |at| &problem[..at]).to_owned()
}

/// Puts `null` in place of `NaN` and the infinities outside of strings; `None` if there are none. All
/// of them are longer than `null`, so lines keep their numbers.
fn without_bare_tokens(text: &str) -> Option<String> {
    const TOKENS: [&str; 6] = ["-Infinity", "Infinity", "-NaN", "NaN", "-inf", "inf"];
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    let mut found = false;
    let mut in_string = false;
    while let Some(at) = rest.find(['"', '\\', '-', 'N', 'I', 'i']) {
        clean.push_str(&rest[..at]);
        rest = &rest[at..];
        let token = TOKENS.iter().find(|token| !in_string && rest.starts_with(**token));
        if let Some(token) = token {
            clean.push_str("null");
            rest = &rest[token.len()..];
            found = true;
            continue;
        }
        let mut width = 1;
        match rest.as_bytes()[0] {
            b'"' => in_string = !in_string,
            // The character behind a backslash is none that ends the string.
            b'\\' if in_string => {
                width += rest[1..].chars().next().map_or(0, char::len_utf8);
            }
            _ => {}
        }
        clean.push_str(&rest[..width]);
        rest = &rest[width..];
    }
    clean.push_str(rest);
    found.then_some(clean)
}

/// Says whether a file of JSON has `NaN` or an infinity outside of strings.
pub(crate) fn has_bare_tokens(file: &File) -> bool {
    file.text().is_ok_and(|text| {
        text.trim_start().starts_with(['{', '['])
            && ["Infinity", "NaN", "inf"].iter().any(|token| file.holds(token))
            && without_bare_tokens(text).is_some()
    })
}

/// Says whether the files are one text that begins like a JSON object or list and names all of these
/// fields near its beginning or its end: many writers sort them by name.
pub(crate) fn names(file: &File, beginnings: &[char], fields: &[&str]) -> bool {
    file.text().is_ok_and(|text| {
        let (start, end) = ends(text);
        start.trim_start().starts_with(beginnings)
            && fields.iter().all(|field| start.contains(field) || end.contains(field))
    })
}

/// Says whether the files are one text that begins with this bracket and names all of these fields in its first
/// 4096 bytes.
pub(crate) fn begins(file: &File, bracket: char, fields: &[&str]) -> bool {
    file.text().is_ok_and(|text| {
        let start = beginning(text);
        start.starts_with(bracket) && fields.iter().all(|field| start.contains(field))
    })
}

/// Returns the first and the last part of a text, so that large files are not searched as a whole for
/// every format.
pub(crate) fn ends(text: &str) -> (&str, &str) {
    const LENGTH: usize = 256 << 10;
    (lines::beginning(text, LENGTH), lines::ending(text, LENGTH))
}

/// Returns what a field of unknown kind holds as a text for people: nothing for `null` and for what
/// has parts.
pub(crate) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(truth) => truth.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => String::new(),
    }
}

/// Names what kind of value stands there, for messages.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// What may be missing or `null`, and is the default then.
#[derive(Debug, Clone, Default)]
pub(crate) struct Maybe<T>(pub(crate) T);

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for Maybe<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Option::deserialize(deserializer)?.unwrap_or_default()))
    }
}

impl<T> Deref for Maybe<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// A text, for which some versions of a tool write a number or `null`, or nothing at all.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(from = "Option<Value>")]
pub(crate) struct Text(pub(crate) String);

impl From<Option<Value>> for Text {
    fn from(value: Option<Value>) -> Self {
        Self(value.as_ref().map(text_of).unwrap_or_default())
    }
}

/// A number that may also be written as a text, such as `"NaN"` or `"+INF"`, be `null` or be missing: what
/// is no finite number is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Number(pub(crate) Option<f64>);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Number;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a number")
            }

            fn visit_some<D: serde::Deserializer<'de>>(self, found: D) -> Result<Number, D::Error> {
                found.deserialize_any(self)
            }

            fn visit_none<E>(self) -> Result<Number, E> {
                Ok(Number(None))
            }

            fn visit_unit<E>(self) -> Result<Number, E> {
                Ok(Number(None))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Number, E> {
                Ok(Number(Some(number).filter(|number| number.is_finite())))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Number, E> {
                Ok(Number(Some(number as f64)))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Number, E> {
                Ok(Number(Some(number as f64)))
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Number, E> {
                let number: Option<f64> = text.trim().parse().ok();
                let is_word = ["NaN", "+INF", "-INF", "INF"].contains(&text.trim());
                match number {
                    Some(number) => self.visit_f64(number),
                    None if is_word => Ok(Number(None)),
                    None => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_option(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_tokens_are_taken_out_outside_of_strings_only() {
        let clean = without_bare_tokens(r#"{"NaN \" inf": NaN, "b": [-Infinity, 1, inf]}"#);
        assert_eq!(clean.unwrap(), r#"{"NaN \" inf": null, "b": [null, 1, null]}"#);
        assert_eq!(without_bare_tokens(r#"{"a": "NaN -inf", "b": -1}"#), None);
    }

    #[test]
    fn an_error_names_line_and_field() {
        #[derive(Debug, Deserialize)]
        #[expect(dead_code, reason = "only its errors are of interest")]
        struct Row {
            a: Vec<f64>,
        }
        let read = |text| read::<Row>(&File::of_text("x.json", text)).unwrap_err().to_string();
        assert_eq!(
            read("{\n\"a\": [1, \"x\"]}"),
            "x.json, line 2, at a[1]: invalid type: string \"x\", expected f64"
        );
        assert_eq!(read("{\"a\": [1]} x"), "x.json, line 1: trailing characters");
    }
}
