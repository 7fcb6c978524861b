//! The tables that `asv run` prints of benchmarks with parameters.
//!
//! ```text
//! ··· ====== ========== =========      ··· ========= ==========
//!     --             kind                     n
//!     ------ --------------------          --------- ----------
//!       n       list     a tuple               10     544±50ns
//!     ====== ========== =========             100     1.30±2μs
//!       10    1.94±0μs   2.83±0μs          ========= ==========
//!     ====== ========== =========
//! ```
//!
//! A row has the first parameters; the last ones name the columns, joined by ` / `, as far as they fit the
//! terminal, and have a row each where they do not. Rules of `=` say where columns begin and end, in
//! characters. Source: `format_text_table` and `_format_benchmark_result` of asv 0.6.

use std::ops::Range;

/// One combination of parameters, in the order of the table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Combination {
    /// Values of the parameters, as in `n, kind`.
    pub(super) parameters: String,
    /// What is printed of it.
    pub(super) printed: String,
}

/// Says whether a table begins with this line, which may have something in front.
pub(super) fn begins(line: &str) -> bool {
    line.trim_end().rsplit_once("··· ").is_some_and(|(_, rest)| is_rule(rest, '='))
}

/// Reads the table of which these lines begin with the second; `None` if it has no end.
pub(super) fn read(lines: &[impl AsRef<str>]) -> Option<Vec<Combination>> {
    let mut lines = lines.iter().map(AsRef::as_ref);
    let first: &str = lines.next()?;
    // With names of columns above, a rule says how many columns are parameters of the row.
    let has_top = first.trim_start().starts_with("-- ");
    let (row_rule, labels) =
        if has_top { (Some(lines.next()?), lines.next()?) } else { (None, first) };
    let rule = lines.next()?;
    if !is_rule(rule, if has_top { '=' } else { '-' }) {
        return None;
    }
    let columns = columns(rule);
    let row_parameters = match row_rule {
        Some(row_rule) => {
            let end = self::columns(row_rule).first()?.end;
            columns.iter().take_while(|column| column.end <= end).count()
        }
        None => columns.len().checked_sub(1)?,
    };
    let mut combinations = Vec::new();
    for line in lines {
        if is_rule(line, '=') {
            return Some(combinations);
        }
        let cell = |column: &Range<usize>| within(line, column);
        let of_row: Vec<String> = columns[..row_parameters].iter().map(cell).collect();
        for column in &columns[row_parameters..] {
            let mut parameters = of_row.clone();
            if has_top {
                parameters.push(within(labels, column).replace(" / ", ", "));
            }
            combinations
                .push(Combination { parameters: parameters.join(", "), printed: cell(column) });
        }
    }
    None
}

fn is_rule(line: &str, with: char) -> bool {
    line.contains(with) && line.chars().all(|c| c == with || c.is_whitespace())
}

/// Returns where a rule has its strokes, in characters.
fn columns(rule: &str) -> Vec<Range<usize>> {
    let mut columns: Vec<Range<usize>> = Vec::new();
    for (at, _) in rule.chars().enumerate().filter(|(_, c)| !c.is_whitespace()) {
        match columns.last_mut() {
            Some(last) if last.end == at => last.end += 1,
            _ => columns.push(at..at + 1),
        }
    }
    columns
}

fn within(line: &str, column: &Range<usize>) -> String {
    let cell: String = line.chars().skip(column.start).take(column.len()).collect();
    cell.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_as(text: &str) -> Vec<(String, String)> {
        let lines: Vec<&str> = text.lines().collect();
        assert!(begins(lines[0]));
        let read = read(&lines[1..]).unwrap();
        read.into_iter().map(|one| (one.parameters, one.printed)).collect()
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
    }

    #[test]
    fn one_parameter_has_a_row_each() {
        let text = "[ 69.23%] ··· ========= ============\n\
                    \x20               a value            \n\
                    \x20             --------- ------------\n\
                    \x20                 10      544±50ns  \n\
                    \x20              1000000    24.8±4ms  \n\
                    \x20             ========= ============\n";
        assert_eq!(read_as(text), pairs(&[("10", "544±50ns"), ("1000000", "24.8±4ms")]));
    }

    #[test]
    fn the_last_parameters_name_columns() {
        let text = "[  7.69%] ··· === === ======= =========\n\
                    \x20             --           kind       \n\
                    \x20             ------- -----------------\n\
                    \x20              a   b   3 / 5   a tuple \n\
                    \x20             === === ======= =========\n\
                    \x20              1   x    5ms      n/a   \n\
                    \x20              2   x   1±2s    failed \n\
                    \x20             === === ======= =========\n";
        assert_eq!(
            read_as(text),
            pairs(&[
                ("1, x, 3, 5", "5ms"),
                ("1, x, a tuple", "n/a"),
                ("2, x, 3, 5", "1±2s"),
                ("2, x, a tuple", "failed")
            ])
        );
    }

    #[test]
    fn what_has_no_end_or_no_rule_is_none() {
        for text in ["", "--", " a\n", " a\n ---\n 1", " a b\n x y", " a\n\n===", "--  b\n---\n"] {
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(read(&lines), None, "{text}");
        }
    }
}
