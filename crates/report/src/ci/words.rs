//! The sentences about a job, for a terminal, a status and a chat.

use std::fmt::Write as _;

use becalm_model::ci::{CiLine, CiReport, CiResult, Conclusion, Standing};
use becalm_model::{MachineFacts, Metric, Verdict};

use super::row::{name, row, told};
use crate::notes;
use crate::page::Page;
use crate::quantity::{self, NBSP};
use crate::sentence;
use crate::style::{Role, Style};
use crate::table::{Align, Cell, Table};
use crate::width::{printable, shorten};

/// GitHub refuses longer descriptions of a status; GitLab takes 255 characters.
const LONGEST_STATUS: usize = 140;

/// Says what the result of a job is. `mark` makes names safe for where they are put.
pub(super) fn headline(report: &CiReport, mark: impl Fn(&str) -> String) -> String {
    let with_metric = has_several_metrics(report.lines());
    let of = |wanted: Standing| report.lines().iter().filter(move |line| line.standing == wanted);
    let told_worst = |line: &CiLine| {
        let (change, interval) = line.ratio.as_ref().map(told).unwrap_or_default();
        format!("{} {change} ({interval})", mark(&name(line, with_metric)))
    };
    let all = report.lines().len();
    let say = |lines: &[&CiLine], verdict: Verdict| {
        let n = lines.len();
        let word = common_word(lines, verdict);
        let worst = told_worst(lines[0]);
        match (n, all) {
            (1, 1) => format!("{word}: {worst}"),
            (1, _) => format!("1 of {all} is {word}: {worst}"),
            _ => format!("{n} of {all} are {word}, most {worst}"),
        }
    };
    let regressions: Vec<&CiLine> = of(Standing::Regression).collect();
    let improvements: Vec<&CiLine> = of(Standing::Improvement).collect();
    let open = all - of(Standing::Equivalent).count() - of(Standing::Tolerated).count();
    match report.conclusion {
        Conclusion::Identical => "the programs are identical; nothing was measured".to_owned(),
        Conclusion::Failed => "the measurement failed".to_owned(),
        Conclusion::Regressed if improvements.is_empty() => say(&regressions, Verdict::Slower),
        Conclusion::Regressed => {
            let better = common_word(&improvements, Verdict::Faster);
            format!("{}; {} {better}", say(&regressions, Verdict::Slower), improvements.len())
        }
        Conclusion::Improved => say(&improvements, Verdict::Faster),
        Conclusion::Undecided if all == 0 => "nothing was measured".to_owned(),
        Conclusion::Undecided => format!("no change found; {open} of {all} undecided"),
        Conclusion::Unchanged if of(Standing::Tolerated).next().is_some() => {
            "no change beyond what is allowed".to_owned()
        }
        Conclusion::Unchanged => "no change".to_owned(),
    }
}

/// Only time is faster or slower.
fn common_word(lines: &[&CiLine], verdict: Verdict) -> &'static str {
    let is_time = lines.iter().all(|line| {
        let metric = Metric::lower(&line.metric, line.unit.clone());
        sentence::is_time(&Metric { direction: line.direction, ..metric })
    });
    match (verdict, is_time) {
        (Verdict::Slower, false) => "worse",
        (Verdict::Faster, false) => "better",
        (verdict, _) => verdict.name(),
    }
}

/// Says how far the base was from itself.
pub(super) fn noise_sentence(lines: &[CiLine]) -> String {
    let alarmed = |line: &&CiLine| matches!(line.noise.verdict, Verdict::Faster | Verdict::Slower);
    let n = lines.iter().filter(alarmed).count();
    // The farther end of an interval is what could have been taken for a change.
    let floor = lines
        .iter()
        .filter_map(|line| line.noise.ratio)
        .map(|ratio| (ratio.high / ratio.low).sqrt() - 1.0)
        .fold(f64::NAN, f64::max);
    let resolved = if floor.is_nan() {
        "the base could not be compared with itself".to_owned()
    } else if floor < 1e-12 {
        "base against itself: no noise at all".to_owned()
    } else {
        format!(
            "base against itself: intervals of at most ±{}, so smaller changes may go undetected",
            quantity::percent(floor)
        )
    };
    match n {
        0 => resolved,
        _ => format!(
            "{resolved}; {} seemed to differ from itself, so there only a larger change counts",
            quantity::count(n, "line")
        ),
    }
}

