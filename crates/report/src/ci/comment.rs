//! The comment below a pull or merge request, and the summary of a job.

use becalm_model::counted;
use std::fmt::Write as _;

use becalm_model::ci::{CiCommit, CiLine, CiReport, CiResult, Conclusion, Standing};

use super::plot::plot;
use super::row::{Row, better, row};
use super::words::{has_several_metrics, headline, noise_sentence};
use crate::escape;
use crate::markdown::code;
use crate::notes;
use crate::quantity;

/// GitHub refuses comments of more than 65,536 characters. GitLab takes a million. It counts them after
/// turning line breaks into two, so there is room between.
const LONGEST: usize = 60_000;

/// Most benchmarks that are listed, whatever room there is.
const MOST_ROWS: usize = 200;

/// Longest single text from elsewhere, such as a note or a command.
const LONGEST_TEXT: usize = 2_000;

/// Returns the hidden line by which the comment of a job is found again.
pub fn ci_marker(id: &str) -> String {
    format!("<!-- becalm:ci:{id} -->")
}

/// Writes the comment: what changed first, worst first, then what it rests on. `link` leads to the job.
pub fn ci_comment(report: &CiReport, link: Option<&str>) -> String {
    format!("{}\n{}", ci_marker(&report.id), body(report, link))
}

/// Writes the summary of a job, which is the comment without its mark.
pub fn ci_summary(report: &CiReport) -> String {
    body(report, None)
}

fn body(report: &CiReport, link: Option<&str>) -> String {
    // The tail says how sure the head is, so it is the table that gives way.
    let head = format!("### {}\n\n{}", title(report), lead(report));
    let tail = tail(report, link);
    let room = LONGEST.saturating_sub(head.len() + tail.len());
    format!("{head}{}{tail}", tables(report, room))
}

fn title(report: &CiReport) -> String {
    let mark = match report.conclusion {
        Conclusion::Regressed => "❌",
        Conclusion::Improved => "🚀",
        Conclusion::Failed => "⚠️",
        Conclusion::Undecided => "❔",
        Conclusion::Identical | Conclusion::Unchanged => "✅",
    };
    format!("{mark} {}: {}", code(&report.id), headline(report, code))
}

fn lead(report: &CiReport) -> String {
    match &report.result {
        CiResult::Identical(why) => format!("{}\n\n", code(&limited(&notes::sentence(why)))),
        CiResult::Failed(why) => fenced("text", &limited(&notes::interruption(why))),
        CiResult::Measured { .. } => String::new(),
    }
}

fn tables(report: &CiReport, room: usize) -> String {
    let with_metric = has_several_metrics(report.lines());
    let (shown, same): (Vec<&CiLine>, Vec<&CiLine>) =
        report.lines().iter().partition(|line| line.standing != Standing::Equivalent);
    let mut out = String::new();
    let drawn = plot(&shown, with_metric);
    let drawn = if drawn.is_empty() { drawn } else { fenced("text", &drawn) };
    let room = room.saturating_sub(drawn.len());
    if !shown.is_empty() {
        out.push_str(&table(&shown, with_metric, room));
        out.push_str(&drawn);
    }
    if !same.is_empty() {
        let n = counted(same.len(), "benchmark");
        let are = becalm_model::is_are(same.len());
        let folded = table(&same, with_metric, room.saturating_sub(out.len() + 200));
        let _ = write!(
            out,
            "<details><summary>{n} {are} equivalent</summary>\n\n{folded}</details>\n\n"
        );
    }
    out
}

fn table(lines: &[&CiLine], with_metric: bool, room: usize) -> String {
    let mut out = String::from(
        "| | benchmark | base | head | change | interval | base again |\n\
         | :-- | :-- | --: | --: | --: | --: | --: |\n",
    );
    // Room for the sentence on what was left out.
    let room = room.saturating_sub(100);
    for (index, line) in lines.iter().enumerate() {
        let text = markdown_row(&row(line, with_metric), line.standing);
        if index >= MOST_ROWS || out.len() + text.len() > room {
            let left = quantity::count(lines.len() - index, "further line");
            let _ = writeln!(out, "\n{} not shown here.", left.replace(quantity::NBSP, " "));
            break;
        }
        out.push_str(&text);
    }
    out.push('\n');
    out
}

