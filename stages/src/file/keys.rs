//! Every table of a lane file and every key of it: type, what it is without it, meaning.
//!
//! From this come the JSON Schema (`lanekit schema`) and `docs/reference.md`. A test asks the
//! parser for the keys of each table, so that a key which is read and not here fails, and one
//! that is here and not read. A new key is one line.

// One key, one line.
#[rustfmt::skip]
mod table;

use table::FILE;

/// A table of the file.
#[derive(Debug)]
pub struct Table {
    /// How it is called: the name of its definition in the schema.
    pub name: &'static str,
    /// How it is written: `[[stage.NAME.step]]`.
    pub title: &'static str,
    /// One line on what it is.
    pub about: &'static str,
    /// Its keys, in groups that other tables share.
    pub keys: &'static [&'static [Key]],
}

/// A key of a table.
#[derive(Debug)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    /// What its value may be.
    pub form: Form,
    /// What counts without it, in words; none when it must be there.
    pub default: Option<&'static str>,
    /// One line on what it does.
    pub about: &'static str,
}

/// What a value may be.
#[derive(Debug, Clone, Copy)]
pub enum Form {
    /// A text.
    Text,
    /// A text with values: `${…}` is filled in.
    Values,
    /// `true` or `false`.
    Bool,
    /// A whole number, not negative.
    Whole,
    /// A date.
    Date,
    /// One of these words.
    Word(&'static [&'static str]),
    /// One of these values.
    Any(&'static [Form]),
    /// A text, number, boolean, list or table, with whatever keys.
    Anything,
    /// A list.
    List(&'static Form),
    /// A table with keys.
    Table(&'static Table),
    /// A table whose keys are names that the user chose.
    Names(Named, &'static Form),
}

/// Which names a table of names may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// Names of environment variables.
    Variable,
    /// Names of lanes, stages, steps.
    Word,
    /// Anything.
    Free,
}

impl Table {
    /// All of its keys.
    pub fn keys(&self) -> impl Iterator<Item = &'static Key> {
        self.keys.iter().flat_map(|group| group.iter())
    }
}

impl Form {
    /// The tables that a value of this form is or holds.
    pub fn tables(&self) -> Vec<&'static Table> {
        match self {
            Form::Table(table) => vec![table],
            Form::List(form) | Form::Names(_, form) => form.tables(),
            Form::Any(forms) => forms.iter().flat_map(Form::tables).collect(),
            Form::Text
            | Form::Values
            | Form::Bool
            | Form::Whole
            | Form::Date
            | Form::Word(_)
            | Form::Anything => Vec::new(),
        }
    }
}

/// Every table, each once, the file itself first.
pub fn tables() -> Vec<&'static Table> {
    let mut found: Vec<&'static Table> = vec![&FILE];
    let mut at = 0;
    while let Some(table) = found.get(at) {
        for inner in table.keys().flat_map(|key| key.form.tables()) {
            if !found.iter().any(|known| known.name == inner.name) {
                found.push(inner);
            }
        }
        at += 1;
    }
    found
}
