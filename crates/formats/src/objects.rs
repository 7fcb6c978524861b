//! Lists of flat JSON objects, such as the rows of a benchmark, as a table: files hold millions of them,
//! which differ in their numbers alone.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// What one field of an object holds.
#[derive(Debug, Clone, PartialEq, Hash)]
pub(crate) enum Field<'a> {
    Null,
    Bool(bool),
    /// A number, which stands at this place among the numbers of the row.
    Number(usize),
    Text(Cow<'a, str>),
    List,
    Object,
}

/// What objects of a list have in common: their fields in order, and all that is no number.
#[derive(Debug)]
pub(crate) struct Shape {
    fields: Vec<(String, Field<'static>)>,
    /// The fields that count: of several with one name the last.
    seen: Vec<usize>,
    /// How many numbers a row has.
    width: usize,
    /// Where in the list the first one stands.
    pub(crate) first: usize,
}

/// The objects of a list.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    /// In the order in which they first appear.
    pub(crate) shapes: Vec<Shape>,
    /// The shape of each row.
    rows: Vec<u32>,
    /// The numbers of all rows, one row after the other.
    numbers: Vec<f64>,
}

/// One object: the index of its shape, and its numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'a> {
    pub(crate) shape: usize,
    pub(crate) numbers: &'a [f64],
}

impl Shape {
    fn seen(&self) -> impl Iterator<Item = &(String, Field<'static>)> {
        self.seen.iter().map(|at| &self.fields[*at])
    }

    /// Returns a field.
    pub(crate) fn get(&self, name: &str) -> Option<&Field<'static>> {
        self.seen().find(|field| field.0 == name).map(|field| &field.1)
    }

    /// Returns the text in a field; an empty one for everything else.
    pub(crate) fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Some(Field::Text(text)) => text,
            _ => "",
        }
    }

    /// Returns where among the numbers of a row that of this field stands.
    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        match self.get(name) {
            Some(Field::Number(place)) => Some(*place),
            _ => None,
        }
    }

    /// Returns the fields that are numbers, with their places.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = (&str, usize)> {
        self.seen().filter_map(|(name, field)| match field {
            Field::Number(place) => Some((name.as_str(), *place)),
            _ => None,
        })
    }
}

impl Field<'_> {
    fn into_owned(self) -> Field<'static> {
        match self {
            Field::Text(text) => Field::Text(Cow::Owned(text.into_owned())),
            Field::Null => Field::Null,
            Field::Bool(truth) => Field::Bool(truth),
            Field::Number(place) => Field::Number(place),
            Field::List => Field::List,
            Field::Object => Field::Object,
        }
    }
}

impl Objects {
    /// Returns the rows in their order.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let mut rest = self.numbers.as_slice();
        self.rows.iter().map(move |shape| {
            let shape = *shape as usize;
            let (numbers, behind) = rest.split_at(self.shapes[shape].width);
            rest = behind;
            Row { shape, numbers }
        })
    }

    /// Says what a field of the row at `index` holds, for messages.
    pub(crate) fn shown(&self, index: usize, field: &str) -> String {
        let Some(row) = self.rows().nth(index) else { return "nothing".to_owned() };
        match self.shapes[row.shape].get(field) {
            None => "nothing".to_owned(),
            Some(Field::Null) => "null".to_owned(),
            Some(Field::Bool(truth)) => truth.to_string(),
            Some(Field::Number(place)) => row.numbers[*place].to_string(),
            Some(Field::Text(text)) => text.to_string(),
            Some(Field::List) => "a list".to_owned(),
            Some(Field::Object) => "an object".to_owned(),
        }
    }
}

impl<'de> Deserialize<'de> for Objects {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Reader::default())
    }
}

impl<'de> Visitor<'de> for Reader<'de> {
    type Value = Objects;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<Objects, A::Error> {
        while list.next_element_seed(&mut self)?.is_some() {}
        Ok(self.objects)
    }
}

/// The list while it is read.
#[derive(Default)]
struct Reader<'de> {
    objects: Objects,
    /// The fields of the object that is being read.
    fields: Vec<(Cow<'de, str>, Field<'de>)>,
    /// Shapes by the hash of their fields.
    known: HashMap<u64, Vec<u32>>,
    /// For each shape which one came after it the last time.
    followers: Vec<u32>,
    hasher: RandomState,
}