fn markdown_row(row: &Row, standing: Standing) -> String {
    let verdict = match standing {
        Standing::Regression | Standing::Improvement => format!("**{}**", row.verdict),
        _ => row.verdict.to_owned(),
    };
    // Tables are cut at bars even inside code, unless they are escaped.
    let cell = |text: &str| code(text).replace('|', "\\|");
    // Anybody may have chosen the unit. The others are numbers alone.
    let named = [&row.name, &row.base, &row.head].map(|text| cell(text));
    let numbers = [&row.change, &row.interval, &row.noise].map(|text| escape::markdown(text));
    format!("| {verdict} | {} | {} |\n", named.join(" | "), numbers.join(" | "))
}

fn tail(report: &CiReport, link: Option<&str>) -> String {
    let mut out = String::new();
    if let CiResult::Measured { lines, rounds } = &report.result {
        let confidence = quantity::confidence(report.rule.confidence);
        let _ = writeln!(
            out,
            "- {} of base, base again and head, in turns in one job; {confidence} confidence for all verdicts \
             together, margin {}, fails beyond {}",
            quantity::count(usize::try_from(*rounds).unwrap_or(usize::MAX), "round"),
            quantity::percent(report.rule.margin),
            quantity::percent(report.rule.allow),
        );
        let _ = writeln!(out, "- {}", noise_sentence(lines));
        let mut directions: Vec<_> = lines.iter().map(|line| line.direction).collect();
        directions.dedup();
        if let [direction] = directions[..] {
            let _ = writeln!(out, "- {}", better(direction));
        }
    }
    let commit = |one: &CiCommit| format!("{} {}", code(one.short()), code(&limited(&one.title)));
    if !report.base.id.is_empty() {
        let _ = writeln!(out, "- base: {}", commit(&report.base));
    }
    if !report.head.id.is_empty() {
        let _ = writeln!(out, "- head: {}", commit(&report.head));
    }
    if !report.machine.is_empty() {
        let _ = writeln!(out, "- machine: {}", code(&limited(&report.machine)));
    }
    for note in report.notes.iter().take(20) {
        let _ = writeln!(out, "- {}", code(&limited(&notes::sentence(note))));
    }
    if let Some(link) = link {
        let _ = writeln!(out, "- [the job]({link})");
    }
    let mut out = out.replace(quantity::NBSP, " ");
    if !report.reproduce.is_empty() {
        let command = limited(&becalm_model::shell_line(&report.reproduce));
        let _ = write!(
            out,
            "\n<details><summary>Repeat this elsewhere</summary>\n\n{}</details>\n\n",
            fenced("sh", &command)
        );
    }
    let _ = writeln!(out, "<sub>becalm {}</sub>", code(&limited(&report.version)));
    out
}

fn limited(text: &str) -> String {
    crate::width::shorten(text.trim(), LONGEST_TEXT, true)
}

