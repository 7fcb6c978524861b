//! Parameters: lists of values, and scans of numbers.

use becalm_model::place;
use becalm_session::MOST_SUBJECTS;

use crate::error::CommandError;

/// A name with its values.
type Parameter = (String, Vec<String>);

/// Returns the parameters of these lists, pairs of words, and scans, triples of them, each with all its values.
pub(super) fn parameters(
    lists: &[String],
    scans: &[String],
    step: f64,
) -> Result<Vec<Parameter>, CommandError> {
    let mut parameters: Vec<Parameter> = Vec::new();
    for pair in lists.chunks(2) {
        let values = pair[1].split(',').map(str::to_owned).collect();
        parameters.push((pair[0].clone(), values));
    }
    for scan in scans.chunks(3) {
        parameters.push((scan[0].clone(), range(scan, step)?));
    }
    for (index, (name, _)) in parameters.iter().enumerate() {
        if parameters[..index].iter().any(|(other, _)| other == name) {
            return Err(CommandError::usage(format!("the parameter `{name}` is given twice")));
        }
    }
    Ok(parameters)
}

fn range(scan: &[String], step: f64) -> Result<Vec<String>, CommandError> {
    let bad = |what: &str| {
        CommandError::usage(format!("--parameter-scan {} {} {}: {what}", scan[0], scan[1], scan[2]))
    };
    let number = |text: &str| text.parse::<f64>().ok().filter(|value| value.is_finite());
    let low = number(&scan[1]).ok_or_else(|| bad("the minimum is not a number"))?;
    let high = number(&scan[2]).ok_or_else(|| bad("the maximum is not a number"))?;
    if !(step.is_finite() && step > 0.0) {
        return Err(bad("--parameter-step-size must be above zero"));
    }
    if low > high {
        return Err(bad("the minimum is above the maximum"));
    }
    if (high - low) / step > MOST_SUBJECTS as f64 {
        return Err(bad("too many steps"));
    }
    // Multiples of the step, not sums of it: 0.1 added ten times is not 1.
    let most = u32::try_from(MOST_SUBJECTS).expect("a small number");
    // A millionth of a step is the rounding of decimal steps, as far as a number has so many digits.
    let finest = if low == 0.0 { 0 } else { decimals(low.abs()) };
    let most_decimals = decimals(step).max(finest) + 6;
    let decimals_of = |value: f64| {
        let before_the_point = value.abs().max(1e-300).log10().ceil();
        place((15.0 - before_the_point).max(0.0)).min(most_decimals)
    };
    Ok((0..=most)
        .map(|index| low + step * f64::from(index))
        // A thousandth of a step forgives the rounding of decimal steps.
        .take_while(|value| *value <= high + step * 1e-3)
        .map(|value| {
            let text = format!("{value:.*}", decimals_of(value));
            let text = if text.contains('.') {
                text.trim_end_matches('0').trim_end_matches('.')
            } else {
                &text
            };
            if text == "-0" { "0" } else { text }.to_owned()
        })
        .collect())
}

/// Returns how many zeros a number above zero has after its decimal point before the first other
/// digit.
fn decimals(number: f64) -> usize {
    place((-number.log10()).max(0.0))
}

#[cfg(test)]
mod tests {
    use crate::flags::MeasureFlags;
    use becalm_model::terms::{CommandLine, Terms};
    use becalm_session::subjects;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        flags: MeasureFlags,
        commands: Vec<String>,
    }

    fn check(line: &[&str]) -> Vec<String> {
        let line = Line::parse_from(std::iter::once(&"test").chain(line));
        let commands: Vec<CommandLine> = line.commands.into_iter().map(CommandLine::Line).collect();
        let mut terms = Terms::default();
        let made =
            line.flags.apply(&mut terms).and_then(|()| Ok(subjects(&commands, &terms.runs)?));
        match made {
            Ok(subjects) => {
                subjects.iter().map(|s| format!("{}: {:?}", s.name, s.command)).collect()
            }
            Err(error) => vec![format!("error: {}", error.message)],
        }
    }

    #[test]
    fn a_line_is_split_into_words_without_a_shell() {
        assert_eq!(check(&["./a 'x y' $HOME"]), [r#"./a 'x y' $HOME: ["./a", "x y", "$HOME"]"#]);
        assert_eq!(check(&["--shell", "--", "a | b"]), [r#"a | b: ["sh", "-c", "a | b"]"#]);
        assert_eq!(check(&["a | b"]), ["error: `a | b` needs a shell"]);
        for quoted in
            ["cut -d '|' f", "sort -t \";\" f", r"find . -exec wc {} \;", r#"a "\" ; \"" b"#]
        {
            assert!(!check(&[quoted])[0].starts_with("error"), "{quoted}");
        }
        assert_eq!(check(&["a 'b' > 'c'"]), ["error: `a 'b' > 'c'` needs a shell"]);
    }

    #[test]
    fn every_combination_of_parameters_is_a_subject() {
        assert_eq!(
            check(&["-L", "n", "1,2", "-P", "t", "0.1", "0.3", "-D", "0.1", "--", "x {n} {t}"])
                .len(),
            6
        );
        assert_eq!(
            check(&["-P", "n", "1", "3", "--", "x {n}"]),
            [r#"x 1: ["x", "1"]"#, r#"x 2: ["x", "2"]"#, r#"x 3: ["x", "3"]"#]
        );
    }

    #[test]
    fn a_scan_may_have_small_steps_and_go_below_zero() {
        assert_eq!(
            check(&["-P", "t", "1e-9", "3e-9", "-D", "1e-9", "--", "x {t}"]),
            [
                r#"x 0.000000001: ["x", "0.000000001"]"#,
                r#"x 0.000000002: ["x", "0.000000002"]"#,
                r#"x 0.000000003: ["x", "0.000000003"]"#
            ]
        );
        assert_eq!(
            check(&["-P", "t", "1e-9", "0.15", "-D", "0.1", "--", "x {t}"]),
            [r#"x 0.000000001: ["x", "0.000000001"]"#, r#"x 0.100000001: ["x", "0.100000001"]"#]
        );
        assert_eq!(
            check(&["-P", "n", "-1", "1", "--", "x {n}"]),
            [r#"x -1: ["x", "-1"]"#, r#"x 0: ["x", "0"]"#, r#"x 1: ["x", "1"]"#]
        );
    }

    #[test]
    fn names_are_unique() {
        assert_eq!(check(&["a", "a"]), [r#"a: ["a"]"#, r#"a #2: ["a"]"#]);
        assert_eq!(
            check(&["-n", "old", "-n", "new", "--", "a", "b"]),
            [r#"old: ["a"]"#, r#"new: ["b"]"#]
        );
        assert_eq!(check(&["-n", "x", "-n", "y", "--", "a"]), ["error: 2 names for 1 subject"]);
    }

    #[test]
    fn nonsense_parameters_are_refused() {
        assert_eq!(
            check(&["-P", "n", "3", "1", "--", "x"]),
            ["error: --parameter-scan n 3 1: the minimum is above the maximum"]
        );
        assert!(check(&["-P", "n", "0", "1e9", "--", "x"])[0].contains("too many steps"));
        assert!(check(&["-L", "n", "1", "-L", "n", "2", "--", "x"])[0].contains("given twice"));
    }
}