impl Reader<'_> {
    /// Adds the object whose fields were read; its numbers are there already.
    fn end_object(&mut self, width: usize) {
        let is = |shape: &Shape| {
            let pairs = shape.fields.iter().zip(&self.fields);
            shape.fields.len() == self.fields.len()
                && pairs.into_iter().all(|(a, b)| a.0 == b.0 && a.1 == b.1)
        };
        let shapes = &mut self.objects.shapes;
        let last = self.objects.rows.last().copied();
        // Tools write their rows in cycles: what came next the last time most often comes again.
        let after_last = last.map(|last| self.followers[last as usize]);
        if let Some(likely) = after_last.filter(|likely| is(&shapes[*likely as usize])) {
            self.objects.rows.push(likely);
            return;
        }
        let same_hash = self.known.entry(self.hasher.hash_one(&self.fields)).or_default();
        let known = same_hash.iter().copied().find(|at| is(&shapes[*at as usize]));
        let at = known.unwrap_or_else(|| {
            let at = u32::try_from(shapes.len()).expect("each takes more than a byte of memory");
            let own =
                |(name, field): (Cow<'_, str>, Field<'_>)| (name.into_owned(), field.into_owned());
            let fields: Vec<_> = self.fields.drain(..).map(own).collect();
            let mut names = HashSet::new();
            let mut seen: Vec<usize> =
                (0..fields.len()).rev().filter(|at| names.insert(&fields[*at].0)).collect();
            seen.reverse();
            shapes.push(Shape { fields, seen, width, first: self.objects.rows.len() });
            same_hash.push(at);
            self.followers.push(at);
            at
        });
        if let Some(last) = last {
            self.followers[last as usize] = at;
        }
        self.objects.rows.push(at);
    }
}

impl<'de> DeserializeSeed<'de> for &mut Reader<'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Reader<'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        self.fields.clear();
        let before = self.objects.numbers.len();
        while let Some(Name(name)) = object.next_key()? {
            let value = FieldSeed { numbers: &mut self.objects.numbers, before };
            let field = object.next_value_seed(value)?;
            self.fields.push((name, field));
        }
        self.end_object(self.objects.numbers.len() - before);
        Ok(())
    }
}

/// The name of a field, borrowed where it has no escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// Reads what a field holds; a number is put behind the others.
struct FieldSeed<'a> {
    numbers: &'a mut Vec<f64>,
    /// How many numbers the rows before have.
    before: usize,
}

impl<'de> DeserializeSeed<'de> for FieldSeed<'_> {
    type Value = Field<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for FieldSeed<'_> {
    type Value = Field<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Field::Null)
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<Self::Value, E> {
        Ok(Field::Bool(truth))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        self.visit_f64(number as f64)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        self.visit_f64(number as f64)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        let place = self.numbers.len() - self.before;
        self.numbers.push(number);
        Ok(Field::Number(place))
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Field::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Field::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        IgnoredAny.visit_seq(list).map(|_| Field::List)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Self::Value, A::Error> {
        IgnoredAny.visit_map(object).map(|_| Field::Object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_that_differ_in_numbers_alone_share_a_shape() {
        let text = r#"[{"a": "x", "n": 1, "m": -2}, {"a": "x", "n": 3.5, "m": 4}, {"b": [1, {}], "n": 5},
                       {"a": "x", "n": 6, "m": 7}, {}, {"a": "\u0078", "n": 8, "n": 9}]"#;
        let objects: Objects = serde_json::from_str(text).unwrap();
        let rows: Vec<(usize, Vec<f64>)> =
            objects.rows().map(|row| (row.shape, row.numbers.to_vec())).collect();
        let expected: [(usize, &[f64]); 6] = [
            (0, &[1.0, -2.0]),
            (0, &[3.5, 4.0]),
            (1, &[5.0]),
            (0, &[6.0, 7.0]),
            (2, &[]),
            (3, &[8.0, 9.0]),
        ];
        assert_eq!(rows, expected.map(|(shape, numbers)| (shape, numbers.to_vec())));
        let first: Vec<usize> = objects.shapes.iter().map(|shape| shape.first).collect();
        assert_eq!(first, [0, 2, 4, 5]);
        // Of two with one name the last counts.
        assert_eq!(objects.shapes[3].numbers().collect::<Vec<_>>(), [("n", 1)]);
        assert_eq!(["n", "a", "x"].map(|field| objects.shown(5, field)), ["9", "x", "nothing"]);
        let last = &objects.shapes[3];
        assert_eq!((last.text("a"), last.number("n"), last.get("b")), ("x", Some(1), None));
        assert_eq!(objects.shapes[1].get("b"), Some(&Field::List));
        let wrong = serde_json::from_str::<Objects>("[{}, 5]").unwrap_err().to_string();
        assert!(wrong.contains("expected an object"), "{wrong}");
    }
}
