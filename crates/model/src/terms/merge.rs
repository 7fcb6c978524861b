//! Continuing a session under other terms.

use serde_json::{Map, Value};

use super::Terms;

/// Further runs would be made in another way than those before: together they would be no sample of anything.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{field} was {then}, now it is {now}: the earlier runs were made differently")]
pub struct OtherRuns {
    /// The field of [`super::RunTerms`] that differs.
    pub field: String,
    /// Its value in the saved session, as JSON.
    pub then: Value,
    /// Its value now.
    pub now: Value,
}

/// Returns the terms by which a session of the terms `saved` goes on, when `now` is asked for: everything but how
/// runs are made may be another.
///
/// # Errors
///
/// With the first field by which runs would be made in another way.
pub fn merge(saved: &Terms, now: Terms) -> Result<Terms, OtherRuns> {
    let fields = |terms: &Terms| match serde_json::to_value(&terms.runs) {
        Ok(Value::Object(fields)) => fields,
        other => unreachable!("the terms of runs are an object: {other:?}"),
    };
    let (then, wanted) = (fields(saved), fields(&now));
    // A field that is not there is nothing.
    let of = |fields: &Map<String, Value>, field| fields.get(field).cloned().unwrap_or_default();
    for field in wanted.keys().chain(then.keys()) {
        let (then, now) = (of(&then, field), of(&wanted, field));
        if then != now {
            return Err(OtherRuns { field: field.clone(), then, now });
        }
    }
    Ok(now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conditions::Aslr;
    use crate::load::{Scenario, ServerTerms};
    use crate::terms::{FailurePolicy, Primary, RoundLimits};

    fn no_load() -> ServerTerms {
        ServerTerms {
            text: String::new(),
            scenario: Scenario::default(),
            url: None,
            ready: None,
            keep: false,
        }
    }

    #[test]
    fn a_session_may_end_and_be_judged_otherwise_but_not_be_run_otherwise() {
        let saved = Terms::default();
        let mut now = saved.clone();
        now.limits = RoundLimits { rounds: Some(50), ..RoundLimits::default() };
        (now.margin, now.confidence, now.warmup) = (0.02, 0.99, 3);
        now.primary = Primary::Named(vec!["wall_time".to_owned()]);
        now.failure = FailurePolicy::Ignore;
        assert_eq!(merge(&saved, now.clone()), Ok(now.clone()));
        let load = ServerTerms { text: "rate=5".to_owned(), ..no_load() };
        let mut loaded = now.clone();
        loaded.runs.load = Some(Box::new(load));
        assert_eq!(merge(&saved, loaded.clone()).unwrap_err().field, "load");
        assert_eq!(merge(&loaded, now.clone()).unwrap_err().field, "load");
        now.runs.aslr = Aslr::Off;
        assert_eq!(merge(&saved, now.clone()).unwrap_err().field, "aslr");
        assert_eq!(merge(&now, now.clone()), Ok(now));
    }
}
