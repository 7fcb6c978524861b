//! What one run gave for each metric of the whole process.

use becalm_model::Metric;

/// Values by the names of their metrics, which is what a record puts them in order by.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Values(Vec<(String, f64)>);

impl Values {
    /// Adds the value of a metric; nothing if the run has none.
    pub fn add(&mut self, metric: &str, value: impl Into<Option<f64>>) {
        if let Some(value) = value.into() {
            self.0.push((metric.to_owned(), value));
        }
    }

    /// Adds the value of each metric, which stand in the same order.
    pub fn add_all(&mut self, metrics: &[Metric], values: &[Option<f64>]) {
        for (metric, value) in metrics.iter().zip(values) {
            self.add(&metric.name, *value);
        }
    }

    /// Adds all values of others.
    pub(crate) fn append(&mut self, mut others: Self) {
        self.0.append(&mut others.0);
    }

    /// Returns the value of a metric, if the run has it.
    pub fn of(&self, metric: &str) -> Option<f64> {
        self.0.iter().find(|(name, _)| name == metric).map(|(_, value)| *value)
    }

    /// Returns one value, or none, for each metric that is of a whole process; those of benchmarks stand behind them.
    pub fn in_order_of(&self, metrics: &[Metric]) -> Vec<Option<f64>> {
        let of_process = metrics.iter().take_while(|metric| metric.benchmark.is_none());
        of_process.map(|metric| self.of(&metric.name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use becalm_model::metric::{MAX_RSS, USER_TIME, WALL_TIME};

    use super::*;

    #[test]
    fn values_stand_where_their_metrics_do_whatever_order_they_came_in() {
        let mut values = Values::default();
        values.add(MAX_RSS, 3.0);
        values.add(WALL_TIME, 1.0);
        values.add(USER_TIME, None);
        values.add("of nobody", 9.0);
        assert_eq!(values.in_order_of(&Metric::always()), [Some(1.0), None, None, None, Some(3.0)]);
    }
}
