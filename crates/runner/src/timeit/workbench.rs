//! The folder with a worker and the snippet that it times.

use std::io;
use std::path::PathBuf;

use super::compile::{CompileError, compile};
use super::language::Language;
use super::snippet::Snippet;
use crate::WorkFolder;

/// A folder with a worker and the snippet that it times, removed when this is dropped.
#[derive(Debug)]
pub struct Workbench {
    folder: WorkFolder,
    source: PathBuf,
    language: Language,
}

/// A worker that can be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// The program and its own arguments, to which those of the worker are added.
    pub words: Vec<String>,
}

impl Workbench {
    /// Makes the folder and puts the code into it.
    ///
    /// # Errors
    ///
    /// If there is no place for temporary files.
    pub fn create(snippet: &Snippet) -> io::Result<Self> {
        Self::in_folder(WorkFolder::for_programs()?, snippet)
    }

    fn in_folder(folder: WorkFolder, snippet: &Snippet) -> io::Result<Self> {
        let texts = snippet.texts();
        let (name, worker) = snippet.language.worker();
        for (part, text) in &texts {
            folder.make_file(part, &format!("{text}\n"))?;
        }
        let source = folder.make_file(name, &filled(worker, &texts))?;
        Ok(Self { folder, source, language: snippet.language })
    }

    /// Returns the worker under an interpreter, which is given with arguments of its own.
    pub fn interpreted(&self, interpreter: &[String]) -> Worker {
        let mut words = interpreter.to_vec();
        words.push(self.source.to_string_lossy().into_owned());
        Worker { words }
    }

    /// Makes a program of the worker, by a compiler with arguments of its own. Several can be made, each with
    /// another `index`.
    pub fn compiled(
        &self,
        compiler: &[String],
        flags: &[String],
        index: usize,
    ) -> Result<Worker, CompileError> {
        let program = self.folder.path().join(format!("worker-{index}"));
        compile(self.language, compiler, flags, &self.source, &program)?;
        Ok(Worker { words: vec![program.to_string_lossy().into_owned()] })
    }
}

impl Worker {
    /// Returns the command that finds out how many loops take `least` nanoseconds.
    pub fn calibration(&self, least: u64) -> Vec<String> {
        self.command(&["calibrate".to_owned(), least.to_string()])
    }

    /// Returns the command that times values.
    pub fn run(&self, loops: u64, warmups: u32, values: u32) -> Vec<String> {
        self.command(&[
            "run".to_owned(),
            loops.to_string(),
            warmups.to_string(),
            values.to_string(),
        ])
    }

    fn command(&self, arguments: &[String]) -> Vec<String> {
        self.words.iter().chain(arguments).cloned().collect()
    }
}

/// Puts the parts in the place of their lines, in the worker of a language that cannot read them itself.
fn filled(worker: &str, texts: &[(&'static str, String)]) -> String {
    texts.iter().fold(worker.to_owned(), |worker, (part, text)| {
        worker.replace(&format!("//BECALM {part}\n"), &format!("{text}\n"))
    })
}
