//! A step: its files as one copy, then one exec.

use llb::{Bind, Cache, Copy, Exec, FileOp, MkDir, MkFile, Network, Output, Root, Sharing, Tmpfs};

use super::{Failed, Lowering};
use crate::file;
use crate::plan::{HostSetting, PlannedStage, PlannedStep, StageIndex, StepFile, Work};

/// Mode of everything in a step's files: what a Windows client sends, and no umask can change.
pub(super) const FILE_MODE: u16 = 0o755;
/// How much of a command its name shows, in characters.
const SHOWN: usize = 100;

impl Lowering<'_> {
    pub(super) fn step(
        &mut self,
        index: StageIndex,
        stage: &PlannedStage,
        step: &PlannedStep,
        root: Option<Output>,
    ) -> Result<Output, Failed> {
        if let Work::File(work) = &step.work {
            return self.file_step(index, stage, step, work, root);
        }
        let root = self.copies(index, stage, step, root)?;
        let root = root.map_or_else(Root::scratch, Root::writable);
        let options = &self.host.exec;
        let mut exec = Exec::new(self.platform.clone(), root, command(step))
            .cwd(&step.cwd)
            .user(&step.user)
            .hostname(&options.hostname)
            .cgroup_parent(&options.cgroup_parent)
            .network(match (step.network, options.network) {
                (file::Network::None, _) => Network::None,
                (file::Network::Default, wanted) => wanted.unwrap_or_default(),
            });
        if let Some(proxy) = &options.proxy {
            exec = exec.proxy(proxy.clone());
        }
        for (name, address) in &options.hosts {
            exec = exec.host(name, *address);
        }
        for (name, soft, hard) in &options.ulimits {
            exec = exec.ulimit(name, *soft, *hard);
        }
        for (name, value) in &step.env {
            exec = exec.env(name, value);
        }
        for setting in &step.host {
            exec = exec.secret_env(&setting.name, &setting.name, !setting.required);
        }
        for (at, files) in &step.files {
            exec = exec.mount(at, Bind::read_only(self.files(stage, step, files)?));
        }
        for used in &step.uses {
            let product = self
                .product_for(index, used.stage)
                .map_err(|e| e.within(&used.span))?;
            exec = exec.mount(&used.at, Bind::read_only(product).selector(&used.sub)?);
        }
        for cache in &step.cache {
            let sharing = match cache.sharing {
                file::Sharing::Shared => Sharing::Shared,
                file::Sharing::Private => Sharing::Private,
                file::Sharing::Locked => Sharing::Locked,
            };
            let id = match options.cache_namespace.as_str() {
                "" => cache.id.clone(),
                namespace => format!("{namespace}/{}", cache.id),
            };
            exec = exec.mount(&cache.at, Cache::new(&id, sharing)?);
        }
        if let Some(size) = options.shm_size {
            exec = exec.mount("/dev/shm", Tmpfs::new().size(size));
        }
        let name = format!("[{}/{}] {}", stage.name, step.name, shown(step.argv()));
        let run = exec
            .metadata(self.stage_metadata(name, &step.span, &stage.name))
            .build()?;
        Ok(run.root()?)
    }

    /// Just the files that the step names, by content: one copy, so that the step's key has
    /// neither the checkout's modes nor anything that lies beside them.
    fn files(
        &self,
        stage: &PlannedStage,
        step: &PlannedStep,
        files: &[StepFile],
    ) -> Result<Output, Failed> {
        let mut op = FileOp::new(None);
        for file in files {
            match file {
                StepFile::Context { from, to } => {
                    let Some(context) = &self.context else {
                        let text = format!("there is no context to take `{from}` from");
                        return Err(Failed::new(crate::diag::rule::ENGINE, text));
                    };
                    let copy = Copy::new(context.clone(), format!("/{from}"), format!("/{to}"));
                    // A link that is listed stands for its target: that is sent too.
                    let copy = copy.follow_symlink().contents().make_parents();
                    op = op.copy(copy.mode(FILE_MODE));
                }
                StepFile::Script { to, text } => {
                    let path = format!("/{to}");
                    if let Some((parent, _)) = path.rsplit_once('/').filter(|(p, _)| !p.is_empty())
                    {
                        op = op.mkdir(MkDir::new(parent, FILE_MODE).make_parents());
                    }
                    op = op.mkfile(MkFile::new(path, FILE_MODE, text.as_bytes()));
                }
            }
        }
        // Not a step: it always copies what it is given, so it follows no wish to ignore the cache.
        let name = format!("[{}] files of {}", stage.name, step.name);
        Ok(op.metadata(self.metadata(name, &step.span)).build()?)
    }
}

/// The command. The engine hands over a host setting that nobody passed as set and empty;
/// programs take that for a value, so the shell unsets it before the command starts.
fn command(step: &PlannedStep) -> Vec<String> {
    let optional: Vec<&HostSetting> = step.host.iter().filter(|h| !h.required).collect();
    if optional.is_empty() {
        return step.argv().to_vec();
    }
    let mut prelude = String::new();
    for HostSetting { name, .. } in optional {
        prelude.push_str(&format!("[ -n \"${name}\" ] || unset {name}; "));
    }
    prelude.push_str("exec \"$@\"");
    let shell = ["/bin/sh", "-c", &prelude, "lanekit"].map(str::to_owned);
    shell
        .into_iter()
        .chain(step.argv().iter().cloned())
        .collect()
}

fn shown(argv: &[String]) -> String {
    let line = argv.join(" ").replace(['\n', '\r', '\t'], " ");
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_command_is_cut_between_characters() {
        assert_eq!(shown(&["é".repeat(300)]), format!("{}…", "é".repeat(SHOWN)));
        assert_eq!(
            shown(&["sh".into(), "-c".into(), "a\nb".into()]),
            "sh -c a b"
        );
    }
}
