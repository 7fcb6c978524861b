//! Load on a server: the times side by side, what failed, and whether the generator can be trusted.

mod demo;
mod find;
mod find_picture;
mod heat;
mod live;
mod pictures;
mod words;

use std::fmt::Write as _;

use becalm_model::load::{
    Arrivals, Authentication, Failed, Latency, LoadRunDocument, LoadTerms, Objective, ObjectiveOf,
    ObjectiveResult, QuantileValue, Stage, Trust,
};
use becalm_model::{Unit, counted, whole};

use crate::page::{ELSEWHERE, Page};
use crate::quantity::{NBSP, Scale, percent};
use crate::style::{Role, Style};
use crate::svg::percentile;
use crate::table::{Align, Cell, Table};

pub use demo::{LoadDemo, load_demo_text};
pub use find::{load_find_html, load_find_markdown, load_find_text};
pub use live::{LoadProgress, load_progress_line};
pub use words::distrust;

/// Quantiles that a terminal shows, if there are enough requests for them.
const SHOWN: [f64; 8] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 1.0];

/// Writes what became of a load.
pub fn load_text(document: &LoadRunDocument, style: &Style) -> String {
    report(document, style).finish()
}

/// Writes the same as a web page with pictures, made by this version of becalm.
pub fn load_html(document: &LoadRunDocument, version: &str) -> String {
    let mut page = report(document, &ELSEWHERE);
    for picture in pictures::of(document).into_iter().chain(heat::of(document)) {
        page.picture(picture);
    }
    page.html(version)
}

/// Writes the same as Markdown.
pub fn load_markdown(document: &LoadRunDocument) -> String {
    report(document, &ELSEWHERE).markdown()
}

fn report<'a>(document: &LoadRunDocument, style: &'a Style) -> Page<'a> {
    let mut page = Page::new(style);
    let role = if document.is_valid() { Role::Heading } else { Role::Warning };
    page.say_as(role, &headline(document, style));
    for reason in &document.fidelity.reasons {
        page.say(&format!("{}.", capitalised(&words::distrust(reason.get()))));
    }
    page.gap();
    page.say(&terms(&document.terms));
    if let Some(signal) = document.signal {
        page.say(&format!("Signal {signal} ended the load early."));
    }
    page.gap();
    page.table(&times(document, style));
    if let Some(remark) = remark(document) {
        page.gap();
        page.say_as(Role::Hint, &remark);
    }
    page.section("Requests");
    page.say(&requests(document));
    if !document.errors.is_empty() {
        page.table(&failures(&document.errors));
    }
    if !document.mix.is_empty() {
        page.gap();
        page.table(&mix(document, style));
    }
    if !document.objectives.is_empty() {
        page.section("Objectives");
        document.objectives.iter().for_each(|result| page.item(&objective(result, style)));
    }
    page.section("Generator");
    page.say(&generator(document, style));
    if let Some(place) = &document.fidelity.place {
        page.say(&words::place(place));
    }
    page.table(&threads(document));
    page
}

/// Says the result in one sentence; for one that cannot be believed, that alone.
fn headline(document: &LoadRunDocument, style: &Style) -> String {
    let counts = &document.counts;
    let all = format!("{} of {}", counts.answered, requests_of(counts.scheduled));
    if !document.is_valid() {
        return format!(
            "Invalid: these figures are not the server's alone ({all} {} answered).",
            was_were(counts.answered)
        );
    }
    let middle = document.response.quantile(0.5).map(|one| value(one, style));
    let slow = document.response.quantile(0.99).map(|one| value(one, style));
    match (middle, slow) {
        (Some(middle), Some(slow)) if counts.answered > 0 => format!(
            "{all} {} answered; response time: median {middle}, 99th percentile {slow}.",
            was_were(counts.answered)
        ),
        _ => format!("{all} {} answered.", was_were(counts.answered)),
    }
}

fn was_were(n: u64) -> &'static str {
    if n == 1 { "was" } else { "were" }
}

fn requests_of(n: u64) -> String {
    counted(usize::try_from(n).unwrap_or(usize::MAX), "request")
}

fn terms(terms: &LoadTerms) -> String {
    let through =
        terms.unix_socket.as_ref().map(|path| format!(" through {path}")).unwrap_or_default();
    let arrivals = match terms.arrivals {
        Arrivals::Poisson => format!("at random (seed {})", terms.seed),
        Arrivals::Even => "evenly".to_owned(),
        Arrivals::Replayed => "at the times in a file".to_owned(),
    };
    let connections = if terms.new_connections {
        format!("a new connection for each request, {} at a time", terms.connections)
    } else {
        let streams = terms.streams.map(|n| format!(" of {} each", counted_u64(n, "request")));
        let connections = counted_u64(terms.connections, "connection");
        format!("up to {connections}{}", streams.unwrap_or_default())
    };
    let (all, one) = if terms.grpc {
        ("gRPC calls", "gRPC calls of".to_owned())
    } else {
        ("requests", terms.method.clone())
    };
    let what = if terms.requests.is_empty() {
        one
    } else {
        format!("A mix of {} of {all} to", counted(terms.requests.len(), "kind"))
    };
    format!(
        "{what} {}{through}, {}: {}{arrivals} for {}; {connections}, {}{}.",
        terms.url,
        terms.protocol,
        rates(&terms.stages),
        seconds(terms.duration),
        counted_u64(terms.threads, "thread"),
        extras(terms),
    )
}

