//! Choices between a few words, which are the same in JSON and in reports.

/// Gives a choice the words that it has in JSON.
macro_rules! words {
    ($($type:ident { $($variant:ident = $word:literal),+ })+) => {
        $(
            impl $type {
                /// Returns the word for it, as in JSON.
                pub fn name(self) -> &'static str {
                    match self {
                        $(Self::$variant => $word),+
                    }
                }
            }

            impl std::fmt::Display for $type {
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str(self.name())
                }
            }
        )+

        #[cfg(test)]
        #[test]
        fn a_choice_has_the_same_word_in_json() {
            $($(
                let json = serde_json::to_string(&$type::$variant).unwrap();
                assert_eq!(json, format!("\"{}\"", $word));
                assert_eq!(serde_json::from_str::<$type>(&json).unwrap(), $type::$variant);
            )+)+
        }
    };
}

pub(crate) use words;
