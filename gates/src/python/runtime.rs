//! The libraries of Windows interpreters, and who imports them.

use object::LittleEndian as LE;
use object::pe;
use object::read::pe::{ImageNtHeaders, PeFile, optional_header_magic};

use super::filename::{WheelName, cpython, free_threaded};

/// The libraries that a PE image imports, as they are spelled.
///
/// # Errors
/// Why its import table cannot be read, which is never the same as having no import.
pub fn imported(bytes: &[u8]) -> Result<Vec<String>, String> {
    let magic = optional_header_magic(bytes).map_err(|e| e.to_string())?;
    if magic == pe::IMAGE_NT_OPTIONAL_HDR32_MAGIC {
        libraries::<pe::ImageNtHeaders32>(bytes)
    } else {
        libraries::<pe::ImageNtHeaders64>(bytes)
    }
}

/// Libraries that one image may import.
const LIBRARIES: usize = 10_000;

fn libraries<Pe: ImageNtHeaders>(bytes: &[u8]) -> Result<Vec<String>, String> {
    let wrong = |e: object::read::Error| e.to_string();
    let file = PeFile::<Pe>::parse(bytes).map_err(wrong)?;
    let Some(table) = file.import_table().map_err(wrong)? else {
        return Ok(Vec::new());
    };
    let mut names = Vec::new();
    let mut descriptors = table.descriptors().map_err(wrong)?;
    while let Some(descriptor) = descriptors.next().map_err(wrong)? {
        if names.len() == LIBRARIES {
            return Err(format!("more than {LIBRARIES} libraries"));
        }
        let name = table.name(descriptor.name.get(LE)).map_err(wrong)?;
        names.push(String::from_utf8_lossy(name).into_owned());
    }
    Ok(names)
}

/// The library of a Windows interpreter: `python314t.dll`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Runtime {
    /// None for `python3.dll`, the stable ABI.
    version: Option<(u32, u32)>,
    free_threaded: bool,
}

impl Runtime {
    /// The runtime of this name; none when it is another library.
    #[must_use]
    pub fn of(library: &str) -> Option<Self> {
        let lower = library.to_ascii_lowercase();
        let stem = lower.strip_prefix("python")?.strip_suffix(".dll")?;
        let stem = stem.strip_suffix("_d").unwrap_or(stem);
        let digits = stem.strip_suffix('t').unwrap_or(stem);
        let free_threaded = digits.len() < stem.len();
        let (major, minor) = digits.split_at_checked(1)?;
        let major = major.parse().ok()?;
        let version = match minor {
            "" => None,
            minor => Some((major, minor.parse().ok()?)),
        };
        Some(Self {
            version,
            free_threaded,
        })
    }

    /// Whether a module of a wheel with this ABI tag may import it.
    #[must_use]
    pub fn serves(&self, abi: &str, name: &WheelName) -> bool {
        match (abi, self.version) {
            ("abi3" | "abi3t", None) => self.free_threaded == (abi == "abi3t"),
            // Without an ABI tag nothing is promised but the interpreter, if any.
            ("none", None) => !self.free_threaded,
            ("none", Some(version)) => name.pythons.iter().any(|p| cpython(p) == Some(version)),
            (abi, Some(version)) => {
                cpython(abi) == Some(version) && free_threaded(abi) == self.free_threaded
            }
            (abi, None) => free_threaded(abi) == self.free_threaded && cpython(abi).is_some(),
        }
    }
}
