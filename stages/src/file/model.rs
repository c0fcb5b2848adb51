//! What a lane file declares: its tables as typed values, each with its place.
//! Names are still text here; [`crate::graph`] checks what they name.

use std::collections::BTreeMap;
use std::fmt;

use super::lint::{AllowLint, PinRule};
use super::read::Text;
use super::{Cache, Fetch, FileStep, Guarded, Payload, Sandbox, Tmpfs};
use crate::diag::{Span, Spanned};
use crate::text::{ArgEntry, Filter, LaneField, Template};

/// One lane file.
#[derive(Debug, Clone)]
pub struct Document {
    /// `[graph]`
    pub graph: GraphTable,
    /// `[pin.NAME]`
    pub derived: BTreeMap<String, Derived>,
    /// `[arg.NAME]`
    pub args: BTreeMap<String, Arg>,
    /// `[host.NAME]`
    pub hosts: BTreeMap<String, Host>,
    /// `[switch.NAME]`
    pub switches: BTreeMap<String, Switch>,
    /// `[kit.NAME]`
    pub kits: BTreeMap<String, Kit>,
    /// `[[refuse]]`
    pub refuse: Vec<Refuse>,
    /// `[slot.NAME]`
    pub slots: BTreeMap<String, Slot>,
    /// `[git.NAME]`
    pub gits: BTreeMap<String, Git>,
    /// `[fetch.NAME]`
    pub fetches: BTreeMap<String, Fetch>,
    /// `[payload.NAME]`
    pub payloads: BTreeMap<String, Payload>,
    /// `[lane.NAME]`
    pub lanes: BTreeMap<String, Lane>,
    /// `[group.NAME]`
    pub groups: BTreeMap<String, Group>,
    /// `[stage.NAME]`
    pub stages: BTreeMap<String, Stage>,
    /// `[gate.NAME]`
    pub gates: BTreeMap<String, Gate>,
    /// `[pin-rule.NAME]`
    pub pin_rules: BTreeMap<String, PinRule>,
    /// Every `lint` of the file.
    pub lint: Vec<AllowLint>,
}

/// `[graph]`: what holds for the whole graph.
#[derive(Debug, Clone)]
pub struct GraphTable {
    /// Name of the graph, for people.
    pub name: Text,
    /// The pins file, relative to the lane file's directory.
    pub versions: Option<Text>,
    /// Which pins of that file are ours: patterns, `!` takes out.
    pub pins: Vec<Text>,
    /// Further files of tables: paths in or below the lane file's directory, with patterns.
    pub include: Vec<Text>,
    /// The lane that is built when the caller names none.
    pub default: Option<Text>,
    /// The most layers that an output may have above its base image.
    pub layer_budget: Option<Spanned<u64>>,
    /// The header.
    pub span: Span,
}

/// `[pin.NAME]`: a pin that is made of another one.
#[derive(Debug, Clone)]
pub struct Derived {
    /// The pin that it is made of.
    pub from: Text,
    /// What is made of it, in order; nothing is another name for it.
    pub filters: Vec<Filter>,
    /// Where it is declared.
    pub span: Span,
}

/// `[arg.NAME]`: a value that the caller may set.
#[derive(Debug, Clone)]
pub struct Arg {
    /// What it has when the caller is silent; without one it is absent then.
    pub default: Option<Text>,
    /// One line of documentation.
    pub about: Text,
    /// What its value may be.
    pub form: Form,
    /// Whether it says something of the run, not of the content: only configs and tags carry it.
    pub stamp: bool,
    /// Where it is declared.
    pub span: Span,
}

/// What the value of an argument may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    /// Anything.
    Text,
    /// `true` or `false`.
    Bool,
    /// A whole number, with a sign or without.
    Int,
    /// One of these.
    Choice(Vec<String>),
}

impl Form {
    /// Whether a value is of this form.
    ///
    /// # Errors
    /// What is wrong with it, as the end of a sentence about the value.
    pub fn check(&self, value: &str) -> Result<(), String> {
        match self {
            Self::Text => Ok(()),
            Self::Bool if ["true", "false"].contains(&value) => Ok(()),
            Self::Bool => Err(format!("is `{value}`, not true or false")),
            Self::Int if value.parse::<i64>().is_ok() => Ok(()),
            Self::Int => Err(format!("is `{value}`, not a whole number")),
            Self::Choice(choices) if choices.iter().any(|choice| choice == value) => Ok(()),
            Self::Choice(choices) => {
                Err(format!("is `{value}`, not one of: {}", choices.join(", ")))
            }
        }
    }
}

