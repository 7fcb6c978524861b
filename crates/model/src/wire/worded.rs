//! A value with its sentence beside it: scripts read the fields, people the text.

use schemars::JsonSchema;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::conditions::AffinityReason;
use crate::note::{GateAdvice, GateReason, Interruption, Limit, Note};

/// Who makes the sentences of documents; nothing here has words of its own.
#[derive(Debug, Clone, Copy)]
pub struct Words {
    /// The sentence of a note.
    pub note: fn(&Note) -> String,
    /// Why a session ended early.
    pub interruption: fn(&Interruption) -> String,
    /// The sentence of a limit.
    pub limit: fn(&Limit) -> String,
    /// Why the subjects have their CPUs.
    pub affinity: fn(&AffinityReason) -> String,
    /// Why a result of a gate is as it is.
    pub reason: fn(&GateReason) -> String,
    /// What to do about it.
    pub advice: fn(&GateAdvice) -> String,
}

impl Words {
    /// None: for logs, in which becalm reads the fields.
    pub const NONE: Self = Self {
        note: |_| String::new(),
        interruption: |_| String::new(),
        limit: |_| String::new(),
        affinity: |_| String::new(),
        reason: |_| String::new(),
        advice: |_| String::new(),
    };
}

/// A value as it leaves the process: `kind` and fields, and the sentence as `text`.
///
/// Documents of earlier versions have the sentence alone, a plain string.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Worded<T> {
    #[serde(flatten)]
    value: T,
    /// The sentence; absent in logs.
    #[serde(skip_serializing_if = "String::is_empty")]
    text: String,
}

impl<T> Worded<T> {
    /// Puts the sentence of a value beside it.
    pub fn of(value: &T, sentence: fn(&T) -> String) -> Self
    where
        T: Clone,
    {
        Self { text: sentence(value), value: value.clone() }
    }

    /// Returns the value.
    pub fn get(&self) -> &T {
        &self.value
    }

    /// Returns the value, without its sentence.
    pub fn value(self) -> T {
        self.value
    }

    /// Returns the sentence, as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Puts the sentence of each value beside it.
pub fn worded<T: Clone>(values: &[T], sentence: fn(&T) -> String) -> Vec<Worded<T>> {
    values.iter().map(|value| Worded::of(value, sentence)).collect()
}

/// Reads values that always had their fields beside the sentence.
///
/// # Errors
///
/// A value of a kind that this version does not know.
pub(crate) fn read_worded<'de, T, D>(deserializer: D) -> Result<Vec<Worded<T>>, D::Error>
where
    T: DeserializeOwned,
    D: Deserializer<'de>,
{
    let all: Vec<Value> = Vec::deserialize(deserializer)?;
    let read = |value: Value| {
        let text = value["text"].as_str().unwrap_or_default().to_owned();
        Ok(Worded { value: serde_json::from_value(value).map_err(D::Error::custom)?, text })
    };
    all.into_iter().map(read).collect()
}

impl<T: JsonSchema> JsonSchema for Worded<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("Worded{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let value = generator.subschema_for::<T>();
        schemars::json_schema!({
            "description": "A value with its sentence; documents of earlier versions have the sentence alone.",
            "anyOf": [
                {
                    "allOf": [value],
                    "properties": { "text": { "type": "string", "description": "The sentence." } },
                },
                { "type": "string" },
            ],
        })
    }
}

impl<'de, T: DeserializeOwned + From<String>> Deserialize<'de> for Worded<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = Value::deserialize(deserializer)?;
        if let Value::String(text) = read {
            return Ok(Self { value: T::from(text.clone()), text });
        }
        let text = read["text"].as_str().unwrap_or_default().to_owned();
        Ok(Self { value: serde_json::from_value(read).map_err(D::Error::custom)?, text })
    }
}
