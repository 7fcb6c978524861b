//! The tables of `docs/methodology/calibration.md`: how often rules are wrong, and how often they find what is there.

use becalm_stats::Rng;

use crate::fleets;
use crate::noise::{self, Noise};
use crate::pace;
use crate::redo::{self, Disturber, OnDisturbance};
use crate::rule::Rule;
use crate::table::{Table, titles};
use crate::tally::{ALPHA, MARGIN, MAXIMUM, Tally, family_false_alarms, own, percent};
use crate::trial::{Looks, Order};

/// Returns all tables as Markdown. The same seed gives the same text.
pub fn calibration_markdown(trials: u32, seed: u64) -> String {
    let mut tables = Tables { trials, seeds: Rng::new(seed) };
    let mut text = format!(
        "Each rate comes from {trials} simulated comparisons (seed {seed}), in percent, with its \
         95 % interval (Clopper and Pearson) in brackets. The stated level of all rules is 5 %.\n\n"
    );
    let all = [
        models(),
        tables.false_alarms(),
        tables.equivalence(),
        tables.power(),
        tables.other_rules(),
        tables.families(),
        tables.schedules(),
        disturbers(),
        tables.redone(),
        pace::models(),
        pace::table(trials, seed),
        fleets::table(trials, seed),
    ];
    text += &all.each_ref().map(Table::markdown).join("\n");
    text
}

fn models() -> Table {
    let rows = noise::ALL
        .iter()
        .map(|noise| vec![noise.name.to_owned(), noise.description.to_owned()])
        .collect();
    Table {
        title: "Noise models".to_owned(),
        explanation: "Percentages are of the value; a run is one process.".to_owned(),
        header: titles(&["noise", "what it does"]),
        rows,
    }
}

fn disturbers() -> Table {
    let rows =
        with_one_sided().map(|one| vec![one.name.to_owned(), one.description.to_owned()]).collect();
    Table {
        title: "Disturbance models".to_owned(),
        explanation:
            "On top of independent noise of 1 %, unless another is named. Evidence scatters by \
                      one unit, and shows 5 to 50 where something happened."
                .to_owned(),
        header: titles(&["disturbances", "what they do"]),
        rows,
    }
}

fn with_one_sided() -> impl Iterator<Item = Disturber> {
    redo::ALIKE.into_iter().chain([redo::ONE_SIDED])
}

/// Fills tables, each cell with a seed of its own.
struct Tables {
    trials: u32,
    seeds: Rng,
}

impl Tables {
    fn tally(&mut self, rule: &Rule, noise: &Noise, ratio: f64) -> Tally {
        Tally::of(rule, noise, ratio, self.trials, self.seeds.next_u64())
    }

    fn false_alarms(&mut self) -> Table {
        let rules = own_rules();
        let rows = noise::ALL
            .iter()
            .map(|noise| {
                let cells = rules.iter().map(|rule| self.tally(rule, noise, 1.0).different());
                named(noise, cells.map(percent).collect())
            })
            .collect();
        Table {
            title: "False alarms".to_owned(),
            explanation: "Share of comparisons of equal programs that say `faster` or `slower`."
                .to_owned(),
            header: titles(&[
                "noise",
                "17 rounds",
                "34 rounds",
                "sequential",
                "sequential, margin 1 %",
            ]),
            rows,
        }
    }

    fn equivalence(&mut self) -> Table {
        let rule = own(Looks::sequential(MAXIMUM, MARGIN, ALPHA, 1));
        let rows = noise::ALL
            .iter()
            .map(|noise| {
                let cells = [1.0, 1.0 + MARGIN, 1.02].map(|ratio| {
                    let tally = self.tally(&rule, noise, ratio);
                    percent(tally.rate(tally.equivalent))
                });
                named(noise, cells.to_vec())
            })
            .collect();
        Table {
            title: "Equivalent".to_owned(),
            explanation: "Share of sequential comparisons with a margin of 1 % that say \
                          `equivalent`, by the true ratio: right at 1, and an error from 1.01 on."
                .to_owned(),
            header: titles(&["noise", "1 (right)", "1.01 (the edge)", "1.02 (wrong)"]),
            rows,
        }
    }

