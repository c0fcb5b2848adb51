//! Git sources: which of them a selection needs, and what they are with their values.

use std::collections::{BTreeMap, BTreeSet};

use llb::Git;

use super::build::Planner;
use super::{Selection, What};
use crate::diag::{Diagnostic, Report, Span, rule};
use crate::text::Template;

/// What a ref of a git source stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// The commit, in hex.
    pub commit: String,
    /// What the ref itself is, in hex: a tag that is an object has one of its own.
    pub object: String,
}

/// A git source, filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitSource {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub url: String,
    /// A branch, tag or commit; empty is the remote's HEAD.
    pub reference: String,
    /// Only this directory of it; empty is all.
    pub subdir: String,
    /// Whether its submodules are checked out too.
    pub submodules: bool,
    /// Whether it has its `.git`.
    pub git_dir: bool,
    /// Where it is declared.
    pub span: Span,
}

impl Selection<'_> {
    /// The git sources that the stages of this selection take files or a commit of, by name.
    ///
    /// # Errors
    /// A source that names a value which is absent.
    pub fn gits(&self) -> Result<Vec<GitSource>, Report> {
        let graph = self.graph;
        let mut names: BTreeSet<&str> = BTreeSet::new();
        for stage in self.order() {
            let stage = graph.stages.get(stage);
            let named = stage.into_iter().flat_map(|stage| graph.gits_of(stage));
            names.extend(named.map(|name| name.value));
        }
        if let What::Output(output) = self.what {
            let texts = output.root.iter().chain(&output.tag);
            names.extend(texts.flat_map(|text| text.commits()).map(|name| name.value));
        }
        let mut report = Report::default();
        let gits = names
            .into_iter()
            .filter_map(|name| self.git(name, &mut report))
            .collect();
        report.into_result(gits)
    }

    /// A git source with its values.
    pub(super) fn git(&self, name: &str, report: &mut Report) -> Option<GitSource> {
        let git = self.graph.gits.get(name)?;
        let none = BTreeMap::new();
        let mut text = |template: Option<&Template>| match template {
            Some(template) => self.fill(template, &none, report),
            None => Some(String::new()),
        };
        let (url, reference, subdir) = (
            text(Some(&git.url)),
            text(git.reference.as_ref()),
            text(git.subdir.as_ref()),
        );
        let (url, reference, subdir) = (url?, reference?, subdir?);
        // What an argument without a value stands for is not known yet.
        let known = |template: &Template| self.knows(template);
        if known(&git.url) {
            judge(Git::new(&url).err(), &git.url, report);
        }
        let at = |part: &Option<Template>| part.clone().filter(known).zip(Git::new(&url).ok());
        if let Some((template, at)) = at(&git.reference) {
            judge(at.reference(&reference).err(), &template, report);
        }
        if let Some((template, at)) = at(&git.subdir) {
            judge(at.subdir(&subdir).err(), &template, report);
        }
        Some(GitSource {
            name: name.to_owned(),
            url,
            reference,
            subdir,
            submodules: git.submodules,
            git_dir: git.git_dir,
            span: git.span.clone(),
        })
    }
}

/// What an engine would not take, at its place in the file.
fn judge(wrong: Option<llb::Error>, template: &Template, report: &mut Report) {
    let Some(wrong) = wrong else { return };
    let found = match &wrong {
        llb::Error::Invalid {
            what,
            value,
            expected,
        } => Diagnostic::new(rule::VALUE, format!("`{value}` is no {what}"))
            .at(&template.span, format!("expected {expected}")),
        _ => Diagnostic::new(rule::VALUE, wrong.to_string()).at(&template.span, "this text"),
    };
    report.push(found);
}

impl Planner<'_, '_> {
    /// Takes a source into the plan, because a step has files of it.
    pub(super) fn take_git(&mut self, name: &str) {
        if !self.gits.contains_key(name)
            && let Some(git) = self.selection.git(name, &mut self.report)
        {
            self.gits.insert(name.to_owned(), git);
        }
    }
}
