//! Where the figures of this machine say the opposite of the article's. Pure.
//!
//! Machines differ in every figure. What an article says with them is a direction: this configuration has less
//! spread than that one, fewer faults, shorter runs. A figure contradicts it where it went the other way here.

use becalm_model::wire::{ContradictionDocument, FigureDocument, ReproducedRow};

use super::figures::RELATIVE;

/// Factor from which a figure has a direction.
const CLEAR: f64 = 1.1;

/// Compares each row with the first that has the figure in the article and here. An article that gives only a ratio, ten
/// times the CV of the first row, is compared with the ratio here.
pub(super) fn of_rows(
    figures: &[FigureDocument],
    rows: &[ReproducedRow],
) -> Vec<ContradictionDocument> {
    let mut found = Vec::new();
    for figure in figures {
        let both =
            |row: &ReproducedRow, name: &str| Some((*row.article.get(name)?, *row.here.get(name)?));
        let base = RELATIVE.iter().find(|(_, relative)| relative.name() == figure.name);
        if let Some((base, _)) = base {
            let Some((first, others)) = rows.split_first() else { continue };
            // Those whose figures are known themselves say nothing more as a ratio.
            let is_said = |row: &ReproducedRow| {
                [first, row].iter().all(|row| both(row, base.name()).is_some())
            };
            found.extend(others.iter().filter(|row| !is_said(row)).filter_map(|row| {
                one(&figure.title, [&first.name, &row.name], (1.0, 1.0), both(row, &figure.name)?)
            }));
            continue;
        }
        let mut known = rows.iter().filter_map(|row| Some((row, both(row, &figure.name)?)));
        let Some((first, from)) = known.next() else { continue };
        found.extend(
            known.filter_map(|(row, to)| one(&figure.title, [&first.name, &row.name], from, to)),
        );
    }
    found
}

/// Compares the columns of each row, which are configurations.
pub(super) fn of_columns(
    columns: &[FigureDocument],
    rows: &[ReproducedRow],
) -> Vec<ContradictionDocument> {
    let [before, after] = columns else { return Vec::new() };
    let both = |row: &ReproducedRow, column: &FigureDocument| {
        Some((*row.article.get(&column.name)?, *row.here.get(&column.name)?))
    };
    rows.iter()
        .filter_map(|row| {
            one(&row.name, [&before.title, &after.title], both(row, before)?, both(row, after)?)
        })
        .collect()
}

/// Compares what happened between two configurations, each with the article's value and this machine's.
fn one(
    figure: &str,
    [from, to]: [&str; 2],
    (article_from, here_from): (f64, f64),
    (article_to, here_to): (f64, f64),
) -> Option<ContradictionDocument> {
    let (article, here) = (article_to / article_from, here_to / here_from);
    let is_clear = |ratio: f64| ratio.is_finite() && ratio > 0.0 && ratio.ln().abs() >= CLEAR.ln();
    let differ = is_clear(article) && is_clear(here) && (article > 1.0) != (here > 1.0);
    differ.then(|| ContradictionDocument {
        figure: figure.to_owned(),
        from: from.to_owned(),
        to: to.to_owned(),
        article,
        here,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(name: &str, title: &str) -> FigureDocument {
        let unit = "share".to_owned();
        FigureDocument { name: name.to_owned(), title: title.to_owned(), unit }
    }

    fn row(name: &str, article: &[(&str, f64)], here: &[(&str, f64)]) -> ReproducedRow {
        let map = |pairs: &[(&str, f64)]| {
            pairs.iter().map(|&(name, value)| (name.to_owned(), value)).collect()
        };
        ReproducedRow {
            name: name.to_owned(),
            article: map(article),
            here: map(here),
            ..ReproducedRow::default()
        }
    }

    fn said(found: &[ContradictionDocument]) -> Vec<(&str, &str, &str, f64, f64)> {
        let of = |one: &'_ ContradictionDocument| (one.article, one.here);
        found
            .iter()
            .map(|one| {
                (one.figure.as_str(), one.from.as_str(), one.to.as_str(), of(one).0, of(one).1)
            })
            .collect()
    }

    #[test]
    fn a_figure_that_went_the_other_way_contradicts() {
        let rows = [
            row("nothing", &[], &[("cv", 9.0)]),
            row("untuned", &[("cv", 4.0)], &[("cv", 2.0)]),
            row("pinned", &[("cv", 2.0)], &[("cv", 4.0)]),
            row("isolated", &[("cv", 1.0)], &[("cv", 1.0)]),
            row("hardly", &[("cv", 3.9)], &[("cv", 4.0)]),
            row("alike", &[("cv", 2.0)], &[("cv", 2.1)]),
            row("left out", &[("cv", 2.0)], &[]),
        ];
        let found = of_rows(&[figure("cv", "CV")], &rows);
        assert_eq!(said(&found), [("CV", "untuned", "pinned", 0.5, 2.0)]);
    }

    #[test]
    fn a_ratio_counts_where_the_figures_behind_it_are_unknown() {
        let figures = [figure("cv", "CV"), figure("relative_cv", "CV to 1st")];
        let rows = [
            row("1 thread", &[], &[("cv", 2.0), ("relative_cv", 1.0)]),
            row("2 threads", &[("relative_cv", 10.0)], &[("cv", 1.0), ("relative_cv", 0.5)]),
        ];
        let found = of_rows(&figures, &rows);
        assert_eq!(said(&found), [("CV to 1st", "1 thread", "2 threads", 10.0, 0.5)]);
        // Otherwise it would repeat what the figures say.
        let rows = [
            row(
                "before",
                &[("cv", 4.0), ("relative_cv", 1.0)],
                &[("cv", 2.0), ("relative_cv", 1.0)],
            ),
            row(
                "after",
                &[("cv", 2.0), ("relative_cv", 0.5)],
                &[("cv", 4.0), ("relative_cv", 2.0)],
            ),
        ];
        let found = of_rows(&figures, &rows);
        assert_eq!(said(&found), [("CV", "before", "after", 0.5, 2.0)]);
    }

    #[test]
    fn counters_are_compared_between_the_columns() {
        let rows = [
            row(
                "page_faults",
                &[("before", 1000.0), ("after", 200.0)],
                &[("before", 1000.0), ("after", 1200.0)],
            ),
            row("cycles", &[("before", 0.5), ("after", 0.3)], &[]),
            row("none", &[("before", 0.0), ("after", 0.3)], &[("before", 1.0), ("after", 0.1)]),
        ];
        let columns = [figure("before", "untuned"), figure("after", "and mlock")];
        let found = of_columns(&columns, &rows);
        assert_eq!(said(&found), [("page_faults", "untuned", "and mlock", 0.2, 1.2)]);
    }
}
