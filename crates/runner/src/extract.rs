//! Metrics that the subject prints itself: `--metric NAME=REGEX` and `--metric-json NAME=POINTER`.

use becalm_model::{Direction, Metric, Unit};
use regex::bytes::Regex;
use serde_json::Value;

/// Why a metric cannot be read from output in the way that was asked for.
#[derive(Debug, thiserror::Error)]
pub enum MetricSpecError {
    /// There is no `=` between name and rule, or one of them is empty.
    #[error("`{text}` is not of the form NAME={rule} or NAME[UNIT,higher]={rule}")]
    Form {
        /// What was given.
        text: String,
        /// What the rule is called.
        rule: &'static str,
    },
    /// The part in brackets is not understood.
    #[error(
        "`[{0}]` must be a list of a unit, `higher` or `lower`, and `exact`, each at most once, \
         separated by commas"
    )]
    Brackets(String),
    /// The regular expression is wrong.
    #[error("the regular expression of the metric {metric} is not valid")]
    Regex {
        /// The metric.
        metric: String,
        /// What is wrong with it.
        source: Box<regex::Error>,
    },
    /// The JSON pointer is wrong.
    #[error("the JSON pointer `{pointer}` of the metric {metric} does not start with `/`")]
    Pointer {
        /// The metric.
        metric: String,
        /// What was given.
        pointer: String,
    },
}

/// Why a run has no value of a metric that it should print.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExtractError {
    /// Nothing in the output matches.
    #[error("nothing in the output matches the metric {metric}; it ends with: {tail}")]
    NoMatch {
        /// The metric.
        metric: String,
        /// The end of the output.
        tail: String,
    },
    /// The output is not JSON.
    #[error(
        "the metric {metric} needs JSON, but neither the output nor its last line is ({reason}); \
         it ends with: {tail}"
    )]
    NotJson {
        /// The metric.
        metric: String,
        /// What the parser says about the last line.
        reason: String,
        /// The end of the output.
        tail: String,
    },
    /// What was found is not a finite number.
    #[error("the metric {metric} found {text}, which is not a finite number")]
    NotANumber {
        /// The metric.
        metric: String,
        /// What was found.
        text: String,
    },
}

/// Reads one metric from the output of a run.
#[derive(Debug, Clone)]
pub struct Extractor {
    metric: Metric,
    rule: Rule,
}

#[derive(Debug, Clone)]
enum Rule {
    Regex(Regex),
    Pointer(String),
}

impl Extractor {
    /// Reads `NAME=REGEX` or `NAME[UNIT,higher]=REGEX`.
    ///
    /// The value is the first capture group, or the whole match if there is none. Of several
    /// matches the last one counts, since programs print their summary last.
    pub fn from_regex(text: &str) -> Result<Self, MetricSpecError> {
        let (metric, rule) = name_and_rule(text, "REGEX")?;
        Self::by_regex(metric, rule)
    }

    /// Reads `metric` by a regular expression, likewise.
    pub fn by_regex(metric: Metric, rule: &str) -> Result<Self, MetricSpecError> {
        let regex = Regex::new(rule).map_err(|source| MetricSpecError::Regex {
            metric: metric.name.clone(),
            source: Box::new(source),
        })?;
        Ok(Self { metric, rule: Rule::Regex(regex) })
    }

    /// Reads `NAME=POINTER` or `NAME[UNIT,higher]=POINTER`, the pointer as in RFC 6901.
    ///
    /// The output has to be one JSON document; failing that its last line that is not empty has
    /// to be one, since programs print their summary last.
    pub fn from_json_pointer(text: &str) -> Result<Self, MetricSpecError> {
        let (metric, pointer) = name_and_rule(text, "POINTER")?;
        Self::by_json_pointer(metric, pointer)
    }

    /// Reads `metric` by a JSON pointer, likewise.
    pub fn by_json_pointer(metric: Metric, pointer: &str) -> Result<Self, MetricSpecError> {
        if !pointer.starts_with('/') {
            let (metric, pointer) = (metric.name, pointer.to_owned());
            return Err(MetricSpecError::Pointer { metric, pointer });
        }
        Ok(Self { metric, rule: Rule::Pointer(pointer.to_owned()) })
    }

    /// Returns what is read.
    pub fn metric(&self) -> &Metric {
        &self.metric
    }

    /// Reads the value from the output of one run.
    pub fn extract(&self, output: &[u8]) -> Result<f64, ExtractError> {
        match &self.rule {
            Rule::Regex(regex) => self.last_match(regex, output),
            Rule::Pointer(pointer) => self.at_pointer(pointer, output),
        }
    }

    fn last_match(&self, regex: &Regex, output: &[u8]) -> Result<f64, ExtractError> {
        let found = regex.captures_iter(output).last().ok_or_else(|| self.no_match(output))?;
        // A group that took no part in the match is no value.
        let index = usize::from(regex.captures_len() > 1);
        let text = found.get(index).ok_or_else(|| self.no_match(output))?.as_bytes();
        let number = std::str::from_utf8(text).ok().and_then(|text| text.trim().parse().ok());
        self.finite(number, || format!("`{}`", text.escape_ascii()))
    }

