//! Benchmarks of airspeed velocity: a file `asv.conf.json`.

use super::tree::{Tree, base, parent};
use super::{Finds, Found, key, words};

pub(super) fn find(tree: &Tree) -> Finds {
    let mut finds = Finds::default();
    for (path, _) in tree.named("asv.conf.json") {
        let folder = parent(path);
        finds.benchmarks.push(Found {
            name: if folder.is_empty() { "asv".to_owned() } else { key(base(folder)) },
            command: words(&["python3", "-m", "asv", "run"]),
            harness: Some("asv"),
            folder: folder.to_owned(),
            // Without its description of the machine it asks the user.
            setup: Some("python3 -m asv machine --yes".to_owned()),
            tag: "asv",
            comments: vec![
                format!("benchmarks of {path}"),
                "measured with the Python and the packages that are there: what they measure has to be installed"
                    .to_owned(),
            ],
            ..Found::default()
        });
    }
    finds
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree;
    use super::*;

    #[test]
    fn a_configuration_is_one_benchmark() {
        let finds = find(&tree(&[("asv.conf.json", "{}"), ("perf/asv.conf.json", "{}")]));
        let found: Vec<(&str, &str)> =
            finds.benchmarks.iter().map(|f| (f.name.as_str(), f.folder.as_str())).collect();
        assert_eq!(found, [("asv", ""), ("perf", "perf")]);
    }
}
