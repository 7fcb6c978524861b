//! Where the flags of a harness belong in a command line.

/// A command line with what a harness needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Invocation {
    /// Program and arguments.
    pub words: Vec<String>,
    /// Variables to set.
    pub environment: Vec<(String, String)>,
}

/// Puts `early` right behind the part of the command that names the benchmarks' program, without what the
/// user gives otherwise, and `late` at the end, so that the results go where becalm reads them.
pub(super) fn with_flags(command: &[String], early: &[String], late: &[String]) -> Vec<String> {
    let split = program_length(command);
    let mut words: Vec<String> = command[..split].to_vec();
    let rest = &command[split..];
    let early: Vec<String> =
        not_given(early, rest).into_iter().filter(|flag| !runner_gives(command, flag)).collect();
    // What stands behind `--` goes to the program that cargo starts.
    if is(command, 0, "cargo") && !command.iter().any(|word| word == "--") {
        words.extend_from_slice(rest);
        words.push("--".to_owned());
        words.extend(early);
    } else {
        words.extend(early);
        words.extend_from_slice(rest);
    }
    words.extend_from_slice(late);
    words
}

/// Returns the flags that are not among the words of the user, with their values: some harnesses take the last of
/// two that are the same, others refuse them.
fn not_given(flags: &[String], given: &[String]) -> Vec<String> {
    // What stands behind these goes to another program.
    let end = given.iter().position(|word| word == "--" || word == "-args");
    let given = &given[..end.unwrap_or(given.len())];
    let name = |word: &str| word.split('=').next().unwrap_or_default().to_owned();
    let is_flag = |word: &str| word.starts_with('-');
    flags
        .chunk_by(|_, next| !is_flag(next))
        .filter(|flag| !given.iter().any(|word| is_flag(word) && name(word) == name(&flag[0])))
        .flatten()
        .cloned()
        .collect()
}

/// Says whether a program that starts the harness gives it this flag itself: criterion and libtest refuse it twice.
fn runner_gives(command: &[String], flag: &str) -> bool {
    flag == "--bench" && is(command, 0, "cargo") && cargo_subcommand(command) == Some("bench")
}

/// Returns what cargo is told to do: `cargo +nightly --config x bench` benches.
fn cargo_subcommand(command: &[String]) -> Option<&str> {
    let mut words = command.iter().map(String::as_str).skip(1);
    while let Some(word) = words.next() {
        match word {
            "--config" | "--color" | "-C" | "-Z" => drop(words.next()),
            word if word.starts_with(['-', '+']) => {}
            word => return Some(word),
        }
    }
    None
}

/// Returns how many words start the program: `java -jar x.jar` is one, and so is `python3 x.py`.
fn program_length(command: &[String]) -> usize {
    let after = |word: &str| command.iter().position(|one| one == word).map(|at| at + 1);
    let first = command.first().map_or("", |word| base_name(word));
    let length = match first {
        "cargo" => after("--").or(Some(command.len())),
        "java" => after("-jar").map(|at| at + 1).or_else(|| after("org.openjdk.jmh.Main")),
        "go" => after("test"),
        // A flag in front of `bench` would take it for its value.
        "vitest" | "npx" | "pnpm" | "yarn" | "bunx" => after("bench"),
        // `python3 -m pyperf timeit` has a command of its own behind the module.
        _ if is_python(first) && command.iter().any(|word| word == "-m") => after("-m").map(|at| {
            let has_command = is(command, at, "pyperf") || is(command, at, "asv");
            at + 1 + usize::from(has_command)
        }),
        // `node vitest.mjs bench`
        "node" | "bun" | "deno" => after("bench").or_else(|| script(command)),
        "asv" => after("run"),
        _ => script(command),
    };
    length.unwrap_or(1).clamp(1, command.len().max(1))
}

