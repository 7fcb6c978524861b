use becalm_model::ablate::{
    AblateCounter, AblateMitigation, AblateRatio, AblateRecommendation, AblateRun, AblateSubject,
    Timing,
};

use super::*;

fn ratio(ratio: f64, low: f64, high: f64, p: f64) -> AblateRatio {
    AblateRatio { ratio, low, high, confidence: 0.95, p }
}

fn configuration(stage: Stage, label: &str, cv: f64, mitigations: &[&str]) -> AblateConfiguration {
    AblateConfiguration {
        stage,
        name: label.to_owned(),
        label: label.to_owned(),
        mitigations: mitigations.iter().map(ToString::to_string).collect(),
        n_runs: 3,
        mean: 400e-6,
        standard_deviation: Some(400e-6 * cv),
        cv: Some(cv),
        minimum: 390e-6,
        maximum: 900e-6,
        range: 510e-6,
        cv_of_minimums: Some(0.01),
        cv_of_means: Some(0.02),
        counters: vec![
            AblateCounter { name: "context_switches".to_owned(), mean: 12.0, cv: Some(0.0264) },
            AblateCounter { name: "cpu_migrations".to_owned(), mean: 0.0, cv: None },
        ],
        ..AblateConfiguration::default()
    }
}

fn mitigation(name: &str, popular: bool, not_tried: Option<&str>) -> AblateMitigation {
    AblateMitigation {
        name: name.to_owned(),
        summary: format!("what {name} does"),
        popular,
        not_tried: not_tried.map(ToOwned::to_owned),
    }
}

fn document() -> AblateDocument {
    let helps = AblateConfiguration {
        spread_ratio: Some(ratio(0.12, 0.09, 0.16, 1e-6)),
        time_ratio: Some(ratio(1.03, 1.02, 1.04, 0.001)),
        verdict: Some(MitigationVerdict::Helps),
        ..configuration(Stage::Singly, "fifo", 0.012, &["fifo"])
    };
    let nothing = AblateConfiguration {
        spread_ratio: Some(ratio(1.02, 0.9, 1.15, 1.0)),
        time_ratio: Some(ratio(1.0, 0.99, 1.01, 1.0)),
        verdict: Some(MitigationVerdict::Nothing),
        ..configuration(Stage::Singly, "aslr", 0.095, &["aslr"])
    };
    let again = AblateConfiguration {
        spread_ratio: Some(ratio(0.13, 0.1, 0.17, 1e-6)),
        time_ratio: Some(ratio(1.03, 1.02, 1.04, 0.001)),
        verdict: Some(MitigationVerdict::Helps),
        ..configuration(Stage::Again, "recommended", 0.012, &["fifo"])
    };
    let configurations = vec![
        configuration(Stage::Singly, "baseline", 0.093, &[]),
        helps,
        nothing,
        configuration(Stage::Again, "baseline", 0.091, &[]),
        again,
    ];
    let run = |configuration: usize, block: u32, wide: f64| AblateRun {
        configuration,
        block,
        values: vec![390e-6, 400e-6, 400e-6 + wide * f64::from(block + 1) * 1e-6],
        ..AblateRun::default()
    };
    let runs = (0..3)
        .flat_map(|block| {
            [(0, 90.0), (1, 9.0), (2, 95.0), (3, 92.0), (4, 9.5)]
                .map(|(configuration, wide)| run(configuration, block, wide))
        })
        .collect();
    AblateDocument {
        duration: 131.0,
        seed: 7,
        confidence: 0.95,
        subject: AblateSubject {
            name: "array-sum".to_owned(),
            iterations: Some(100),
            ..AblateSubject::default()
        },
        spread_of: Timing::Iterations,
        mitigations: vec![
            mitigation("fifo", true, None),
            mitigation("aslr", true, None),
            mitigation("smt", true, Some("there are no second threads")),
        ],
        configurations,
        recommendation: Some(AblateRecommendation {
            mitigations: vec!["fifo".to_owned()],
            best: vec!["fifo".to_owned()],
            best_ratio: 0.12,
            flags: vec!["--affinity".to_owned(), "none".to_owned()],
            profile: "# <profile>\n".to_owned(),
        }),
        runs,
        ..AblateDocument::default()
    }
}

#[test]
fn the_text_says_what_helps_what_does_nothing_and_what_was_not_possible() {
    let style = Style { width: 120, colour: false, unicode: true };
    insta::assert_snapshot!(ablate_text(&document(), &style, 120));
}

#[test]
fn a_plain_terminal_gets_plain_characters() {
    let text = ablate_text(&document(), &Style::PLAIN, 80);
    assert!(text.is_ascii(), "{text}");
}

#[test]
fn everything_fits_on_a_narrow_terminal() {
    let narrow = Style { width: 40, ..Style::PLAIN };
    crate::width::fits_on_forty("noise ablate", &ablate_text(&document(), &narrow, 40));
    crate::width::fits_on_forty("noise ablate --list", &ablate_list_text(&document(), &narrow));
}

