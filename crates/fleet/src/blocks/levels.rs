//! The level of each benchmark of a suite over machines.
//!
//! A machine's level is the geometric mean of the medians of its blocks; the interval over machines is Student's of their
//! logarithms (`stats/machines.rs`).

use becalm_model::wire::{FleetLevel, MachineLevel};
use becalm_model::{Metric, Record};
use becalm_stats::center::median_of;
use becalm_stats::machines::OverMachines;

use super::join::OfMachine;

/// Returns the levels, in the order of the first record: what says how long a benchmark takes, and what it measures besides.
pub(crate) fn levels(machines: &[OfMachine<'_>], confidence: f64) -> Vec<FleetLevel> {
    let mut asked: Vec<(&str, &Metric)> = Vec::new();
    for record in machines.iter().flat_map(|one| &one.blocks) {
        let shown = record.metrics.iter().enumerate().filter(|(index, metric)| {
            metric.name == record.usual_metric() || *index >= Metric::always().len()
        });
        for (_, metric) in shown {
            for subject in &record.subjects {
                if !asked.contains(&(&subject.name, metric)) {
                    asked.push((&subject.name, metric));
                }
            }
        }
    }
    asked
        .into_iter()
        .filter_map(|(name, metric)| level(machines, name, metric, confidence))
        .collect()
}

fn level(
    machines: &[OfMachine<'_>],
    benchmark: &str,
    metric: &Metric,
    confidence: f64,
) -> Option<FleetLevel> {
    let mut of_machines = Vec::new();
    for machine in machines {
        let medians = machine.blocks.iter().filter_map(|record| median(record, benchmark, metric));
        let logs: Vec<f64> = medians.filter(|one| *one > 0.0).map(f64::ln).collect();
        if !logs.is_empty() {
            let mean = logs.iter().sum::<f64>() / logs.len() as f64;
            let blocks = u32::try_from(logs.len()).unwrap_or(u32::MAX);
            of_machines.push((machine.name, blocks, mean));
        }
    }
    let means: Vec<f64> = of_machines.iter().map(|(_, _, mean)| *mean).collect();
    let over = OverMachines::of(&means);
    let value = over.map_or(*means.first()?, |over| over.mean).exp();
    let interval = over.map(|over| over.interval(confidence, 0.0).map(f64::exp));
    let shown = |(machine, blocks, mean): &(&str, u32, f64)| MachineLevel {
        machine: (*machine).to_owned(),
        blocks: *blocks,
        value: mean.exp(),
    };
    Some(FleetLevel {
        benchmark: benchmark.to_owned(),
        metric: metric.clone(),
        value,
        low: interval.map(|[low, _]| low),
        high: interval.map(|[_, high]| high),
        deviation: over.map(|over| over.deviation),
        machines: of_machines.iter().map(shown).collect(),
    })
}

fn median(record: &Record, benchmark: &str, metric: &Metric) -> Option<f64> {
    let subject = record.subjects.iter().position(|one| one.name == benchmark)?;
    let mut values = record.values(subject, record.metric_index(&metric.name)?);
    (!values.is_empty()).then(|| median_of(&mut values))
}

#[cfg(test)]
mod tests {
    use becalm_model::{RecordKind, Run, Subject, metric};

    use super::*;

    fn block(seconds: f64) -> Record {
        let mut record = Record {
            subjects: vec![Subject::new("parse", vec!["parse".to_owned()])],
            metrics: Metric::always(),
            ..Record::empty(RecordKind::Run)
        };
        let wall = record.metric_index(metric::WALL_TIME).unwrap();
        let mut run = Run::blank(0, 0);
        run.values = vec![None; record.metrics.len()];
        run.values[wall] = Some(seconds);
        record.runs.push(run);
        record
    }

    #[test]
    fn the_level_is_the_geometric_mean_over_machines() {
        let blocks = [[block(1.0), block(1.0)], [block(4.0), block(4.0)]];
        let machines: Vec<OfMachine<'_>> = ["a", "b"]
            .into_iter()
            .zip(&blocks)
            .map(|(name, blocks)| OfMachine { name, blocks: blocks.iter().collect() })
            .collect();
        let [one] = &levels(&machines, 0.95)[..] else { panic!() };
        assert!((one.value - 2.0).abs() < 1e-12, "{}", one.value);
        assert_eq!((one.machines[1].blocks, one.machines[1].machine.as_str()), (2, "b"));
        assert!(one.low.unwrap() < 1.0 && one.high.unwrap() > 4.0, "two machines tell little");
        let [alone] = &levels(&machines[..1], 0.95)[..] else { panic!() };
        assert_eq!((alone.value, alone.low), (1.0, None));
    }
}
