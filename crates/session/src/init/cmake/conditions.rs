//! The switches without which a call of a `CMake` file is not made.
//!
//! It follows what projects write: `if(X)` and `if(X AND Y)` around the call, and `if(NOT X)
//! return()` before it, in its own file and in those that lead to it.

use super::super::tree::{base, join};
use super::File;
use super::calls::Call;

/// Files lead to files up to this depth.
const DEEPEST: usize = 8;

/// Returns the variables that have to be true for the call at this place of a file to be made.
pub(super) fn needed<'a>(files: &'a [File<'_>], file: &'a File<'_>, at: usize) -> Vec<&'a str> {
    let mut found = inside(&file.calls, at);
    let mut below = file;
    for _ in 0..DEEPEST {
        let leads = files.iter().find_map(|above| {
            let at = above.calls.iter().position(|call| leads(above, call, below))?;
            Some((above, at))
        });
        let Some((above, at)) = leads else { break };
        found.extend(inside(&above.calls, at));
        below = above;
    }
    found
}

/// Returns the folder in which `CMake` is when it reads a file: what is included is read where it is asked for.
pub(super) fn folder_of<'a>(files: &'a [File<'_>], file: &'a File<'_>) -> &'a str {
    let mut at = file;
    for _ in 0..DEEPEST {
        if base(at.path) == "CMakeLists.txt" {
            break;
        }
        let asks = |above: &&File<'_>| above.calls.iter().any(|call| leads(above, call, at));
        let Some(above) = files.iter().find(asks) else { break };
        at = above;
    }
    at.folder
}

/// Says whether a call has `CMake` read another file.
fn leads(file: &File<'_>, call: &Call, to: &File<'_>) -> bool {
    let Some(word) = call.words.first() else { return false };
    let here = ["${CMAKE_CURRENT_SOURCE_DIR}/", "${PROJECT_SOURCE_DIR}/", "./"];
    let word = here.iter().find_map(|prefix| word.strip_prefix(prefix)).unwrap_or(word);
    let path = join(file.folder, word.trim_end_matches('/'));
    match call.name.as_str() {
        "include" => path == to.path,
        "add_subdirectory" => path == to.folder && base(to.path) == "CMakeLists.txt",
        _ => false,
    }
}

/// Looks at the conditions of one file.
fn inside(calls: &[Call], at: usize) -> Vec<&str> {
    let mut open: Vec<&[String]> = Vec::new();
    let mut found = Vec::new();
    for call in &calls[..at] {
        match call.name.as_str() {
            "if" => open.push(&call.words),
            // What holds on the other side is not followed.
            "elseif" | "else" => {
                if let Some(condition) = open.last_mut() {
                    *condition = &[];
                }
            }
            "endif" => drop(open.pop()),
            "return" => {
                let ways = open.last().into_iter().flat_map(|words| words.split(|w| w == "OR"));
                found.extend(ways.filter_map(|way| match way {
                    [not, name] if not == "NOT" => Some(name.as_str()),
                    _ => None,
                }));
            }
            _ => {}
        }
    }
    for condition in open.iter().filter(|words| !words.iter().any(|word| word == "OR")) {
        found.extend(condition.split(|word| word == "AND").filter_map(|part| match part {
            [name] => Some(name.as_str()),
            _ => None,
        }));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::find;
    use crate::init::tree::tree;

    #[track_caller]
    fn check(top: &str, below: &str, expected: &str) {
        let options = "project(x)\noption(X_TESTS \"\" OFF)\noption(X_PERF \"\" OFF)\n";
        let text = format!("{options}{top}");
        let finds = find(&tree(&[("CMakeLists.txt", &text), ("perf/CMakeLists.txt", below)]));
        let setup = finds.benchmarks[0].setup.as_deref().unwrap();
        let (_, rest) = setup.split_once("=Release").unwrap();
        assert_eq!(rest.split_once(" &&").unwrap().0, expected);
    }

    #[test]
    fn a_target_is_configured_with_the_switches_it_stands_under() {
        let target = "add_executable(x_bench x.cc)";
        let both = " -DX_PERF=ON -DX_TESTS=ON";
        check("if(X_TESTS)\nadd_subdirectory(perf)\nendif()", target, " -DX_TESTS=ON");
        check(
            "add_subdirectory(perf)",
            &format!("if(X_TESTS AND X_PERF)\n{target}\nendif()"),
            both,
        );
        check(
            "if(X_PERF)\nadd_subdirectory(${PROJECT_SOURCE_DIR}/perf)\nendif()",
            &format!("if(NOT X_TESTS OR\n WIN32)\n return()\nendif()\n{target}"),
            both,
        );
    }

    #[test]
    fn what_a_condition_does_not_ask_for_stays_as_it_is() {
        let target = "add_executable(x_bench x.cc)";
        let add = "add_subdirectory(perf)";
        check(add, &format!("if(X_TESTS)\nelse()\n{target}\nendif()"), "");
        check(add, &format!("if(X_TESTS OR X_PERF)\n{target}\nendif()"), "");
        check(add, &format!("if(NOT X_TESTS)\n{target}\nendif()"), "");
        check(add, &format!("if(X_TESTS)\nendif()\nif(X_PERF)\nreturn()\nendif()\n{target}"), "");
        check(add, &format!("if(UNIX)\n{target}\nendif()"), "");
    }
}
