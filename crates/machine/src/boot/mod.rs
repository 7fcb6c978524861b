//! Boot parameters that reserve CPUs, for what can only be had by starting the machine anew.
//!
//! They are advice: nothing is set. At most one file of our own is written, into a folder that the
//! boot loader has for such files, and only that file is ever removed. The parameters follow the
//! kernel's `Documentation/admin-guide/cpu-isolation.rst` and `kernel-parameters.txt`.

mod dropin;
mod kernel;
mod loader;
mod options;
mod parameters;

pub use dropin::{DropinError, remove_dropin, write_dropin};
pub use kernel::{Built, KernelOptions};
pub use loader::{Loader, loaders};
pub use parameters::{Domain, Reserved, parameters};

#[cfg(test)]
mod tests;
