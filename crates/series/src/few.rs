//! Series in which no change can be confirmed yet.

use std::collections::HashMap;

use becalm_model::wire::TooFewValues;
use becalm_stats::changes::{Rules, fewest_values};

/// A series without a confirmed change, of so many values, under these rules.
#[derive(Debug, Clone, Copy)]
pub struct Unchanged {
    /// How many values it has.
    pub values: usize,
    /// When a change of level is one.
    pub rules: Rules,
}

/// Counts those of the series that have too few values.
pub fn too_few(series: impl IntoIterator<Item = Unchanged>) -> Option<TooFewValues> {
    // Finding it takes longer than reading a series; few series have rules of their own.
    let mut known: HashMap<u64, usize> = HashMap::new();
    let mut few: Option<TooFewValues> = None;
    for Unchanged { values, rules } in series {
        let needed =
            *known.entry(rules.boundary().to_bits()).or_insert_with(|| fewest_values(rules));
        if values < needed {
            let known = few.unwrap_or(TooFewValues { series: 0, most: 0, needed });
            few = Some(TooFewValues {
                series: known.series + 1,
                most: known.most.max(values),
                needed: known.needed.max(needed),
            });
        }
    }
    few
}
