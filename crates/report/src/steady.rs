//! Whether runs settle, and after how many iterations: the output of `becalm stats --steady`, and
//! what `becalm run` reports about iterations inside runs.

use becalm_model::{Record, Run, Unit, metric};
use becalm_stats::steady::{
    Agreement, Class, FEWEST_ITERATIONS, Steady, TOLERANCE, agreement, classify, warm_up,
};
use becalm_stats::{Sample, Violation};

use crate::iterations::{DRAWN, class_word, more_not_drawn};
use crate::moment::roughly;
use crate::page::{Page, caption};
use crate::quantity::{NBSP, Scale, TIMES_FROM, count, percent, signed_percent, times};
use crate::sequence::{Point, PointKind, Words, sequence_in};
use crate::style::{Role, Style};
use crate::table::{Align, Table};

/// The iterations of one run, and their classification.
#[derive(Debug, Clone, PartialEq)]
pub struct SteadyRun {
    /// Name of the run: a file, or a round.
    pub name: String,
    /// Iterations in time order, in seconds.
    pub series: Sample,
    /// Their classification.
    pub steady: Steady,
    /// Share of the run's time for which its main thread waited for a CPU, where that is known.
    pub waited: Option<f64>,
}

impl SteadyRun {
    /// Classifies a series; levels within this share of the last one count as the same.
    pub fn of(name: String, values: Vec<f64>, tolerance: f64) -> Result<Self, Violation> {
        let series = Sample::new(values)?;
        let steady = classify(&series, &[], tolerance)?;
        Ok(Self { name, series, steady, waited: None })
    }

    /// Returns the seconds before the steady state, if there is one.
    pub fn seconds_before(&self) -> Option<f64> {
        // The sum of no iterations is -0.
        self.steady.from.map(|from| self.series.values()[..from].iter().sum::<f64>() + 0.0)
    }
}

/// Returns the share of a run's time for which its main thread waited for a CPU, where that is known.
pub fn waited_share(record: &Record, run: &Run) -> Option<f64> {
    let wall = run.value(record.metric_index(metric::WALL_TIME)?)?;
    Some(run.evidence().run_delay? / wall).filter(|share| share.is_finite())
}

/// Classifies the iterations of every measured run of a subject; runs with too few have no class.
pub fn steady_runs(record: &Record, subject: usize) -> Vec<SteadyRun> {
    record
        .measured(subject)
        .filter_map(|run| {
            let name = format!("round {}", run.round + 1);
            let classified = SteadyRun::of(name, run.iterations.clone(), TOLERANCE).ok()?;
            Some(SteadyRun { waited: waited_share(record, run), ..classified })
        })
        .collect()
}

/// Writes what the iterations of a subject do, if it timed any itself.
pub(crate) fn section(page: &mut Page, record: &Record, subject: usize) {
    if record.measured(subject).all(|run| run.iterations.is_empty()) {
        return;
    }
    page.section("Iterations");
    let runs = steady_runs(record, subject);
    if runs.is_empty() {
        page.say(&format!(
            "Too few iterations in a run to say whether it settles (at least {FEWEST_ITERATIONS} \
             are needed)."
        ));
    } else {
        write(page, &runs);
    }
}

/// Draws the iterations of a subject, if it timed enough of them itself: what `becalm plot` shows of them.
pub(crate) fn pictures(page: &mut Page, record: &Record, subject: usize, label: &str) {
    let runs = steady_runs(record, subject);
    let classified: Vec<Steady> = runs.iter().map(|run| run.steady.clone()).collect();
    let Some(agreement) = agreement(&classified) else { return };
    page.section(&format!("{label}, iteration by iteration"));
    page.say(&headline(&runs, agreement));
    draw(page, &runs);
}

/// Draws what one or more runs of the same program do.
pub fn steady_text(runs: &[SteadyRun], style: &Style) -> String {
    let mut page = Page::new(style);
    write(&mut page, runs);
    page.finish()
}

