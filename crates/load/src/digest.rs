//! Numbers that tell contents apart.

use std::fmt::Write as _;

use becalm_model::fnv1a;
use becalm_model::load::{LoadRequest, Scenario, is_secret_header};

/// Returns a number that another content would not have.
pub fn digest(bytes: &[u8]) -> String {
    format!("{:016x}", fnv1a(bytes.iter().copied()))
}

/// Returns a number that a scenario with other requests, or with times of another file, would not have; `None` where each
/// request is a GET of the URL, without headers, at a rate. Where a file lies, what requests are called and secrets do not
/// count.
pub fn digest_of_requests(scenario: &Scenario) -> Option<String> {
    let mut text = String::new();
    // Lengths tell where one part ends and the next one begins.
    let mut add = |part: &str| {
        let _ = write!(text, "{}:{part}", part.len());
    };
    for kind in scenario.kinds() {
        let LoadRequest { weight, method, path, headers, body, body_file, .. } = &kind;
        let is_plain = scenario.requests.is_empty()
            && method == "GET"
            && headers.iter().all(|(name, _)| is_secret_header(name))
            && body.is_none()
            && body_file.is_none();
        if is_plain {
            continue;
        }
        for part in [&weight.to_string(), method, path.as_deref().unwrap_or_default()] {
            add(part);
        }
        for (name, value) in headers.iter().filter(|(name, _)| !is_secret_header(name)) {
            add(&name.to_ascii_lowercase());
            add(value);
        }
        add(body.as_deref().or(body_file.as_ref().map(|one| one.digest.as_str())).unwrap_or(""));
    }
    let values = scenario.values.as_ref().map(|one| &one.digest);
    let times = scenario.replay.as_ref().map(|one| &one.digest);
    for (name, digest) in [("values", values), ("times", times)] {
        if let Some(digest) = digest {
            add(name);
            add(digest);
        }
    }
    (!text.is_empty()).then(|| digest(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use becalm_model::load::LoadBody;

    use super::*;

    #[test]
    fn another_content_has_another_digest() {
        assert_ne!(digest(b"a"), digest(b"b"));
    }

    #[test]
    fn requests_that_differ_have_different_digests() {
        let text = |text: &str| Some(text.to_owned());
        let header = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
        let usual = Scenario::default;
        let file = LoadBody { file: "a".to_owned(), bytes: 1, digest: "1".to_owned() };
        let kind = |path: &str, weight| LoadRequest {
            name: path.to_owned(),
            weight,
            method: String::new(),
            path: Some(path.to_owned()),
            headers: Vec::new(),
            body: None,
            body_file: None,
            expected_status: Vec::new(),
            expected_body: None,
        };
        let scenarios = [
            usual(),
            Scenario { method: "PUT".to_owned(), ..usual() },
            Scenario { headers: header("Accept", "a"), ..usual() },
            Scenario { headers: header("Accept", "b"), ..usual() },
            Scenario { body: text("x"), ..usual() },
            Scenario { body: text("y"), ..usual() },
            Scenario { body_file: Some(file.clone()), ..usual() },
            Scenario { requests: vec![kind("/a", 1.0)], ..usual() },
            Scenario { requests: vec![kind("/a", 1.0), kind("/b", 1.0)], ..usual() },
            Scenario { requests: vec![kind("/a", 2.0), kind("/b", 1.0)], ..usual() },
        ];
        let mut digests: Vec<_> = scenarios.iter().map(digest_of_requests).collect();
        assert_eq!(digests[0], None);
        digests.sort();
        digests.dedup();
        assert_eq!(digests.len(), scenarios.len());
        // What does not count.
        let elsewhere = Scenario {
            body_file: Some(LoadBody { file: "b".to_owned(), ..file }),
            headers: header("authorization", "secret"),
            ..usual()
        };
        assert_eq!(digest_of_requests(&elsewhere), digest_of_requests(&scenarios[6]));
        let secret = Scenario { headers: header("Authorization", "a"), ..usual() };
        assert_eq!(digest_of_requests(&secret), None);
    }
}
