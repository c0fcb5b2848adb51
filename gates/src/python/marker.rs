//! Environment markers: `python_version < "3.12" and extra == "all"`.
//!
//! Evaluation has three values. What hangs on a variable that was not declared is undecided, and
//! a gate reports that; it never counts as "does not apply".

use std::collections::BTreeSet;
use std::str::FromStr as _;

use pep440_rs::{Operator, Version, VersionSpecifier};

use super::environment::{Environment, VARIABLES};
use super::normal;

/// A marker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Marker {
    /// All hold.
    And(Vec<Marker>),
    /// One holds.
    Or(Vec<Marker>),
    /// `left op right`.
    Compare(Value, Op, Value),
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A variable.
    Variable(String),
    /// A quoted text.
    Text(String),
}

/// An operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// One of the version operators, with its spelling.
    Version(&'static str),
    /// `in`.
    In,
    /// `not in`.
    NotIn,
}

/// Brackets in brackets; no real marker has more than three.
const DEPTH: usize = 32;
const OPERATORS: [&str; 8] = ["===", "==", "!=", "<=", ">=", "~=", "<", ">"];

impl Marker {
    /// Reads a marker.
    ///
    /// # Errors
    /// What is wrong and where.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parser = Parser { text, at: 0 };
        let marker = parser.or(0)?;
        parser.space();
        if parser.rest().is_empty() {
            Ok(marker)
        } else {
            Err(parser.wrong("`and`, `or` or the end"))
        }
    }

    /// Whether it holds for an interpreter and one of its extras (none when no extra is asked
    /// for), or the first variable that it hangs on and that nobody declared.
    ///
    /// # Errors
    /// The undeclared variable, or a comparison that means nothing.
    pub fn holds(&self, env: &Environment, extra: Option<&str>) -> Result<bool, String> {
        match self {
            Self::And(parts) => decide(parts, false, env, extra),
            Self::Or(parts) => decide(parts, true, env, extra),
            Self::Compare(left, op, right) => compare(left, *op, right, env, extra),
        }
    }

    /// The extras that it names.
    #[must_use]
    pub fn extras(&self) -> BTreeSet<String> {
        match self {
            Self::And(parts) | Self::Or(parts) => parts.iter().flat_map(Self::extras).collect(),
            Self::Compare(Value::Variable(v), _, Value::Text(text))
            | Self::Compare(Value::Text(text), _, Value::Variable(v))
                if v == "extra" =>
            {
                BTreeSet::from([normal(text)])
            }
            Self::Compare(..) => BTreeSet::new(),
        }
    }
}

/// `and` is decided by one false part, `or` by one true one, also beside undecided ones.
fn decide(
    parts: &[Marker],
    by: bool,
    env: &Environment,
    extra: Option<&str>,
) -> Result<bool, String> {
    let mut undecided = None;
    for part in parts {
        match part.holds(env, extra) {
            Ok(value) if value == by => return Ok(by),
            Ok(_) => {}
            Err(why) => undecided = undecided.or(Some(why)),
        }
    }
    undecided.map_or(Ok(!by), Err)
}

fn compare(
    left: &Value,
    op: Op,
    right: &Value,
    env: &Environment,
    extra: Option<&str>,
) -> Result<bool, String> {
    let is_extra = |value: &Value| matches!(value, Value::Variable(name) if name == "extra");
    if is_extra(left) || is_extra(right) {
        let text = |value: &Value| match value {
            Value::Variable(_) => extra.map(normal).unwrap_or_default(),
            Value::Text(text) => normal(text),
        };
        return strings(&text(left), op, &text(right));
    }
    let value = |value: &Value, other: &Value| match (value, other) {
        (Value::Text(text), _) => Ok(text.clone()),
        (Value::Variable(name), other) => env
            .get(name)
            .map(str::to_owned)
            .or_else(|| match other {
                Value::Text(text) => env.beside(name, text),
                Value::Variable(_) => None,
            })
            .ok_or_else(|| format!("`{name}` is not declared")),
    };
    let (left, right) = (value(left, right)?, value(right, left)?);
    if let Op::Version(op) = op
        && let Some(result) = versions(&left, op, &right)
    {
        return Ok(result);
    }
    strings(&left, op, &right)
}

