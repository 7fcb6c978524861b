//! The calls of a `CMake` file, as far as they can be followed without running it.
//!
//! Variables that are set to words, loops over words, and functions and macros of the project are
//! followed, as many projects add their benchmarks with one. Conditions are not: both of their
//! sides count.

use std::collections::BTreeMap;

/// A call of a `CMake` command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    /// Its command, in small letters.
    pub(super) name: String,
    /// What it is given.
    pub(super) words: Vec<String>,
}

/// A function or a macro: the names of its parameters, and what it calls.
#[derive(Debug, Clone)]
struct Function {
    parameters: Vec<String>,
    body: Vec<Call>,
}

/// What the files of a project have defined so far.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    functions: BTreeMap<String, Function>,
}

/// Functions that call functions are followed up to this depth.
const DEEPEST: usize = 5;

/// Most calls that one file leads to: no real build file has more.
const MOST: usize = 20_000;

impl Definitions {
    /// Learns the functions and macros of a file.
    pub(super) fn learn(&mut self, text: &str) {
        let calls = read(text);
        let mut at = 0;
        while at < calls.len() {
            let call = &calls[at];
            if matches!(call.name.as_str(), "function" | "macro") {
                let end = end_of(&calls, at);
                if let Some((name, parameters)) = call.words.split_first() {
                    let body = calls[at + 1..end].to_vec();
                    let function = Function { parameters: parameters.to_vec(), body };
                    self.functions.insert(name.to_lowercase(), function);
                }
                at = end;
            }
            at += 1;
        }
    }

    /// Returns what a file comes to call, with what is known filled in.
    pub(super) fn follow(&self, text: &str) -> Vec<Call> {
        let mut all = Vec::new();
        self.expand(&read(text), &mut BTreeMap::new(), 0, &mut all);
        all
    }

    fn expand(
        &self,
        calls: &[Call],
        known: &mut BTreeMap<String, Vec<String>>,
        depth: usize,
        all: &mut Vec<Call>,
    ) {
        let mut at = 0;
        while at < calls.len() && all.len() < MOST {
            let call = Call {
                name: calls[at].name.clone(),
                words: calls[at].words.iter().flat_map(|word| filled(word, known)).collect(),
            };
            match call.name.as_str() {
                "function" | "macro" => at = end_of(calls, at),
                "foreach" => {
                    let end = end_of(calls, at);
                    let (name, items) = loop_of(&call.words, known);
                    for item in items {
                        known.insert(name.clone(), vec![item]);
                        self.expand(&calls[at + 1..end], known, depth, all);
                    }
                    at = end;
                }
                "set" => {
                    if let Some((name, values)) = call.words.split_first() {
                        let ends =
                            |word: &&String| !matches!(word.as_str(), "CACHE" | "PARENT_SCOPE");
                        known.insert(
                            name.clone(),
                            values.iter().take_while(ends).cloned().collect(),
                        );
                    }
                    all.push(call);
                }
                name => match self.functions.get(name) {
                    Some(function) if depth < DEEPEST => {
                        let mut inside = known.clone();
                        for (index, parameter) in function.parameters.iter().enumerate() {
                            let value = call.words.get(index).cloned();
                            inside.insert(parameter.clone(), value.into_iter().collect());
                        }
                        let rest = call.words.iter().skip(function.parameters.len());
                        inside.insert("ARGN".to_owned(), rest.cloned().collect());
                        inside.insert("ARGV".to_owned(), call.words.clone());
                        for (index, word) in call.words.iter().enumerate() {
                            inside.insert(format!("ARGV{index}"), vec![word.clone()]);
                        }
                        self.expand(&function.body, &mut inside, depth + 1, all);
                    }
                    _ => all.push(call),
                },
            }
            at += 1;
        }
    }
}

