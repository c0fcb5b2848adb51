//! What is behind a URL: a checkout of a git repository, or a file that may be an archive.
//!
//! Which URL means what is BuildKit's rule (`frontend/dockerfile/dfgitutil`, `util/gitutil`), so that a URL means here
//! what it means for a Dockerfile.

use llb::{Copy, FileOp, Git, Http, Metadata, Output};

use crate::gateway::bridge::{Bridge, Evaluate};
use crate::gateway::error::Failure;

/// The name of a downloaded file.
const FILE: &str = "context";
/// The secret with a token for private repositories, as every client of BuildKit calls it.
const TOKEN: &str = "GIT_AUTH_TOKEN";
/// Where clients put what they were given on standard input.
const UPLOAD: &str = "http://buildkit-session/";
/// How much of a file is looked at: two headers of a tar.
const HEAD: u64 = 1024;

/// Files from a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Remote {
    /// The files.
    pub(super) files: Output,
    /// The one file that there is, where the URL was neither a repository nor an archive.
    pub(super) single: Option<&'static str>,
}

/// A URL, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Git(Repository),
    File(String),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Repository {
    remote: String,
    reference: String,
    subdir: String,
    checksum: String,
    keep_git_dir: bool,
    skip_submodules: bool,
}

/// Gets what is behind a URL. `shown` is its line in the progress; `keep_git_dir` is a caller's wish for all
/// repositories.
///
/// # Errors
/// A URL that means nothing, and a file that cannot be fetched.
pub(super) async fn open(
    bridge: &Bridge,
    url: &str,
    keep_git_dir: bool,
    shown: String,
) -> Result<Remote, Failure> {
    let wrong = |why: String| Failure::new(format!("{url}: {why}"));
    match place(url).map_err(wrong)? {
        Place::Git(mut repository) => {
            repository.keep_git_dir |= keep_git_dir;
            let git = repository
                .source()
                .map_err(|error| wrong(error.to_string()))?;
            Ok(Remote {
                files: git.metadata(Metadata::named(shown)).build(),
                single: None,
            })
        }
        Place::File(url) => {
            let http = Http::new(&url)
                .and_then(|http| http.filename(FILE))
                .map_err(|error| wrong(error.to_string()))?
                .metadata(Metadata::named(shown));
            let upload = url.starts_with(UPLOAD);
            let file = if upload { http.upload() } else { http }.build();
            let definition = llb::Definition::new(&file);
            let made = bridge
                .solve(definition.into(), Evaluate::Later, &[])
                .await?;
            let head = bridge.read_head(&made, FILE, HEAD).await?;
            if !is_archive(&head) {
                return Ok(Remote {
                    files: file,
                    single: Some(FILE),
                });
            }
            let unpacked = FileOp::new(None)
                .copy(Copy::new(file, format!("/{FILE}"), "/").unpack())
                .metadata(Metadata::named("[internal] unpack build context"))
                .build()
                .map_err(|error| wrong(error.to_string()))?;
            Ok(Remote {
                files: unpacked,
                single: None,
            })
        }
    }
}

/// A URL without what may be secret in it.
pub(super) fn shown(url: &str) -> String {
    let bare = url.split(['?', '#']).next().unwrap_or(url);
    match bare.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            format!("{scheme}://{host}/{path}")
        }
        None => bare.to_owned(),
    }
}

/// Only a directory of some files, as the root.
pub(super) fn within(files: &Output, directory: &str) -> Result<Output, Failure> {
    let directory = format!("/{}", directory.trim_start_matches('/'));
    FileOp::new(None)
        .copy(Copy::new(files.clone(), directory, "/").contents())
        .build()
        .map_err(|error| Failure::new(error.to_string()))
}

impl Repository {
    fn source(&self) -> Result<Git, llb::Error> {
        let mut git = Git::new(&self.remote)?.subdir(&self.subdir)?;
        if !self.reference.is_empty() {
            git = git.reference(&self.reference)?;
        }
        if !self.checksum.is_empty() {
            git = git.checksum(&self.checksum)?;
        }
        if self.keep_git_dir {
            git = git.keep_git_dir();
        }
        if self.skip_submodules {
            git = git.skip_submodules();
        }
        if self.remote.starts_with("http") {
            git = git.auth_token_secret(TOKEN);
        }
        Ok(git)
    }
}

fn place(url: &str) -> Result<Place, String> {
    let (rest, fragment) = url.split_once('#').unwrap_or((url, ""));
    let (bare, query) = rest.split_once('?').unwrap_or((rest, ""));
    let remote = match bare.split_once("://") {
        Some(("git" | "ssh", _)) => bare.to_owned(),
        Some(("http" | "https", path)) if path.contains('/') && bare.ends_with(".git") => {
            bare.to_owned()
        }
        Some(("http" | "https", _)) => return Ok(Place::File(url.to_owned())),
        Some((scheme, _)) => return Err(format!("nothing comes by {scheme}://")),
        None if bare.starts_with("github.com/") => format!("https://{bare}"),
        None if bare.contains('@') && bare.contains(':') => bare.to_owned(),
        None => return Err("neither a URL nor a repository".to_owned()),
    };
    let (reference, subdir) = fragment.split_once(':').unwrap_or((fragment, ""));
    let mut repository = Repository {
        remote,
        reference: reference.to_owned(),
        subdir: subdir.trim_matches('/').to_owned(),
        ..Repository::default()
    };
    repository.read_query(query)?;
    Ok(Place::Git(repository))
}

