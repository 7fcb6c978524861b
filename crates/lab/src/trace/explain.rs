//! From what took time to what held a run up.
//!
//! A run is held up by what takes more from it than from the median run of the same subject: the tick
//! takes its share from every run and is no news. Who is noticed is decided by what was taken, against
//! its spread over the runs, never by the time that the run took.

use std::collections::BTreeMap;

use becalm_model::Record;
use becalm_model::metric::WALL_TIME;
use becalm_model::trace::{
    Cause, Culprit, Explanation, LongerRun, Trace, TracedRun, WatchedCpu, Worst,
};

use becalm_stats::center::median_of;

use super::advice::advice;

/// Runs without which nothing is typical.
const FEWEST_RUNS: usize = 3;

/// A run is told when more than this share of the median run was taken from it beyond the median.
const NOTICED_SHARE: f64 = 0.005;

/// And when it is this many robust standard deviations beyond.
const NOTICED_SIGMAS: f64 = 3.0;

/// From the median absolute deviation to the standard deviation of a normal distribution.
const MAD_TO_SIGMA: f64 = 1.4826;

/// Less than this many seconds are not told.
const SMALLEST: f64 = 20e-6;

/// A cause with less than this share of all that was taken beyond the median is not told.
const SMALLEST_CAUSE: f64 = 0.05;

/// Says which runs of a record were held up and by whom, and who is worst over all of them.
pub fn explain(record: &Record, trace: &Trace) -> Explanation {
    let is_measured =
        |traced: &&TracedRun| record.runs.get(traced.run).is_some_and(|run| !run.warmup);
    let measured: Vec<&TracedRun> = trace.runs.iter().filter(is_measured).collect();
    let mut longer = Vec::new();
    for subject in 0..record.subjects.len() {
        let of_subject = |traced: &&&TracedRun| record.runs[traced.run].subject == subject;
        let runs: Vec<&TracedRun> = measured.iter().filter(of_subject).copied().collect();
        longer.extend(held_up(record, &runs));
    }
    longer.sort_by_key(|one| one.run);
    Explanation { longer, runs: measured.len(), worst: worst(&measured) }
}

/// Says who took most from all CPUs that were watched, worst first.
pub fn worst_of_cpus(cpus: &[WatchedCpu]) -> Vec<Worst> {
    let as_run = |cpu: &WatchedCpu| TracedRun {
        run: 0,
        wall: cpu.window,
        threads: 1,
        own: 0.0,
        taken: cpu.taken.clone(),
    };
    let runs: Vec<TracedRun> = cpus.iter().map(as_run).collect();
    worst(&runs.iter().collect::<Vec<_>>())
}

/// Seconds by culprit, without what tells two of a kind apart.
type ByGroup = BTreeMap<Culprit, f64>;

fn held_up(record: &Record, runs: &[&TracedRun]) -> Vec<LongerRun> {
    if runs.len() < FEWEST_RUNS {
        return Vec::new();
    }
    let taken: Vec<ByGroup> = runs.iter().map(|run| by_group(run)).collect();
    let mut typical = ByGroup::new();
    for group in taken.iter().flat_map(|taken| taken.keys()) {
        if !typical.contains_key(group) {
            let values = taken.iter().map(|taken| taken.get(group).copied().unwrap_or(0.0));
            typical.insert(group.clone(), median(values.collect()));
        }
    }
    let beyond = |taken: &ByGroup| -> ByGroup {
        let beyond = taken.iter().map(|(group, seconds)| {
            (group.clone(), seconds - typical.get(group).copied().unwrap_or(0.0))
        });
        beyond.filter(|(_, seconds)| *seconds > 0.0).collect()
    };
    let totals: Vec<f64> = taken.iter().map(|taken| beyond(taken).values().sum()).collect();
    let level = median(totals.clone());
    let spread = median(totals.iter().map(|total| (total - level).abs()).collect());
    let walls: Vec<f64> = runs.iter().map(|run| wall(record, run)).collect();
    let usual = median(walls.clone());
    let limit =
        (NOTICED_SHARE * usual).max(level + NOTICED_SIGMAS * MAD_TO_SIGMA * spread).max(SMALLEST);
    let mut found = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        let longer = walls[index] - usual;
        if totals[index] < limit || longer <= 0.0 {
            continue;
        }
        let smallest = SMALLEST.max(SMALLEST_CAUSE * totals[index]);
        let mut causes: Vec<Cause> = beyond(&taken[index])
            .into_iter()
            .filter(|(_, seconds)| *seconds >= smallest)
            .map(|(group, seconds)| Cause { culprit: in_this_run(run, &group), seconds })
            .collect();
        causes.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        if !causes.is_empty() {
            found.push(LongerRun { run: run.run, longer, causes });
        }
    }
    found
}

/// Returns the wall time of a run as it was recorded.
fn wall(record: &Record, traced: &TracedRun) -> f64 {
    let metric = record.metric_index(WALL_TIME);
    let run = record.runs.get(traced.run);
    metric.zip(run).and_then(|(metric, run)| run.value(metric)).unwrap_or(traced.wall)
}

fn by_group(run: &TracedRun) -> ByGroup {
    let mut groups = ByGroup::new();
    for taken in &run.taken {
        *groups.entry(taken.culprit.group()).or_default() += taken.seconds;
    }
    groups
}

/// Returns the name that a group had in a run: the one of its members that took most.
fn in_this_run(run: &TracedRun, group: &Culprit) -> Culprit {
    let member = run.taken.iter().find(|taken| taken.culprit.group() == *group);
    member.map_or_else(|| group.clone(), |taken| taken.culprit.clone())
}

