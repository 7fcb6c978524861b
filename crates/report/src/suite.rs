//! Suites: a table of all benchmarks, what would be measured, and how long it takes.

use becalm_model::{DisturbedRun, Record, SuiteOutlook};

use crate::comparison::notes_and_limits;
use crate::disturbed;
use crate::labels::Labels;
use crate::moment::{self, roughly};
use crate::outcomes;
use crate::page::Page;
use crate::quantity::{NBSP, Scale, confidence, count, percent};
use crate::shown;
use crate::single::write_conditions;
use crate::style::{Role, Style};
use crate::table::{Align, Cell, Table};

/// One benchmark that would be measured.
#[derive(Debug, Clone, PartialEq)]
pub struct SuiteEntry {
    /// Its name with its parameters.
    pub name: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// What is run.
    pub command: Vec<String>,
    /// Its runs; a maximum if there is a budget too.
    pub rounds: Option<u32>,
    /// Its time budget in seconds.
    pub budget: Option<f64>,
}

/// Says how long it will take: `suite: 12 benchmarks, about 4 min (at most 6 min)`.
pub fn outlook_text(outlook: &SuiteOutlook) -> String {
    let at_most = roughly(outlook.at_most).replace(NBSP, " ");
    let all = count(outlook.benchmarks, "benchmark").replace(NBSP, " ");
    let open = outlook.benchmarks.saturating_sub(outlook.limited);
    match outlook.about {
        Some(_) if outlook.limited == 0 => {
            format!("suite: {all}, by number of runs; the time is unknown until they are made")
        }
        Some(about) => {
            let most = if at_most == roughly(about).replace(NBSP, " ") {
                String::new()
            } else {
                format!(" (at most {at_most})")
            };
            let about = moment::about(about).replace(NBSP, " ");
            let others = if open == 0 {
                String::new()
            } else {
                let they = if open == 1 { "ends" } else { "end" };
                format!(", without {open} that {they} by number of runs")
            };
            format!("suite: {all}, {about} left{most}{others}")
        }
        None if open == 0 => format!("suite: {all}, at most {at_most} and the warm-up"),
        None if outlook.limited == 0 => {
            format!("suite: {all}, by number of runs; the warm-up shows how long that takes")
        }
        None => format!(
            "suite: {all}, at most {at_most} for {} of them, {open} by number of runs; the warm-up shows how \
             long that takes",
            outlook.limited
        ),
    }
}

/// Lists what would be measured.
pub fn suite_list_text(entries: &[SuiteEntry], style: &Style) -> String {
    let mut table = Table::new([
        ("benchmark", Align::Left),
        ("runs", Align::Right),
        ("budget", Align::Right),
        ("tags", Align::Left),
        ("command", Align::Left),
    ]);
    for entry in entries {
        table.push([
            entry.name.as_str().into(),
            entry.rounds.map_or(String::new(), |rounds| rounds.to_string()).into(),
            entry.budget.map_or(String::new(), roughly).into(),
            entry.tags.join(", ").into(),
            becalm_model::shell_line(&entry.command).into(),
        ]);
    }
    let mut page = Page::new(style);
    page.table(&table);
    page.finish()
}

/// Draws one line for each benchmark and each of its main metrics, and under which conditions they
/// were measured.
pub fn suite_text(record: &Record, disturbed: &[DisturbedRun], style: &Style) -> String {
    let mut page = Page::new(style);
    page.table(&table(record, style.unicode));
    page.gap();
    page.say(&format!("Runs: {}.", disturbed::summary(record, disturbed, None)));
    outcomes::say(&mut page, record);
    write_conditions(&mut page, record);
    notes_and_limits(&mut page, record, &Labels::of(&record.subjects));
    page.finish()
}