    fn power(&mut self) -> Table {
        let mut rules = own_rules();
        rules.push(Rule::TrimmedT { rounds: 17 });
        let mut rows = Vec::new();
        for noise in [noise::INDEPENDENT, noise::CORRELATED_95, noise::SPIKES] {
            for ratio in [1.01, 1.02, 1.05] {
                let mut row = vec![noise.name.to_owned(), ratio.to_string()];
                let (mut wrong, mut rounds) = (0, Vec::new());
                for rule in &rules {
                    let tally = self.tally(rule, &noise, ratio);
                    row.push(percent(tally.rate(tally.above)));
                    if let Rule::Becalm(..) = rule {
                        wrong = wrong.max(tally.below);
                        rounds.push(format!("{:.0}", tally.mean_rounds()));
                    }
                }
                let trials = Tally { trials: u64::from(self.trials), ..Tally::default() };
                row.push(percent(trials.rate(wrong)));
                row.push(rounds[2..].join(", "));
                rows.push(row);
            }
        }
        Table {
            title: "Power".to_owned(),
            explanation: "Share of comparisons that say `slower` where the candidate is slower by \
                          so much, the largest share among becalm's columns that says `faster`, \
                          and the mean rounds of the two sequential columns."
                .to_owned(),
            header: titles(&[
                "noise",
                "true ratio",
                "17 rounds",
                "34 rounds",
                "sequential",
                "sequential, margin 1 %",
                "trimmed t, 17 rounds",
                "wrong side",
                "mean rounds",
            ]),
            rows,
        }
    }

    fn other_rules(&mut self) -> Table {
        let rules = [
            Rule::TrimmedT { rounds: 17 },
            Rule::Welch { runs: 17 },
            Rule::MannWhitney { runs: 17 },
            Rule::Hyperfine { runs: 17 },
        ];
        let mut rows = Vec::new();
        for (ratio, noises) in [(1.0, &noise::ALL[..]), (1.02, &noise::ALL[..1])] {
            for noise in noises {
                let cells = rules.iter().map(|rule| {
                    let tally = self.tally(rule, noise, ratio);
                    percent(if ratio > 1.0 { tally.rate(tally.above) } else { tally.different() })
                });
                let mut row = named(noise, cells.collect());
                if ratio > 1.0 {
                    row[0] += " (found at 1.02)";
                }
                rows.push(row);
            }
        }
        Table {
            title: "False alarms of other rules".to_owned(),
            explanation:
                "17 runs of each of two equal programs: the trimmed t test on rounds \
                          (in turns); the others on all runs of one and then all of the other, as most tools measure. hyperfine prints `ratio +- deviation`; the column counts how often that range excludes 1. The last row is their power."
                    .to_owned(),
            header: titles(&["noise", "trimmed t", "Welch", "Mann-Whitney", "hyperfine"]),
            rows,
        }
    }

    fn families(&mut self) -> Table {
        let noises = [noise::INDEPENDENT, noise::CORRELATED_95, noise::SPIKES, noise::BIMODAL];
        let plan = Looks::sequential(MAXIMUM, 0.0, ALPHA, 2);
        let rows = noises
            .iter()
            .map(|noise| {
                let seed = self.seeds.next_u64();
                let rate = family_false_alarms(noise, &plan, 2, self.trials, seed);
                named(noise, vec![percent(rate)])
            })
            .collect();
        Table {
            title: "False alarms of three programs".to_owned(),
            explanation: "Share of sequential sessions with a baseline and two equal candidates \
                          that call either of them different (Holm's correction)."
                .to_owned(),
            header: titles(&["noise", "sequential"]),
            rows,
        }
    }

