//! What `bencher perf` prints and Bencher's API answers: the values of a project over its reports.
//!
//! - `{project, results: [{branch, testbed, benchmark, measure: {name, slug, units}, metrics: [{report, iteration,
//!   start_time, version: {number, hash}, metric: {value, lower_value, upper_value}}]}]}`: each of `results` is a line of a
//!   plot. Newer ones have a set of parameters (`parameter.set`), and figures of any name in `metrics` of a point.
//! - `start_time` is when the report began; when the commit was made is not in the file, and a report may have no commit.
//! - Units are words with a symbol behind them, `bytes (B)`. Which way is better is not in the file.
//!
//! An iteration of a report, on its branch and testbed, is a process.

use std::collections::BTreeMap;

use becalm_model::history::AtCommit;
use becalm_model::{Unit, parse_time};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::ImportError;
use crate::file::{File, only};
use crate::imported::{Imported, parameters_of};
use crate::json::{self, Maybe, Text};
use crate::readers::bmf::{self, Described, Report};
use crate::units;

/// Name of the format.
pub(crate) const NAME: &str = "bencher-perf";

/// Says whether these are the values of a project.
pub(crate) fn is_history(files: &[File]) -> bool {
    let fields = ["\"results\"", "\"testbed\"", "\"benchmark\"", "\"measure\"", "\"start_time\""];
    only(files).is_ok_and(|file| json::names(file, &['{'], &fields))
}

#[derive(Deserialize)]
struct Document {
    project: Maybe<Named>,
    results: Vec<Line>,
}

#[derive(Default, Deserialize)]
struct Named {
    name: Text,
}

#[derive(Deserialize)]
struct Line {
    branch: Named,
    testbed: Named,
    benchmark: Named,
    parameter: Maybe<Parameter>,
    measure: Measure,
    metrics: Vec<Point>,
}

#[derive(Default, Deserialize)]
struct Parameter {
    set: Maybe<Map<String, Value>>,
}

#[derive(Deserialize)]
struct Measure {
    name: Text,
    slug: Text,
    units: Text,
}

#[derive(Deserialize)]
struct Point {
    report: Text,
    iteration: Maybe<u32>,
    start_time: Text,
    version: Maybe<Version>,
    metric: Maybe<Map<String, Value>>,
    metrics: Maybe<Map<String, Value>>,
}

#[derive(Default, Deserialize)]
struct Version {
    hash: Text,
}

/// What tells one process from another.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Place<'a> {
    branch: &'a str,
    testbed: &'a str,
    report: &'a str,
    iteration: u32,
}

/// A point of a line, and what it has of numbers.
type Measured<'a> = (&'a Line, &'a Point, Vec<(&'a str, f64)>);

/// Reads every iteration of every report as a measurement of its commit.
pub(crate) fn commits(files: &[File]) -> Result<Vec<AtCommit>, ImportError> {
    let file = only(files)?;
    let document: Document = json::read(file)?;
    let mut processes: BTreeMap<Place<'_>, Vec<Measured<'_>>> = BTreeMap::new();
    for line in &document.results {
        let with_figures = line.metrics.iter().map(|point| (point, figures(point)));
        for (point, figures) in with_figures.filter(|(_, figures)| !figures.is_empty()) {
            let place = Place {
                branch: &line.branch.name.0,
                testbed: &line.testbed.name.0,
                report: &point.report.0,
                iteration: point.iteration.0,
            };
            processes.entry(place).or_default().push((line, point, figures));
        }
    }
    let mut commits = Vec::with_capacity(processes.len());
    for (place, points) in &processes {
        let Some((_, first, _)) = points.first() else { continue };
        let mut imported = Imported::of("Bencher");
        imported.fact("project", &document.project.name.0);
        imported.started_at(parse_time(&first.start_time.0).unwrap_or(0.0));
        let parameters = parameters_of([("testbed", place.testbed)]);
        let subject = imported.command("Bencher", Vec::new(), parameters);
        let mut report = Report::of(file, imported, subject);
        for (line, _, figures) in points {
            let set = Some(&line.parameter.set.0).filter(|set| !set.is_empty());
            let name = bmf::with_parameters(&line.benchmark.name.0, set);
            report.measure(&name, described(&line.measure), figures);
        }
        let known = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        commits.push(AtCommit {
            branch: known(place.branch),
            ..AtCommit::of(known(&first.version.hash.0), report.finish().finish(file)?)
        });
    }
    commits.sort_by(|a, b| a.record.started_at.total_cmp(&b.record.started_at));
    Ok(commits)
}

/// Returns what a point has of numbers, by name.
fn figures(point: &Point) -> Vec<(&str, f64)> {
    let named = point.metrics.iter();
    let named = named.filter_map(|(name, one)| Some((name.as_str(), one.get("value")?.as_f64()?)));
    let named: Vec<(&str, f64)> = named.collect();
    if !named.is_empty() {
        return named;
    }
    let metric = point.metric.iter();
    metric.filter_map(|(name, value)| Some((name.as_str(), value.as_f64()?))).collect()
}

/// Describes a measure as [`bmf`] does, so that files of both have the same series; where a name alone tells nothing, by
/// its units.
fn described(measure: &Measure) -> Described<'_> {
    let (slug, name) = (measure.slug.0.as_str(), measure.name.0.as_str());
    let known = [slug, name].map(bmf::described).into_iter().find(|one| one.1 != Unit::Count);
    if let Some(known) = known {
        return known;
    }
    let short = if name.is_empty() { slug } else { name };
    let words = measure.units.0.trim();
    let symbol = words.strip_suffix(')').and_then(|words| words.rsplit_once('('));
    let symbol = symbol.map_or(words, |(_, symbol)| symbol);
    let (unit, factor) = units::unit_per(symbol);
    let direction = units::usual_direction(&unit.to_string());
    match unit {
        // `instructions` and the like say what is counted, as the name does.
        Unit::Named(_) if [name, slug].iter().any(|said| said.eq_ignore_ascii_case(symbol)) => {
            (short, Unit::Count, 1.0, direction)
        }
        unit => (short, unit, factor, direction),
    }
}
