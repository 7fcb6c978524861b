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
                "Frequency, turbo, idle states and the second threads of cores belong to the \
                 host, and neighbours share its caches and memory: none of that can be set or \
                 fully seen from here."
                    .to_owned(),
            );
        }
    }
    if let Some(container) = facts.found("container") {
        sentences.push(format!(
            "This is a container ({container}): it shares the kernel's settings with everything \
             beside it, and can change them only if it is privileged."
        ));
    }
    if !sentences.is_empty() {
        sentences.push(
            "What still helps: measuring in turns, CPU time instead of wall time, pinning, a \
             machine without other work, and more rounds; `becalm compare --aa` shows the \
             smallest change that it can resolve."
                .to_owned(),
        );
    }
    sentences.join(" ")
}
