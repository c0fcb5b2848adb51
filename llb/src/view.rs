//! Definitions as text, for people, tests and documents.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};

use prost::Message as _;

use crate::Digest;
use crate::proto::pb;

/// A definition as text: one paragraph per vertex, in the order of the
/// definition, with its fields, its inputs by number and its name.
///
/// The text has no digests, and the ids of local sources are left out, so it
/// is the same for two graphs that differ in nothing else. Bytes that are no op
/// are shown as such.
#[must_use]
pub fn text(definition: &pb::Definition) -> String {
    let mut view = View::default();
    let ops: Vec<_> = definition.def.iter().map(|op| Digest::of(op)).collect();
    for (number, digest) in ops.iter().enumerate() {
        view.numbers.insert(digest.to_string(), number);
    }
    for (number, bytes) in definition.def.iter().enumerate() {
        let Ok(op) = pb::Op::decode(bytes.as_slice()) else {
            view.line(format_args!("#{number} no op: {} bytes", bytes.len()));
            continue;
        };
        let name = ops.get(number).map(Digest::to_string).unwrap_or_default();
        view.op(number, &op);
        if let Some(metadata) = definition.metadata.get(&name) {
            view.metadata(metadata);
        }
        if let Some(source) = &definition.source
            && let Some(places) = source.locations.get(&name)
        {
            view.places(places, &source.infos);
        }
    }
    view.text
}

#[derive(Default)]
struct View {
    text: String,
    /// The place in the definition, by digest.
    numbers: BTreeMap<String, usize>,
}

