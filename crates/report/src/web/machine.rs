//! A machine in a few words.

use std::collections::BTreeMap;

use super::frame::name;

/// Names a machine by its processor, with the beginning of its fingerprint.
pub(super) fn short(facts: &BTreeMap<String, String>, fingerprint: &str) -> String {
    let known = |fact: &str| facts.get(fact).filter(|text| !text.is_empty());
    let kernel = known("kernel_release").map(|text| format!("Linux {text}"));
    let words: Vec<String> =
        known("cpu_model").cloned().into_iter().chain(kernel).map(|text| name(&text)).collect();
    let short: String = fingerprint.chars().take(6).collect();
    let number = format!("<code>{}</code>", name(&short));
    if words.is_empty() { number } else { format!("{} ({number})", words.join(", ")) }
}
