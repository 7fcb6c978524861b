//! What `becalm load` saved, with everything that is in it.

use super::read::OnlySchema;
use super::read_error::ReadError;
use super::version::check_readable;
use super::{LOAD_FIND_SCHEMA, LOAD_SCHEMA};
use serde_json::Value;

use crate::load::{LoadFindDocument, LoadRunDocument};

/// A document of `becalm load`.
#[derive(Debug, Clone, PartialEq)]
pub enum SavedLoad {
    /// A load.
    Run(Box<LoadRunDocument>),
    /// A search for the highest rate that meets an objective.
    Find(Box<LoadFindDocument>),
}

/// Reads what `becalm load` wrote; `None` if this is another document.
///
/// # Errors
///
/// It is one, and newer than this version, or not of its shape.
pub fn read_load(text: &str) -> Result<Option<SavedLoad>, ReadError> {
    let Ok(OnlySchema { schema }) = serde_json::from_str(text) else { return Ok(None) };
    if !schema.starts_with("becalm/load") {
        return Ok(None);
    }
    let of_run = check_readable(&schema, &[LOAD_SCHEMA, LOAD_FIND_SCHEMA])? == LOAD_SCHEMA;
    let value: Value = serde_json::from_str(text)?;
    check_counts(&value, "document")?;
    Ok(Some(if of_run {
        SavedLoad::Run(Box::new(serde_json::from_value(value)?))
    } else {
        SavedLoad::Find(Box::new(serde_json::from_value(value)?))
    }))
}

/// Says whether this is a document of a search.
pub fn is_search(text: &str) -> bool {
    let read: Result<OnlySchema, _> = serde_json::from_str(text);
    read.is_ok_and(|one| one.schema.starts_with("becalm/load-find/"))
}

/// Refuses counts that no load reaches, so that sums of those that are left are numbers.
fn check_counts(value: &Value, name: &str) -> Result<(), ReadError> {
    /// As many nanoseconds are a century.
    const MOST: u64 = 1 << 52;
    match value {
        Value::Number(number) if name != "seed" && number.as_u64().is_some_and(|n| n > MOST) => {
            Err(ReadError::Range {
                what: name.to_owned(),
                value: number.as_f64().unwrap_or(f64::INFINITY),
                range: "at most 2^52",
            })
        }
        Value::Array(all) => all.iter().try_for_each(|one| check_counts(one, name)),
        Value::Object(fields) => fields.iter().try_for_each(|(name, one)| check_counts(one, name)),
        _ => Ok(()),
    }
}
