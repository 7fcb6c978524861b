//! The articles, one file each. Figures are theirs; what is measured for them here is becalm's own.

mod akkoyun;
mod alvarez;
mod gribov;
mod stinner;
mod twigslot;

use super::article::Article;

/// Every article, by the age of its experiment.
pub static ARTICLES: [Article; 5] =
    [stinner::STINNER, gribov::GRIBOV, akkoyun::AKKOYUN, twigslot::TWIGSLOT, alvarez::ALVAREZ];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::article::{Figure, FigureUnit, Size, Stated};

    #[test]
    fn rows_refer_to_setups_and_figures_that_there_are_on_machines_of_every_size() {
        for article in &ARTICLES {
            for size in [(1, 1), (2, 1), (8, 7), (64, 63)] {
                let (cores, reserved) = size;
                for experiment in (article.experiments)(&Size { cores, reserved }) {
                    let title = &experiment.title;
                    assert!(!experiment.rows.is_empty(), "{title}");
                    for row in &experiment.rows {
                        assert!(row.setup < experiment.setups.len(), "{title}: {}", row.name);
                        let known = |figure: &Figure| experiment.figures.contains(figure);
                        assert!(row.article.iter().all(|(figure, _)| known(figure)), "{title}");
                    }
                    let setups = 0..experiment.setups.len();
                    let is_shown = |setup| experiment.rows.iter().any(|row| row.setup == setup);
                    assert!(setups.clone().all(is_shown), "{title}: a setup that nobody sees");
                }
            }
        }
    }

    #[test]
    fn shares_of_articles_are_fractions() {
        for article in &ARTICLES {
            for experiment in (article.experiments)(&Size { cores: 8, reserved: 7 }) {
                let figures = experiment.rows.iter().flat_map(|row| &row.article);
                for (figure, stated) in figures.filter(|(one, _)| one.unit() == FigureUnit::Share) {
                    let value = stated.value;
                    assert!((0.0..1.0).contains(&value), "{}: {figure:?} {value}", article.name);
                }
                let counters = experiment.counters.iter().flat_map(|table| &table.counters);
                for (name, before, after) in counters {
                    assert!(
                        Stated::read(before).is_some() && Stated::read(after).is_some(),
                        "{name}"
                    );
                }
            }
        }
    }

    #[test]
    fn figures_are_read_as_articles_write_them() {
        let check = |text: &str, value: f64| {
            let stated = Stated::read(text).unwrap();
            assert!((stated.value - value).abs() <= 1e-12 * value, "{stated:?}");
            assert_eq!(stated.text.as_deref(), Some(text));
        };
        check("99.6 us", 99.6e-6);
        check("< 0.5 %", 0.005);
        check("up to 5 %", 0.05);
        check("1,299,344", 1_299_344.0);
        check("10 x", 10.0);
        assert_eq!((Stated::read("much"), Stated::read("5 apples")), (None, None));
    }
}
