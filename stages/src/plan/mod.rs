//! One lane and output of a graph, with every value filled in: what will run and what each
//! step consumes. The only thing below this that knows what will run is [`crate::lower`].

mod assume;
mod build;
mod command;
mod config;
mod env;
mod fetch;
mod file_step;
mod files;
mod gate;
mod git;
mod group;
pub(crate) mod host;
mod image;
mod layers;
mod merge;
mod mounts;
mod output;
mod payload;
mod placed;
mod select;
mod step;
mod tree;
mod unverified;
mod uses;
mod values;
pub(crate) mod windows;
mod work;

use std::collections::BTreeMap;
use std::num::NonZeroU64;

pub(crate) use assume::supposed;
pub use assume::{assume, assume_with, rehearse};
pub use build::plan;
pub use config::ImageConfig;
pub use fetch::Download;
pub use git::{Commit, GitSource};
pub use group::requests;
pub use host::{HostSetting, WAIVED, Without};
pub use merge::{Marker, Merge, MergePart};
pub use payload::{PayloadFact, check_payloads, pick};
pub use select::{Request, Selection, What, select};
pub use tree::TreePath;
pub(crate) use tree::{directories, inside};
pub use unverified::{PIN, RESERVED, Unverified};
pub use uses::{CopiedPart, UseCopy};
pub use work::{CopySource, FileCopy, FileWork, Owner, OwnerId, Work};

use crate::arch::Target;
use crate::diag::{Diagnostic, Span};
use crate::file::{Access, Network, Sandbox, Sharing};

/// Index of a stage in [`Plan::stages`].
pub type StageIndex = usize;

/// What the engine said about the world outside the file.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// By the reference as the file has it.
    pub images: BTreeMap<String, ImageFact>,
    /// What the refs of git sources stand for, by the sources' names.
    pub gits: BTreeMap<String, Commit>,
    /// What was found of payloads, by name.
    pub payloads: BTreeMap<String, PayloadFact>,
}

/// A resolved image.
#[derive(Debug, Clone)]
pub struct ImageFact {
    /// Where the engine gets it.
    pub source: ImageSource,
    /// Its config: what steps on it inherit.
    pub config: ImageConfig,
    /// Windows' build number that it is made for, such as `10.0.20348.2113`; empty for none. A
    /// step runs only on a host that fits, so it is part of the step's platform.
    pub os_version: String,
    /// Whether it came by a named context of the caller, in place of what the file says.
    pub given: bool,
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

impl ImageSource {
    /// The digest that it is taken by, of an image.
    pub(crate) fn digest(&self) -> Option<&str> {
        match self {
            Self::Scratch | Self::Files(_) => None,
            Self::Registry { reference } | Self::OciLayout { reference, .. } => {
                reference.split_once('@').map(|(_, digest)| digest)
            }
        }
    }
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
    /// The downloads that steps take, by name.
    pub fetches: BTreeMap<String, Download>,
    /// What was found of the payloads that it hangs on, by name.
    pub payloads: BTreeMap<String, PayloadFact>,
    /// What is not wrong, and perhaps not meant.
    pub warnings: Vec<Diagnostic>,
    /// Annotations of the image's manifest.
    pub annotations: BTreeMap<String, String>,
    /// Why this result may not be published: each a sentence. It has no tag then.
    pub unpublishable: Vec<String>,
}

impl Plan {
    /// A path of the plan as the steps' system spells it: `C:\runtime` for `/runtime` on Windows.
    pub(crate) fn place(&self, path: &str) -> String {
        match windows::is_windows(&self.platform) && path.starts_with('/') {
            true => windows::with_drive(path),
            false => path.to_owned(),
        }
    }

    /// Whether anything of it runs `lanegate`: gates do, and merges that compare.
    pub fn needs_lanegate(&self) -> bool {
        let compares =
            |stage: &PlannedStage| matches!(&stage.start, Start::Merge(merge) if merge.compare);
        let records = |stage: &PlannedStage| stage.steps.iter().any(|step| step.record);
        let runs = |stage: &PlannedStage| compares(stage) || records(stage);
        !self.gates.is_empty() || self.stages.iter().any(runs)
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
        /// For a bundle: files of the context, each with its path below the root.
        add: Vec<(String, String)>,
        /// Config of the image.
        config: Box<ImageConfig>,
        /// The tag that the lane suggests.
        tag: Option<String>,
        /// Whether the verdicts of its gates go with it as attestations.
        attest: bool,
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
    /// Windows' build number, by the image that it comes from; empty for none.
    pub os_version: String,
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
    /// What people wrote, where a batch file of ours runs it.
    pub behind: Option<String>,
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
    /// Whether what it printed and how it ended is its product, in place of its root.
    pub record: bool,
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
    /// A payload.
    Payload {
        /// Its name.
        payload: String,
        /// Path in its context.
        from: String,
        /// Path below the mount.
        to: String,
    },
    /// A download.
    Fetch {
        /// Its name.
        fetch: String,
        /// What its file is called.
        from: String,
        /// Path below the mount.
        to: String,
    },
    /// A text: a script of the lane file, or some pins.
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
    /// Which check: a word of [`crate::file::CHECKS`].
    pub check: &'static str,
    /// What inspect is told: canonical JSON; empty for nothing.
    pub ask: String,
    /// Host settings whose values inspect looks for, by name.
    pub host: Vec<String>,
    /// Further products that it looks at, each with what of it.
    pub against: Vec<(StageIndex, Vec<TreePath>)>,
    /// The file of the context that has its report, when that is made outside of the build.
    pub report: Option<String>,
    /// What the binaries must be for.
    pub target: Target,
    /// What of the product it looks at.
    pub roots: Vec<TreePath>,
    /// The stages of this plan that do not start before it passed.
    pub hold: Vec<StageIndex>,
    /// What it is asserted against: canonical JSON (`gate-policy/1`).
    pub policy: String,
}
