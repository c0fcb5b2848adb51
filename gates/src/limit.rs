//! The bounds on what a hostile or broken tree can make lanegate do. Overrunning one is a finding
//! (GEN002) that carries the bound's name.

/// Entries of all roots together.
pub const TREE_ENTRIES: usize = 4_000_000;
/// Members of one archive (`.lib`, `.a`).
pub const ARCHIVE_MEMBERS: usize = 1_000_000;
/// Members of one zip.
pub const ZIP_MEMBERS: usize = 200_000;
/// Bytes of one inflated zip member.
pub const ZIP_MEMBER_BYTES: u64 = 1 << 30;
/// Inflated bytes of one zip, what is nested in it included.
pub const ZIP_TOTAL_BYTES: u64 = 8 << 30;
/// Inflated over packed size of one zip member; members below [`ZIP_RATIO_FROM`] may exceed it.
pub const ZIP_RATIO: u64 = 1_000;
/// Inflated bytes from which [`ZIP_RATIO`] counts.
pub const ZIP_RATIO_FROM: u64 = 1 << 20;
/// Zips inside zips: a wheel in a zip is depth 2.
pub const NESTING: usize = 3;
/// Section headers of one ELF or COFF file.
pub const SECTIONS: u64 = 1 << 20;
/// Records and blocks read in search of a bitcode file's triple.
pub const BITCODE_STEPS: usize = 100_000;
/// Pages of 16 KiB that the tables of one image or library may be spread over.
pub const TABLE_PAGES: usize = 2_048;
/// Bytes of one name in a table.
pub const NAME_BYTES: usize = 64 << 10;
/// Bytes of all names that the tables of one file have.
pub const NAMES_BYTES: usize = 256 << 20;
/// DLLs and names that one image imports.
pub const IMPORTS: usize = 1 << 20;
/// Names or addresses that one file exports.
pub const EXPORTS: usize = 1 << 20;
/// Bytes of an ELF file's dynamic section.
pub const DYNAMIC_BYTES: u64 = 1 << 20;
/// Pieces of code for GPUs in one file.
pub const DEVICE_CODES: usize = 100_000;
/// Entries of one bundle or fat binary of such code.
pub const DEVICE_ENTRIES: u64 = 4_096;
/// Bytes that the compressed bundles of one file are inflated to.
pub const DEVICE_BYTES: u64 = 8 << 30;
/// Bytes that a compressed bundle may make its decoder remember.
pub const DEVICE_WINDOW: u64 = 512 << 20;
/// Versions that one ELF file needs and defines.
pub const VERSIONS: usize = 100_000;
/// Bytes in front of an image's header in which its linker's own record is looked for.
pub const STUB_BYTES: u64 = 64 << 10;
/// Entries of an image's debug directory, and notes of an ELF file.
pub const NOTES: usize = 10_000;
/// Things in one file that tell who built it.
pub const FINGERPRINTS: usize = 10_000;
/// Bytes of all signatures of an image.
pub const SIGNATURE_BYTES: u64 = 4 << 20;

#[cfg(test)]
mod tests {
    #[test]
    fn the_manual_names_every_limit_that_a_finding_can_name() {
        let manual = include_str!("../../docs/gates.md");
        let names = include_str!("limit.rs").lines().filter_map(|line| {
            let (name, _) = line.strip_prefix("pub const ")?.split_once(':')?;
            Some(name)
        });
        let mut count = 0;
        for name in names.filter(|name| *name != "ZIP_RATIO_FROM") {
            assert!(manual.contains(&format!("`{name}`")), "{name}");
            count += 1;
        }
        assert!(count > 20, "{count} limits");
    }
}
