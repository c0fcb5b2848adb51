//! The ledger: what past builds did.
//!
//! A directory. `runs.jsonl` has one line for each build, with a checksum; a line that a crash tore is passed over. For
//! each lane, `LANE.keys.json` has what impact needs (seconds, keys that were built) and `LANE.manifest.json` the key
//! manifest of its last build; both are replaced whole. One lock guards all of it, so two builds may end at once.

mod run;
mod store;

pub use run::{NodeRun, Record, Run, Totals, record, tells};
pub use store::{History, Learnt, Ledger, MAX_BYTES, MAX_RUNS};
