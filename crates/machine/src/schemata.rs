//! Which part of a cache, or how much bandwidth of the memory, a group of resctrl has: its `schemata`.
//!
//! The kernel shows a line for each resource, with a value for each of its domains, and fills lines and
//! numbers up with spaces: `    L3:0=00ff;1=ffff`. Any part of that can be written. becalm keeps what it
//! changes on one line, `L3:0=ff MB:0=50`: what others do with other domains is not its business.
//! <https://docs.kernel.org/filesystems/resctrl.html>

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Values by resource and domain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Schemata(BTreeMap<(String, u32), String>);

impl Schemata {
    /// Reads a file, or what becalm keeps of one; `None` for a group that has nothing yet, and for what
    /// is none at all.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut text = text.to_owned();
        while text.contains("= ") {
            text = text.replace("= ", "=");
        }
        let mut values = BTreeMap::new();
        for line in text.split_whitespace() {
            let (resource, domains) = line.split_once(':')?;
            for domain in domains.split(';') {
                let (id, value) = domain.split_once('=')?;
                u64::from_str_radix(digits(value), 16).ok()?;
                values.insert((resource.to_owned(), id.parse().ok()?), value.to_owned());
            }
        }
        (!values.is_empty()).then_some(Self(values))
    }

    /// Returns the names of the resources.
    pub(crate) fn resources(&self) -> BTreeSet<&str> {
        self.0.keys().map(|(resource, _)| resource.as_str()).collect()
    }

    /// Returns the value of a domain as it is written.
    pub(crate) fn value(&self, resource: &str, domain: u32) -> Option<&str> {
        self.0.get(&(resource.to_owned(), domain)).map(String::as_str)
    }

    /// Returns the parts of a cache, one bit each.
    pub(crate) fn mask(&self, resource: &str, domain: u32) -> Option<u64> {
        u64::from_str_radix(digits(self.value(resource, domain)?), 16).ok()
    }

    /// Adds a value.
    pub(crate) fn put(&mut self, resource: &str, domain: u32, value: String) {
        self.0.insert((resource.to_owned(), domain), value);
    }

    /// Says whether nothing is in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the part that is about what `other` is about, too. A domain whose CPUs are all switched
    /// off is gone.
    pub(crate) fn about(&self, other: &Self) -> Self {
        let both = self.0.iter().filter(|(key, _)| other.0.contains_key(*key));
        Self(both.map(|(key, value)| (key.clone(), value.clone())).collect())
    }

    /// Says whether two give the same to whatever both are about.
    pub(crate) fn agrees(&self, other: &Self) -> bool {
        let (ours, theirs) = (self.about(other), other.about(self));
        let same = |(one, other): (&String, &String)| digits(one) == digits(other);
        !ours.is_empty() && ours.0.values().zip(theirs.0.values()).all(same)
    }

    /// Returns it as the kernel reads it, which refuses what does not end with a line.
    pub(crate) fn lines(&self) -> String {
        self.to_string().replace(' ', "\n") + "\n"
    }
}

impl fmt::Display for Schemata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = "";
        for ((resource, domain), value) in &self.0 {
            match before {
                "" => write!(f, "{resource}:")?,
                same if same == resource => f.write_str(";")?,
                _ => write!(f, " {resource}:")?,
            }
            write!(f, "{domain}={value}")?;
            before = resource;
        }
        Ok(())
    }
}

/// Returns the digits that count.
fn digits(value: &str) -> &str {
    let digits = value.trim_start_matches("0x").trim_start_matches('0');
    if digits.is_empty() { "0" } else { digits }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(text: &str) -> Schemata {
        Schemata::parse(text).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn what_the_kernel_fills_up_is_read_and_kept_on_one_line() {
        let shown = parsed("    L3:0=00ff;1=ffff\n    MB:0=2048;1=   8\n");
        assert_eq!(shown.to_string(), "L3:0=00ff;1=ffff MB:0=2048;1=8");
        assert_eq!(shown.lines(), "L3:0=00ff;1=ffff\nMB:0=2048;1=8\n");
        assert_eq!(parsed(&shown.to_string()), shown);
        assert_eq!((shown.mask("L3", 0), shown.value("MB", 1)), (Some(0xff), Some("8")));
        assert_eq!((shown.mask("L3", 2), shown.mask("L2", 0)), (None, None));
        // A part that is locked for one program.
        assert_eq!(parsed("L3:1=0x3").mask("L3", 1), Some(3));
        for nothing in ["", "L3:uninitialized", "L3", "L3:0=xyz", "L3:0", "rubbish"] {
            assert_eq!(Schemata::parse(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn only_what_both_are_about_counts() {
        let check = |one: &str, other: &str, expected: bool| {
            let (one, other) = (parsed(one), parsed(other));
            assert_eq!(
                (one.agrees(&other), other.agrees(&one)),
                (expected, expected),
                "{one} {other}"
            );
        };
        check("L3:0=00ff;1=ffff", "L3:0=ff", true);
        check("L3:0=00ff;1=ffff", "L3:0=ff00", false);
        check("L3:0=ff\nMB:0=50", "MB:0=50", true);
        check("L3:0=ff", "L3:1=ff", false);
        check("L3:0=ff;1=f", "L3:1=f;2=f", true);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in "[L3MB:;=0-9a-fx \n]{0,60}") {
            if let Some(known) = Schemata::parse(&text) {
                prop_assert_eq!(Schemata::parse(&known.to_string()), Some(known));
            }
        }
    }
}
