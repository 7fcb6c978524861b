//! What an article's experiment consists of, as values.

use super::condition::Condition;
use crate::workloads::Workload;

/// An article with experiments about noise.
#[derive(Debug)]
pub struct Article {
    /// Its name on the command line.
    pub name: &'static str,
    /// Who wrote it.
    pub author: &'static str,
    /// What it is called.
    pub title: &'static str,
    /// When it was published.
    pub year: u16,
    /// The machine that its figures are from.
    pub machine: &'static str,
    /// Its experiments, on a machine of this size.
    pub experiments: fn(&Size) -> Vec<Experiment>,
}

/// How large a machine is, as far as numbers of tasks depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Cores.
    pub cores: usize,
    /// CPUs that can be kept for a subject of many threads.
    pub reserved: usize,
}

/// One table: configurations that are measured in turns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Experiment {
    /// What is compared.
    pub title: String,
    /// What was run.
    pub method: String,
    /// The columns.
    pub figures: Vec<Figure>,
    /// What the figures are of.
    pub values: Values,
    /// Whether times are shown in ticks of the time-stamp counter, as the article does.
    pub in_ticks: bool,
    /// Whether the distributions are shown.
    pub histogram: bool,
    /// What is run.
    pub setups: Vec<Setup>,
    /// What is shown of it.
    pub rows: Vec<Row>,
    /// Further tables of counters.
    pub counters: Vec<CounterTable>,
}

/// How one configuration is run.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// What.
    pub workload: Workload,
    /// Iterations of a run.
    pub iterations: usize,
    /// Iterations before them.
    pub warmup: usize,
    /// Work of an iteration; `None` for the workload's own.
    pub amount: Option<u64>,
    /// Tasks at once; `None` for the workload's own.
    pub tasks: Option<usize>,
    /// Runs.
    pub runs: usize,
    /// Without these the row says nothing, and is left out.
    pub needed: Vec<Condition>,
    /// These are kept from earlier rows; the row is worth measuring without one that cannot be had.
    pub wanted: Vec<Condition>,
}

impl Setup {
    /// So many runs of so many iterations, without any condition.
    pub(super) fn new(workload: Workload, runs: usize, iterations: usize) -> Self {
        Self {
            workload,
            iterations,
            warmup: 0,
            amount: None,
            tasks: None,
            runs,
            needed: Vec::new(),
            wanted: Vec::new(),
        }
    }

    /// The same under conditions that the row is about.
    pub(super) fn with(&self, needed: &[Condition]) -> Self {
        Self { needed: needed.to_vec(), ..self.clone() }
    }

    /// The same on top of conditions of earlier rows.
    pub(super) fn on_top_of(self, wanted: &[Condition]) -> Self {
        Self { wanted: wanted.to_vec(), ..self }
    }

    /// The same with as many tasks.
    pub(super) fn tasks(&self, tasks: usize) -> Self {
        Self { tasks: Some(tasks), ..self.clone() }
    }

    /// A shorter form for trying things out: figures of it say little.
    pub(super) fn quick(&self) -> Self {
        Self {
            runs: self.runs.min(2),
            iterations: self.iterations.min(5),
            warmup: self.warmup.min(2),
            amount: self.amount.map(|amount| (amount / 50).max(1)),
            ..self.clone()
        }
    }
}

/// One row of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The configuration, in the article's words or shorter.
    pub name: String,
    /// Index of what it shows among the setups.
    pub setup: usize,
    /// Which of its tasks.
    pub task: usize,
    /// What the article states.
    pub article: Vec<(Figure, Stated)>,
}

/// A figure of an article.
#[derive(Debug, Clone, PartialEq)]
pub struct Stated {
    /// Its value; shares as fractions, times in seconds or ticks. Of a bound the bound.
    pub value: f64,
    /// The figure as the article writes it; `None` where it only follows from figures of the article.
    pub text: Option<String>,
}

