//! CUDA's fat binaries: code for several processors, and text that the driver compiles.
//!
//! The layout is not published; it is what free tools that read it agree on, and what cuobjdump
//! says of real files.

use super::bundle::u64_at;
use super::source::{Source, Span};
use super::target::Target;
use super::{Code, Fault, Found};
use crate::limit;

/// 0xBA55ED50.
pub(super) const MAGIC: [u8; 4] = [0x50, 0xed, 0x55, 0xba];

/// Of an entry's flags: its code uses what this very processor has and no later one: `sm_90a`.
const ONE_PROCESSOR: u64 = 1 << 20;

/// Reads a fat binary at the start of `span`; returns how long it is.
pub(super) fn fat_binary(
    mut span: Span<'_>,
    place: &[u8],
    found: &mut Found,
) -> Result<u64, Fault> {
    let mut head = [0; 16];
    span.read(0, &mut head)?;
    let (version, header) = (head[4], u64::from(head[6]) | u64::from(head[7]) << 8);
    if version != 1 || header < 16 {
        let why = format!("a fat binary of version {version}, which is not known");
        return Err(Fault::Damaged(why));
    }
    let end = header.saturating_add(u64_at(&head, 8));
    Fault::require("the fat binary", end, span.len())?;
    let mut at = header;
    let mut count = 0;
    while at < end {
        count += 1;
        if count > limit::DEVICE_ENTRIES {
            let most = limit::DEVICE_ENTRIES;
            return Err(Fault::Limit(format!("DEVICE_ENTRIES: more than {most}")));
        }
        let mut row = [0; 32];
        Fault::require("an entry of the fat binary", at.saturating_add(32), end)?;
        span.read(at, &mut row)?;
        let u32_at =
            |at: usize| u32::from_le_bytes([row[at], row[at + 1], row[at + 2], row[at + 3]]);
        let (kind, size) = (u16::from_le_bytes([row[0], row[1]]), u64_at(&row, 8));
        let (header, sm) = (u64::from(u32_at(4)), u32_at(28));
        if header < 32 {
            return Err(Fault::Damaged(format!(
                "an entry with {header} bytes of header"
            )));
        }
        let next = at.saturating_add(header).saturating_add(size);
        Fault::require("an entry of the fat binary", next, end)?;
        let mut flags = [0; 8];
        if header >= 48 {
            span.read(at.saturating_add(40), &mut flags)?;
        }
        let one = match u64::from_le_bytes(flags) & ONE_PROCESSOR {
            0 => "",
            _ => "a",
        };
        let target = match kind {
            1 => format!("compute_{sm}{one}"),
            2 | 0x10 => format!("sm_{sm}{one}"),
            other => format!("kind{other}_{sm}"),
        };
        let code = Code {
            target: Target::new(&target),
            said: None,
            unlinked: None,
        };
        found.code(place, code)?;
        at = next;
    }
    match count {
        0 => Err(Fault::Damaged("a fat binary of nothing".to_owned())),
        _ => Ok(end),
    }
}