/// Writes a block of code, fenced by more backticks than the text holds in a row.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let lines: Vec<String> = text.lines().map(crate::width::printable).collect();
    format!("{fence}{language}\n{}\n{fence}\n\n", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use becalm_model::ci::{CiNoise, CiRule};
    use becalm_model::{Direction, Note, RatioInterval, Unit, Verdict};

    use super::*;
    use crate::{Style, ci_message, ci_status, ci_text};

    fn line(name: &str, estimate: f64, verdict: Verdict) -> CiLine {
        let around = |half: f64, estimate: f64| RatioInterval {
            estimate,
            low: estimate * (1.0 - half),
            high: estimate * (1.0 + half),
        };
        CiLine {
            name: name.to_owned(),
            metric: "time".to_owned(),
            unit: Unit::Second,
            direction: Direction::Lower,
            base: Some(0.0123),
            head: Some(0.0123 * estimate),
            ratio: Some(around(0.008, estimate)),
            verdict,
            standing: match verdict {
                Verdict::Slower => Standing::Regression,
                Verdict::Faster => Standing::Improvement,
                Verdict::Equivalent => Standing::Equivalent,
                Verdict::Inconclusive => Standing::Inconclusive,
            },
            noise: CiNoise { ratio: Some(around(0.004, 1.001)), verdict: Verdict::Equivalent },
            rounds_needed: None,
        }
    }

    fn report(lines: Vec<CiLine>) -> CiReport {
        let commit =
            |id: &str, title: &str| CiCommit { id: id.repeat(10), title: title.to_owned() };
        CiReport {
            id: "bench".to_owned(),
            base: commit("ba5e", "before"),
            head: commit("4ead", "after"),
            commit: None,
            change: Some(7),
            rule: CiRule { confidence: 0.95, margin: 0.01, allow: 0.0, strict: false },
            result: CiResult::Measured { lines, rounds: 24 },
            conclusion: Conclusion::Regressed,
            machine: "a CPU, Linux 6.12".to_owned(),
            reproduce: ["becalm", "ci", "--base", "ba5e", "--", "./a", "it's"]
                .map(str::to_owned)
                .to_vec(),
            notes: Vec::new(),
            version: "0.1.0".to_owned(),
        }
    }

    fn several() -> CiReport {
        report(vec![
            line("render", 1.21, Verdict::Slower),
            line("parse", 1.05, Verdict::Slower),
            line("noisy", 1.002, Verdict::Inconclusive),
            line("decode", 0.9, Verdict::Faster),
            line("same", 1.0, Verdict::Equivalent),
        ])
    }

    #[test]
    fn the_comment_leads_with_what_changed_and_the_worst() {
        insta::assert_snapshot!(ci_comment(&several(), Some("https://example.org/job")));
    }

    #[test]
    fn the_other_texts_say_the_same() {
        let report = several();
        let all = [
            ci_status(&report),
            ci_message(&report, Some("https://x/a|b")),
            ci_text(&report, &Style::PLAIN, 80),
        ];
        insta::assert_snapshot!(all.join("\n---\n"));
    }

    #[test]
    fn the_text_fits_on_a_narrow_terminal() {
        let mut report = several();
        report.notes.push(Note::text("Something that the reader has to know about this job."));
        let text = ci_text(&report, &Style { width: 40, ..Style::PLAIN }, 40);
        crate::width::fits_on_forty("ci", &text);
        assert!(text.contains("decode") && text.contains("-10.0 %"), "{text}");
    }

    #[test]
    fn names_are_neither_links_nor_mentions_nor_markup() {
        let name = "@all ```x``` [a](http://evil) <img src=x> | #1\n/close \u{202e}";
        let comment = ci_comment(&report(vec![line(name, 1.05, Verdict::Slower)]), None);
        let code = "```` @all ```x``` [a](http://evil) <img src=x> \\| #1 /close ? ````";
        assert!(comment.contains(&format!("| **slower** | {code} |")), "{comment}");
        assert!(comment.lines().all(|line| !line.starts_with('/')), "{comment}");
        // The plot is fenced by more backticks than it holds.
        assert!(comment.contains("````text\n"), "{comment}");
    }

    #[test]
    fn units_and_versions_are_neither_links_nor_mentions() {
        let unit = Unit::Named("@all www.evil.org ` | <b>".to_owned());
        let mut report = report(vec![CiLine { unit, ..line("a", 1.05, Verdict::Slower) }]);
        report.version = "1 @all https://evil.org".to_owned();
        let comment = ci_comment(&report, None);
        let values =
            "`` 0.01230 @all www.evil.org ` \\| <b> `` | `` 0.01292 @all www.evil.org ` \\| <b> ``";
        assert!(comment.contains(&format!("| `a` | {values} | +5.0 % |")), "{comment}");
        assert!(comment.ends_with("<sub>becalm `1 @all https://evil.org`</sub>\n"), "{comment}");
    }

    #[test]
    fn a_comment_has_room_in_what_github_takes() {
        let lines = (0..20_000)
            .map(|n| line(&format!("benchmark {n} {}", "x".repeat(300)), 1.05, Verdict::Slower));
        let mut report = report(lines.collect());
        report.notes = vec![Note::text("n".repeat(100_000)); 50];
        report.reproduce = vec!["w".repeat(100_000)];
        let comment = ci_comment(&report, None);
        assert!(comment.len() < 65_000, "{}", comment.len());
        assert!(comment.contains("further lines not shown here."), "{}", &comment[..3000]);
        assert!(comment.ends_with("<sub>becalm `0.1.0`</sub>\n"), "the end is there");
    }
}
