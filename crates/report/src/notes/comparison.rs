//! The sentences about one comparison.

use becalm_model::{ComparisonNote, CutOffWorth, Observation, WallTimeReason};

use becalm_model::counted;

/// Returns the sentence of a note of a comparison.
pub(super) fn sentence(note: &ComparisonNote) -> String {
    use ComparisonNote as N;
    match note {
        N::RoundsWithoutRatio { rounds, metric } => {
            format!("{} have a {metric} of zero or less, which has no ratio", in_rounds(*rounds))
        }
        N::NotExact { metric } => format!(
            "{metric} was declared exact but differs between runs of the same subject, so it is \
             treated as a measured value"
        ),
        N::NoErrorLeft => {
            "undecided: the session ended before its first look, or earlier looks have used up \
             its error"
                .to_owned()
        }
        N::TooFew { of, usable, needed } => too_few(*of, *usable, *needed),
        N::Steps => {
            "the values change in steps or not at all, so changes smaller than a step are not \
             detectable in any number of rounds: use a finer clock, or declare a count exact"
                .to_owned()
        }
        N::CutOff { subject, rounds, worth } => format!(
            "`{subject}` was cut off at the timeout in {}{}",
            in_rounds(*rounds),
            cut_off(*worth)
        ),
        N::PaceUnknown { rounds } => format!(
            "the pace of the core is unknown during {}, and not corrected for",
            in_rounds(*rounds)
        ),
        N::PaceAllowedFor { varied, felt, ratio, ratio_low, ratio_high } => format!(
            "corrected for the pace of the core, which varied by {:.0} % from run to run \
             (sensitivity {:.0} %); without the correction the ratio is {ratio:.4} \
             ({ratio_low:.4} .. {ratio_high:.4})",
            100.0 * varied,
            100.0 * felt
        ),
        N::PaceDiffered { by } => format!(
            "not corrected for the pace of the core: it differed between the subjects by {:.1} %, \
             which they may have caused themselves",
            100.0 * by
        ),
        N::MetricsDisagree { metric, verdict, wall_time } => {
            format!("the metrics disagree: {metric} says {verdict}, wall_time says {wall_time}")
        }
        N::DecidedOnWallTime { because, subject } => {
            let name = subject.as_deref().unwrap_or_default();
            format!("decided on wall_time: {}", wall_time_because(*because, name))
        }
        N::DecidedOnCpuTime => {
            "decided on cpu_time: the runs show that the subjects compute on one thread, and \
                                CPU time is disturbed less than wall time"
                .to_owned()
        }
        N::MeasuredSeparately => {
            "measured separately: a change of the machine between the two looks like a change of \
             the program; `becalm compare` measures them in turns"
                .to_owned()
        }
        N::ValuesWithoutRatio { values } => {
            let has = if *values == 1 { "1 value is" } else { &format!("{values} values are") };
            format!("{has} zero or less, which has no ratio, and skipped")
        }
        N::OneProcess => {
            "one process on a side does not show how much processes differ, however many values \
             were timed inside it: measure about ten on each side, as `becalm compare --harness` does, \
             or put the output of ten processes into each file"
                .to_owned()
        }
        N::OneLayout => {
            "one layout on a side does not show how much layouts differ, however many processes \
             ran it: measure several, as `--layouts` does"
                .to_owned()
        }
        N::LowerBounds => {
            "runs were cut off at the timeout, so their times are lower bounds, which have no \
             ratio"
                .to_owned()
        }
        N::NoSingleValues => {
            "a file contains no single values, so how much they differ is unknown".to_owned()
        }
        N::SameValues => {
            "all or nearly all processes of each side gave the same value: it is too coarse to \
             show how much they differ"
                .to_owned()
        }
        N::LooksNotAllowedFor => {
            "the session looked at its results while it ran, and this interval is not corrected \
             for that"
                .to_owned()
        }
        N::PerhapsAllowed => "slower, perhaps by no more than is allowed".to_owned(),
        N::AsTheBaseFromItself => "no more than the base differs from itself".to_owned(),
    }
}

/// Names a number of rounds.
fn in_rounds(rounds: u32) -> String {
    counted(rounds as usize, "round")
}

