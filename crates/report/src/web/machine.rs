//! A machine in a few words.

use std::collections::BTreeMap;

use super::frame::name;

/// Names a machine by its processor, with the beginning of its fingerprint; one of which nothing is known, as in most files
/// of other tools, has no fingerprint of its own.
pub(super) fn short(facts: &BTreeMap<String, String>, fingerprint: &str) -> String {
    if facts.is_empty() {
        return "unknown".to_owned();
    }
    let known = |fact: &str| facts.get(fact).filter(|text| !text.is_empty());
    let kernel = known("kernel_release").map(|text| format!("Linux {text}"));
    let words: Vec<String> =
        known("cpu_model").cloned().into_iter().chain(kernel).map(|text| name(&text)).collect();
    let short: String = fingerprint.chars().take(6).collect();
    let number = format!("<code>{}</code>", name(&short));
    if words.is_empty() { number } else { format!("{} ({number})", words.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_named_by_what_is_known_of_it() {
        let of = |facts: &[(&str, &str)]| {
            let facts = facts.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            short(&facts.collect(), "0123456789")
        };
        assert_eq!(of(&[("cpu_model", "A <1>")]), "A &lt;1&gt; (<code>012345</code>)");
        assert_eq!(of(&[("cpus", "2")]), "<code>012345</code>");
        assert_eq!(of(&[]), "unknown");
    }
}
