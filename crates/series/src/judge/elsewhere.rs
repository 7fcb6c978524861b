//! What the history knows of the same benchmarks and does not count: of another branch, machine or unit.

use std::collections::{BTreeMap, HashMap};

use becalm_model::history::{Series, SeriesId};
use becalm_model::{FactDiffers, GateNote, Note};
use becalm_store::{
    EntryFilter, NewEntry, NewPoint, SeriesFilter, Store, StoreError, fact, fingerprint,
};

/// Why values do not count. One of another branch and machine is of the other branch.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Why {
    Branch(String),
    Machine(String),
    Unit { there: String, here: String },
}

/// Says how many values there are elsewhere of what lacks values here, and what would count them.
pub(super) fn elsewhere(
    store: &mut Store,
    entry: &NewEntry,
    lacking: &[&NewPoint],
    branch: &str,
) -> Result<Vec<Note>, StoreError> {
    let split = store.split()?;
    let machine = fingerprint(&entry.facts, &split);
    let mut found: BTreeMap<Why, Vec<SeriesId>> = BTreeMap::new();
    let mut points: HashMap<What<'_>, &NewPoint> = HashMap::new();
    for point in lacking {
        let mut parameters: Vec<_> = point.parameters.iter().collect();
        parameters.sort();
        points.entry((&point.benchmark, &point.metric, parameters)).or_insert(point);
    }
    for series in store.series(&SeriesFilter::default())? {
        let key = &series.key;
        let what = (&*key.benchmark, &*key.metric, key.parameters.iter().collect());
        let why = points.get(&what).and_then(|point| why(&series, point, branch, &machine));
        if let Some(why) = why {
            found.entry(why).or_default().push(series.id);
        }
    }
    let mut notes = Vec::new();
    for (why, series) in found {
        let values = store.points(&series)?.iter().map(Vec::len).sum();
        if values == 0 {
            continue;
        }
        notes.push(match why {
            Why::Branch(other) => {
                GateNote::OfOtherBranch { values, branch: other, judged: branch.to_owned() }.into()
            }
            Why::Machine(there) => {
                let differ = differing(store, entry, &there, &split)?;
                GateNote::OfOtherMachine { values, differ }.into()
            }
            Why::Unit { there, here } => {
                GateNote::OfOtherUnit { values, unit: there, measured: here }.into()
            }
        });
    }
    Ok(notes)
}

/// Benchmark, metric and sorted parameters.
type What<'a> = (&'a str, &'a str, Vec<&'a (String, String)>);

/// Says why a series of the same benchmark and metric does not count for a point.
fn why(series: &Series, point: &NewPoint, branch: &str, machine: &str) -> Option<Why> {
    let key = &series.key;
    if key.branch != branch {
        Some(Why::Branch(key.branch.clone()))
    } else if key.fingerprint != machine {
        Some(Why::Machine(key.fingerprint.clone()))
    } else if key.unit != point.unit {
        Some(Why::Unit { there: key.unit.to_string(), here: point.unit.to_string() })
    } else {
        None
    }
}

/// Returns the facts that make another machine of it.
fn differing(
    store: &mut Store,
    entry: &NewEntry,
    there: &str,
    split: &[String],
) -> Result<Vec<FactDiffers>, StoreError> {
    let filter = EntryFilter {
        fingerprint: Some(there.to_owned()),
        limit: Some(1),
        ..EntryFilter::default()
    };
    let Some(other) = store.entries(&filter)?.pop() else { return Ok(Vec::new()) };
    let differs = |name: &String| {
        let [there, here] = [&other.facts, &entry.facts].map(|facts| fact(facts, name));
        (there != here).then(|| FactDiffers { fact: name.clone(), there, here })
    };
    Ok(split.iter().filter_map(differs).collect())
}