/// Writes the same into a longer text.
pub(crate) fn write(page: &mut Page, runs: &[SteadyRun]) {
    let classified: Vec<Steady> = runs.iter().map(|run| run.steady.clone()).collect();
    let Some(agreement) = agreement(&classified) else {
        page.say("There are no iterations.");
        return;
    };
    let is_good = matches!(
        agreement,
        Agreement::Consistent(Class::Flat | Class::WarmUp) | Agreement::GoodInconsistent
    );
    page.say_as(if is_good { Role::Heading } else { Role::Warning }, &headline(runs, agreement));
    page.say(&advice(runs, &classified, agreement));
    page.gap();
    page.table(&table(runs, page.style.unicode));
    page.say_as(Role::Hint, &tolerance(runs));
    for said in [floors(runs), waiting(runs)].into_iter().flatten() {
        page.say_as(Role::Hint, &said);
    }
    draw(page, runs);
}

/// Draws the first runs.
fn draw(page: &mut Page, runs: &[SteadyRun]) {
    for run in &runs[..runs.len().min(DRAWN)] {
        page.gap();
        if runs.len() > 1 {
            page.say(&format!("{}:", run.name));
        }
        let plot = plot(run, page.style);
        page.drawn(&plot);
    }
    if runs.len() > DRAWN {
        page.say_as(Role::Hint, &more_not_drawn(runs.len() - DRAWN, "run"));
    }
}

fn headline(runs: &[SteadyRun], agreement: Agreement) -> String {
    let several = runs.len() > 1;
    let of_all = |one: &str, all: &str| if several { all.to_owned() } else { one.to_owned() };
    match agreement {
        Agreement::Consistent(Class::Flat) => of_all(
            "Flat: the iterations are the same from the first to the last.",
            "Flat: in every run the iterations are the same from the first to the last.",
        ),
        Agreement::Consistent(Class::WarmUp) => {
            of_all("Warm-up, then a steady state.", "Warm-up, then a steady state, in every run.")
        }
        Agreement::Consistent(Class::SlowDown) => of_all(
            "Slow-down: the steady state is slower than what came before it.",
            "Slow-down: in every run the steady state is slower than what came before it.",
        ),
        Agreement::Consistent(Class::NoSteadyState) => of_all(
            "No steady state: the last quarter of the iterations still changes.",
            "No steady state: in every run the last quarter of the iterations still changes.",
        ),
        Agreement::GoodInconsistent => {
            "The runs differ, in a harmless way: some are flat and some warm up.".to_owned()
        }
        Agreement::BadInconsistent => format!("The runs differ: {}.", tally(runs)),
    }
}

fn tally(runs: &[SteadyRun]) -> String {
    let classes = [Class::Flat, Class::WarmUp, Class::SlowDown, Class::NoSteadyState];
    let words = ["flat", "warm up", "slow down", "without a steady state"];
    let parts: Vec<String> = classes
        .iter()
        .zip(words)
        .filter_map(|(class, word)| {
            let n = runs.iter().filter(|run| run.steady.class == *class).count();
            (n > 0).then(|| format!("{n}{NBSP}{word}"))
        })
        .collect();
    parts.join(", ")
}

fn advice(runs: &[SteadyRun], classified: &[Steady], agreement: Agreement) -> String {
    let Some(leave_out) = warm_up(classified) else {
        return "Skipping more iterations does not help here. Look for what changes (a cache that \
             fills, garbage collection, the machine), run more iterations, or measure whole runs \
             from start to end."
            .to_owned();
    };
    if leave_out == 0 {
        return "No iteration needs to be skipped.".to_owned();
    }
    let seconds = runs
        .iter()
        .map(|run| run.series.values()[..leave_out.min(run.series.len())].iter().sum::<f64>())
        .fold(0.0, f64::max);
    let mut text = format!(
        "Skip the first {} ({}): the steady state has begun by then{}.",
        count(leave_out, "iteration"),
        short_time(seconds),
        if runs.len() > 1 { " in every run" } else { "" }
    );
    if matches!(agreement, Agreement::Consistent(Class::SlowDown) | Agreement::BadInconsistent) {
        text.push_str(" Skipping fewer would measure the faster start, which does not last.");
    }
    text
}

