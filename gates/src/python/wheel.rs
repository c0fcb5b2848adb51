//! A wheel that is opened: its members, its metadata, its list of files.

use std::fs::File;
use std::path::Path;

use crate::exit::Failure;
use crate::format::{Fault, zip};
use crate::input::Watched;
use crate::limit;
use crate::name::Name;

/// What is in a wheel, read into memory one member at a time.
#[derive(Debug, Default)]
pub struct Contents {
    /// Members in the order of the list: name and content.
    pub members: Vec<(Vec<u8>, Vec<u8>)>,
    /// Why parts of it cannot be believed, with the member.
    pub faults: Vec<(Vec<u8>, Fault)>,
}

impl Contents {
    /// Opens `path` and hands every member to `each`, which says what of it is kept.
    ///
    /// # Errors
    /// [`Failure::Unreadable`] for what the bytes do not decide.
    pub fn read(
        path: &Path,
        name: &Name,
        keep: impl Fn(&[u8]) -> bool,
        mut each: impl FnMut(&[u8], &[u8]),
    ) -> Result<Self, Failure> {
        let io = |e: &std::io::Error| Failure::io(&name.to_string(), e);
        let file = File::open(path).map_err(|e| io(&e))?;
        let watched = Watched::new(file);
        let trouble = watched.trouble();
        let check = || trouble.take().map_or(Ok(()), |e| Err(io(&e)));
        let mut contents = Self::default();
        let mut list = match zip::Zip::open(watched) {
            Ok(list) => list,
            Err(fault) => {
                check()?;
                contents.faults.push((Vec::new(), fault));
                return Ok(contents);
            }
        };
        if let Err(fault) = list.consistent() {
            check()?;
            contents.faults.push((Vec::new(), fault));
        }
        let mut budget = limit::ZIP_TOTAL_BYTES;
        for index in 0..list.len() {
            let member = list.member(index, &mut budget, |_, _, _| true);
            check()?;
            match member {
                zip::Member::Bytes(member, bytes, _large) => {
                    each(&member, &bytes);
                    if keep(&member) {
                        contents.members.push((member, bytes));
                    }
                }
                zip::Member::Fault(member, fault) => contents.faults.push((member, fault)),
                zip::Member::NoMemory(size) => {
                    let why = format!("{name}: no memory for a member of {size} bytes");
                    return Err(Failure::Unreadable(why));
                }
                zip::Member::Link => contents.faults.push((
                    Vec::new(),
                    Fault::Damaged("a symbolic link, which no installer makes".to_owned()),
                )),
                zip::Member::Directory | zip::Member::Plain => {}
            }
        }
        Ok(contents)
    }

    /// The member of this name.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&[u8]> {
        let found = self.members.iter().find(|(n, _)| n == name.as_bytes());
        found.map(|(_, bytes)| bytes.as_slice())
    }

    /// The directories `*.dist-info` at its top, of which there must be one.
    #[must_use]
    pub fn dist_infos(&self) -> Vec<String> {
        let mut found: Vec<String> = self
            .members
            .iter()
            .filter_map(|(name, _)| {
                let name = std::str::from_utf8(name).ok()?;
                let (top, _) = name.split_once('/')?;
                top.ends_with(".dist-info").then(|| top.to_owned())
            })
            .collect();
        found.sort();
        found.dedup();
        found
    }
}

/// Whether a member lies in a `*.dist-info` at the top: METADATA, WHEEL, RECORD and the like.
#[must_use]
pub fn is_info(member: &[u8]) -> bool {
    let top = member.split(|b| *b == b'/').next().unwrap_or_default();
    top.len() < member.len() && top.ends_with(b".dist-info")
}