/// Says in a few words which machine it is.
pub fn machine_words(machine: &MachineFacts) -> String {
    let fact =
        |key: &str| machine.facts.get(key).map(|value| value.trim()).filter(|one| !one.is_empty());
    let kernel = fact("kernel_release").map(|kernel| format!("Linux {kernel}"));
    let [model, inside] = ["cpu_model", "virtualisation"].map(|key| fact(key).map(str::to_owned));
    [model, kernel, inside].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Writes the line of a commit status.
pub fn ci_status(report: &CiReport) -> String {
    shorten(&headline(report, printable).replace(NBSP, " "), LONGEST_STATUS, true)
}

/// Writes a message for a chat in Slack's format, where `<`, `>` and `&` have a meaning.
pub fn ci_message(report: &CiReport, link: Option<&str>) -> String {
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let quoted = |text: &str| format!("`{}`", escaped(&printable(text)).replace('`', "'"));
    let mut out = format!("{}: {}", quoted(&report.id), headline(report, quoted));
    let _ = write!(out, "\nhead {}", quoted(report.head.short()));
    if !report.head.title.is_empty() {
        let _ = write!(out, " {}", quoted(&shorten(&report.head.title, 100, true)));
    }
    if let Some(link) = link {
        let _ = write!(out, "\n<{}|the job>", escaped(link).replace('|', "%7C"));
    }
    out.replace(NBSP, " ")
}

/// Writes the report for a terminal. Its table may be `table_width` wide.
pub fn ci_text(report: &CiReport, style: &Style, table_width: usize) -> String {
    let mut page = Page::with_tables(style, table_width);
    let role = match report.conclusion {
        Conclusion::Regressed => Role::Slower,
        Conclusion::Improved => Role::Faster,
        Conclusion::Identical | Conclusion::Unchanged => Role::Equivalent,
        Conclusion::Undecided | Conclusion::Failed => Role::Inconclusive,
    };
    let said = headline(report, str::to_owned);
    page.say_as(role, &sentence::of_fragment(&said));
    match &report.result {
        CiResult::Identical(why) => page.say(&notes::sentence(why)),
        CiResult::Failed(why) => page.say(&notes::interruption(why)),
        CiResult::Measured { lines, rounds } => {
            page.gap();
            let with_metric = has_several_metrics(lines);
            let titles = [
                ("benchmark", Align::Left),
                ("", Align::Left),
                ("base", Align::Right),
                ("head", Align::Right),
                ("change", Align::Right),
                ("interval", Align::Right),
                ("base again", Align::Right),
            ];
            let mut table = Table::new(titles);
            for line in lines {
                let row = row(line, with_metric);
                table.push([
                    row.name.into(),
                    Cell::of(role_of(line.standing), row.verdict),
                    row.base.into(),
                    row.head.into(),
                    row.change.into(),
                    row.interval.into(),
                    row.noise.into(),
                ]);
            }
            page.table(&table);
            page.gap();
            page.item(&format!(
                "{} of base, base again and head, in turns",
                quantity::count(usize::try_from(*rounds).unwrap_or(usize::MAX), "round")
            ));
            page.item(&noise_sentence(lines));
        }
    }
    for note in &report.notes {
        page.item(&notes::sentence(note));
    }
    if !report.reproduce.is_empty() {
        page.item(&format!(
            "to repeat this elsewhere: {}",
            becalm_model::shell_line(&report.reproduce)
        ));
    }
    page.finish()
}

/// Says whether a name alone is ambiguous.
pub(super) fn has_several_metrics(lines: &[CiLine]) -> bool {
    lines.windows(2).any(|two| two[0].metric != two[1].metric)
}

fn role_of(standing: Standing) -> Role {
    match standing {
        Standing::Regression => Role::Slower,
        Standing::Improvement => Role::Faster,
        Standing::Equivalent | Standing::Tolerated => Role::Equivalent,
        Standing::Doubtful | Standing::Inconclusive => Role::Inconclusive,
    }
}
