//! Benchmarks of npm packages: scripts whose name starts with `bench`, and `vitest bench`.

use serde_json::Value;

use super::tree::{Tree, parent};
use super::{Finds, Found, key, words};

pub(super) fn find(tree: &Tree) -> Finds {
    let mut finds = Finds::default();
    for (path, text) in tree.named("package.json") {
        let Ok(package) = serde_json::from_str::<Value>(text) else {
            finds.doubts.push(format!("{path} is no JSON that can be read"));
            continue;
        };
        let Some(scripts) = package.get("scripts").and_then(Value::as_object) else { continue };
        for (name, script) in scripts {
            let Some(script) = script.as_str().filter(|_| name.starts_with("bench")) else {
                continue;
            };
            let mut comments = vec![format!("script `{name}` of {path}: {script}")];
            let (command, harness) = if let Some(command) = vitest(script) {
                (command, Some("vitest"))
            } else {
                comments.push(
                    "timed from outside, with the start of npm; `harness = \"tinybench\"` reads its tables".to_owned(),
                );
                finds.doubts.push(format!(
                    "what the script `{name}` of {path} prints is not known: it is timed from outside, with the start \
                     of npm"
                ));
                (words(&["npm", "run", "--silent", name]), None)
            };
            finds.benchmarks.push(Found {
                name: key(name),
                command,
                harness,
                folder: parent(path).to_owned(),
                setup: None,
                tag: "npm",
                comments,
            });
        }
    }
    finds
}

/// Returns the command of a script that does nothing but run the benchmarks of vitest.
fn vitest(script: &str) -> Option<Vec<String>> {
    let script = shell_words::split(script).ok()?;
    let is_plain = script.len() >= 2 && script[..2] == ["vitest", "bench"];
    let is_shell = |word: &String| word.contains(['&', '|', ';', '<', '>', '$']);
    (is_plain && !script.iter().any(is_shell)).then(|| [words(&["npx"]), script].concat())
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree;
    use super::*;

    #[test]
    fn scripts_that_are_called_bench_are_found() {
        let text = r#"{"scripts": {"bench": "vitest bench --dir x", "bench:io": "node io.js", "test": "vitest"}}"#;
        let finds = find(&tree(&[("web/package.json", text), ("package.json", "{")]));
        let found: Vec<(&str, Option<&str>, String)> = finds
            .benchmarks
            .iter()
            .map(|one| (one.name.as_str(), one.harness, one.command.join(" ")))
            .collect();
        assert_eq!(
            found,
            [
                ("bench", Some("vitest"), "npx vitest bench --dir x".to_owned()),
                ("bench-io", None, "npm run --silent bench:io".to_owned()),
            ]
        );
        assert_eq!(finds.doubts.len(), 2);
    }
}
