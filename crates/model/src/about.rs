//! What a record is about: which of its metrics a reader looks at first, a series is followed by, a decision is made on.

use crate::terms::Primary;
use crate::{Metric, Record, metric};

impl Record {
    /// Returns the metrics that a subject is about, of those that it has values of: those that its suite names, or
    /// else what the benchmarks inside the program are about, or else what was read from the output, and what was asked
    /// for by name of what becalm records of each run, or without that what says how long the program takes.
    pub fn about(&self, subject: usize) -> Vec<usize> {
        let all = self.metrics_of(self.measured(subject));
        let named = self.suite.get(subject).into_iter().flat_map(|terms| &terms.metrics);
        let deciding = self.deciding_builtins();
        let is_of_program = |metric: &Metric| {
            let is_usual = deciding.is_empty() && metric.name == self.usual_metric();
            is_usual || deciding.contains(&&metric.name) || !metric::is_builtin(&metric.name)
        };
        let those = |is_wanted: &dyn Fn(&Metric) -> bool| -> Vec<usize> {
            all.iter().copied().filter(|&index| is_wanted(&self.metrics[index])).collect()
        };
        let choices: [&dyn Fn() -> Vec<usize>; 4] = [
            // In the order of the suite.
            &|| {
                named.clone().flat_map(|one| those(&|metric| metric.is_called(&one.name))).collect()
            },
            &|| those(&Metric::is_main),
            // Some tools name every measure and none that the benchmark is about, such as gungraun's counts.
            &|| those(&|metric| metric.benchmark.is_some()),
            &|| those(&is_of_program),
        ];
        choices.into_iter().map(|choice| choice()).find(|some| !some.is_empty()).unwrap_or_default()
    }

    /// Returns the metrics that were named to decide, of those that becalm records of each run of a program.
    fn deciding_builtins(&self) -> Vec<&String> {
        let of_programs = self.terms.as_ref().filter(|terms| terms.runs.load.is_none());
        let primary = of_programs.map(|terms| &terms.primary);
        let Some(Primary::Named(names)) = primary else { return Vec::new() };
        let is_recorded = |name: &&String| {
            metric::is_builtin(name) && self.metrics.iter().any(|metric| metric.name == **name)
        };
        names.iter().filter(is_recorded).collect()
    }

    /// Returns these measures of all benchmarks inside the program; without any what the benchmarks are about, and where
    /// nothing is that, all that they have.
    pub fn about_benchmarks(&self, measures: &[String]) -> Vec<usize> {
        if !measures.is_empty() {
            return self.metrics_that(|metric| measures.iter().any(|name| metric.is_called(name)));
        }
        let main = self.metrics_that(Metric::is_main);
        if main.is_empty() { self.metrics_that(|metric| metric.benchmark.is_some()) } else { main }
    }

    /// Returns the indices of some metrics.
    pub fn metrics_that(&self, is_wanted: impl Fn(&Metric) -> bool) -> Vec<usize> {
        (0..self.metrics.len()).filter(|&index| is_wanted(&self.metrics[index])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::Terms;
    use crate::{RecordKind, Run, Subject};

    #[test]
    fn a_program_is_about_the_metrics_that_were_named_and_else_about_its_time() {
        let about = |primary: Primary| -> Vec<String> {
            let mut record = Record::empty(RecordKind::Run);
            record.subjects.push(Subject::new("./sort", vec!["./sort".to_owned()]));
            record.metrics = Metric::always();
            record.metrics.push(Metric::lower("latency", crate::Unit::Second));
            let values = vec![Some(1.0); record.metrics.len()];
            record.runs.push(Run { values, ..Run::blank(0, 1) });
            record.terms = Some(Terms { primary, ..Terms::default() });
            record.about(0).into_iter().map(|at| record.metrics[at].name.clone()).collect()
        };
        let named =
            |names: &[&str]| Primary::Named(names.iter().map(ToString::to_string).collect());
        assert_eq!(about(Primary::Auto), ["wall_time", "latency"]);
        assert_eq!(about(named(&["cpu_time"])), ["cpu_time", "latency"]);
        assert_eq!(about(named(&["max_rss", "latency"])), ["max_rss", "latency"]);
        // What is read from the output decides, and the time is followed beside it.
        assert_eq!(about(named(&["latency"])), ["wall_time", "latency"]);
    }
}
