//! Names cut so that they can still be told apart.

use std::collections::BTreeSet;

use crate::width::{columns, shorten, shorten_front};

/// Beginnings that are the same are worth a cut from so many columns on.
const WORTH_A_CUT: usize = 4;

/// Cuts names to `width` columns where they are longer. What all begin with goes first; else the end goes, or the
/// beginning, or the middle, whichever leaves them distinct. A cut name must not read like the beginning of another
/// one: `size=1000~` could be `size=1000` as well as `size=100000`. Names that no cut keeps apart get a number.
pub(crate) fn distinct(names: &[&str], width: usize, unicode: bool) -> Vec<String> {
    let all = |cut: &dyn Fn(&str) -> String| -> Vec<String> {
        names
            .iter()
            .map(|name| if columns(name) <= width { (*name).to_owned() } else { cut(name) })
            .collect()
    };
    if names.iter().all(|name| columns(name) <= width) {
        return all(&str::to_owned);
    }
    let common = common_beginning(names);
    let mark = if unicode { "\u{2026}" } else { "~" };
    let rest = |name: &str| format!("{mark}{}", &name[common..]);
    let is_worth = columns(&names[0][..common]) >= WORTH_A_CUT;
    if is_worth && names.iter().all(|name| columns(&rest(name)) <= width) {
        return all(&rest);
    }
    let ways: [&dyn Fn(&str) -> String; 4] = [
        &|name| shorten(name, width, unicode),
        &|name| shorten(&rest(name), width, unicode),
        &|name| shorten_front(name, width, unicode),
        &|name| in_the_middle(name, width, unicode),
    ];
    let wanted: BTreeSet<_> = names.iter().collect();
    let is_distinct = |cut: &Vec<String>| {
        cut.iter().collect::<BTreeSet<_>>().len() == wanted.len()
            && cut.iter().zip(names).all(|(cut, name)| {
                cut == name || wanted.iter().all(|&other| other == name || !fits(other, cut, mark))
            })
    };
    let skipped = usize::from(is_worth);
    let order = (skipped..ways.len()).chain(0..skipped);
    order
        .map(|way| all(ways[way]))
        .find(is_distinct)
        .unwrap_or_else(|| numbered(names, width, unicode))
}

/// Returns how many bytes all names begin with, up to the end of a word.
fn common_beginning(names: &[&str]) -> usize {
    let Some((first, others)) = names.split_first() else { return 0 };
    if others.iter().all(|other| other == first) {
        return 0;
    }
    let is_in_all = |end: usize| others.iter().all(|other| other.starts_with(&first[..end]));
    let ends_a_word = |c: char| !c.is_alphanumeric();
    let ends =
        first.char_indices().filter(|(_, c)| ends_a_word(*c)).map(|(at, c)| at + c.len_utf8());
    // Something has to be left of every name.
    let shortest = names.iter().map(|name| name.len()).min().unwrap_or(0);
    ends.filter(|&end| end < shortest).take_while(|&end| is_in_all(end)).last().unwrap_or(0)
}

/// Says whether a name could have become `cut`, in which a mark replaces any text.
fn fits(name: &str, cut: &str, mark: &str) -> bool {
    let mut parts = cut.split(mark);
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some((_, behind)) = rest.split_once(part) else { return false };
        rest = behind;
    }
    rest.ends_with(last)
}

fn in_the_middle(name: &str, width: usize, unicode: bool) -> String {
    let end = width / 2;
    let begin = width - end;
    let tail = shorten_front(name, end + 1, unicode);
    let tail: String = tail.chars().skip(1).collect();
    shorten(name, begin, unicode) + &tail
}

fn numbered(names: &[&str], width: usize, unicode: bool) -> Vec<String> {
    let cut = |name: &&str| {
        if columns(name) <= width {
            return (*name).to_owned();
        }
        let first = names.iter().position(|other| other == name).unwrap_or(0);
        let number = format!("#{}", first + 1);
        shorten(name, width.saturating_sub(columns(&number)), unicode) + &number
    };
    names.iter().map(cut).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &[&str], width: usize, expected: &[&str]) {
        let cut = distinct(names, width, false);
        assert_eq!(cut, expected);
        assert!(cut.iter().all(|name| columns(name) <= width), "{cut:?}");
    }

    #[test]
    fn what_all_begin_with_goes_first() {
        check(
            &["sort/small/1", "sort/small/2", "sort/large/1"],
            8,
            &["~small/1", "~small/2", "~large/1"],
        );
        check(&["a b", "c d"], 8, &["a b", "c d"]);
    }

    #[test]
    fn names_that_begin_differently_lose_their_end() {
        check(&["alpha of the first", "beta of the second"], 10, &["alpha of ~", "beta of t~"]);
    }

    #[test]
    fn names_that_differ_at_the_end_lose_their_beginning_or_middle() {
        check(
            &["benchmarkparsesmall", "benchmarkparselarge", "x"],
            10,
            &["~arsesmall", "~arselarge", "x"],
        );
        let names = ["one_very_long_name_a", "one_very_long_name_b", "two_very_long_name_a"];
        check(&names, 10, &["one_~ame_a", "one_~ame_b", "two_~ame_a"]);
    }

    #[test]
    fn a_cut_number_is_not_taken_for_another() {
        check(&["sort size=1000", "sort size=100000"], 15, &["sort size=1000", "~100000"]);
    }

    #[test]
    fn names_that_no_cut_keeps_apart_have_a_number() {
        let names = ["aaaaaaaaaaXaaaaaaaaaa", "aaaaaaaaaaYaaaaaaaaaa"];
        check(&names, 9, &["aaaaaa~#1", "aaaaaa~#2"]);
    }

    #[test]
    fn equal_names_stay_equal() {
        check(&["sort of everything"], 8, &["sort of~"]);
        check(&["sort of everything", "sort of everything"], 8, &["sort of~", "sort of~"]);
    }

    #[test]
    fn letters_of_several_bytes_are_not_torn() {
        check(&["größe/ä1x", "größe/ä2x"], 6, &["~ä1x", "~ä2x"]);
    }
}
