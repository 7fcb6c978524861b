//! An article's tables beside this machine's.

use std::collections::BTreeMap;

use becalm_model::Unit;
use becalm_model::wire::{
    ContradictionDocument, ExperimentDocument, FigureDocument, LoadDocument, ReproduceDocument,
};

use super::figures::{number, times};
use super::reproduced as pictures;
use super::side_by_side::side_by_side;
use crate::page::{ELSEWHERE, Page};
use crate::quantity::percent;
use crate::style::{Role, Style};
use crate::table::{Align, Cell, Table};

/// Returns every table of these articles with the article's figures above this machine's, and what was skipped.
pub fn reproduce_text(documents: &[ReproduceDocument], style: &Style) -> String {
    report(documents, style).finish()
}

/// Writes the same as a web page, made by this version of becalm.
pub fn reproduce_html(documents: &[ReproduceDocument], version: &str) -> String {
    report(documents, &ELSEWHERE).html(version)
}

/// Writes the same as Markdown.
pub fn reproduce_markdown(documents: &[ReproduceDocument]) -> String {
    report(documents, &ELSEWHERE).markdown()
}

fn report<'a>(documents: &[ReproduceDocument], style: &'a Style) -> Page<'a> {
    let mut page = Page::new(style);
    let mut n = 0;
    for document in documents {
        article(&mut page, document, n);
        n += document.experiments.len();
    }
    page
}

/// Writes an article, after so many experiments of others.
fn article(page: &mut Page<'_>, document: &ReproduceDocument, before: usize) {
    page.gap();
    let article = &document.article;
    let heading = format!("{}: {} ({})", article.author, article.title, article.year);
    page.say_as(Role::Heading, &heading);
    page.gap();
    page.labelled("article", 7, &article.machine);
    page.labelled("here", 7, &machine(&document.machine));
    if document.quick {
        page.gap();
        page.say_as(
            Role::Warning,
            "Quick: the runs are so few and so short that the figures of this machine mean \
             nothing.",
        );
    }
    if let Some(why) = &document.interrupted {
        page.gap();
        page.say_as(
            Role::Warning,
            &format!("Not finished: {why}. This is what was measured until then."),
        );
    }
    for (n, experiment) in document.experiments.iter().enumerate() {
        one(page, experiment, before + n);
    }
}

