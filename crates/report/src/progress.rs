//! The line that is drawn between runs.

use std::time::Duration;

use becalm_model::{RatioInterval, place};

use crate::moment::{about, roughly};
use crate::quantity::{self, NBSP};
use crate::style::{Role, Style};
use crate::width::{columns, printable, shorten};

/// What the line shows. Everything is passed in: the report has no clock.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress<'a> {
    /// What was measured last: a subject's name, or several joined by the caller.
    pub subject: &'a str,
    /// Whether these are warm-up rounds.
    pub warmup: bool,
    /// Rounds that are finished.
    pub round: u32,
    /// How far the session can go.
    pub goal: Goal,
    /// Time since the session started.
    pub elapsed: Duration,
    /// Time until the likely end, if it can be estimated.
    pub remaining: Option<Duration>,
    /// The ratio of two subjects, as far as it is known.
    pub estimate: Option<RatioInterval>,
}

/// What ends a session at the latest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// This many rounds.
    Rounds(u32),
    /// This much time.
    Budget(Duration),
    /// Whichever comes first.
    Either(u32, Duration),
}

/// Draws one line without a line break that fits the width:
/// `B  round 12/34  ████░░░░░░  4.1 s of 10 s  +2.1 % (+1.6 % .. +2.6 %)  done in about 6 s`.
///
/// When the terminal is narrow the bar is dropped first, then parts from the right.
pub fn progress_line(progress: &Progress, style: &Style) -> String {
    let rounds = match progress.goal {
        Goal::Rounds(rounds) | Goal::Either(rounds, _) => format!("{}/{rounds}", progress.round),
        Goal::Budget(_) => progress.round.to_string(),
    };
    let stage = if progress.warmup { "warm-up".to_owned() } else { format!("round{NBSP}{rounds}") };
    let elapsed = roughly(progress.elapsed.as_secs_f64());
    let time = match progress.goal {
        Goal::Budget(budget) | Goal::Either(_, budget) => {
            format!("{elapsed} of {}", roughly(budget.as_secs_f64()))
        }
        Goal::Rounds(_) => elapsed,
    };
    let estimate = progress.estimate.as_ref().map(|ratio| {
        let text = quantity::ratio(ratio);
        format!("{} ({})", text.change, text.interval)
    });
    let end = progress.remaining.map(|left| format!("done in {}", about(left.as_secs_f64())));

    let subject = shorten(&printable(progress.subject), 24, style.unicode);
    let mut line = format!("{subject}  {stage}").replace(NBSP, " ");
    let parts: Vec<String> =
        [Some(time), estimate].into_iter().flatten().map(|part| part.replace(NBSP, " ")).collect();
    let end = end.map(|end| end.replace(NBSP, " "));

    let all = parts.iter().chain(&end).map(|part| columns(part) + 2).sum::<usize>();
    if columns(&line) + all + BAR + 2 <= style.width {
        line = format!("{line}  {}", bar(done(progress), style));
    }
    let mut fits = true;
    for part in &parts {
        fits = fits && columns(&line) + 2 + columns(part) <= style.width;
        if fits {
            line = format!("{line}  {part}");
        }
    }
    match end {
        Some(end) if fits && columns(&line) + 2 + columns(&end) <= style.width => {
            format!("{line}  {}", style.paint(Role::Hint, &end))
        }
        _ => shorten(&line, style.width, style.unicode),
    }
}

/// Columns of the bar; it is dropped first when the terminal is narrow.
const BAR: usize = 10;

/// Returns the share of the session that is over. The estimate of the end counts most: a session
/// that stops early is not at a tenth of its budget but nearly done.
fn done(progress: &Progress) -> f64 {
    let elapsed = progress.elapsed.as_secs_f64();
    let share = if let Some(left) = progress.remaining {
        elapsed / (elapsed + left.as_secs_f64())
    } else {
        let rounds = |rounds: u32| f64::from(progress.round) / f64::from(rounds);
        let budget = |budget: Duration| elapsed / budget.as_secs_f64();
        match progress.goal {
            Goal::Rounds(n) => rounds(n),
            Goal::Budget(time) => budget(time),
            Goal::Either(n, time) => rounds(n).max(budget(time)),
        }
    };
    // 0 / 0 at the very start.
    if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
}

fn bar(share: f64, style: &Style) -> String {
    let filled = place((share * BAR as f64).round());
    let [full, empty] = style.pick(['█', '░'], ['#', '.']);
    (0..BAR).map(|cell| if cell < filled { full } else { empty }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warm_up_counts_no_rounds_and_the_end_is_near() {
        let warming = Progress { warmup: true, remaining: None, estimate: None, ..example() };
        let style = Style { width: 100, ..Style::PLAIN };
        assert_eq!(progress_line(&warming, &style), "A, B  warm-up  ####......  4.1 s of 10 s");
        let ending = Progress { remaining: Some(Duration::ZERO), ..example() };
        assert!(progress_line(&ending, &style).ends_with("  done in under 0.1 s"));
    }

    fn example() -> Progress<'static> {
        Progress {
            subject: "A, B",
            warmup: false,
            round: 12,
            goal: Goal::Either(34, Duration::from_secs(10)),
            elapsed: Duration::from_millis(4100),
            remaining: Some(Duration::from_secs(6)),
            estimate: Some(RatioInterval { estimate: 1.021, low: 1.016, high: 1.026 }),
        }
    }

    #[test]
    fn the_line_says_where_the_session_stands_and_when_it_ends() {
        assert_eq!(
            progress_line(&example(), &Style { width: 100, ..Style::PLAIN }),
            "A, B  round 12/34  ####......  4.1 s of 10 s  +2.1 % (+1.6 % .. +2.6 %)  done in about 6.0 s"
        );
    }

    #[test]
    fn the_line_always_fits() {
        for width in 0..100 {
            let line = progress_line(&example(), &Style { width, ..Style::PLAIN });
            assert!(columns(&line) <= width, "{width}: {line}");
        }
    }
}