fn worst(runs: &[&TracedRun]) -> Vec<Worst> {
    let all: f64 = runs.iter().map(|run| run.wall).sum();
    let mut by_group: BTreeMap<Culprit, Worst> = BTreeMap::new();
    for run in runs {
        let mut seen: Vec<Culprit> = Vec::new();
        for taken in &run.taken {
            let group = taken.culprit.group();
            let one = by_group.entry(group.clone()).or_insert_with(|| Worst {
                advice: advice(&group),
                culprit: group.clone(),
                seconds: 0.0,
                share: 0.0,
                runs: 0,
                longest: 0.0,
            });
            one.seconds += taken.seconds;
            one.longest = one.longest.max(taken.longest);
            if !seen.contains(&group) {
                one.runs += 1;
                seen.push(group);
            }
        }
    }
    let mut worst: Vec<Worst> = by_group.into_values().collect();
    for one in &mut worst {
        one.share = if all > 0.0 { one.seconds / all } else { 0.0 };
    }
    worst.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    worst
}

fn median(mut values: Vec<f64>) -> f64 {
    if values.is_empty() { 0.0 } else { median_of(&mut values) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_model::trace::Taken;
    use becalm_model::{Metric, Outcome, RecordKind, Run, Subject};

    const TICK: f64 = 50e-6;

    fn tick() -> Culprit {
        Culprit::LocalInterrupt { kind: "local_timer".into(), function: None }
    }

    fn worker(number: u32) -> Culprit {
        Culprit::KernelThread {
            name: format!("kworker/1:{number}"),
            work: Some("wb_workfn".into()),
        }
    }

    /// Wall time of a run and what was taken from it.
    type Made<'a> = (f64, &'a [(Culprit, f64)]);

    /// A record of one subject, with one run for each of these wall times and takings; the tick takes
    /// its share from each.
    fn session(runs: &[Made<'_>]) -> (Record, Trace) {
        let run = |wall: f64| Run {
            subject: 0,
            round: 0,
            order: 0,
            warmup: false,
            discarded: false,
            started: 0.0,
            outcome: Outcome::Exited(0),
            values: vec![Some(wall)],
            parts: vec![],
            iterations: vec![],
            evidence: None,
            padding: 0,
            layout: None,
            load: None,
        };
        let record = Record {
            metrics: Metric::always(),
            subjects: vec![Subject::new("a", vec![])],
            runs: runs.iter().map(|(wall, _)| run(*wall)).collect(),
            ..Record::empty(RecordKind::Run)
        };
        let taken = |culprit: &Culprit, seconds| Taken {
            culprit: culprit.clone(),
            seconds,
            times: 1,
            longest: seconds,
        };
        let traced = |(index, (wall, all)): (usize, &Made<'_>)| TracedRun {
            run: index,
            wall: *wall,
            threads: 1,
            own: 0.0,
            taken: std::iter::once(taken(&tick(), TICK))
                .chain(all.iter().map(|(culprit, seconds)| taken(culprit, *seconds)))
                .collect(),
        };
        let runs = runs.iter().enumerate().map(traced).collect();
        (record, Trace { runs, ..Trace::default() })
    }

    #[track_caller]
    fn check(runs: &[Made<'_>], expected: &[&str]) {
        let (record, trace) = session(runs);
        let told: Vec<String> = explain(&record, &trace)
            .longer
            .iter()
            .map(|one| {
                let causes = one
                    .causes
                    .iter()
                    .map(|one| format!("{:.1} {}", one.seconds * 1e3, one.culprit));
                let causes: Vec<_> = causes.collect();
                format!("{}: {:.1} = {}", one.run, one.longer * 1e3, causes.join(" + "))
            })
            .collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn a_quiet_session_names_nobody() {
        check(&[(0.1, &[]), (0.1001, &[]), (0.0999, &[]), (0.1, &[])], &[]);
    }

    #[test]
    fn what_happens_in_one_run_alone_is_named_there() {
        check(
            &[
                (0.1, &[]),
                (0.1031, &[(worker(2), 0.0026), (Culprit::Steal, 0.0004), (Culprit::Gap, 1e-5)]),
                (0.1, &[]),
                (0.0999, &[]),
            ],
            &["1: 3.1 = 2.6 kworker/1:2 (writeback) + 0.4 steal by the hypervisor"],
        );
    }

    #[test]
    fn what_happens_in_every_run_is_told_over_all_and_not_in_each() {
        let fault = Culprit::MinorFault;
        let run: &[(Culprit, f64)] = &[(fault, 0.02)];
        let runs = [(0.12, run), (0.12, run), (0.12, run), (0.12, run)];
        check(&runs, &[]);
        let (record, trace) = session(&runs);
        let explained = explain(&record, &trace);
        assert_eq!(explained.worst[0].culprit, Culprit::MinorFault);
        assert!((explained.worst[0].share - 1.0 / 6.0).abs() < 1e-12);
        assert_eq!((explained.runs, explained.worst[0].runs), (4, 4));
    }

    #[test]
    fn workers_of_one_kind_go_together_over_all_runs() {
        let one: &[(Culprit, f64)] = &[(worker(1), 0.001)];
        let other: &[(Culprit, f64)] = &[(worker(2), 0.002)];
        let (record, trace) = session(&[(0.1, one), (0.1, other), (0.1, &[])]);
        let worst = explain(&record, &trace).worst;
        assert_eq!(worst[0].culprit.to_string(), "kworker (writeback)");
        assert!((worst[0].seconds - 0.003).abs() < 1e-12 && worst[0].runs == 2);
    }

    #[test]
    fn two_runs_have_nothing_typical() {
        check(&[(0.1, &[]), (0.2, &[(worker(1), 0.1)])], &[]);
    }
}
