//! What neighbours of a level differ by, as a window that is brought up to date when it is asked for.
//!
//! A change of spread is asked about after every fourth value only, so that a detector that goes on with one value more
//! seldom needs it.

use super::Point;
use super::window::Window;

/// The differences of a level.
#[derive(Debug, Clone)]
pub(super) struct Differences {
    window: Window,
    /// How many there were when the detector went on, if the window is not made yet.
    age: Option<usize>,
    /// Those that the window does not have.
    waiting: Vec<Point>,
}

impl Differences {
    pub(super) fn new() -> Self {
        Self { window: Window::new(), age: None, waiting: Vec::new() }
    }

    /// Returns those of a level that had `age` of them, of which `newest` are as many as [`super::window::needed`] says.
    pub(super) fn resume(age: usize, newest: Vec<Point>) -> Self {
        Self { window: Window::new(), age: Some(age), waiting: newest }
    }

    pub(super) fn push(&mut self, difference: f64) {
        self.waiting.push(difference.into());
    }

    /// Brings the window up to date.
    pub(super) fn catch_up(&mut self) {
        let mut waiting = self.waiting.drain(..);
        if let Some(age) = self.age.take() {
            let known: Vec<Point> = waiting.by_ref().take(super::window::needed(age)).collect();
            self.window = Window::resume(age, &known);
        }
        for point in waiting {
            self.window.push(point);
        }
    }

    /// Returns the window as it was when it was last brought up to date.
    pub(super) fn window(&self) -> &Window {
        &self.window
    }
}
