//! XML of `JUnit` for gates, in the dialect that Jenkins and GitLab read
//! (<https://github.com/jenkinsci/xunit-plugin>, `junit-10.xsd`, and GitLab's unit test reports).
//!
//! - A comparison of a candidate with the baseline on a metric is a test case: `classname` is the candidate
//!   (and the benchmark), `name` the metric.
//! - What decides the exit code of becalm decides here too: only the primary metrics, or those that were
//!   chosen by name, fail when they are `slower`. Others are there with their verdict.
//! - `inconclusive` is skipped: it says neither that the gate holds nor that it does not.
//! - `time` is the median time of the candidate, where the metric is a time, in seconds.
//! - An objective of a load of `becalm load` is a test case, too: see [`objectives`].
//! - The numbers are properties of the suite and text in each case: the schema has no properties of cases.

use std::fmt::Write as _;

use becalm_model::{Comparison, Record, Unit, Verdict};

use crate::writers::names::Unique;
use crate::writers::{ExportError, Exported, Options, Writer, date, figures, numbers};

pub(crate) const XML: Writer = Writer {
    name: "junit",
    about: "JUnit XML with a test case per comparison, for the gates of Jenkins, GitLab and others",
    ending: "xml",
    write,
};

mod objectives;

/// One test case.
struct Case {
    class: String,
    name: String,
    /// In seconds.
    time: Option<f64>,
    result: CaseResult,
    sentence: String,
    numbers: Vec<(&'static str, String)>,
}

/// How it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CaseResult {
    Passes,
    /// For a reason of this type.
    Fails(&'static str),
    /// Nothing can be said.
    Skipped,
    /// What would have to be judged was not measured.
    Broken,
}

fn write(record: &Record, options: &Options) -> Result<Exported, ExportError> {
    let is_chosen = |one: &&Comparison| {
        let metric = options.metrics.as_ref().is_none_or(|chosen| chosen.contains(&one.metric));
        metric && options.subjects.as_ref().is_none_or(|chosen| chosen.contains(&one.candidate))
    };
    let chosen: Vec<&Comparison> = record.comparisons.iter().filter(is_chosen).collect();
    let mut names = Unique::default();
    let mut cases: Vec<Case> =
        chosen.iter().map(|one| case(record, one, options, &mut names)).collect();
    cases.extend(objectives::cases(record, options, &mut names));
    if cases.is_empty() {
        let why = match (record.comparisons.is_empty(), record.subjects.len()) {
            (true, ..2) if record.runs.iter().any(|run| run.load.is_some()) => {
                "the load was not compared with another one, and it had no --objective"
            }
            (true, ..2) => "one subject cannot be compared with itself",
            (true, _) => "it contains subjects that were not compared",
            (false, _) => "none of the comparisons matches what was chosen",
        };
        return Err(ExportError::NoComparison { why: why.to_owned() });
    }
    let is_slower = |one: &&&Comparison| one.verdict == Verdict::Slower && !decides(one, options);
    let besides = chosen.iter().filter(is_slower).count();
    let mut notes = Vec::new();
    if besides > 0 {
        notes.push(format!(
            "metrics that are slower but do not decide, and so pass: {besides}; --metric NAME lets one decide"
        ));
    }
    Ok(Exported { bytes: document(record, &cases).into_bytes(), notes })
}

fn case(record: &Record, one: &Comparison, options: &Options, names: &mut Unique) -> Case {
    let metric = &record.metrics[one.metric];
    let candidate = &record.subjects[one.candidate].name;
    let baseline = &record.subjects[one.baseline].name;
    let class = match &metric.benchmark {
        Some(benchmark) => format!("{candidate}/{benchmark}"),
        None => candidate.clone(),
    };
    let name = unique(names, &class, &metric.name);
    let values = record.values(one.candidate, one.metric);
    let time = figures::median(&values).filter(|time| metric.unit == Unit::Second && *time >= 0.0);
    let mut numbers = vec![
        ("baseline", baseline.clone()),
        ("verdict", one.verdict.name().to_owned()),
        ("confidence", numbers::text(one.confidence)),
        ("rounds", one.rounds.to_string()),
    ];
    let mut sentence = match one.verdict {
        Verdict::Inconclusive => "the data do not allow a decision".to_owned(),
        Verdict::Equivalent => format!("{candidate} is equivalent to {baseline}"),
        verdict => format!("{candidate} is {verdict} than {baseline}"),
    };
    match &one.ratio {
        Some(ratio) => {
            let ends =
                [("ratio", ratio.estimate), ("ratio_low", ratio.low), ("ratio_high", ratio.high)];
            numbers.extend(ends.map(|(name, end)| (name, numbers::text(end))));
            let _ = write!(
                sentence,
                " on {}: ratio {:.4}, {} % interval {:.4} .. {:.4}, {}",
                metric.name,
                ratio.estimate,
                percent(one.confidence),
                ratio.low,
                ratio.high,
                becalm_model::counted(one.rounds as usize, "round")
            );
        }
        None => {
            let _ = write!(sentence, " on {}: no ratio", metric.name);
        }
    }
    for note in one.notes.iter().filter_map(|note| options.sentence(note)) {
        let _ = write!(sentence, "; {note}");
    }
    Case {
        class,
        name,
        time,
        result: match one.verdict {
            Verdict::Slower if decides(one, options) => CaseResult::Fails("slower"),
            Verdict::Inconclusive => CaseResult::Skipped,
            Verdict::Slower | Verdict::Faster | Verdict::Equivalent => CaseResult::Passes,
        },
        sentence,
        numbers,
    }
}

fn decides(one: &Comparison, options: &Options) -> bool {
    one.primary || options.metrics.is_some()
}

/// Returns a name that no other case of the class has: two of the same name are one to GitLab.
fn unique(names: &mut Unique, class: &str, name: &str) -> String {
    let unique = names.unique(&format!("{class}\n{name}"));
    unique.strip_prefix(&format!("{class}\n")).unwrap_or(name).to_owned()
}

/// Writes a share as a percentage with at most two places.
fn percent(share: f64) -> String {
    let text = format!("{:.2}", share * 100.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn document(record: &Record, cases: &[Case]) -> String {
    let count = |is: fn(CaseResult) -> bool| cases.iter().filter(|one| is(one.result)).count();
    let failures = count(|result| matches!(result, CaseResult::Fails(_)));
    let skipped = count(|result| result == CaseResult::Skipped);
    let errors = count(|result| result == CaseResult::Broken);
    let time = cases.iter().filter_map(|one| one.time).fold(0.0, |sum, time| sum + time);
    let time = seconds(time);
    let tests = cases.len();
    let timestamp = date::iso(record.started_at)
        .map(|time| format!(" timestamp=\"{time}\""))
        .unwrap_or_default();
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let mut push = |line: std::fmt::Arguments| {
        xml.write_fmt(line).expect("a text can be written");
        xml.push('\n');
    };
    let all =
        format!("name=\"becalm\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\"");
    push(format_args!("<testsuites {all} time=\"{time}\">"));
    push(format_args!("  <testsuite {all} skipped=\"{skipped}\" time=\"{time}\"{timestamp}>"));
    push(format_args!("    <properties>"));
    let facts = ["cpu_model", "kernel_release", "virtualisation", "governor"];
    for name in facts {
        if let Some(value) = record.machine.facts.get(name) {
            push(format_args!("      <property name=\"{name}\" value=\"{}\"/>", escaped(value)));
        }
    }
    for case in cases {
        for (name, value) in &case.numbers {
            let name = escaped(&format!("{}/{}/{name}", case.class, case.name));
            push(format_args!("      <property name=\"{name}\" value=\"{}\"/>", escaped(value)));
        }
    }
    push(format_args!("    </properties>"));
    for case in cases {
        let time = case.time.map(|time| format!(" time=\"{}\"", seconds(time))).unwrap_or_default();
        let (class, name) = (escaped(&case.class), escaped(&case.name));
        push(format_args!("    <testcase classname=\"{class}\" name=\"{name}\"{time}>"));
        let sentence = escaped(&case.sentence);
        let line = match case.result {
            CaseResult::Passes => format!("<system-out>{sentence}</system-out>"),
            CaseResult::Fails(why) => {
                format!("<failure message=\"{sentence}\" type=\"{why}\">{sentence}</failure>")
            }
            CaseResult::Skipped => format!("<skipped message=\"{sentence}\"/>"),
            CaseResult::Broken => format!("<error message=\"{sentence}\" type=\"invalid\"/>"),
        };
        push(format_args!("      {line}"));
        push(format_args!("    </testcase>"));
    }
    push(format_args!("  </testsuite>"));
    push(format_args!("</testsuites>"));
    xml
}

/// Writes seconds without an exponent, which XML's decimal numbers have not.
fn seconds(time: f64) -> String {
    let text = format!("{time:.9}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Escapes text for XML. What XML 1.0 cannot hold at all, such as most control characters, is replaced.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // A plain one in an attribute would be read as a space.
            '\t' => escaped.push_str("&#9;"),
            '\n' => escaped.push_str("&#10;"),
            '\r' => escaped.push_str("&#13;"),
            c if c.is_control() && c < '\u{20}' => escaped.push('\u{fffd}'),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