/// Lists each benchmark with its main metrics.
pub(crate) fn table(record: &Record, unicode: bool) -> Table {
    let interval = format!("{} interval", confidence(shown::confidence(record)));
    let mut table = Table::new([
        ("benchmark", Align::Left),
        ("metric", Align::Left),
        ("median", Align::Right),
        (interval.as_str(), Align::Right),
        ("CV", Align::Right),
        ("runs", Align::Right),
    ]);
    for (subject, named) in record.subjects.iter().enumerate() {
        let metrics = record.about(subject);
        if metrics.is_empty() {
            table.push([named.name.as_str().into(), Cell::of(Role::Warning, "not measured")]);
        }
        for (index, metric) in metrics.into_iter().enumerate() {
            let Some(sample) = shown::any_sample(record, subject, metric) else { continue };
            let summary = shown::summary(record, &sample);
            let described = shown::metric_at(record, metric);
            let scale = Scale::of_summaries(&described.unit, [&summary], unicode);
            let range = summary.median_interval.map(|i| scale.range(i.low, i.high));
            table.push([
                if index == 0 { named.name.as_str().into() } else { "".into() },
                described.name.as_str().into(),
                scale.with_unit(summary.median).into(),
                range.unwrap_or_else(|| "too few runs".to_owned()).into(),
                summary.cv.map_or("-".into(), percent).into(),
                summary.n.to_string().into(),
            ]);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use becalm_model::{
        Metric, MetricTerms, Outcome, RecordKind, Run, Subject, SubjectTerms, Unit,
    };

    use super::*;

    fn record() -> Record {
        let subject = |name: &str| Subject::new(name, vec!["./bench".to_owned()]);
        let mut record = Record::empty(RecordKind::Run);
        record.metrics = Metric::always();
        record.metrics.push(Metric { exact: true, ..Metric::lower("steps", Unit::Count) });
        record.subjects = ["sort size=10", "walk", "broken"].map(subject).to_vec();
        record.suite = vec![SubjectTerms::default(); 3];
        record.suite[1].metrics = ["max_rss", "wall_time"]
            .map(|name| MetricTerms { name: name.to_owned(), margin: None })
            .to_vec();
        for round in 0..8 {
            for subject in 0..2 {
                let wall = 0.01 + 0.0001 * f64::from(round % 3);
                let mut values: Vec<_> = [wall, wall, wall, 0.0, 2e6].map(Some).to_vec();
                values.push((subject == 0).then_some(42.0));
                record.runs.push(Run {
                    subject,
                    round,
                    order: 0,
                    warmup: false,
                    discarded: false,
                    started: f64::from(round),
                    outcome: Outcome::Exited(0),
                    values,
                    parts: vec![],
                    iterations: vec![],
                    evidence: None,
                    padding: 0,
                    layout: None,
                    load: None,
                });
            }
        }
        record
    }

    #[test]
    fn every_benchmark_has_a_line_for_each_metric_that_it_is_about() {
        insta::assert_snapshot!(table(&record(), false).text(&Style::PLAIN), @r"
        benchmark     metric           median       95 % interval      CV  runs
        sort size=10  wall_time      10.10 ms   10.00 .. 10.20 ms  0.83 %     8
                      steps                42            42 .. 42     0 %     8
        walk          max_rss       1.907 MiB  1.907 .. 1.907 MiB     0 %     8
                      wall_time      10.10 ms   10.00 .. 10.20 ms  0.83 %     8
        broken        not measured
        ");
    }

    #[test]
    fn the_time_is_told_as_far_as_it_is_known() {
        let outlook = |limited, about| {
            outlook_text(&SuiteOutlook { benchmarks: 12, limited, at_most: 360.0, about })
        };
        assert_eq!(outlook(12, None), "suite: 12 benchmarks, at most 6 min and the warm-up");
        assert!(outlook(9, None).contains("at most 6 min for 9 of them, 3 by number of runs"));
        assert_eq!(
            outlook(12, Some(240.0)),
            "suite: 12 benchmarks, about 4 min left (at most 6 min)"
        );
        assert_eq!(outlook(12, Some(360.0)), "suite: 12 benchmarks, about 6 min left");
    }
}
