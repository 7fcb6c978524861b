//! Who took the time: `run 17 took 3.1 ms longer: 2.6 ms kworker/1:2 (writeback), ...`.

use becalm_model::trace::{Explanation, LongerRun, Timeline, Trace, TraceCost, WatchedCpu, Worst};
use becalm_model::{DisturbedRun, Record, Unit};

use crate::html::{self, Lead};
use crate::labels::Labels;
use crate::markdown::markdown;
use crate::page::{ELSEWHERE, Page};
use crate::pictures::Picture;
use crate::quantity::{NBSP, Scale, count, percent, ratio};
use crate::sentence;
use crate::style::{Role, Style};
use crate::timeline::timeline_text;
use crate::{escape, notes, svg};

/// Culprits with a smaller share than this share one line.
const SMALL_SHARE: f64 = 0.001;

/// How many culprits get their own line.
const MOST_CULPRITS: usize = 10;

/// How many of the small ones are named.
const MOST_SMALL: usize = 6;

/// How many culprits over all runs a report names if it has no section for them.
const MOST_IN_NOTES: usize = 5;

/// How many runs are reported one by one, the longest ones.
const MOST_RUNS: usize = 12;

/// What is known about the cost of a trace.
#[derive(Debug, Clone, Copy)]
pub enum TraceCostTold<'a> {
    /// It was measured.
    Measured(&'a TraceCost),
    /// It should have been measured, but there were too few rounds; this many are needed, if known.
    TooFewRounds(Option<u64>),
    /// The command measures it, but a flag turned that off.
    LeftOut,
    /// The command does not measure it.
    Elsewhere,
}

/// Says which runs of a traced session were delayed and by whom, who took most over all, and what
/// the trace itself cost if that was measured.
pub fn trace_text(
    record: &Record,
    trace: &Trace,
    explanation: &Explanation,
    cost: TraceCostTold<'_>,
    style: &Style,
) -> String {
    report(record, trace, explanation, cost, style).finish()
}

/// Writes the report of a traced session as a web page, with the same before its results.
pub fn trace_html(
    record: &Record,
    disturbed: &[DisturbedRun],
    trace: &Trace,
    explanation: &Explanation,
    cost: TraceCostTold<'_>,
) -> String {
    let before = report(record, trace, explanation, cost, &ELSEWHERE).html_part();
    let headline = Some(headline(explanation));
    html::page(record, disturbed, &Lead { headline, before: &before, results: None })
}

/// Writes the report of a traced session as Markdown, with the same before its results.
pub fn trace_report_markdown(
    record: &Record,
    disturbed: &[DisturbedRun],
    trace: &Trace,
    explanation: &Explanation,
    cost: TraceCostTold<'_>,
) -> String {
    let before = report(record, trace, explanation, cost, &ELSEWHERE).markdown();
    format!("{before}\n{}", markdown(record, disturbed))
}

/// Says who took most time.
fn headline(explanation: &Explanation) -> String {
    let runs = count(explanation.runs, "traced run");
    match explanation.worst.first() {
        _ if explanation.runs == 0 => "No run was traced".to_owned(),
        None => format!("Nothing took time from {runs}"),
        Some(worst) => {
            format!("Most time went to {}: {} of {runs}", worst.culprit, percent(worst.share))
        }
    }
}

