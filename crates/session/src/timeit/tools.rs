//! From what the user names to a language and its interpreters or compilers.

use becalm_runner::timeit::Language;

use super::error::TimeitError;

/// A language with the interpreters or compilers to be used.
#[derive(Debug, PartialEq, Eq)]
pub struct Tools {
    /// The language.
    pub language: Language,
    /// One command each, the baseline first.
    pub commands: Vec<Vec<String>>,
    /// Flags of the compiler.
    pub flags: Vec<String>,
}

impl Tools {
    /// Finds out language and programs. The interpreter given with --compare-to is the baseline.
    pub fn of(
        language: Option<Language>,
        interpreter: Option<&str>,
        compare_to: Option<&str>,
        flags: &[String],
    ) -> Result<Self, TimeitError> {
        let given = |flag: &str, text: Option<&str>| text.map(|text| words(flag, text)).transpose();
        let baseline = given("--compare-to", compare_to)?;
        let own = given("--interpreter", interpreter)?;
        let guessed = own.iter().chain(&baseline).find_map(|words| Language::of_program(&words[0]));
        let language = match (language, guessed, &own) {
            (Some(language), _, _) | (None, Some(language), _) => language,
            (None, None, None) if baseline.is_none() => Language::Python,
            (None, None, _) => return Err(TimeitError::NoLanguage),
        };
        let own = match own {
            Some(words) => words,
            None => usual(language)?,
        };
        let mut compiler_flags = Vec::new();
        for text in flags {
            compiler_flags.extend(words_or_none("--flags", text)?);
        }
        if flags.is_empty() {
            let optimise = if language == Language::Rust { "-O" } else { "-O2" };
            compiler_flags.push(optimise.to_owned());
        } else if !language.is_compiled() {
            return Err(TimeitError::NoCompiler(language));
        }
        let commands = baseline.into_iter().chain([own]).collect();
        Ok(Self { language, commands, flags: compiler_flags })
    }

    /// Says whether two are compared.
    pub(super) fn is_comparison(&self) -> bool {
        self.commands.len() > 1
    }

    /// Returns what each is called in reports: its command, with a number where two are the same.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for words in &self.commands {
            let base = shell_words::join(words);
            let same = names.iter().filter(|name| **name == base).count();
            names.push(if same == 0 { base } else { format!("{base} #{}", same + 1) });
        }
        names
    }
}

/// Returns the usual program of a language, or that of the variable which names it by convention.
fn usual(language: Language) -> Result<Vec<String>, TimeitError> {
    let variable = language.program_variable();
    match variable.and_then(|name| std::env::var(name).ok().map(|text| (name, text))) {
        Some((name, text)) if !text.trim().is_empty() => words(&format!("${name}"), &text),
        _ => Ok(vec![language.program().to_owned()]),
    }
}

fn words(flag: &str, text: &str) -> Result<Vec<String>, TimeitError> {
    let words = words_or_none(flag, text)?;
    if words.is_empty() {
        return Err(TimeitError::NoProgram(flag.to_owned()));
    }
    Ok(words)
}

fn words_or_none(flag: &str, text: &str) -> Result<Vec<String>, TimeitError> {
    shell_words::split(text).map_err(|source| TimeitError::Words {
        flag: flag.to_owned(),
        text: text.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(language: Option<Language>, own: Option<&str>, to: Option<&str>, expected: &str) {
        let shown = match Tools::of(language, own, to, &[]) {
            Ok(tools) => format!("{}: {}", tools.language.name(), tools.names().join(", ")),
            Err(error) => format!("error: {error}"),
        };
        assert_eq!(shown, expected);
    }

    #[test]
    fn language_and_program_follow_from_each_other() {
        check(None, None, None, "python: python3");
        check(Some(Language::Perl), None, None, "perl: perl");
        check(None, Some("bash"), None, "sh: bash");
        check(None, Some("node --no-opt"), None, "node: node --no-opt");
        check(Some(Language::Python), Some("./mine"), None, "python: ./mine");
        check(
            None,
            Some("./mine"),
            None,
            "error: the name of the program does not show its language",
        );
        check(None, Some(" "), None, "error: --interpreter names no program");
    }

    #[test]
    fn what_is_compared_to_is_the_baseline() {
        check(None, None, Some("dash"), "sh: dash, sh");
        check(None, Some("bash"), Some("dash"), "sh: dash, bash");
        check(None, Some("bash"), Some("bash"), "sh: bash, bash #2");
    }

    #[test]
    fn flags_are_those_of_a_compiler() {
        let flags = |language, flags: &[&str]| {
            let flags: Vec<String> = flags.iter().map(ToString::to_string).collect();
            Tools::of(Some(language), None, None, &flags).map(|tools| tools.flags)
        };
        assert_eq!(flags(Language::C, &[]).unwrap(), ["-O2"]);
        assert_eq!(flags(Language::Rust, &[]).unwrap(), ["-O"]);
        assert_eq!(flags(Language::C, &["-O3 -g", "-lz"]).unwrap(), ["-O3", "-g", "-lz"]);
        assert!(flags(Language::C, &[""]).unwrap().is_empty());
        assert!(flags(Language::Perl, &["-w"]).is_err());
    }
}
