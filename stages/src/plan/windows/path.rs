//! Windows paths as they are declared: `C:\runtime\lib`.

use std::collections::BTreeMap;

use crate::diag::{Diagnostic, Report, Span, rule};

/// How declared paths of a lane are spelled.
#[derive(Debug, Clone)]
pub(in crate::plan) enum Spelling {
    /// `/opt/app`
    Linux,
    /// `C:\opt\app`, with the first spelling of each path by its small letters: BuildKit selects
    /// and hashes by the exact name, so a path that is written in two ways would be two.
    Windows(BTreeMap<String, (String, Span)>),
}

/// Names that no file can have, with or without something behind a dot.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

impl Spelling {
    /// That of a lane's platform.
    pub(in crate::plan) fn of(platform: &str) -> Self {
        if super::is_windows(platform) {
            Self::Windows(BTreeMap::new())
        } else {
            Self::Linux
        }
    }

    /// Whether it is that of Windows.
    pub(in crate::plan) fn is_windows(&self) -> bool {
        matches!(self, Self::Windows(_))
    }

    /// A path of the plan as the file spells paths.
    pub(in crate::plan) fn shown(&self, path: &str) -> String {
        if self.is_windows() {
            super::with_drive(path)
        } else {
            path.to_owned()
        }
    }

    /// The same as a text of the lane file has it: on Windows in '…', which leaves the `\` alone.
    pub(in crate::plan) fn quoted(&self, path: &str) -> String {
        let path = self.shown(path);
        if self.is_windows() {
            format!("'{path}'")
        } else {
            format!("\"{path}\"")
        }
    }

    /// What stands between the parts of a list such as PATH.
    pub(in crate::plan) fn separator(&self) -> &'static str {
        if self.is_windows() { ";" } else { ":" }
    }

    /// A place that the format itself chose: with `/` on either system.
    pub(in crate::plan) fn usual(
        &self,
        text: &str,
        span: &Span,
        report: &mut Report,
    ) -> Option<String> {
        linux(text)
            .map_err(|why| report.push(not_a_path(text, span, why)))
            .ok()
    }

    /// An absolute, clean path with `/` and without a drive, or an error at `span`.
    pub(in crate::plan) fn absolute(
        &mut self,
        text: &str,
        span: &Span,
        report: &mut Report,
    ) -> Option<String> {
        let Self::Windows(seen) = self else {
            return linux(text)
                .map_err(|why| report.push(not_a_path(text, span, why)))
                .ok();
        };
        let path = match windows(text) {
            Ok(path) => path,
            Err(why) => {
                let help =
                    r"write it as C:\directory\file, in '…' so that TOML leaves the `\` alone";
                report.push(not_a_path(text, span, &why).help(help));
                return None;
            }
        };
        once(seen, &path, span, report).then_some(path)
    }
}

fn not_a_path(text: &str, span: &Span, why: &str) -> Diagnostic {
    Diagnostic::new(rule::PATH, format!("`{text}` is not a path here")).at(span, why)
}

fn linux(text: &str) -> Result<String, &'static str> {
    let trimmed = if text == "/" {
        text
    } else {
        text.trim_end_matches('/')
    };
    if !trimmed.starts_with('/') {
        return Err("expected an absolute path");
    }
    if trimmed.contains('\\') {
        return Err("a path of a Linux lane has `/`");
    }
    let mut parts = trimmed.split('/').skip(1);
    if trimmed != "/" && parts.any(|p| p.is_empty() || p == "." || p == "..") {
        return Err("expected a path without `.`, `..` and `//`");
    }
    Ok(trimmed.to_owned())
}

fn windows(text: &str) -> Result<String, String> {
    let Some((drive, rest)) = text.split_once(":\\") else {
        let why = if text.starts_with("\\\\") {
            "a path of another machine cannot be in an image"
        } else if text.contains(":/") || text.starts_with('/') {
            r"a path of a Windows lane has a drive and `\`"
        } else {
            r"expected an absolute path: C:\…"
        };
        return Err(why.to_owned());
    };
    if !drive.eq_ignore_ascii_case("c") {
        return Err("an image has the drive C: alone".to_owned());
    }
    if rest.contains('/') {
        return Err(r"`/` and `\` are mixed".to_owned());
    }
    let rest = rest.trim_end_matches('\\');
    if rest.is_empty() {
        return Ok("/".to_owned());
    }
    for part in rest.split('\\') {
        name(part)?;
    }
    Ok(format!("/{}", rest.replace('\\', "/")))
}

