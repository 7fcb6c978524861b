//! The metrics of a benchmark: recorded anyway, or read from its output.

use becalm_model::load::{self, CPU_PER_REQUEST, ERROR_RATE, MAIN_METRIC, THROUGHPUT};
use becalm_model::metric::{ALWAYS, COUNTERS, is_builtin};
use becalm_model::wire::SuiteMetric;
use becalm_model::{Metric, MetricTerms, Unit, with_causes};
use becalm_runner::Extractor;

use crate::nearest::did_you_mean;

/// What the metrics of a benchmark come to.
#[derive(Debug, Default)]
pub(super) struct About {
    /// Those that are read from the output.
    pub(super) extractors: Vec<Extractor>,
    /// All of them.
    pub(super) terms: Vec<MetricTerms>,
}

/// What a benchmark is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A program that comes to its end.
    Program,
    /// A program that times itself.
    Harness,
    /// A server under load.
    Server,
}

/// Reads the metrics of one benchmark; says what is wrong with them.
pub(super) fn about(metrics: &[SuiteMetric], kind: Kind) -> Result<About, String> {
    let mut about = About::default();
    for one in metrics {
        let name = one.name.trim();
        if name.is_empty() {
            return Err("a metric needs a name".to_owned());
        }
        if about.terms.iter().any(|other| other.name == name) {
            return Err(format!("the metric `{name}` is named twice"));
        }
        about.extractors.extend(extractor(one, name, kind)?);
        let margin = one.margin.map(|margin| margin.0);
        about.terms.push(MetricTerms { name: name.to_owned(), margin });
    }
    Ok(about)
}

fn extractor(one: &SuiteMetric, name: &str, kind: Kind) -> Result<Option<Extractor>, String> {
    let metric = Metric {
        unit: one.unit.as_deref().map_or(Unit::Count, Unit::from_name),
        direction: one.better.unwrap_or_default(),
        exact: one.exact.unwrap_or(false),
        ..Metric::lower(name, Unit::Count)
    };
    let read = match (&one.regex, &one.pointer) {
        (None, None) => return named(one, name, kind).map(|()| None),
        (Some(_), Some(_)) => {
            return Err(format!(
                "the metric `{name}` has both a regex and a pointer; use one of them"
            ));
        }
        _ if is_builtin(name) => {
            return Err(format!(
                "the metric `{name}` is always recorded; choose another name for the one to read"
            ));
        }
        _ if kind == Kind::Server => {
            return Err(format!(
                "the metric `{name}` cannot be read from the output: the metrics of a server are those of its load"
            ));
        }
        _ if kind == Kind::Harness => {
            return Err(format!(
                "the metric `{name}` cannot be read from the output: a harness reports its \
                 measures itself"
            ));
        }
        (Some(regex), None) => Extractor::by_regex(metric, regex),
        (None, Some(pointer)) => Extractor::by_json_pointer(metric, pointer),
    };
    read.map(Some).map_err(|error| with_causes(&error))
}

/// Checks a metric that is named only.
fn named(one: &SuiteMetric, name: &str, kind: Kind) -> Result<(), String> {
    if one.unit.is_some() || one.better.is_some() || one.exact.is_some() {
        return Err(format!(
            "`unit`, `better` and `exact` are for metrics that are read from the output: add a \
             regex or a pointer to `{name}`"
        ));
    }
    let is_of_load = kind == Kind::Server && load::is_metric(name);
    if is_builtin(name) || is_of_load || kind == Kind::Harness {
        return Ok(());
    }
    let of_load: &[&str] = match kind {
        Kind::Server => &[MAIN_METRIC, "service_p99", ERROR_RATE, THROUGHPUT, CPU_PER_REQUEST],
        Kind::Program | Kind::Harness => &[],
    };
    let known: Vec<&str> = ALWAYS.iter().chain(&COUNTERS).chain(of_load).copied().collect();
    Err(format!(
        "becalm does not record the metric `{name}`; {} (a regex or a pointer reads it from the \
         output)",
        did_you_mean(name, &known)
    ))
}

/// Says so if a name means two different things in a suite: a record has one of each name.
pub(super) fn clash(extractors: &[Extractor], others: &[Extractor]) -> Option<String> {
    let clash = extractors.iter().find(|one| {
        let is_other = |other: &&Extractor| {
            other.metric().name == one.metric().name && other.metric() != one.metric()
        };
        others.iter().find(is_other).is_some()
    })?;
    Some(format!(
        "the metric `{}` has another unit, direction or exactness in an earlier benchmark; use a \
         different name for each",
        clash.metric().name
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_model::Direction;

    fn metric(name: &str, regex: Option<&str>) -> SuiteMetric {
        SuiteMetric { regex: regex.map(str::to_owned), ..SuiteMetric::named(name) }
    }

    #[track_caller]
    fn refused(metric: SuiteMetric, kind: Kind) -> String {
        about(&[metric], kind).unwrap_err()
    }

    #[test]
    fn what_is_read_keeps_its_unit_and_direction() {
        let rate = SuiteMetric {
            better: Some(Direction::Higher),
            unit: Some("MB/s".into()),
            ..metric("rate", Some(r"(\d+) MB"))
        };
        let about = about(&[metric("wall_time", None), rate], Kind::Program).unwrap();
        assert_eq!(about.terms.len(), 2);
        let read = about.extractors[0].metric();
        assert_eq!((read.direction, read.unit.to_string().as_str()), (Direction::Higher, "MB/s"));
        assert_eq!(about.extractors[0].extract(b"12 MB").unwrap().to_bits(), 12.0_f64.to_bits());
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        assert!(
            refused(metric("wall-time", None), Kind::Program).contains("did you mean `wall_time`?")
        );
        assert!(refused(metric("wall_time", Some("x")), Kind::Program).contains("always recorded"));
        assert!(refused(metric("t", Some("(")), Kind::Program).contains("not valid"));
        assert!(refused(metric("t", Some("x")), Kind::Harness).contains("a harness reports"));
        let exact = SuiteMetric { exact: Some(true), ..metric("wall_time", None) };
        assert!(refused(exact, Kind::Program).contains("add a regex or a pointer to `wall_time`"));
        assert!(about(&[metric("B/op", None)], Kind::Harness).is_ok());
        assert!(
            about(&[metric("wall_time", None), metric("wall_time", None)], Kind::Program).is_err()
        );
    }

    #[test]
    fn a_server_is_about_its_load() {
        assert!(
            about(&[metric("response_p95", None), metric("max_rss", None)], Kind::Server).is_ok()
        );
        assert!(refused(metric("response_p95", None), Kind::Program).contains("does not record"));
        assert!(
            refused(metric("errors_rate", None), Kind::Server)
                .contains("did you mean `error_rate`?")
        );
        assert!(refused(metric("t", Some("x")), Kind::Server).contains("those of its load"));
    }
}
