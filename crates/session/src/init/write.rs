//! The text of a suite, made of what was found.

use super::{Finds, Found};

const HEAD: &str = r#"# The benchmarks of this repository, for `becalm run --suite`. `becalm run --suite --list` shows what would be
# measured; `becalm schema suite` prints the schema of this file.
version = 1

# Defaults for every benchmark.
[defaults]
# Measured runs of each; `budget = "10s"` limits the time instead, or as well.
rounds = 10
# Runs before them.
warmup = 1
# A run that takes longer than this is ended.
# timeout = "5m"
# Smallest relative change that matters.
margin = "2%"
"#;

const EXAMPLE: &str = r#"
# No benchmark was found. One looks like this:
#
# [benchmark.sort]
# command = "./sort {size}"
# parameters = { size = [1000, 100000] }
# metrics = ["wall_time", { name = "rate", regex = 'rate: (\S+)', unit = "MB/s", better = "higher" }]
# tags = ["quick"]
"#;

/// Writes the suite.
pub fn suite_toml(finds: &Finds) -> String {
    let mut text = HEAD.to_owned();
    for doubt in &finds.doubts {
        text.push_str(&comment(doubt));
    }
    if finds.benchmarks.is_empty() {
        text.push_str(EXAMPLE);
    }
    for found in &finds.benchmarks {
        text.push('\n');
        text.push_str(&benchmark(found));
    }
    text
}

fn benchmark(found: &Found) -> String {
    let comments: String = found.comments.iter().map(|line| comment(line)).collect();
    let words: Vec<String> = found.command.iter().map(|word| quoted(word)).collect();
    let mut lines = vec![
        format!("{comments}[benchmark.{}]", found.name),
        format!("command = [{}]", words.join(", ")),
    ];
    lines.extend(found.harness.map(|harness| format!("harness = {}", quoted(harness))));
    lines.extend(found.filter.map(|filter| format!("filter = {}", quoted(filter))));
    if !found.env.is_empty() {
        let env: Vec<String> =
            found.env.iter().map(|(name, value)| format!("{name} = {}", quoted(value))).collect();
        lines.push(format!("env = {{ {} }}", env.join(", ")));
    }
    if !found.folder.is_empty() {
        lines.push(format!("folder = {}", quoted(&found.folder)));
    }
    lines.extend(found.setup.as_ref().map(|setup| format!("setup = {}", quoted(setup))));
    lines.push(format!("tags = [{}]\n", quoted(found.tag)));
    lines.join("\n")
}

/// Writes one line of comment, whatever the text holds.
fn comment(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("# {line}\n")
}

/// Writes a text as TOML does.
fn quoted(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04X}", u32::from(c)),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_was_found_the_text_is_toml() {
        let odd = "a \"quoted\" \\ thing\nwith\u{7f} lines";
        let found = Found {
            name: "x".to_owned(),
            command: vec![odd.to_owned()],
            folder: odd.to_owned(),
            setup: Some(odd.to_owned()),
            comments: vec![odd.to_owned()],
            ..Found::default()
        };
        let text = suite_toml(&Finds { benchmarks: vec![found], doubts: vec![odd.to_owned()] });
        let table: toml::Table = text.parse().unwrap();
        assert_eq!(table["benchmark"]["x"]["setup"].as_str(), Some(odd));
        assert!(suite_toml(&Finds::default()).parse::<toml::Table>().is_ok());
    }
}
