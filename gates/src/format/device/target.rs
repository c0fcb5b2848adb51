//! Processors, and the ELF files that hold code for them.
//!
//! Numbers and names: LLVM's "User Guide for AMDGPU Backend" (ELF header, target identifiers) and
//! its `EF_CUDA_*` constants, October 2026.

use std::fmt;

use super::source::Source;
use super::{Code, Fault};

/// A processor and the settings that code for it was built for: `gfx90a:sramecc+:xnack-`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target(String);

/// AMD's processors by the lowest byte of `e_flags`.
const AMD: [(u8, &str); 63] = [
    (0x20, "gfx600"),
    (0x21, "gfx601"),
    (0x22, "gfx700"),
    (0x23, "gfx701"),
    (0x24, "gfx702"),
    (0x25, "gfx703"),
    (0x26, "gfx704"),
    (0x28, "gfx801"),
    (0x29, "gfx802"),
    (0x2a, "gfx803"),
    (0x2b, "gfx810"),
    (0x2c, "gfx900"),
    (0x2d, "gfx902"),
    (0x2e, "gfx904"),
    (0x2f, "gfx906"),
    (0x30, "gfx908"),
    (0x31, "gfx909"),
    (0x32, "gfx90c"),
    (0x33, "gfx1010"),
    (0x34, "gfx1011"),
    (0x35, "gfx1012"),
    (0x36, "gfx1030"),
    (0x37, "gfx1031"),
    (0x38, "gfx1032"),
    (0x39, "gfx1033"),
    (0x3a, "gfx602"),
    (0x3b, "gfx705"),
    (0x3c, "gfx805"),
    (0x3d, "gfx1035"),
    (0x3e, "gfx1034"),
    (0x3f, "gfx90a"),
    (0x40, "gfx940"),
    (0x41, "gfx1100"),
    (0x42, "gfx1013"),
    (0x43, "gfx1150"),
    (0x44, "gfx1103"),
    (0x45, "gfx1036"),
    (0x46, "gfx1101"),
    (0x47, "gfx1102"),
    (0x48, "gfx1200"),
    (0x49, "gfx1250"),
    (0x4a, "gfx1151"),
    (0x4b, "gfx941"),
    (0x4c, "gfx942"),
    (0x4e, "gfx1201"),
    (0x4f, "gfx950"),
    (0x50, "gfx1310"),
    (0x51, "gfx9-generic"),
    (0x52, "gfx10-1-generic"),
    (0x53, "gfx10-3-generic"),
    (0x54, "gfx11-generic"),
    (0x55, "gfx1152"),
    (0x57, "gfx1154"),
    (0x58, "gfx1153"),
    (0x59, "gfx12-generic"),
    (0x5a, "gfx1251"),
    (0x5b, "gfx12-5-generic"),
    (0x5c, "gfx1172"),
    (0x5d, "gfx1170"),
    (0x5e, "gfx1171"),
    (0x5f, "gfx9-4-generic"),
    (0x62, "gfx11-7-generic"),
    (0x63, "gfx13-generic"),
];

/// The processors that run code for a generic one.
const GENERIC: [(&str, &[&str]); 6] = [
    (
        "gfx9-generic",
        &["gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"],
    ),
    ("gfx9-4-generic", &["gfx940", "gfx941", "gfx942", "gfx950"]),
    (
        "gfx10-1-generic",
        &["gfx1010", "gfx1011", "gfx1012", "gfx1013"],
    ),
    (
        "gfx10-3-generic",
        &[
            "gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036",
        ],
    ),
    (
        "gfx11-generic",
        &[
            "gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153",
        ],
    ),
    ("gfx12-generic", &["gfx1200", "gfx1201"]),
];