impl Stated {
    /// Reads what an article writes: `99.6 us`, `< 0.5 %`, `up to 5 %`, `1,299,344`, `10 x`. `None` for
    /// anything else.
    pub(super) fn read(text: &str) -> Option<Self> {
        let words = || text.split(' ');
        let number = words().find_map(|word| word.replace(',', "").parse::<f64>().ok())?;
        let factor = match words().next_back()? {
            "s" | "x" => 1.0,
            "ms" => 1e-3,
            "us" => 1e-6,
            "ns" => 1e-9,
            "%" => 1e-2,
            last if last.ends_with(|c: char| c.is_ascii_digit()) => 1.0,
            _ => return None,
        };
        Some(Self { value: number * factor, text: Some(text.to_owned()) })
    }

    /// A value that follows from what the article states.
    pub(super) fn derived(value: f64) -> Self {
        Self { value, text: None }
    }
}

impl Row {
    /// A row that shows the first task of a setup, with figures as the article writes them.
    pub(super) fn new(name: &str, setup: usize, article: &[(Figure, &str)]) -> Self {
        let stated = article.iter().map(|&(figure, text)| {
            (figure, Stated::read(text).unwrap_or_else(|| panic!("`{text}` is not a figure")))
        });
        Self { name: name.to_owned(), setup, task: 0, article: stated.collect() }
    }

    /// The same with a figure that follows from those of the article.
    pub(super) fn with_derived(mut self, figure: Figure, value: f64) -> Self {
        self.article.push((figure, Stated::derived(value)));
        self
    }

    /// The same of another task.
    pub(super) fn of_task(self, task: usize) -> Self {
        Self { task, ..self }
    }
}

/// Counters in two configurations.
#[derive(Debug, Clone, PartialEq)]
pub struct CounterTable {
    /// What is shown of them.
    pub figure: CounterFigure,
    /// Index of the first configuration among the setups.
    pub before: usize,
    /// Index of the second.
    pub after: usize,
    /// Names of the counters, and the article's figures as it writes them.
    pub counters: Vec<(&'static str, &'static str, &'static str)>,
}

/// What is shown of counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CounterFigure {
    /// How much they differ from run to run: the standard error of the mean, relative to it.
    Spread,
    /// Their mean.
    Mean,
}

/// Which values of a setup's runs the figures are of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Values {
    /// Those of one run: the one whose CV is in the middle.
    MiddleRun,
    /// The means of the runs.
    RunMeans,
    /// All of all runs.
    #[default]
    Pooled,
}

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Figure {
    /// Arithmetic mean.
    Mean,
    /// Median.
    Median,
    /// Standard deviation.
    Deviation,
    /// Standard deviation over mean.
    Cv,
    /// The CV over that of the first row.
    RelativeCv,
    /// Smallest value.
    Minimum,
    /// Largest value.
    Maximum,
    /// Distance between the two.
    Range,
    /// How far the largest value lies above the median, over the median.
    Excess,
    /// That over that of the first row.
    RelativeExcess,
    /// CV of the smallest values of the runs.
    CvOfMinimums,
}

/// What a figure is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureUnit {
    /// Seconds, or ticks where the experiment is in ticks.
    Time,
    /// A share of 1.
    Share,
    /// A multiple.
    Times,
}

impl Figure {
    /// Returns its name in JSON.
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// Returns the title of its column.
    pub fn title(self) -> &'static str {
        self.words().1
    }

    /// Name and title.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Mean => ("mean", "mean"),
            Self::Median => ("median", "median"),
            Self::Deviation => ("standard_deviation", "sd"),
            Self::Cv => ("cv", "CV"),
            Self::RelativeCv => ("relative_cv", "CV to 1st"),
            Self::Minimum => ("minimum", "minimum"),
            Self::Maximum => ("maximum", "maximum"),
            Self::Range => ("range", "range"),
            Self::Excess => ("maximum_above_median", "max. above"),
            Self::RelativeExcess => ("relative_maximum_above_median", "above to 1st"),
            Self::CvOfMinimums => ("cv_of_minimums", "CV of min."),
        }
    }

    /// Returns what it is counted in.
    pub fn unit(self) -> FigureUnit {
        match self {
            Self::Cv | Self::CvOfMinimums | Self::Excess => FigureUnit::Share,
            Self::RelativeCv | Self::RelativeExcess => FigureUnit::Times,
            _ => FigureUnit::Time,
        }
    }
}
