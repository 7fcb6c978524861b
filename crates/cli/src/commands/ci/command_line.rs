//! The command line of a job, without secrets, in a form that can be repeated elsewhere.

/// Options with a value that have no meaning elsewhere, or are secrets.
const LEFT_OUT: [&str; 11] = [
    "--base",
    "--head",
    "--save",
    "--post",
    "--comment",
    "--junit",
    "--notify",
    "--notify-slack",
    "--export-json",
    "--export-html",
    "--export-markdown",
];

/// Options whose value is a secret.
const SECRET: [&str; 2] = ["--notify", "--notify-slack"];

/// The option whose value is `NAME=VALUE`, and the value may be anything.
const VARIABLE: &str = "--env";

/// Returns the command line that does the same elsewhere.
pub(super) fn reproduce(arguments: &[String], base: &str, head: &str) -> Vec<String> {
    let after = arguments.iter().position(|word| word == "ci").map_or(0, |at| at + 1);
    let mut words: Vec<String> =
        ["becalm", "ci", "--base", base, "--head", head].map(str::to_owned).to_vec();
    words.extend(without(&arguments[after..], &LEFT_OUT));
    words
}

/// Returns the command line in a form that may be kept: of variables for the subject, only the
/// names.
pub(super) fn without_secrets(arguments: &[String]) -> Vec<String> {
    let mut kept = without(arguments, &SECRET);
    let own = kept.iter().position(|word| word == "--").unwrap_or(kept.len());
    let hide = |value: &str| {
        let name = value.split('=').next().unwrap_or_default();
        format!("{name}=***")
    };
    for at in 0..own {
        if kept[at] == VARIABLE && at + 1 < own {
            kept[at + 1] = hide(&kept[at + 1]);
        } else if let Some(value) =
            kept[at].strip_prefix(VARIABLE).and_then(|one| one.strip_prefix('='))
        {
            kept[at] = format!("{VARIABLE}={}", hide(value));
        }
    }
    kept
}

fn without(arguments: &[String], options: &[&str]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            kept.push(word.clone());
            break;
        }
        let name = word.split('=').next().unwrap_or(word);
        if !options.contains(&name) {
            kept.push(word.clone());
        } else if name == word {
            words.next();
        }
    }
    kept.extend(words.cloned());
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn secrets_and_what_has_no_meaning_elsewhere_are_left_out() {
        let given = words(
            "--quiet ci --base main --notify https://x/s --notify-slack=https://y/s --build make --save f -- ./a --save",
        );
        assert_eq!(
            reproduce(&given, "b", "h").join(" "),
            "becalm ci --base b --head h --build make -- ./a --save"
        );
        assert_eq!(
            without_secrets(&given).join(" "),
            "--quiet ci --base main --build make --save f -- ./a --save"
        );
        let given = words("ci --env KEY=s3cret=x --env=OTHER=t0ken --env-clear -- ./a --env A=b");
        assert_eq!(
            without_secrets(&given).join(" "),
            "ci --env KEY=*** --env=OTHER=*** --env-clear -- ./a --env A=b"
        );
    }
}