fn too_few(of: Observation, usable: u32, needed: u32) -> String {
    let unit = match of {
        Observation::Round => "round",
        Observation::Layout => "layout",
    };
    let they_are = match usable {
        0 => format!("no usable {unit} is"),
        1 => format!("1 usable {unit} is"),
        _ => format!("{usable} usable {unit}s are"),
    };
    format!("{they_are} too few for an interval at this confidence: at least {needed} are needed")
}

fn cut_off(worth: CutOffWorth) -> String {
    match worth {
        CutOffWorth::Nothing(verdict) => {
            format!(": the values alone would give {verdict}, which means nothing then")
        }
        CutOffWorth::LeftOut => ", which are skipped".to_owned(),
        CutOffWorth::AtLeast => {
            "; its time there is a lower bound, so the real difference is at least as large"
                .to_owned()
        }
        CutOffWorth::LowerBound => "; its time there is a lower bound".to_owned(),
    }
}

fn wall_time_because(reason: WallTimeReason, subject: &str) -> String {
    match reason {
        WallTimeReason::NoCpuTime => "no CPU time was recorded".to_owned(),
        WallTimeReason::NoCompleteRun => format!("`{subject}` has no complete run"),
        WallTimeReason::CutOff => format!("runs of `{subject}` were cut off at the timeout"),
        WallTimeReason::Unknown => format!(
            "what `{subject}` does is unknown, because /proc/PID/schedstat cannot be read here"
        ),
        WallTimeReason::SeveralThreads => format!("`{subject}` uses several threads or processes"),
        WallTimeReason::Waits => format!("`{subject}` spends time waiting"),
    }
}

#[cfg(test)]
mod tests {
    use becalm_model::{ComparisonNote as N, Verdict};

    use super::*;

    #[track_caller]
    fn check(note: &N, expected: &str) {
        assert_eq!(sentence(note), expected);
    }

    #[test]
    fn rounds_that_are_lost_are_counted() {
        let metric = "faults".to_owned();
        check(
            &N::RoundsWithoutRatio { rounds: 4, metric },
            "4 rounds have a faults of zero or less, which has no ratio",
        );
        check(
            &N::TooFew { of: Observation::Round, usable: 3, needed: 6 },
            "3 usable rounds are too few for an interval at this confidence: at least 6 are needed",
        );
        check(
            &N::TooFew { of: Observation::Layout, usable: 0, needed: 6 },
            "no usable layout is too few for an interval at this confidence: at least 6 are needed",
        );
        check(
            &N::ValuesWithoutRatio { values: 1 },
            "1 value is zero or less, which has no ratio, and skipped",
        );
    }

    #[test]
    fn what_was_cut_off_is_named_with_its_worth() {
        let of = |worth| N::CutOff { subject: "B".to_owned(), rounds: 1, worth };
        check(
            &of(CutOffWorth::Nothing(Verdict::Faster)),
            "`B` was cut off at the timeout in 1 round: the values alone would give faster, which means nothing then",
        );
        check(
            &of(CutOffWorth::AtLeast),
            "`B` was cut off at the timeout in 1 round; its time there is a lower bound, so the real difference \
             is at least as large",
        );
        check(
            &of(CutOffWorth::LeftOut),
            "`B` was cut off at the timeout in 1 round, which are skipped",
        );
    }

    #[test]
    fn the_pace_is_told_with_its_figures() {
        let (ratio, ratio_low, ratio_high) = (1.01, 0.98, 1.04);
        check(
            &N::PaceAllowedFor { varied: 0.14, felt: 0.9, ratio, ratio_low, ratio_high },
            "corrected for the pace of the core, which varied by 14 % from run to run (sensitivity 90 %); without the correction the ratio is 1.0100 (0.9800 .. 1.0400)",
        );
        check(
            &N::PaceUnknown { rounds: 1 },
            "the pace of the core is unknown during 1 round, and not corrected for",
        );
    }

    #[test]
    fn who_makes_the_wall_time_decide_is_named() {
        let because = WallTimeReason::Waits;
        check(
            &N::DecidedOnWallTime { because, subject: Some("A".to_owned()) },
            "decided on wall_time: `A` spends time waiting",
        );
        check(
            &N::MetricsDisagree {
                metric: "cpu_time".to_owned(),
                verdict: Verdict::Faster,
                wall_time: Verdict::Slower,
            },
            "the metrics disagree: cpu_time says faster, wall_time says slower",
        );
    }
}
