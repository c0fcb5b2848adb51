//! Payloads in a directory of this machine.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use stages::file::Payload;
use stages::plan::{PayloadFact, pick};

/// How much is read at a time, in bytes.
const CHUNK: usize = 1 << 20;

/// Looks for a payload in the directory that steps take files from. One of a named context is not looked for: which
/// directory that is, only a build says.
///
/// # Errors
/// Something is there and cannot be read: it is not absent.
pub fn look(root: &Path, payload: &Payload) -> Result<Option<PayloadFact>, String> {
    if payload.context.is_some() {
        return Ok(None);
    }
    let (below, _) = payload.place();
    let directory = root.join(below);
    let here = match directory.as_os_str().is_empty() {
        true => Path::new("."),
        false => &directory,
    };
    let said = |at: &Path, error: io::Error| format!("{}: {error}", at.display());
    let entries = match fs::read_dir(here) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Some(PayloadFact::Absent));
        }
        Err(error) => return Err(said(here, error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| said(here, error))?;
        // A name that is not UTF-8 is none that a lane file can say.
        names.extend(entry.file_name().into_string());
    }
    let Some(name) = pick(payload, names.iter().map(String::as_str)) else {
        return Ok(Some(PayloadFact::Absent));
    };
    let path = match below {
        "" => name.to_owned(),
        below => format!("{below}/{name}"),
    };
    let at = directory.join(name);
    let about = fs::metadata(&at).map_err(|error| said(&at, error))?;
    if !about.is_file() {
        return Err(format!("{} is no file", at.display()));
    }
    let sha256 = sha256(&at).map_err(|error| said(&at, error))?;
    Ok(Some(PayloadFact::Present { path, sha256 }))
}

fn sha256(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = llb::Hasher::default();
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = file.read(&mut chunk)?;
        if read == 0 {
            return Ok(hasher.finish().hex());
        }
        hasher.update(&chunk[..read]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stages::diag::Sources;

    fn payload(path: &str) -> Payload {
        let mut sources = Sources::default();
        let text = format!(
            "[graph]\nname = \"g\"\n[payload.p]\npath = \"{path}\"\nempty-ok = \"test\"\n[lane.l]\nplatform = \"linux/amd64\"\noutput.image = {{ stage = \"s\" }}\n[stage.s]\nfrom = \"scratch\"\n"
        );
        let id = sources.add("lanes.toml", text);
        let document = stages::file::parse(&sources, id).expect("a lane file");
        document.payloads["p"].clone()
    }

    #[test]
    fn a_file_is_measured_the_last_version_counts_and_what_cannot_be_read_is_not_absent() {
        let root = tempfile::tempdir().unwrap();
        let look = |path: &str| look(root.path(), &payload(path));
        assert_eq!(look("d/x-*.zip"), Ok(Some(PayloadFact::Absent)));
        fs::create_dir(root.path().join("d")).unwrap();
        fs::write(root.path().join("d/x-9.zip"), "old").unwrap();
        fs::write(root.path().join("d/x-10.zip"), "abc").unwrap();
        let Ok(Some(PayloadFact::Present { path, sha256 })) = look("d/x-*.zip") else {
            panic!("it is there");
        };
        assert_eq!(path, "d/x-10.zip");
        assert_eq!(
            sha256,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        fs::create_dir(root.path().join("d/dir")).unwrap();
        assert!(look("d/dir").unwrap_err().contains("no file"));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("nowhere", root.path().join("d/link")).unwrap();
            assert!(look("d/link").is_err(), "a link to nothing is something");
        }
    }
}
