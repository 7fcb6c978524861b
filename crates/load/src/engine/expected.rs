//! Whether the body of an answer is the right one, seen in the pieces in which it comes.

use becalm_model::load::ExpectedBody;
use memchr::memmem;

/// A body that is being looked at. It keeps no more of it than what is searched for is long.
#[derive(Debug)]
pub(crate) enum Look<'a> {
    /// Any body is right.
    Any,
    /// What has come is the beginning of the text up to `at`; nothing if it is not.
    Is {
        /// The text.
        text: &'a [u8],
        /// How much of it has come.
        at: Option<usize>,
    },
    /// The text has been found, or may begin in the last bytes that came.
    Contains {
        /// The text.
        text: &'a [u8],
        /// The last bytes, fewer than the text has.
        last: Vec<u8>,
        /// Whether it was found.
        is_found: bool,
    },
}

impl<'a> Look<'a> {
    pub(crate) fn at(expected: Option<&'a ExpectedBody>) -> Self {
        match expected {
            None => Self::Any,
            Some(ExpectedBody::Is(text)) => Self::Is { text: text.as_bytes(), at: Some(0) },
            Some(ExpectedBody::Contains(text)) => Self::Contains {
                text: text.as_bytes(),
                last: Vec::new(),
                is_found: text.is_empty(),
            },
        }
    }

    /// Looks at the next bytes.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        match self {
            Self::Any | Self::Contains { is_found: true, .. } => {}
            Self::Is { text, at } => {
                let fits = |at: usize| text[at..].starts_with(bytes).then_some(at + bytes.len());
                *at = at.and_then(fits);
            }
            Self::Contains { text, last, is_found } => {
                last.extend_from_slice(bytes);
                *is_found = memmem::find(last, text).is_some();
                let superfluous = (last.len() + 1).saturating_sub(text.len());
                last.drain(..superfluous);
            }
        }
    }

    /// Says whether it was right, after its last byte.
    pub(crate) fn is_right(&self) -> bool {
        match self {
            Self::Any => true,
            Self::Is { text, at } => *at == Some(text.len()),
            Self::Contains { is_found, .. } => *is_found,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_right(expected: &ExpectedBody, pieces: &[&str]) -> bool {
        let mut look = Look::at(Some(expected));
        for piece in pieces {
            look.take(piece.as_bytes());
        }
        look.is_right()
    }

    #[test]
    fn a_body_is_a_text_to_its_last_byte() {
        let ok = ExpectedBody::Is("all ok".to_owned());
        assert!(is_right(&ok, &["all ok"]) && is_right(&ok, &["", "all", " ok"]));
        for wrong in [&["all o"][..], &["all ok", "!"], &[], &["ALL ok"], &["x", "all ok"]] {
            assert!(!is_right(&ok, wrong), "{wrong:?}");
        }
        let nothing = ExpectedBody::Is(String::new());
        assert!(is_right(&nothing, &[]) && !is_right(&nothing, &["x"]));
        assert!(Look::at(None).is_right());
    }

    #[test]
    fn a_text_is_found_across_pieces() {
        let ok = ExpectedBody::Contains("aab".to_owned());
        assert!(is_right(&ok, &["a", "aa", "b"]) && is_right(&ok, &["xaaby", "z"]));
        assert!(!is_right(&ok, &["aa", "", "ab".trim_end_matches('b')]));
        assert!(is_right(&ExpectedBody::Contains(String::new()), &[]));
    }

    proptest! {
        #[test]
        fn pieces_say_the_same_as_the_whole(
            body in "[ab]{0,20}", text in "[ab]{0,4}", cuts in proptest::collection::vec(0_usize..20, 0..4),
        ) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(body.len())).collect();
            cuts.sort_unstable();
            let ends = cuts.iter().copied().chain([body.len()]);
            let pieces: Vec<&str> = [0].into_iter().chain(cuts.iter().copied()).zip(ends)
                .map(|(from, to)| &body[from..to]).collect();
            prop_assert_eq!(is_right(&ExpectedBody::Contains(text.clone()), &pieces), body.contains(&text));
            prop_assert_eq!(is_right(&ExpectedBody::Is(text.clone()), &pieces), body == text);
        }
    }
}
