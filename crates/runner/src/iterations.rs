//! Series of iterations that a program timed itself, read from its output or from a file:
//! `--iterations[=RULE]` and `becalm stats --steady`.
//!
//! What programs print by themselves is recognised: numbers, one a line; a JSON array of numbers; a
//! JSON object with such an array as `values`, which is what `becalm workload --iterations N --json`
//! prints. Anything else needs a rule.

use regex::bytes::Regex;
use serde_json::Value;

/// How to find the iterations in the output of a run.
#[derive(Debug, Clone)]
pub enum SeriesRule {
    /// By the form of the output.
    Recognise,
    /// The array at this JSON pointer (RFC 6901).
    Pointer(String),
    /// Every match: its first group, or the whole match if there is none.
    Every(Regex),
}

/// Why a text has no series of iterations.
#[derive(Debug, thiserror::Error)]
pub enum SeriesError {
    /// There is no number at all.
    #[error("it contains no iteration")]
    Empty,
    /// A line of a text of numbers is none.
    #[error("line {line}: expected a number, found `{found}`")]
    Line {
        /// Line number, from 1.
        line: usize,
        /// What stands there.
        found: String,
    },
    /// A line of a text of numbers is no time.
    #[error("line {line}: {found} is not a time in seconds")]
    NoTime {
        /// Line number, from 1.
        line: usize,
        /// What stands there.
        found: String,
    },
    /// An entry of a series is no time: not a number, negative, or beyond all measure.
    #[error("iteration {index} is {found}, which is not a time in seconds")]
    Entry {
        /// Position in the series, from 1.
        index: usize,
        /// What stands there.
        found: String,
    },
    /// Every entry is 0: the clock was too coarse, or these are no times.
    #[error("all {0} iterations are 0, so they are not times")]
    OnlyZeros(usize),
    /// The JSON holds no series where one was looked for.
    #[error("the JSON has no array of numbers {place}")]
    NoArray {
        /// Where it was looked for.
        place: String,
    },
    /// The text is not JSON.
    #[error("neither the text nor its last line is JSON ({0})")]
    NotJson(serde_json::Error),
    /// One run printed several series.
    #[error("it contains {0} series, but a run has one")]
    Several(usize),
}

/// Largest time in seconds. Beyond it sums of squares are infinite, and it is no time in any unit.
const LARGEST: f64 = 1e100;

/// Returns a number as a time, if it is one; `-0` is 0.
fn as_time(number: f64) -> Option<f64> {
    (0.0..LARGEST).contains(&number).then_some(number + 0.0)
}

/// Checks that a series that was saved consists of times.
pub fn check_times(series: &[f64]) -> Result<(), SeriesError> {
    finite(series.iter(), |&value| (Some(value), value.to_string())).map(drop)
}

