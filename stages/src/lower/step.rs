//! A step: its files as one copy, then one exec.

use llb::{
    Bind, Cache, Copy, Exec, FileOp, MkDir, MkFile, Network, Output, Owner, Root, Secret, Security,
    Sharing, Ssh, Tmpfs,
};

use super::gate::{RECORD, RECORDER};
use super::{Failed, Lowering};
use crate::file;
use crate::plan::{PlannedStage, PlannedStep, StageIndex, StepFile, WAIVED, Work, host};

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
        let mut command = self.command(step);
        let mut recorder = None;
        if step.record {
            let (around, bind) = self.recorded(command)?;
            (command, recorder) = (around, Some(bind));
        }
        let mut exec = Exec::new(self.platform_of(stage), root, command)
            .cwd(self.place(&step.cwd))
            .user(&step.user)
            .hostname(&options.hostname)
            .cgroup_parent(&options.cgroup_parent)
            .network(match (step.network, options.network) {
                (file::Network::None, _) | (_, Some(Network::None)) => Network::None,
                (file::Network::Host, _) => Network::Host,
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
            exec = exec.secret_env(&setting.name, &setting.name, !setting.required());
        }
        if host::waivable(&step.host) {
            exec = exec.secret_env(WAIVED, WAIVED, true);
        }
        for (at, files) in &step.files {
            exec = exec.mount(self.place(at), self.files(stage, step, files)?);
        }
        for used in &step.uses {
            let (product, sub) = self
                .part_for(index, used.stage, &used.sub)
                .map_err(|e| e.within(&used.span))?;
            exec = exec.mount(
                self.place(&used.at),
                Bind::read_only(product).selector(&sub)?,
            );
        }
        exec = self.caches(index, stage, step, exec)?;
        exec = guarded(step, exec)?;
        exec = self.sandbox(step, exec);
        if let Some(lanegate) = recorder {
            exec = exec
                .mount(RECORDER, lanegate)
                .mount(RECORD, Bind::scratch());
        }
        let mut metadata = self.step_metadata(&shown(step.argv()), stage, step);
        if let Some(limits) = &options.resources {
            metadata = metadata.resources(limits.clone());
        }
        let run = exec.metadata(metadata).build()?;
        Ok(if step.record {
            run.output(RECORD)?
        } else {
            run.root()?
        })
    }

    fn caches(
        &mut self,
        index: StageIndex,
        stage: &PlannedStage,
        step: &PlannedStep,
        mut exec: Exec,
    ) -> Result<Exec, Failed> {
        for cache in &step.cache {
            let sharing = match cache.sharing {
                file::Sharing::Shared => Sharing::Shared,
                file::Sharing::Private => Sharing::Private,
                file::Sharing::Locked => Sharing::Locked,
            };
            let id = self.host.exec.cache_id(&cache.id);
            let mut mount = Cache::new(&id, sharing)?;
            // What it begins with is a copy of its own: by content, like all that a step sees.
            let name = format!("[{}] cache {} of {}", stage.name, cache.id, step.name);
            let metadata = self.metadata(name, &cache.span);
            if let Some((producer, sub)) = &cache.from {
                let (product, sub) = self
                    .part_for(index, *producer, sub)
                    .map_err(|e| e.within(&cache.span))?;
                let copy = Copy::new(product, sub, "/").contents();
                mount = mount.from(FileOp::new(None).copy(copy).metadata(metadata).build()?);
            } else if cache.access.is_said() {
                let file::Access { mode, uid, gid } = cache.access;
                let owner = Owner::ids(uid.unwrap_or(0), gid.unwrap_or(0));
                let root = MkDir::new("/cache", mode.unwrap_or(FILE_MODE)).owner(owner);
                let root = FileOp::new(None).mkdir(root).metadata(metadata).build()?;
                mount = mount.from(root).selector("/cache")?;
            }
            exec = exec.mount(self.place(&cache.at), mount);
        }
        Ok(exec)
    }

    fn sandbox(&self, step: &PlannedStep, mut exec: Exec) -> Exec {
        let sandbox = &step.sandbox;
        if sandbox.insecure {
            exec = exec.security(Security::Insecure);
        }
        for (name, address) in &sandbox.hosts {
            exec = exec.host(name, *address);
        }
        // Behind the caller's: of one name, the step's own count.
        for (name, soft, hard) in &sandbox.ulimits {
            exec = exec.ulimit(name, *soft, *hard);
        }
        for device in &sandbox.devices {
            exec = exec.device(&device.name, device.optional);
        }
        match sandbox.shm_size.or(self.host.exec.shm_size) {
            Some(size) => exec.mount("/dev/shm", Tmpfs::new().size(size)),
            None => exec,
        }
    }

    /// Just the files that the step names, by content: one copy, so that the step's key has
    /// neither the checkout's modes nor anything that lies beside them.
    fn files(
        &self,
        stage: &PlannedStage,
        step: &PlannedStep,
        files: &[StepFile],
    ) -> Result<Bind, Failed> {
        let mut op = FileOp::new(self.base()?);
        for file in files {
            match file {
                StepFile::Context { from, to } => {
                    let context = self.context_for(from)?;
                    let copy = Copy::new(context, format!("/{from}"), self.files_at(to));
                    // A link that is listed stands for its target: that is sent too.
                    let copy = copy.follow_symlink().contents().make_parents();
                    op = op.copy(copy.mode(FILE_MODE));
                }
                StepFile::Git { git, from, to } => {
                    // Modes are the commit's: no checkout of the client made them.
                    let checkout = self.checkout(git)?;
                    let copy = Copy::new(checkout, format!("/{from}"), format!("/{to}"));
                    op = op.copy(copy.follow_symlink().contents().make_parents());
                }
                StepFile::Payload { payload, from, to } => {
                    let copy = Copy::new(
                        self.payload(payload)?,
                        format!("/{from}"),
                        self.files_at(to),
                    );
                    let copy = copy.follow_symlink().make_parents();
                    op = op.copy(copy.mode(FILE_MODE));
                }
                StepFile::Fetch { fetch, from, to } => {
                    let copy = Copy::new(self.fetch(fetch)?, format!("/{from}"), self.files_at(to));
                    op = op.copy(copy.make_parents().mode(FILE_MODE));
                }
                StepFile::Script { to, text } => {
                    let path = self.files_at(to);
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
        self.files_mount(op, self.metadata(name, &step.span))
    }

    /// What is started. On Windows the plan has a batch file where host settings are unset.
    fn command(&self, step: &PlannedStep) -> Vec<String> {
        if self.on_windows() {
            step.argv().to_vec()
        } else {
            command(step)
        }
    }
}

/// Secrets, SSH agents and memory.
fn guarded(step: &PlannedStep, mut exec: Exec) -> Result<Exec, Failed> {
    for secret in &step.secrets {
        let file::Access { mode, uid, gid } = secret.access;
        let mut mount = Secret::new(&secret.id)?.optional(!secret.required);
        mount = mount.owner(uid.unwrap_or(0), gid.unwrap_or(0));
        exec = exec.mount(
            &secret.at,
            mode.map_or(mount.clone(), |mode| mount.mode(mode)),
        );
    }
    for agent in &step.ssh {
        let file::Access { mode, uid, gid } = agent.access;
        let mut mount = Ssh::new(&agent.id)?.optional(!agent.required);
        mount = mount.owner(uid.unwrap_or(0), gid.unwrap_or(0));
        exec = exec.mount(
            &agent.at,
            mode.map_or(mount.clone(), |mode| mount.mode(mode)),
        );
    }
    for (at, size) in &step.tmpfs {
        let mount = size.map_or(Tmpfs::new(), |size| Tmpfs::new().size(size));
        exec = exec.mount(at, mount);
    }
    Ok(exec)
}

/// The command, behind what settles host settings that are not given.
fn command(step: &PlannedStep) -> Vec<String> {
    if !host::unsettled(&step.host) {
        return step.argv().to_vec();
    }
    let prelude = host::shell(&step.host);
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
