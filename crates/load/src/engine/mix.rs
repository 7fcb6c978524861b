//! Which request is sent: one kind, or several in proportion to their weights, with values filled in.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use becalm_model::load::Scenario;
use becalm_stats::Rng;
use bytes::Bytes;
use http::Request;

use super::contents::Contents;
use super::http1::Wire;
use super::target::{Protocol, Target};
use super::template::Template;
use super::wanted::{RequestError, Wanted};
use crate::values::Values;

/// The requests of a load.
///
/// Each has a number, from 0 in the order in which they are due. Kind and values of a request follow from the number and the
/// seed alone, so that two loads with the same seed send the same requests, whichever thread sends them and whatever the
/// server does.
#[derive(Debug, Clone)]
pub struct Requests {
    kinds: Arc<[Kind]>,
    values: Arc<Values>,
    seed: u64,
    /// The number of the first one.
    first: u64,
    follow: u64,
}

#[derive(Debug, Clone)]
struct Kind {
    name: String,
    /// The share of the requests that are of this kind or an earlier one.
    up_to: f64,
    template: Template,
    /// Its requests as HTTP/1.1 sends them, if they are all the same.
    wire: OnceLock<Wire>,
}

impl Kind {
    fn new(name: String, up_to: f64, template: Template) -> Self {
        Self { name, up_to, template, wire: OnceLock::new() }
    }
}

impl From<Template> for Requests {
    fn from(template: Template) -> Self {
        let kinds = [Kind::new(String::new(), 1.0, template)].into();
        Self { kinds, values: Arc::default(), seed: 0, first: 0, follow: 0 }
    }
}

impl Requests {
    /// Makes the requests of a scenario for a target.
    pub fn of(
        target: &Target,
        scenario: &Scenario,
        contents: &Contents,
    ) -> Result<Self, RequestError> {
        let mut kinds = Vec::new();
        let all: f64 = scenario.kinds().iter().map(|kind| kind.weight).sum();
        let mut up_to = 0.0;
        for kind in scenario.kinds() {
            let mut headers = kind.headers;
            let has_own =
                headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
            let secret = contents.authorization.as_ref().filter(|_| !has_own);
            headers.extend(secret.map(|secret| ("Authorization".to_owned(), secret.clone())));
            let in_file = kind.body_file.map(|kept| {
                contents.bodies.get(&kept.file).expect("its files are read before a load").clone()
            });
            let wanted = Wanted {
                method: kind.method,
                headers,
                body: in_file.or(kind.body.map(Bytes::from)).unwrap_or_default(),
                is_grpc: scenario.grpc,
                expected: kind.expected_status,
                path: kind.path,
                expected_body: kind.expected_body,
            };
            let template = Template::with_values(target, wanted, &contents.values)?;
            let closes = scenario.new_connections && target.protocol == Protocol::Http1;
            let template = if closes { template.closing() } else { template };
            up_to += kind.weight / all;
            kinds.push(Kind::new(kind.name, up_to, template));
        }
        let values = Arc::clone(&contents.values);
        Ok(Self { kinds: kinds.into(), values, seed: 0, first: 0, follow: scenario.follow })
    }

    /// Lets chance decide by this seed which kind is sent.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Lets the first request have this number.
    #[must_use]
    pub fn starting_at(self, first: u64) -> Self {
        Self { first, ..self }
    }

    /// Returns the names of the kinds; one, without a name, where nothing is mixed.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.kinds.iter().map(|kind| kind.name.as_str())
    }

    /// Returns of which kind a request is, by its number in this load.
    pub(crate) fn kind_of(&self, number: u64) -> usize {
        /// An odd number far from all powers of two: neighbours get seeds that have nothing in common.
        const APART: u64 = 0x9e37_79b9_7f4a_7c15;
        let last = self.kinds.len() - 1;
        if last == 0 {
            return 0;
        }
        let number = (self.first + number + 1).wrapping_mul(APART);
        let place = Rng::new(self.seed ^ number).uniform();
        self.kinds.partition_point(|kind| kind.up_to <= place).min(last)
    }

    /// Returns what makes the requests of this number's kind.
    pub(crate) fn template(&self, number: u64) -> &Template {
        &self.kinds[self.kind_of(number)].template
    }

    /// Makes a request.
    pub(crate) fn request(&self, target: &Target, number: u64) -> Request<Bytes> {
        self.template(number).request(target, &self.values, self.first + number)
    }

    /// Makes a request as HTTP/1.1 sends it.
    pub(crate) fn wire(&self, target: &Target, number: u64) -> Cow<'_, Wire> {
        let make = || Wire::of(&self.request(target, number));
        let Kind { template, wire, .. } = &self.kinds[self.kind_of(number)];
        if template.is_constant() {
            Cow::Borrowed(wire.get_or_init(make))
        } else {
            Cow::Owned(make())
        }
    }

    /// Returns how many redirects are followed.
    pub(crate) fn follow(&self) -> u64 {
        self.follow
    }
}

