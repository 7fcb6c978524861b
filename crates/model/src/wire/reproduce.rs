//! What `becalm noise reproduce ARTICLE --json` prints.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The experiments of an article, repeated on this machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReproduceDocument {
    /// `becalm/noise-reproduce/1`.
    pub schema: String,
    /// Whose experiments they are.
    pub article: ArticleDocument,
    /// Whether fewer and shorter runs were made than the article's experiment needs (`--quick`).
    pub quick: bool,
    /// What ended it before its time; absent if nothing did. Rows with too few runs by then are
    /// left out, and experiments that were not begun are not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupted: Option<String>,
    /// Facts about this machine, as in a record.
    pub machine: BTreeMap<String, String>,
    /// The experiments, in the article's order.
    pub experiments: Vec<ExperimentDocument>,
}

/// Where experiments come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArticleDocument {
    /// Its name on the command line.
    pub name: String,
    /// Who wrote it.
    pub author: String,
    /// What it is called.
    pub title: String,
    /// When it was published.
    pub year: u16,
    /// The machine that its figures are from.
    pub machine: String,
}

/// One table of an article.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExperimentDocument {
    /// What is compared.
    pub title: String,
    /// What was run, how often, and what the figures are of.
    pub method: String,
    /// The columns: figures, or two configurations.
    pub figures: Vec<FigureDocument>,
    /// Whether the rows are counters and the columns configurations. Otherwise it is the other way round.
    #[serde(default)]
    pub counters: bool,
    /// The rows.
    pub rows: Vec<ReproducedRow>,
    /// Whether the distributions are part of the comparison.
    pub histogram: bool,
    /// What else the machine did during the runs; absent if the kernel does not say it, and for
    /// tables that are of the runs of another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadDocument>,
    /// Where the figures here say the opposite of the article's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contradictions: Vec<ContradictionDocument>,
}

/// What else the machine did during the runs of an experiment, as shares of the time of their CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadDocument {
    /// What other programs used: the median over the runs.
    pub others: f64,
    /// The same in the run in which it was the most.
    pub most: f64,
    /// What the hypervisor took: the median over the runs.
    pub stolen: f64,
}

/// A figure that changed here in the other direction than in the article.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContradictionDocument {
    /// Title of the figure, or name of the counter.
    pub figure: String,
    /// The configuration that is compared with.
    pub from: String,
    /// The configuration that contradicts.
    pub to: String,
    /// The article's figure of `to` over that of `from`.
    pub article: f64,
    /// The same here.
    pub here: f64,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FigureDocument {
    /// Stable name: `cv`, `mean` ...
    pub name: String,
    /// Title of the column.
    pub title: String,
    /// `s`, `ticks` (of the time-stamp counter), `share` (1 is 100 %), `times`, `count` or `bytes`.
    pub unit: String,
}

/// A row of a table: the article's figures and this machine's, by name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReproducedRow {
    /// The configuration.
    pub name: String,
    /// What the article states, and what follows from that. Empty where it states no figure. Of a bound
    /// the bound.
    pub article: BTreeMap<String, f64>,
    /// What the article states, as it writes it: `2.70 us`, `< 0.5 %`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stated: BTreeMap<String, String>,
    /// What was measured here. Empty for a row that was left out.
    pub here: BTreeMap<String, f64>,
    /// Why the row was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
    /// What differs from the article's configuration, as sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Seconds of every iteration of every run, in time order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<Vec<f64>>,
}
