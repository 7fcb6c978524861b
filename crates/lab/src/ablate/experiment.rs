//! An experiment as far as it has got, and what follows from it.

use becalm_model::ablate::{AblateRun, MitigationVerdict, Stage, Timing};

use super::analysis::{self, Paired, Ratio, Row, SAME_SPREAD};
use super::design::{Configuration, Kind, StackOrder};
use super::recommend;

/// An experiment: its stages with their runs, and what was concluded.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// How the subject is timed.
    pub timing: Timing,
    /// Confidence of the intervals, and of each family of tests together.
    pub confidence: f64,
    /// Seed of the order in each block.
    pub seed: u64,
    /// The stages that were begun, in order.
    pub stages: Vec<StageRuns>,
    /// What is recommended after the last runs; `None` where nothing demonstrably helps.
    pub recommended: Option<Recommended>,
}

/// A stage with its runs.
#[derive(Debug, Clone, PartialEq)]
pub struct StageRuns {
    /// Which stage.
    pub stage: Stage,
    /// Its configurations; the first is the reference of the others.
    pub configurations: Vec<Configuration>,
    /// Runs of finished blocks, in time order.
    pub runs: Vec<AblateRun>,
}

/// What the second stage chooses.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// The smallest stack within reach of the best.
    pub stack: Vec<usize>,
    /// The stack that had the smallest spread.
    pub best: Vec<usize>,
    /// Its spread over that of the baseline.
    pub best_ratio: f64,
    /// Whether `stack` demonstrably helps. If not, the last stage has to show it ([`Experiment::holds`]).
    pub is_demonstrated: bool,
}

/// A set of mitigations that is recommended.
#[derive(Debug, Clone, PartialEq)]
pub struct Recommended {
    /// The set.
    pub members: Vec<usize>,
    /// Where it comes from.
    pub chosen: Chosen,
}

/// What is known about one configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Its stage.
    pub stage: Stage,
    /// The configuration.
    pub configuration: Configuration,
    /// What its runs show; `None` without runs.
    pub row: Option<Row>,
    /// Its spread over that of the reference of its stage.
    pub spread: Option<Ratio>,
    /// Its mean time, likewise.
    pub time: Option<Ratio>,
}

/// Which tests have to hold together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    /// Single mitigations and stacks, all against the untuned machine.
    Tried,
    /// Parts of the chosen stack, against all of it.
    Whole,
    /// A question of its own, asked once: the last stage, and the baseline run twice.
    Alone(usize),
}

impl Experiment {
    /// Starts an experiment without runs.
    pub fn new(timing: Timing, confidence: f64, seed: u64) -> Self {
        Self { timing, confidence, seed, stages: Vec::new(), recommended: None }
    }

    /// Returns a stage that was begun.
    pub fn stage(&self, stage: Stage) -> Option<&StageRuns> {
        self.stages.iter().find(|one| one.stage == stage)
    }

    /// Returns the mitigations for the second stage. `costly` are those that take long to set up.
    pub fn stack_order(&self, costly: &[usize]) -> StackOrder {
        recommend::stack_order(&self.judged(Stage::Singly), costly)
    }

    /// Returns what the second stage chooses: of what demonstrably helps, else of what only seems to. `None` where nothing
    /// even seems to.
    pub fn chosen(&self) -> Option<Chosen> {
        let stacks = self.judged(Stage::Cumulatively);
        let demonstrated = recommend::smallest_within_reach(&stacks);
        let is_demonstrated = demonstrated.is_some();
        let stack = demonstrated.or_else(|| recommend::promising(&stacks))?.members.clone();
        let (best, best_ratio) = stacks
            .iter()
            .filter_map(|(stack, ratio)| Some((stack, ratio.as_ref()?.ratio.estimate)))
            .min_by(|one, other| one.1.total_cmp(&other.1))?;
        Some(Chosen { stack, best: best.members.clone(), best_ratio, is_demonstrated })
    }

    /// Returns the members of the chosen stack, the most important first, by what the second and the
    /// third stage saw.
    pub fn by_weight(&self, stack: &[usize]) -> Vec<usize> {
        let without: Vec<Option<Ratio>> =
            self.judged(Stage::Without).into_iter().skip(1).map(|(_, ratio)| ratio).collect();
        recommend::by_weight(stack, &self.steps(stack), &without)
    }

    /// Returns what each member of a stack added in the second stage: the spread with it and those
    /// before it over that with those before it alone.
    fn steps(&self, stack: &[usize]) -> Vec<Option<Ratio>> {
        let Some(stage) = self.stage(Stage::Cumulatively) else { return Vec::new() };
        let place = |set: &[usize]| stage.configurations.iter().position(|one| one.members == set);
        let step =
            |size: usize| self.spread_over(stage, place(&stack[..size])?, place(&stack[..=size])?);
        (0..stack.len()).map(step).collect()
    }

    /// Returns the smallest set of the fourth stage that does as well as the whole stack.
    pub fn smallest_as_good(&self, stack: &[usize]) -> Vec<usize> {
        let sets = self.judged(Stage::Fewer);
        recommend::smallest_as_good(&sets).map_or_else(|| stack.to_vec(), <[usize]>::to_vec)
    }

