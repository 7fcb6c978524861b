//! Documents of loads that somebody changed: whatever number is in them, they are read or refused, and shown.

use becalm_model::wire::{SavedLoad, json_text, read_load};
use serde_json::{Value, json};

use super::find::tests::found;
use super::tests::{stalled, starved};
use super::{load_find_html, load_find_text, load_html, load_markdown, load_text};
use crate::style::Style;

/// Returns where the numbers of a document are.
fn numbers(value: &Value, path: &str, all: &mut Vec<String>) {
    match value {
        Value::Number(_) => all.push(path.to_owned()),
        // The elements of a list have the same shape.
        Value::Array(list) => list
            .iter()
            .enumerate()
            .take(3)
            .for_each(|(at, one)| numbers(one, &format!("{path}/{at}"), all)),
        Value::Object(fields) => {
            fields.iter().for_each(|(name, one)| numbers(one, &format!("{path}/{name}"), all));
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

fn check(text: &str) {
    let usual: Value = serde_json::from_str(text).unwrap();
    let mut places = Vec::new();
    numbers(&usual, "", &mut places);
    assert!(places.len() > 20);
    for place in places {
        for odd in
            [json!(0), json!(-1), json!(1e300), json!(-1e300), json!(u64::MAX), json!(1e-300)]
        {
            let mut changed = usual.clone();
            *changed.pointer_mut(&place).unwrap() = odd;
            match read_load(&changed.to_string()) {
                Ok(Some(SavedLoad::Run(one))) => {
                    load_text(&one, &Style::PLAIN);
                    load_html(&one, "1");
                    load_markdown(&one);
                }
                Ok(Some(SavedLoad::Find(one))) => {
                    load_find_text(&one, &Style::PLAIN);
                    load_find_html(&one, "1");
                }
                Ok(None) => panic!("{place}: it names its schema"),
                Err(_) => (),
            }
        }
    }
}

#[test]
fn a_load_with_any_number_in_it_is_shown() {
    for document in [stalled(), starved()] {
        let text = json_text(&document);
        check(&text);
        assert_eq!(read_load(&text).unwrap(), Some(SavedLoad::Run(Box::new(document))));
    }
}

#[test]
fn a_search_with_any_number_in_it_is_shown() {
    let text = json_text(&found());
    check(&text);
    assert_eq!(read_load(&text).unwrap(), Some(SavedLoad::Find(Box::new(found()))));
}