/// One name of a Windows path. `*` and `?` are patterns: who takes none says so.
pub(in crate::plan) fn name(part: &str) -> Result<(), String> {
    if part.is_empty() || part == "." || part == ".." {
        return Err(r"expected a path without `.`, `..` and `\\`".to_owned());
    }
    if part.contains(['<', '>', ':', '"', '|']) || part.chars().any(char::is_control) {
        return Err(format!("`{part}` has a character that no name has"));
    }
    if part.ends_with(['.', ' ']) {
        return Err(format!(
            "`{part}` ends with a dot or blank, which Windows drops"
        ));
    }
    let stem = part.split('.').next().unwrap_or(part).to_ascii_lowercase();
    let numbered = |prefix: &str| {
        stem.strip_prefix(prefix)
            .is_some_and(|n| matches!(n.as_bytes(), [b'1'..=b'9']))
    };
    if DEVICES.contains(&stem.as_str()) || numbered("com") || numbered("lpt") {
        return Err(format!("`{part}` is the name of a device"));
    }
    Ok(())
}

/// Whether the path and all directories above it are spelled as elsewhere.
fn once(
    seen: &mut BTreeMap<String, (String, Span)>,
    path: &str,
    span: &Span,
    report: &mut Report,
) -> bool {
    let ends = path.match_indices('/').map(|(at, _)| at).skip(1);
    for end in ends.chain([path.len()]) {
        let head = &path[..end];
        let first = seen
            .entry(head.to_lowercase())
            .or_insert_with(|| (head.to_owned(), span.clone()));
        if first.0 != head {
            let shown = |path: &str| super::with_drive(path);
            let message = format!("`{}` and `{}` are one path", shown(head), shown(&first.0));
            report.push(
                Diagnostic::new(rule::SPELLING, message)
                    .at(span, "spelled so here")
                    .related(&first.1, "and so here")
                    .help("Windows does not tell them apart, but keys do: spell it in one way"),
            );
            return false;
        }
    }
    true
}

/// Where a base image says that its processes start, in whichever way it says it: `C:\app`,
/// `\app` (what a Dockerfile's `WORKDIR` leaves) or `/app`.
pub(in crate::plan) fn working_dir(text: &str) -> String {
    let path = text.replace('\\', "/");
    let path = match path.split_once(':') {
        Some((_, rest)) => rest,
        None => &path,
    };
    let parts: Vec<&str> = path
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    if parts.contains(&"..") {
        return "/".to_owned();
    }
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_loses_its_drive_and_its_backslashes() {
        for (text, path) in [
            (r"C:\runtime\lib", "/runtime/lib"),
            (r"c:\Program Files\x\", "/Program Files/x"),
            (r"C:\", "/"),
            (r"C:\wheels\onnx-*", "/wheels/onnx-*"),
            (r"C:\common\com10", "/common/com10"),
        ] {
            assert_eq!(windows(text).as_deref(), Ok(path), "{text}");
        }
    }

    #[test]
    fn what_is_no_path_on_windows_is_refused() {
        for text in [
            "",
            "C:",
            "C:x",
            "/runtime",
            "C:/runtime",
            r"C:\a/b",
            r"D:\a",
            r"\\host\share",
            r"a\b",
            r"C:\a\..\b",
            r"C:\a\\b",
            r"C:\nul",
            r"C:\x\COM1.txt",
            r"C:\a.",
            r"C:\a \b",
            r"C:\a:b",
            "C:\\a\"b",
            "C:\\a\u{1}b",
            r"\a",
        ] {
            assert!(windows(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_base_image_says_its_working_directory_in_three_ways() {
        for (text, path) in [
            (r"C:\app", "/app"),
            (r"\app\x", "/app/x"),
            ("/app", "/app"),
            ("", "/"),
            (r"C:\", "/"),
            (r"C:\..\x", "/"),
        ] {
            assert_eq!(working_dir(text), path, "{text}");
        }
    }
}
