//! iai, iai-callgrind and gungraun: what they print of Valgrind's counts.
//!
//! - iai: a name, and below it indented `Instructions:  1243 (+1.139138%)`.
//! - iai-callgrind and gungraun: `file::group::function id:arguments`, which may take several lines, and
//!   `Instructions:  1734|1650  (+5.09090%) [+1.04844x]`: new and old. `======= DHAT ===` begins the
//!   counts of another tool.
//! - The old values are left out: `becalm diff` compares.
//!
//! Several outputs in one file are several processes.

use becalm_model::Unit;

use crate::imported::{Imported, single};
use crate::lines::{self, lines, number};
use crate::readers::gungraun::direction;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const TEXT: Entry = Entry {
    name: "gungraun-text",
    about: "output of iai, iai-callgrind and gungraun",
    recognise: Takes::File(|file| {
        lines::any(file, |line| {
            count(line).is_some_and(|(label, _, is_compared)| {
                is_compared || label == "Instructions" || label == "Estimated Cycles"
            })
        })
    }),
    read: Takes::File(read),
};

fn read(file: &File) -> Result<Imported, ImportError> {
    let is_iai = !lines(file)?.any(|(_, line)| count(&line).is_some_and(|(.., compared)| compared));
    let tool = if is_iai { "iai" } else { "gungraun" };
    let mut imported = Imported::of(tool);
    // The lines that may be the name of what follows.
    let mut names: Vec<String> = Vec::new();
    let mut benchmark = String::new();
    let mut valgrind = String::new();
    for (_, line) in lines(file)? {
        if let Some(title) = line.strip_prefix("  =======") {
            title.trim_matches(['=', ' ']).to_lowercase().clone_into(&mut valgrind);
        } else if let Some((label, value, _)) = count(&line) {
            if let Some(name) = name_of(&names) {
                benchmark = name;
                names.clear();
            }
            if benchmark.is_empty() {
                continue;
            }
            let subject = imported.subject(tool);
            // Callgrind is what is meant if nothing is said.
            let measure = match valgrind.as_str() {
                "" | "callgrind" => label.to_owned(),
                other => format!("{other} {label}"),
            };
            let unit = match label {
                label if label.ends_with("Rate") => Unit::Named("%".to_owned()),
                label if label.ends_with("bytes") => Unit::Byte,
                _ => Unit::Count,
            };
            let metric = imported.benchmark(&benchmark, &measure, unit, direction(label));
            imported.add(subject, vec![single(metric, value)]);
        } else if line.trim().is_empty() {
            names.clear();
            benchmark.clear();
        } else if line.starts_with(' ') {
            // Details, such as the process that was counted.
            names.clear();
        } else {
            if names.is_empty() {
                valgrind.clear();
            }
            // A name has few lines.
            if names.len() == 64 {
                names.clear();
            }
            names.push(line.trim_end().to_owned());
        }
    }
    Ok(imported)
}

/// Reads `  Label:   new|old  (change)`, or `  Label:  new`. Says whether there is an old value.
fn count(line: &str) -> Option<(&str, f64, bool)> {
    let (label, rest) = line.strip_prefix("  ")?.split_once(": ")?;
    let is_label = label.starts_with(|c: char| c.is_ascii_alphabetic());
    let value = rest.split_whitespace().next()?;
    let (new, is_compared) = match value.split_once('|') {
        Some((new, _old)) => (new, true),
        None => (value, false),
    };
    let rest = rest.trim_start()[value.len()..].trim();
    let is_end = rest.is_empty() || rest.starts_with('(');
    (is_label && is_end).then_some(())?;
    Some((label, number(new)?, is_compared))
}

/// Returns the name that ends with the last line; it begins where a path of modules does.
fn name_of(names: &[String]) -> Option<String> {
    let last = names.len().checked_sub(1)?;
    let is_path = |line: &String| {
        let path = line.split_whitespace().next().unwrap_or_default();
        path.contains("::") && !path.ends_with(':')
    };
    let begin = names.iter().rposition(is_path).unwrap_or(last);
    Some(names[begin..].join(" "))
}