    fn at_pointer(&self, pointer: &str, output: &[u8]) -> Result<f64, ExtractError> {
        let document: Value = match serde_json::from_slice(output) {
            Ok(document) => document,
            Err(_) => serde_json::from_slice(last_line(output)).map_err(|error| {
                let metric = self.metric.name.clone();
                ExtractError::NotJson { metric, reason: error.to_string(), tail: tail(output) }
            })?,
        };
        let value = document.pointer(pointer).ok_or_else(|| self.no_match(output))?;
        self.finite(value.as_f64(), || format!("`{}`", tail(value.to_string().as_bytes())))
    }

    fn finite(
        &self,
        number: Option<f64>,
        shown: impl FnOnce() -> String,
    ) -> Result<f64, ExtractError> {
        number.filter(|number| number.is_finite()).ok_or_else(|| ExtractError::NotANumber {
            metric: self.metric.name.clone(),
            text: shown(),
        })
    }

    fn no_match(&self, output: &[u8]) -> ExtractError {
        ExtractError::NoMatch { metric: self.metric.name.clone(), tail: tail(output) }
    }
}

fn name_and_rule<'a>(
    text: &'a str,
    rule_name: &'static str,
) -> Result<(Metric, &'a str), MetricSpecError> {
    let form = || MetricSpecError::Form { text: text.to_owned(), rule: rule_name };
    // Up to the bracket first, because a unit may hold a `=` no less than a rule.
    let (name, brackets, rule) = match text.find(['[', '=']) {
        Some(at) if text[at..].starts_with('[') => {
            let (brackets, rule) = text[at + 1..].split_once("]=").ok_or_else(form)?;
            (&text[..at], Some(brackets), rule)
        }
        Some(at) => (&text[..at], None, &text[at + 1..]),
        None => return Err(form()),
    };
    let name = name.trim();
    if name.is_empty() || rule.is_empty() {
        return Err(form());
    }
    let mut metric = Metric::lower(name, Unit::Count);
    if let Some(brackets) = brackets {
        describe(&mut metric, brackets)?;
    }
    Ok((metric, rule))
}

fn describe(metric: &mut Metric, brackets: &str) -> Result<(), MetricSpecError> {
    let mut unit = None;
    let mut direction = None;
    let mut exact = None;
    for part in brackets.split(',').map(str::trim) {
        let is_new = match part {
            "higher" => direction.replace(Direction::Higher).is_none(),
            "lower" => direction.replace(Direction::Lower).is_none(),
            "exact" => exact.replace(true).is_none(),
            part => !part.is_empty() && unit.replace(Unit::from_name(part)).is_none(),
        };
        if !is_new {
            return Err(MetricSpecError::Brackets(brackets.to_owned()));
        }
    }
    metric.unit = unit.unwrap_or(Unit::Count);
    metric.direction = direction.unwrap_or(Direction::Lower);
    metric.exact = exact.unwrap_or(false);
    Ok(())
}

fn last_line(output: &[u8]) -> &[u8] {
    let output = output.trim_ascii_end();
    let start = output.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    &output[start..]
}

