//! What the program is made of, for programs that look for known vulnerabilities.
//!
//! Format: `CycloneDX` 1.5 as JSON. It has no serial number, which would differ each time.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::parts::Part;
use super::release::Release;

/// Something that is linked in and that cargo does not know of.
#[derive(Debug, Clone)]
pub(super) struct Other {
    pub(super) name: &'static str,
    pub(super) version: String,
    pub(super) licence: &'static str,
}

/// Returns the document.
pub(super) fn document(
    release: &Release,
    parts: &[Part],
    sums: &BTreeMap<String, String>,
    others: &[Other],
) -> Value {
    let is_becalm = |part: &&Part| part.name == "becalm";
    let components: Vec<Value> = parts
        .iter()
        .filter(|part| !is_becalm(part))
        .map(|part| component(part, sums.get(&part.id())))
        .chain(others.iter().map(other))
        .collect();
    let dependencies: Vec<Value> =
        parts.iter().map(|part| json!({"ref": part.id(), "dependsOn": part.uses})).collect();
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": format!("{}T00:00:00Z", release.date),
            "component": {
                "type": "application",
                "bom-ref": format!("becalm@{}", release.version),
                "name": "becalm",
                "version": release.version,
                "licenses": [{"expression": "MIT OR Apache-2.0"}],
            },
        },
        "components": components,
        "dependencies": dependencies,
    })
}

fn component(part: &Part, sum: Option<&String>) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": part.id(),
        "name": part.name,
        "version": part.version,
    });
    if let Some(licence) = &part.licence {
        // Old manifests have a slash for `OR`.
        component["licenses"] = json!([{"expression": licence.replace('/', " OR ")}]);
    }
    if !part.is_ours {
        component["purl"] = json!(format!("pkg:cargo/{}@{}", part.name, part.version));
    }
    if let Some(sum) = sum {
        component["hashes"] = json!([{"alg": "SHA-256", "content": sum}]);
    }
    component
}

fn other(other: &Other) -> Value {
    json!({
        "type": "library",
        "bom-ref": format!("{}@{}", other.name, other.version),
        "name": other.name,
        "version": other.version,
        "licenses": [{"expression": other.licence}],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::parts::tests::parts;

    #[test]
    fn every_part_is_a_component_with_its_source_and_what_it_uses() {
        let date = "2026-01-31".to_owned();
        let release = Release {
            version: "1.0.0".to_owned(),
            time: 0,
            date,
            mail_date: String::new(),
            is_changed: false,
        };
        let sums = BTreeMap::from([("csv@1.0.0".to_owned(), "ab".to_owned())]);
        let musl = Other { name: "musl", version: "1.2.5".to_owned(), licence: "MIT" };
        let document = document(&release, &parts(), &sums, &[musl]);
        let names: Vec<&str> = document["components"]
            .as_array()
            .unwrap()
            .iter()
            .map(|component| component["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["csv", "memchr", "musl"]);
        let csv = &document["components"][0];
        assert_eq!(csv["purl"], "pkg:cargo/csv@1.0.0");
        assert_eq!(csv["hashes"][0]["content"], "ab");
        let uses = json!({"ref": "becalm@1.0.0", "dependsOn": ["csv@1.0.0"]});
        assert_eq!(document["dependencies"][0], uses);
        assert_eq!(document["metadata"]["component"]["version"], "1.0.0");
    }
}
