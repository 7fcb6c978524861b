//! The languages that a statement can be written in.

use std::path::Path;

/// A language that a statement can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Python, also `PyPy` and others that run the same code.
    Python,
    /// JavaScript under Node.
    Node,
    /// Ruby.
    Ruby,
    /// Perl.
    Perl,
    /// The shell, by any that understands POSIX.
    Shell,
    /// C.
    C,
    /// C++.
    Cpp,
    /// Rust.
    Rust,
}

/// How much is measured of a statement unless the user says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usual {
    /// Processes.
    pub processes: u32,
    /// Values of each process.
    pub values: u32,
    /// Values before them that are not used.
    pub warmups: u32,
}

/// What the names of programs start with. Longer ones stand first: `clang++` is no `clang`.
const PREFIXES: [(&str, Language); 13] = [
    ("python", Language::Python),
    ("pypy", Language::Python),
    ("graalpy", Language::Python),
    ("node", Language::Node),
    ("ruby", Language::Ruby),
    ("perl", Language::Perl),
    ("clang++", Language::Cpp),
    ("c++", Language::Cpp),
    ("g++", Language::Cpp),
    ("clang", Language::C),
    ("gcc", Language::C),
    ("tcc", Language::C),
    ("rustc", Language::Rust),
];

/// What an interpreter calls itself that compiles while the program runs.
const JIT: [&str; 6] = ["Node", "PyPy", "GraalPy", "JIT", "truffleruby", "jruby"];

impl Usual {
    /// Returns how much is measured under interpreters that call themselves so: as pyperf does, and with more
    /// values before the first one, for fewer processes, where a compiler works while the program runs.
    pub fn of<'a>(versions: impl IntoIterator<Item = &'a str>) -> Self {
        let is_jit = |version: &str| JIT.iter().any(|name| version.contains(name));
        if versions.into_iter().any(is_jit) {
            Self { processes: 12, values: 3, warmups: 4 }
        } else {
            Self { processes: 20, values: 3, warmups: 1 }
        }
    }
}

impl Language {
    /// All of them, in the order in which they are told.
    pub const ALL: [Self; 8] = [
        Self::Python,
        Self::Node,
        Self::Ruby,
        Self::Perl,
        Self::Shell,
        Self::C,
        Self::Cpp,
        Self::Rust,
    ];

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Node => "node",
            Self::Ruby => "ruby",
            Self::Perl => "perl",
            Self::Shell => "sh",
            Self::C => "c",
            Self::Cpp => "c++",
            Self::Rust => "rust",
        }
    }

    /// Returns the language of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.name() == name)
    }

    /// Guesses the language from the name of its interpreter or compiler: `/opt/bin/python3.13t`.
    pub fn of_program(program: &str) -> Option<Self> {
        let name = Path::new(program).file_name()?.to_str()?;
        match name {
            "sh" | "bash" | "dash" | "ash" | "ksh" | "mksh" | "zsh" | "busybox" => {
                Some(Self::Shell)
            }
            "cc" => Some(Self::C),
            _ => {
                // A cross compiler has its target in front: `x86_64-linux-gnu-g++-13`.
                let holds =
                    |part: &str| name.starts_with(part) || name.contains(&format!("-{part}"));
                PREFIXES.iter().find(|(part, _)| holds(part)).map(|(_, language)| *language)
            }
        }
    }

    /// Returns the interpreter or compiler that is taken unless another one is named.
    pub fn program(self) -> &'static str {
        match self {
            Self::Python => "python3",
            Self::Node => "node",
            Self::Ruby => "ruby",
            Self::Perl => "perl",
            Self::Shell => "sh",
            Self::C => "cc",
            Self::Cpp => "c++",
            Self::Rust => "rustc",
        }
    }

    /// Returns the variable that names another compiler, by custom.
    pub fn program_variable(self) -> Option<&'static str> {
        match self {
            Self::C => Some("CC"),
            Self::Cpp => Some("CXX"),
            Self::Rust => Some("RUSTC"),
            _ => None,
        }
    }

    /// Returns the Debian package that has the program.
    pub fn package(self) -> &'static str {
        match self {
            Self::Python => "python3",
            Self::Node => "nodejs",
            Self::Ruby => "ruby",
            Self::Perl => "perl",
            Self::Shell => "dash",
            Self::C => "gcc",
            Self::Cpp => "g++",
            Self::Rust => "rustc",
        }
    }

    /// Says whether a compiler makes a program of the statement before it is measured.
    pub fn is_compiled(self) -> bool {
        matches!(self, Self::C | Self::Cpp | Self::Rust)
    }

    /// Returns what stands between two statements that were given apart.
    pub(super) fn separator(self) -> &'static str {
        match self {
            Self::Python | Self::Ruby | Self::Shell => "\n",
            Self::Node | Self::Perl | Self::C | Self::Cpp | Self::Rust => ";\n",
        }
    }

    /// Returns the name and the text of the file that becomes the worker.
    pub(super) fn worker(self) -> (&'static str, &'static str) {
        match self {
            Self::Python => ("worker.py", include_str!("workers/worker.py")),
            // Whatever a package around it says, it is no ECMAScript module.
            Self::Node => ("worker.cjs", include_str!("workers/worker.cjs")),
            Self::Ruby => ("worker.rb", include_str!("workers/worker.rb")),
            Self::Perl => ("worker.pl", include_str!("workers/worker.pl")),
            Self::Shell => ("worker.sh", include_str!("workers/worker.sh")),
            Self::C => ("worker.c", include_str!("workers/worker.c")),
            Self::Cpp => ("worker.cpp", include_str!("workers/worker.c")),
            Self::Rust => ("worker.rs", include_str!("workers/worker.rs.in")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_guessed_from_the_name_of_its_program() {
        let guessed = |program| Language::of_program(program).map(Language::name);
        assert_eq!(guessed("/opt/bin/python3.13t"), Some("python"));
        assert_eq!(guessed("pypy3"), Some("python"));
        assert_eq!(guessed("/usr/bin/nodejs"), Some("node"));
        assert_eq!(guessed("bash"), Some("sh"));
        assert_eq!(guessed("gcc-13"), Some("c"));
        assert_eq!(guessed("x86_64-linux-gnu-g++-13"), Some("c++"));
        assert_eq!(guessed("clang++"), Some("c++"));
        assert_eq!(guessed("clang-18"), Some("c"));
        assert_eq!(guessed("cc"), Some("c"));
        assert_eq!(guessed("ccache"), None);
        assert_eq!(guessed(".."), None);
    }

    #[test]
    fn what_compiles_while_it_runs_gets_more_values_to_warm_up() {
        assert_eq!(Usual::of(["CPython 3.13.2", ""]).warmups, 1);
        assert_eq!(Usual::of(["CPython 3.13.2", "PyPy 3.10.14"]).warmups, 4);
        assert_eq!(Usual::of(["ruby 3.4.1 YJIT"]).warmups, 4);
    }

    #[test]
    fn every_language_is_found_by_its_name_and_by_its_usual_program() {
        for language in Language::ALL {
            assert_eq!(Language::of_name(language.name()), Some(language));
            assert_eq!(Language::of_program(language.program()), Some(language));
        }
    }
}
