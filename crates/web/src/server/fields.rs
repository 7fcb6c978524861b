//! `?fields=`: of a document, only what somebody needs.

use std::collections::BTreeMap;

use becalm_report::web::WebMessage;
use serde_json::Value;

/// Letters of a list of fields.
const LETTERS: usize = 1000;

/// How deep a field may be.
const DEPTH: usize = 8;

/// Names of fields, each with those inside it that are wanted; all of it if there are none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Fields(BTreeMap<String, Fields>);

impl Fields {
    /// Reads `part,changes.change.kind`.
    pub(super) fn read(text: &str) -> Result<Self, WebMessage> {
        let bad = |what: &str| Err(WebMessage::BadRequest(what.to_owned()));
        if text.len() > LETTERS {
            return bad("`fields` is too long");
        }
        let mut all = Self::default();
        for path in text.split(',') {
            let names: Vec<&str> = path.split('.').map(str::trim).collect();
            if names.len() > DEPTH || names.iter().any(|name| name.is_empty()) {
                return bad("`fields` must be a list of names such as part,changes.change.kind");
            }
            let mut here = &mut all;
            for name in names {
                here = here.0.entry(name.to_owned()).or_default();
            }
        }
        Ok(all)
    }

    /// Returns the document with these fields and its schema alone; of a list, of each item. A field that no document of the
    /// kind has is refused.
    pub(super) fn of(&self, document: Value) -> Result<Value, WebMessage> {
        if let Value::Object(fields) = &document
            && let Some(unknown) = self.0.keys().find(|name| !fields.contains_key(*name))
        {
            let unknown: String = unknown.chars().take(100).collect();
            return Err(WebMessage::BadRequest(format!("the document has no field `{unknown}`")));
        }
        let mut wanted = self.clone();
        wanted.0.entry("schema".to_owned()).or_default();
        Ok(wanted.select(document))
    }

    fn select(&self, value: Value) -> Value {
        if self.0.is_empty() {
            return value;
        }
        match value {
            Value::Object(fields) => {
                let kept = fields.into_iter().filter_map(|(name, value)| {
                    let inside = self.0.get(&name)?;
                    Some((name, inside.select(value)))
                });
                Value::Object(kept.collect())
            }
            Value::Array(items) => {
                Value::Array(items.into_iter().map(|item| self.select(item)).collect())
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_document_has_what_is_wanted_and_its_schema() {
        let document = json!({"schema": "s", "a": 1, "b": [{"c": 2, "d": {"e": 3, "f": 4}}, {"c": 5}], "g": null});
        let of = |fields: &str| Fields::read(fields).unwrap().of(document.clone());
        assert_eq!(of("a"), Ok(json!({"schema": "s", "a": 1})));
        assert_eq!(
            of("b.d.e,g"),
            Ok(json!({"schema": "s", "b": [{"d": {"e": 3}}, {}], "g": null}))
        );
        assert_eq!(
            of("b.c,b.d"),
            Ok(json!({"schema": "s", "b": [{"c": 2, "d": {"e": 3, "f": 4}}, {"c": 5}]}))
        );
        assert!(of("z").is_err());
        for wrong in ["", ",", "a..b", ".", &"a,".repeat(600), "a.b.c.d.e.f.g.h.i"] {
            assert!(Fields::read(wrong).is_err(), "{wrong}");
        }
    }
}