/// Why a rule cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the regular expression of the iterations is not valid")]
pub struct SeriesRuleError(#[source] Box<regex::Error>);

impl SeriesRule {
    /// Reads a rule: nothing to recognise the series, a JSON pointer, which starts with `/`, or a
    /// regular expression.
    pub fn parse(text: &str) -> Result<Self, SeriesRuleError> {
        if text.is_empty() {
            Ok(Self::Recognise)
        } else if text.starts_with('/') {
            Ok(Self::Pointer(text.to_owned()))
        } else {
            let regex = Regex::new(text).map_err(|error| SeriesRuleError(Box::new(error)))?;
            Ok(Self::Every(regex))
        }
    }

    /// Reads the iterations of one run from its output, in seconds and in time order.
    pub fn read(&self, output: &[u8]) -> Result<Vec<f64>, SeriesError> {
        match self {
            Self::Recognise => {
                let mut all = recognise(output)?;
                if all.len() == 1 {
                    Ok(all.remove(0))
                } else {
                    Err(SeriesError::Several(all.len()))
                }
            }
            Self::Pointer(pointer) => {
                let document = json(output).map_err(SeriesError::NotJson)?;
                let place = || format!("at {pointer}");
                let array = document.pointer(pointer).and_then(Value::as_array);
                numbers(array.ok_or_else(|| SeriesError::NoArray { place: place() })?)
            }
            Self::Every(regex) => {
                let group = usize::from(regex.captures_len() > 1);
                let found = regex.captures_iter(output).filter_map(|found| found.get(group));
                finite(found.map(|text| text.as_bytes()), |text| {
                    let number = std::str::from_utf8(text).ok().and_then(|t| t.trim().parse().ok());
                    (number, String::from_utf8_lossy(text).into_owned())
                })
            }
        }
    }
}

/// Reads all series that a text holds: JSON as above, an array of arrays for several series, or
/// lines of numbers with an empty line before every further series. Lines that start with `#` are
/// remarks.
pub fn recognise(text: &[u8]) -> Result<Vec<Vec<f64>>, SeriesError> {
    match json(text) {
        Ok(document @ (Value::Array(_) | Value::Object(_))) => from_json(&document),
        // No number begins like this: it was to be JSON.
        Err(error) if matches!(text.trim_ascii_start().first(), Some(b'{' | b'[')) => {
            Err(SeriesError::NotJson(error))
        }
        _ => from_lines(text),
    }
}

fn from_json(document: &Value) -> Result<Vec<Vec<f64>>, SeriesError> {
    let (array, place) = match document {
        Value::Object(object) => {
            (object.get("values").and_then(Value::as_array), "called `values`")
        }
        other => (other.as_array(), "in it"),
    };
    let array = array.ok_or_else(|| SeriesError::NoArray { place: place.to_owned() })?;
    if array.iter().all(Value::is_array) && !array.is_empty() {
        array.iter().filter_map(Value::as_array).map(|one| numbers(one)).collect()
    } else {
        Ok(vec![numbers(array)?])
    }
}

fn from_lines(text: &[u8]) -> Result<Vec<Vec<f64>>, SeriesError> {
    let mut all: Vec<Vec<f64>> = Vec::new();
    let mut is_open = false;
    for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let line = line.trim_ascii();
        if line.is_empty() {
            is_open = false;
        } else if !line.starts_with(b"#") {
            let number = std::str::from_utf8(line).ok().and_then(|text| text.parse().ok());
            let found = || shown(&line.escape_ascii().to_string());
            let number: f64 =
                number.ok_or_else(|| SeriesError::Line { line: index + 1, found: found() })?;
            let number = as_time(number)
                .ok_or_else(|| SeriesError::NoTime { line: index + 1, found: found() })?;
            if !is_open {
                all.push(Vec::new());
                is_open = true;
            }
            all.last_mut().expect("one was pushed above").push(number);
        }
    }
    if all.is_empty() {
        return Err(SeriesError::Empty);
    }
    all.iter().try_for_each(|series| not_only_zeros(series))?;
    Ok(all)
}

fn not_only_zeros(series: &[f64]) -> Result<(), SeriesError> {
    if series.iter().all(|&value| value == 0.0) {
        return Err(SeriesError::OnlyZeros(series.len()));
    }
    Ok(())
}

/// Reads the whole text as JSON, or its last line, since programs print their results last.
fn json(text: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice(text).or_else(|whole| {
        let text = text.trim_ascii_end();
        let start = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        // A number is a line like the others. Of a text that is broken off the whole says more than its
        // last line.
        let last = serde_json::from_slice(&text[start..]).ok();
        last.filter(|value: &Value| value.is_array() || value.is_object()).ok_or(whole)
    })
}

fn numbers(array: &[Value]) -> Result<Vec<f64>, SeriesError> {
    finite(array.iter(), |value| (value.as_f64(), value.to_string()))
}

fn finite<T: Copy>(
    entries: impl Iterator<Item = T>,
    read: impl Fn(T) -> (Option<f64>, String),
) -> Result<Vec<f64>, SeriesError> {
    let mut series = Vec::new();
    for (index, entry) in entries.enumerate() {
        let (number, text) = read(entry);
        let number = number.and_then(as_time);
        series.push(
            number.ok_or_else(|| SeriesError::Entry { index: index + 1, found: shown(&text) })?,
        );
    }
    if series.is_empty() {
        return Err(SeriesError::Empty);
    }
    not_only_zeros(&series)?;
    Ok(series)
}

