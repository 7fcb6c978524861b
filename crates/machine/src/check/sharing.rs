//! Whether the CPUs of a measurement have caches to themselves.

use becalm_model::{Checkup, CpuSet, Severity};

use super::{View, advice, boot};

/// Says whose second or third level of cache others share: that of reserved CPUs, else that of the
/// CPUs that a measurement would get.
pub(super) fn look(view: &View<'_>, checkup: &mut Checkup) {
    let topology = view.topology;
    let reserved = boot::reserved(view).intersection(&topology.online);
    let measured = if reserved.is_empty() { view.cpus.clone() } else { reserved.clone() };
    let shared = [2, 3].into_iter().find_map(|level| {
        let beside = topology.beside(level, &measured);
        (!beside.is_empty()).then_some((level, beside))
    });
    let Some((level, beside)) = shared else { return };
    let whole = topology.spare_cache(level);
    // Of what was reserved with care, sharing is worth more than a word where it can be helped.
    let is_avoidable = whole.is_some() && !reserved.is_empty();
    checkup.findings.push(advice(
        "shared-cache",
        if is_avoidable { Severity::Noise } else { Severity::Note },
        what(level, &measured, &beside, !reserved.is_empty()),
        "What runs there displaces what a program keeps in the cache, and uses a part of its \
         bandwidth.",
        "",
        &todo(level, whole),
    ));
}

fn what(level: u32, measured: &CpuSet, beside: &CpuSet, is_reserved: bool) -> String {
    let which = if is_reserved { "reserved" } else { "what a measurement would get" };
    let share = match measured.len() {
        1 => format!("shares its L{level} cache"),
        _ => format!("share L{level} caches"),
    };
    format!("{} ({which}) {share} with {}.", measured.named(), beside.named())
}

fn todo(level: u32, whole: Option<&CpuSet>) -> String {
    match whole {
        Some(cpus) => {
            format!("`becalm boot-params --cpus {cpus}` reserves all CPUs of one L{level} cache")
        }
        None => format!(
            "leave the other CPUs idle: this machine has one L{level} cache, which only `resctrl` \
             can divide, if the processor supports it"
        ),
    }
}