/// Returns the variable of a loop, and what it takes.
fn loop_of(words: &[String], known: &BTreeMap<String, Vec<String>>) -> (String, Vec<String>) {
    let Some((name, items)) = words.split_first() else { return (String::new(), Vec::new()) };
    let mut found = Vec::new();
    let (mut is_list, mut is_range) = (false, false);
    for item in items {
        match item.as_str() {
            "IN" | "ITEMS" => is_list = false,
            "LISTS" => is_list = true,
            "RANGE" => is_range = true,
            item if is_list => found.extend(known.get(item).cloned().unwrap_or_default()),
            _ if is_range => {}
            item => found.push(item.to_owned()),
        }
    }
    (name.clone(), found)
}

/// Fills in what is known; a word that is one variable alone becomes as many as that has.
fn filled(word: &str, known: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    if let Some(name) = word.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'))
        && let Some(values) = known.get(name)
    {
        return values.clone();
    }
    let mut text = String::new();
    let mut rest = word;
    while let Some((before, after)) = rest.split_once("${") {
        let value = after
            .split_once('}')
            .and_then(|(name, behind)| Some((known.get(name)?.join(";"), behind)));
        text.push_str(before);
        if let Some((value, behind)) = value {
            text.push_str(&value);
            rest = behind;
        } else {
            text.push_str("${");
            rest = after;
        }
    }
    text.push_str(rest);
    vec![text]
}

/// Returns the place of the call that ends the block which begins at `start`.
fn end_of(calls: &[Call], start: usize) -> usize {
    let name = &calls[start].name;
    let end = format!("end{name}");
    let mut depth = 0;
    for (at, call) in calls.iter().enumerate().skip(start) {
        if call.name == *name {
            depth += 1;
        } else if call.name == end {
            depth -= 1;
            if depth == 0 {
                return at;
            }
        }
    }
    calls.len()
}

/// Reads the calls of a `CMake` file as they stand, comments left out.
fn read(text: &str) -> Vec<Call> {
    let code: String = text
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n");
    let mut calls = Vec::new();
    let mut rest = code.as_str();
    while let Some(open) = rest.find('(') {
        let before = rest[..open].trim_end();
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let start = before.trim_end_matches(is_of_name).len();
        let inside = &rest[open + 1..];
        let close = inside.find(')').unwrap_or(inside.len());
        let words =
            inside[..close].split_whitespace().map(|word| word.trim_matches('"').to_owned());
        calls.push(Call { name: before[start..].to_lowercase(), words: words.collect() });
        rest = &inside[close..];
    }
    calls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut definitions = Definitions::default();
        definitions.learn(text);
        let shown = |call: &Call| format!("{} {}", call.name, call.words.join(" "));
        let found: Vec<String> = definitions.follow(text).iter().map(shown).collect();
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        let found: Vec<&str> =
            found.into_iter().filter(|call| call.starts_with("add_executable")).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn functions_and_loops_are_followed() {
        check(
            "function(add_bench NAME)\n add_executable(${NAME} \"${NAME}.cc\" ${ARGN})\nendfunction()\n\
             add_bench(sort x.cc) # add_bench(no)\nADD_BENCH(map)",
            &["add_executable sort sort.cc x.cc", "add_executable map map.cc"],
        );
        check(
            "set(ALL a b)\nforeach(one IN LISTS ALL ITEMS c)\nadd_executable(${one}_bench ${one}.cc)\nendforeach()",
            &[
                "add_executable a_bench a.cc",
                "add_executable b_bench b.cc",
                "add_executable c_bench c.cc",
            ],
        );
        check(
            "foreach(n a b)\nforeach(m x)\nadd_executable(${n}${m} f)\nendforeach()\nendforeach()",
            &["add_executable ax f", "add_executable bx f"],
        );
        check("add_executable(${odd}x f)", &["add_executable ${odd}x f"]);
    }

    #[test]
    fn what_has_no_end_comes_to_one() {
        check("function(f)\nf()\nadd_executable(x y)\nf()\nendfunction()\nfunction(", &[]);
        let text = "macro(f)\nf()\nf()\nf()\nadd_executable(x y)\nendmacro()\nf()";
        let mut definitions = Definitions::default();
        definitions.learn(text);
        assert!(definitions.follow(text).len() < MOST * 2);
        check("foreach(a b", &[]);
    }
}