/// The comparison of two versions, when both are some.
fn versions(left: &str, op: &str, right: &str) -> Option<bool> {
    let version = Version::from_str(left).ok()?;
    let specifier = VersionSpecifier::from_str(&format!("{op}{right}")).ok()?;
    // An interpreter may be a pre-release, and is what it is; only `===` looks at the text.
    match specifier.operator() {
        Operator::ExactEqual => Some(left.eq_ignore_ascii_case(right)),
        _ => Some(specifier.contains(&version)),
    }
}

fn strings(left: &str, op: Op, right: &str) -> Result<bool, String> {
    match op {
        Op::In => Ok(right.contains(left)),
        Op::NotIn => Ok(!right.contains(left)),
        Op::Version("==" | "===") => Ok(left == right),
        Op::Version("!=") => Ok(left != right),
        Op::Version(op) => Err(format!("`{left}` {op} `{right}` compares no versions")),
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn wrong(&self, expected: &str) -> String {
        let found: String = self.rest().chars().take(20).collect();
        let found = if found.is_empty() {
            "the end".to_owned()
        } else {
            format!("`{found}`")
        };
        format!("found {found}, expected {expected}")
    }

    /// Takes a word when it stands here whole.
    fn word(&mut self, word: &str) -> bool {
        self.space();
        let whole = self
            .rest()
            .strip_prefix(word)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
        self.at += if whole { word.len() } else { 0 };
        whole
    }

    fn or(&mut self, depth: usize) -> Result<Marker, String> {
        self.chain(depth, "or", Marker::Or, Self::and)
    }

    fn and(&mut self, depth: usize) -> Result<Marker, String> {
        self.chain(depth, "and", Marker::And, Self::atom)
    }

    fn chain(
        &mut self,
        depth: usize,
        word: &str,
        make: fn(Vec<Marker>) -> Marker,
        part: fn(&mut Self, usize) -> Result<Marker, String>,
    ) -> Result<Marker, String> {
        let first = part(self, depth)?;
        let mut parts = vec![first];
        while self.word(word) {
            parts.push(part(self, depth)?);
        }
        Ok(match parts.pop() {
            Some(only) if parts.is_empty() => only,
            last => {
                parts.extend(last);
                make(parts)
            }
        })
    }

    fn atom(&mut self, depth: usize) -> Result<Marker, String> {
        self.space();
        if self.rest().starts_with('(') {
            if depth == DEPTH {
                return Err(format!("brackets nest deeper than {DEPTH}"));
            }
            self.at += 1;
            let inner = self.or(depth + 1)?;
            self.space();
            if !self.rest().starts_with(')') {
                return Err(self.wrong("`)`"));
            }
            self.at += 1;
            return Ok(inner);
        }
        let left = self.value()?;
        let op = self.op()?;
        let right = self.value()?;
        if matches!((&left, &right), (Value::Text(_), Value::Text(_))) {
            return Err("a comparison without a variable".to_owned());
        }
        Ok(Marker::Compare(left, op, right))
    }

    fn value(&mut self) -> Result<Value, String> {
        self.space();
        let rest = self.rest();
        if let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
            let Some(end) = rest[1..].find(quote) else {
                return Err("a quote that does not end".to_owned());
            };
            self.at += end + 2;
            return Ok(Value::Text(rest[1..=end].to_owned()));
        }
        let end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.')))
            .unwrap_or(rest.len());
        let name = canonical(&rest[..end]);
        if name != "extra" && !VARIABLES.contains(&name) {
            return Err(self.wrong("a marker variable or a quoted text"));
        }
        self.at += end;
        Ok(Value::Variable(name.to_owned()))
    }

    fn op(&mut self) -> Result<Op, String> {
        if self.word("in") {
            return Ok(Op::In);
        }
        if self.word("not") {
            return if self.word("in") {
                Ok(Op::NotIn)
            } else {
                Err(self.wrong("`in`"))
            };
        }
        self.space();
        match OPERATORS.iter().find(|op| self.rest().starts_with(**op)) {
            Some(op) => {
                self.at += op.len();
                Ok(Op::Version(op))
            }
            None => Err(self.wrong("an operator")),
        }
    }
}

