//! Replaces what varies from run to run, so that the rest of a text can be compared.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

/// What varies, and what stands for it. Order matters: a time stamp holds numbers, and a size ends
/// in letters that are units of their own.
static RULES: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    const NUMBER: &str = r"[-+]?\b\d+(?:[.,]\d+)*(?:e[-+]?\d+)?";
    let rule = |pattern: String| Regex::new(&pattern).expect("the patterns below are valid");
    vec![
        (rule(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?".into()), "[TIMESTAMP]"),
        (rule(format!(r"{NUMBER} ?%")), "[SHARE]"),
        (rule(format!(r"{NUMBER} ?(?:[kMGT]i?)?B\b")), "[SIZE]"),
        (rule(format!(r"{NUMBER} ?[kMG]?Hz\b")), "[FREQUENCY]"),
        (rule(format!(r"{NUMBER} ?(?:ns|us|µs|μs|ms|s|min|h)\b")), "[TIME]"),
        (rule(format!(r"{NUMBER} ?(?:times\b|x\b|×)")), "[RATIO]"),
    ]
});

/// Replaces times, sizes, shares, frequencies, ratios with `times` or `x`, time stamps and the
/// folder `temporary` by fixed words in brackets. Other numbers stay.
pub fn redact(text: &str, temporary: &Path) -> String {
    let mut text = text.replace(&*temporary.to_string_lossy(), "[TMP]");
    // A temporary folder behind a link also shows under its real name.
    if let Ok(real) = temporary.canonicalize() {
        text = text.replace(&*real.to_string_lossy(), "[TMP]");
    }
    for (pattern, word) in RULES.iter() {
        text = pattern.replace_all(&text, *word).into_owned();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(redact(text, Path::new("/tmp/.tmpAbc")), expected);
    }

    #[test]
    fn what_varies_becomes_a_word() {
        check("took 12.34 ms +- 0.5ms, 3s in all", "took [TIME] +- [TIME], [TIME] in all");
        check("slower by 2.1 % (-0.3% to +4%)", "slower by [SHARE] ([SHARE] to [SHARE])");
        check("1.5 GiB and 4096 B at 2.40 GHz", "[SIZE] and [SIZE] at [FREQUENCY]");
        check("2.5x as fast, 1.02 times", "[RATIO] as fast, [RATIO]");
        check("2026-11-20T23:58:26Z", "[TIMESTAMP]");
        check("wrote /tmp/.tmpAbc/work/a.json", "wrote [TMP]/work/a.json");
    }

    #[test]
    fn plain_numbers_and_words_stay() {
        check("34 rounds on CPU 3, exit code 2", "34 rounds on CPU 3, exit code 2");
        check("sha256sum of v1.2.3", "sha256sum of v1.2.3");
        check("3 subjects, 5 samples", "3 subjects, 5 samples");
    }
}