/// Says what else was done with requests: `; values from ids.csv (2 rows)`.
fn extras(terms: &LoadTerms) -> String {
    let values = terms
        .values
        .as_ref()
        .map(|values| format!("values from {} ({})", values.file, counted_u64(values.rows, "row")));
    let authentication = terms.authentication.as_ref().map(|one| match one {
        Authentication::Basic(_) => "with a name and a password".to_owned(),
        Authentication::Bearer(_) => "with a token".to_owned(),
    });
    let archetype = terms.archetype.map(|one| {
        format!(
            "archetype {}, for a capacity of {} requests/s over {}",
            one.archetype,
            number_of_rate(one.capacity),
            counted_u64(one.connections, "connection")
        )
    });
    let follow = terms.follow.map(|n| format!("up to {} followed", counted_u64(n, "redirect")));
    [archetype, values, authentication, follow]
        .into_iter()
        .flatten()
        .fold(String::new(), |all, one| format!("{all}; {one}"))
}

/// Shows the kinds of a mix beside each other.
fn mix(document: &LoadRunDocument, style: &Style) -> Table {
    let titles = ["share", "answered", "failed", "p50", "p99", "service p99"];
    let mut table = Table::of_numbers("request", titles);
    for part in &document.mix {
        let counts = &part.counts;
        let share = counts.scheduled as f64 / document.counts.scheduled.max(1) as f64;
        let at = |latency: &Latency, q| -> Cell {
            latency.quantile(q).map_or_else(|| "-".to_owned(), |one| value(one, style)).into()
        };
        table.push([
            Cell::from(crate::printable(&part.name)),
            percent(share).into(),
            counts.answered.to_string().into(),
            (counts.errors + counts.unsent).to_string().into(),
            at(&part.response, 0.5),
            at(&part.response, 0.99),
            at(&part.service, 0.99),
        ]);
    }
    table
}

fn counted_u64(n: u64, noun: &str) -> String {
    counted(usize::try_from(n).unwrap_or(usize::MAX), noun)
}

/// Writes the rates of the stages: `2000 requests/s `, `100 .. 2000 requests/s `, `100, 200 requests/s `.
fn rates(stages: &[Stage]) -> String {
    let rate = |stage: &Stage| {
        if (stage.from - stage.to).abs() < f64::EPSILON {
            number(stage.from)
        } else {
            format!("{} .. {}", number(stage.from), number(stage.to))
        }
    };
    let all: Vec<String> = stages.iter().map(rate).collect();
    if all.is_empty() { String::new() } else { format!("{} requests/s ", all.join(", ")) }
}