/// `[switch.NAME]`: a boolean that the caller may set, which turns stages and steps on or off.
#[derive(Debug, Clone)]
pub struct Switch {
    /// What it is when the caller is silent.
    pub default: bool,
    /// One line of documentation.
    pub about: Text,
    /// What its values add to the tags of what it changes; without it, what is built with another
    /// value than the default has no tag.
    pub tag_part: Option<TagPart>,
    /// Where it is declared.
    pub span: Span,
}

/// What a switch or a payload adds to a tag. The two differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagPart {
    /// For `true`, or `present`.
    pub on: String,
    /// For `false`, or `absent`.
    pub off: String,
}

/// `[kit.NAME]`: a bundle that steps name.
#[derive(Debug, Clone)]
pub struct Kit {
    /// In which lanes it brings anything.
    pub when: Option<When>,
    /// What it brings.
    pub brings: Brings,
    /// Where it is declared.
    pub span: Span,
}

/// What a step sees, declared on it or on a kit.
#[derive(Debug, Clone, Default)]
pub struct Brings {
    /// Pins, arguments and lane values.
    pub args: Vec<ArgEntry>,
    /// Files of the context.
    pub files: Vec<File>,
    /// Products of other stages.
    pub uses: Vec<Use>,
    /// Host settings.
    pub host: Vec<Text>,
    /// Constants.
    pub env: BTreeMap<String, LaneText>,
    /// Some pins as a file.
    pub pins_file: Option<PinsFile>,
    /// Cache mounts.
    pub cache: Vec<Cache>,
    /// Secrets as files.
    pub secret: Vec<Guarded>,
    /// SSH agents as sockets.
    pub ssh: Vec<Guarded>,
    /// Directories in memory.
    pub tmpfs: Vec<Tmpfs>,
}

/// A file with some pins, for programs that read such a file.
#[derive(Debug, Clone)]
pub struct PinsFile {
    /// Where it appears.
    pub at: Template,
    /// Which pins: names and patterns.
    pub keys: Vec<Text>,
    /// In which lanes it is there.
    pub when: Option<When>,
    /// Where it was written.
    pub span: Span,
}

/// `[[refuse]]`: a combination that cannot be built.
#[derive(Debug, Clone)]
pub struct Refuse {
    /// The combination.
    pub when: When,
    /// Why.
    pub why: Text,
    /// Where it is declared.
    pub span: Span,
}

/// What happens when a host setting is not passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// The step fails.
    Required,
    /// The step does not see the variable.
    Optional,
    /// The step fails, unless the caller does without in this run.
    Waivable,
}

/// `[host.NAME]`: a setting of the build machine, never keyed.
#[derive(Debug, Clone)]
pub struct Host {
    /// One line of documentation.
    pub about: Text,
    /// Whether steps can do without.
    pub need: Need,
    /// What steps see where it is not passed.
    pub default: Option<Text>,
    /// Where it is declared.
    pub span: Span,
}

/// `[git.NAME]`: a repository at a ref.
#[derive(Debug, Clone)]
pub struct Git {
    /// Where it is.
    pub url: Template,
    /// A branch, tag or commit; without one, what the remote's HEAD is.
    pub reference: Option<Template>,
    /// Only this directory of it.
    pub subdir: Option<Template>,
    /// Whether its submodules are checked out too.
    pub submodules: bool,
    /// Whether it has its `.git`.
    pub git_dir: bool,
    /// Where it is declared.
    pub span: Span,
}

impl Git {
    /// Its texts with values.
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        [&self.url]
            .into_iter()
            .chain(&self.reference)
            .chain(&self.subdir)
    }
}

/// `[slot.NAME]`: a place in the chain that each lane fills.
#[derive(Debug, Clone)]
pub struct Slot {
    /// The choices by name.
    pub choices: BTreeMap<String, Choice>,
    /// Where it is declared.
    pub span: Span,
}

/// One way to fill a slot.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The stage that stands in the slot. The identity (`same-as`) and a stage of the slot's
    /// own (`stage`) differ for people only: either way consumers start from that stage.
    pub stage: Text,
    /// When it stands there whatever the lane says; a lane cannot choose it then.
    pub when: Option<When>,
    /// Where it is declared.
    pub span: Span,
}

