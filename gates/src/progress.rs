//! How far a scan is, for a person who waits at a terminal.
//!
//! Only in the `lanegate` that people install (feature `progress`): the one in images has no
//! terminal, and its bytes are in the keys of gates.

#[cfg(feature = "progress")]
pub(crate) use bar::Progress;
#[cfg(not(feature = "progress"))]
pub(crate) use none::Progress;

#[cfg(feature = "progress")]
mod bar {
    use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

    /// Files from which a tree is worth a bar.
    const LARGE: usize = 500;

    /// A bar on standard error; nothing where that is no terminal.
    pub(crate) struct Progress(ProgressBar);

    impl Progress {
        /// A bar for so many files.
        pub(crate) fn new(files: usize) -> Self {
            let target = match files < LARGE {
                true => ProgressDrawTarget::hidden(),
                false => ProgressDrawTarget::stderr(),
            };
            let bar = ProgressBar::with_draw_target(Some(files as u64), target);
            let style = ProgressStyle::with_template("{wide_bar} {human_pos} of {human_len} files");
            Self(match style {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            })
        }

        /// One more is done.
        pub(crate) fn step(&self) {
            self.0.inc(1);
        }
    }

    impl Drop for Progress {
        /// The line is empty again when findings are told.
        fn drop(&mut self) {
            self.0.finish_and_clear();
        }
    }
}

#[cfg(not(feature = "progress"))]
mod none {
    /// Nothing.
    pub(crate) struct Progress;

    impl Progress {
        pub(crate) const fn new(_files: usize) -> Self {
            Self
        }

        #[allow(clippy::unused_self)] // the other one has something to tell
        pub(crate) const fn step(&self) {}
    }
}
