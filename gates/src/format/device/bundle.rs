//! Bundles as clang makes them: code for several processors in one, plain or compressed.
//!
//! Layout: LLVM's "Clang Offload Bundler", its versions 1 to 3 of the compressed form.

use std::io::{BufReader, Read};

use flate2::bufread::ZlibDecoder;
use ruzstd::decoding::StreamingDecoder;
use ruzstd::decoding::errors::FrameDecoderError;

use super::source::{Inflated, Source, Span};
use super::target::{self, Target};
use super::{Code, Fault, Found};
use crate::limit;

pub(super) const MAGIC: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
pub(super) const COMPRESSED: &[u8] = b"CCOB";

/// One entry of a bundle.
struct Row {
    offset: u64,
    size: u64,
    id: Vec<u8>,
}

/// Reads a bundle at the start of `span`; returns how long it is.
pub(super) fn plain(mut span: Span<'_>, place: &[u8], found: &mut Found) -> Result<u64, Fault> {
    let len = span.len();
    read(&mut span, len, place, found)
}

/// Reads a compressed bundle at the start of `span`; returns how long it is.
pub(super) fn compressed(
    mut span: Span<'_>,
    place: &[u8],
    found: &mut Found,
) -> Result<u64, Fault> {
    let mut head = [0; 8];
    Source::read(&mut span, 0, &mut head)?;
    let (version, method) = (
        u16::from_le_bytes([head[4], head[5]]),
        u16::from_le_bytes([head[6], head[7]]),
    );
    let mut sizes = [0; 16];
    // Where the data begin, how long all of it is when it says so, and how long inflated.
    let (data, whole, inflated) = match version {
        1 => {
            Source::read(&mut span, 8, &mut sizes[..4])?;
            (20, None, u32_at(&sizes, 0))
        }
        2 => {
            Source::read(&mut span, 8, &mut sizes[..8])?;
            (24, Some(u32_at(&sizes, 0)), u32_at(&sizes, 4))
        }
        3 => {
            Source::read(&mut span, 8, &mut sizes)?;
            (32, Some(u64_at(&sizes, 0)), u64_at(&sizes, 8))
        }
        other => {
            let why = format!("a compressed bundle of version {other}, which is not known");
            return Err(Fault::Damaged(why));
        }
    };
    found.inflated = found.inflated.saturating_add(inflated);
    if found.inflated > limit::DEVICE_BYTES {
        let text = format!(
            "DEVICE_BYTES: inflated to more than {}",
            limit::DEVICE_BYTES
        );
        return Err(Fault::Limit(text));
    }
    let end = whole.unwrap_or(span.len());
    Fault::require("the compressed bundle", end, span.len())?;
    let size = end.checked_sub(data).ok_or_else(|| {
        Fault::Damaged(format!("a compressed bundle of {end} bytes is no bundle"))
    })?;
    let packed = span.part(data, size)?;
    let used = match method {
        0 => {
            let decoder = ZlibDecoder::new(BufReader::new(packed));
            let decoder = inflate(decoder, inflated, place, found)?;
            decoder.total_in()
        }
        1 => {
            let decoder = StreamingDecoder::new_with_max_window_size(packed, limit::DEVICE_WINDOW)
                .map_err(|error| match error {
                    FrameDecoderError::WindowSizeTooBig { requested, .. } => {
                        Fault::Limit(format!("DEVICE_WINDOW: {requested} bytes"))
                    }
                    error => Fault::Damaged(format!("it cannot be inflated: {error}")),
                })?;
            let decoder = inflate(decoder, inflated, place, found)?;
            decoder.into_inner().used()
        }
        other => {
            let why = format!("a bundle compressed by method {other}, which is not known");
            return Err(Fault::Damaged(why));
        }
    };
    Ok(whole.unwrap_or(data + used))
}

/// Reads the bundle that a decoder makes.
fn inflate<R: Read>(decoder: R, size: u64, place: &[u8], found: &mut Found) -> Result<R, Fault> {
    let mut source = Inflated::new(decoder, size);
    read(&mut source, size, place, found)?;
    source.finish()
}