/// The facts that say what kind of machine this is.
fn machine(facts: &BTreeMap<String, String>) -> String {
    let known = |key: &str| facts.get(key).cloned();
    let parts = [
        known("cpu_model"),
        known("cpu_online").map(|cpus| format!("CPUs {cpus}")),
        known("virtualisation").filter(|kind| kind != "none").map(|kind| format!("under {kind}")),
        known("kernel_release").map(|release| format!("Linux {release}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Writes one experiment; `n` is its number on the page.
fn one(page: &mut Page<'_>, experiment: &ExperimentDocument, n: usize) {
    page.section(&experiment.title);
    page.say(&format!("{}.", experiment.method));
    page.gap();
    page.table(&table(experiment, page.style));
    if experiment.histogram {
        let samples: Vec<(&str, Vec<f64>)> = experiment
            .rows
            .iter()
            .map(|row| (row.name.as_str(), row.runs.concat()))
            .filter(|(_, values)| !values.is_empty())
            .collect();
        page.gap();
        let picture = pictures::distributions(experiment, n);
        page.drawn_or(&side_by_side(&samples, &Unit::Second, page.style), picture);
    }
    if let Some(picture) = pictures::figures(experiment, n) {
        page.picture(picture);
    }
    caveats(page, experiment);
    let left_out = grouped(experiment.rows.iter().filter_map(|row| {
        let why = row.left_out.as_ref()?;
        Some((row.name.as_str(), why.as_str()))
    }));
    remarks(page, "Skipped here", &left_out);
    let notes = experiment.rows.iter().flat_map(|row| {
        let is_measured = row.left_out.is_none();
        row.notes.iter().filter(move |_| is_measured).map(|note| (row.name.as_str(), note.as_str()))
    });
    remarks(page, "Differences", &grouped(notes));
}

/// Share of the CPUs from which the load of others determines the figures.
const BUSY: f64 = 0.05;

/// Says what else the machine did, and where the figures contradict the article.
fn caveats(page: &mut Page<'_>, experiment: &ExperimentDocument) {
    if let Some(LoadDocument { others, most, stolen }) = experiment.load {
        page.gap();
        let stolen_too = if stolen >= 0.005 {
            format!("; the hypervisor took {}", percent(stolen))
        } else {
            String::new()
        };
        let load = format!(
            "Meanwhile other programs used {} of these CPUs (median over the runs, at most {}){stolen_too}.",
            percent(others),
            percent(most)
        );
        if others.max(stolen) >= BUSY {
            page.say_as(
                Role::Warning,
                &format!(
                    "{load} This machine was busy, so its figures include the effect of that load."
                ),
            );
        } else {
            page.say(&load);
        }
    }
    if experiment.contradictions.is_empty() {
        return;
    }
    page.gap();
    page.say("These figures contradict the article:");
    for ContradictionDocument { figure, from, to, article, here } in &experiment.contradictions {
        let verb = if *here > 1.0 { "rose" } else { "fell" };
        page.item(&format!(
            "{figure} {verb} to {} here from \"{from}\" to \"{to}\", and to {} in the article",
            times(*here),
            times(*article)
        ));
    }
}

fn table(experiment: &ExperimentDocument, style: &Style) -> Table {
    let titles = experiment.figures.iter().map(|figure| (title(figure), Align::Right));
    let of_rows = if experiment.counters { "counter" } else { "configuration" };
    let first = [(of_rows.to_owned(), Align::Left), (String::new(), Align::Left)];
    let mut table = Table::new(first.into_iter().chain(titles));
    for row in &experiment.rows {
        let mut name = row.name.as_str();
        if !row.article.is_empty() {
            let shown = |figure: &FigureDocument| match row.stated.get(&figure.name) {
                Some(stated) => Some(stated_text(stated, style)),
                None => Some(number(*row.article.get(&figure.name)?, &figure.unit, style)),
            };
            table.push(line(name, "article", experiment.figures.iter().map(shown)));
            name = "";
        }
        if row.left_out.is_some() {
            table.push([name.into(), Cell::of(Role::Hint, "skipped")]);
        } else {
            let shown = |figure: &FigureDocument| {
                Some(number(*row.here.get(&figure.name)?, &figure.unit, style))
            };
            table.push(line(name, "here", experiment.figures.iter().map(shown)));
        }
    }
    table
}

fn line(name: &str, source: &str, figures: impl Iterator<Item = Option<String>>) -> Vec<Cell> {
    let shown = figures.map(|text| Cell::from(text.unwrap_or_default()));
    [Cell::from(name), Cell::of(Role::Hint, source)].into_iter().chain(shown).collect()
}

/// Writes a figure with the digits and words of its article.
fn stated_text(text: &str, style: &Style) -> String {
    if style.unicode { text.replace(" us", " \u{b5}s") } else { text.to_owned() }
}

/// Returns the title of a column; numbers without a unit of their own have it there.
fn title(figure: &FigureDocument) -> String {
    match figure.unit.as_str() {
        "ticks" => format!("{} (ticks)", figure.title),
        _ => figure.title.clone(),
    }
}

/// Puts rows with the same remark together, in the order of the first of each.
fn grouped<'a>(remarks: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for (row, text) in remarks {
        match groups.iter_mut().find(|(known, _)| *known == text) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((text, vec![row])),
        }
    }
    groups
}

fn remarks(page: &mut Page<'_>, title: &str, groups: &[(&str, Vec<&str>)]) {
    if groups.is_empty() {
        return;
    }
    page.gap();
    page.say(&format!("{title}:"));
    for (text, rows) in groups {
        page.item(&format!("{}: {text}", rows.join(" / ")));
    }
}

#[cfg(test)]
mod tests {
    use std::slice;

    use super::*;
    use crate::page::tests::{WIDE, say_the_same};
    use becalm_model::wire::{ArticleDocument, ReproducedRow};

    fn figures(pairs: &[(&str, f64)]) -> BTreeMap<String, f64> {
        pairs.iter().map(|&(name, value)| (name.to_owned(), value)).collect()
    }

    fn row(name: &str, article: &[(&str, f64)], here: &[(&str, f64)]) -> ReproducedRow {
        ReproducedRow {
            name: name.to_owned(),
            article: figures(article),
            stated: BTreeMap::new(),
            here: figures(here),
            left_out: None,
            notes: Vec::new(),
            runs: Vec::new(),
        }
    }

    fn document(rows: Vec<ReproducedRow>, histogram: bool) -> ReproduceDocument {
        let column = |name: &str, title: &str, unit: &str| FigureDocument {
            name: name.to_owned(),
            title: title.to_owned(),
            unit: unit.to_owned(),
        };
        ReproduceDocument {
            schema: "becalm/noise-reproduce/1".to_owned(),
            article: ArticleDocument {
                name: "somebody".to_owned(),
                author: "Some Body".to_owned(),
                title: "A title".to_owned(),
                year: 2026,
                machine: "a server".to_owned(),
            },
            quick: false,
            interrupted: None,
            machine: [("cpu_model", "A processor"), ("virtualisation", "KVM")]
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .into(),
            experiments: vec![ExperimentDocument {
                title: "Step by step".to_owned(),
                method: "10 runs of 200 bursts".to_owned(),
                figures: vec![column("mean", "mean", "s"), column("cv", "CV", "share")],
                counters: false,
                rows,
                histogram,
                load: None,
                contradictions: Vec::new(),
            }],
        }
    }

    #[test]
    fn rows_of_counters_are_called_so() {
        let mut document = document(vec![row("page_faults", &[("mean", 9.0)], &[])], false);
        document.experiments[0].counters = true;
        let text = reproduce_text(&[document], &Style::PLAIN);
        assert!(text.contains("counter ") && !text.contains("configuration"), "{text}");
    }

    #[test]
    fn figures_of_article_and_machine_stand_above_each_other() {
        let left_out = |name: &str, article: &[(&str, f64)]| ReproducedRow {
            left_out: Some("the host sets frequencies".to_owned()),
            ..row(name, article, &[])
        };
        let noted = ReproducedRow {
            notes: vec!["without SMT off: there is no SMT".to_owned()],
            ..row("and isolated", &[], &[("mean", 3.1e-4), ("cv", 0.00044)])
        };
        let rows = vec![
            row("untuned", &[("mean", 99.6e-6), ("cv", 0.0272)], &[("mean", 3.2e-4), ("cv", 0.21)]),
            left_out("and performance", &[("mean", 54.9e-6), ("cv", 0.0079)]),
            left_out("and turbo off", &[]),
            noted,
        ];
        insta::assert_snapshot!(reproduce_text(&[document(rows, false)], &Style::PLAIN), @r"
        Some Body: A title (2026)

          article  a server
          here     A processor, under KVM

        Step by step
        10 runs of 200 bursts.

          configuration                 mean       CV
          untuned          article  99.60 us   2.72 %
                           here     320.0 us   21.0 %
          and performance  article  54.90 us   0.79 %
                           skipped
          and turbo off    skipped
          and isolated     here     310.0 us  0.044 %

        Skipped here:
          - and performance / and turbo off: the host sets frequencies

        Differences:
          - and isolated: without SMT off: there is no SMT
        ");
    }

    #[test]
    fn a_page_and_a_review_say_the_same() {
        let left_out = ReproducedRow {
            left_out: Some("the host sets frequencies".to_owned()),
            ..row("and performance", &[("mean", 54.9e-6), ("cv", 0.0079)], &[])
        };
        let rows = vec![
            row("untuned", &[("mean", 99.6e-6), ("cv", 0.0272)], &[("mean", 3.2e-4), ("cv", 0.21)]),
            left_out,
        ];
        let document = document(rows, false);
        let text = reproduce_text(slice::from_ref(&document), &WIDE);
        let text = text.replace("article  a", "article: a").replace("here     A", "here: A");
        let html = reproduce_html(slice::from_ref(&document), "1.0").replace("</dt>", ":</dt>");
        // The row of this machine has the name of the row above it, for those who cannot see that.
        let mut names = html.split("<th scope=\"row\"").skip(1);
        assert!(names.all(|rest| !rest.split('>').nth(1).unwrap().starts_with("</th")), "{html}");
        let again = |name: &str| format!("<span class=\"again\">{name}</span>");
        let (before, rest) = html.split_once("<figure>").unwrap();
        let html = before.to_owned() + rest.split_once("</figure>").unwrap().1;
        assert!(rest.contains("untuned: article 2.72 %, here 21.0 %"), "{rest}");
        let html = html.replace(&again("untuned"), "").replace(&again("and performance"), "");
        say_the_same(&text, &html, &reproduce_markdown(slice::from_ref(&document)));
    }

    #[test]
    fn a_page_has_the_figures_of_article_and_machine_in_one_picture() {
        let skipped = ReproducedRow {
            left_out: Some("no".to_owned()),
            ..row("and performance", &[("mean", 54.9e-6), ("cv", 0.0079)], &[])
        };
        let with = |name: &str, values: &[f64]| ReproducedRow {
            runs: vec![values.to_vec()],
            ..row(name, &[("cv", 0.0272)], &[("cv", 0.21)])
        };
        let rows = vec![
            with("untuned", &[1.00e-3, 1.01e-3, 1.01e-3, 1.02e-3]),
            with("<pinned>", &[1.00e-3, 1.05e-3, 1.10e-3, 1.20e-3]),
            skipped,
        ];
        let html = reproduce_html(&[document(rows, true)], "1.0");
        let figures: Vec<&str> = html.split("<figure>").skip(1).collect();
        assert_eq!(figures.len(), 2, "distributions, and figures");
        assert!(figures[0].contains("in the same bins") && !html.contains("<pre class"));
        insta::assert_snapshot!(figures[1].split("</figure>").next().unwrap());
        // Counters have no axis in common.
        let mut counters =
            document(vec![row("page_faults", &[("cv", 9.0)], &[("cv", 1.0)])], false);
        counters.experiments[0].counters = true;
        assert!(!reproduce_html(&[counters], "1.0").contains("<figure>"));
    }

    #[test]
    fn figures_of_an_article_keep_its_digits_and_words() {
        let stated = [("mean", "99.6 us"), ("cv", "< 0.5 %")];
        let row = ReproducedRow {
            stated: stated.map(|(name, text)| (name.to_owned(), text.to_owned())).into(),
            ..row("recipe", &[("mean", 99.6e-6), ("cv", 0.005)], &[("mean", 1e-4), ("cv", 0.01)])
        };
        let text = reproduce_text(&[document(vec![row], false)], &Style::PLAIN);
        let line = text.lines().find(|line| line.contains("article  ") && line.contains("recipe"));
        assert!(
            line.is_some_and(|line| line.contains(" 99.6 us") && line.contains("< 0.5 %")),
            "{text}"
        );
    }

    #[test]
    fn what_was_not_finished_says_so() {
        let stopped = ReproduceDocument {
            interrupted: Some("stopped by signal 2".to_owned()),
            ..document(vec![row("untuned", &[], &[("mean", 1e-3)])], false)
        };
        let text = reproduce_text(&[stopped], &Style::PLAIN);
        assert!(text.contains("Not finished: stopped by signal 2."), "{text}");
    }

    #[test]
    fn load_and_contradictions_are_named() {
        let text = |load, contradictions| {
            let mut all = document(vec![row("untuned", &[], &[("mean", 1e-3)])], false);
            all.experiments[0].load = Some(load);
            all.experiments[0].contradictions = contradictions;
            let text = reproduce_text(&[all], &Style { width: 400, ..Style::PLAIN });
            text.lines().skip_while(|line| !line.contains("Meanwhile")).map(str::to_owned).collect()
        };
        let quiet: Vec<String> =
            text(LoadDocument { others: 0.01, most: 0.2, stolen: 0.0 }, Vec::new());
        assert_eq!(
            quiet,
            [
                "Meanwhile other programs used 1 % of these CPUs (median over the runs, at most 20 %)."
            ]
        );
        let contradiction = ContradictionDocument {
            figure: "page_faults".to_owned(),
            from: "untuned".to_owned(),
            to: "and mlock".to_owned(),
            article: 0.2,
            here: 1.2,
        };
        let busy: Vec<String> =
            text(LoadDocument { others: 0.4, most: 0.6, stolen: 0.02 }, vec![contradiction]);
        assert_eq!(
            busy,
            [
                "Meanwhile other programs used 40 % of these CPUs (median over the runs, at most 60 %); the hypervisor took 2 %. This machine was busy, so its figures include the effect of that load.",
                "",
                "These figures contradict the article:",
                "  - page_faults rose to 1.20 x here from \"untuned\" to \"and mlock\", and to 0.20 x in the article",
            ]
        );
    }

    #[test]
    fn distributions_share_their_bins() {
        let with = |name: &str, values: &[f64]| ReproducedRow {
            runs: vec![values.to_vec()],
            ..row(name, &[], &[("mean", 1e-3)])
        };
        let rows = vec![
            with("isolated", &[1.00e-3, 1.01e-3, 1.01e-3, 1.02e-3]),
            with("not isolated", &[1.00e-3, 1.05e-3, 1.10e-3, 1.20e-3]),
        ];
        insta::assert_snapshot!(reproduce_text(&[document(rows, true)], &Style::PLAIN), @r"
        Some Body: A title (2026)

          article  a server
          here     A processor, under KVM

        Step by step
        10 runs of 200 bursts.

          configuration            mean  CV
          isolated       here  1.000 ms
          not isolated   here  1.000 ms

                    isolated                           not isolated
          1.000 ms  3 #############################    1 #########
          1.020 ms  1 #########                        0
          1.040 ms  0                                  1 #########
          1.060 ms  0                                  0
          1.080 ms  0                                  0
          1.100 ms  0                                  1 #########
          1.120 ms  0                                  0
          1.140 ms  0                                  0
          1.160 ms  0                                  0
          1.180 ms  0                                  1 #########
          1.200 ms
        ");
    }
}