#[test]
fn tables_may_be_wider_than_the_text_around_them() {
    let text = ablate_text(&document(), &Style::PLAIN, 160);
    let titles = text.lines().find(|line| line.contains("CV of means"));
    assert!(titles.is_some_and(|line| line.contains("configuration")), "{text}");
    let rows: Vec<&str> = text.lines().filter(|line| line.contains(" helps ")).collect();
    assert!(rows.iter().any(|row| row.contains("fifo") && row.contains("x 0.12")), "{text}");
    let said = text.lines().skip_while(|line| !line.starts_with("How to read"));
    assert!(said.clone().count() > 3 && said.clone().all(|line| line.len() <= 80), "{text}");
}

#[test]
fn the_baseline_run_twice_has_a_ratio_and_no_verdict() {
    let mut twice = document();
    let control = AblateConfiguration {
        spread_ratio: Some(ratio(0.8, 0.7, 0.95, 0.02)),
        ..configuration(Stage::Singly, "baseline again", 0.08, &[])
    };
    twice.configurations.insert(1, control);
    twice.runs.iter_mut().for_each(|run| run.configuration += usize::from(run.configuration > 0));
    let text = ablate_text(&twice, &Style { width: 200, ..Style::PLAIN }, 200);
    let row = text.lines().find(|line| line.contains("baseline again") && line.contains("x 0.80"));
    assert!(row.is_some_and(|row| !row.contains("0.020") && !row.contains("helps")), "{text}");
    assert!(text.contains("ratios of that size occur here by chance"), "{text}");
    twice.configurations[1].spread_ratio = Some(ratio(0.98, 0.9, 1.1, 0.7));
    let text = ablate_text(&twice, &Style { width: 200, ..Style::PLAIN }, 200);
    assert!(!text.contains("occur here by chance"), "{text}");
}

#[test]
fn without_a_recommendation_nothing_is_promised() {
    let nothing = AblateDocument { recommendation: None, ..document() };
    let text = ablate_text(&nothing, &Style::PLAIN, 80);
    assert!(text.starts_with("Nothing that was tried makes times demonstrably steadier"), "{text}");
    let broken = AblateDocument { interrupted: Some("stopped by signal 2".into()), ..document() };
    let text = ablate_text(&broken, &Style::PLAIN, 80);
    assert!(text.starts_with("Not finished: stopped by signal 2."), "{text}");
}

#[test]
fn a_recommendation_that_does_not_hold_when_measured_again_is_told_so() {
    let mut flattered = document();
    flattered.configurations[4].spread_ratio = Some(ratio(0.95, 0.7, 1.2, 0.6));
    let text = ablate_text(&flattered, &Style { width: 200, ..Style::PLAIN }, 200);
    assert!(text.contains("The effect was not confirmed."), "{text}");
    flattered.configurations[4].spread_ratio = Some(ratio(0.3, 0.07, 1.2, 0.06));
    let text = ablate_text(&flattered, &Style { width: 200, ..Style::PLAIN }, 200);
    assert!(text.contains("These blocks alone do not show the effect."), "{text}");
}

#[test]
fn harm_of_something_popular_is_said() {
    let mut harmful = document();
    harmful.configurations[2].verdict = Some(MitigationVerdict::Harms);
    harmful.configurations[2].spread_ratio = Some(ratio(1.6, 1.3, 1.9, 0.001));
    let text = ablate_text(&harmful, &Style { width: 120, ..Style::PLAIN }, 120);
    assert!(
        text.contains("aslr (what aslr does) makes times less steady: spread x 1.60"),
        "{text}"
    );
}

#[test]
fn the_list_tells_what_is_possible_and_why_the_rest_is_not() {
    insta::assert_snapshot!(ablate_list_text(&document(), &Style::PLAIN), @r"
    Possible here
      fifo  what fifo does
      aslr  what aslr does

    Not tried
      smt  there are no second threads
    ");
}

#[test]
fn the_page_has_every_part_and_escapes_what_it_shows() {
    let html = ablate_html(&document());
    assert!(html.contains("# &lt;profile&gt;") && !html.contains("<profile>"), "{html}");
    assert_eq!(html.matches("<svg").count(), 4);
    assert!(html.contains("there are no second threads"));
    let effects = html.split("<figure>").nth(1).unwrap().split("</figure>").next().unwrap();
    insta::assert_snapshot!("effects", effects);
}

#[test]
fn what_only_seemed_to_help_is_named_and_not_recommended() {
    let mut document = document();
    document.recommendation = None;
    document.configurations[4].label = "not confirmed".to_owned();
    let text = ablate_text(&document, &Style::PLAIN, 80);
    assert!(text.starts_with("Nothing that was tried makes times demonstrably steadier"), "{text}");
    assert!(text.contains("fifo seemed to, and did not when it was measured again."), "{text}");
    assert!(!text.contains("recommended "), "{text}");
}
