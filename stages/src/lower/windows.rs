//! What Windows needs otherwise: there is no empty file system, no merge and no diff.
//!
//! Files that steps read are written onto the lane's base image, of which just their directory is
//! mounted; a tree is its producer's root, of which just its paths are mounted or copied; what
//! goes out stands on the base image. So each key follows the same bytes as on Linux.

use llb::{Bind, FileOp, Metadata, Output, Platform};

use super::{Base, Failed, Lowering};
use crate::diag::{Span, rule};
use crate::plan::windows::with_drive;
use crate::plan::{PlannedStage, Product, StageIndex, Start, TreePath, inside};

/// Where files of a step stand on the base image.
pub(super) const FILES: &str = "/lanekit-step";

impl Lowering<'_> {
    /// Whether steps run on Windows.
    pub(super) fn on_windows(&self) -> bool {
        self.platform.is_windows()
    }

    /// What the steps of a stage run on: on Windows with the build number of its base image.
    pub(super) fn platform_of(&self, stage: &PlannedStage) -> Platform {
        self.platform.clone().os_version(&stage.os_version)
    }

    /// A path as mounts and working directories have it.
    pub(super) fn place(&self, path: &str) -> String {
        if self.on_windows() {
            with_drive(path)
        } else {
            path.to_owned()
        }
    }

    /// What files are written onto: nothing, or on Windows the lane's first base image.
    pub(super) fn base(&self) -> Result<Option<Output>, Failed> {
        if self.on_windows() {
            Ok(Some(self.base_image()?.root.clone()))
        } else {
            Ok(None)
        }
    }

    /// The lane's first base image.
    pub(super) fn base_image(&self) -> Result<&Base, Failed> {
        self.base.as_ref().ok_or_else(|| {
            let text = "a Windows lane needs a base image: there is no empty file system";
            Failed::new(rule::NOT_ON_WINDOWS, text)
        })
    }

    /// Files that an op made of [`Self::base`], as a step sees them.
    pub(super) fn files_mount(&self, op: FileOp, metadata: Metadata) -> Result<Bind, Failed> {
        let bind = Bind::read_only(op.metadata(metadata).build()?);
        Ok(if self.on_windows() {
            bind.selector(FILES)?
        } else {
            bind
        })
    }

    /// Where an op that makes a step's files puts them.
    pub(super) fn files_at(&self, to: &str) -> String {
        let below = if self.on_windows() { FILES } else { "" };
        format!("{below}/{to}")
    }

    /// The stage that has a path of a product, and the path that it has there: itself, or, since
    /// Windows has no merge, one of those that it merges. Markers are its own.
    pub(super) fn source(&self, producer: StageIndex, path: &str) -> (StageIndex, String) {
        let (mut stage, mut path) = (producer, path.to_owned());
        while self.on_windows()
            && let Start::Merge(merge) = &self.plan.stages[stage].start
        {
            let has = |tree: &TreePath| tree.as_str() == path || inside(&path, tree.as_str());
            let Some(part) = merge.parts.iter().find(|part| part.paths.iter().any(has)) else {
                break;
            };
            stage = part.stage;
            if let Some((from, to)) = &part.moved {
                path = format!(
                    "{from}{}",
                    path.strip_prefix(to.as_str()).unwrap_or_default()
                );
            }
        }
        (stage, path)
    }

    /// What Windows does not have, of what the caller demands of every step.
    pub(super) fn demands(&self) -> Result<(), Failed> {
        let options = &self.host.exec;
        let wrong = if !self.on_windows() {
            None
        } else if !options.hosts.is_empty() {
            Some("extra hosts")
        } else if !options.ulimits.is_empty() {
            Some("limits of a process")
        } else if !options.cgroup_parent.is_empty() {
            Some("control groups")
        } else if options.resources.is_some() {
            Some("limits of memory and processors")
        } else if options.shm_size.is_some() {
            Some("shared memory of a size")
        } else if options.network == Some(llb::Network::Host) {
            Some("the host's network")
        } else {
            None
        };
        match wrong {
            Some(what) => {
                let text = format!("steps on Windows cannot have {what}");
                Err(Failed::new(rule::ENGINE, text))
            }
            None => Ok(()),
        }
    }

    /// What goes out of a tree or a part of a root: its paths, or those below `root`, on the base
    /// image and at their own places; and what that image is for.
    pub(super) fn on_base(
        &self,
        stage: StageIndex,
        root: Option<&str>,
        add: &[(String, String)],
        span: &Span,
    ) -> Result<(Output, Platform), Failed> {
        let base = self.base_image()?.clone();
        let below = |path: &TreePath| root.is_none_or(|root| inside(path.directory(), root));
        let paths = match &self.plan.stages[stage].product {
            Product::Tree(paths) => paths.iter().filter(|path| below(path)).cloned().collect(),
            Product::Root => vec![TreePath::whole(root.unwrap_or("/"))],
        };
        let mut op = FileOp::new(Some(base.root));
        for path in &paths {
            let (owner, from) = self.source(stage, path.as_str());
            let product = self.product_at(owner, &from)?;
            op = op.copy(self.copy_of(&product, &from, path));
        }
        op = self.beside(op, root.unwrap_or_default(), add)?;
        let name = format!("[bundle] {}", root.unwrap_or("tree"));
        let output = op.metadata(self.metadata(name, span)).build()?;
        Ok((output, base.platform))
    }
}
