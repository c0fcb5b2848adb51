//! Declared text with values in it: `${pin.X}`, `${arg.X}`, `${lane.X}`, `${slot.X}`,
//! `${arch.X}`, `${env.X}`; and the entries of `args`: `NAME`, `NEW=OLD`.
//!
//! In the words of a command, `${X}` without a dot belongs to the shell and stays as it is:
//! no shell variable has a dot in its name, so the two never meet.

use crate::diag::{Diagnostic, Report, Span, Spanned, rule, suggest};
use crate::predefined::PlatformArg;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ValueRef {
    /// A pin or an argument: one namespace, so the name alone decides.
    Named(String),
    /// A pin, said so.
    Pin(String),
    /// An argument, said so.
    Arg(String),
    /// An attribute of the lane.
    Lane(LaneField),
    /// A constant of the lane.
    Set(String),
    /// The choice that the lane makes for a slot.
    Slot(String),
    /// A switch: `true` or `false`.
    Switch(String),
    /// Whether a payload is there: `present` or `absent`.
    Payload(String),
    /// A fact of the lane's target, by its key in the arch table.
    Arch(String),
    /// The commit that the ref of a git source stands for.
    Commit(String),
    /// A platform of the lane, by Docker's name.
    Platform(PlatformArg),
    /// A variable of the chain env that the stage starts with.
    Env(String),
}

/// What of a lane a file may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LaneField {
    /// Its name.
    Name,
    /// The architecture that is built for: `arm64`.
    Target,
    /// The operating system that is built for: `windows`.
    TargetOs,
    /// What the steps run on: `linux/amd64`.
    Platform,
}

const LANE_FIELDS: [(&str, LaneField); 4] = [
    ("name", LaneField::Name),
    ("target", LaneField::Target),
    ("target-os", LaneField::TargetOs),
    ("platform", LaneField::Platform),
];

const PREFIXES: [&str; 9] = [
    "pin", "arg", "lane", "slot", "switch", "payload", "arch", "env", "git",
];

impl LaneField {
    /// The field with this name.
    pub fn named(name: &str) -> Option<Self> {
        LANE_FIELDS
            .iter()
            .find(|(n, _)| *n == name)
            .map(|(_, field)| *field)
    }

    /// Its name behind `lane.`.
    pub fn name(self) -> &'static str {
        let entry = LANE_FIELDS.iter().find(|(_, field)| *field == self);
        entry.map_or("", |(name, _)| name)
    }

    /// The names of all fields.
    pub fn names() -> impl Iterator<Item = &'static str> + Clone {
        LANE_FIELDS.iter().map(|(name, _)| *name)
    }
}

impl ValueRef {
    /// Reads `prefix.name`, or a bare name where one is allowed.
    fn read(text: &str, span: &Span, bare: bool, report: &mut Report) -> Option<Self> {
        let Some((prefix, name)) = text.split_once('.') else {
            if bare {
                let platform = PlatformArg::named(text).map(Self::Platform);
                return platform.or_else(|| Some(Self::Named(text.into())));
            }
            report.push(
                Diagnostic::new(
                    rule::VALUE,
                    format!("`${{{text}}}` does not say where its value is"),
                )
                .at(span, "in this text")
                .help(format!("write ${{pin.{text}}} or ${{arg.{text}}}")),
            );
            return None;
        };
        Some(match prefix {
            "pin" => Self::Pin(name.into()),
            "arg" => match PlatformArg::named(name) {
                Some(platform) => Self::Platform(platform),
                None => Self::Arg(name.into()),
            },
            "slot" => Self::Slot(name.into()),
            "switch" => Self::Switch(name.into()),
            "payload" => Self::Payload(name.into()),
            "arch" => Self::Arch(name.into()),
            "env" => Self::Env(name.into()),
            "git" => match name.strip_suffix(".commit") {
                Some(name) => Self::Commit(name.into()),
                None => {
                    report.push(
                        Diagnostic::new(
                            rule::UNKNOWN_NAME,
                            format!("a git source has no `{name}`"),
                        )
                        .at(span, "in this text")
                        .help("what it has is its commit: git.NAME.commit"),
                    );
                    return None;
                }
            },
            "lane" if name.starts_with("set.") => Self::Set(name["set.".len()..].into()),
            "lane" => match LaneField::named(name) {
                Some(field) => Self::Lane(field),
                None => {
                    report.push(
                        Diagnostic::new(rule::UNKNOWN_NAME, format!("a lane has no `{name}`"))
                            .at(span, "in this text")
                            .help(suggest(name, LaneField::names())),
                    );
                    return None;
                }
            },
            other => {
                report.push(
                    Diagnostic::new(
                        rule::UNKNOWN_NAME,
                        format!("no values are called `{other}.…`"),
                    )
                    .at(span, "in this text")
                    .help(suggest(other, PREFIXES)),
                );
                return None;
            }
        })
    }
}

