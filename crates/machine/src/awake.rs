//! Whether a CPU that has nothing to do is late when it wakes up, and can be kept from it at no cost that matters.
//!
//! A CPU of a virtual machine that has nothing to do stops, and the host gives its core to others. When a timer or a packet
//! wakes it up, it waits until it has a core again: on a busy host for milliseconds, in one wake-up of fifty. One that
//! never stops for long loses only what the host takes from everybody. A machine without a host has idle states of its own
//! (`cpuidle`), which the knob `cstates` is about; and where CPU time is limited by a quota, what keeps a CPU awake uses
//! some of it up.

use becalm_model::MachineFacts;

/// Says whether idle CPUs of a machine with these facts are worth keeping awake while something waits for them.
pub fn wakes_late(facts: &MachineFacts) -> bool {
    // A quota that cannot be read may be there.
    let has_no_quota = facts.facts.get("cpu_quota").is_some_and(|quota| quota == "none");
    facts.found("virtualisation").is_some() && has_no_quota
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_virtual_machine_wakes_late_and_a_quota_is_not_spent_on_that() {
        let wakes_late = |facts: &[(&str, &str)]| {
            let facts = facts.iter().map(|(key, fact)| ((*key).to_owned(), (*fact).to_owned()));
            wakes_late(&MachineFacts { facts: facts.collect(), ..MachineFacts::default() })
        };
        assert!(wakes_late(&[("virtualisation", "KVM"), ("cpu_quota", "none")]));
        assert!(!wakes_late(&[("virtualisation", "KVM"), ("cpu_quota", "1.50 CPUs")]));
        assert!(!wakes_late(&[("virtualisation", "KVM")]));
        assert!(!wakes_late(&[("virtualisation", "none"), ("cpu_quota", "none")]));
        assert!(!wakes_late(&[("cpu_quota", "none")]));
    }
}