impl Repository {
    fn read_query(&mut self, query: &str) -> Result<(), String> {
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = decoded(value).ok_or(format!("\"{pair}\" is no text"))?;
            let flag = |default: bool| match value.as_str() {
                "" => Ok(default),
                "1" | "true" | "True" | "TRUE" | "t" | "T" => Ok(true),
                "0" | "false" | "False" | "FALSE" | "f" | "F" => Ok(false),
                _ => Err(format!("{key} is neither true nor false")),
            };
            match key {
                "ref" => once(&mut self.reference, value, key)?,
                "tag" => once(&mut self.reference, full("refs/tags/", &value), key)?,
                "branch" => once(&mut self.reference, full("refs/heads/", &value), key)?,
                "subdir" => once(&mut self.subdir, value.trim_matches('/').to_owned(), key)?,
                "checksum" | "commit" => once(&mut self.checksum, value, key)?,
                "keep-git-dir" => self.keep_git_dir = flag(true)?,
                "submodules" => self.skip_submodules = !flag(true)?,
                _ => return Err(format!("a repository has no \"{key}\"")),
            }
        }
        Ok(())
    }
}

/// The whole name of a tag or branch.
fn full(prefix: &str, name: &str) -> String {
    let short = name.strip_prefix(prefix).unwrap_or(name);
    format!("{prefix}{short}")
}

/// Sets what was not set, or was set to the same.
fn once(field: &mut String, value: String, key: &str) -> Result<(), String> {
    if value.is_empty() {
        return Err(format!("{key} has no value"));
    }
    if !field.is_empty() && *field != value {
        return Err(format!(
            "{key} says \"{value}\", and before it was \"{field}\""
        ));
    }
    *field = value;
    Ok(())
}

/// A value of a query, without its escapes.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
                u8::try_from(high * 16 + low).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

/// Whether a file begins as an archive does that engines unpack: compressed by bzip2, gzip or xz, or a tar.
fn is_archive(head: &[u8]) -> bool {
    const MAGICS: [&[u8]; 3] = [b"BZh", b"\x1f\x8b\x08", b"\xfd7zXZ\0"];
    MAGICS.iter().any(|magic| head.starts_with(magic)) || is_tar(head)
}

/// The sum of a tar's first header, its own field counted as spaces, is in that field.
fn is_tar(head: &[u8]) -> bool {
    let (Some(header), Some(field)) = (head.get(..512), head.get(148..156)) else {
        return false;
    };
    let digits = field
        .iter()
        .map(|&byte| char::from(byte))
        .skip_while(|c| *c == ' ')
        .take_while(|c| c.is_digit(8));
    let Ok(said) = u32::from_str_radix(&digits.collect::<String>(), 8) else {
        return false;
    };
    let bytes = header.iter().enumerate();
    let sum: u32 = bytes
        .map(|(at, byte)| {
            u32::from(if (148..156).contains(&at) {
                b' '
            } else {
                *byte
            })
        })
        .sum();
    said == sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(url: &str) -> Repository {
        match place(url) {
            Ok(Place::Git(repository)) => repository,
            other => panic!("{url}: {other:?}"),
        }
    }

    #[test]
    fn a_url_means_what_it_means_for_a_dockerfile() {
        let repository = git("https://example.com/a/b.git#main:sub/dir");
        assert_eq!(repository.remote, "https://example.com/a/b.git");
        assert_eq!(repository.reference, "main");
        assert_eq!(repository.subdir, "sub/dir");
        for remote in ["git://h/p", "ssh://git@h/p", "git@h:p", "http://h/p.git"] {
            assert_eq!(git(remote).remote, remote);
        }
        assert_eq!(git("github.com/a/b").remote, "https://github.com/a/b");
        for file in ["https://h/p.tar.gz", "http://h/p", "https://h/x?y=.git"] {
            assert_eq!(place(file), Ok(Place::File(file.to_owned())));
        }
        assert!(place("ftp://h/p").is_err() && place("../x").is_err());
    }

    #[test]
    fn a_query_says_the_same_as_a_fragment_and_more() {
        let asked = "https://h/p.git?tag=v1&subdir=a%2Fb&keep-git-dir&submodules=0&commit=abcdef0";
        let repository = git(asked);
        assert_eq!(repository.reference, "refs/tags/v1");
        assert_eq!(repository.subdir, "a/b");
        assert_eq!(repository.checksum, "abcdef0");
        assert!(repository.keep_git_dir && repository.skip_submodules);
        for wrong in [
            "ref",
            "ref=a&branch=b",
            "depth=1",
            "submodules=maybe",
            "ref=%f",
        ] {
            assert!(
                place(&format!("https://h/p.git?{wrong}")).is_err(),
                "{wrong}"
            );
        }
        assert!(place("https://h/p.git?ref=b#a").is_err());
    }

    #[test]
    fn archives_are_known_by_their_beginning() {
        let mut tar = vec![0_u8; 1024];
        tar[..4].copy_from_slice(b"name");
        tar[148..156].copy_from_slice(b"        ");
        let sum: u32 = tar[..512].iter().map(|byte| u32::from(*byte)).sum();
        tar[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        assert!(is_archive(&tar));
        tar[0] = b'N';
        assert!(!is_archive(&tar));
        assert!(is_archive(b"\x1f\x8b\x08rest") && !is_archive(b"[graph]\nname = \"x\"\n"));
        assert!(!is_archive(b""));
    }
}