    fn schedules(&mut self) -> Table {
        // The differences are small and these trials cheap.
        let trials = 5 * self.trials;
        let orders = [Order::Schedule, Order::Mirrored, Order::Coin];
        let noises =
            [noise::INDEPENDENT, noise::CORRELATED_5, noise::CORRELATED_95, noise::POSITION];
        let mut rows = Vec::new();
        for noise in &noises {
            for rounds in [8, 17] {
                let cells = orders.map(|order| {
                    let rule = Rule::Becalm(Looks::fixed(rounds, 0.0, ALPHA), order);
                    percent(Tally::of(&rule, noise, 1.0, trials, self.seeds.next_u64()).different())
                });
                let mut row = named(noise, cells.to_vec());
                row.insert(1, rounds.to_string());
                rows.push(row);
            }
        }
        Table {
            title: "False alarms by schedule".to_owned(),
            explanation: format!(
                "The same rule on rounds in becalm's order (blocks of eight rounds, four of each \
                 order), in mirrored pairs (ABBA or BAAB), and by a coin for every round; {trials} \
                 trials each."
            ),
            header: titles(&["noise", "rounds", "becalm", "mirrored pairs", "coin"]),
            rows,
        }
    }
}

impl Tables {
    fn redone(&mut self) -> Table {
        let plans = [Looks::fixed(17, 0.0, ALPHA), Looks::sequential(MAXIMUM, 0.0, ALPHA, 1)];
        let policies = [OnDisturbance::Keep, OnDisturbance::Redo];
        let rows = with_one_sided()
            .map(|one| {
                let mut row = vec![one.name.to_owned()];
                for plan in &plans {
                    for policy in policies {
                        let trials = (self.trials, self.seeds.next_u64());
                        let tally = Tally::disturbed(&one, policy, plan, 1.0, trials);
                        row.push(percent(tally.different()));
                    }
                }
                // The same machine for both.
                let seed = self.seeds.next_u64();
                let widths = policies.map(|policy| one.width(&plans[0], policy, self.trials, seed));
                row.extend(widths.map(|(width, _)| format!("{:.2}", 100.0 * width.exp_m1())));
                row.push(format!("{:.1}", widths[1].1));
                row
            })
            .collect();
        Table {
            title: "False alarms with disturbed rounds repeated".to_owned(),
            explanation: "Share of comparisons of equal programs that say `faster` or `slower`, with \
                          `--on-disturbance keep` and `redo`; the mean noise floor (half the interval) \
                          after 17 rounds that are kept, in percent, and the rounds that `redo` discarded \
                          for them. The last row is what the rule is not made for: evidence that speaks of \
                          one of two equal programs only."
                .to_owned(),
            header: titles(&[
                "disturbances",
                "17, keep",
                "17, redo",
                "sequential, keep",
                "sequential, redo",
                "floor, keep",
                "floor, redo",
                "discarded",
            ]),
            rows,
        }
    }
}

/// Returns becalm's rule as the columns of the tables have it.
fn own_rules() -> Vec<Rule> {
    vec![
        own(Looks::fixed(17, 0.0, ALPHA)),
        own(Looks::fixed(34, 0.0, ALPHA)),
        own(Looks::sequential(MAXIMUM, 0.0, ALPHA, 1)),
        own(Looks::sequential(MAXIMUM, MARGIN, ALPHA, 1)),
    ]
}

fn named(noise: &Noise, cells: Vec<String>) -> Vec<String> {
    std::iter::once(noise.name.to_owned()).chain(cells).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_complete_and_their_seed_decides_them() {
        let text = calibration_markdown(3, 1);
        assert_eq!(text.matches("\n### ").count(), 12);
        assert!(noise::ALL.iter().all(|noise| text.matches(noise.name).count() >= 4));
        assert!(text == calibration_markdown(3, 1) && text != calibration_markdown(3, 2));
    }

    #[test]
    fn a_table_has_as_many_cells_in_every_row() {
        let text = calibration_markdown(2, 1);
        let cells = |line: &str| line.matches('|').count();
        let lines: Vec<&str> = text.lines().collect();
        for pair in lines.windows(2) {
            if pair.iter().all(|line| line.starts_with('|')) {
                assert_eq!(cells(pair[0]), cells(pair[1]), "{pair:?}");
            }
        }
    }
}
