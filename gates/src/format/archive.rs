//! Archives (`.lib`, `.a`), member by member.

use object::read::ReadRef;
use object::read::archive::ArchiveFile;

use super::Fault;
use crate::limit;

/// One member that is no table of the archive itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member<'d> {
    /// Its name, long names resolved.
    pub name: &'d [u8],
    /// Where its bytes begin in the archive.
    pub offset: u64,
    /// How many they are.
    pub size: u64,
}

/// What an archive holds.
#[derive(Debug, Default)]
pub struct Archive<'d> {
    /// The members, in file order.
    pub members: Vec<Member<'d>>,
    /// Its symbol index lists something else than an import library's descriptors, or there is
    /// no index at all. An ARM64EC-only library has another index for its own symbols, and in
    /// this one nothing that could be linked.
    pub native_symbols: bool,
    /// What is wrong with it; the members before that point are listed.
    pub faults: Vec<Fault>,
}

/// Reads the list of members; their content is for others to judge.
#[must_use]
pub fn read<'d, R: ReadRef<'d>>(data: R) -> Archive<'d> {
    let mut out = Archive::default();
    let len = data.len().unwrap_or(0);
    let file = match ArchiveFile::parse(data) {
        Ok(file) => file,
        Err(error) => {
            out.faults.push(Fault::parse(&error));
            return out;
        }
    };
    for member in file.members() {
        let member = match member {
            Ok(member) => member,
            Err(error) => {
                out.faults.push(Fault::parse(&error));
                break;
            }
        };
        if out.members.len() == limit::ARCHIVE_MEMBERS {
            let text = format!(
                "ARCHIVE_MEMBERS: more than {} members",
                limit::ARCHIVE_MEMBERS
            );
            out.faults.push(Fault::Limit(text));
            break;
        }
        if is_table(member.name()) {
            continue;
        }
        let (offset, size) = member.file_range();
        // `object` reads on as long as the next header would lie at the end or before it.
        let what = format!("member `{}`", member.name().escape_ascii());
        if let Err(fault) = Fault::require(&what, offset.saturating_add(size), len) {
            out.faults.push(fault);
            break;
        }
        out.members.push(Member {
            name: member.name(),
            offset,
            size,
        });
    }
    match file.symbols() {
        Ok(None) => out.native_symbols = true,
        Ok(Some(symbols)) => {
            let mut last = None;
            for symbol in symbols {
                let symbol = match symbol {
                    Ok(symbol) => symbol,
                    Err(error) => {
                        out.faults.push(Fault::parse(&error));
                        break;
                    }
                };
                out.native_symbols |= !is_descriptor(symbol.name());
                // The index is sorted or grouped by member: look each place up once in a row.
                let offset = symbol.offset();
                if last == Some(offset.0) {
                    continue;
                }
                last = Some(offset.0);
                if let Err(error) = file.member(offset) {
                    out.faults.push(Fault::Damaged(format!(
                        "the symbol index names a member at byte {}: {error}",
                        offset.0
                    )));
                    break;
                }
            }
        }
        Err(error) => out.faults.push(Fault::parse(&error)),
    }
    out
}

/// Tables that `object` does not hide itself: `/<ECSYMBOLS>/`, `/<HYBRIDMAP>/`, BSD's index.
fn is_table(name: &[u8]) -> bool {
    name.starts_with(b"/") || name.starts_with(b"__.SYMDEF")
}

/// The symbols of the three descriptor objects that every import library begins with.
fn is_descriptor(symbol: &[u8]) -> bool {
    symbol.starts_with(b"__IMPORT_DESCRIPTOR_")
        || symbol == b"__NULL_IMPORT_DESCRIPTOR"
        || (symbol.starts_with(b"\x7f") && symbol.ends_with(b"_NULL_THUNK_DATA"))
}

#[cfg(all(test, feature = "fixtures"))]
mod tests {
    use super::*;
    use crate::fixture;

    fn sample() -> Vec<u8> {
        let a = fixture::coff(0xaa64);
        let long = "a-name-of-more-than-fifteen-characters.obj";
        fixture::archive(&[("a.obj", &a), (long, &a), ("c.obj", &a)])
    }

    #[test]
    fn members_come_in_file_order_with_long_names() {
        let bytes = sample();
        let archive = read(bytes.as_slice());
        assert_eq!(archive.faults, []);
        let names: Vec<_> = archive
            .members
            .iter()
            .map(|m| m.name.escape_ascii().to_string())
            .collect();
        assert_eq!(
            names,
            [
                "a.obj",
                "a-name-of-more-than-fifteen-characters.obj",
                "c.obj"
            ]
        );
        for member in &archive.members {
            let at = usize::try_from(member.offset).unwrap();
            assert_eq!(bytes[at..at + 2], [0x64, 0xaa]);
        }
    }

    #[test]
    fn a_cut_is_a_fault_even_between_two_members() {
        let whole = sample();
        // Nothing but the magic is an archive without members, which exists (glibc's libdl.a).
        for end in 9..whole.len() {
            assert_ne!(
                read(&whole[..end]).faults,
                [],
                "cut at {end} of {}",
                whole.len()
            );
        }
    }
}