/// `[lane.NAME]`: one thing that is built for someone.
#[derive(Debug, Clone)]
pub struct Lane {
    /// What the steps run on: `linux/amd64`.
    pub platform: Text,
    /// What is built for: an architecture, or `os/architecture`.
    pub target: Option<Text>,
    /// The choice for each slot.
    pub slots: BTreeMap<String, Text>,
    /// Constants of the lane, by name.
    pub set: BTreeMap<String, Text>,
    /// What comes out.
    pub outputs: BTreeMap<String, Output>,
    /// Where it is declared.
    pub span: Span,
}

/// `[group.NAME]`: lanes that make one result of several platforms.
#[derive(Debug, Clone)]
pub struct Group {
    /// The lanes, each of a platform of its own.
    pub lanes: Vec<Text>,
    /// The output of each lane; without it the one that the lane's bare name stands for.
    pub output: Option<Text>,
    /// The tag of the whole result.
    pub tag: Option<Template>,
    /// Where it is declared.
    pub span: Span,
}

/// `[lane.NAME.output.NAME]`
#[derive(Debug, Clone)]
pub struct Output {
    /// The stage whose product it is.
    pub stage: Text,
    /// For a bundle: the directory of the product that becomes the root of the output.
    pub root: Option<Template>,
    /// For a bundle: files of the context beside it, with their directories in the bundle.
    pub add: Vec<File>,
    /// For an image: the tag that `lanekit` suggests.
    pub tag: Option<Template>,
    /// For an image: whether the verdicts of its gates go with it as attestations.
    pub attest: bool,
    /// When the lane has it.
    pub when: Option<When>,
    /// Where it is declared.
    pub span: Span,
}

impl Output {
    /// Its condition, and those of its entries.
    pub fn conditions(&self) -> impl Iterator<Item = &When> {
        let entries = self.add.iter().flat_map(|file| &file.when);
        self.when.iter().chain(entries)
    }

    /// Its texts with values.
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        let places = self.add.iter().flat_map(|file| &file.at);
        self.root.iter().chain(&self.tag).chain(places)
    }
}

/// What a stage starts from.
#[derive(Debug, Clone)]
pub enum From {
    /// Another stage's root.
    Stage(Text),
    /// The root of the first of these that the lane has.
    First(Vec<Text>),
    /// Whatever the lane has in this slot.
    Slot(Text),
    /// An image.
    Image(Template, Pull),
    /// Nothing.
    Scratch(Span),
}

/// Where an image is looked for, in this order of strength where two stages say it of one image.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pull {
    /// As the caller and the engine have it.
    #[default]
    Engine,
    /// In the engine's own store, and elsewhere where it is not there.
    Missing,
    /// In its registry.
    Always,
}

/// An edit of one variable of the environment.
#[derive(Debug, Clone)]
pub struct EnvEdit {
    /// What is done to it.
    pub change: EnvChange,
    /// In which lanes.
    pub when: Option<When>,
    /// Whether the image's config has it too; the config keeps what it had otherwise.
    pub config: bool,
    /// Where the variable was named.
    pub span: Span,
}

/// What an edit does.
#[derive(Debug, Clone)]
pub enum EnvChange {
    /// A new value.
    Set(Template),
    /// A list (PATH and its like): set, or added before and after what is inherited.
    List {
        /// Replaces what is inherited.
        set: Option<Vec<LaneText>>,
        /// Comes first.
        prepend: Vec<LaneText>,
        /// Comes last.
        append: Vec<LaneText>,
    },
    /// The variable is not there any more.
    Unset,
}

/// A text that perhaps only some lanes have.
#[derive(Debug, Clone)]
pub struct LaneText {
    /// Its text.
    pub text: Template,
    /// In which lanes it is there.
    pub when: Option<When>,
}

impl EnvChange {
    /// The parts of a list, in no order.
    pub fn parts(&self) -> impl Iterator<Item = &LaneText> {
        let lists = match self {
            Self::List {
                set,
                prepend,
                append,
            } => [set.as_deref().unwrap_or_default(), prepend, append],
            Self::Set(_) | Self::Unset => [[].as_slice(); 3],
        };
        lists.into_iter().flatten()
    }
}

