//! What a virtual machine or a container takes out of anybody's hands, in one paragraph.

use super::View;
use crate::read_facts;

pub(super) fn paragraph(view: &View<'_>) -> String {
    let facts = read_facts(view.root, view.topology);
    let has_frequencies = view.root.exists("/sys/devices/system/cpu/cpufreq/policy0");
    let mut sentences = Vec::new();
    if let Some(machine) = facts.found("virtualisation") {
        sentences.push(format!("This is a virtual machine ({machine})."));
        if !has_frequencies {
            sentences.push(
                "Frequency, turbo, idle states and the second threads of cores are the host's, and \
                 neighbours share its caches and memory: none of that can be set or fully seen from here."
                    .to_owned(),
            );
        }
    }
    if let Some(container) = facts.found("container") {
        sentences.push(format!(
            "This is a container ({container}): settings of the kernel are shared with everything beside \
             it, and can be changed from here only if it is privileged."
        ));
    }
    if !sentences.is_empty() {
        sentences.push(
            "What is left, and helps: interleaved rounds, CPU time instead of wall time, pinning, a quiet \
             machine of one's own, and more rounds; `becalm compare --aa` shows what can be resolved."
                .to_owned(),
        );
    }
    sentences.join(" ")
}
