//! What a report of a job says of its sides and of its machine.

use becalm_model::{MachineFacts, Record};
use becalm_series::judge::ci::{BASE, HEAD};
use becalm_series::{CutOff, cut_off};

/// Says of which side runs were cut off at the timeout.
pub(super) fn cut_off_sides(record: &Record) -> Vec<String> {
    let side =
        |subject: usize| [(BASE, "base"), (HEAD, "head")].into_iter().find(|one| one.0 == subject);
    let sentence = |one: CutOff| {
        let (_, side) = side(one.subject)?;
        Some(format!("{side}: {one}, so that nothing can be said for it"))
    };
    cut_off(record).into_iter().filter_map(sentence).collect()
}

/// Says in a few words which machine it is.
pub(super) fn machine_words(machine: &MachineFacts) -> String {
    let fact =
        |key: &str| machine.facts.get(key).map(|value| value.trim()).filter(|one| !one.is_empty());
    let mut words: Vec<String> = Vec::new();
    words.extend(fact("cpu_model").map(str::to_owned));
    words.extend(fact("kernel_release").map(|kernel| format!("Linux {kernel}")));
    words.extend(fact("virtualisation").map(str::to_owned));
    words.join(", ")
}