/// Edits by variable.
pub type Env = BTreeMap<String, EnvEdit>;

/// `[stage.NAME]`
#[derive(Debug, Clone)]
pub struct Stage {
    /// Which lanes have it.
    pub when: Option<When>,
    /// How it begins.
    pub from: Option<From>,
    /// What of the root is the product; without any the root is.
    pub tree: Vec<TreeEntry>,
    /// Trees that are put together into one.
    pub merge: Vec<Part>,
    /// What counts where those differ.
    pub conflict: Vec<Conflict>,
    /// Trees that are put onto the root before the steps.
    pub add: Vec<Part>,
    /// Chain env.
    pub env: Env,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// What only the product's config carries.
    pub image: ImageTable,
    /// Attributes on which it may not depend.
    pub same_for: Vec<Spanned<Attribute>>,
    /// Where it is declared.
    pub span: Span,
}

/// An entry of `tree`.
#[derive(Debug, Clone)]
pub struct TreeEntry {
    /// A path; its last part may be a pattern.
    pub at: Template,
    /// What of that directory it is: patterns below it; none is all of it.
    pub only: Vec<Template>,
    /// What of that directory it is not: patterns below it.
    pub except: Vec<Template>,
    /// In which lanes it is there.
    pub when: Option<When>,
}

/// An entry of `merge` or `add`.
#[derive(Debug, Clone)]
pub struct Part {
    /// The stage whose tree it is.
    pub stage: Text,
    /// The part of its product that is meant; without one, its tree.
    pub from: Option<Template>,
    /// Where that part goes, in place of its own path.
    pub to: Option<Template>,
    /// In which lanes it is there.
    pub when: Option<When>,
    /// Why it may be absent: then a marker with this text stands where it would be, also in a
    /// lane that does not have the stage.
    pub absent: Option<Template>,
    /// Where it was written.
    pub span: Span,
}

/// An entry of `conflict`: which tree counts where merged trees differ.
#[derive(Debug, Clone)]
pub struct Conflict {
    /// A pattern over paths of the product.
    pub path: Template,
    /// Which tree counts.
    pub take: Take,
    /// Why.
    pub why: Text,
    /// In which lanes it counts.
    pub when: Option<When>,
}

/// Which of several trees counts.
#[derive(Debug, Clone)]
pub enum Take {
    /// Any of them.
    Any,
    /// That of this stage, where it has the path.
    Stage(Text),
}

/// `[stage.NAME.image]`: config of the product, seen by no step.
#[derive(Debug, Clone, Default)]
pub struct ImageTable {
    /// Environment.
    pub env: BTreeMap<String, LaneText>,
    /// Labels.
    pub labels: BTreeMap<String, LaneText>,
    /// Annotations of the manifest.
    pub annotations: BTreeMap<String, LaneText>,
    /// Entrypoint.
    pub entrypoint: Option<Vec<Template>>,
    /// Command.
    pub cmd: Option<Vec<Template>>,
    /// User.
    pub user: Option<Template>,
    /// Working directory.
    pub workdir: Option<Template>,
    /// What runs commands that are texts.
    pub shell: Option<Vec<Template>>,
    /// The signal that ends it.
    pub stop_signal: Option<Template>,
    /// Directories that are volumes of a container.
    pub volumes: Vec<LaneText>,
    /// Ports: `8080/tcp`.
    pub ports: Vec<Port>,
    /// How an engine sees whether a container is well.
    pub healthcheck: Option<Healthcheck>,
}

impl ImageTable {
    /// The conditions of its entries.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = &When> {
        let named = [&self.env, &self.labels, &self.annotations];
        let entries = named.into_iter().flat_map(BTreeMap::values);
        let entries = entries.chain(&self.volumes).flat_map(|entry| &entry.when);
        entries.chain(self.ports.iter().flat_map(|port| &port.when))
    }
}

/// A port of a container.
#[derive(Debug, Clone)]
pub struct Port {
    /// With its protocol: `8080/tcp`.
    pub port: String,
    /// In which lanes it is there.
    pub when: Option<When>,
}

/// How an engine sees whether a container is well.
#[derive(Debug, Clone)]
pub enum Healthcheck {
    /// It does not: what the base image says is off.
    None,
    /// It runs a command.
    Test {
        /// The command.
        test: HealthTest,
        /// When.
        times: HealthTimes,
        /// How often it must fail.
        retries: Option<u64>,
    },
}

