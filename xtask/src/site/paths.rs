//! Paths inside the repository and inside the site: always relative, with `/`.

/// Returns the path that a link names, seen from the file that has it; none if it leaves the root.
pub(super) fn resolved(from: &str, link: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder(from).split('/').filter(|part| !part.is_empty()).collect();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Returns the link that leads from one file to another.
pub(super) fn relative(from: &str, to: &str) -> String {
    let folders: Vec<&str> = folder(from).split('/').filter(|part| !part.is_empty()).collect();
    let parts: Vec<&str> = to.split('/').collect();
    let shared =
        folders.iter().zip(&parts[..parts.len() - 1]).take_while(|(one, other)| one == other);
    let shared = shared.count();
    let up = std::iter::repeat_n("..", folders.len() - shared);
    up.chain(parts[shared..].iter().copied()).collect::<Vec<_>>().join("/")
}

/// Returns the name of the page that is made of a Markdown file.
pub(super) fn page(markdown: &str) -> String {
    match markdown.strip_suffix(".md") {
        Some("README") => "index.html".to_owned(),
        Some(stem) => format!("{stem}.html"),
        None => markdown.to_owned(),
    }
}

/// Splits a link into its path and its anchor.
pub(super) fn anchored(link: &str) -> (&str, Option<&str>) {
    link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)))
}

/// Whether a link leaves the repository.
pub(super) fn is_outside(link: &str) -> bool {
    link.split_once(':').is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.chars().all(|letter| letter.is_ascii_alphanumeric())
    })
}

/// Whether a file has this ending, written so.
pub(super) fn ends(file: &str, ending: &str) -> bool {
    file.rsplit_once('.').is_some_and(|(_, its)| its == ending)
}

fn folder(file: &str) -> &str {
    file.rsplit_once('/').map_or("", |(folder, _)| folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_seen_from_the_file_that_has_it() {
        assert_eq!(resolved("docs/A.md", "B.md").as_deref(), Some("docs/B.md"));
        assert_eq!(resolved("docs/A.md", "../README.md").as_deref(), Some("README.md"));
        assert_eq!(resolved("README.md", "docs/./A.md").as_deref(), Some("docs/A.md"));
        assert_eq!(resolved("README.md", "../elsewhere"), None);
    }

    #[test]
    fn a_relative_link_leads_back_to_where_it_was_made_for() {
        for (from, to) in [
            ("index.html", "docs/A.html"),
            ("docs/A.html", "index.html"),
            ("docs/A.html", "docs/B.html"),
            ("docs/deep/A.html", "docs/B.html"),
            ("docs/A.html", "docs/deep/B.html"),
        ] {
            let link = relative(from, to);
            assert_eq!(resolved(from, &link).as_deref(), Some(to), "{from} -> {link}");
        }
    }

    #[test]
    fn a_page_is_named_after_its_file_and_the_readme_is_the_start() {
        assert_eq!(page("README.md"), "index.html");
        assert_eq!(page("docs/START.md"), "docs/START.html");
    }

    #[test]
    fn a_scheme_leads_outside() {
        assert!(is_outside("https://example.org") && is_outside("mailto:a@example.org"));
        assert!(!is_outside("docs/A.md#b") && !is_outside("#b:c"));
    }
}