fn number(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

fn seconds(value: f64) -> String {
    format!("{}{NBSP}s", number(value))
}

/// Writes a time with its own unit, because those of one column lie far apart.
fn time(seconds: f64, style: &Style) -> String {
    let scale = Scale::of(&Unit::Second, [seconds], style.unicode);
    let decimals = match seconds / scale.factor() {
        shown if shown < 9.995 => 2,
        shown if shown < 99.95 => 1,
        _ => 0,
    };
    scale.with_decimals(decimals).with_unit(seconds)
}

fn value(one: &QuantileValue, style: &Style) -> String {
    let sign = if one.at_least { style.pick("≥", ">=") } else { "" };
    let gap = if one.at_least { "\u{a0}" } else { "" };
    format!("{sign}{gap}{}", time(one.value, style))
}

/// Shows the three times side by side.
fn times(document: &LoadRunDocument, style: &Style) -> Table {
    let mut table = Table::of_numbers("percentile", ["response", "service", "lag"]);
    let all = [&document.response, &document.service, &document.lag];
    // A quantile beyond which there are few requests is chance.
    let enough = |q: f64| {
        let beyond = (1.0 - q) * document.counts.scheduled as f64;
        q >= 1.0 || q <= 0.99 || beyond >= 9.5
    };
    for q in SHOWN.into_iter().filter(|q| enough(*q)) {
        let cell = |latency: &&Latency| -> Cell {
            latency.quantile(q).map_or_else(|| "-".to_owned(), |one| value(one, style)).into()
        };
        let name = if q < 1.0 { percentile(q) } else { "largest".to_owned() };
        table.push([Cell::from(name)].into_iter().chain(all.iter().map(cell)));
    }
    let means = all.iter().map(|latency| {
        Cell::from(latency.mean.map_or_else(|| "-".to_owned(), |mean| time(mean, style)))
    });
    table.push([Cell::from("mean of answered")].into_iter().chain(means));
    table
}

/// Says whether requests that were gathered waited so long that it shows in the usual response time.
fn waits_in_batches(document: &LoadRunDocument) -> bool {
    let usual = |latency: &Latency| latency.quantile(0.5).map_or(0.0, |one| one.value);
    document.fidelity.batch > 0.0 && usual(&document.lag) > 0.05 * usual(&document.response)
}

/// Says what the reader of the table has to know.
fn remark(document: &LoadRunDocument) -> Option<String> {
    let has_bounds = document.response.quantiles.iter().any(|one| one.at_least);
    match document.fidelity.trusted_to {
        _ if document.is_valid() && waits_in_batches(document) => {
            let text = "The response times include the wait of requests that are sent together, which is a lag of the \
                        generator: --batch 0 sends each by itself.";
            Some(text.to_owned())
        }
        Some(q) if document.is_valid() && q < 0.999 => Some(format!(
            "Beyond {} the response times include a lag of the generator that is not negligible: see its percentiles.",
            percentile(q)
        )),
        _ if has_bounds => {
            let text = "At least: requests that were never sent or never had the expected answer took at least as long \
                        as becalm waited for them.";
            Some(text.to_owned())
        }
        _ => None,
    }
}

fn requests(document: &LoadRunDocument) -> String {
    let counts = &document.counts;
    let mut text = format!(
        "{} scheduled ({}/s), {} sent, {} answered ({}/s), {} failed, {} unsent.",
        counts.scheduled,
        number_of_rate(document.rate_asked()),
        counts.sent,
        counts.answered,
        number_of_rate(document.rate_answered()),
        counts.errors,
        counts.unsent,
    );
    if counts.starved > 0 {
        let found = if counts.starved == 1 { "request" } else { "requests" };
        let _ = write!(text, " {} {found} found all permitted connections in use.", counts.starved);
    }
    if counts.given_back > 0 {
        let given_back = counted_u64(counts.given_back, "request");
        let _ = write!(text, " The server gave {given_back} back, which becalm sent once more.");
    }
    let _ = write!(text, " Opened {}.", counted_u64(counts.connections, "connection"));
    text
}

fn number_of_rate(rate: f64) -> String {
    if rate < 99.95 { format!("{rate:.1}") } else { format!("{}", whole(rate.round())) }
}

fn failures(errors: &[Failed]) -> Table {
    let titles =
        [("failed", Align::Left), ("requests", Align::Right), ("the first one", Align::Left)];
    let mut table = Table::new(titles).ending_in_text();
    for failed in errors {
        let example = failed.example.as_deref().map(crate::printable).unwrap_or_default();
        table.push([failed.what().into(), failed.count.to_string().into(), example.into()]);
    }
    table
}

fn objective(result: &ObjectiveResult, style: &Style) -> String {
    let ObjectiveResult { objective: Objective { text, of, .. }, found, is_kept } = result;
    let found = match (found, of) {
        (Some(found), ObjectiveOf::Response(_)) => time(*found, style),
        (Some(found), ObjectiveOf::Errors) => percent(*found),
        (None, _) => "too many requests without the expected answer".to_owned(),
    };
    format!("{text}: {} ({found})", if *is_kept { "met" } else { "missed" })
}

fn generator(document: &LoadRunDocument, style: &Style) -> String {
    let fidelity = &document.fidelity;
    let verdict = match fidelity.verdict {
        Trust::Valid => "It kept to the schedule",
        Trust::Invalid => "It did not keep to the schedule",
    };
    let mut text = verdict.to_owned();
    if let Some(lag) = document.lag.quantile(0.99) {
        let (lag, limit) = (value(lag, style), time(fidelity.lag_limit, style));
        let _ = write!(text, ": the 99th percentile of the lag is {lag} (permitted: {limit})");
    }
    if let Some(pickup) = fidelity.pickup_p99 {
        let _ = write!(text, "; 99 % of the requests were taken up within {}", time(pickup, style));
    }
    if fidelity.batch > 0.0 {
        let batch = time(fidelity.batch, style);
        let _ = write!(text, ". It gathered requests for up to {batch} to send them together");
    }
    let _ = write!(
        text,
        ". The gaps between requests vary by {:.2} times their mean; the schedule has {:.2}.",
        fidelity.gaps.actual_variation, fidelity.gaps.scheduled_variation
    );
    text
}

fn threads(document: &LoadRunDocument) -> Table {
    let mut table = Table::of_numbers("thread", ["on a CPU", "waiting for one"]);
    for thread in &document.fidelity.threads {
        let waited = thread.waited.map_or_else(|| "-".to_owned(), percent);
        table.push([thread.name.clone().into(), percent(thread.cpu).into(), waited.into()]);
    }
    table
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod odd;
#[cfg(test)]
mod tests;