fn report<'a>(
    record: &Record,
    trace: &Trace,
    explanation: &Explanation,
    cost: TraceCostTold<'_>,
    style: &'a Style,
) -> Page<'a> {
    let mut page = Page::new(style);
    page.section(&format!("Who took the time ({})", count(explanation.runs, "traced run")));
    page.gap();
    if explanation.runs == 0 {
        page.say_as(Role::Warning, "No run was traced.");
    } else if explanation.longer.is_empty() {
        page.say("No run was delayed by anything that did not delay the others as well.");
    }
    let mut told: Vec<&LongerRun> = explanation.longer.iter().collect();
    told.sort_by(|a, b| b.longer.total_cmp(&a.longer));
    let n_more = told.len().saturating_sub(MOST_RUNS);
    told.truncate(MOST_RUNS);
    told.sort_by_key(|one| one.run);
    for one in told {
        page.say(&format!("{}.", longer_text(record, one, style.unicode)));
    }
    if n_more > 0 {
        page.say(&format!("And {}, each by less.", count(n_more, "more run")));
    }
    if !explanation.worst.is_empty() {
        page.section("Over all runs");
        page.gap();
        worst(&mut page, &explanation.worst, Some(explanation.runs), style);
    }
    timelines(&mut page, record, trace);
    page.section("The trace itself");
    page.gap();
    page.say(&format!("{}.", recorded(trace.events, trace.lost)));
    match cost {
        TraceCostTold::Measured(cost) => {
            let text = ratio(&cost.ratio);
            page.say(&format!(
                "It changes {} by {} ({}): {} with and without it.",
                cost.metric,
                text.change,
                text.interval,
                count(cost.rounds as usize, "round"),
            ));
        }
        TraceCostTold::TooFewRounds(needed) => {
            let needed = match needed {
                Some(needed) => format!(": {needed} are needed"),
                None => String::new(),
            };
            page.say_as(
                Role::Hint,
                &format!("There are too few rounds to know what it costs{needed}."),
            );
        }
        TraceCostTold::LeftOut => {
            page.say_as(
                Role::Hint,
                "What it costs was not measured; to measure it, drop --no-cost.",
            );
        }
        TraceCostTold::Elsewhere => page.say_as(
            Role::Hint,
            "What it costs was not measured; `becalm noise trace -- COMMAND` measures it.",
        ),
    }
    for limit in &trace.limits {
        page.item(&sentence::of_fragment(&notes::limit(limit)));
    }
    page
}

/// The section of timelines.
const WATCHED: &str = "Who ran when on which CPU";

/// Draws who ran when during the longest measured run and a typical one, in this order and over as much time.
fn timelines(page: &mut Page<'_>, record: &Record, trace: &Trace) {
    let longest = trace.timelines.iter().map(|one| one.seconds).fold(0.0, f64::max);
    for (n, one) in trace.timelines.iter().enumerate() {
        let run = one.run.map_or_else(|| "A run".to_owned(), |run| name(record, run));
        let which = if n == 0 { "the longest" } else { "a typical one" };
        let title = format!("{run}, {which}: {}", span(one.seconds, page.style.unicode));
        if n == 0 {
            page.section(WATCHED);
        }
        draw_timeline(page, one, &title, &format!("timeline-{n}"), longest);
    }
}

/// Draws a timeline over so many seconds, on a terminal as text.
fn draw_timeline(page: &mut Page<'_>, one: &Timeline, title: &str, id: &str, seconds: f64) {
    let text = format!("{title}\n{}", timeline_text(one, seconds, page.style));
    page.gap();
    page.drawn_or(&text, Some(timeline_picture(one, title, id, seconds)));
}

fn timeline_picture(timeline: &Timeline, title: &str, id: &str, seconds: f64) -> Picture {
    let drawing = svg::timeline(timeline, title, id, seconds);
    let mut caption = format!(
        "{title}. On each CPU a line for everybody who ran there, as high as the share of the time; the whole width of \
         a line is {}.",
        span(seconds, true)
    );
    if drawing.count_of("others") > 0 {
        caption.push_str(" Those that took little share a line.");
    }
    Picture { section: WATCHED, drawing, caption }
}

/// Says what took time on each CPU while nothing was measured.
pub fn watch_text(cpus: &[WatchedCpu], all: &[Worst], trace: &Trace, style: &Style) -> String {
    watched(cpus, all, trace, style).finish()
}

/// Writes the same as a web page, made by this version of becalm.
pub fn watch_html(cpus: &[WatchedCpu], all: &[Worst], trace: &Trace, version: &str) -> String {
    watched(cpus, all, trace, &ELSEWHERE).html(version)
}

