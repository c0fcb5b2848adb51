//! One lane and output of a graph, with every value filled in: what will run and what each
//! step consumes. The only thing below this that knows what will run is [`crate::lower`].

mod assume;
mod build;
mod config;
mod file_step;
mod gate;
mod git;
mod merge;
mod mounts;
mod output;
mod select;
mod step;
mod tree;
mod uses;
mod values;

use std::collections::BTreeMap;
use std::num::NonZeroU64;

pub use assume::{assume, rehearse};
pub use build::plan;
pub use config::ImageConfig;
pub use select::{Request, Selection, What, select};
pub use tree::TreePath;
pub(crate) use tree::directories;

use crate::arch::Target;
use crate::diag::Span;
use crate::file::{Access, Check, Network, Sandbox, Sharing};

/// Index of a stage in [`Plan::stages`].
pub type StageIndex = usize;

/// What the engine said about the world outside the file.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// By the reference as the file has it.
    pub images: BTreeMap<String, ImageFact>,
    /// What the refs of git sources stand for, by the sources' names.
    pub gits: BTreeMap<String, Commit>,
}

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

/// A resolved image.
#[derive(Debug, Clone)]
pub struct ImageFact {
    /// Where the engine gets it.
    pub source: ImageSource,
    /// Its config: what steps on it inherit.
    pub config: ImageConfig,
}

/// Where an image comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImageSource {
    /// Nothing: the named context `docker-image://scratch`.
    Scratch,
    /// A registry or the engine's own store: `docker.io/library/debian:bookworm@sha256:…`.
    Registry {
        /// Full reference with digest.
        reference: String,
    },
    /// Files that are no image: a named context that is a directory, a repository, or another build's result.
    Files(llb::Output),
    /// An OCI layout directory of the client.
    OciLayout {
        /// `store@sha256:…`
        reference: String,
        /// The session that holds the store.
        session: String,
        /// The name of the store.
        store: String,
    },
}

/// What will be built.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The lane's name.
    pub lane: String,
    /// What the steps run on: `linux/amd64`.
    pub platform: String,
    /// What comes out.
    pub output: PlannedOutput,
    /// Every stage that the output needs, each behind what it consumes.
    pub stages: Vec<PlannedStage>,
    /// The gates over those stages, by name.
    pub gates: Vec<PlannedGate>,
    /// Paths of the context that any step reads; directories end with `/`.
    pub context: Vec<String>,
    /// The git sources that steps take files of, by name.
    pub gits: BTreeMap<String, GitSource>,
    /// Why this result may not be published: each a sentence. It has no tag then.
    pub unpublishable: Vec<String>,
}

impl Plan {
    /// Whether anything of it runs `lanegate`: gates do, and merges that compare.
    pub fn needs_lanegate(&self) -> bool {
        let compares =
            |stage: &PlannedStage| matches!(&stage.start, Start::Merge(merge) if merge.compare);
        !self.gates.is_empty() || self.stages.iter().any(compares)
    }

    /// What the caller must allow with `--allow`, and the lines of a step that wants it.
    pub fn entitlements(&self) -> BTreeMap<&'static str, &Span> {
        let mut wanted = BTreeMap::new();
        for step in self.stages.iter().flat_map(|stage| &stage.steps) {
            let wants = [
                ("network.host", step.network == Network::Host),
                ("security.insecure", step.sandbox.insecure),
                ("device", !step.sandbox.devices.is_empty()),
            ];
            for (name, _) in wants.into_iter().filter(|(_, wants)| *wants) {
                wanted.entry(name).or_insert(&step.span);
            }
        }
        wanted
    }
}

/// What comes out of a build.
#[derive(Debug, Clone)]
pub enum PlannedOutput {
    /// The product of a stage, sealed by the gates.
    Product {
        /// The stage.
        stage: StageIndex,
        /// For a bundle: this directory of the product, as the root.
        root: Option<String>,
        /// Config of the image.
        config: Box<ImageConfig>,
        /// The tag that the lane suggests.
        tag: Option<String>,
        /// Where the output is declared.
        span: Span,
    },
    /// The reports of the lane's gates, as a tree: `NAME.json`.
    Gates,
}

/// One stage.
#[derive(Debug, Clone)]
pub struct PlannedStage {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub span: Span,
    /// How it begins.
    pub start: Start,
    /// Trees that are put onto the root, in order.
    pub add: Vec<StageIndex>,
    /// Its steps, in order.
    pub steps: Vec<PlannedStep>,
    /// What it hands on.
    pub product: Product,
}