/// Shows the end of the output in one line of text.
fn tail(output: &[u8]) -> String {
    const LONGEST: usize = 200;
    let output = output.trim_ascii_end();
    if output.is_empty() {
        return "(nothing)".to_owned();
    }
    let cut = output.len().saturating_sub(LONGEST);
    let dots = if cut > 0 { "..." } else { "" };
    let text = String::from_utf8_lossy(&output[cut..]);
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("{dots}{text}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check_regex(spec: &str, output: &str, expected: &str) {
        check(&Extractor::from_regex(spec).unwrap(), output, expected);
    }

    #[track_caller]
    fn check_json(spec: &str, output: &str, expected: &str) {
        check(&Extractor::from_json_pointer(spec).unwrap(), output, expected);
    }

    #[track_caller]
    fn check(extractor: &Extractor, output: &str, expected: &str) {
        let shown = match extractor.extract(output.as_bytes()) {
            Ok(value) => value.to_string(),
            Err(error) => format!("error: {error}"),
        };
        assert_eq!(shown, expected);
    }

    #[test]
    fn the_first_group_or_else_the_whole_match_is_the_value() {
        check_regex(r"rate=rate: ([\d.]+) MB/s", "rate: 12.5 MB/s\n", "12.5");
        check_regex(r"n=\d+", "took 17 ms", "17");
        check_regex(r"x=x=(\S+)", "x=-1.5e3", "-1500");
    }

    #[test]
    fn of_several_matches_the_last_counts() {
        check_regex(r"t=time (\d+)", "time 1\ntime 2\ntime 3\n", "3");
    }

    #[test]
    fn no_match_shows_the_end_of_the_output() {
        check_regex(
            r"t=time (\d+)",
            "warming up\nfailed: no device\n",
            "error: nothing in the output matches the metric t; \
             it ends with: warming up failed: no device",
        );
        check_regex(
            r"t=time (\d+)",
            "",
            "error: nothing in the output matches the metric t; it ends with: (nothing)",
        );
    }

    #[test]
    fn what_is_not_a_finite_number_is_refused() {
        for text in ["NaN", "inf", "-infinity", "1e999", "1,234", "fast"] {
            let expected =
                format!("error: the metric t found `{text}`, which is not a finite number");
            check_regex(r"t=t=(\S+)", &format!("t={text}"), &expected);
        }
    }

    #[test]
    fn a_json_pointer_reads_the_document_or_its_last_line() {
        check_json("p=/latency/0/p99", r#"{"latency": [{"p99": 0.25}]}"#, "0.25");
        check_json("p=/v", "starting\n{\"v\": 1}\n{\"v\": 2}\n\n", "2");
        check_json("p=/a~1b", r#"{"a/b": 7}"#, "7");
        check_json(
            "p=/v",
            "hello",
            "error: the metric p needs JSON, but neither the output nor its last line is \
             (expected value at line 1 column 1); it ends with: hello",
        );
        check_json(
            "p=/v",
            r#"{"w": 1}"#,
            r#"error: nothing in the output matches the metric p; it ends with: {"w": 1}"#,
        );
        check_json(
            "p=/v",
            r#"{"v": "1"}"#,
            r#"error: the metric p found `"1"`, which is not a finite number"#,
        );
    }

    #[test]
    fn unit_direction_and_exactness_stand_in_brackets() {
        let metric = |spec| Extractor::from_regex(spec).unwrap().metric().clone();
        assert_eq!(metric("t=x"), Metric::lower("t", Unit::Count));
        assert_eq!(metric("t[s]=x[0-9]=y"), Metric::lower("t", Unit::Second));
        let higher = Metric { direction: Direction::Higher, ..Metric::lower("t", Unit::Count) };
        assert_eq!(metric("t[higher]=x"), higher);
        let rate = Metric { unit: Unit::Named("MB/s".into()), ..higher };
        assert_eq!(metric("t[MB/s, higher]=x"), rate);
        let exact = Metric { exact: true, ..Metric::lower("t", Unit::Byte) };
        assert_eq!(metric("t[B,exact]=x"), exact);
    }

    #[track_caller]
    fn check_refused(spec: &str, expected: &str) {
        assert_eq!(Extractor::from_regex(spec).unwrap_err().to_string(), expected);
    }

    #[test]
    fn a_wrong_rule_is_refused_with_the_right_form() {
        let form = "is not of the form NAME=REGEX or NAME[UNIT,higher]=REGEX";
        check_refused("t", &format!("`t` {form}"));
        check_refused("=x", &format!("`=x` {form}"));
        check_refused("t=", &format!("`t=` {form}"));
        check_refused("t[s=x", &format!("`t[s=x` {form}"));
        check_refused(
            "t[s,ms]=x",
            "`[s,ms]` must be a list of a unit, `higher` or `lower`, and `exact`, each at most once, \
             separated by commas",
        );
        check_refused("t=(", "the regular expression of the metric t is not valid");
        let error = Extractor::from_json_pointer("t=v").unwrap_err();
        let expected = "the JSON pointer `v` of the metric t does not start with `/`";
        assert_eq!(error.to_string(), expected);
    }

    proptest! {
        #[test]
        fn no_output_makes_an_extractor_panic_or_give_an_infinite_value(
            output in proptest::collection::vec(any::<u8>(), 0..300),
        ) {
            for extractor in [
                Extractor::from_regex(r"t=(?:(\S+)|a)").unwrap(),
                Extractor::from_regex(r"t=[0-9.eEinf-]*").unwrap(),
                Extractor::from_json_pointer("t=/0").unwrap(),
            ] {
                if let Ok(value) = extractor.extract(&output) {
                    prop_assert!(value.is_finite());
                }
            }
        }

        #[test]
        fn no_text_makes_a_rule_panic(text in "[a=\\[\\],/()é]{0,12}") {
            let _ = Extractor::from_regex(&text);
            let _ = Extractor::from_json_pointer(&text);
        }

        #[test]
        fn a_printed_number_is_read_back(number in proptest::num::f64::NORMAL) {
            let extractor = Extractor::from_regex(r"t=value (\S+)").unwrap();
            prop_assert_eq!(extractor.extract(format!("value {number}").as_bytes()), Ok(number));
            let extractor = Extractor::from_json_pointer("t=/v").unwrap();
            let output = format!("{{\"v\": {number:e}}}");
            prop_assert_eq!(extractor.extract(output.as_bytes()), Ok(number));
        }
    }
}
