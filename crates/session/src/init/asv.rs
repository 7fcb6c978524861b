//! Benchmarks of airspeed velocity: a file `asv.conf.json`.
//!
//! asv builds an environment for each commit; becalm measures what is there. So the project and what its
//! matrix requires are installed into an environment beside asv's own, and not into the user's Python.

use serde_json::{Map, Value};

use super::tree::{Tree, base, join, parent};
use super::{Finds, Found, key};

/// The environment, from the folder of the configuration.
const ENVIRONMENT: &str = ".asv/becalm";

pub(super) fn find(tree: &Tree) -> Finds {
    let mut finds = Finds::default();
    for (path, text) in tree.named("asv.conf.json") {
        let folder = parent(path);
        let Ok(configuration) = serde_json::from_str::<Map<String, Value>>(&without_comments(text))
        else {
            finds
                .doubts
                .push(format!("{path} is not JSON with comments; nothing was added for it"));
            continue;
        };
        let python = format!("{ENVIRONMENT}/bin/python");
        finds.benchmarks.push(Found {
            name: if folder.is_empty() { "asv".to_owned() } else { key(base(folder)) },
            command: [&python, "-m", "asv", "run"].map(str::to_owned).to_vec(),
            harness: Some("asv"),
            folder: folder.to_owned(),
            setup: Some(setup(&python, &packages(tree, folder, &configuration))),
            tag: "asv",
            comments: vec![
                format!("benchmarks of {path}"),
                format!(
                    "`setup` installs the project, and the first version of each requirement of the matrix, \
                     into {ENVIRONMENT}"
                ),
            ],
            ..Found::default()
        });
    }
    finds
}

/// Makes the environment, installs the current state of what is measured, and describes the
/// machine, for which asv would ask the user.
fn setup(python: &str, packages: &[String]) -> String {
    let packages = shell_words::join(packages);
    format!(
        "{{ test -x {python} || {{ python3 -m venv {ENVIRONMENT} && echo '*' > {ENVIRONMENT}/.gitignore; }}; }} && \
         {python} -m pip install --quiet --disable-pip-version-check asv {packages} && \
         {python} -m asv machine --yes"
    )
}

/// Returns what is to be installed: what the matrix requires, and the project if it is in this repository.
fn packages(tree: &Tree, folder: &str, configuration: &Map<String, Value>) -> Vec<String> {
    let mut packages = Vec::new();
    let matrix = configuration.get("matrix").and_then(Value::as_object);
    // Before asv 0.5 the matrix was the requirements.
    let required = matrix.and_then(|all| all.get("req").and_then(Value::as_object).or(Some(all)));
    for (name, versions) in required.into_iter().flatten() {
        if matches!(name.as_str(), "env" | "env_nobuild" | "req" | "@env") {
            continue;
        }
        let name = name.strip_prefix("pip+").unwrap_or(name);
        let first = match versions {
            Value::Array(versions) => versions.first(),
            version => Some(version),
        };
        match first.and_then(Value::as_str) {
            Some(version) if !version.is_empty() => packages.push(format!("{name}=={version}")),
            _ => packages.push(name.to_owned()),
        }
    }
    let repository = configuration.get("repo").and_then(Value::as_str).unwrap_or(".");
    let is_here = !repository.contains(':');
    let root = is_here.then(|| up(folder, repository)).flatten();
    if root.is_some_and(|root| {
        ["pyproject.toml", "setup.py", "setup.cfg"].iter().any(|file| tree.has(&join(&root, file)))
    }) {
        packages.push(if repository.starts_with('.') {
            repository.to_owned()
        } else {
            format!("./{repository}")
        });
    }
    packages
}

/// Follows a relative path from a folder; `None` where it leaves the repository.
fn up(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            other => parts.push(other),
        }
    }
    Some(parts.join("/"))
}

/// Removes what configurations of asv have beside JSON: comments, and commas before a closing bracket. asv reads
/// JSON5, of which the rest is rare.
fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                plain.push(c);
                while let Some(c) = chars.next() {
                    plain.push(c);
                    match c {
                        '\\' => plain.extend(chars.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            '/' if chars.peek() == Some(&'/') => while chars.next_if(|c| *c != '\n').is_some() {},
            '/' if chars.next_if_eq(&'*').is_some() => {
                let mut before = ' ';
                for c in chars.by_ref() {
                    if before == '*' && c == '/' {
                        break;
                    }
                    before = c;
                }
            }
            ']' | '}' => {
                let end = plain.trim_end().trim_end_matches(',').len();
                if plain[end..].contains(',') {
                    plain.truncate(end);
                }
                plain.push(c);
            }
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree;
    use super::*;

    #[test]
    fn a_configuration_is_one_benchmark() {
        let finds = find(&tree(&[
            ("asv.conf.json", "{}"),
            ("perf/asv.conf.json", "{}"),
            ("a/asv.conf.json", "["),
        ]));
        let found: Vec<(&str, &str)> =
            finds.benchmarks.iter().map(|f| (f.name.as_str(), f.folder.as_str())).collect();
        assert_eq!(found, [("asv", ""), ("perf", "perf")]);
        assert_eq!(finds.doubts.len(), 1);
    }

    #[test]
    fn what_is_measured_is_installed_beside_asvs_own() {
        let install = |path: &str, text: &str| {
            let finds = find(&tree(&[(path, text), ("pyproject.toml", "")]));
            let setup = finds.benchmarks[0].setup.clone().unwrap();
            let (_, rest) = setup.split_once("version-check asv ").unwrap();
            rest.split(" && ").next().unwrap().to_owned()
        };
        let matrix = r#"{
            // a "comment"
            "repo": "..", /* another, */ "project_url": "http://a//b",
            "matrix": {"req": {"numpy": ["1.26", "2.0"], "pip+six": [""], "black": null,}, "env": {"A": ["1"]}},
        }"#;
        assert_eq!(install("perf/asv.conf.json", matrix), "black 'numpy==1.26' six ..");
        let old = r#"{"repo": ".", "matrix": {"numpy": []}}"#;
        assert_eq!(install("asv.conf.json", old), "numpy .");
        let elsewhere = r#"{"repo": "https://example.org/x.git"}"#;
        assert_eq!(install("asv.conf.json", elsewhere), "");
        assert_eq!(install("asv.conf.json", r#"{"repo": "../.."}"#), "");
    }
}
