//! The known word that somebody may have meant.

/// Returns the word that is nearest to `word`, if it may be a misspelling of it.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let distance = |one: &str| strsim::damerau_levenshtein(&lower, &one.to_lowercase());
    known
        .into_iter()
        .map(|one| (distance(one), one))
        .min_by_key(|(distance, _)| *distance)
        // Half of it may be wrong: `warm-ups` is meant for `warmup`, `x` for nothing.
        .filter(|(distance, one)| *distance * 2 <= one.len().max(word.len()))
        .map(|(_, one)| one)
}

/// Returns what may have been meant, or else the known words.
pub fn did_you_mean(word: &str, known: &[&str]) -> String {
    match nearest(word, known.iter().copied()) {
        Some(one) => format!("did you mean `{one}`?"),
        None => format!("the known ones are {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_told_from_another_word() {
        let known = ["command", "warmup", "tags", "env"];
        assert_eq!(nearest("comand", known), Some("command"));
        assert_eq!(nearest("warm-ups", known), Some("warmup"));
        assert_eq!(nearest("Tag", known), Some("tags"));
        assert_eq!(nearest("frobnicate", known), None);
        assert_eq!(did_you_mean("zzz", &known), "the known ones are command, warmup, tags, env");
    }
}
