//! How much each source of noise costs here, as `becalm noise ablate` measured it.
//!
//! Unlike the ranking of CPUs, an effect outlives the boot: it is about the kernel and the processor.
//! When and with which subject it was measured is told with it.

use std::io;
use std::path::PathBuf;

use becalm_model::ablate::{self, MitigationEffect};
use becalm_model::wire::{EFFECTS_SCHEMA, check_readable};
use becalm_model::{Finding, Fix};

use super::{Identity, read, save};
use crate::steward::Steward;
use crate::sysroot::SysRoot;

const NAME: &str = "mitigation-effects.json";

/// More effects than this are forgotten, the oldest first: some hundred experiments.
const MOST: usize = 1000;

/// The effects that are known here.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MitigationEffects {
    /// The newest first.
    effects: Vec<MitigationEffect>,
}

impl MitigationEffects {
    /// Reads what was measured with this kernel on this processor.
    pub fn read(root: &SysRoot) -> Self {
        let this = Identity::read(root);
        let documents = read(root, NAME).filter(|document: &ablate::MitigationEffects| {
            let is_known = check_readable(&document.schema, &[EFFECTS_SCHEMA]).is_ok();
            is_known && (&document.kernel, &document.cpu_model) == (&this.kernel, &this.cpu_model)
        });
        let mut effects: Vec<MitigationEffect> =
            documents.flat_map(|document| document.effects).collect();
        // Stable: what was saved first among equally old ones stays first.
        effects.sort_by_key(|effect| std::cmp::Reverse(effect.measured_at));
        Self { effects }
    }

    /// Returns what was measured last about mending a source of noise.
    pub fn of(&self, finding: &Finding) -> Option<&MitigationEffect> {
        let is_mended = |name: &String| match &finding.fix {
            Fix::Knob(knob) => *name == finding.id || name == knob,
            _ => *name == finding.id,
        };
        self.effects.iter().find(|effect| effect.mends.iter().any(is_mended))
    }

    /// Remembers further effects and returns where they are saved. They take the place of older ones
    /// of the same mitigation with the same subject.
    pub fn add(root: &SysRoot, new: Vec<MitigationEffect>) -> io::Result<PathBuf> {
        if let Some(mut steward) = Steward::of(root) {
            return steward.remember(new);
        }
        let mut effects = Self::read(root).effects;
        effects.retain(|old| !new.iter().any(|one| one.is_about_the_same(old)));
        effects.splice(0..0, new);
        effects.truncate(MOST);
        let Identity { kernel, cpu_model, .. } = Identity::read(root);
        let schema = EFFECTS_SCHEMA.to_owned();
        let document = ablate::MitigationEffects { schema, kernel, cpu_model, effects };
        save(root, NAME, &serde_json::to_string_pretty(&document)?)
    }
}

#[cfg(test)]
mod tests {
    use becalm_model::Severity;
    use becalm_testkit::FakeTree;

    use super::*;

    fn machine() -> FakeTree {
        FakeTree::new()
            .file("/proc/sys/kernel/osrelease", "6.12.0\n")
            .file("/proc/cpuinfo", "processor: 0\nmodel name: Fast CPU\n")
    }

    fn effect(subject: &str, ratio: f64, measured_at: u64) -> MitigationEffect {
        MitigationEffect {
            mitigation: "memory".into(),
            mends: vec!["ksm".into(), "compaction".into()],
            subject: subject.into(),
            ratio,
            measured_at,
            ..MitigationEffect::default()
        }
    }

    fn finding(id: &str) -> Finding {
        Finding {
            id: id.into(),
            severity: Severity::Note,
            what: String::new(),
            why: String::new(),
            size: String::new(),
            here: None,
            fix: Fix::Knob(id.into()),
        }
    }

    #[test]
    fn the_newest_effect_of_a_source_is_known_until_the_kernel_is_another() {
        let tree = machine();
        let root = SysRoot::new(tree.path());
        assert_eq!(MitigationEffects::read(&root), MitigationEffects::default());
        for (subject, ratio, at) in [("a", 0.5, 10), ("b", 0.7, 20), ("a", 0.6, 15)] {
            let place = MitigationEffects::add(&root, vec![effect(subject, ratio, at)]).unwrap();
            assert_eq!(place.to_str(), Some("/var/lib/becalm/mitigation-effects.json"));
        }
        let known = MitigationEffects::read(&root);
        assert_eq!(known.of(&finding("ksm")).map(|one| one.ratio), Some(0.7));
        assert_eq!(known.of(&finding("governor")), None);
        let ratios: Vec<f64> = known.effects.iter().map(|one| one.ratio).collect();
        assert_eq!(ratios, [0.7, 0.6], "the older one of the same subject is gone");

        let tree = tree.file("/proc/sys/kernel/osrelease", "6.13.0\n");
        let root = SysRoot::new(tree.path());
        assert_eq!(MitigationEffects::read(&root), MitigationEffects::default());
    }

    #[test]
    fn a_file_that_makes_no_sense_is_as_good_as_none_and_is_replaced() {
        let tree = machine().file("/var/lib/becalm/mitigation-effects.json", "{");
        let root = SysRoot::new(tree.path());
        assert_eq!(MitigationEffects::read(&root), MitigationEffects::default());
        MitigationEffects::add(&root, vec![effect("a", 0.5, 10)]).unwrap();
        assert!(MitigationEffects::read(&root).of(&finding("compaction")).is_some());
    }
}