/// How a stage begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// With nothing.
    Scratch,
    /// With an image; the key of [`Facts::images`].
    Image(String),
    /// With another stage's product.
    Stage(StageIndex),
    /// With several trees, put together.
    Merge(Merge),
}

/// Trees that are put together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merge {
    /// The trees, later ones over earlier ones.
    pub parts: Vec<MergePart>,
    /// What stands in place of trees that the lane does not have.
    pub markers: Vec<Marker>,
    /// Patterns, without a `/` in front, of paths where any tree will do.
    pub any: Vec<String>,
    /// Patterns of paths where the tree of one stage counts, if it has them.
    pub take: Vec<(String, StageIndex)>,
    /// Whether two of the trees could have one path, so that they must be compared.
    pub compare: bool,
    /// Whether names that differ in case alone are one name on the target.
    pub fold: bool,
}

/// One of the trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergePart {
    /// The stage.
    pub stage: StageIndex,
    /// The part of its product that is meant, and where it goes; `None` is its tree, where it was.
    pub moved: Option<(String, String)>,
    /// What it becomes of the merged tree.
    pub paths: Vec<TreePath>,
}

/// A file that says why a tree is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker {
    /// Its path.
    pub path: String,
    /// What it says.
    pub text: String,
}

/// What a stage hands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Product {
    /// Its whole root.
    Root,
    /// These paths of it.
    Tree(Vec<TreePath>),
}

/// One step with everything that makes its key.
#[derive(Debug, Clone)]
pub struct PlannedStep {
    /// Its name within the stage.
    pub name: String,
    /// Its lines.
    pub span: Span,
    /// What it does. A file operation sees nothing of what stands below.
    pub work: Work,
    /// The whole environment: base image, chain, args, constants.
    pub env: BTreeMap<String, String>,
    /// Host settings that it sees, by name.
    pub host: Vec<HostSetting>,
    /// Directories of files, by the place where they appear.
    pub files: BTreeMap<String, Vec<StepFile>>,
    /// Products that it sees.
    pub uses: Vec<UseMount>,
    /// Products that are copied into its root before it runs.
    pub copies: Vec<UseCopy>,
    /// Cache mounts.
    pub cache: Vec<CacheMount>,
    /// Secrets as files.
    pub secrets: Vec<GuardedMount>,
    /// SSH agents as sockets.
    pub ssh: Vec<GuardedMount>,
    /// Directories in memory: place, and the most that each holds in bytes.
    pub tmpfs: Vec<(String, Option<NonZeroU64>)>,
    /// Whether it has a network.
    pub network: Network,
    /// What else it may do.
    pub sandbox: Sandbox,
    /// Where it runs.
    pub cwd: String,
    /// As whom; empty is the engine's default (root).
    pub user: String,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work {
    /// Runs a command; without what unsets empty host settings.
    Run(Vec<String>),
    /// Changes files, and runs nothing.
    File(FileWork),
}

impl PlannedStep {
    /// The command that it runs; none for a file operation.
    pub fn argv(&self) -> &[String] {
        match &self.work {
            Work::Run(argv) => argv,
            Work::File(_) => &[],
        }
    }
}

/// A change to the files of a root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileWork {
    /// Files of somewhere else.
    Copy(FileCopy),
    /// A file with this text.
    Write {
        /// Its path.
        path: String,
        /// Its text.
        text: String,
        /// Its permission bits.
        mode: u16,
        /// Who owns it; root without one.
        owner: Option<Owner>,
    },
    /// A directory, and those above it.
    Mkdir {
        /// Its path.
        path: String,
        /// Its permission bits.
        mode: u16,
        /// Who owns it; root without one.
        owner: Option<Owner>,
    },
    /// A symbolic link.
    Link {
        /// Its path.
        path: String,
        /// What it says.
        to: String,
    },
    /// A path or pattern taken away, with all that is in it.
    Delete {
        /// The path or pattern.
        path: String,
        /// Whether it may be missing.
        optional: bool,
    },
}

/// Files of somewhere else, copied into a root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileCopy {
    /// What is copied, and where to.
    pub from: CopySource,
    /// What of a directory, as patterns below it; none is all of it.
    pub only: Vec<String>,
    /// What of a directory not, as patterns below it.
    pub except: Vec<String>,
    /// Permission bits of all that is copied, in place of its own.
    pub mode: Option<u16>,
    /// Who owns all that is copied, in place of who does.
    pub owner: Option<Owner>,
}