/// Writes the same as Markdown.
pub fn watch_markdown(cpus: &[WatchedCpu], all: &[Worst], trace: &Trace) -> String {
    watched(cpus, all, trace, &ELSEWHERE).markdown()
}

fn watched<'a>(cpus: &[WatchedCpu], all: &[Worst], trace: &Trace, style: &'a Style) -> Page<'a> {
    let mut page = Page::new(style);
    let window = cpus.iter().map(|cpu| cpu.window).fold(0.0, f64::max);
    page.section(&format!("Who uses the CPUs ({} watched)", span(window, style.unicode)));
    page.gap();
    for cpu in cpus {
        let used: f64 = cpu.taken.iter().map(|taken| taken.seconds).sum();
        let share = if cpu.window > 0.0 { used / cpu.window } else { 0.0 };
        let longest = cpu.taken.iter().map(|taken| taken.longest).fold(0.0, f64::max);
        page.item(&format!(
            "CPU {}: a program would have lost {} of its time, {} at most in one piece",
            cpu.cpu,
            percent(share),
            span(longest, style.unicode)
        ));
    }
    if !all.is_empty() {
        page.section("By name");
        page.gap();
        worst(&mut page, all, None, style);
    }
    for timeline in &trace.timelines {
        page.section(WATCHED);
        let title = "The CPUs while they were watched";
        draw_timeline(&mut page, timeline, title, "timeline-watch", timeline.seconds);
    }
    page.gap();
    page.say_as(Role::Hint, &format!("{}.", recorded(trace.events, trace.lost)));
    for limit in &trace.limits {
        page.item(&sentence::of_fragment(&notes::limit(limit)));
    }
    page
}

/// Returns a sentence for each run that was delayed, and for those who took most over all runs,
/// without full stops: for reports that have no section for it.
pub fn trace_texts(record: &Record, explanation: &Explanation) -> Vec<String> {
    let longer = explanation.longer.iter().map(|one| longer_text(record, one, true));
    let large = explanation.worst.iter().filter(|one| one.share >= SMALL_SHARE);
    let worst = large.take(MOST_IN_NOTES).map(|one| {
        let runs = format!(" in {} of {}", one.runs, count(explanation.runs, "run"));
        format!("Over all runs, {}", worst_text(one, &runs, true))
    });
    longer.chain(worst).collect()
}

/// Writes [`trace_texts`] as entries of a Markdown list.
pub fn trace_markdown(record: &Record, explanation: &Explanation) -> String {
    let texts = trace_texts(record, explanation);
    let entry = |text: &String| format!("- {}\n", escape::markdown(&text.replace(NBSP, " ")));
    texts.iter().map(entry).collect()
}

fn longer_text(record: &Record, one: &LongerRun, unicode: bool) -> String {
    let causes: Vec<String> = one
        .causes
        .iter()
        .map(|one| format!("{} {}", span(one.seconds, unicode), one.culprit))
        .collect();
    format!(
        "{} took {} longer: {}",
        name(record, one.run),
        span(one.longer, unicode),
        causes.join(", ")
    )
}

/// Names a run: `Run 17`, counted from 1 among the measured runs of its subject.
fn name(record: &Record, index: usize) -> String {
    let Some(run) = record.runs.get(index) else { return "A run".to_owned() };
    let before = record.runs[..=index]
        .iter()
        .filter(|other| !other.warmup && other.subject == run.subject)
        .count();
    if record.subjects.len() < 2 {
        return format!("Run {before}");
    }
    format!("Run {before} of {}", Labels::of(&record.subjects).get(run.subject))
}