/// A piece of a [`Template`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text as it is.
    Literal(String),
    /// A value that is filled in.
    Value(ValueRef),
}

/// A text with values in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// Its pieces, in order.
    pub pieces: Vec<Piece>,
    /// Where the text was written.
    pub span: Span,
}

/// Who else reads `${…}` in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dollar {
    /// Nobody: each `${…}` is ours.
    Ours,
    /// A shell: `${X}` without a dot is its own.
    Shell,
}

impl Template {
    /// Reads the `${…}` of a text.
    pub fn parse(text: &Spanned<String>, dollar: Dollar, report: &mut Report) -> Self {
        let mut pieces = Vec::new();
        let mut rest = text.value.as_str();
        let mut literal = String::new();
        while let Some(at) = rest.find("${") {
            let (before, from) = rest.split_at(at);
            literal.push_str(before);
            let Some(end) = from.find('}') else {
                let ours = from[2..].split_once('.');
                let ours = ours.is_some_and(|(prefix, _)| PREFIXES.contains(&prefix));
                if dollar == Dollar::Ours || ours {
                    report.push(
                        Diagnostic::new(rule::VALUE, "`${` without its `}`")
                            .at(&text.span, "in this text"),
                    );
                }
                literal.push_str(from);
                rest = "";
                break;
            };
            let name = &from[2..end];
            let ours = name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
            if dollar == Dollar::Shell && !(ours && name.contains('.')) {
                literal.push_str(&from[..=end]);
            } else if let Some(value) = ValueRef::read(name, &text.span, false, report) {
                if !literal.is_empty() {
                    pieces.push(Piece::Literal(std::mem::take(&mut literal)));
                }
                pieces.push(Piece::Value(value));
            }
            rest = &from[end + 1..];
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            pieces.push(Piece::Literal(literal));
        }
        Self {
            pieces,
            span: text.span.clone(),
        }
    }

    /// The git sources whose commit it names.
    pub fn commits(&self) -> impl Iterator<Item = Spanned<&str>> {
        self.values().filter_map(|value| match value {
            ValueRef::Commit(name) => Some(Spanned::new(name.as_str(), self.span.clone())),
            _ => None,
        })
    }

    /// The values that it names.
    pub fn values(&self) -> impl Iterator<Item = &ValueRef> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Value(value) => Some(value),
            Piece::Literal(_) => None,
        })
    }
}

/// What is made of a value before the step sees it. An absent value stays absent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Filter {
    /// `is:TEXT`: `true` when the value is TEXT, else `false`.
    Is(String),
    /// `01`: `1` for `true`, `0` for `false`.
    ZeroOne,
    /// `parts:N`: the first N parts of a version: `13.0.2` with 2 is `13.0`.
    Parts(usize),
    /// `without:TEXT`: without every TEXT: `3.14` without `.` is `314`.
    Without(String),
}

const FILTERS: [&str; 4] = ["is:TEXT", "01", "parts:N", "without:TEXT"];

impl Filter {
    fn parse(text: &str, span: &Span, report: &mut Report) -> Option<Self> {
        let filter = match text.split_once(':') {
            None if text == "01" => Some(Self::ZeroOne),
            Some(("is", want)) => Some(Self::Is(want.to_owned())),
            Some(("without", text)) if !text.is_empty() => Some(Self::Without(text.to_owned())),
            Some(("parts", n)) => n.parse().ok().filter(|n| *n > 0).map(Self::Parts),
            _ => None,
        };
        if filter.is_none() {
            report.push(
                Diagnostic::new(rule::VALUE, format!("there is no filter `{text}`"))
                    .at(span, "in this entry")
                    .help(format!("known: {}", FILTERS.join(", "))),
            );
        }
        filter
    }

