//! Tells formats apart by their first bytes.

/// How many bytes [`sniff`] wants to see; fewer when the file is shorter.
pub const HEAD: u64 = 4096;

/// What the first bytes say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Magic {
    /// No byte at all.
    Empty,
    /// `MZ` with a binary header behind it.
    Pe,
    /// `\x7fELF`.
    Elf,
    /// `!<arch>\n`.
    Archive,
    /// `!<thin>\n`: the members lie outside.
    ThinArchive,
    /// `0000 FFFF`, version 0: one symbol of an import library.
    Import,
    /// `0000 FFFF`, version 1 or 2: `/bigobj`, or a compiler's own intermediate form.
    Anonymous,
    /// A COFF header that adds up; there is no magic, so [`sniff`] looks closer.
    Coff,
    /// LLVM bitcode, with or without its wrapper.
    Bitcode,
    /// A zip: wheel, jar, package.
    Zip,
    /// Mach-O, thin or fat.
    MachO,
    /// A linker's text that stands where a library is looked for.
    LinkerScript,
    /// Anything else.
    Other,
}

/// Tells what begins with `head`; `len` is the length of the whole.
#[must_use]
pub fn sniff(head: &[u8], len: u64) -> Magic {
    match head {
        [] => Magic::Empty,
        [b'M', b'Z', ..] if head[..head.len().min(64)].contains(&0) => Magic::Pe,
        [0x7f, b'E', b'L', b'F', ..] => Magic::Elf,
        [b'!', b'<', b'a', b'r', b'c', b'h', b'>', b'\n', ..] => Magic::Archive,
        [b'!', b'<', b't', b'h', b'i', b'n', b'>', b'\n', ..] => Magic::ThinArchive,
        [0, 0, 0xff, 0xff, 0, 0, ..] if len >= 20 => Magic::Import,
        [0, 0, 0xff, 0xff, 1 | 2, 0, ..] if len >= 32 => Magic::Anonymous,
        [b'B', b'C', 0xc0, 0xde, ..] | [0xde, 0xc0, 0x17, 0x0b, ..] => Magic::Bitcode,
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Magic::Zip,
        [0xfe, 0xed, 0xfa, 0xce | 0xcf, ..] | [0xce | 0xcf, 0xfa, 0xed, 0xfe, ..] => Magic::MachO,
        // Java classes share the fat magic; their next word is a version of at least 45.
        [0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 1..=20, ..] => Magic::MachO,
        _ if super::coff::plausible(head, len) => Magic::Coff,
        _ if linker_script(head) => Magic::LinkerScript,
        _ => Magic::Other,
    }
}

/// Whether this is a format that binaries, objects, libraries or zips have.
#[must_use]
pub const fn is_binary(magic: Magic) -> bool {
    !matches!(magic, Magic::Other | Magic::Empty | Magic::LinkerScript)
}

/// GNU ld's text libraries: `/* GNU ld script */ GROUP ( … )`, `INPUT(-lfoo)`.
fn linker_script(head: &[u8]) -> bool {
    const STARTS: [&str; 4] = ["/* GNU ld script", "GROUP", "INPUT", "OUTPUT_FORMAT"];
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start();
    STARTS.iter().any(|word| text.starts_with(word))
        && ["GROUP", "INPUT"].iter().any(|word| {
            text.match_indices(word)
                .any(|(at, _)| text[at + word.len()..].trim_start().starts_with('('))
        })
}

/// Whether a linker looks for its [`Magic::LinkerScript`]s under such a name: `libc.so`, `libm.a`.
#[must_use]
pub fn may_be_script(name: &[u8]) -> bool {
    name.ends_with(b".so") || name.ends_with(b".a")
}

/// Whether a file of this name must be a binary: by its extension (`.dll`), or as a versioned
/// shared object (`libz.so.1.3`).
#[must_use]
pub fn claims_binary(name: &[u8]) -> bool {
    const EXTENSIONS: [&[u8]; 20] = [
        b"a", b"ax", b"cpl", b"dll", b"drv", b"dylib", b"efi", b"exe", b"lib", b"node", b"o",
        b"obj", b"ocx", b"pyd", b"rlib", b"scr", b"so", b"sys", b"tsp", b"xll",
    ];
    let base = name
        .rsplit(|b| matches!(b, b'/' | b'\\' | b'!'))
        .next()
        .unwrap_or(name)
        .to_ascii_lowercase();
    let mut parts = base.rsplit(|b| *b == b'.');
    let Some(extension) = parts.next() else {
        return false;
    };
    if extension.len() == base.len() {
        return false;
    }
    if EXTENSIONS.contains(&extension) {
        return true;
    }
    let version = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    version(extension) && parts.find(|part| !version(part)) == Some(b"so") && parts.next().is_some()
}

/// Whether a file of this name is taken for a zip by whoever opens it, whatever stands in front of
/// the zip in it.
#[must_use]
pub fn claims_zip(name: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    [&b".whl"[..], b".zip", b".jar", b".egg", b".nupkg", b".vsix"]
        .iter()
        .any(|extension| name.ends_with(extension))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_begins_like_a_binary_is_not_one() {
        assert_eq!(
            sniff(
                b"MZ is the mark of Mark Zbikowski, a long story of more than 64 bytes",
                70
            ),
            Magic::Other
        );
        assert_eq!(sniff(b"MZ\x90\0\x03", 5), Magic::Pe);
        assert_eq!(
            sniff(b"\xca\xfe\xba\xbe\0\0\0\x34", 900),
            Magic::Other,
            "a Java class"
        );
        assert_eq!(sniff(b"\xca\xfe\xba\xbe\0\0\0\x02", 900), Magic::MachO);
        assert_eq!(sniff(b"", 0), Magic::Empty);
    }

    #[test]
    fn linker_scripts_are_known() {
        let libc = b"/* GNU ld script */\nGROUP ( /lib/libc.so.6 AS_NEEDED ( x ) )";
        assert_eq!(sniff(libc, 60), Magic::LinkerScript);
        assert_eq!(sniff(b"INPUT(-lncursesw)\n", 18), Magic::LinkerScript);
        for other in [
            &b"the INPUT of the GROUP"[..],
            b"<html>INPUT(1)",
            b"INPUTS(x)",
        ] {
            assert_eq!(sniff(other, 22), Magic::Other);
        }
        assert!(may_be_script(b"lib/libc.so") && !may_be_script(b"bin/a.dll"));
    }

    #[test]
    fn extensions_claim_in_any_case_and_versioned_shared_objects_too() {
        for name in [
            "a/b.DLL",
            "x.whl!m.pyd",
            "libz.so",
            "libz.so.1.3.1",
            "foo.c.obj",
            r"d\x.LIB",
        ] {
            assert!(claims_binary(name.as_bytes()), "{name}");
        }
        for name in [
            "dll",
            "a.dll/readme",
            "x.so.conf",
            "v1.2",
            "so.1",
            ".1",
            "README",
            "a.dll.txt",
        ] {
            assert!(!claims_binary(name.as_bytes()), "{name}");
        }
    }
}