/// Shortens what may be anything.
fn shown(text: &str) -> String {
    const LONGEST: usize = 60;
    if text.chars().count() <= LONGEST {
        text.to_owned()
    } else {
        text.chars().take(LONGEST).chain("...".chars()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(rule: &str, output: &str, expected: &str) {
        let found = SeriesRule::parse(rule).unwrap().read(output.as_bytes());
        let found = found.map_or_else(|error| format!("error: {error}"), |s| format!("{s:?}"));
        assert_eq!(found, expected);
    }

    #[test]
    fn what_programs_print_is_recognised() {
        check("", "0.5\n0.25\n", "[0.5, 0.25]");
        check("", "# seconds\n\n0.5\r\n1e-3\n", "[0.5, 0.001]");
        check("", "[1, 2.5]", "[1.0, 2.5]");
        check("", r#"{"unit": "s", "values": [1, 2]}"#, "[1.0, 2.0]");
        check("", "warming up\n[1, 2]\n", "[1.0, 2.0]");
    }

    #[test]
    fn a_single_number_is_a_series_of_one() {
        check("", "0.5\n", "[0.5]");
    }

    #[test]
    fn other_output_needs_a_rule() {
        check(r"took (\S+) s", "took 1 s\nnoise\ntook 2 s\n", "[1.0, 2.0]");
        check(r"\d+", "1 and 2", "[1.0, 2.0]");
        check("/runs/0/times", r#"{"runs": [{"times": [3, 4]}]}"#, "[3.0, 4.0]");
    }

    #[test]
    fn what_is_no_series_is_said() {
        check("", "", "error: it contains no iteration");
        check("", "[]", "error: it contains no iteration");
        check("", "0.5\nfast\n", "error: line 2: expected a number, found `fast`");
        check("", "0.5\nNaN\n", "error: line 2: NaN is not a time in seconds");
        check("", "0.5\n-1\n", "error: line 2: -1 is not a time in seconds");
        check("", "[0.5, 1e301]", "error: iteration 2 is 1e+301, which is not a time in seconds");
        check("", "0\n-0\n", "error: all 2 iterations are 0, so they are not times");
        check("", "1\n-0\n", "[1.0, 0.0]");
        check("", r#"{"times": [1]}"#, "error: the JSON has no array of numbers called `values`");
        check("", "[1, \"x\"]", "error: iteration 2 is \"x\", which is not a time in seconds");
        check("", "[[1], [2]]", "error: it contains 2 series, but a run has one");
        check("/t", r#"{"t": 1}"#, "error: the JSON has no array of numbers at /t");
        check(r"t=(\S+)", "t=1 t=x", "error: iteration 2 is x, which is not a time in seconds");
        assert!(SeriesRule::parse("(").is_err());
    }

    #[test]
    fn what_begins_like_json_and_is_broken_off_is_called_json() {
        for text in ["[1, 2", "{\"values\": [1,\n2,\n3", " [1\n2\n"] {
            let error = recognise(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains("JSON"), "{error}");
        }
    }

    #[test]
    fn a_file_may_hold_several_series() {
        assert_eq!(recognise(b"1\n2\n\n\n3\n").unwrap(), [vec![1.0, 2.0], vec![3.0]]);
        assert_eq!(recognise(b"[[1, 2], [3]]").unwrap(), [vec![1.0, 2.0], vec![3.0]]);
    }

    proptest! {
        #[test]
        fn no_output_makes_a_rule_panic(
            output in proptest::collection::vec(any::<u8>(), 0..200),
        ) {
            for rule in ["", "/a", r"(\d+)?x"] {
                if let Ok(series) = SeriesRule::parse(rule).unwrap().read(&output) {
                    prop_assert!(series.iter().all(|value| value.is_finite()));
                }
            }
        }
    }
}
