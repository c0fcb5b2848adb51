//! Values of pins, arguments, lanes and tables, filled into texts.

use std::collections::BTreeMap;

use super::Selection;
use crate::arch::ArchTable;
use crate::diag::{Diagnostic, Report, Span, rule};
use crate::file::Form;
use crate::text::{Piece, Template, ValueRef};

/// Stands for the commit of a source that nobody looked up.
pub(crate) const NO_COMMIT: &str = "0000000000000000000000000000000000000000";

impl Selection<'_> {
    /// The value, or `None` where it is absent: an argument without default that nobody set,
    /// a fact that the target's row does not have, a variable that the chain does not set.
    pub(super) fn value(&self, value: &ValueRef, env: &BTreeMap<String, String>) -> Option<String> {
        let pin = |name: &str| match self.unverified.pins.get(name) {
            Some(given) => Some(given.clone()),
            None => self.graph.pins.get(name).map(|pin| pin.value.clone()),
        };
        let arg = |name: &str| self.args.get(name).cloned();
        match value {
            ValueRef::Named(name) if self.graph.args.contains_key(name) => arg(name),
            ValueRef::Named(name) | ValueRef::Pin(name) => pin(name),
            ValueRef::Arg(name) => arg(name),
            ValueRef::Lane(field) => self.setting.attribute(*field),
            ValueRef::Set(name) => self
                .setting
                .lane
                .set
                .get(name)
                .map(|text| text.value.clone()),
            ValueRef::Slot(name) => self.setting.choice(name).map(|(name, _)| name.to_owned()),
            ValueRef::Switch(name) => self
                .setting
                .switches
                .get(name.as_str())
                .map(bool::to_string),
            ValueRef::Payload(name) => Some(self.setting.presence(name).to_owned()),
            ValueRef::Arch(key) => {
                let target = self.setting.target()?;
                ArchTable::builtin().fact(&target, key).map(str::to_owned)
            }
            ValueRef::Platform(arg) => self.setting.platform(*arg),
            ValueRef::Env(name) => env.get(name).cloned(),
            ValueRef::Commit(name) => {
                let assumed = self.assumed.then(|| NO_COMMIT.to_owned());
                self.commits.get(name).cloned().or(assumed)
            }
        }
    }

    /// The text with its values; an absent one is an error, since a text has no third state.
    pub(super) fn fill(
        &self,
        template: &Template,
        env: &BTreeMap<String, String>,
        report: &mut Report,
    ) -> Option<String> {
        let mut text = String::new();
        for piece in &template.pieces {
            match piece {
                Piece::Literal(literal) => text.push_str(literal),
                Piece::Value(value) => {
                    match self.value(value, env).or_else(|| self.sample(value)) {
                        Some(value) => text.push_str(&value),
                        None if self.unjudged(value) => return None,
                        None => {
                            report.push(self.absent(value, &template.span));
                            return None;
                        }
                    }
                }
            }
        }
        Some(text)
    }

    /// Whether every value of a text is the one that a build has.
    pub(super) fn knows(&self, template: &Template) -> bool {
        let none = BTreeMap::new();
        let mut values = template.values();
        values.all(|value| self.value(value, &none).is_some())
    }

    /// What an argument without a value could be, where none is needed to judge the rest.
    fn sample(&self, value: &ValueRef) -> Option<String> {
        let (ValueRef::Named(name) | ValueRef::Arg(name)) = value else {
            return None;
        };
        let arg = self.graph.args.get(name).filter(|_| self.assumed)?;
        Some(match &arg.form {
            Form::Text => name.clone(),
            Form::Bool => "true".to_owned(),
            Form::Int => "1".to_owned(),
            Form::Choice(choices) => choices.first()?.clone(),
        })
    }

    /// Whether a value may come with what is not known yet.
    pub(super) fn unjudged(&self, value: &ValueRef) -> bool {
        self.assumed && matches!(value, ValueRef::Env(_))
    }

    fn absent(&self, value: &ValueRef, span: &Span) -> Diagnostic {
        let (what, help) = match value {
            ValueRef::Named(name) | ValueRef::Arg(name) | ValueRef::Pin(name) => (
                format!("argument `{name}` has no value"),
                format!("give it a default, or pass --build-arg {name}=…"),
            ),
            ValueRef::Commit(name) => (
                format!("the commit of git source `{name}` is not known here"),
                "it is looked up when a step or a label names it".to_owned(),
            ),
            ValueRef::Arch(key) => (
                format!(
                    "the target of lane `{}` has no `{key}` in the arch table",
                    self.setting.name
                ),
                "name a column that its row has".to_owned(),
            ),
            ValueRef::Env(name) => (
                format!("nothing sets the variable `{name}` before this"),
                "set it in the `env` of this stage's start".to_owned(),
            ),
            ValueRef::Set(name) => (
                format!("lane `{}` does not set `{name}`", self.setting.name),
                format!("set = {{ {name} = \"…\" }} in the lane"),
            ),
            ValueRef::Lane(_)
            | ValueRef::Slot(_)
            | ValueRef::Switch(_)
            | ValueRef::Payload(_)
            | ValueRef::Platform(_) => (
                format!("lane `{}` does not have this value", self.setting.name),
                String::new(),
            ),
        };
        Diagnostic::new(rule::ABSENT, what)
            .at(span, "a text needs it")
            .help(help)
    }
}