/// What a health check runs.
#[derive(Debug, Clone)]
pub enum HealthTest {
    /// A command and its arguments.
    Cmd(Vec<Template>),
    /// A text for the shell of the image.
    Script(Template),
}

/// When a health check runs; times in nanoseconds, absent ones are the engine's.
#[derive(Debug, Clone, Copy, Default)]
pub struct HealthTimes {
    /// From one to the next.
    pub interval: Option<u64>,
    /// How long one may take.
    pub timeout: Option<u64>,
    /// How long a container may take to start.
    pub start_period: Option<u64>,
    /// From one to the next while it starts.
    pub start_interval: Option<u64>,
}

/// What a step runs.
#[derive(Debug, Clone)]
pub enum Command {
    /// A command and its arguments.
    Run(Vec<Template>),
    /// The text that Windows starts a process with, as it is.
    Line(Template),
    /// A text that is mounted as a file and run.
    Script {
        /// The text.
        text: Text,
        /// What runs it, in front of the file's path; without one the script's first line says
        /// it, or the system.
        shell: Vec<Template>,
    },
    /// No command: a change to the files of the root.
    File(Box<FileStep>),
}

/// `[[stage.NAME.step]]`
#[derive(Debug, Clone)]
pub struct Step {
    /// Its name within the stage.
    pub name: Text,
    /// What it runs.
    pub command: Command,
    /// In which lanes it runs.
    pub when: Option<When>,
    /// Kits that it names.
    pub kits: Vec<Text>,
    /// What it sees.
    pub sees: Brings,
    /// Whether it has a network.
    pub network: Network,
    /// What else it may do.
    pub sandbox: Sandbox,
    /// Where it runs, in place of the usual place.
    pub workdir: Option<Template>,
    /// As whom it runs, in place of the image's user.
    pub user: Option<Template>,
    /// Whether the product is what it printed and how it ended, in place of a root.
    pub record: bool,
    /// Whether it runs through the entrypoint of what it starts from.
    pub through_entrypoint: bool,
    /// The whole table.
    pub span: Span,
}

impl Step {
    /// The file operation that it is, if it runs no command.
    pub fn file(&self) -> Option<&FileStep> {
        match &self.command {
            Command::File(file) => Some(file),
            Command::Run(_) | Command::Line(_) | Command::Script { .. } => None,
        }
    }
}

/// Whether a step has a network. Part of its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Network {
    /// The engine's sandbox network.
    #[default]
    Default,
    /// None.
    None,
    /// The host's, which the caller has to allow.
    Host,
}

/// A file or directory of the context.
#[derive(Debug, Clone)]
pub struct File {
    /// What has it.
    pub source: FileSource,
    /// Path in the context; a directory ends with `/`. Empty is all of a git source, and the file
    /// that a payload or a download is.
    pub from: Text,
    /// Directory in which it appears, in place of its own path under the working directory.
    pub at: Option<Template>,
    /// In which lanes it is there.
    pub when: Option<When>,
}

/// What has a file of a step.
#[derive(Debug, Clone)]
pub enum FileSource {
    /// The context.
    Context,
    /// A git source.
    Git(Text),
    /// A payload.
    Payload(Text),
    /// A download.
    Fetch(Text),
}

impl File {
    /// The git source that has it.
    pub fn git(&self) -> Option<&Text> {
        match &self.source {
            FileSource::Git(git) => Some(git),
            FileSource::Context | FileSource::Payload(_) | FileSource::Fetch(_) => None,
        }
    }

    /// The payload that it is.
    pub fn payload(&self) -> Option<&Text> {
        match &self.source {
            FileSource::Payload(payload) => Some(payload),
            FileSource::Context | FileSource::Git(_) | FileSource::Fetch(_) => None,
        }
    }
}

impl File {
    /// The download that it is.
    pub fn fetch(&self) -> Option<&Text> {
        match &self.source {
            FileSource::Fetch(fetch) => Some(fetch),
            FileSource::Context | FileSource::Git(_) | FileSource::Payload(_) => None,
        }
    }
}

/// How a step gets a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UseAs {
    /// Mounted read-only; gone after the step.
    #[default]
    Mount,
    /// Copied into the root before the step, which may write there.
    Copy,
}