    /// Recommends the whole stack after all, where the last stage found the smaller set clearly less
    /// steady. Returns what is recommended.
    pub fn settled(&mut self, members: Vec<usize>, stack: &[usize]) -> Vec<usize> {
        if !self.was_thinned_too_far() {
            return members;
        }
        self.rename(Stage::Again, |kind| match kind {
            Kind::Recommended => Kind::TooFew,
            Kind::Whole => Kind::Recommended,
            kind => kind,
        });
        stack.to_vec()
    }

    /// Says whether what was chosen holds in the last stage, whose runs chose nothing. What demonstrably helped before has
    /// to be quieter again by more than [`SAME_SPREAD`]; anything else has to be shown by this stage on its own.
    ///
    /// Something useless is recommended with at most the stated error: the tests of the first two stages call it helpful
    /// with at most half of that, because the other half is for harm, and so does the one test of this stage.
    pub fn holds(&self, chosen: &Chosen) -> bool {
        let outcomes = self.outcomes();
        let own = outcomes
            .iter()
            .find(|one| one.stage == Stage::Again && one.configuration.kind == Kind::Recommended);
        match own.and_then(|one| one.spread) {
            None => chosen.is_demonstrated,
            Some(ratio) => {
                let is_quieter = ratio.ratio.estimate < 1.0 / SAME_SPREAD;
                ratio.verdict() == MitigationVerdict::Helps || chosen.is_demonstrated && is_quieter
            }
        }
    }

    /// Takes the name of a recommendation from what did not hold in the last stage.
    pub fn withdraw(&mut self) {
        self.rename(Stage::Again, |kind| match kind {
            Kind::Recommended => Kind::Unconfirmed,
            kind => kind,
        });
    }

    fn rename(&mut self, stage: Stage, kind: impl Fn(Kind) -> Kind) {
        let own = self.stages.iter_mut().filter(|one| one.stage == stage);
        for one in own.flat_map(|stage| &mut stage.configurations) {
            one.kind = kind(one.kind);
        }
    }

    /// Says whether the last stage found the thinned set clearly less steady than the whole stack.
    fn was_thinned_too_far(&self) -> bool {
        let Some(stage) = self.stage(Stage::Again) else { return false };
        let place = |kind| stage.configurations.iter().position(|one| one.kind == kind);
        let (Some(whole), Some(thinned)) = (place(Kind::Whole), place(Kind::Recommended)) else {
            return false;
        };
        let ratio = self.spread_over(stage, whole, thinned);
        ratio.is_some_and(|ratio| ratio.ratio.estimate > SAME_SPREAD)
    }

    /// Returns the spread of one configuration of a stage over that of another, as a question of its
    /// own.
    fn spread_over(&self, stage: &StageRuns, reference: usize, other: usize) -> Option<Ratio> {
        let pair = [Paired::of(&stage.runs, reference, other, self.timing)];
        analysis::spreads(&pair, self.confidence)[0]
    }

    /// Returns the configurations of a stage with their ratios as the choices between stages need
    /// them. Stacks are judged together with the single mitigations.
    fn judged(&self, stage: Stage) -> Vec<(Configuration, Option<Ratio>)> {
        let outcomes = self.outcomes().into_iter().filter(|one| one.stage == stage);
        outcomes.map(|one| (one.configuration, one.spread)).collect()
    }

    /// Returns what is known about every configuration of every stage.
    pub fn outcomes(&self) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        let mut members: Vec<(Family, usize, Paired)> = Vec::new();
        for stage in &self.stages {
            for (index, configuration) in stage.configurations.iter().enumerate() {
                let runs: Vec<&AblateRun> =
                    stage.runs.iter().filter(|run| run.configuration == index).collect();
                let at = outcomes.len();
                let family = match (stage.stage, configuration.kind) {
                    (Stage::Again, _) | (_, Kind::Control) => Family::Alone(at),
                    (Stage::Without | Stage::Fewer, _) => Family::Whole,
                    (Stage::Singly | Stage::Cumulatively, _) => Family::Tried,
                };
                if index > 0 {
                    let pair = Paired::of(&stage.runs, 0, index, self.timing);
                    members.push((family, at, pair));
                }
                outcomes.push(Outcome {
                    stage: stage.stage,
                    configuration: configuration.clone(),
                    row: analysis::row(&runs, self.timing),
                    spread: None,
                    time: None,
                });
            }
        }
        while let Some(&(family, ..)) = members.first() {
            let (together, rest): (Vec<_>, Vec<_>) =
                members.into_iter().partition(|(own, ..)| *own == family);
            members = rest;
            let (places, pairs): (Vec<usize>, Vec<Paired>) =
                together.into_iter().map(|(_, at, pair)| (at, pair)).unzip();
            let spreads = analysis::spreads(&pairs, self.confidence);
            let times = analysis::times(&pairs, self.confidence);
            for ((at, spread), time) in places.into_iter().zip(spreads).zip(times) {
                outcomes[at].spread = spread;
                outcomes[at].time = time;
            }
        }
        outcomes
    }
}