fn worst(page: &mut Page<'_>, all: &[Worst], n_runs: Option<usize>, style: &Style) {
    let (large, small): (Vec<&Worst>, Vec<&Worst>) =
        all.iter().partition(|one| one.share >= SMALL_SHARE);
    for one in large.iter().take(MOST_CULPRITS) {
        let runs = match n_runs {
            Some(n_runs) => format!(" in {} of {}", one.runs, count(n_runs, "run")),
            None => String::new(),
        };
        let text = format!(
            "{}. {}",
            worst_text(one, &runs, style.unicode),
            sentence::of_fragment(&one.advice)
        );
        page.item(text.trim_end());
    }
    let rest: Vec<&Worst> = large.into_iter().skip(MOST_CULPRITS).chain(small).collect();
    if rest.is_empty() {
        return;
    }
    let total: f64 = rest.iter().map(|one| one.share).sum();
    let mut names: Vec<String> = rest
        .iter()
        .take(MOST_SMALL)
        .map(|one| format!("{} {}", one.culprit, percent(one.share)))
        .collect();
    if rest.len() > MOST_SMALL {
        names.push(format!("{} more", rest.len() - MOST_SMALL));
    }
    page.item(&format!("{} together: {}", percent(total), names.join(", ")));
}

fn worst_text(one: &Worst, runs: &str, unicode: bool) -> String {
    format!(
        "{}: {} of the time ({}{runs}, {} at most in one piece)",
        one.culprit,
        percent(one.share),
        span(one.seconds, unicode),
        span(one.longest, unicode),
    )
}

fn recorded(events: u64, lost: u64) -> String {
    let lost = match lost {
        0 => "none lost".to_owned(),
        lost => format!("{lost} lost"),
    };
    format!("{events}{NBSP}events, {lost}")
}

