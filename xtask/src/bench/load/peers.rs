//! The generators of load that becalm is compared with: how each is asked, and how its answer is read.

use serde_json::Value;

/// Connections of those generators that have a fixed number.
pub(super) const CONNECTIONS: u32 = 10;

/// What a generator says, in seconds and requests in a second.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Said {
    pub(super) rate: Option<f64>,
    pub(super) p50: Option<f64>,
    pub(super) p99: Option<f64>,
    pub(super) p999: Option<f64>,
    /// What it says about its own fidelity.
    pub(super) remark: String,
}

/// A generator: its program, how it is asked, and how its answer is read.
pub(super) struct Generator {
    pub(super) name: &'static str,
    pub(super) program: &'static str,
    pub(super) arguments: fn(&Asked) -> String,
    /// What makes it speak HTTP/2 with a server whose certificate nobody has signed; nothing if it cannot.
    pub(super) http2: Option<&'static str>,
    pub(super) read: fn(&str) -> Said,
}

/// The load that a generator is asked for.
pub(super) struct Asked {
    pub(super) url: String,
    pub(super) seconds: u32,
    pub(super) rate: u32,
    /// The most connections, where that is asked for.
    pub(super) connections: Option<u32>,
    /// More arguments.
    pub(super) more: &'static str,
}

impl Asked {
    fn connections(&self) -> u32 {
        self.connections.unwrap_or(CONNECTIONS)
    }
}

pub(super) const GENERATORS: [Generator; 9] = [
    Generator {
        name: "becalm load",
        program: "becalm",
        arguments: |asked| becalm(asked, ""),
        http2: Some(" --http2 -k"),
        read: read_becalm,
    },
    Generator {
        name: "becalm load --batch 0.9ms",
        program: "becalm",
        arguments: |asked| becalm(asked, " --batch 0.9ms"),
        http2: Some(" --http2 -k"),
        read: read_becalm,
    },
    Generator {
        name: "wrk (as fast as it can)",
        program: "wrk",
        arguments: |asked| {
            format!("-t1 -c{} -d{}s --latency {}", asked.connections(), asked.seconds, asked.url)
        },
        http2: None,
        read: |text| Said {
            rate: after(text, "Requests/sec:"),
            p50: after_time(text, " 50%"),
            p99: after_time(text, " 99%"),
            ..Said::default()
        },
    },
    Generator {
        name: "hey -q",
        program: "hey",
        arguments: |asked| {
            let (n, each) = (asked.connections(), asked.rate / asked.connections());
            format!("-c {n} -q {each} -z {}s {}", asked.seconds, asked.url)
        },
        http2: None,
        read: |text| Said {
            rate: after(text, "Requests/sec:"),
            p50: after(text, "50% in"),
            p99: after(text, "99% in"),
            ..Said::default()
        },
    },
    Generator {
        name: "ab -k (as fast as it can)",
        program: "ab",
        arguments: |asked| {
            format!(
                "-k -q -c {} -t {} -n 100000000 {}",
                asked.connections(),
                asked.seconds,
                asked.url
            )
        },
        http2: None,
        read: |text| Said {
            rate: after(text, "Requests per second:"),
            p50: after(text, "  50% ").map(|ms| ms * 1e-3),
            p99: after(text, "  99% ").map(|ms| ms * 1e-3),
            ..Said::default()
        },
    },
    Generator {
        name: "oha -q",
        program: "oha",
        arguments: |asked| oha(asked, ""),
        http2: Some(" --http2 --insecure"),
        read: read_oha,
    },
    Generator {
        name: "oha -q --latency-correction",
        program: "oha",
        arguments: |asked| oha(asked, " --latency-correction"),
        http2: None,
        read: read_oha,
    },
    Generator {
        name: "vegeta attack -rate",
        program: "vegeta",
        arguments: |asked| {
            let Asked { url, seconds, rate, more, .. } = asked;
            let most = asked.connections.map(|n| format!(" -max-workers={n}")).unwrap_or_default();
            format!(
                "attack -rate={rate}/1s -duration={seconds}s{most}{more} <<END | vegeta report -type=json\nGET {url}\nEND"
            )
        },
        http2: Some(" -insecure"),
        read: read_vegeta,
    },
    Generator {
        name: "wrk2 -R",
        program: "wrk2",
        arguments: |asked| {
            let Asked { url, seconds, rate, .. } = asked;
            format!("-t1 -c{} -d{seconds}s -R{rate} --latency {url}", asked.connections())
        },
        http2: None,
        read: |text| Said {
            rate: after(text, "Requests/sec:"),
            p50: after_time(text, "50.000%"),
            p99: after_time(text, "99.000%"),
            p999: after_time(text, "99.900%"),
            ..Said::default()
        },
    },
];

fn becalm(asked: &Asked, more: &str) -> String {
    let Asked { url, seconds, rate, connections, more: others } = asked;
    let most = connections.map(|n| format!(" --connections {n}")).unwrap_or_default();
    format!(
        "load {url} --rate {rate} --duration {seconds}s --arrivals even --json{most}{more}{others}"
    )
}

