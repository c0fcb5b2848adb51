//! Paths inside a file system, as ops carry them.

use crate::Error;

/// `path` with single slashes and without `.`; a slash at the end is dropped.
///
/// # Errors
/// It does not begin with a slash, or has a `..`: ops are not a place to find
/// out where that leads.
pub(crate) fn absolute(what: &'static str, path: &str) -> Result<String, Error> {
    let invalid = |expected| Error::Invalid {
        what,
        value: path.to_owned(),
        expected,
    };
    if !path.starts_with('/') {
        return Err(invalid("absolute, with slashes"));
    }
    let mut clean = String::with_capacity(path.len());
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => return Err(invalid("free of `..`")),
            part => {
                clean.push('/');
                clean.push_str(part);
            }
        }
    }
    if clean.is_empty() {
        clean.push('/');
    }
    Ok(clean)
}

/// A place in a running container: also `C:\…` or `C:/…`, which is kept as it
/// is but for a separator at the end.
///
/// # Errors
/// As [`absolute`].
pub(crate) fn mount_point(what: &'static str, path: &str) -> Result<String, Error> {
    let Some((drive, rest)) = path.split_once(':') else {
        return absolute(what, path);
    };
    let is_drive = drive.len() == 1 && drive.bytes().all(|b| b.is_ascii_alphabetic());
    if !is_drive {
        return absolute(what, path);
    }
    let is_separator = |c| c == '/' || c == '\\';
    if !rest.starts_with(is_separator) || rest.split(is_separator).any(|part| part == "..") {
        return Err(Error::Invalid {
            what,
            value: path.to_owned(),
            expected: "absolute and free of `..`",
        });
    }
    let rest = rest.trim_end_matches(is_separator);
    let rest = if rest.is_empty() { r"\" } else { rest };
    Ok(format!("{drive}:{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_one_form() {
        for (path, clean) in [("/", "/"), ("//", "/"), ("/a/", "/a"), ("/a//./b", "/a/b")] {
            assert_eq!(absolute("path", path).as_deref(), Ok(clean));
        }
        for path in ["", "a", "/a/../b", "/..", r"C:\a"] {
            assert!(absolute("path", path).is_err(), "{path}");
        }
    }

    #[test]
    fn mount_points_may_have_a_drive() {
        for (path, clean) in [
            (r"C:\", r"C:\"),
            (r"C:\src\", r"C:\src"),
            ("c:/src", "c:/src"),
            ("/a:b", "/a:b"),
        ] {
            assert_eq!(mount_point("mount", path).as_deref(), Ok(clean));
        }
        for path in ["", "C:", "C:a", r"C:\a\..\b", "CC:/a", "a"] {
            assert!(mount_point("mount", path).is_err(), "{path}");
        }
    }
}
