//! Values of a suite file that several of its tables have: durations with their unit, and what is used as a text.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{Deserializer, Error, Unexpected, Visitor};

use crate::parse_duration;

/// A duration with its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(inline)]
pub struct SuiteDuration(#[schemars(with = "String")] pub Duration);

/// A value that is used as a text: a string, a number, `true` or `false`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, JsonSchema)]
pub struct SuiteValue(#[schemars(with = "ValueSchema")] pub String);

/// What a value looks like, for the schema alone.
#[derive(JsonSchema)]
#[schemars(untagged, inline)]
#[expect(dead_code, reason = "only its schema is used")]
enum ValueSchema {
    Text(String),
    Whole(i64),
    Number(f64),
    Switch(bool),
}

impl<'de> Deserialize<'de> for SuiteValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Value;
        impl Visitor<'_> for Value {
            type Value = SuiteValue;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string, a number, true or false")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<SuiteValue, E> {
                Ok(SuiteValue(text.to_owned()))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<SuiteValue, E> {
                Ok(SuiteValue(number.to_string()))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<SuiteValue, E> {
                Ok(SuiteValue(number.to_string()))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<SuiteValue, E> {
                Ok(SuiteValue(number.to_string()))
            }

            fn visit_bool<E: Error>(self, switch: bool) -> Result<SuiteValue, E> {
                Ok(SuiteValue(switch.to_string()))
            }
        }
        deserializer.deserialize_any(Value)
    }
}

impl<'de> Deserialize<'de> for SuiteDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Length;
        impl Visitor<'_> for Length {
            type Value = SuiteDuration;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a duration in quotes, such as \"500ms\", \"2s\" or \"5m\"")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<SuiteDuration, E> {
                parse_duration(text).map(SuiteDuration).map_err(E::custom)
            }

            // No other number is a duration without a unit.
            fn visit_i64<E: Error>(self, number: i64) -> Result<SuiteDuration, E> {
                match number {
                    0 => Ok(SuiteDuration(Duration::ZERO)),
                    _ => Err(E::invalid_type(Unexpected::Signed(number), &self)),
                }
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<SuiteDuration, E> {
                match number {
                    0 => Ok(SuiteDuration(Duration::ZERO)),
                    _ => Err(E::invalid_type(Unexpected::Unsigned(number), &self)),
                }
            }
        }
        deserializer.deserialize_any(Length)
    }
}
