//! The demonstration: one server that stops for a moment, seen in two ways, and one generator that does.

use becalm_model::load::{Latency, LoadRunDocument};

use super::{capitalised, requests_of, seconds, time, value, words};
use crate::page::Page;
use crate::style::Style;
use crate::table::{Cell, Table};

/// Three loads of the same schedule.
#[derive(Debug, Clone, Copy)]
pub struct LoadDemo<'a> {
    /// For how long the server stopped, and then the generator, in seconds.
    pub stop: f64,
    /// On a server that stopped.
    pub stalled: &'a LoadRunDocument,
    /// The same over few connections.
    pub closed: &'a LoadRunDocument,
    /// On a server that did not stop, by a generator that did.
    pub paused: &'a LoadRunDocument,
}

/// Quantiles that are shown.
const SHOWN: [f64; 3] = [0.5, 0.99, 0.999];

/// Writes what it shows.
pub fn load_demo_text(demo: &LoadDemo<'_>, style: &Style) -> String {
    let LoadDemo { stop, stalled, closed, paused } = *demo;
    let mut page = Page::new(style);
    let pause = time(stop, style);
    page.say(&format!(
        "1. A server on this machine stops for {pause} while {} are due in {}.",
        requests_of(stalled.counts.scheduled),
        seconds(stalled.terms.duration)
    ));
    let mut table = Table::of_numbers("response times", ["p50", "p99", "p99.9"]);
    push(&mut table, "becalm, from when each request was due", &stalled.response, style);
    let few = format!("from sending, over {} connections", closed.terms.connections);
    push(&mut table, &few, &closed.service, style);
    let truth = SHOWN.map(|q| {
        let found = truth(q, stop, stalled.terms.duration);
        Cell::from(found.map_or_else(|| "-".to_owned(), |value| time(value, style)))
    });
    table.push([Cell::from("by arithmetic")].into_iter().chain(truth));
    page.table(&table);
    page.say(&format!(
        "Users do not wait for each other, so many of them met the stop. A generator that waits for an answer before it \
         sends the next request meets it only {} times, and its figures look as if the server was never slow.",
        closed.terms.connections
    ));
    page.gap();
    page.say(&format!("2. Now the generator stops for {pause}, and the server does not."));
    let mut table = Table::of_numbers("times", ["p50", "p99", "p99.9"]);
    push(&mut table, "response, from when each was due", &paused.response, style);
    push(&mut table, "service, from when each was sent", &paused.service, style);
    push(&mut table, "lag, between the two", &paused.lag, style);
    page.table(&table);
    page.say(&match paused.fidelity.reasons.first() {
        Some(reason) => format!("Invalid: {}.", words::distrust(reason.get())),
        None => "Valid.".to_owned(),
    });
    if let Some(reason) = stalled.fidelity.reasons.first() {
        page.say(&format!("The first load is invalid too: {}.", words::distrust(reason.get())));
    }
    page.gap();
    page.say(&format!("{} becalm load URL --rate 2000; docs/LOAD.md", capitalised("next:")));
    page.finish()
}

fn push(table: &mut Table, name: &str, latency: &Latency, style: &Style) {
    let cells = SHOWN.map(|q| {
        let one = latency.quantile(q);
        Cell::from(one.map_or_else(|| "-".to_owned(), |one| value(one, style)))
    });
    table.push([Cell::from(name)].into_iter().chain(cells));
}

/// Returns a quantile of the time that requests wait for a server that stops once, if they are due evenly: of a share
/// `stop / duration` of them, from the whole stop to nothing. `None` for those that do not wait.
fn truth(q: f64, stop: f64, duration: f64) -> Option<f64> {
    let waiting = stop / duration;
    (1.0 - q < waiting).then(|| stop * (1.0 - (1.0 - q) / waiting))
}

#[cfg(test)]
mod tests {
    use becalm_model::load::{Distrust, Fidelity, LoadTerms, Trust};
    use becalm_model::wire::worded;

    use super::super::tests::stalled;
    use super::*;

    #[test]
    fn the_demonstration_fits_a_screen_and_tells_both_faults_apart() {
        let stalled = stalled();
        let closed = LoadRunDocument {
            terms: LoadTerms { connections: 5, ..stalled.terms.clone() },
            service: stalled.lag.clone(),
            ..stalled.clone()
        };
        let late = Distrust::LateGenerator { lag_p99: 0.12, limit: 0.006, waited: None };
        let paused = LoadRunDocument {
            service: stalled.lag.clone(),
            lag: stalled.response.clone(),
            fidelity: Fidelity {
                verdict: Trust::Invalid,
                reasons: worded(&[late], words::distrust),
                ..stalled.fidelity.clone()
            },
            ..stalled.clone()
        };
        let demo = LoadDemo { stop: 0.2, stalled: &stalled, closed: &closed, paused: &paused };
        let text = load_demo_text(&demo, &Style { width: 80, ..Style::PLAIN });
        assert!(text.lines().count() <= 24, "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn the_truth_is_that_of_requests_that_wait_for_the_rest_of_the_stop() {
        // 2 % of 10 s: the slowest 1 % waits for at least half of it.
        assert!((truth(0.99, 0.2, 10.0).unwrap() - 0.1).abs() < 1e-9);
        assert!((truth(0.999, 0.2, 10.0).unwrap() - 0.19).abs() < 1e-9);
        assert_eq!(truth(0.5, 0.2, 10.0), None);
    }
}
