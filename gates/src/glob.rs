//! Globs over [`Name`](crate::name::Name)s, for allow entries.
//!
//! `?` is one byte, `*` any bytes but a separator, `**` any bytes at all. `**/` at the start or
//! after a separator also matches nothing. A glob must match the whole name; whether name or glob
//! begin at a root (`/runtime`, `C:\runtime`, `runtime`) does not matter. Written by hand
//! because the usual crate brings a regex engine.

/// A compiled glob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    tokens: Vec<Token>,
    fold: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    Byte(u8),
    Any,
    Star,
    DoubleStar,
    /// `**/`: nothing, or anything that ends in a separator.
    Dirs,
}

/// `/` between directories, `!` between a zip and its member.
const fn separator(byte: u8) -> bool {
    matches!(byte, b'/' | b'!')
}

impl Glob {
    /// Compiles `pattern`. With `fold` (Windows targets), ASCII case does not count and `\` is `/`.
    #[must_use]
    pub fn new(pattern: &str, fold: bool) -> Self {
        let bytes: Vec<u8> = pattern.bytes().map(|b| norm(b, fold)).collect();
        let bytes = unrooted(&bytes, fold);
        let mut tokens = Vec::new();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let start = at == 0 || separator(bytes[at - 1]);
            let token = match &bytes[at..] {
                [b'*', b'*', b'/', ..] if start => {
                    at += 2;
                    Token::Dirs
                }
                [b'*', b'*', ..] => {
                    at += 1;
                    Token::DoubleStar
                }
                [b'*', ..] => Token::Star,
                [b'?', ..] => Token::Any,
                _ => Token::Byte(byte),
            };
            tokens.push(token);
            at += 1;
        }
        Self { tokens, fold }
    }

    /// Whether the glob matches all of `name`. Takes at most pattern × name steps.
    #[must_use]
    pub fn matches(&self, name: &[u8]) -> bool {
        let name = unrooted(name, self.fold);
        // The set of name positions that the tokens so far can end at.
        let mut reach = vec![false; name.len() + 1];
        reach[0] = true;
        for token in &self.tokens {
            let mut next = vec![false; name.len() + 1];
            match token {
                Token::Byte(_) | Token::Any => {
                    for (at, &byte) in name.iter().enumerate() {
                        let byte = norm(byte, self.fold);
                        next[at + 1] = reach[at]
                            && match token {
                                Token::Byte(want) => byte == *want,
                                _ => !separator(byte),
                            };
                    }
                }
                Token::Star => {
                    let mut open = false;
                    for at in 0..=name.len() {
                        if at > 0 && separator(norm(name[at - 1], self.fold)) {
                            open = false;
                        }
                        open |= reach[at];
                        next[at] = open;
                    }
                }
                Token::DoubleStar => {
                    let mut open = false;
                    for at in 0..=name.len() {
                        open |= reach[at];
                        next[at] = open;
                    }
                }
                Token::Dirs => {
                    let mut open = false;
                    for at in 0..=name.len() {
                        next[at] =
                            reach[at] || open && at > 0 && separator(norm(name[at - 1], self.fold));
                        open |= reach[at];
                    }
                }
            }
            reach = next;
        }
        reach[name.len()]
    }
}

/// The name without the root of its file system.
fn unrooted(name: &[u8], fold: bool) -> &[u8] {
    let name = match name {
        [drive, b':', rest @ ..] if fold && drive.is_ascii_alphabetic() => rest,
        name => name,
    };
    match name {
        [b'/', rest @ ..] => rest,
        [b'\\', rest @ ..] if fold => rest,
        name => name,
    }
}

fn norm(byte: u8, fold: bool) -> u8 {
    match byte {
        b'\\' if fold => b'/',
        b if fold => b.to_ascii_lowercase(),
        b => b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(pattern: &str, name: &str) -> bool {
        Glob::new(pattern, false).matches(name.as_bytes())
    }

    #[test]
    fn stars_stop_at_separators_and_double_stars_do_not() {
        assert!(hit("bin/*.dll", "bin/a.dll"));
        assert!(!hit("bin/*.dll", "bin/sub/a.dll"));
        assert!(!hit("*.dll", "bin/a.dll"));
        assert!(hit("**.dll", "bin/sub/a.dll"));
        assert!(hit("bin/**", "bin/sub/a.dll"));
        assert!(!hit("x.whl*", "x.whl!m.pyd"));
        assert!(hit("?in/a", "bin/a") && !hit("bin?a", "bin/a"));
    }

    #[test]
    fn leading_double_star_matches_at_any_depth_and_none() {
        for name in ["protoc.exe", "bin/protoc.exe", "w/x.whl!protoc.exe"] {
            assert!(hit("**/protoc.exe", name), "{name}");
        }
        assert!(!hit("**/protoc.exe", "bin/notprotoc.exe"));
        assert!(hit("a/**/z", "a/z") && hit("a/**/z", "a/b/c/z") && !hit("a/**/z", "a/bz"));
    }

    #[test]
    fn windows_targets_fold_case_and_backslashes() {
        let glob = Glob::new(r"C:\Runtime\**\Protoc.exe", true);
        assert!(glob.matches(b"c:/runtime/bin/PROTOC.EXE"));
        assert!(glob.matches(br"\runtime\protoc.exe") && glob.matches(b"runtime/a/b/protoc.exe"));
        assert!(!Glob::new("A", false).matches(b"a"));
    }

    #[test]
    fn a_root_in_front_of_name_or_glob_does_not_matter() {
        assert!(hit("/runtime/*", "runtime/a") && hit("runtime/*", "/runtime/a"));
        assert!(
            !hit("C:/runtime/*", "runtime/a"),
            "a drive is one on Windows only"
        );
    }

    #[test]
    fn a_hostile_pattern_stays_quadratic() {
        let name = vec![b'a'; 4096];
        let pattern = "*a".repeat(500) + "b";
        assert!(!Glob::new(&pattern, false).matches(&name));
    }
}
