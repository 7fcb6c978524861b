//! Which runs were disturbed, told by their evidence and never by what they measured.
//!
//! A run is compared with the other runs of the same subject: what is usual for it is no
//! disturbance, however much it is. The limit for each kind of evidence is
//!
//! `median + max(SIGMAS * sigma, slack)`
//!
//! as [`becalm_stats::usual`] has it, with slack the amount below which the evidence is too small to
//! matter or too coarse to be believed.
//!
//! How long a run took must not decide whether it counts. What the machine did in a window is compared
//! per second of the window, because a longer one holds more of everything; and where a slack is a share
//! of the run's duration, it is of the *median* duration of the subject.

mod rules;

use becalm_model::{Disturbance, Evidence};
use becalm_stats::Sample;
use becalm_stats::center::median;
use becalm_stats::usual::{Usual, limits_alike};

use self::rules::{Expected, Over, RULES, Rule};

/// One run of a subject, as far as this module may know it.
#[derive(Debug, Clone, Copy)]
pub struct Observed<'a> {
    /// What happened on the machine meanwhile.
    pub evidence: &'a Evidence,
    /// Seconds from release to exit; only the median over all runs is used.
    pub wall: f64,
}

/// Labels the runs of one subject, in their order; an undisturbed run has no label.
///
/// Give it all measured runs of one subject under the same conditions.
pub fn disturbances(runs: &[Observed<'_>]) -> Vec<Vec<Disturbance>> {
    label(&[runs], &[runs]).swap_remove(0)
}

/// Labels one run of each subject by what was usual `before`, with limits that are the same for subjects
/// which are alike ([`limits_alike`]): whether a round is discarded must not follow from who was hit.
pub(crate) fn disturbances_of_round(
    before: &[Vec<Observed<'_>>],
    round: &[Observed<'_>],
) -> Vec<Vec<Disturbance>> {
    let before: Vec<&[Observed<'_>]> = before.iter().map(Vec::as_slice).collect();
    let round: Vec<&[Observed<'_>]> = round.iter().map(std::slice::from_ref).collect();
    label(&before, &round).into_iter().flatten().collect()
}

/// Labels the runs of several subjects by what is usual among `known` runs of the same.
fn label(known: &[&[Observed<'_>]], judged: &[&[Observed<'_>]]) -> Vec<Vec<Vec<Disturbance>>> {
    let mut labels: Vec<_> = judged.iter().map(|runs| vec![Vec::new(); runs.len()]).collect();
    let walls = known.iter().filter_map(|runs| median_of(runs.iter().map(|run| run.wall)));
    let Some(wall) = walls.reduce(f64::max) else { return labels };
    for rule in RULES {
        // Of the subjects about whom enough is known.
        let (subjects, usual): (Vec<usize>, Vec<Usual>) = known
            .iter()
            .enumerate()
            .filter_map(|(subject, runs)| Some((subject, rule.usual(runs, wall)?)))
            .unzip();
        for (place, &subject) in subjects.iter().enumerate() {
            for (run, labels) in judged[subject].iter().zip(&mut labels[subject]) {
                let Some(value) = (rule.value)(run.evidence) else { continue };
                let scale = rule.scale(run, wall);
                let window = run.evidence.window.unwrap_or(wall);
                let slack = |median: f64| {
                    (rule.slack)(&Expected { value: median * scale, wall, window }) / scale
                };
                let (least, most) = limits_alike(&usual, slack)[place];
                let limit = if value / scale > most {
                    most
                } else if value / scale < least && rule.both_sides {
                    least
                } else {
                    continue;
                };
                labels.push(Disturbance { source: rule.source, value, limit: limit * scale });
            }
        }
    }
    labels
}

impl Rule {
    /// Returns what the value of a run is divided by: amounts are compared in a second of the window.
    fn scale(&self, run: &Observed<'_>, wall: f64) -> f64 {
        match self.over {
            Over::Run => 1.0,
            Over::Window => run.evidence.window.filter(|&window| window > 0.0).unwrap_or(wall),
        }
    }

    /// Returns what is usual among the runs of one subject; `None` where too few have the value.
    fn usual(&self, runs: &[Observed<'_>], wall: f64) -> Option<Usual> {
        let value = |run: &Observed<'_>| Some((self.value)(run.evidence)? / self.scale(run, wall));
        Usual::of(runs.iter().filter_map(value).collect())
    }
}

fn median_of(values: impl Iterator<Item = f64>) -> Option<f64> {
    Sample::new(values.collect()).ok().map(|sample| median(&sample))
}

#[cfg(test)]
mod tests;
