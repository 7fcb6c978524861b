//! The changes of one series in a file.

use std::path::Path;

use becalm_model::history::ChangeState;
use becalm_model::wire::{ChangePointDocument, SeriesStateDocument, SpreadChangeDocument};
use becalm_series::{Unchanged, change_point, series_state, spread_change, state_word, too_few};
use becalm_session::files::read_text;
use becalm_stats::center::median_of;
use becalm_stats::changes::engines::{EDPELT_DISTANCE, Otava, edpelt, otava};
use becalm_stats::changes::{Change, Changes, detect, sides, sizes};

use super::{Engine, FindingFlags, Found};
use crate::error::CommandError;

/// Values on each side of a change from which its levels are estimated, as in becalm's own engine.
const REACH: usize = 100;

/// Reads the series and returns its changes. Missing values keep their places, but are ignored.
pub(super) fn changes(path: &Path, finding: &FindingFlags) -> Result<Found, CommandError> {
    let series = values(&read_text(path)?, &path.display().to_string())?;
    let (places, values): (Vec<usize>, Vec<f64>) =
        series.iter().enumerate().filter_map(|(i, value)| Some((i, (*value)?))).unzip();
    let found = find(&values, finding);
    let mut documents = Vec::new();
    let of_size = finding.size.unwrap_or_default().into();
    let stretches = found.stretches(values.len());
    let sized = found.all().zip(sizes(&values, &found, of_size)).zip(stretches);
    for (i, ((change, size), (before, after))) in sized.enumerate() {
        let is_confirmed = i < found.confirmed.len();
        let state = if is_confirmed { ChangeState::Confirmed } else { ChangeState::Pending };
        documents.push(ChangePointDocument {
            index: places[change.index],
            earliest: places[change.earliest],
            latest: places[change.latest],
            part_of: found.state_of(i).map(|state| state_word(state.kind).to_owned()),
            ..change_point(change, state, size, &sides(&values[before], &values[after]))
        });
    }
    let is_unchanged = finding.engine == Engine::Becalm && found.confirmed.is_empty();
    let unchanged = Unchanged { values: values.len(), rules: finding.rules() };
    let few = too_few(Some(unchanged).filter(|_| is_unchanged));
    let spreads = found.spreads.iter().map(|one| {
        let document = spread_change(one);
        SpreadChangeDocument {
            index: places[one.index],
            earliest: places[one.earliest],
            latest: places[one.latest],
            ..document
        }
    });
    let states = found.states.iter().map(|one| {
        let parts = found.confirmed[one.parts()].iter();
        let document = series_state(one, values.len(), parts.map(|it| places[it.index]).collect());
        SeriesStateDocument { start: places[one.start], end: places[one.end], ..document }
    });
    let (spreads, states) = (spreads.collect(), states.collect());
    Ok(Found { series: 1, size: of_size, too_few: few, changes: documents, spreads, states })
}

/// Finds changes by the engine that was asked for.
pub(super) fn find(values: &[f64], finding: &FindingFlags) -> Changes {
    let indices = match finding.engine {
        Engine::Becalm => {
            return detect(values.iter().copied(), finding.rules());
        }
        Engine::Otava => {
            let usual = Otava::default();
            let terms = Otava {
                window: finding.window.map_or(usual.window, |window| window as usize),
                p: finding.p_value.unwrap_or(usual.p),
                magnitude: finding.margin.unwrap_or(usual.magnitude),
            };
            otava(values, terms)
        }
        Engine::Edpelt => {
            let distance = finding.distance.map_or(EDPELT_DISTANCE, |distance| distance as usize);
            edpelt(values, distance)
        }
    };
    let ends = indices.iter().skip(1).copied().chain([values.len()]);
    let mut start = 0;
    let mut confirmed = Vec::new();
    for (index, end) in indices.iter().copied().zip(ends) {
        confirmed.push(Change {
            index,
            earliest: index,
            latest: index,
            seen: values.len() - 1,
            z: f64::NAN,
            before: median_of(&mut values[start.max(index.saturating_sub(REACH))..index].to_vec()),
            after: median_of(&mut values[index..end.min(index + REACH)].to_vec()),
            correlation: 0.0,
        });
        start = index;
    }
    Changes { confirmed, ..Changes::default() }
}

/// Reads a JSON array of numbers, or one number a line. `null`, `NaN` and empty lines between numbers are
/// missing values.
fn values(text: &str, name: &str) -> Result<Vec<Option<f64>>, CommandError> {
    let wrong = |what: String| {
        CommandError::usage(format!("{name}: {what}"))
            .hint("a series is a JSON array of numbers, or one number per line")
    };
    // Some programs begin a text with a byte order mark.
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err(wrong("it contains no number".to_owned()));
    }
    if text.starts_with('[') {
        return serde_json::from_str(text)
            .map_err(|error| wrong(format!("not an array of numbers: {error}")));
    }
    text.lines()
        .enumerate()
        .map(|(i, line)| match line.trim() {
            "" | "null" | "NaN" | "nan" => Ok(None),
            word => match word.parse::<f64>() {
                Ok(value) if value.is_finite() => Ok(Some(value)),
                _ => Err(wrong(format!("line {}: `{word}` is not a number", i + 1))),
            },
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_and_lines_are_read() {
        let expected = vec![Some(1.0), None, Some(2.5)];
        for text in ["[1, null, 2.5]", "1\n\n2.5\n", "1\r\nNaN\r\n2.5", "\u{feff}1\n\n2.5"] {
            assert_eq!(values(text, "f").ok(), Some(expected.clone()), "{text:?}");
        }
        for text in ["", "[1, \"a\"]", "1\nx", "[1", "1\ninf", "{\"a\": 1}"] {
            assert!(values(text, "f").is_err(), "{text:?}");
        }
    }
}
