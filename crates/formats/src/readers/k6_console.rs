//! k6: the summary that it prints at the end.
//!
//! - `http_req_duration....: avg=12.03ms min=551.29µs med=2.7ms max=369.96ms p(90)=12.33ms p(95)=27.3ms`: a trend, of times
//!   if its figures have units. `http_reqs....: 104 49.97/s` is a counter, `data_received....: 248 kB 119 kB/s` one of
//!   bytes, `my_rate....: 50.00% 52 out of 104` a rate (`✓ 52 ✗ 52` before 0.51), and `vus....: 2 min=2 max=2` a gauge.
//! - Below a metric stand those of it with a tag: `{ expected_response:true }...: avg=...`.
//! - Thresholds that were crossed have `✗` before the metric or, from 1.0 on, before the expression.
//!
//! Numbers are rounded to two digits behind the point. Several outputs are several processes.

use becalm_model::{ImportNote, Unit};
use serde_json::{Map, Value, json};

use crate::imported::Imported;
use crate::lines::{self, duration, lines, number, quantity};
use crate::readers::k6::EndSummary;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const TEXT: Entry = Entry {
    name: "k6-console",
    about: "summary of k6 (aggregates only)",
    recognise: Takes::File(|file| {
        ["iterations", "vus"].iter().any(|name| {
            lines::any(file, |line| metric(line).is_some_and(|(_, found, _)| found == *name))
        })
    }),
    read: Takes::File(read),
};

/// Splits a line into its mark, the name and what stands behind the dots.
fn metric(line: &str) -> Option<(&str, &str, &str)> {
    let line = line.trim();
    let (mark, rest) = match line.chars().next()? {
        '✓' | '✗' => line.split_at(line.chars().next()?.len_utf8()),
        _ => ("", line),
    };
    let (name, rest) = rest.trim_start().split_once("..")?;
    let (dots, value) = rest.split_once(':')?;
    let is_name = !name.is_empty() && (name.starts_with('{') || !name.contains(' '));
    (is_name && dots.bytes().all(|byte| byte == b'.'))
        .then(|| (mark, name.trim_end_matches('.'), value.trim()))
}

fn read(file: &File) -> Result<Imported, ImportError> {
    let mut script = String::new();
    // A process for each time that `iterations` comes again.
    let mut outputs: Vec<Vec<(String, Map<String, Value>)>> = vec![Vec::new()];
    let mut crossed = Vec::new();
    let mut last = String::new();
    for (_, line) in lines(file)? {
        if let Some(path) = line.trim().strip_prefix("script: ") {
            path.rsplit(['/', '\\']).next().unwrap_or_default().clone_into(&mut script);
        } else if let Some((mark, name, value)) = metric(&line) {
            let full = if name.starts_with('{') {
                format!("{last}{}", name.replace(' ', ""))
            } else {
                name.to_owned()
            };
            if !name.starts_with('{') {
                name.clone_into(&mut last);
            }
            let Some(values) = values(&full, value) else { continue };
            if outputs.last().is_some_and(|known| known.iter().any(|(one, _)| *one == full)) {
                outputs.push(Vec::new());
            }
            if mark == "✗" {
                crossed.push((String::new(), full.clone()));
            }
            if let Some(output) = outputs.last_mut() {
                output.push((full, values));
            }
        } else if let Some(rest) = line.trim().strip_prefix("✗ '")
            && let Some((expression, _)) = rest.split_once('\'')
        {
            crossed.push((expression.to_owned(), last.clone()));
        } else if !line.trim().is_empty() && !line.trim().contains(' ') {
            // The head of the thresholds of a metric.
            line.trim().clone_into(&mut last);
        }
    }
    let mut imported = Imported::of("k6");
    let subject = imported.subject(if script.is_empty() { "k6" } else { &script });
    for (expression, metric) in crossed {
        let expression = if expression.is_empty() { "of it".to_owned() } else { expression };
        imported.note(ImportNote::ThresholdCrossed { expression, metric });
    }
    for output in outputs {
        imported = EndSummary::read(file, imported, subject, &output)?;
    }
    Ok(imported)
}

/// Returns the values as k6 has them in its JSON: times in milliseconds.
fn values(name: &str, text: &str) -> Option<Map<String, Value>> {
    let of = |kind: &str, contains: &str, values: Value| {
        json!({"type": kind, "contains": contains, "values": values}).as_object().cloned()
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let [first, ..] = words[..] else { return None };
    if first.contains('=') {
        let mut is_time = false;
        let mut figures = Map::new();
        for word in &words {
            let (figure, value) = word.split_once('=')?;
            let number = number(value).or_else(|| {
                is_time = true;
                Some(duration(value)? * 1e3)
            })?;
            figures.insert(figure.to_owned(), json!(number));
        }
        return of("trend", if is_time { "time" } else { "default" }, Value::Object(figures));
    }
    if let Some(percent) = first.strip_suffix('%') {
        // The share as it was counted has more digits than the percentage.
        let counts: Vec<f64> = words[1..].iter().filter_map(|word| number(word)).collect();
        let counted = match (counts[..].first(), counts.get(1)) {
            (Some(hits), Some(all)) if words.contains(&"out") => Some(hits / all),
            (Some(passes), Some(fails)) => Some(passes / (passes + fails)),
            _ => None,
        };
        let share =
            counted.filter(|share| share.is_finite()).or_else(|| Some(number(percent)? / 100.0))?;
        return of("rate", "default", json!({"rate": share}));
    }
    if words.iter().any(|word| word.starts_with("min=")) {
        return of("gauge", "default", json!({"value": number(first)?}));
    }
    if let Some(rate) = text.strip_suffix("/s") {
        // `248 kB 119 kB`, or `104 49.97`.
        let middle = if words.len() == 4 { 2 } else { 1 };
        let (count, rate) = (
            words[..middle].join(" "),
            rate.split_whitespace().skip(middle).collect::<Vec<_>>().join(" "),
        );
        let read = |text: &str| match quantity(text)? {
            (value, Unit::Byte) => Some((value, true)),
            (value, Unit::Count) => Some((value, false)),
            _ => None,
        };
        let ((count, is_data), (rate, _)) = (read(&count)?, read(&rate)?);
        let contains = if is_data { "data" } else { "default" };
        return of("counter", contains, json!({"count": count, "rate": rate}));
    }
    // A gauge of one value, and no line of something else.
    let is_alone = words.len() == 1 && !name.is_empty();
    is_alone.then(|| of("gauge", "default", json!({"value": number(first)?})))?
}
