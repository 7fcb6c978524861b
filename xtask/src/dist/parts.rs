//! What a program is made of: the crates that are linked into it, by cargo, and what cargo does not know of.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::Value;

use super::arch::Arch;
use crate::workspace::{capture, cargo};

/// A crate.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) version: String,
    /// What its manifest says, an expression of SPDX.
    pub(super) licence: Option<String>,
    /// The folder with its sources.
    pub(super) folder: PathBuf,
    /// Whether it is of this repository.
    pub(super) is_ours: bool,
    /// What it uses of the others, each as `name@version`.
    pub(super) uses: Vec<String>,
}

impl Part {
    /// Returns name and version as one word.
    pub(super) fn id(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }
}

/// Returns the crates that are linked for any processor, in order of their names.
pub(super) fn linked(archs: &[Arch]) -> Result<Vec<Part>> {
    let mut all = BTreeSet::new();
    for arch in archs {
        let arguments = ["metadata", "--format-version", "1", "--locked", "--filter-platform"];
        let text = capture(cargo(&arguments).arg(arch.triple()))?;
        let metadata = serde_json::from_str(&text).context("cargo metadata did not print JSON")?;
        all.extend(of_metadata(&metadata)?);
    }
    Ok(all.into_iter().collect())
}

/// Returns the crates that becalm is linked from: no build scripts, nothing for tests.
fn of_metadata(metadata: &Value) -> Result<Vec<Part>> {
    let packages = by_id(&metadata["packages"]);
    let nodes = by_id(&metadata["resolve"]["nodes"]);
    let is_becalm = |(_, package): &(&&str, &&Value)| package["name"] == "becalm";
    let (first, _) = packages.iter().find(is_becalm).context("becalm is not in the metadata")?;
    let mut found = BTreeMap::new();
    let mut next = vec![*first];
    while let Some(id) = next.pop() {
        if found.contains_key(id) {
            continue;
        }
        let used = used(nodes.get(id).with_context(|| format!("{id} is not resolved"))?);
        next.extend(&used);
        let package = packages.get(id).with_context(|| format!("{id} is no package"))?;
        found.insert(id, part(package, &used, &packages)?);
    }
    Ok(found.into_values().collect())
}

fn by_id(list: &Value) -> BTreeMap<&str, &Value> {
    let list = list.as_array().map_or(&[][..], Vec::as_slice);
    list.iter().filter_map(|one| Some((one["id"].as_str()?, one))).collect()
}

/// Returns what a crate uses to run; `null` is the kind of an ordinary dependency.
fn used(node: &Value) -> Vec<&str> {
    let dependencies = node["deps"].as_array().map_or(&[][..], Vec::as_slice);
    let is_linked = |dependency: &&Value| {
        let kinds = dependency["dep_kinds"].as_array().map_or(&[][..], Vec::as_slice);
        kinds.iter().any(|kind| kind["kind"].is_null())
    };
    dependencies.iter().filter(is_linked).filter_map(|one| one["pkg"].as_str()).collect()
}

fn part(package: &Value, used: &[&str], packages: &BTreeMap<&str, &Value>) -> Result<Part> {
    let text = |package: &Value, field: &str| -> Result<String> {
        let text = package[field].as_str().with_context(|| format!("a package has no {field}"))?;
        Ok(text.to_owned())
    };
    let id = |package: &Value| -> Result<String> {
        Ok(format!("{}@{}", text(package, "name")?, text(package, "version")?))
    };
    let mut uses: Vec<String> =
        used.iter().filter_map(|id| packages.get(id)).map(|one| id(one)).collect::<Result<_>>()?;
    uses.sort();
    let manifest = PathBuf::from(text(package, "manifest_path")?);
    Ok(Part {
        name: text(package, "name")?,
        version: text(package, "version")?,
        licence: package["license"].as_str().map(str::to_owned),
        folder: manifest.parent().map(PathBuf::from).unwrap_or_default(),
        is_ours: package["source"].is_null(),
        uses,
    })
}

/// Returns the checksums of the registry's crates from a `Cargo.lock`, by `name@version`.
pub(super) fn checksums(lock: &str) -> BTreeMap<String, String> {
    let field = |block: &str, name: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = \""))?;
        Some(line.trim_end_matches('"').to_owned())
    };
    let blocks = lock.split("[[package]]").skip(1);
    let one = |block: &str| {
        let id = format!("{}@{}", field(block, "name")?, field(block, "version")?);
        Some((id, field(block, "checksum")?))
    };
    blocks.filter_map(one).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde_json::json;

    /// becalm uses `csv`, which uses `memchr`; `cc` is for a build script, `insta` for tests.
    pub(crate) fn sample() -> Value {
        let package = |name: &str, source: &Value| {
            json!({"id": name, "name": name, "version": "1.0.0", "license": "MIT OR Apache-2.0",
                   "source": source, "manifest_path": format!("/src/{name}/Cargo.toml")})
        };
        let uses = |name: &str, kind: Value| json!({"pkg": name, "dep_kinds": [{"kind": kind}]});
        let registry = json!("registry+x");
        json!({
            "packages": [
                package("becalm", &Value::Null), package("csv", &registry),
                package("memchr", &registry), package("cc", &registry), package("insta", &registry),
            ],
            "resolve": {"nodes": [
                {"id": "becalm", "deps": [uses("insta", json!("dev")), uses("csv", Value::Null)]},
                {"id": "csv", "deps": [uses("cc", json!("build")), uses("memchr", Value::Null)]},
                {"id": "memchr", "deps": []}, {"id": "cc", "deps": []}, {"id": "insta", "deps": []},
            ]},
        })
    }

    pub(crate) fn parts() -> Vec<Part> {
        of_metadata(&sample()).unwrap()
    }

    #[test]
    fn what_is_linked_is_found_through_others_and_nothing_else_is() {
        let parts = parts();
        let ids: Vec<String> = parts.iter().map(Part::id).collect();
        assert_eq!(ids, ["becalm@1.0.0", "csv@1.0.0", "memchr@1.0.0"]);
        assert_eq!(parts[1].uses, ["memchr@1.0.0"]);
        assert!(parts[0].is_ours && !parts[1].is_ours);
        assert_eq!(parts[2].folder, PathBuf::from("/src/memchr"));
    }

    #[test]
    fn crates_of_the_registry_have_checksums() {
        let lock = "version = 4\n\n[[package]]\nname = \"becalm\"\nversion = \"0.1.0\"\n\n\
                    [[package]]\nname = \"csv\"\nversion = \"1.0.0\"\nsource = \"x\"\nchecksum = \"ab\"\n";
        let expected = BTreeMap::from([("csv@1.0.0".to_owned(), "ab".to_owned())]);
        assert_eq!(checksums(lock), expected);
    }
}
