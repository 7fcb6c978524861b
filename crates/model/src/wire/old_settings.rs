//! How the subjects were started, as documents of version 1 say it: under `settings`, in words.

use serde::Deserialize;
use serde::de::value::{Error, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer as _};

use super::worded::Worded;
use crate::conditions::{Described, OwnTiming, Thp};
use crate::note::Limit;
use crate::{Conditions, KnobRecord, parse_share};

/// How the subjects were started, in documents of version 1. What nobody knows is an empty text.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct OldSettings {
    affinity: Option<String>,
    affinity_reason: String,
    isolation: Option<String>,
    scheduler: String,
    nice: i32,
    aslr: String,
    malloc: String,
    in_memory: Option<String>,
    backend: Option<String>,
    harness: Option<String>,
    layout: String,
    cache: String,
    rest: String,
    settle: Option<String>,
    pace: Option<String>,
    on_disturbance: String,
    environment: Vec<String>,
    limits: Vec<Worded<Limit>>,
    #[serde(flatten)]
    knobs: KnobRecord,
}

impl From<OldSettings> for Conditions {
    fn from(old: OldSettings) -> Self {
        Self {
            affinity: old.affinity.and_then(|list| list.parse().ok()),
            affinity_reason: Some(old.affinity_reason)
                .filter(|words| !words.is_empty())
                .map(Described::Words),
            isolation: old.isolation.map(Described::Words),
            awake: None,
            scheduler: word(&old.scheduler),
            nice: old.nice,
            aslr: word(&old.aslr),
            malloc: word(&old.malloc).unwrap_or_default(),
            memory_nodes: None,
            thp: Thp::Inherit,
            in_memory: old.in_memory,
            backend: old.backend.and_then(|name| word(&name)).unwrap_or_default(),
            harness: old.harness.map(OwnTiming::Words).into_iter().collect(),
            padding: word(&old.layout),
            cache: word(&old.cache),
            rest: parse_share(&old.rest).ok(),
            settle: old.settle.map(Described::Words),
            pace: old.pace.map(Described::Words),
            on_disturbance: word(&old.on_disturbance),
            environment: old.environment,
            limits: old.limits.into_iter().map(Worded::value).collect(),
            knobs: old.knobs,
        }
    }
}

/// Reads a word that means the same today; `None` for one that never had a meaning.
fn word<T: DeserializeOwned>(text: &str) -> Option<T> {
    let text: StrDeserializer<'_, Error> = text.into_deserializer();
    T::deserialize(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CpuSet;
    use crate::conditions::{
        Aslr, Backend, Cache, Malloc, OnDisturbance, Padding, SchedulingClass,
    };

    #[test]
    fn the_words_of_version_1_become_values() {
        let text = r#"{"affinity": "2-3", "affinity_reason": "chosen by the user", "scheduler": "fifo:1", "nice": -5,
            "aslr": "off", "malloc": "keep", "backend": "callgrind", "harness": "pyperf told --fast",
            "layout": "fixed", "cache": "as-is", "rest": "7%", "pace": "sampled", "on_disturbance": "redo",
            "environment": ["PATH"], "limits": ["no counters"],
            "drifted": [{"target": "governor", "from": "a", "to": "b"}]}"#;
        let conditions = Conditions::from(serde_json::from_str::<OldSettings>(text).unwrap());
        assert_eq!(conditions.affinity, Some("2-3".parse::<CpuSet>().unwrap()));
        let reason = Described::Words("chosen by the user".to_owned());
        assert_eq!(conditions.affinity_reason, Some(reason));
        assert_eq!(conditions.scheduler, Some(SchedulingClass::Fifo(1)));
        assert_eq!((conditions.nice, conditions.aslr), (-5, Some(Aslr::Off)));
        assert_eq!((conditions.malloc, conditions.backend), (Malloc::Keep, Backend::Callgrind));
        assert_eq!(conditions.harness, [OwnTiming::Words("pyperf told --fast".to_owned())]);
        assert_eq!(
            (conditions.padding, conditions.cache),
            (Some(Padding::Fixed), Some(Cache::AsIs))
        );
        assert_eq!(conditions.rest, Some(0.07));
        assert_eq!(conditions.pace, Some(Described::Words("sampled".to_owned())));
        assert_eq!(conditions.on_disturbance, Some(OnDisturbance::Redo));
        assert_eq!(conditions.knobs.drifted[0].from, "a");
    }

    #[test]
    fn what_version_1_leaves_empty_is_not_known() {
        let empty = r#"{"affinity": null, "affinity_reason": "", "scheduler": "", "aslr": "", "layout": "",
            "cache": "", "rest": "", "nice": 0, "environment": [], "limits": []}"#;
        let read: OldSettings = serde_json::from_str(empty).unwrap();
        assert_eq!(Conditions::from(read), Conditions::default());
    }
}