    /// The value behind the filter.
    ///
    /// # Errors
    /// What it cannot take, as a sentence.
    pub fn apply(&self, value: &str) -> Result<String, String> {
        match self {
            Self::Is(want) => Ok((value == want).to_string()),
            Self::ZeroOne => match value {
                "true" => Ok("1".into()),
                "false" => Ok("0".into()),
                _ => Err(format!("`01` takes true or false, and this is `{value}`")),
            },
            Self::Without(text) => Ok(value.replace(text, "")),
            Self::Parts(n) => {
                let parts: Vec<&str> = value.split('.').collect();
                match parts.get(..*n) {
                    Some(first) => Ok(first.join(".")),
                    None => Err(format!("`{value}` does not have {n} parts")),
                }
            }
        }
    }
}

/// An entry of `args`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgEntry {
    /// `NAME`, `NEW=OLD`, `NEW=OLD|filter`: the step sees `name` with one value.
    One {
        /// The variable that the step sees.
        name: String,
        /// Where its value comes from.
        value: ValueRef,
        /// What is made of it, in order.
        filters: Vec<Filter>,
        /// Where the entry was written.
        span: Span,
    },
    /// `PREFIX_*`: every pin and argument whose name matches, by its own name.
    Matching {
        /// The pattern.
        pattern: String,
        /// Where the entry was written.
        span: Span,
    },
}

impl ArgEntry {
    /// Reads an entry.
    pub fn parse(text: &Spanned<String>, report: &mut Report) -> Option<Self> {
        let span = text.span.clone();
        let (expression, filters) = match text.value.split_once('|') {
            Some((expression, filters)) => (expression, Some(filters)),
            None => (text.value.as_str(), None),
        };
        if expression.contains('*') {
            let plain = expression.replace('*', "x");
            if filters.is_some() || !is_variable(&plain) {
                report.push(
                    Diagnostic::new(
                        rule::VALUE,
                        format!("`{}` is not a pattern of names", text.value),
                    )
                    .at(
                        &span,
                        "expected letters, digits, `_` and `*`, without `=` and filters",
                    ),
                );
                return None;
            }
            return Some(Self::Matching {
                pattern: expression.into(),
                span,
            });
        }
        let (name, value) = expression
            .split_once('=')
            .unwrap_or((expression, expression));
        if !is_variable(name) {
            report.push(
                Diagnostic::new(rule::VALUE, format!("`{name}` is not a name of a variable"))
                    .at(&span, "expected NAME or NEW=OLD")
                    .help("letters, digits and _; a value with a prefix needs a name: TARGET=lane.target"),
            );
            return None;
        }
        let value = ValueRef::read(value, &span, true, report)?;
        let filters = filters
            .iter()
            .flat_map(|filters| filters.split('|'))
            .map(|filter| Filter::parse(filter, &span, report))
            .collect::<Option<Vec<_>>>()?;
        Some(Self::One {
            name: name.into(),
            value,
            filters,
            span,
        })
    }

    /// Where it was written.
    pub fn span(&self) -> &Span {
        match self {
            Self::One { span, .. } | Self::Matching { span, .. } => span,
        }
    }
}

/// Whether a text is a name of an environment variable: `[A-Za-z_][A-Za-z0-9_]*`.
pub fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Sources;

    fn parse(text: &str, dollar: Dollar) -> (Vec<Piece>, Report) {
        let span = Span::new(Sources::default().add("t", text), 0..text.len());
        let mut report = Report::default();
        let template = Template::parse(&Spanned::new(text.into(), span), dollar, &mut report);
        (template.pieces, report)
    }

    #[test]
    fn a_shell_keeps_its_own_variables() {
        let (pieces, report) = parse("a ${X} ${arch.clang-triple} ${Y:-z}", Dollar::Shell);
        assert!(report.is_empty());
        assert_eq!(
            pieces,
            [
                Piece::Literal("a ${X} ".into()),
                Piece::Value(ValueRef::Arch("clang-triple".into())),
                Piece::Literal(" ${Y:-z}".into()),
            ]
        );
    }

    #[test]
    fn elsewhere_a_bare_name_is_an_error_with_both_spellings() {
        let (_, report) = parse("${X}", Dollar::Ours);
        assert_eq!(
            report.diagnostics()[0].help.as_deref(),
            Some("write ${pin.X} or ${arg.X}")
        );
        let (_, report) = parse("${pni.X}", Dollar::Ours);
        assert!(
            report.diagnostics()[0]
                .help
                .as_deref()
                .unwrap()
                .contains("did you mean `pin`")
        );
        let (_, report) = parse("${pin.X", Dollar::Ours);
        assert_eq!(report.diagnostics().len(), 1);
    }
}
