//! What a job of continuous integration found out: head against base, and base against itself.

use crate::history::short_commit;
use crate::metric::{Direction, Unit};
use crate::verdict::{RatioInterval, Verdict};

/// Says whether a text can be the name of a job: it stands in a hidden line of a comment.
pub fn is_ci_id(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    // Two hyphens may end the comment that the line is.
    (1..=50).contains(&text.len()) && text.bytes().all(fits) && !text.contains("--")
}

/// A commit with the first line of its message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CiCommit {
    /// The full id.
    pub id: String,
    /// The first line of the message.
    pub title: String,
}

impl CiCommit {
    /// Returns the beginning of the id, as people know it.
    pub fn short(&self) -> &str {
        short_commit(&self.id)
    }
}

/// What the gate allows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CiRule {
    /// Confidence asked for.
    pub confidence: f64,
    /// Smallest relative change that matters.
    pub margin: f64,
    /// By how much something may get worse, as a share: only a `slower` whose interval lies wholly beyond
    /// fails.
    pub allow: f64,
    /// Whether what stays undecided fails too.
    pub strict: bool,
}

/// The base against itself, measured in the same rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CiNoise {
    /// Ratio of the base to itself, with its interval; `None` where there is none.
    pub ratio: Option<RatioInterval>,
    /// What would have been said of it.
    pub verdict: Verdict,
}

/// One metric of one benchmark, head against base.
#[derive(Debug, Clone, PartialEq)]
pub struct CiLine {
    /// The benchmark.
    pub name: String,
    /// The metric.
    pub metric: String,
    /// Unit of the values.
    pub unit: Unit,
    /// Which way is better.
    pub direction: Direction,
    /// Median of the base, in the unit.
    pub base: Option<f64>,
    /// Median of the head, in the unit.
    pub head: Option<f64>,
    /// Ratio head / base with its interval; `None` where there is none.
    pub ratio: Option<RatioInterval>,
    /// The answer.
    pub verdict: Verdict,
    /// The base against itself.
    pub noise: CiNoise,
    /// How many more rounds an undecided comparison would need, where that can be told.
    pub rounds_needed: Option<u64>,
}

/// What a verdict means for the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// Worse by more than the rule allows.
    Regression,
    /// Different, but no more than the base is from itself: this job cannot tell.
    Doubtful,
    /// Not decided.
    Inconclusive,
    /// Worse, perhaps by no more than the rule allows.
    Tolerated,
    /// Better.
    Improvement,
    /// The same, within the margin.
    Equivalent,
}

impl Standing {
    /// Returns the word used in JSON and reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Regression => "regression",
            Self::Doubtful => "doubtful",
            Self::Inconclusive => "inconclusive",
            Self::Tolerated => "tolerated",
            Self::Improvement => "improvement",
            Self::Equivalent => "equivalent",
        }
    }
}

impl CiLine {
    /// Returns how many times worse the head is, estimate and interval; above 1 is worse.
    pub fn worsening(&self) -> Option<RatioInterval> {
        self.ratio.map(|ratio| towards_worse(ratio, self.direction))
    }

    /// Says what the verdict means under a rule.
    ///
    /// Where the base seems to differ from itself, no difference counts that is not wholly beyond it: what
    /// moves the base can move the head as well.
    pub fn standing(&self, rule: &CiRule) -> Standing {
        let Some(worse) = self.worsening() else { return Standing::Inconclusive };
        let own = match (self.noise.verdict, self.noise.ratio) {
            (Verdict::Faster | Verdict::Slower, Some(ratio)) => ratio.high.max(1.0 / ratio.low),
            _ => 1.0,
        };
        match self.verdict {
            Verdict::Equivalent => Standing::Equivalent,
            Verdict::Inconclusive => Standing::Inconclusive,
            Verdict::Faster if worse.high < 1.0 / own => Standing::Improvement,
            // Without an end nobody knows how much worse.
            Verdict::Slower if worse.low <= 1.0 + rule.allow && worse.high.is_infinite() => {
                Standing::Doubtful
            }
            Verdict::Slower if worse.low <= 1.0 + rule.allow => Standing::Tolerated,
            Verdict::Slower if worse.low > own => Standing::Regression,
            Verdict::Faster | Verdict::Slower => Standing::Doubtful,
        }
    }
}

