//! What a script reads of other scripts, as far as its text says so.

use std::ops::Range;

/// A language whose way to read other files is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    /// POSIX shell and bash.
    Shell,
    /// PowerShell.
    PowerShell,
}

/// One file that a script reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Read {
    /// The path as it is written, with `/`, without quotes; what stands for the script's own
    /// directory is left out.
    pub(super) path: String,
    /// Where it is written.
    pub(super) range: Range<usize>,
}

impl Language {
    /// The language of a file, by its name or its first line.
    pub(super) fn of(path: &str, text: &str) -> Option<Self> {
        let end = path
            .rsplit('/')
            .next()?
            .rsplit_once('.')
            .map(|(_, end)| end);
        match end.map(str::to_lowercase).as_deref() {
            Some("ps1" | "psm1" | "psd1") => return Some(Self::PowerShell),
            Some("sh" | "bash") => return Some(Self::Shell),
            _ => {}
        }
        let first = text.lines().next().filter(|line| line.starts_with("#!"))?;
        let program = first[2..].split_whitespace().next_back()?;
        match program.rsplit('/').next()? {
            "sh" | "bash" | "dash" => Some(Self::Shell),
            "pwsh" => Some(Self::PowerShell),
            _ => None,
        }
    }
}

/// The files that a text reads. What is not a plain path is passed over: a variable, a name of
/// an installed module, an absolute path, which is of the image.
pub(super) fn reads(text: &str, language: Language) -> Vec<Read> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let at = start;
        start += line.len();
        let indent = line.len() - line.trim_start().len();
        let code = line.trim();
        let rest = match language {
            Language::Shell => code
                .strip_prefix(". ")
                .or_else(|| code.strip_prefix("source ")),
            Language::PowerShell => power_shell(code),
        };
        let Some(rest) = rest else {
            continue;
        };
        let from = at + indent + (code.len() - rest.len());
        if let Some((path, range)) = path(rest, language) {
            found.push(Read {
                path,
                range: from + range.start..from + range.end,
            });
        }
    }
    found
}

/// What stands behind a word that reads a file.
fn power_shell(code: &str) -> Option<&str> {
    let lower = code.to_ascii_lowercase();
    let words = ["import-module ", "using module ", ". "];
    let word = words.iter().find(|word| lower.starts_with(**word))?;
    Some(&code[word.len()..])
}

/// The path in the rest of a line, and where it is.
fn path(rest: &str, language: Language) -> Option<(String, Range<usize>)> {
    // The token that looks like a file: quoted or not, perhaps an argument of Join-Path.
    let bytes = rest.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let quote = bytes[at];
        let (range, next) = match quote {
            b'"' | b'\'' => {
                let end = closing(rest, at + 1, quote)?;
                (at + 1..end, end + 1)
            }
            b' ' | b'\t' | b'(' | b')' | b',' => {
                at += 1;
                continue;
            }
            b';' | b'#' | b'&' | b'|' => return None,
            _ => {
                let end = rest[at..]
                    .find([' ', '\t', ';', ')', ','])
                    .map_or(rest.len(), |n| at + n);
                (at..end, end)
            }
        };
        let word = &rest[range.clone()];
        if let Some(path) = plain(word, language) {
            return Some((path, range));
        }
        // In a shell the file is the first word.
        if language == Language::Shell {
            return None;
        }
        at = next;
    }
    None
}

/// The closing quote, not one inside `$( … )`.
fn closing(text: &str, from: usize, quote: u8) -> Option<usize> {
    let mut depth = 0_usize;
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate().skip(from) {
        match byte {
            b'(' if at > 0 && bytes[at - 1] == b'$' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b if *b == quote && depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}

fn plain(word: &str, language: Language) -> Option<String> {
    let path = word.replace('\\', "/");
    let own = match language {
        Language::PowerShell => ["$PSScriptRoot/", "${PSScriptRoot}/"].as_slice(),
        Language::Shell => [
            "$(dirname \"$0\")/",
            "$(dirname $0)/",
            "$(dirname \"${BASH_SOURCE[0]}\")/",
            "${0%/*}/",
        ]
        .as_slice(),
    };
    let path = own
        .iter()
        .find_map(|prefix| path.strip_prefix(prefix))
        .unwrap_or(&path);
    let path = path.trim_start_matches("./");
    let absolute = path.starts_with(['/', '~', '-']) || path.as_bytes().get(1) == Some(&b':');
    if path.is_empty() || absolute || path.contains(['$', '`', '*', '{', '(', '"']) {
        return None;
    }
    let name = path.rsplit('/').next()?;
    let file = match language {
        Language::PowerShell => {
            let lower = name.to_ascii_lowercase();
            [".ps1", ".psm1", ".psd1"]
                .iter()
                .any(|end| lower.ends_with(end))
        }
        Language::Shell => true,
    };
    file.then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str, language: Language) -> Vec<String> {
        reads(text, language)
            .into_iter()
            .map(|read| read.path)
            .collect()
    }

    #[test]
    fn power_shell_reads_modules_by_path_and_not_by_name() {
        let text = "Import-Module $PSScriptRoot\\modules\\A.psm1 -Force\n\
                    import-module (Join-Path $PSScriptRoot 'modules/B.psm1')\n\
                    using module .\\C.psm1\n\
                    . \"$PSScriptRoot\\D.ps1\"\n\
                    Import-Module WindowsTools\n\
                    Import-Module $name\n\
                    . C:\\image\\E.ps1\n\
                    # Import-Module F.psm1\n";
        assert_eq!(
            paths(text, Language::PowerShell),
            ["modules/A.psm1", "modules/B.psm1", "C.psm1", "D.ps1"]
        );
    }

    #[test]
    fn a_shell_reads_what_stands_behind_source_and_dot() {
        let text = "#!/bin/sh\n. lib/a.sh\nsource \"$(dirname \"$0\")/b.sh\"; true\n\
                    . /etc/profile\n. \"$X/c.sh\"\n./run.sh\n  . ./d.sh # why\n. ${0%/*}/e.sh\n";
        assert_eq!(
            paths(text, Language::Shell),
            ["lib/a.sh", "b.sh", "d.sh", "e.sh"]
        );
        let read = &reads(text, Language::Shell)[0];
        assert_eq!(&text[read.range.clone()], "lib/a.sh");
    }

    #[test]
    fn languages_are_told_by_name_and_first_line() {
        assert_eq!(Language::of("a/B.PSM1", ""), Some(Language::PowerShell));
        assert_eq!(
            Language::of("build", "#!/usr/bin/env bash\n"),
            Some(Language::Shell)
        );
        assert_eq!(Language::of("build", "#!/usr/bin/python3\n"), None);
        assert_eq!(Language::of("build", ""), None);
    }
}
