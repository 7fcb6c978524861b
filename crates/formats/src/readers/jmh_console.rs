//! JMH: `-rf csv`, `-rf scsv`, `-rf text`, and what it prints.
//!
//! - CSV: `"Benchmark","Mode","Threads","Samples","Score","Score Error (99.9%)","Unit"`, then `"Param: x"` columns; `scsv`
//!   has `;`. Rows `name:p0.50` are percentiles, other `name:measure` are of profilers.
//! - The table: `Benchmark (n) Mode Cnt Score Error Units`, with parameters in columns of their own. Small scores are
//!   `≈ 10⁻⁴`, which is no value; of a
//!   benchmark that has such an iteration the mean is taken.
//! - Scores are means of all iterations. In front of the table, JMH prints each iteration of each fork, with three
//!   digits behind the point: these are taken where they are.

use std::collections::{HashMap, HashSet};

use becalm_model::{Direction, Part, Unit};

use crate::imported::{Imported, part, single};
use crate::lines::{self, lines, number};
use crate::readers::table::Table;
use crate::units;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const CSV: Entry = Entry {
    name: "jmh-csv",
    about: "JMH -rf csv and -rf scsv (aggregates only)",
    recognise: Takes::File(|file| lines::any(file, |line| separator(line).is_some())),
    read: Takes::File(read_csv),
};

pub(crate) const TEXT: Entry = Entry {
    name: "jmh-text",
    about: "output of JMH, and JMH -rf text",
    recognise: Takes::File(|file| lines::any(file, |line| Head::of(line).is_some())),
    read: Takes::File(read_text),
};

fn separator(line: &str) -> Option<u8> {
    [b',', b';'].into_iter().find(|separator| {
        let between = char::from(*separator);
        let head = ["Benchmark", "Mode", "Threads", "Samples", "Score"];
        let names: Vec<&str> = line.split(between).map(|name| name.trim_matches('"')).collect();
        names.starts_with(&head)
    })
}

/// One row of a table.
struct Row {
    benchmark: String,
    /// What a profiler or a percentile is called; empty for the score itself.
    measure: String,
    parameters: Vec<(String, String)>,
    mode: String,
    unit: String,
    score: f64,
    error: Option<f64>,
    samples: Option<f64>,
}

fn split_measure(name: &str) -> (String, String) {
    match name.split_once(':') {
        Some((name, measure)) => (name.to_owned(), measure.trim_start_matches('·').to_owned()),
        None => (name.to_owned(), String::new()),
    }
}

fn read_csv(file: &File) -> Result<Imported, ImportError> {
    let head = file.text()?.lines().find_map(separator).unwrap_or(b',');
    let mut table = Table::separated(file, head, |line| separator(line).is_some())?;
    for column in ["Benchmark", "Score"] {
        table.require(column)?;
    }
    let parameters: Vec<String> = table
        .header()
        .iter()
        .filter(|name| name.starts_with("Param: "))
        .map(str::to_owned)
        .collect();
    let mut rows = Vec::new();
    while let Some(row) = table.next()? {
        let text = row.text("Score");
        let score = match number(&text.replace(',', ".")) {
            Some(score) => score,
            None if text == "NaN" => continue,
            None => return Err(row.wrong("a number as Score", text)),
        };
        let (benchmark, measure) = split_measure(row.text("Benchmark"));
        let of = |column: &String| {
            let value = row.text(column);
            let name = column.strip_prefix("Param: ").unwrap_or(column);
            (!value.is_empty()).then(|| (name.to_owned(), value.to_owned()))
        };
        rows.push(Row {
            benchmark,
            measure,
            parameters: parameters.iter().filter_map(of).collect(),
            mode: row.text("Mode").to_owned(),
            unit: row.text("Unit").to_owned(),
            score,
            error: number(&row.text("Score Error (99.9%)").replace(',', ".")),
            samples: number(row.text("Samples")),
        });
    }
    let mut imported = Imported::of("JMH");
    add(&mut imported, rows, HashMap::new());
    Ok(imported)
}

/// Where the columns of the table are, in letters.
struct Head {
    /// Names of the columns with where they end; the first begins the line.
    columns: Vec<(String, usize)>,
}

impl Head {
    fn of(line: &str) -> Option<Self> {
        let line = line.trim_end();
        if !line.starts_with("Benchmark ") || !line.contains(" Mode ") || !line.ends_with("Units") {
            return None;
        }
        let mut columns = Vec::new();
        let mut end = 0;
        for word in line.split_whitespace() {
            end += line[end..].find(word)? + word.len();
            columns.push((word.to_owned(), line[..end].chars().count()));
        }
        columns.iter().any(|(name, _)| name == "Score").then_some(Self { columns })
    }