fn towards_worse(ratio: RatioInterval, direction: Direction) -> RatioInterval {
    match direction {
        Direction::Lower => ratio,
        Direction::Higher => RatioInterval {
            estimate: 1.0 / ratio.estimate,
            low: 1.0 / ratio.high,
            high: 1.0 / ratio.low,
        },
    }
}

/// What a job came to.
#[derive(Debug, Clone, PartialEq)]
pub enum CiResult {
    /// The programs are the same, for this reason; nothing was measured.
    Identical(String),
    /// What was measured, in the order of the record.
    Measured {
        /// A line for each metric of each benchmark that decides.
        lines: Vec<CiLine>,
        /// Rounds that were measured.
        rounds: u32,
    },
    /// Why nothing could be measured.
    Failed(String),
}

/// What a job says as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conclusion {
    /// The programs are the same.
    Identical,
    /// Something is worse by more than the rule allows.
    Regressed,
    /// Something is better, and nothing worse by more than the rule allows.
    Improved,
    /// Something is not decided, and nothing changed.
    Undecided,
    /// Nothing changed.
    Unchanged,
    /// Nothing could be measured.
    Failed,
}

impl Conclusion {
    /// Returns the word used in JSON and reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Identical => "identical",
            Self::Regressed => "regressed",
            Self::Improved => "improved",
            Self::Undecided => "undecided",
            Self::Unchanged => "unchanged",
            Self::Failed => "failed",
        }
    }

    /// Says whether people should hear of it unasked.
    pub fn is_news(self) -> bool {
        matches!(self, Self::Regressed | Self::Improved)
    }
}

/// A job of continuous integration.
#[derive(Debug, Clone, PartialEq)]
pub struct CiReport {
    /// Which job: others have comments and statuses of their own.
    pub id: String,
    /// What was compared with.
    pub base: CiCommit,
    /// What was measured.
    pub head: CiCommit,
    /// The commit that gets the status; `None` where there is no service to tell.
    pub commit: Option<String>,
    /// Number of the pull or merge request, if there is one.
    pub change: Option<u64>,
    /// What the gate allows.
    pub rule: CiRule,
    /// What came out.
    pub result: CiResult,
    /// The machine, in words.
    pub machine: String,
    /// The command line that does the same elsewhere.
    pub reproduce: Vec<String>,
    /// What the reader has to know, as sentences.
    pub notes: Vec<String>,
    /// Version of becalm.
    pub version: String,
}

impl CiReport {
    /// Returns the lines, worst first: by standing, then by how much worse.
    pub fn sorted(&self) -> Vec<(&CiLine, Standing)> {
        let CiResult::Measured { lines, .. } = &self.result else { return Vec::new() };
        let mut lines: Vec<(&CiLine, Standing)> =
            lines.iter().map(|line| (line, line.standing(&self.rule))).collect();
        let size = |line: &CiLine| line.worsening().map_or(1.0, |worse| worse.estimate);
        lines.sort_by(|(a, a_is), (b, b_is)| {
            let by_size = if *a_is == Standing::Improvement {
                // Of what became better, the most first.
                size(a).total_cmp(&size(b))
            } else {
                size(b).total_cmp(&size(a))
            };
            a_is.cmp(b_is).then(by_size).then_with(|| a.name.cmp(&b.name))
        });
        lines
    }

    /// Says what the job came to.
    pub fn conclusion(&self) -> Conclusion {
        let lines = match &self.result {
            CiResult::Identical(_) => return Conclusion::Identical,
            CiResult::Failed(_) => return Conclusion::Failed,
            CiResult::Measured { lines, .. } => lines,
        };
        let any =
            |of: &[Standing]| lines.iter().any(|line| of.contains(&line.standing(&self.rule)));
        if any(&[Standing::Regression]) {
            Conclusion::Regressed
        } else if any(&[Standing::Improvement]) {
            Conclusion::Improved
        } else if lines.is_empty() || any(&[Standing::Inconclusive, Standing::Doubtful]) {
            Conclusion::Undecided
        } else {
            Conclusion::Unchanged
        }
    }

