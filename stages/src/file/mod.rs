//! Text → declared tables. Every key is known or an error; every value keeps its span.

mod file_step;
mod include;
mod inputs;
pub mod keys;
mod lint;
mod model;
mod mounts;
mod parse;
mod pins;
mod read;
mod reference;
mod schema;

pub use file_step::{CopyFrom, CopyStep, FileStep};
pub use include::{Entry, MAX_INCLUDED, MAX_INCLUDED_BYTES, Walk};
pub use inputs::{ABSENT, Fetch, PRESENT, Payload, Sum, sha256_of};
pub use lint::{AllowLint, Files, PinDemand, PinRule};
pub use model::*;
pub use mounts::{Access, Cache, Device, Guarded, Sandbox, Sharing, Tmpfs};
pub(crate) use parse::context_path;
pub use parse::{parse, parse_included};
pub use pins::{Pin, Pins, parse_pins};
pub use reference::reference;
pub use schema::schema;

/// The largest lane or pins file that is read, in bytes. The real system's has 60 KB; an error
/// carries its file, and a file that no error can show is no use.
pub const MAX_FILE: u64 = 2 << 20;

/// Turns bytes into text, or says why they are none. Lines end with LF, whatever the checkout
/// made of them: a script in the file is the same on every machine.
///
/// # Errors
/// One sentence: too large, or not UTF-8 with the first bad byte and its line.
pub fn text_of_bytes(bytes: Vec<u8>) -> Result<String, String> {
    let limit = usize::try_from(MAX_FILE).unwrap_or(usize::MAX);
    if bytes.len() > limit {
        return Err(format!(
            "it has {} bytes, the most is {MAX_FILE}",
            bytes.len()
        ));
    }
    let text = String::from_utf8(bytes).map(|text| text.replace("\r\n", "\n"));
    text.map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        let line = 1 + e.as_bytes()[..at].iter().filter(|&&b| b == b'\n').count();
        format!("it is not text: byte {at} (line {line}) is not UTF-8")
    })
}