    /// Returns the cells of a row by the names of their columns: each ends where its title does.
    fn cells(&self, line: &str) -> HashMap<&str, String> {
        let letters: Vec<char> = line.chars().collect();
        let mut cells = HashMap::new();
        // The name is as wide as the widest one, and then comes a space.
        let first = letters.iter().position(|c| c.is_whitespace()).unwrap_or(letters.len());
        let mut from = first;
        cells.insert("Benchmark", letters[..first].iter().collect());
        for (at, (name, end)) in self.columns.iter().enumerate().skip(1) {
            let is_last = at + 1 == self.columns.len();
            let end = if is_last { letters.len() } else { (*end).clamp(from, letters.len()) };
            let text: String = letters[from..end].iter().collect();
            cells.insert(name.as_str(), text.trim().to_owned());
            from = end;
        }
        cells
    }
}

fn read_text(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("JMH");
    let mut iterations = Iterations::default();
    let mut head: Option<Head> = None;
    let mut rows = Vec::new();
    for (at, line) in lines(file)? {
        if let Some(found) = Head::of(&line) {
            head = Some(found);
        } else if line.trim().is_empty() {
            if head.take().is_some() {
                add(&mut imported, std::mem::take(&mut rows), iterations.take());
            }
        } else if let Some(head) = &head {
            let cells = head.cells(&line);
            let of = |name: &str| cells.get(name).map(String::as_str).unwrap_or_default();
            let score = of("Score");
            if score.starts_with('≈') || score == "NaN" {
                continue;
            }
            let score = number(score)
                .ok_or_else(|| ImportError::at_line(file, at, "a number as Score", &line))?;
            let (benchmark, measure) = split_measure(of("Benchmark"));
            let parameters = head.columns.iter().filter_map(|(name, _)| {
                let own = name.strip_prefix('(')?.strip_suffix(')')?;
                let value = of(name);
                (value != "N/A" && !value.is_empty()).then(|| (own.to_owned(), value.to_owned()))
            });
            rows.push(Row {
                benchmark,
                measure,
                parameters: parameters.collect(),
                mode: of("Mode").to_owned(),
                unit: of("Units").to_owned(),
                score,
                error: number(of("Error").trim_start_matches('±')),
                samples: number(of("Cnt")),
            });
        } else {
            iterations.line(&mut imported, &line);
        }
    }
    add(&mut imported, rows, iterations.take());
    Ok(imported)
}

/// A benchmark with its parameters, in a mode.
type Key = (String, Vec<(String, String)>, String);

/// The iterations that JMH prints in front of its table.
#[derive(Default)]
struct Iterations {
    mode: &'static str,
    benchmark: String,
    parameters: Vec<(String, String)>,
    /// For each benchmark the values of each fork, and their unit.
    forks: HashMap<Key, (Vec<Vec<f64>>, String)>,
}

impl Iterations {
    fn line(&mut self, imported: &mut Imported, line: &str) {
        if let Some(version) = line.strip_prefix("# JMH version: ") {
            imported.fact("jmh_version", version);
        } else if let Some(version) = line.strip_prefix("# VM version: ") {
            imported.fact("jdk", version);
        } else if let Some(mode) = line.strip_prefix("# Benchmark mode: ") {
            self.mode = match mode.split(',').next() {
                Some("Throughput") => "thrpt",
                Some("Average time") => "avgt",
                Some("Sampling time") => "sample",
                Some("Single shot invocation time") => "ss",
                _ => "",
            };
        } else if let Some(name) = line.strip_prefix("# Benchmark: ") {
            name.trim().clone_into(&mut self.benchmark);
            self.parameters.clear();
        } else if let Some(list) = line.strip_prefix("# Parameters: (") {
            let list = list.trim_end().trim_end_matches(')');
            // A comma may stand in a value, too: only behind it comes another name.
            for one in list.split(", ") {
                match (one.split_once(" = "), self.parameters.last_mut()) {
                    (Some((name, value)), _) => {
                        self.parameters.push((name.to_owned(), value.to_owned()));
                    }
                    (None, Some((_, value))) => value.extend([", ", one]),
                    (None, None) => {}
                }
            }
        } else if line.starts_with("# Fork: ") {
            self.values().0.push(Vec::new());
        } else if let Some(rest) = line.strip_prefix("Iteration ")
            && let Some((_, score)) = rest.split_once(": ")
        {
            // `0.078 us/op`, and in mode `sample` `0.020 ±(99.9%) 0.064 ms/op`.
            let mut words = score.split_whitespace();
            let (value, unit) = (words.next().and_then(number), words.next_back());
            let (forks, known) = self.values();
            unit.unwrap_or_default().clone_into(known);
            if forks.is_empty() {
                forks.push(Vec::new());
            }
            if let Some(last) = forks.last_mut() {
                // Without those that are too small to be printed, the others say too much.
                last.push(value.unwrap_or(f64::NAN));
            }
        }
    }