fn oha(asked: &Asked, more: &str) -> String {
    let Asked { url, seconds, rate, more: others, .. } = asked;
    format!("--no-tui -q {rate} -c {} -z {seconds}s{more}{others} {url}", asked.connections())
}

pub(super) fn read_becalm(text: &str) -> Said {
    let document: Value = serde_json::from_str(text).unwrap_or_default();
    let quantile = |name: &str, q: f64| {
        let all = document[name]["quantiles"].as_array()?;
        all.iter().find(|one| one["q"] == q)?["value"].as_f64()
    };
    let number = |value: &Value| value.as_f64().unwrap_or(0.0);
    let rate = number(&document["counts"]["answered"]) / number(&document["answering"]).max(1e-9);
    let lag = quantile("lag", 0.99).unwrap_or(0.0) * 1e3;
    let reasons = document["fidelity"]["reasons"].as_array().cloned().unwrap_or_default();
    let kinds: Vec<&str> = reasons.iter().filter_map(|reason| reason["kind"].as_str()).collect();
    let verdict = document["fidelity"]["verdict"].as_str().unwrap_or("nothing");
    Said {
        rate: Some(rate),
        p50: quantile("response", 0.5),
        p99: quantile("response", 0.99),
        p999: quantile("response", 0.999),
        remark: format!("{verdict} {} (lag p99 {lag:.2} ms)", kinds.join(", ")).replace("  ", " "),
    }
}

fn read_oha(text: &str) -> Said {
    Said {
        rate: after(text, "Requests/sec:"),
        p50: after_in_words(text, "50.00% in"),
        p99: after_in_words(text, "99.00% in"),
        p999: after_in_words(text, "99.90% in"),
        ..Said::default()
    }
}

fn read_vegeta(text: &str) -> Said {
    let document: Value = serde_json::from_str(text).unwrap_or_default();
    let nanoseconds = |name: &str| Some(document["latencies"][name].as_f64()? * 1e-9);
    Said {
        rate: document["throughput"].as_f64(),
        p50: nanoseconds("50th"),
        p99: nanoseconds("99th"),
        ..Said::default()
    }
}

/// Returns the number after a label.
fn after(text: &str, label: &str) -> Option<f64> {
    let (_, rest) = text.split_once(label)?;
    rest.split_whitespace().next()?.parse().ok()
}

/// The same with a unit after a space: `1.25 ms`, `0.1 sec`.
fn after_in_words(text: &str, label: &str) -> Option<f64> {
    let (_, rest) = text.split_once(label)?;
    let seconds = match rest.split_whitespace().nth(1)? {
        "sec" => 1.0,
        "ms" => 1e-3,
        "us" => 1e-6,
        _ => return None,
    };
    Some(after(text, label)? * seconds)
}

/// The same with a unit: `1.25ms`.
fn after_time(text: &str, label: &str) -> Option<f64> {
    let (_, rest) = text.split_once(label)?;
    let word = rest.split_whitespace().next()?;
    becalm_model::parse_duration(word).ok().map(|time| time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_each_generator_are_found() {
        let wrk = "  Latency Distribution\n     50%   40.00us\n     99%   94.12ms\nRequests/sec: 104000.12\n";
        let read = |name: &str, text: &str| {
            let generator = GENERATORS.iter().find(|one| one.name.starts_with(name)).unwrap();
            let Said { rate, p50, p99, .. } = (generator.read)(text);
            [rate, p50, p99].map(|value| becalm_model::whole((value.unwrap() * 1e6).round()))
        };
        assert_eq!(read("wrk (", wrk), [104_000_120_000, 40, 94_120]);
        let hey = "  Requests/sec:\t1955.5\n  50% in 0.0001 secs\n  99% in 0.0004 secs\n";
        assert_eq!(read("hey", hey), [1_955_500_000, 100, 400]);
        let ab = "Requests per second:    2000.00 [#/sec] (mean)\n  50%      1\n  99%      4\n 100%      9\n";
        assert_eq!(read("ab", ab), [2_000_000_000, 1000, 4000]);
        let vegeta = r#"{"latencies": {"50th": 150000, "99th": 100000000}, "throughput": 1999.5}"#;
        assert_eq!(read("vegeta", vegeta), [1_999_500_000, 150, 100_000]);
        let oha = "  Requests/sec: 1999.7\n  50.00% in 0.1 ms\n  99.00% in 0.1 sec\n";
        assert_eq!(read("oha", oha), [1_999_700_000, 100, 100_000]);
    }

    #[test]
    fn becalms_verdict_is_in_the_table() {
        let text = r#"{"counts": {"answered": 100}, "answering": 2.0,
            "response": {"quantiles": [{"q": 0.5, "value": 0.001}, {"q": 0.99, "value": 0.1}]},
            "lag": {"quantiles": [{"q": 0.99, "value": 0.002}]},
            "fidelity": {"verdict": "invalid", "reasons": [{"kind": "unsent"}]}}"#;
        let said = read_becalm(text);
        assert_eq!((said.rate, said.p99), (Some(50.0), Some(0.1)));
        assert_eq!(said.remark, "invalid unsent (lag p99 2.00 ms)");
    }
}
