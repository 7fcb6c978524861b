//! Catch2: `--reporter xml`.
//!
//! - `<BenchmarkResults name samples iterations>` holds `<mean value lowerBound upperBound ci>` and
//!   `<standardDeviation value>`, in nanoseconds, or `<failed message>`. They stand in `<TestCase>` and
//!   nested `<Section>`.
//! - The root is `<Catch2TestRun>`, in version 2 `<Catch>` with `<Group>`.
//! - Only the five entities of XML itself are resolved, none that a document defines.
//!
//! Names and processes are as with the console reporter.

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::imported::Imported;
use crate::lines::number;
use crate::readers::catch2::{Figures, Process};
use crate::units::NANOSECOND;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const XML: Entry = Entry {
    name: "catch2-xml",
    about: "Catch2 --reporter xml (aggregates only)",
    recognise: Takes::File(|file| {
        file.holds("<Catch2TestRun") || (file.holds("<Catch ") && file.holds("<BenchmarkResults"))
    }),
    read: Takes::File(read),
};

/// Nobody nests sections as deep; a damaged file may.
const DEEPEST: usize = 256;

/// A benchmark whose element is open.
struct Open {
    name: String,
    mean: Option<f64>,
    figures: Figures,
}

struct Document<'a> {
    file: &'a File,
    text: &'a str,
    imported: Imported,
    process: Process,
    subject: usize,
    /// Names of the open test case and sections; groups of version 2 have none.
    path: Vec<String>,
    open: Option<Open>,
    depth: usize,
}

fn read(file: &File) -> Result<Imported, ImportError> {
    let text = file.text()?;
    // What the program itself printed may stand before.
    let start = ["<?xml", "<Catch"].iter().filter_map(|start| text.find(start)).min();
    let Some(start) = start else {
        return Err(ImportError::nothing(file, "it contains no report of Catch2"));
    };
    let tool = match text.split_once("catch2-version=\"").and_then(|(_, rest)| rest.split_once('"'))
    {
        Some((version, _)) if version.len() < 20 => format!("Catch2 {version}"),
        _ => "Catch2".to_owned(),
    };
    let mut document = Document {
        file,
        text,
        imported: Imported::of(tool),
        process: Process::default(),
        subject: 0,
        path: Vec::new(),
        open: None,
        depth: 0,
    };
    let mut reader = Reader::from_str(&text[start..]);
    loop {
        let at = start + usize::try_from(reader.buffer_position()).unwrap_or(text.len());
        match reader.read_event() {
            Ok(Event::Start(element)) => document.start(at, &element)?,
            Ok(Event::Empty(element)) => {
                document.start(at, &element)?;
                document.end(at, element.name().as_ref())?;
            }
            Ok(Event::End(element)) => document.end(at, element.name().as_ref())?,
            Ok(Event::Eof) if document.depth > 0 => {
                return Err(document.wrong(text.len(), "the end of every element", "the end"));
            }
            Ok(Event::Eof) => break,
            Ok(_) => {}
            Err(error) => return Err(document.wrong(at, "well-formed XML", &error.to_string())),
        }
    }
    Ok(document.imported)
}

impl Document<'_> {
    fn wrong(&self, at: usize, expected: &str, found: &str) -> ImportError {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        ImportError::at_line(self.file, line, expected, found)
    }

    fn start(&mut self, at: usize, element: &BytesStart) -> Result<(), ImportError> {
        self.depth += 1;
        match element.name().as_ref() {
            "Catch2TestRun" | "Catch" => {
                let name = self.text_of(at, element, "name")?.unwrap_or_default();
                let name = if name.is_empty() { "Catch2" } else { &name };
                self.subject = self.imported.subject(name);
            }
            "TestCase" | "Section" => {
                if self.path.len() == DEEPEST {
                    return Err(self.wrong(at, "at most 256 nested sections", "more"));
                }
                let name = self.text_of(at, element, "name")?.unwrap_or_default();
                self.path.push(name.trim().to_owned());
            }
            "BenchmarkResults" => {
                let name = self.text_of(at, element, "name")?;
                let name = name.ok_or_else(|| self.wrong(at, "attribute `name`", "none"))?;
                let figures = Figures {
                    samples: self.number_of(at, element, "samples")?,
                    iterations: self.number_of(at, element, "iterations")?,
                    ..Figures::default()
                };
                self.open = Some(Open { name, mean: None, figures });
            }
            "mean" => {
                let mean = self.time_of(at, element, "value")?;
                let low = self.time_of(at, element, "lowerBound")?;
                let high = self.time_of(at, element, "upperBound")?;
                let confidence = self.number_of(at, element, "ci")?;
                if let Some(open) = &mut self.open {
                    open.mean = mean;
                    (open.figures.low, open.figures.high) = (low, high);
                    open.figures.confidence = confidence;
                }
            }
            "standardDeviation" => {
                let deviation = self.time_of(at, element, "value")?;
                if let Some(open) = &mut self.open {
                    open.figures.standard_deviation = deviation;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, at: usize, name: &str) -> Result<(), ImportError> {
        self.depth = self.depth.saturating_sub(1);
        match name {
            "TestCase" | "Section" => {
                self.path.pop();
            }
            "failed" => {
                if let Some(open) = self.open.take() {
                    let name = self.full(&open.name);
                    self.imported.failed(name, None);
                }
            }
            "BenchmarkResults" => {
                if let Some(open) = self.open.take() {
                    let full = self.full(&open.name);
                    let mean = open.mean.ok_or_else(|| self.wrong(at, "`<mean>`", "none"))?;
                    let Self { imported, process, subject, .. } = self;
                    process.add(imported, *subject, &full, mean, &open.figures);
                }
            }
            "Catch2TestRun" | "Catch" => self.process.end(&mut self.imported, self.subject),
            _ => {}
        }
        Ok(())
    }

    fn full(&self, name: &str) -> String {
        let mut path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        path.push(name);
        path.join("/")
    }

    fn text_of(
        &self,
        at: usize,
        element: &BytesStart,
        name: &str,
    ) -> Result<Option<String>, ImportError> {
        let wrong = |problem: String| self.wrong(at, "attributes of XML", &problem);
        let attribute =
            element.try_get_attribute(name).map_err(|error| wrong(error.to_string()))?;
        attribute
            .map(|attribute| attribute.normalized_value(XmlVersion::Implicit1_0))
            .transpose()
            .map(|value| value.map(std::borrow::Cow::into_owned))
            .map_err(|error| wrong(error.to_string()))
    }

    fn number_of(
        &self,
        at: usize,
        element: &BytesStart,
        name: &str,
    ) -> Result<Option<f64>, ImportError> {
        let Some(text) = self.text_of(at, element, name)? else { return Ok(None) };
        // A deviation of one sample is none.
        if ["nan", "-nan", "NaN"].contains(&text.as_str()) {
            return Ok(None);
        }
        let read = number(&text);
        read.map(Some).ok_or_else(|| self.wrong(at, &format!("a number as `{name}`"), &text))
    }

    fn time_of(
        &self,
        at: usize,
        element: &BytesStart,
        name: &str,
    ) -> Result<Option<f64>, ImportError> {
        Ok(self.number_of(at, element, name)?.map(|number| number * NANOSECOND))
    }
}