/// A product of another stage that a step sees.
#[derive(Debug, Clone)]
pub struct Use {
    /// The stage.
    pub stage: Text,
    /// The part of it that is seen; without one, all roots of its tree.
    pub sub: Option<Template>,
    /// Where it appears, in place of its own path.
    pub at: Option<Template>,
    /// How it gets there.
    pub how: UseAs,
    /// In which lanes it is there.
    pub when: Option<When>,
    /// Where it was written.
    pub span: Span,
}

/// `[gate.NAME]`
#[derive(Debug, Clone)]
pub struct Gate {
    /// In which lanes it checks.
    pub when: Option<When>,
    /// The stage whose product is checked.
    pub of: Text,
    /// The stage in whose builds it checks, when that is another one.
    pub belongs: Option<Text>,
    /// Stages whose products it looks at besides.
    pub against: Vec<Text>,
    /// Which check: a word of [`CHECKS`].
    pub check: &'static str,
    /// What it is told to look for: the gate's own keys.
    pub ask: Json,
    /// What it holds against what it saw: the gate's own keys.
    pub demand: Json,
    /// The file of the context that has its report, when that is made outside of the build.
    pub report: Option<Template>,
    /// What a red verdict does.
    pub effect: Effect,
    /// Paths of the product that are checked; without any, its tree.
    pub roots: Vec<Template>,
    /// The stages that do not start before it passed.
    pub hold: Vec<Text>,
    /// Exemptions.
    pub allow: Vec<Allow>,
    /// Floors.
    pub floors: Vec<Floor>,
    /// Why nothing needs to be inspected: the only way to a floor of zero.
    pub empty_ok: Option<Text>,
    /// Whether a caller may skip it: such a run has no tag.
    pub skippable: bool,
    /// The whole table.
    pub span: Span,
}

impl Gate {
    /// Every condition in it.
    pub fn conditions(&self) -> Vec<&When> {
        let allows = self.allow.iter().flat_map(|allow| &allow.when);
        let floors = self.floors.iter().flat_map(|floor| &floor.when);
        let own = [&self.ask, &self.demand]
            .into_iter()
            .flat_map(Json::conditions);
        self.when
            .iter()
            .chain(allows)
            .chain(floors)
            .chain(own)
            .collect()
    }

    /// Every text in it that is filled in.
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        let own = [&self.ask, &self.demand];
        let own = own.into_iter().flat_map(Json::templates);
        self.roots.iter().chain(&self.report).chain(own)
    }

    /// The stage in whose builds it checks, and for whose consumers it decides.
    pub fn subject(&self) -> &Text {
        self.belongs.as_ref().unwrap_or(&self.of)
    }
}

/// The kinds of gates. lanegate has a module for each, and knows their own keys.
pub const CHECKS: [&str; 21] = [
    "absent", "arch", "census", "contract", "coverage", "data", "deps", "elf", "env", "exec",
    "files", "floors", "gpu", "imports", "leak", "manifest", "overlap", "plugin", "signed",
    "tests", "wheel",
];

/// What floors can be about: what the gates count.
pub const COUNTS: [&str; 53] = [
    "absent",
    "archive",
    "archive-members",
    "bitcode",
    "bundles",
    "bytes",
    "code-objects",
    "coff",
    "companions",
    "components",
    "contracts",
    "delayed",
    "edges",
    "elf",
    "entries",
    "equal",
    "failed",
    "files",
    "floors",
    "forbidden",
    "import",
    "indexed",
    "inspected",
    "known",
    "libraries",
    "licences",
    "mach-o",
    "members",
    "names",
    "natives",
    "needs",
    "off-path",
    "passed",
    "paths",
    "pe",
    "plugins",
    "policies",
    "present",
    "programs",
    "required",
    "requirements",
    "scopes",
    "sections",
    "signatures",
    "signed",
    "skipped",
    "suites",
    "symbols",
    "trees",
    "values",
    "variables",
    "wheels",
    "zip-members",
];

/// What a red verdict does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Effect {
    /// Nothing goes on.
    #[default]
    Block,
    /// It is told.
    Advise,
}

/// A value with the keys that a gate has of its own. Texts are filled in; tables may have a
/// `when`.
#[derive(Debug, Clone)]
pub enum Json {
    /// A text.
    Text(Template),
    /// A whole number.
    Whole(i64),
    /// `true` or `false`.
    Bool(bool),
    /// A list.
    List(Vec<Json>),
    /// A table, and the lanes that have it.
    Table(BTreeMap<String, Json>, Option<When>),
}