    fn values(&mut self) -> &mut (Vec<Vec<f64>>, String) {
        let key = (self.benchmark.clone(), self.parameters.clone(), self.mode.to_owned());
        self.forks.entry(key).or_default()
    }

    fn take(&mut self) -> HashMap<Key, (Vec<Vec<f64>>, String)> {
        std::mem::take(&mut self.forks)
    }
}

/// Says whether every iteration has a value.
fn are_known(forks: &[Vec<f64>]) -> bool {
    let mut all = forks.iter().flatten().peekable();
    all.peek().is_some() && all.all(|value| value.is_finite())
}

/// Returns class and method of a benchmark.
fn last_words(name: &str) -> &str {
    name.rmatch_indices('.').nth(1).map_or(name, |(at, _)| &name[at + 1..])
}

/// Adds the rows of a table, with the iterations where they are known.
fn add(
    imported: &mut Imported,
    rows: Vec<Row>,
    mut iterations: HashMap<Key, (Vec<Vec<f64>>, String)>,
) {
    let subject = imported.subject("JMH");
    let name = |row: &Row| {
        let list: Vec<String> =
            row.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if list.is_empty() {
            row.benchmark.clone()
        } else {
            format!("{} ({})", row.benchmark, list.join(", "))
        }
    };
    let mut modes: HashMap<String, HashSet<String>> = HashMap::new();
    for row in &rows {
        modes.entry(name(row)).or_default().insert(row.mode.clone());
    }
    let mut by_name: HashMap<String, Vec<Key>> = HashMap::new();
    for key in iterations.keys() {
        by_name.entry(last_words(&key.0).to_owned()).or_default().push(key.clone());
    }
    let mut processes: Vec<Vec<Part>> = vec![Vec::new()];
    for row in rows {
        let plain = name(&row);
        let full = if modes[&plain].len() > 1 { format!("{plain} {}", row.mode) } else { plain };
        let (unit, factor) = units::unit_per(&row.unit);
        if let Some(share) =
            row.measure.strip_prefix('p').and_then(|share| share.parse::<f64>().ok())
        {
            let metric = imported.benchmark(&full, "", unit, Direction::Lower);
            let figure = match share {
                0.0 => "minimum".to_owned(),
                0.5 => "median".to_owned(),
                1.0 => "maximum".to_owned(),
                // As percent, without the rounding of a product.
                _ => format!("p{}", (share * 1e6).round() / 1e4),
            };
            imported.summary(subject, metric, [(figure, Some(row.score * factor))]);
            continue;
        }
        let is_rate = matches!(&unit, Unit::Named(name) if name.starts_with("op"));
        let direction = match row.mode.as_str() {
            "thrpt" if row.measure.is_empty() => Direction::Higher,
            _ if is_rate && !row.measure.starts_with("gc.") => {
                units::usual_direction(&unit.to_string())
            }
            _ => Direction::Lower,
        };
        let metric = imported.benchmark(&full, &row.measure, unit, direction);
        let interval =
            row.error.map(|error| [("low", row.score - error), ("high", row.score + error)]);
        let mut figures = vec![("mean", Some(row.score * factor))];
        figures.extend(
            interval.into_iter().flatten().map(|(name, value)| (name, Some(value * factor))),
        );
        if row.error.is_some() {
            figures.push(("confidence", Some(0.999)));
        }
        figures.push(("samples", row.samples));
        imported.summary(subject, metric, figures);
        let known = by_name.get(last_words(&row.benchmark)).into_iter().flatten();
        let key = known.into_iter().find(|(benchmark, parameters, mode)| {
            // The table leaves the packages out.
            let is_same =
                *benchmark == row.benchmark || benchmark.ends_with(&format!(".{}", row.benchmark));
            is_same && *parameters == row.parameters && *mode == row.mode && row.measure.is_empty()
        });
        match key.and_then(|key| iterations.remove(key)) {
            Some((forks, unit)) if are_known(&forks) => {
                let (_, factor) = units::unit_per(&unit);
                processes.resize_with(processes.len().max(forks.len()), Vec::new);
                for (process, fork) in processes.iter_mut().zip(forks) {
                    process.extend(part(
                        metric,
                        fork.into_iter().map(|value| value * factor).collect(),
                    ));
                }
            }
            _ => {
                imported.stand_in(metric, "mean");
                processes[0].push(single(metric, row.score * factor));
            }
        }
    }
    for parts in processes {
        imported.parts(subject, parts);
    }
}