impl Target {
    /// A target as people and tools write it; settings are put in order.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut parts = text.split(':');
        let processor = parts.next().unwrap_or_default().to_owned();
        let mut settings: Vec<&str> = parts.collect();
        settings.sort_unstable();
        let mut all = processor;
        for setting in settings {
            all.push(':');
            all.push_str(setting);
        }
        Self(all)
    }

    /// As text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a processor with these settings runs this code. A setting that the code does not
    /// name may be either; without any in `wanted`, the processor alone decides.
    #[must_use]
    pub fn runs_on(&self, wanted: &Self) -> bool {
        let (code, code_settings) = self.parts();
        let (processor, settings) = wanted.parts();
        // `sm_90a` is the processor `sm_90` with what later ones need not have.
        let own = code.strip_suffix('a').filter(|_| code.starts_with("sm_"));
        let same = code == processor
            || own == Some(processor)
            || GENERIC
                .iter()
                .any(|(generic, all)| *generic == code && all.contains(&processor));
        let agrees = |wanted: &str| {
            code_settings.split(':').all(|setting| {
                setting.trim_end_matches(['+', '-']) != wanted.trim_end_matches(['+', '-'])
                    || setting == wanted
            })
        };
        same && settings.split(':').all(agrees)
    }

    fn parts(&self) -> (&str, &str) {
        self.0.split_once(':').unwrap_or((&self.0, ""))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Bytes of an ELF header of 64 bits.
const HEADER: usize = 64;

/// A little-endian ELF header of 64 bits, as device code has.
struct Header([u8; HEADER]);

impl Header {
    fn u16(&self, at: usize) -> u64 {
        u64::from(u16::from_le_bytes([self.0[at], self.0[at + 1]]))
    }

    fn u32(&self, at: usize) -> u32 {
        let [a, b, c, d] = [self.0[at], self.0[at + 1], self.0[at + 2], self.0[at + 3]];
        u32::from_le_bytes([a, b, c, d])
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from(self.u32(at)) | u64::from(self.u32(at + 4)) << 32
    }

    /// Where the tables of segments and sections end.
    fn tables_end(&self) -> u64 {
        let segments = self.u64(32).saturating_add(self.u16(54) * self.u16(56));
        let sections = self.u64(40).saturating_add(self.u16(58) * self.u16(60));
        segments.max(sections).max(HEADER as u64)
    }
}

/// Reads the ELF file of `size` bytes at `start` when it is device code; nothing when it is for
/// another machine or no ELF file.
///
/// # Errors
/// A [`Fault`] when it is cut or for a processor that is not known.
pub(super) fn object(
    source: &mut dyn Source,
    start: u64,
    size: u64,
) -> Result<Option<Code>, Fault> {
    const AMDGPU: u64 = 224;
    const CUDA: u64 = 190;
    let mut header = Header([0; HEADER]);
    let ident = usize::try_from(size).map_or(HEADER, |size| size.min(HEADER));
    source.read(start, &mut header.0[..ident])?;
    if !header.0.starts_with(b"\x7fELF") {
        return Ok(None);
    }
    let machine = header.u16(18);
    if ident < HEADER || !matches!(machine, AMDGPU | CUDA) {
        return Ok(None);
    }
    if header.0[4..6] != [2, 1] {
        let why = "device code that is not ELF of 64 bits, little-endian";
        return Err(Fault::Damaged(why.to_owned()));
    }
    Fault::require("the device code", header.tables_end(), size)?;
    let flags = header.u32(48);
    let target = match machine {
        AMDGPU => amd(header.0[8], flags)?,
        _ => cuda(header.0[8], flags),
    };
    const RELOCATABLE: u64 = 1;
    Ok(Some(Code {
        target,
        said: None,
        unlinked: (header.u16(16) == RELOCATABLE).then_some("it is an object before linking"),
    }))
}

/// The target that `e_flags` name; `abi` is EI_ABIVERSION.
fn amd(abi: u8, flags: u32) -> Result<Target, Fault> {
    let number = flags.to_le_bytes()[0];
    let name = AMD.iter().find(|(n, _)| *n == number).ok_or_else(|| {
        Fault::Damaged(format!(
            "no GPU that lanegate knows has number 0x{number:x}"
        ))
    })?;
    let mut text = name.1.to_owned();
    let mut add = |name: &str, value: u32| match value {
        2 => text.push_str(&format!(":{name}-")),
        3 => text.push_str(&format!(":{name}+")),
        _ => {}
    };
    // From the fourth version of code objects on, two bits each: unsupported, any, off, on.
    const FOURTH: u8 = 2;
    if abi >= FOURTH {
        add("sramecc", flags >> 10 & 3);
        add("xnack", flags >> 8 & 3);
    } else {
        add("sramecc", if flags >> 9 & 1 == 1 { 3 } else { 0 });
        add("xnack", if flags >> 8 & 1 == 1 { 3 } else { 0 });
    }
    Ok(Target::new(&text))
}

/// The target that `e_flags` name; `abi` is EI_ABIVERSION. `sm_100f` has the flags of `sm_100`.
fn cuda(abi: u8, flags: u32) -> Target {
    const SECOND: u8 = 8;
    let (sm, only) = match abi >= SECOND {
        true => (flags >> 8 & 0xff, flags & 0x8 != 0),
        false => (flags & 0xff, flags & 0x800 != 0),
    };
    Target(format!("sm_{sm}{}", if only { "a" } else { "" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_name_processor_and_settings() {
        let amd4 = |flags| amd(3, flags).unwrap().to_string();
        assert_eq!(amd4(0x4e), "gfx1201");
        assert_eq!(amd4(0x53f), "gfx90a");
        assert_eq!(amd4(0xb3f), "gfx90a:sramecc-:xnack+");
        assert_eq!(amd4(0x0100_0054), "gfx11-generic");
        assert_eq!(amd(1, 0x12f).unwrap().to_string(), "gfx906:xnack+");
        assert!(amd(3, 0x7f).is_err());
        assert_eq!(cuda(7, 0x0500_0859).to_string(), "sm_89a");
        assert_eq!(cuda(8, 0x0600_7802).to_string(), "sm_120");
    }

    #[test]
    fn code_runs_on_what_it_was_built_for() {
        let runs = |code: &str, wanted: &str| Target::new(code).runs_on(&Target::new(wanted));
        for (code, wanted) in [
            ("gfx90a", "gfx90a"),
            ("gfx90a:xnack-", "gfx90a"),
            ("gfx90a", "gfx90a:xnack-"),
            ("gfx90a:xnack-:sramecc+", "gfx90a:xnack-"),
            ("gfx11-generic", "gfx1103"),
            ("sm_80", "sm_80"),
        ] {
            assert!(runs(code, wanted), "{code} on {wanted}");
        }
        for (code, wanted) in [
            ("gfx90a:xnack+", "gfx90a:xnack-"),
            ("gfx906", "gfx90a"),
            ("gfx1103", "gfx11-generic"),
            ("gfx11-generic", "gfx1201"),
            ("sm_8", "sm_80"),
        ] {
            assert!(!runs(code, wanted), "{code} on {wanted}");
        }
    }

    #[test]
    fn no_number_stands_twice() {
        assert!(AMD.is_sorted_by(|a, b| a.0 < b.0));
    }
}