/// Reads a bundle of at most `len` bytes; returns where its last entry ends.
fn read(source: &mut dyn Source, len: u64, place: &[u8], found: &mut Found) -> Result<u64, Fault> {
    let mut head = [0; 32];
    source.read(0, &mut head)?;
    if !head.starts_with(MAGIC) {
        return Err(Fault::Damaged("what is inflated is no bundle".to_owned()));
    }
    let count = u64_at(&head, MAGIC.len());
    if count > limit::DEVICE_ENTRIES {
        return Err(Fault::Limit(format!("DEVICE_ENTRIES: {count} entries")));
    }
    if count == 0 {
        return Err(Fault::Damaged("a bundle of nothing".to_owned()));
    }
    let mut rows = Vec::new();
    let mut at = head.len() as u64;
    for _ in 0..count {
        let mut row = [0; 24];
        source.read(at, &mut row)?;
        let length = u64_at(&row, 16);
        let Some(length) = usize::try_from(length)
            .ok()
            .filter(|n| *n <= limit::NAME_BYTES)
        else {
            return Err(Fault::Limit(format!("NAME_BYTES: {length} bytes of an id")));
        };
        let mut id = vec![0; length];
        source.read(at + 24, &mut id)?;
        at += 24 + length as u64;
        rows.push(Row {
            offset: u64_at(&row, 0),
            size: u64_at(&row, 8),
            id,
        });
    }
    rows.sort_by_key(|row| row.offset);
    let mut end = at;
    for row in rows {
        let id = String::from_utf8_lossy(&row.id);
        let stop = row.offset.saturating_add(row.size);
        Fault::require(&format!("the entry `{id}`"), stop, len)?;
        if row.size > 0 && row.offset < end {
            let why = format!("the entry `{id}` begins in what stands before it");
            return Err(Fault::Damaged(why));
        }
        end = end.max(stop);
        if !id.starts_with("host") {
            found.code(place, entry(source, &row, &id)?)?;
        }
    }
    Ok(end)
}

/// What one entry holds, and whether it is what its id says.
fn entry(source: &mut dyn Source, row: &Row, id: &str) -> Result<Code, Fault> {
    let damaged = |why: &str| Fault::Damaged(format!("the entry `{id}` {why}"));
    let said = Target::new(processor(id).ok_or_else(|| damaged("names no processor"))?);
    if row.size == 0 {
        return Err(damaged("is empty"));
    }
    let held = target::object(source, row.offset, row.size).map_err(|fault| match fault {
        Fault::Damaged(why) => damaged(&format!("holds what cannot be read: {why}")),
        limit => limit,
    })?;
    Ok(match held {
        Some(code) => Code {
            said: (!agree(&said, &code.target)).then(|| said.to_string()),
            ..code
        },
        // Bitcode, or SPIR-V, which the driver itself makes code of.
        None if said.as_str() == "amdgcnspirv" => Code {
            target: said,
            said: None,
            unlinked: None,
        },
        None => Code {
            target: said,
            said: None,
            unlinked: Some("it is no linked code object"),
        },
    })
}

/// Whether code for `held` may stand under the id `said`: the same processor, and no setting of
/// either that the other contradicts.
fn agree(said: &Target, held: &Target) -> bool {
    let processor = |target: &Target| target.as_str().split(':').next().map(str::to_owned);
    processor(said) == processor(held) && held.runs_on(said)
}

/// The processor of an id: `hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-`. What stands before it has
/// hyphens, and so may it.
fn processor(id: &str) -> Option<&str> {
    let at = id.find("-gfx").or_else(|| id.rfind("-amdgcnspirv"))?;
    id.get(at + 1..)
}

fn u32_at(bytes: &[u8], at: usize) -> u64 {
    let word = bytes.get(at..at + 4).and_then(|b| b.try_into().ok());
    u64::from(u32::from_le_bytes(word.unwrap_or_default()))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let word = bytes.get(at..at + 8).and_then(|b| b.try_into().ok());
    u64::from_le_bytes(word.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_names_its_processor_with_settings_and_hyphens() {
        for (id, name) in [
            (
                "hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-",
                "gfx90a:sramecc+:xnack-",
            ),
            ("hip-amdgcn-amd-amdhsa-gfx906", "gfx906"),
            ("hipv4-amdgcn-amd-amdhsa--gfx9-4-generic", "gfx9-4-generic"),
            ("hip-spirv64-amd-amdhsa--amdgcnspirv", "amdgcnspirv"),
        ] {
            assert_eq!(processor(id), Some(name));
        }
        assert_eq!(processor("openmp-nvptx64-nvidia-cuda--sm_80"), None);
    }
}
