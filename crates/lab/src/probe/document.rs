//! A probe as the documents that leave the process.

use becalm_model::Limit;
use becalm_model::wire::{
    LengthBin, LengthClass, PROBE_SCHEMA, ProbeDocument, ProbeWindow, ProbedCpu, RankedCpu, Worded,
};

use super::gaps::{Bin, EDGES, Gaps};
use super::{CpuNoise, Ranked, Siblings, Source, Terms, rank};

const NANO: f64 = 1e-9;

/// Where classes begin, in nanoseconds: orders of magnitude from 1 us to 10 ms.
const CLASSES: [u64; 6] = [0, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];

/// Returns the document of a probe, with its ranking. It says nothing of where that was saved.
pub fn document(
    source: Source,
    terms: &Terms,
    noise: &[CpuNoise],
    limits: Vec<Worded<Limit>>,
) -> ProbeDocument {
    let shares: Vec<_> = noise.iter().map(CpuNoise::shares).collect();
    ProbeDocument {
        schema: PROBE_SCHEMA.to_owned(),
        source: source.name().to_owned(),
        threshold: terms.threshold.as_secs_f64(),
        scheduler: terms.class.scheduler().to_string(),
        busy_siblings: terms.siblings == Siblings::Busy,
        cpus: noise.iter().map(|noise| cpu(noise, terms)).collect(),
        ranking: rank(&shares).iter().map(ranked).collect(),
        smis: None,
        saved: None,
        limits,
    }
}

fn cpu(noise: &CpuNoise, terms: &Terms) -> ProbedCpu {
    let gaps = noise.gaps();
    let duration = gaps.watched as f64 * NANO;
    ProbedCpu {
        cpu: noise.cpu.0,
        duration,
        step: gaps.step(),
        lost: gaps.lost as f64 * NANO,
        lost_share: gaps.share(),
        interruptions: gaps.count,
        per_second: rate(gaps.count, duration),
        longest: gaps.longest as f64 * NANO,
        classes: classes(&gaps, terms.threshold.as_secs_f64()),
        histogram: histogram(&gaps),
        preemptions: noise.preemptions,
        steal: noise.steal,
        counters: noise.counters,
        windows: noise
            .windows
            .iter()
            .map(|window| ProbeWindow {
                round: window.round,
                start: window.start.as_secs_f64(),
                duration: window.gaps.watched as f64 * NANO,
                lost: window.gaps.lost as f64 * NANO,
                interruptions: window.gaps.count,
                longest: window.gaps.longest as f64 * NANO,
            })
            .collect(),
    }
}

fn rate(count: u64, duration: f64) -> f64 {
    if duration > 0.0 { count as f64 / duration } else { 0.0 }
}

/// Puts bins together to orders of magnitude; those wholly below the threshold are left out.
fn classes(gaps: &Gaps, threshold: f64) -> Vec<LengthClass> {
    let duration = gaps.watched as f64 * NANO;
    let ends = CLASSES.iter().skip(1).copied().map(Some).chain([None]);
    let class = |(from, to): (u64, Option<u64>)| {
        let mut sum = Bin::default();
        for (_, bin) in EDGES
            .iter()
            .zip(&gaps.bins)
            .filter(|(edge, _)| **edge >= from && to.is_none_or(|to| **edge < to))
        {
            sum.count += bin.count;
            sum.lost += bin.lost;
        }
        LengthClass {
            from: (from as f64 * NANO).max(threshold),
            to: to.map(|to| to as f64 * NANO),
            count: sum.count,
            per_second: rate(sum.count, duration),
            lost_share: if duration > 0.0 { sum.lost as f64 * NANO / duration } else { 0.0 },
        }
    };
    let all = CLASSES.iter().copied().zip(ends).map(class);
    all.filter(|class| class.to.is_none_or(|to| to > threshold)).collect()
}

/// Returns the bins from the first that is not empty to the last.
fn histogram(gaps: &Gaps) -> Vec<LengthBin> {
    let used = |bin: &Bin| bin.count > 0;
    let Some(first) = gaps.bins.iter().position(used) else { return Vec::new() };
    let last = gaps.bins.iter().rposition(used).unwrap_or(first);
    EDGES
        .iter()
        .zip(&gaps.bins)
        .take(last + 1)
        .skip(first)
        .map(|(edge, bin)| LengthBin {
            from: *edge as f64 * NANO,
            count: bin.count,
            lost: bin.lost as f64 * NANO,
        })
        .collect()
}

fn ranked(ranked: &Ranked) -> RankedCpu {
    RankedCpu {
        cpu: ranked.cpu.0,
        tier: ranked.tier,
        lost_share: ranked.share,
        low: ranked.interval.map(|interval| interval.low),
        high: ranked.interval.map(|interval| interval.high),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Class, Window};
    use super::*;
    use becalm_model::CpuId;
    use std::time::Duration;

    fn terms(threshold_us: u64) -> Terms {
        Terms {
            cpus: "0".parse().unwrap(),
            duration: Duration::from_secs(1),
            threshold: Duration::from_micros(threshold_us),
            class: Class::OTHER,
            siblings: Siblings::AsTheyAre,
        }
    }

    fn noise(gaps: &[u64]) -> CpuNoise {
        let mut seen = Gaps { watched: 2_000_000_000, reads: 1_000_000, ..Gaps::default() };
        for gap in gaps {
            seen.add(*gap);
        }
        let window = Window { round: 0, start: Duration::ZERO, gaps: seen };
        CpuNoise { windows: vec![window], ..CpuNoise::new(CpuId(3)) }
    }

    #[test]
    fn gaps_are_counted_by_orders_of_magnitude_from_the_threshold_on() {
        let noise = noise(&[6_000, 9_999, 40_000, 3_000_000, 20_000_000]);
        let document = document(Source::Clock, &terms(5), &[noise], Vec::new());
        let classes: Vec<_> = document.cpus[0]
            .classes
            .iter()
            .map(|class| ((class.from * 1e6).round(), class.count, class.per_second))
            .collect();
        assert_eq!(
            classes,
            [(5.0, 2, 1.0), (10.0, 1, 0.5), (100.0, 0, 0.0), (1e3, 1, 0.5), (1e4, 1, 0.5)]
        );
    }

    #[test]
    fn a_lower_threshold_has_one_class_more() {
        let document = document(Source::Clock, &terms(0), &[noise(&[500])], Vec::new());
        assert_eq!(document.cpus[0].classes.len(), 6);
        assert_eq!(document.cpus[0].histogram.len(), 1);
    }

    #[test]
    fn the_histogram_has_the_empty_bins_between() {
        let document = document(Source::Clock, &terms(5), &[noise(&[6_000, 60_000])], Vec::new());
        let counts: Vec<_> = document.cpus[0].histogram.iter().map(|bin| bin.count).collect();
        assert_eq!(counts, [1, 0, 0, 1]);
    }

    #[test]
    fn shares_come_from_the_time_watched() {
        let document = document(Source::Tracer, &terms(5), &[noise(&[2_000_000])], Vec::new());
        assert!((document.cpus[0].lost_share - 1e-3).abs() < 1e-12);
        assert_eq!((document.source.as_str(), document.ranking[0].tier), ("tracer", 0));
    }
}