/// Returns the place behind the script that an interpreter is given; `None` if it is no interpreter.
pub(super) fn script(command: &[String]) -> Option<usize> {
    let first = base_name(command.first()?);
    let is_interpreter =
        is_python(first) || matches!(first, "node" | "bun" | "deno" | "dotnet" | "sh" | "bash");
    if !is_interpreter {
        return None;
    }
    // The first word that is no flag, nor the value of one.
    let mut words = command.iter().enumerate().skip(1);
    while let Some((at, word)) = words.next() {
        match word.as_str() {
            "-X" | "-W" | "--import" | "--require" | "-r" => drop(words.next()),
            "run" => {}
            flag if flag.starts_with('-') => {}
            _ => return Some(at + 1),
        }
    }
    None
}

fn is_python(name: &str) -> bool {
    name.starts_with("python") || name.starts_with("pypy")
}

pub(super) fn is(command: &[String], at: usize, name: &str) -> bool {
    command.get(at).is_some_and(|word| base_name(word) == name)
}

pub(super) fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(command: &str, expected: &str) {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let found = with_flags(&words(command), &words("-e 1"), &words("-l 2"));
        assert_eq!(found.join(" "), expected);
    }

    #[test]
    fn flags_stand_behind_the_program_that_takes_them() {
        check("./bench --x", "./bench -e 1 --x -l 2");
        check("java -Xmx1g -jar b.jar Sort", "java -Xmx1g -jar b.jar -e 1 Sort -l 2");
        check("java @x org.openjdk.jmh.Main A", "java @x org.openjdk.jmh.Main -e 1 A -l 2");
        check("asv run -v", "asv run -e 1 -v -l 2");
        check("python3 -m asv run -v", "python3 -m asv run -e 1 -v -l 2");
        check("python3 -m pytest tests", "python3 -m pytest -e 1 tests -l 2");
        check("python3 -X dev bench.py --x", "python3 -X dev bench.py -e 1 --x -l 2");
        check("python3 -m pyperf timeit 1+1", "python3 -m pyperf timeit -e 1 1+1 -l 2");
        check("go test ./sort", "go test -e 1 ./sort -l 2");
        check("cargo bench --bench sort", "cargo bench --bench sort -- -e 1 -l 2");
        check("cargo bench -- --x", "cargo bench -- -e 1 --x -l 2");
        check("npx vitest bench sort", "npx vitest bench -e 1 sort -l 2");
        check("./vitest bench sort", "./vitest bench -e 1 sort -l 2");
        check("node vitest.mjs bench", "node vitest.mjs bench -e 1 -l 2");
        check("node --import tsx b.ts", "node --import tsx b.ts -e 1 -l 2");
        check("bun run b.ts", "bun run b.ts -e 1 -l 2");
        check("sh bench.sh --x", "sh bench.sh -e 1 --x -l 2");
    }

    #[test]
    fn what_the_runner_gives_is_not_given_twice() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let given = |command: &str| with_flags(&words(command), &words("--bench -e 1"), &[]);
        for (command, expected) in [
            ("cargo bench --bench sort", "cargo bench --bench sort -- -e 1"),
            ("/bin/cargo +nightly bench", "/bin/cargo +nightly bench -- -e 1"),
            ("cargo --config test bench -- --x", "cargo --config test bench -- -e 1 --x"),
            // It does so for `bench` alone.
            ("cargo test --bench bench", "cargo test --bench bench -- --bench -e 1"),
            ("target/release/deps/sort-1", "target/release/deps/sort-1 --bench -e 1"),
        ] {
            assert_eq!(given(command).join(" "), expected);
        }
    }

    #[test]
    fn what_the_user_gives_is_not_given_twice() {
        check("./bench -e 5", "./bench -e 5 -l 2");
        check("./bench -e=5 e", "./bench -e=5 e -l 2");
        check("./bench --e 5 -ee", "./bench -e 1 --e 5 -ee -l 2");
        check("go test ./... -args -e 9", "go test -e 1 ./... -args -e 9 -l 2");
        // That one is of cargo.
        check("cargo bench -e", "cargo bench -e -- -e 1 -l 2");
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let flags = words("-f 1 -wi 5 --quiet --time=3 -k a");
        assert_eq!(not_given(&flags, &words("-wi 9 --time 4 k")).join(" "), "-f 1 --quiet -k a");
    }
}