fn tolerance(runs: &[SteadyRun]) -> String {
    let share = |run: &SteadyRun| {
        let last = run.steady.segments.last().map_or(run.steady.level, |segment| segment.mean);
        run.steady.tolerance / last.abs()
    };
    let largest = runs.iter().map(share).fold(0.0, f64::max);
    format!("Levels within {} of the last one count as the same.", percent(largest))
}

/// Says that the fastest iterations are compared, where many were disturbed.
fn floors(runs: &[SteadyRun]) -> Option<String> {
    let block = runs.iter().filter_map(|run| run.steady.block).max()?;
    let n = runs.iter().filter(|run| run.steady.block.is_some()).count();
    let which = match (n, runs.len()) {
        (_, 1) => "Many".to_owned(),
        (n, all) if n == all => "In each run many".to_owned(),
        (n, all) => format!("In {n} of {all} runs many"),
    };
    Some(format!(
        "{which} iterations take much longer than those near them, as if other programs were busy: becalm compares the \
         fastest of every {block}."
    ))
}

/// Waiting that is worth a word, as a share of the time of a run.
const MUCH_WAITING: f64 = 0.05;

/// Says how long the runs waited, where that may explain what their iterations do.
fn waiting(runs: &[SteadyRun]) -> Option<String> {
    let most = runs.iter().filter_map(|run| run.waited).fold(0.0, f64::max);
    let whose = match runs.len() {
        1 => "The run waited for a CPU for",
        _ => "The runs waited for a CPU for up to",
    };
    (most >= MUCH_WAITING).then(|| {
        format!(
            "{whose} {} of the time: other programs may have caused some changes.",
            percent(most)
        )
    })
}

/// Writes a time that may be far below a second.
pub(crate) fn short_time(seconds: f64) -> String {
    if seconds < 0.1 {
        Scale::of(&Unit::Second, [seconds], false).with_unit(seconds)
    } else {
        roughly(seconds)
    }
}

fn table(runs: &[SteadyRun], unicode: bool) -> Table {
    let scale = Scale::of(&Unit::Second, runs.iter().map(|run| run.steady.level), unicode);
    let mut table = Table::new([
        ("run", Align::Left),
        ("class", Align::Left),
        ("steady after", Align::Right),
        ("that takes", Align::Right),
        ("level", Align::Right),
        ("initially", Align::Right),
        ("outliers", Align::Right),
    ]);
    for run in runs {
        let steady = &run.steady;
        let first = steady.segments.first().map_or(steady.level, |segment| segment.mean);
        table.push([
            run.name.as_str().into(),
            class_word(steady.class).into(),
            steady.from.map_or("-".into(), |from| from.to_string().into()),
            run.seconds_before().map_or("-".into(), |seconds| short_time(seconds).into()),
            scale.with_unit(steady.level).into(),
            change(first / steady.level).into(),
            steady.outliers.len().to_string().into(),
        ]);
    }
    table
}

/// Writes a ratio as a percentage, or as a factor where that is easier to read.
fn change(ratio: f64) -> String {
    if ratio < TIMES_FROM {
        signed_percent(ratio - 1.0, 1)
    } else {
        format!("{}{NBSP}times", times(ratio))
    }
}

