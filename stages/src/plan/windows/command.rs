//! Command lines. Windows starts a process with one text, and programs take it apart by the
//! rules of `CommandLineToArgvW`; BuildKit joins the arguments of an exec with blanks and quotes
//! nothing (`executor/oci/spec_windows.go`), so the text is made here and given as the only one.

/// One argument as a program reads it back: in quotes where it has blanks or is empty; a quote
/// gets a backslash in front, and the backslashes before a quote are doubled.
pub(in crate::plan) fn quoted(word: &str) -> String {
    if !word.is_empty() && !word.contains([' ', '\t', '\n', '\r', '\u{b}', '"']) {
        return word.to_owned();
    }
    let mut out = String::from('"');
    let mut backslashes = 0;
    for c in word.chars() {
        match c {
            '\\' => backslashes += 1,
            '"' => {
                out.push_str(&"\\".repeat(backslashes + 1));
                backslashes = 0;
            }
            _ => backslashes = 0,
        }
        out.push(c);
    }
    out.push_str(&"\\".repeat(backslashes));
    out.push('"');
    out
}

/// The words of a command as one line.
pub(in crate::plan) fn line(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

/// A batch file that runs a command line behind some lines, with its exit code. `cmd` is in every
/// Windows base image.
///
/// # Errors
/// What a batch file cannot hold, as the end of a sentence about the command.
pub(in crate::plan) fn behind(lines: &str, line: &str) -> Result<String, &'static str> {
    /// The longest line that `cmd` reads, in characters.
    const LONGEST: usize = 8191;
    if line.contains(['\n', '\r']) {
        return Err("has a line break");
    }
    let command = in_batch(line);
    if command.chars().count() > LONGEST {
        return Err("is longer than 8191 characters");
    }
    let mut text = String::from("@echo off\r\n");
    if !line.is_ascii() {
        text.push_str("chcp 65001 >nul\r\n");
    }
    text.push_str(lines);
    text.push_str(&command);
    text.push_str("\r\n");
    Ok(text)
}

/// A command line that `cmd` hands on as it is: the program's name stays readable for `cmd`,
/// behind it nothing means anything to `cmd`.
fn in_batch(line: &str) -> String {
    let program = match line.strip_prefix('"') {
        Some(rest) => rest.find('"').map_or(line.len(), |end| end + 2),
        None => line.find([' ', '\t']).unwrap_or(line.len()),
    };
    let (program, rest) = line.split_at(program);
    let mut out = program.replace('%', "%%");
    for c in rest.chars() {
        match c {
            '%' => out.push('%'),
            '"' | '^' | '&' | '|' | '<' | '>' | '(' | ')' | '!' => out.push('^'),
            _ => {}
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a program gets, by the documented rules of `CommandLineToArgvW` behind the first
    /// word: 2n backslashes and a quote are n backslashes and a switch, 2n+1 are n and a quote.
    fn read_back(line: &str) -> Vec<String> {
        let (mut words, mut word, mut open, mut any) = (Vec::new(), String::new(), false, false);
        let chars: Vec<char> = line.chars().collect();
        let mut i = 0;
        while i < chars.len() {
            let slashes = chars[i..].iter().take_while(|c| **c == '\\').count();
            if slashes > 0 {
                i += slashes;
                any = true;
                if chars.get(i) == Some(&'"') {
                    word.push_str(&"\\".repeat(slashes / 2));
                    if slashes % 2 == 1 {
                        word.push('"');
                        i += 1;
                    }
                } else {
                    word.push_str(&"\\".repeat(slashes));
                }
                continue;
            }
            match chars[i] {
                '"' => (open, any) = (!open, true),
                ' ' | '\t' if !open => {
                    if any {
                        words.push(std::mem::take(&mut word));
                    }
                    any = false;
                }
                c => {
                    word.push(c);
                    any = true;
                }
            }
            i += 1;
        }
        if any {
            words.push(word);
        }
        words
    }

    proptest::proptest! {
        #[test]
        fn every_word_is_read_back(words in proptest::collection::vec("[a-z \\t\"\\\\%^&é]{0,8}", 1..6)) {
            proptest::prop_assert_eq!(read_back(&line(&words)), words);
        }
    }

    #[test]
    fn words_are_quoted_where_they_must_be() {
        for (word, want) in [
            ("plain", "plain"),
            (r"C:\a\b", r"C:\a\b"),
            ("", "\"\""),
            (r"C:\Program Files\", r#""C:\Program Files\\""#),
            (r#"a"b"#, r#""a\"b""#),
            (r#"a\"b"#, r#""a\\\"b""#),
        ] {
            assert_eq!(quoted(word), want);
        }
    }

    #[test]
    fn cmd_hands_a_line_on_as_it_is() {
        let text = behind(
            "if not defined A set \"A=\"\r\nif not defined B set \"B=\"\r\n",
            r#""C:\My Tools\x.exe" "a & b" 100% (c)"#,
        )
        .unwrap();
        assert_eq!(
            text,
            "@echo off\r\nif not defined A set \"A=\"\r\nif not defined B set \"B=\"\r\n\
             \"C:\\My Tools\\x.exe\" ^\"a ^& b^\" 100%% ^(c^)\r\n"
        );
        assert!(behind("", "ü").unwrap().contains("chcp 65001"));
        assert!(behind("", "a\nb").is_err());
        assert!(behind("", &"a".repeat(9000)).is_err());
    }
}