    /// Says whether something that was measured is not decided.
    pub fn is_undecided(&self) -> bool {
        let CiResult::Measured { lines, .. } = &self.result else { return false };
        lines.is_empty()
            || lines.iter().any(|line| {
                matches!(line.standing(&self.rule), Standing::Inconclusive | Standing::Doubtful)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: CiRule = CiRule { confidence: 0.95, margin: 0.01, allow: 0.0, strict: false };

    fn interval(low: f64, high: f64) -> RatioInterval {
        RatioInterval { estimate: (low * high).sqrt(), low, high }
    }

    fn line(verdict: Verdict, ratio: (f64, f64), own: (Verdict, (f64, f64))) -> CiLine {
        CiLine {
            name: "a".to_owned(),
            metric: "t".to_owned(),
            unit: Unit::Second,
            direction: Direction::Lower,
            base: Some(1.0),
            head: Some(1.0),
            ratio: Some(interval(ratio.0, ratio.1)),
            verdict,
            noise: CiNoise { ratio: Some(interval(own.1.0, own.1.1)), verdict: own.0 },
            rounds_needed: None,
        }
    }

    const QUIET: (Verdict, (f64, f64)) = (Verdict::Equivalent, (0.998, 1.002));

    #[test]
    fn what_is_slower_fails_where_its_whole_interval_is_beyond_what_is_allowed() {
        let slower = line(Verdict::Slower, (1.03, 1.07), QUIET);
        assert_eq!(slower.standing(&RULE), Standing::Regression);
        assert_eq!(slower.standing(&CiRule { allow: 0.02, ..RULE }), Standing::Regression);
        assert_eq!(slower.standing(&CiRule { allow: 0.03, ..RULE }), Standing::Tolerated);
        let faster = line(Verdict::Faster, (0.90, 0.95), QUIET);
        assert_eq!(faster.standing(&RULE), Standing::Improvement);
    }

    #[test]
    fn less_throughput_is_worse() {
        let less =
            CiLine { direction: Direction::Higher, ..line(Verdict::Slower, (0.90, 0.95), QUIET) };
        assert_eq!(less.standing(&RULE), Standing::Regression);
        assert_eq!(less.standing(&CiRule { allow: 0.06, ..RULE }), Standing::Tolerated);
    }

    #[test]
    fn a_base_that_differs_from_itself_raises_what_a_difference_has_to_exceed() {
        let noisy = (Verdict::Faster, (0.94, 0.98));
        assert_eq!(line(Verdict::Slower, (1.03, 1.05), noisy).standing(&RULE), Standing::Doubtful);
        assert_eq!(line(Verdict::Faster, (0.95, 0.97), noisy).standing(&RULE), Standing::Doubtful);
        assert_eq!(
            line(Verdict::Slower, (1.08, 1.10), noisy).standing(&RULE),
            Standing::Regression
        );
        assert_eq!(
            line(Verdict::Faster, (0.80, 0.90), noisy).standing(&RULE),
            Standing::Improvement
        );
    }

    #[test]
    fn the_worst_comes_first_and_decides() {
        let lines = vec![
            line(Verdict::Equivalent, (0.999, 1.001), QUIET),
            line(Verdict::Faster, (0.80, 0.90), QUIET),
            line(Verdict::Slower, (1.02, 1.03), QUIET),
            line(Verdict::Inconclusive, (0.97, 1.03), QUIET),
            line(Verdict::Slower, (1.20, 1.30), QUIET),
        ];
        let mut report = CiReport {
            id: String::new(),
            base: CiCommit::default(),
            head: CiCommit::default(),
            commit: None,
            change: None,
            rule: RULE,
            result: CiResult::Measured { lines, rounds: 8 },
            machine: String::new(),
            reproduce: Vec::new(),
            notes: Vec::new(),
            version: String::new(),
        };
        let sorted = report.sorted();
        let standings: Vec<&str> = sorted.iter().map(|(_, standing)| standing.word()).collect();
        assert_eq!(
            standings,
            ["regression", "regression", "inconclusive", "improvement", "equivalent"]
        );
        assert!(sorted[0].0.ratio.unwrap().low > 1.1);
        assert_eq!(report.conclusion(), Conclusion::Regressed);
        assert!(report.is_undecided());
        report.result = CiResult::Measured { lines: Vec::new(), rounds: 0 };
        assert_eq!(report.conclusion(), Conclusion::Undecided);
    }
}