fn plot(run: &SteadyRun, style: &Style) -> String {
    let from = run.steady.from.unwrap_or(0);
    let mut outliers = run.steady.outliers.iter().peekable();
    let points: Vec<Point> = run
        .series
        .values()
        .iter()
        .enumerate()
        .map(|(i, &value)| {
            let is_outlier = outliers.next_if(|&&outlier| outlier == i).is_some();
            let kind = if is_outlier {
                PointKind::Disturbed
            } else if i < from {
                PointKind::Warmup
            } else {
                PointKind::Plain
            };
            Point { value, kind }
        })
        .collect();
    let plain = if run.steady.from.is_some() { "steady" } else { "iteration" };
    let words = Words { plain, warmup: "before", disturbed: "outlier", one: "iteration" };
    let mut out = sequence_in(&points, &Unit::Second, &words, None, style);
    if let Some(from) = run.steady.from {
        let scale = Scale::of(&Unit::Second, [run.steady.level], style.unicode);
        let level = scale.with_unit(run.steady.level);
        let first = from + 1;
        out.push_str(&caption(&format!("steady at {level} from iteration {first} on"), 2, style));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run of levels in milliseconds, with noise that repeats.
    fn run(name: &str, levels: &[(usize, f64)]) -> SteadyRun {
        let wobble = |i: usize| 1.0 + 0.002 * ((i * 7 % 11) as f64 - 5.0);
        let values = levels.iter().flat_map(|&(n, level)| std::iter::repeat_n(level, n));
        let values = values.enumerate().map(|(i, level)| 1e-3 * level * wobble(i)).collect();
        SteadyRun::of(name.to_owned(), values, TOLERANCE).unwrap()
    }

    #[test]
    fn a_warm_up_is_drawn_with_what_to_leave_out() {
        insta::assert_snapshot!(steady_text(
            &[run("round 0", &[(60, 8.0), (340, 5.0)]), run("round 1", &[(40, 8.0), (360, 5.0)])],
            &Style::PLAIN
        ));
    }

    #[test]
    fn no_iterations_before_the_steady_state_take_no_time() {
        let flat = run("a", &[(400, 5.0)]);
        assert_eq!(flat.seconds_before().map(f64::is_sign_negative), Some(false));
    }

    #[test]
    fn what_other_programs_did_is_said() {
        let text = |run: SteadyRun| steady_text(&[run], &Style::PLAIN).replace([NBSP, '\n'], " ");
        let calm = run("a", &[(400, 5.0)]);
        let quiet = text(SteadyRun { waited: Some(0.01), ..calm.clone() });
        assert!(!quiet.contains("waited") && !quiet.contains("fastest"), "{quiet}");
        let kept = text(SteadyRun { waited: Some(0.34), ..calm.clone() });
        assert!(kept.contains("The run waited for a CPU for 34"), "{kept}");
        let longer = |(i, value): (usize, &f64)| if i % 3 == 0 { 2.0 * value } else { *value };
        let values = calm.series.values().iter().enumerate().map(longer).collect();
        let disturbed = SteadyRun::of("b".to_owned(), values, TOLERANCE).unwrap();
        assert_eq!(disturbed.steady.class, Class::Flat);
        let said = text(disturbed);
        assert!(said.contains("Many iterations take much longer"), "{said}");
    }

    #[track_caller]
    fn check(runs: &[SteadyRun], headline: &str) {
        let text = steady_text(runs, &Style::PLAIN).replace(NBSP, " ");
        assert_eq!(text.lines().next(), Some(headline), "{text}");
    }

    #[test]
    fn the_headline_names_what_is_wrong() {
        let flat = run("a", &[(400, 5.0)]);
        let slow = run("b", &[(100, 4.0), (300, 5.0)]);
        let late = run("c", &[(350, 5.0), (50, 8.0)]);
        check(
            std::slice::from_ref(&flat),
            "Flat: the iterations are the same from the first to the last.",
        );
        check(
            std::slice::from_ref(&slow),
            "Slow-down: the steady state is slower than what came before it.",
        );
        check(
            std::slice::from_ref(&late),
            "No steady state: the last quarter of the iterations still changes.",
        );
        check(
            &[flat, slow, late],
            "The runs differ: 1 flat, 1 slow down, 1 without a steady state.",
        );
    }
}