/// Writes a time with two or three digits.
fn span(seconds: f64, unicode: bool) -> String {
    let scale = Scale::of(&Unit::Second, [seconds], unicode);
    let shown = seconds / scale.factor();
    let decimals = usize::from(shown < 100.0);
    scale.with_decimals(decimals).with_unit(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::tests::{WIDE, say_the_same};
    use becalm_model::RatioInterval;
    use becalm_model::trace::{Culprit, Taken};

    fn worker() -> Culprit {
        Culprit::KernelThread { name: "kworker/1:2".into(), work: Some("wb_workfn".into()) }
    }

    fn disk() -> Culprit {
        Culprit::Interrupt { line: 36, device: "virtio0-req.0".into() }
    }

    fn one_worst(culprit: Culprit, share: f64) -> Worst {
        Worst {
            culprit,
            seconds: share * 10.0,
            share,
            runs: 3,
            longest: share,
            advice: "move it".into(),
        }
    }

    #[test]
    fn cpus_that_are_watched_are_told_with_names_and_advice() {
        let taken = vec![Taken { culprit: disk(), seconds: 0.5, times: 2, longest: 0.0025 }];
        let cpus = [WatchedCpu { cpu: 1, window: 10.0, taken }];
        let all = [one_worst(disk(), 0.05), one_worst(worker(), 0.0001)];
        let trace = Trace { events: 12, ..Trace::default() };
        assert_eq!(
            watch_text(&cpus, &all, &trace, &Style::PLAIN),
            "Who uses the CPUs (10.0 s watched)\n\n\x20 - CPU 1: a program would have lost 5 % of its time, 2.5 ms at most in one\n\x20   piece\n\nBy name\n\n\x20 - virtio0-req.0 interrupt (36): 5 % of the time (500 ms, 50.0 ms at most in\n\x20   one piece). Move it.\n\x20 - 0.01 % together: kworker/1:2 (writeback) 0.01 %\n\n12 events, none lost.\n"
        );
    }

    #[test]
    fn a_page_and_a_review_of_a_watch_say_the_same() {
        let taken = vec![Taken { culprit: disk(), seconds: 0.5, times: 2, longest: 0.0025 }];
        let cpus = [WatchedCpu { cpu: 1, window: 10.0, taken }];
        let all = [one_worst(disk(), 0.05), one_worst(worker(), 0.0001)];
        let trace = Trace { events: 12, ..Trace::default() };
        let text = watch_text(&cpus, &all, &trace, &WIDE);
        let html = watch_html(&cpus, &all, &trace, "1.0");
        say_the_same(&text, &html, &watch_markdown(&cpus, &all, &trace));
    }

    #[test]
    fn the_report_of_a_traced_session_begins_with_who_took_the_time() {
        let record = Record::empty(becalm_model::RecordKind::Run);
        let explanation =
            Explanation { longer: vec![], runs: 4, worst: vec![one_worst(disk(), 0.05)] };
        let (trace, cost) = (Trace::default(), TraceCostTold::LeftOut);
        let html = trace_html(&record, &[], &trace, &explanation, cost);
        let place = |text: &str| html.find(text).unwrap_or_else(|| panic!("{text}: {html}"));
        assert!(html.contains(
            "Most time went to virtio0-req.0 interrupt (36): 5\u{a0}% of 4\u{a0}traced runs</"
        ));
        let listed = html.rfind("virtio0-req.0 interrupt (36): 5").unwrap();
        assert!(place("Who took the time") < listed);
        assert!(place("drop --no-cost") < place("<h2>Results</h2>"));
        let markdown = trace_report_markdown(&record, &[], &trace, &explanation, cost);
        assert!(markdown.starts_with("## Who took the time") && markdown.contains("- becalm "));
    }

    #[test]
    fn a_quiet_session_names_nobody_and_says_what_it_cost() {
        let record = Record::empty(becalm_model::RecordKind::Run);
        let explanation = Explanation { longer: vec![], runs: 20, worst: vec![] };
        let cost = TraceCost {
            metric: "cpu_time".into(),
            ratio: RatioInterval { estimate: 1.002, low: 0.999, high: 1.005 },
            rounds: 20,
        };
        let trace = Trace { lost: 3, events: 7, ..Trace::default() };
        let text = trace_text(
            &record,
            &trace,
            &explanation,
            TraceCostTold::Measured(&cost),
            &Style::PLAIN,
        );
        assert!(text.contains("No run was delayed"), "{text}");
        assert!(text.contains("It changes cpu_time by +0.20 % (-0.10 % .. +0.50 %): 20"), "{text}");
        assert!(text.contains("7 events, 3 lost."), "{text}");
    }

    #[test]
    fn a_cost_that_is_not_known_is_told_with_what_would_tell_it() {
        let (record, explanation) =
            (Record::empty(becalm_model::RecordKind::Run), Explanation::default());
        let check = |cost: TraceCostTold<'_>, expected: &str| {
            let trace = Trace::default();
            let text = trace_text(&record, &trace, &explanation, cost, &Style::PLAIN);
            assert!(text.replace('\n', " ").contains(expected), "{text}");
        };
        check(TraceCostTold::LeftOut, "drop --no-cost");
        check(
            TraceCostTold::TooFewRounds(Some(6)),
            "There are too few rounds to know what it costs: 6 are needed.",
        );
        check(TraceCostTold::Elsewhere, "`becalm noise trace -- COMMAND` measures it.");
    }

    #[test]
    fn other_reports_get_the_worst_over_all_runs_in_sentences() {
        let explanation = Explanation {
            longer: vec![],
            runs: 4,
            worst: vec![one_worst(worker(), 0.05), one_worst(disk(), 0.0001)],
        };
        let text = trace_markdown(&Record::empty(becalm_model::RecordKind::Run), &explanation)
            .replace('\\', "");
        assert_eq!(
            text,
            "- Over all runs, kworker/1:2 (writeback): 5 % of the time (500 ms in 3 of 4 runs, 50.0 ms at most in one piece)\n"
        );
    }

    #[test]
    fn becalm_itself_gets_no_advice() {
        let own = Worst { advice: String::new(), ..one_worst(Culprit::Becalm, 0.02) };
        let text = watch_text(&[], &[own], &Trace::default(), &Style::PLAIN);
        assert!(text.contains("becalm's own tracing: 2 % of the time"), "{text}");
        assert!(text.contains("piece).\n"), "{text}");
    }

    #[test]
    fn times_have_the_digits_that_matter() {
        let told = [0.0031, 0.000_412, 1.25, 12e-6].map(|s| span(s, false).replace(NBSP, " "));
        assert_eq!(told, ["3.1 ms", "412 us", "1.2 s", "12.0 us"]);
    }
}
