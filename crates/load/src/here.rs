//! Tasks of hyper in the thread that makes them.

use std::future::Future;

use tokio::task::spawn_local;

/// Runs tasks in this thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Here;

impl<F: Future + 'static> hyper::rt::Executor<F> for Here {
    fn execute(&self, task: F) {
        spawn_local(async {
            task.await;
        });
    }
}
