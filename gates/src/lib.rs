//! lanegate: checks of binary trees with one report.
//!
//! A gate looks at a tree that a build made and decides whether it may ship. The story, in order:
//!
//! 1. [`walk`] lists the tree: names as bytes, links listed and not followed.
//! 2. [`mod@format`] tells what a file is by its content and which machine it is for.
//! 3. A [`gate`] (`arch`: a row of the [`arch_table`] against every binary) writes down everything
//!    it saw as a [`report`]. That is *inspect*: a pure function of the bytes.
//! 4. [`verdict`] holds a [`policy`] (floors, allow entries) against the report. That is *assert*.
//!    *Seal* then asks whether every expected verdict is there and green; [`merged`] puts those of
//!    a lane into one, and [`project`] shows them in the forms of other tools.
//! 5. [`cli`] is the command around it, and [`exit`] says what its exit codes mean.
//!
//! Nothing here knows a version, a date or a revision: the cache keys of gates follow the bytes of
//! the binary. [`gate::Check::VERSION`] is what changes when a check changes its mind.

pub mod arch_table;
pub mod authenticode;
#[cfg(feature = "inspect")]
pub mod cli;
pub mod closure;
pub mod counts;
pub mod exit;
#[cfg(feature = "inspect")]
pub mod explain;
#[cfg(feature = "inspect")]
pub mod external;
#[cfg(feature = "fixtures")]
pub mod fixture;
pub mod format;
pub mod gate;
pub mod glob;
pub mod input;
pub mod limit;
pub mod links;
pub mod list;
pub mod lists;
pub mod loader;
pub mod merged;
pub mod name;
pub mod overlap;
pub mod parallel;
pub mod policy;
mod progress;
pub mod project;
pub mod python;
pub mod report;
pub mod rule;
pub mod run;
pub mod scan;
pub mod search;
pub mod seen;
pub mod verdict;
pub mod walk;
