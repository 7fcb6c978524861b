//! Benchmarks of npm packages: scripts whose name starts with `bench`, and `vitest bench`.

use serde_json::Value;

use super::tree::{Tree, join, parent};
use super::{Finds, Found, key, words};

pub(super) fn find(tree: &Tree) -> Finds {
    let mut finds = Finds::default();
    for (path, text) in tree.named("package.json") {
        let Ok(package) = serde_json::from_str::<Value>(text) else {
            finds.doubts.push(format!("{path} is not valid JSON"));
            continue;
        };
        let Some(scripts) = package.get("scripts").and_then(Value::as_object) else { continue };
        let folder = parent(path);
        for (name, script) in scripts {
            let Some(script) = script.as_str() else { continue };
            let vitest = vitest(script);
            if !name.starts_with("bench") && vitest.is_none() {
                continue;
            }
            let mut comments = vec![format!("script `{name}` of {path}: {script}")];
            let (command, harness) = if let Some(command) = vitest {
                (command, Some("vitest"))
            } else {
                let harness = printed_by(tree, folder, script);
                if harness.is_none() {
                    comments.push(
                        "timed from outside, including the start of npm; `harness = \
                         \"tinybench\"` reads its tables"
                            .to_owned(),
                    );
                    finds.doubts.push(format!(
                        "the output format of the script `{name}` of {path} is unknown, so it is \
                         timed from outside, including the start of npm"
                    ));
                }
                (words(&["npm", "run", "--silent", name]), harness)
            };
            finds.benchmarks.push(Found {
                name: key(name),
                command,
                harness,
                folder: folder.to_owned(),
                setup: Some(install(tree, folder)),
                tag: "npm",
                comments,
                ..Found::default()
            });
        }
    }
    finds
}

/// Determines from the program that a script starts what it prints. None of these libraries takes
/// flags, so npm may be in between.
fn printed_by(tree: &Tree, folder: &str, script: &str) -> Option<&'static str> {
    const MARKS: [(&str, &str); 2] = [("tinybench", "tinybench"), ("mitata", "custom")];
    let words = script.split_whitespace().map(|word| word.trim_start_matches("./"));
    let mut texts = words.filter_map(|word| tree.files.get(&join(folder, word))?.as_deref());
    texts.find_map(|text| {
        MARKS.iter().find(|(mark, _)| text.contains(mark)).map(|(_, harness)| *harness)
    })
}

/// Returns what installs the packages of a project that has none yet, by the tool whose lock lies there.
fn install(tree: &Tree, folder: &str) -> String {
    let tool = |folder: &str| {
        let has = |name: &str| tree.has(&join(folder, name));
        if has("pnpm-lock.yaml") {
            Some("pnpm install")
        } else if has("yarn.lock") {
            Some("yarn install")
        } else if has("package-lock.json") {
            Some("npm ci")
        } else {
            None
        }
    };
    let mut at = folder;
    let mut up = String::new();
    loop {
        if let Some(tool) = tool(at) {
            let go = if up.is_empty() { String::new() } else { format!("cd {up} && ") };
            return format!("{go}{{ test -d node_modules || {tool}; }}");
        }
        if at.is_empty() {
            return "{ test -d node_modules || npm install; }".to_owned();
        }
        at = parent(at);
        up = if up.is_empty() { "..".to_owned() } else { format!("{up}/..") };
    }
}

/// Returns the command of a script that only runs the benchmarks of vitest.
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

    #[test]
    fn what_a_script_prints_is_told_by_its_program() {
        let finds = find(&tree(&[
            ("a/package.json", r#"{"scripts": {"bench": "node --expose-gc ./bench/x.mjs"}}"#),
            ("a/bench/x.mjs", "import { Bench } from 'tinybench'"),
            ("package.json", r#"{"scripts": {"perf": "vitest bench"}}"#),
            ("pnpm-lock.yaml", ""),
        ]));
        let found: Vec<(&str, Option<&str>, &str)> = finds
            .benchmarks
            .iter()
            .map(|f| (f.name.as_str(), f.harness, f.setup.as_deref().unwrap()))
            .collect();
        assert_eq!(
            found,
            [
                ("bench", Some("tinybench"), "cd .. && { test -d node_modules || pnpm install; }"),
                ("perf", Some("vitest"), "{ test -d node_modules || pnpm install; }"),
            ]
        );
        assert!(finds.doubts.is_empty());
    }
}
