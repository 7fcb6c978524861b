//! What the order and the shape of a sample reveal, as text.

use becalm_stats::bimodality::{Bimodality, FEWEST_VALUES};
use becalm_stats::sequence::{FEWEST_RUNS, LEVEL};
use becalm_stats::warmup::slow_start;
use becalm_stats::{Sample, SequenceCheck};

use crate::quantity::{NBSP, Scale, count, percent, signed_percent};

/// One finding: a fault of the measurement, or the remark that there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) text: String,
    /// Whether the reader should not overlook it.
    pub(crate) is_warning: bool,
}

fn warning(text: String) -> Finding {
    Finding { text, is_warning: true }
}

fn remark(text: String) -> Finding {
    Finding { text, is_warning: false }
}

/// Checks the values in time order for a slow start, drift, a step, dependence and two modes.
pub(crate) fn findings(sample: &Sample, scale: &Scale) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(k) = slow_start(sample) {
        findings.push(warning(format!(
            "The first {} slower than the rest: more warm-up rounds would help.",
            if k == 1 { format!("1{NBSP}run is") } else { format!("{k}{NBSP}runs are") }
        )));
    }
    match SequenceCheck::of(sample) {
        Ok(check) => sequence(&check, &mut findings),
        Err(_) => findings.push(remark(format!(
            "Too few runs to check their order (at least {FEWEST_RUNS} are needed)."
        ))),
    }
    match Bimodality::of(sample) {
        Ok(Bimodality { modes: Some(modes), .. }) => findings.push(warning(format!(
            "Two modes: {} of the values lie near {}, the others near {}. The median may jump \
             between them.",
            percent(modes.lower_share),
            scale.with_unit(modes.lower),
            scale.with_unit(modes.upper),
        ))),
        Ok(_) => {}
        Err(_) => findings.push(remark(format!(
            "Too few runs to look for two modes (at least {FEWEST_VALUES} are needed)."
        ))),
    }
    findings
}

fn sequence(check: &SequenceCheck, findings: &mut Vec<Finding>) {
    let drifting = check.is_drifting();
    let stepped = check.is_stepped();
    if drifting {
        let over_all = check.drift.slope_share.map(|share| share * (check.n - 1) as f64);
        let size = over_all.map_or(String::new(), |share| {
            format!(" by {} from first to last run", signed_percent(share, 1))
        });
        findings.push(warning(format!("Drift: the values change{size}.")));
    }
    // A strong trend looks like a step too; the trend then says enough.
    if stepped && !drifting {
        let size = check
            .step
            .shift_share
            .map_or(String::new(), |share| format!(" by {}", signed_percent(share, 1)));
        findings.push(warning(format!(
            "Step: the level changes{size} after {}.",
            count(check.step.index, "run")
        )));
    }
    if check.is_autocorrelated() {
        let (low, high) = check.independent();
        // With as many decimals as show on which side of an end it lies.
        let is_clear = |decimals: usize| {
            let rounded = |value: f64| format!("{value:+.decimals$}");
            [low, high].into_iter().all(|end| rounded(end) != rounded(check.lag1))
        };
        let decimals = (2..6).find(|&decimals| is_clear(decimals)).unwrap_or(6);
        let shown = |value: f64| format!("{value:+.decimals$}");
        findings.push(warning(format!(
            "Neighbouring runs {} each other (lag-1 autocorrelation {}; independent runs have {} .. \
             {}): intervals of one subject are {} than they should be.",
            if check.lag1 > low { "resemble" } else { "avoid" },
            shown(check.lag1),
            shown(low),
            shown(high),
            if check.lag1 > low { "narrower" } else { "wider" },
        )));
    }
    if !drifting && !stepped && !check.is_autocorrelated() {
        findings.push(remark(format!(
            "No drift, step or dependence between neighbouring runs found (level {}).",
            percent(LEVEL)
        )));
    }
}