#[cfg(test)]
mod tests {
    use becalm_model::load::{LoadBody, LoadRequest};

    use super::super::target::Way;
    use super::*;

    fn scenario(weights: &[f64]) -> Scenario {
        let of = |(index, weight): (usize, &f64)| LoadRequest {
            name: format!("r{index}"),
            weight: *weight,
            path: Some(format!("/{index}/{{id}}")),
            ..Scenario::default().kinds().remove(0)
        };
        let requests = weights.iter().enumerate().map(of).collect();
        Scenario { requests, ..Scenario::default() }
    }

    fn target() -> Target {
        Target::new("http://127.0.0.1:1/", Way::default()).unwrap()
    }

    fn requests(weights: &[f64], authorization: Option<&str>) -> Requests {
        let values = Values::of_csv("id\na\nb\n").unwrap().into();
        let authorization = authorization.map(str::to_owned);
        let contents = Contents { values, authorization, ..Contents::default() };
        Requests::of(&target(), &scenario(weights), &contents).unwrap()
    }

    #[test]
    fn kinds_are_sent_in_proportion_to_their_weights() {
        let requests = requests(&[7.0, 2.0, 1.0], None).with_seed(3);
        let mut counts = [0_u32; 3];
        (0..10_000).for_each(|number| counts[requests.kind_of(number)] += 1);
        for (count, expected) in counts.into_iter().zip([7000.0, 2000.0, 1000.0]) {
            // Five standard deviations at most; the seed is fixed.
            assert!((f64::from(count) - expected).abs() < 230.0, "{counts:?}");
        }
    }

    #[test]
    fn the_same_seed_sends_the_same_requests_and_another_one_others() {
        let kinds = |seed, first| -> Vec<usize> {
            let requests = requests(&[1.0, 1.0], None).with_seed(seed).starting_at(first);
            (0..64).map(|number| requests.kind_of(number)).collect()
        };
        assert_eq!(kinds(1, 0), kinds(1, 0));
        assert_ne!(kinds(1, 0), kinds(2, 0));
        assert_eq!(kinds(1, 0)[5..], kinds(1, 5)[..59]);
        let path = |number| requests(&[1.0], None).request(&target(), number).uri().to_string();
        assert_eq!([0, 1, 2].map(path), ["/0/a", "/0/b", "/0/a"]);
    }

    #[test]
    fn a_body_of_a_file_is_sent_as_it_is_and_filled_in_if_it_is_text() {
        let sent = |bytes: &[u8]| {
            let kept = LoadBody { file: "f".to_owned(), bytes: 3, digest: String::new() };
            let scenario = Scenario { body_file: Some(kept), ..Scenario::default() };
            let bodies = [("f".to_owned(), Bytes::copy_from_slice(bytes))].into();
            let contents = Contents { bodies, ..Contents::default() };
            let requests = Requests::of(&target(), &scenario, &contents).unwrap();
            let request = requests.request(&target(), 4);
            (request.method().clone(), format!("{:?}", request.body()))
        };
        let (method, body) = sent(b"{\"n\": {counter}}");
        assert!(method == "POST" && body.contains(r#"{\"n\": 5}"#), "{method} {body}");
        let (_, body) = sent(b"\xff{counter}");
        assert!(body.contains("{counter}"), "{body}");
    }

    #[test]
    fn a_secret_is_sent_and_shown_nowhere() {
        let basic = super::super::contents::basic_authorization("Aladdin:open sesame");
        // The example of RFC 7617.
        assert_eq!(basic, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        let requests = requests(&[1.0], Some(&basic));
        let request = requests.request(&target(), 0);
        assert_eq!(request.headers()["authorization"], basic.as_str());
        let contents = Contents { authorization: Some(basic), ..Contents::default() };
        for shown in [format!("{requests:?}"), format!("{request:?}"), format!("{contents:?}")] {
            assert!(!shown.contains("QWxh"), "{shown}");
        }
    }
}
