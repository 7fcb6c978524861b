//! Names as people ask for them: `*` stands for any text.

/// Says whether a name is what a pattern says, in which `*` stands for any text.
///
/// ```
/// assert!(becalm_model::fits("so*", "sort"));
/// assert!(!becalm_model::fits("so", "sort"));
/// ```
pub fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name) in [
            ("sort", "sort"),
            ("so*", "sort"),
            ("*", ""),
            ("*or*", "sort"),
            ("s*r*t", "sorrt"),
            ("*t", "sort"),
            ("s**", "s"),
        ] {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("sor", "sort"), ("so*x", "sort"), ("sort*sort", "sort"), ("*x*", "sort"), ("", "s")]
        {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
    }
}