/// Spellings of variables from before the standard that old wheels still have.
fn canonical(name: &str) -> &str {
    match name {
        "os.name" => "os_name",
        "sys.platform" => "sys_platform",
        "platform.version" => "platform_version",
        "platform.machine" => "platform_machine",
        "platform.python_implementation" | "python_implementation" => {
            "platform_python_implementation"
        }
        name => name,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn env() -> Environment {
        Environment::new("windows/arm64", "3.14", &BTreeMap::new()).unwrap()
    }

    fn holds(text: &str) -> Result<bool, String> {
        Marker::parse(text).unwrap().holds(&env(), None)
    }

    #[test]
    fn versions_compare_as_versions_and_texts_as_texts() {
        for (text, want) in [
            ("python_version < '3.8'", false),
            ("python_version >= '3.9'", true),
            ("'3.9' <= python_version", true),
            ("python_version == '3.*'", true),
            ("python_version ~= '3.10'", true),
            ("python_version in '3.13 3.14'", true),
            ("python_version not in '3.13, 3.12'", true),
            ("sys_platform == \"win32\"", true),
            ("sys_platform != 'win32'", false),
            ("sys.platform == 'win32'", true),
            ("platform_machine in 'ARM64 aarch64'", true),
            ("python_implementation == 'CPython'", true),
            ("extra == 'Foo_Bar'", false),
        ] {
            assert_eq!(holds(text), Ok(want), "{text}");
        }
    }

    #[test]
    fn or_binds_weaker_than_and_and_brackets_bind_first() {
        let a = "os_name == 'nt' or os_name == 'x' and os_name == 'y'";
        let b = "(os_name == 'nt' or os_name == 'x') and os_name == 'y'";
        assert_eq!((holds(a), holds(b)), (Ok(true), Ok(false)));
    }

    #[test]
    fn an_extra_in_an_or_does_not_drop_the_rest() {
        // Dropping whatever mentions `extra` was once a green gate.
        let marker = Marker::parse("extra == 'x' or sys_platform == 'win32'").unwrap();
        assert_eq!(marker.holds(&env(), None), Ok(true));
        assert_eq!(marker.extras(), BTreeSet::from(["x".to_owned()]));
        let only = Marker::parse("extra == 'Foo.Bar' and os_name == 'nt'").unwrap();
        assert_eq!(only.holds(&env(), None), Ok(false));
        assert_eq!(only.holds(&env(), Some("foo-bar")), Ok(true));
    }

    #[test]
    fn what_is_not_declared_is_undecided_unless_the_rest_decides() {
        assert!(holds("python_full_version >= '3.14.1'").is_err());
        assert!(holds("'3.14' < python_full_version").is_err());
        assert!(holds("python_full_version == '3.*'").is_err());
        // Of CPython 3.14 the last number does not matter here.
        for (text, want) in [
            ("python_full_version < '3.11.3'", false),
            ("'3.13.9' <= python_full_version", true),
            ("python_full_version < '3.15.0a1'", true),
            ("python_full_version != '3.13.*'", true),
            ("python_full_version ~= '3.10'", true),
            ("implementation_version < '3.9'", false),
        ] {
            assert_eq!(holds(text), Ok(want), "{text}");
        }
        assert!(holds("platform_release == '10' and os_name == 'nt'").is_err());
        assert_eq!(
            holds("platform_release == '10' and os_name == 'posix'"),
            Ok(false)
        );
        assert_eq!(
            holds("platform_release == '10' or os_name == 'nt'"),
            Ok(true)
        );
        assert!(holds("sys_platform > 'linux'").is_err(), "means nothing");
    }

    #[test]
    fn what_is_no_marker_is_refused() {
        for text in [
            "",
            "os_name",
            "os_name ==",
            "os_name = 'nt'",
            "os_nmae == 'nt'",
            "'a' == 'b'",
            "os_name == 'nt",
            "(os_name == 'nt'",
            "os_name == 'nt')",
            "os_name == 'nt' os_name == 'nt'",
            "os_name not 'nt'",
        ] {
            assert!(Marker::parse(text).is_err(), "{text}");
        }
        let deep = "(".repeat(10_000);
        assert!(Marker::parse(&deep).unwrap_err().contains("deeper"));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[ ()a-z_.0-9'\"<>=~!é]{0,60}") {
            if let Ok(marker) = Marker::parse(&text) {
                let _ = marker.holds(&env(), Some("x"));
            }
        }
    }
}