impl View {
    fn line(&mut self, line: impl Display) {
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "{line}");
    }

    fn field(&mut self, name: &str, value: impl Display) {
        self.line(format_args!("   {name} {value}"));
    }

    fn op(&mut self, number: usize, op: &pb::Op) {
        let edges: Vec<String> = op.inputs.iter().map(|input| self.edge(input)).collect();
        let edge = |index: i64| {
            usize::try_from(index)
                .ok()
                .and_then(|index| edges.get(index).cloned())
                .unwrap_or_else(|| "scratch".to_owned())
        };
        let platform = op.platform.as_ref().map_or(String::new(), |platform| {
            format!(" [{}]", crate::Platform::from(platform))
        });
        match &op.op {
            None => self.line(format_args!("#{number} result {}", edges.join(" "))),
            Some(pb::op::Op::Source(source)) => {
                self.line(format_args!("#{number} {}{platform}", source.identifier));
                for (key, value) in &source.attrs {
                    match key.as_str() {
                        "local.session" | "local.unique" => self.field(key, "…"),
                        _ => self.field(key, value),
                    }
                }
            }
            Some(pb::op::Op::Exec(exec)) => {
                self.line(format_args!("#{number} exec{platform}"));
                self.exec(exec, &edge);
            }
            Some(pb::op::Op::File(file)) => {
                self.line(format_args!("#{number} file"));
                for action in &file.actions {
                    self.action(action, edges.len(), &edge);
                }
            }
            Some(pb::op::Op::Merge(merge)) => {
                let inputs: Vec<_> = merge.inputs.iter().map(|i| edge(i.input)).collect();
                self.line(format_args!("#{number} merge {}", inputs.join(" ")));
            }
            Some(pb::op::Op::Diff(diff)) => {
                let lower = diff.lower.as_ref().map_or(-1, |lower| lower.input);
                let upper = diff.upper.as_ref().map_or(-1, |upper| upper.input);
                self.line(format_args!(
                    "#{number} diff {}..{}",
                    edge(lower),
                    edge(upper)
                ));
            }
            Some(pb::op::Op::Build(build)) => {
                self.line(format_args!("#{number} build {}", edge(build.builder)));
                for (name, input) in &build.inputs {
                    self.field(name, edge(input.input));
                }
            }
            Some(pb::op::Op::Passthrough(pass)) => {
                let outputs: Vec<_> = pass.outputs.iter().map(|i| edge(*i)).collect();
                self.line(format_args!(
                    "#{number} passthrough {} {}",
                    pass.id,
                    outputs.join(" ")
                ));
            }
        }
    }

    fn edge(&self, input: &pb::Input) -> String {
        match self.numbers.get(&input.digest) {
            Some(number) => format!("#{number}.{}", input.index),
            None => format!("{}.{}", input.digest, input.index),
        }
    }

    fn exec(&mut self, exec: &pb::ExecOp, edge: &impl Fn(i64) -> String) {
        let meta = exec.meta.clone().unwrap_or_default();
        let args: Vec<_> = meta.args.iter().map(|arg| format!("{arg:?}")).collect();
        self.field("args", args.join(" "));
        self.field("cwd", &meta.cwd);
        for variable in &meta.env {
            self.field("env", variable);
        }
        for secret in &exec.secretenv {
            let optional = if secret.optional { " optional" } else { "" };
            self.field(
                "env",
                format_args!("{} = secret {}{optional}", secret.name, secret.id),
            );
        }
        for (name, value) in [
            ("user", &meta.user),
            ("hostname", &meta.hostname),
            ("cgroup-parent", &meta.cgroup_parent),
        ] {
            if !value.is_empty() {
                self.field(name, value);
            }
        }
        for host in &meta.extra_hosts {
            self.field("host", format_args!("{} {}", host.host, host.ip));
        }
        for limit in &meta.ulimit {
            self.field(
                "ulimit",
                format_args!("{} {}:{}", limit.name, limit.soft, limit.hard),
            );
        }
        for code in &meta.valid_exit_codes {
            self.field("exit-code", code);
        }
        if meta.proxy_env.is_some() {
            self.field("proxy", "set");
        }
        match exec.network() {
            pb::NetMode::Unset => {}
            pb::NetMode::Host => self.field("network", "host"),
            pb::NetMode::None => self.field("network", "none"),
        }
        if exec.security() == pb::SecurityMode::Insecure {
            self.field("security", "insecure");
        }
        for device in &exec.cdi_devices {
            let optional = if device.optional { " optional" } else { "" };
            self.field("device", format_args!("{}{optional}", device.name));
        }
        for mount in &exec.mounts {
            self.mount(mount, edge);
        }
    }

    fn mount(&mut self, mount: &pb::Mount, edge: &impl Fn(i64) -> String) {
        let mut what = match mount.mount_type() {
            pb::MountType::Bind => edge(mount.input),
            pb::MountType::Cache => {
                let cache = mount.cache_opt.clone().unwrap_or_default();
                let sharing = cache.sharing().as_str_name().to_ascii_lowercase();
                match mount.input {
                    input if input < 0 => format!("cache {} {sharing}", cache.id),
                    input => format!("cache {} {sharing} from {}", cache.id, edge(input)),
                }
            }
            pb::MountType::Tmpfs => match mount.tmpfs_opt.map_or(0, |opt| opt.size) {
                0 => "tmpfs".to_owned(),
                size => format!("tmpfs {size} bytes"),
            },
            pb::MountType::Secret => {
                let opt = mount.secret_opt.clone().unwrap_or_default();
                guarded("secret", &opt.id, opt.uid, opt.gid, opt.mode, opt.optional)
            }
            pb::MountType::Ssh => {
                let opt = mount.ssh_opt.clone().unwrap_or_default();
                guarded("ssh", &opt.id, opt.uid, opt.gid, opt.mode, opt.optional)
            }
        };
        if !mount.selector.is_empty() {
            let _ = write!(what, " at {}", mount.selector);
        }
        if mount.readonly {
            what.push_str(" read-only");
        }
        match mount.content_cache() {
            pb::MountContentCache::Default => {}
            pb::MountContentCache::On => what.push_str(" content on"),
            pb::MountContentCache::Off => what.push_str(" content off"),
        }
        if mount.output >= 0 {
            let _ = write!(what, " -> .{}", mount.output);
        }
        self.field("mount", format_args!("{} = {what}", mount.dest));
    }

    fn action(&mut self, action: &pb::FileAction, inputs: usize, edge: &impl Fn(i64) -> String) {
        use pb::file_action::Action;
        let base = match usize::try_from(action.input) {
            Ok(index) if index >= inputs => format!("action {}", index - inputs),
            _ => edge(action.input),
        };
        let mut what = match &action.action {
            None => "nothing".to_owned(),
            Some(Action::Copy(copy)) => {
                let from = edge(action.secondary_input);
                let mut what = format!("copy {from}:{} to {}", copy.src, copy.dest);
                for (set, name) in [
                    (copy.follow_symlink, "follow-symlink"),
                    (copy.dir_copy_contents, "contents"),
                    (copy.attempt_unpack_docker_compatibility, "unpack"),
                    (copy.create_dest_path, "make-parents"),
                    (copy.allow_wildcard, "wildcard"),
                    (copy.allow_empty_wildcard, "may-be-empty"),
                    (copy.always_replace_existing_dest_paths, "always-replace"),
                ] {
                    if set {
                        let _ = write!(what, " {name}");
                    }
                }
                for (name, list) in [
                    ("include", &copy.include_patterns),
                    ("exclude", &copy.exclude_patterns),
                    ("required", &copy.required_paths),
                ] {
                    if !list.is_empty() {
                        let _ = write!(what, " {name}={list:?}");
                    }
                }
                if copy.mode != -1 {
                    let _ = write!(what, " mode={:o}", copy.mode);
                }
                what.push_str(&made(copy.owner.as_ref(), copy.timestamp, edge));
                what
            }
            Some(Action::Mkfile(file)) => format!(
                "mkfile {} mode={:o} {} bytes{}",
                file.path,
                file.mode,
                file.data.len(),
                made(file.owner.as_ref(), file.timestamp, edge)
            ),
            Some(Action::Mkdir(dir)) => format!(
                "mkdir {} mode={:o}{}{}",
                dir.path,
                dir.mode,
                if dir.make_parents {
                    " make-parents"
                } else {
                    ""
                },
                made(dir.owner.as_ref(), dir.timestamp, edge)
            ),
            Some(Action::Rm(rm)) => format!(
                "rm {}{}{}",
                rm.path,
                if rm.allow_not_found {
                    " may-be-missing"
                } else {
                    ""
                },
                if rm.allow_wildcard { " wildcard" } else { "" },
            ),
            Some(Action::Symlink(link)) => format!(
                "symlink {} -> {}{}",
                link.newpath,
                link.oldpath,
                made(link.owner.as_ref(), link.timestamp, edge)
            ),
        };
        if action.output >= 0 {
            let _ = write!(what, " -> .{}", action.output);
        }
        self.field("on", format_args!("{base}: {what}"));
    }

    fn metadata(&mut self, metadata: &pb::OpMetadata) {
        for (key, text) in &metadata.description {
            match key.as_str() {
                crate::metadata::NAME => self.field("name", format_args!("{text:?}")),
                _ => self.field("text", format_args!("{key} = {text:?}")),
            }
        }
        if let Some(group) = &metadata.progress_group {
            let weak = if group.weak { " weak" } else { "" };
            self.field("group", format_args!("{} {:?}{weak}", group.id, group.name));
        }
        if metadata.ignore_cache {
            self.field("ignore-cache", "yes");
        }
        if let Some(export) = metadata.export_cache {
            self.field("export-cache", if export.value { "yes" } else { "no" });
        }
        if let Some(resources) = &metadata.linux_resources {
            self.field("resources", format_args!("{resources:?}"));
        }
        let caps: Vec<_> = metadata.caps.keys().map(String::as_str).collect();
        if !caps.is_empty() {
            self.field("needs", caps.join(" "));
        }
    }

    fn places(&mut self, places: &pb::Locations, files: &[pb::SourceInfo]) {
        for place in &places.locations {
            let file = usize::try_from(place.source_index)
                .ok()
                .and_then(|index| files.get(index));
            let file = file.map_or("?", |file| &file.filename);
            for range in &place.ranges {
                let position = |p: Option<pb::Position>| {
                    let p = p.unwrap_or_default();
                    format!("{}:{}", p.line, p.character)
                };
                self.field(
                    "from",
                    format_args!("{file}:{}-{}", position(range.start), position(range.end)),
                );
            }
        }
    }
}

fn guarded(kind: &str, id: &str, uid: u32, gid: u32, mode: u32, optional: bool) -> String {
    let optional = if optional { " optional" } else { "" };
    format!("{kind} {id} owner={uid}:{gid} mode={mode:o}{optional}")
}

/// Owner and time of something that a file op makes.
fn made(owner: Option<&pb::ChownOpt>, time: i64, edge: &impl Fn(i64) -> String) -> String {
    let id = |id: Option<&pb::UserOpt>| match id.and_then(|id| id.user.as_ref()) {
        None => String::new(),
        Some(pb::user_opt::User::ById(id)) => id.to_string(),
        Some(pb::user_opt::User::ByName(name)) => {
            format!("{}({})", name.name, edge(name.input))
        }
    };
    let mut text = String::new();
    if let Some(owner) = owner {
        let _ = write!(
            text,
            " owner={}:{}",
            id(owner.user.as_ref()),
            id(owner.group.as_ref())
        );
    }
    if time != -1 {
        let _ = write!(text, " time={time}");
    }
    text
}
