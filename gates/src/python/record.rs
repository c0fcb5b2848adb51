//! RECORD: the files of a wheel, each with a digest and a size, as lines of CSV.

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The member, `/` between directories.
    pub path: String,
    /// `sha256=…` in URL-safe base64 without padding; none for RECORD itself and signatures.
    pub hash: Option<String>,
    /// Bytes.
    pub size: Option<u64>,
}

/// Reads RECORD.
///
/// # Errors
/// The first line that is none of its form, with its number.
pub fn read(bytes: &[u8]) -> Result<Vec<Entry>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    let mut entries = Vec::new();
    for (number, fields) in rows(text)? {
        if fields.len() == 1 && fields[0].is_empty() {
            continue;
        }
        let [path, hash, size] = &fields[..] else {
            return Err(format!(
                "line {number}: {} fields, expected 3",
                fields.len()
            ));
        };
        let size = match size.as_str() {
            "" => None,
            digits => Some(
                digits
                    .parse()
                    .map_err(|_| format!("line {number}: size `{digits}`"))?,
            ),
        };
        entries.push(Entry {
            path: path.replace('\\', "/"),
            hash: (!hash.is_empty()).then(|| hash.clone()),
            size,
        });
    }
    Ok(entries)
}

/// Rows of CSV with the number of the line that each begins on.
fn rows(text: &str) -> Result<Vec<(usize, Vec<String>)>, String> {
    let mut rows = Vec::new();
    let mut row = vec![String::new()];
    let (mut line, mut start, mut quoted) = (1, 1, false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        // There is always a last field: a row begins with one.
        let Some(field) = row.last_mut() else { break };
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' if quoted => quoted = false,
            '"' if field.is_empty() => quoted = true,
            ',' if !quoted => row.push(String::new()),
            '\r' if !quoted && chars.peek() == Some(&'\n') => {}
            '\r' | '\n' if !quoted => {
                line += 1;
                rows.push((start, std::mem::replace(&mut row, vec![String::new()])));
                start = line;
            }
            c => {
                line += usize::from(c == '\n');
                field.push(c);
            }
        }
    }
    if quoted {
        return Err(format!("line {start}: a quote that does not end"));
    }
    rows.push((start, row));
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_three_fields_and_may_be_quoted() {
        let text = "a.py,sha256=abc,12\r\n\"b,\"\"c\"\".py\",,\nRECORD,,\n";
        let entries = read(text.as_bytes()).unwrap();
        let paths: Vec<&str> = entries.iter().map(|e| e.path.as_str()).collect();
        assert_eq!(paths, ["a.py", "b,\"c\".py", "RECORD"]);
        assert_eq!((entries[0].size, entries[1].size), (Some(12), None));
        assert_eq!(entries[0].hash.as_deref(), Some("sha256=abc"));
    }

    #[test]
    fn whatever_is_no_record_is_refused_with_its_line() {
        for (text, why) in [
            ("a,b", "line 1: 2 fields"),
            ("a,,\nb,,x", "line 2: size `x`"),
            ("\"a,,", "does not end"),
        ] {
            assert!(read(text.as_bytes()).unwrap_err().contains(why), "{text}");
        }
        assert!(read(b"\xff,,").is_err());
        assert_eq!(read(b"").unwrap(), []);
    }
}
