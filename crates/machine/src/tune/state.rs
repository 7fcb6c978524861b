//! The settings of a machine, and whether they stay as they are.

use becalm_model::{KnobState, Moved};

use super::same;
use crate::knobs::{KNOBS, Situation};

/// All settings that knobs know, at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnobReadings {
    /// Knob, path and value.
    all: Vec<(&'static str, String, String)>,
}

impl KnobReadings {
    /// Reads the settings of all knobs, whatever is asked of them.
    pub fn read(situation: &Situation<'_>) -> Self {
        let mut all: Vec<(&'static str, String, String)> = Vec::new();
        for knob in KNOBS.iter().filter(|knob| knob.looks_at_files_only()) {
            for (path, value) in knob.planned(situation).seen {
                all.push((knob.name, path, value));
            }
        }
        // A file that two knobs look at belongs to the first.
        let mut seen = std::collections::BTreeSet::new();
        all.retain(|(_, path, _)| seen.insert(path.clone()));
        Self { all }
    }

    /// Returns the settings, equal ones together.
    pub fn states(&self) -> Vec<KnobState> {
        let mut states: Vec<KnobState> = Vec::new();
        for (knob, path, value) in &self.all {
            let setting = path.rsplit('/').next().unwrap_or(path);
            let known = states.iter_mut().find(|state| {
                state.knob == *knob && state.setting == setting && state.value == *value
            });
            match known {
                Some(state) => state.places += 1,
                None => states.push(KnobState {
                    knob: (*knob).to_owned(),
                    setting: setting.to_owned(),
                    value: value.clone(),
                    places: 1,
                }),
            }
        }
        states
    }

    /// Returns the settings that have another value in `later`. One that is gone from there, as
    /// those of interrupts that were freed, has no other value.
    pub fn moved(&self, later: &Self) -> Vec<Moved> {
        let then: std::collections::BTreeMap<&str, &str> =
            later.all.iter().map(|(_, path, value)| (path.as_str(), value.as_str())).collect();
        self.all
            .iter()
            .filter_map(|(_, path, from)| {
                let to = *then.get(path.as_str())?;
                (!same(path, from, to)).then(|| Moved {
                    target: path.clone(),
                    from: from.clone(),
                    to: to.to_owned(),
                })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(all: &[(&'static str, &str, &str)]) -> KnobReadings {
        let own = |(knob, path, value): &(&'static str, &str, &str)| {
            (*knob, (*path).to_owned(), (*value).to_owned())
        };
        KnobReadings { all: all.iter().map(own).collect() }
    }

    #[test]
    fn equal_settings_are_counted_and_others_named() {
        let before = readings(&[
            ("governor", "/sys/policy0/scaling_governor", "performance"),
            ("governor", "/sys/policy1/scaling_governor", "performance"),
            ("governor", "/sys/policy2/scaling_governor", "powersave"),
        ]);
        let states: Vec<_> =
            before.states().into_iter().map(|state| (state.value, state.places)).collect();
        assert_eq!(states, [("performance".into(), 2), ("powersave".into(), 1)]);
        let after = readings(&[
            ("governor", "/sys/policy0/scaling_governor", "performance"),
            ("governor", "/sys/policy1/scaling_governor", "schedutil"),
        ]);
        let moved = before.moved(&after);
        assert_eq!(moved.len(), 1);
        assert_eq!((&*moved[0].from, &*moved[0].to), ("performance", "schedutil"));
    }
}