impl Json {
    /// Every text in it.
    pub fn templates(&self) -> Vec<&Template> {
        match self {
            Self::Text(template) => vec![template],
            Self::Whole(_) | Self::Bool(_) => Vec::new(),
            Self::List(list) => list.iter().flat_map(Self::templates).collect(),
            Self::Table(table, _) => table.values().flat_map(Self::templates).collect(),
        }
    }

    /// Every condition in it.
    pub fn conditions(&self) -> Vec<&When> {
        match self {
            Self::Text(_) | Self::Whole(_) | Self::Bool(_) => Vec::new(),
            Self::List(list) => list.iter().flat_map(Self::conditions).collect(),
            Self::Table(table, when) => {
                let inner = table.values().flat_map(Self::conditions);
                when.iter().chain(inner).collect()
            }
        }
    }
}

/// An exemption of a gate.
#[derive(Debug, Clone)]
pub struct Allow {
    /// A pattern over paths of the product.
    pub path: Text,
    /// Why.
    pub why: Text,
    /// In which lanes.
    pub when: Option<When>,
}

/// The least that a gate must have inspected, in some lanes.
#[derive(Debug, Clone)]
pub struct Floor {
    /// In which lanes.
    pub when: Option<When>,
    /// The numbers, by what they count: words of [`COUNTS`].
    pub measures: BTreeMap<&'static str, Measure>,
    /// Where it is declared.
    pub span: Span,
}

/// A floor with its history.
#[derive(Debug, Clone)]
pub struct Measure {
    /// The least number, never zero.
    pub least: Spanned<u64>,
    /// What was measured.
    pub measured: Option<u64>,
    /// When, as `YYYY-MM-DD`.
    pub on: Option<String>,
    /// What a broken tree once measured.
    pub broken: Option<u64>,
}

/// A condition over the lane and the switches: every part of it must hold.
#[derive(Debug, Clone)]
pub struct When {
    /// The clauses.
    pub clauses: Vec<Clause>,
    /// What must not hold.
    pub not: Option<Box<When>>,
    /// Of which at least one must hold; an empty list is no demand.
    pub any: Vec<When>,
    /// Where it was written.
    pub span: Span,
}

/// One attribute is one of some values.
#[derive(Debug, Clone)]
pub struct Clause {
    /// The attribute.
    pub what: Attribute,
    /// Where it was named.
    pub span: Span,
    /// The values, any of which will do.
    pub any_of: Vec<Text>,
}

/// What a condition may look at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Attribute {
    /// `lane.NAME`
    Lane(LaneField),
    /// `slot.NAME`
    Slot(String),
    /// `switch.NAME`
    Switch(String),
    /// `lane.set.NAME`
    Set(String),
    /// `payload.NAME`: `present` or `absent`.
    Payload(String),
    /// `request.NAME`, which refusals alone may look at.
    Request(RequestField),
}

/// What a refusal may ask of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequestField {
    /// The stage that was named in `LANE/STAGE`.
    Stage,
    /// The output that is built.
    Output,
}

impl Attribute {
    /// Reads `lane.target`, `slot.NAME`, `switch.NAME`, `payload.NAME`.
    pub fn parse(text: &str) -> Option<Self> {
        let (prefix, name) = text.split_once('.')?;
        match prefix {
            "lane" => match name.strip_prefix("set.") {
                Some(name) => Some(Self::Set(name.to_owned())),
                None => LaneField::named(name).map(Self::Lane),
            },
            "slot" => Some(Self::Slot(name.to_owned())),
            "switch" => Some(Self::Switch(name.to_owned())),
            "payload" => Some(Self::Payload(name.to_owned())),
            _ => None,
        }
    }
}

impl fmt::Display for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lane(field) => write!(f, "lane.{}", field.name()),
            Self::Slot(name) => write!(f, "slot.{name}"),
            Self::Switch(name) => write!(f, "switch.{name}"),
            Self::Set(name) => write!(f, "lane.set.{name}"),
            Self::Payload(name) => write!(f, "payload.{name}"),
            Self::Request(RequestField::Stage) => f.write_str("request.stage"),
            Self::Request(RequestField::Output) => f.write_str("request.output"),
        }
    }
}