/// What a [`FileCopy`] takes. A place that ends with `/` is a directory into which it is put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CopySource {
    /// All of a tree, to its own paths.
    Tree {
        /// The stage.
        stage: StageIndex,
        /// The tree's paths.
        paths: Vec<TreePath>,
    },
    /// A path or pattern of a product.
    Part {
        /// The stage.
        stage: StageIndex,
        /// The path or pattern.
        path: String,
        /// Where to.
        to: String,
    },
    /// A file or directory of a git source.
    Git {
        /// The source's name.
        git: String,
        /// Its path, without a `/` at either end; empty is all of it.
        path: String,
        /// Where to.
        to: String,
    },
    /// A file or directory of the context.
    Context {
        /// Its path, without a `/` at either end.
        path: String,
        /// Where to.
        to: String,
    },
}

/// Who owns a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The user.
    pub user: OwnerId,
    /// The group; without one that of the user.
    pub group: Option<OwnerId>,
}

/// A user or group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnerId {
    /// By number.
    Number(u32),
    /// By name, as the root's own files have it.
    Name(String),
}

/// A host setting of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostSetting {
    /// Its name: variable and secret id.
    pub name: String,
    /// Whether the step fails without it.
    pub required: bool,
}

/// A file that a step sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepFile {
    /// From the context.
    Context {
        /// Path in the context, without a `/` at either end.
        from: String,
        /// Path below the mount.
        to: String,
    },
    /// From a git source, with its own modes.
    Git {
        /// The source's name.
        git: String,
        /// Path in it, without a `/` at either end; empty is all of it.
        from: String,
        /// Path below the mount.
        to: String,
    },
    /// A text of the lane file.
    Script {
        /// Path below the mount.
        to: String,
        /// The text.
        text: String,
    },
}

/// A product of another stage, mounted read-only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UseMount {
    /// The stage.
    pub stage: StageIndex,
    /// The part of its product.
    pub sub: String,
    /// Where it appears.
    pub at: String,
    /// Where it was written.
    pub span: Span,
}

/// A product of another stage, copied into the root before the step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UseCopy {
    /// The stage.
    pub stage: StageIndex,
    /// What of its product.
    pub what: CopiedPart,
    /// Where it was written.
    pub span: Span,
}

/// Which part of a product is copied, and where to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CopiedPart {
    /// These paths of a tree, each to where it was.
    Paths(Vec<TreePath>),
    /// One file or directory.
    Part {
        /// Its path in the product.
        sub: String,
        /// Its path in the root.
        at: String,
    },
}

impl UseCopy {
    /// What it puts into the root, and where.
    pub(crate) fn places(&self) -> Vec<TreePath> {
        match &self.what {
            CopiedPart::Paths(paths) => paths.clone(),
            CopiedPart::Part { at, .. } => vec![TreePath::all_of(at.clone())],
        }
    }
}

/// A cache mount of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheMount {
    /// Which cache; not part of the key.
    pub id: String,
    /// Where it appears.
    pub at: String,
    /// How it is shared.
    pub sharing: Sharing,
    /// The part of a stage's product that is in it when it is new.
    pub from: Option<(StageIndex, String)>,
    /// Mode and owner of it when it is new.
    pub access: Access,
    /// Where it was written.
    pub span: Span,
}

/// A secret as a file, or an SSH agent as a socket. Its content is in no key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardedMount {
    /// How the caller calls it.
    pub id: String,
    /// Where it appears.
    pub at: String,
    /// Whether the step fails without it.
    pub required: bool,
    /// Who may read it.
    pub access: Access,
}

/// One gate over a product of this plan.
#[derive(Debug, Clone)]
pub struct PlannedGate {
    /// Its name.
    pub name: String,
    /// Its lines.
    pub span: Span,
    /// Whose product it checks.
    pub of: StageIndex,
    /// Which check.
    pub check: Check,
    /// What the binaries must be for.
    pub target: Target,
    /// What of the product it looks at.
    pub roots: Vec<TreePath>,
    /// The stages of this plan that do not start before it passed.
    pub hold: Vec<StageIndex>,
    /// What it is asserted against: canonical JSON (`gate-policy/1`).
    pub policy: String,
}
