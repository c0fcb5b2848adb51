//! Execs: one process with a root and mounts.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;

use crate::caps::{self, Cap};
use crate::error::{Error, filled};
use crate::mount::{Access, Bind, ContentCache, Mount};
use crate::proto::pb;
use crate::vertex::{Inputs, Vertex, to_index};
use crate::{Metadata, Output, Platform, path};

/// Where the root is mounted.
const ROOT: &str = "/";

/// The root file system of an exec.
///
/// A writable root always makes an output, which need not be used: without one
/// the engine mounts the input itself, and an empty root has no input to mount.
#[derive(Clone, Debug)]
pub struct Root(Bind);

impl Root {
    /// An empty root; its output is what the process writes.
    #[must_use]
    pub fn scratch() -> Self {
        Self(Bind::scratch())
    }

    /// `input`; the output is what became of it.
    #[must_use]
    pub fn writable(input: Output) -> Self {
        Self(Bind::writable(input))
    }

    /// `input`, read-only, without output.
    #[must_use]
    pub fn read_only(input: Output) -> Self {
        Self(Bind::read_only(input))
    }

    /// Whether the key follows the bytes of the whole root.
    #[must_use]
    pub fn content(mut self, content: ContentCache) -> Self {
        self.0 = self.0.content(content);
        self
    }
}

/// The network of an exec. Part of its key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Network {
    /// A network of its own, with access to the outside.
    #[default]
    Sandbox,
    /// The host's; needs the entitlement `network.host`.
    Host,
    /// None.
    None,
}

impl Network {
    fn to_pb(self, needs: &mut BTreeSet<Cap>) -> i32 {
        if self != Self::Sandbox {
            needs.insert(caps::EXEC_META_NETWORK);
        }
        match self {
            Self::Sandbox => pb::NetMode::Unset,
            Self::Host => pb::NetMode::Host,
            Self::None => pb::NetMode::None,
        }
        .into()
    }
}

/// The privileges of an exec. Part of its key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Security {
    /// Those of a container.
    #[default]
    Sandbox,
    /// Those of the host; needs the entitlement `security.insecure`.
    Insecure,
}

impl Security {
    fn to_pb(self, needs: &mut BTreeSet<Cap>) -> i32 {
        match self {
            Self::Sandbox => pb::SecurityMode::Sandbox,
            Self::Insecure => {
                needs.insert(caps::EXEC_META_SECURITY);
                pb::SecurityMode::Insecure
            }
        }
        .into()
    }
}

/// Proxy settings of an exec. Not part of its key. Empty is not set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxy {
    /// `HTTP_PROXY`.
    pub http: String,
    /// `HTTPS_PROXY`.
    pub https: String,
    /// `FTP_PROXY`.
    pub ftp: String,
    /// `NO_PROXY`.
    pub no: String,
    /// `ALL_PROXY`.
    pub all: String,
}

/// A process to run. Everything that is set twice keeps the later value;
/// environment, mounts and other sets are written in a canonical order, so the
/// order of the calls is not part of the key.
#[derive(Clone, Debug)]
pub struct Exec {
    args: Vec<String>,
    platform: Platform,
    cwd: String,
    user: String,
    hostname: String,
    cgroup_parent: String,
    env: BTreeMap<String, String>,
    secret_env: BTreeMap<String, (String, bool)>,
    hosts: BTreeSet<(String, IpAddr)>,
    ulimits: BTreeMap<String, (i64, i64)>,
    exit_codes: BTreeSet<i32>,
    network: Network,
    security: Security,
    devices: BTreeMap<String, bool>,
    proxy: Option<Proxy>,
    root: Root,
    mounts: Vec<(String, Mount)>,
    metadata: Metadata,
}

impl Exec {
    /// Runs `args` on a `root`, in the directory `/`.
    #[must_use]
    pub fn new<S: Into<String>>(
        platform: Platform,
        root: Root,
        args: impl IntoIterator<Item = S>,
    ) -> Self {
        Self {
            args: args.into_iter().map(Into::into).collect(),
            platform,
            cwd: ROOT.to_owned(),
            user: String::new(),
            hostname: String::new(),
            cgroup_parent: String::new(),
            env: BTreeMap::new(),
            secret_env: BTreeMap::new(),
            hosts: BTreeSet::new(),
            ulimits: BTreeMap::new(),
            exit_codes: BTreeSet::new(),
            network: Network::default(),
            security: Security::default(),
            devices: BTreeMap::new(),
            proxy: None,
            root,
            mounts: Vec::new(),
            metadata: Metadata::default(),
        }
    }

    /// The working directory; made if it is not there.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<String>) -> Self {
        self.cwd = cwd.into();
        self
    }

    /// The user, `NAME[:GROUP]` or numbers; by default 0.
    #[must_use]
    pub fn user(mut self, user: impl Into<String>) -> Self {
        self.user = user.into();
        self
    }

    /// The host's name as the process sees it.
    #[must_use]
    pub fn hostname(mut self, hostname: impl Into<String>) -> Self {
        self.hostname = hostname.into();
        self
    }

    /// The parent control group.
    #[must_use]
    pub fn cgroup_parent(mut self, parent: impl Into<String>) -> Self {
        self.cgroup_parent = parent.into();
        self
    }

    /// An environment variable. Without a `PATH` the engine sets a default one
    /// (not on Windows), which is not part of the key.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// An environment variable with the value of the secret `id`. Name, id and
    /// `optional` are part of the key, the value is not. An optional secret
    /// that is not there makes the variable empty, not absent.
    #[must_use]
    pub fn secret_env(
        mut self,
        name: impl Into<String>,
        id: impl Into<String>,
        optional: bool,
    ) -> Self {
        self.secret_env.insert(name.into(), (id.into(), optional));
        self
    }

    /// A line of the hosts file. The address is not part of the key.
    #[must_use]
    pub fn host(mut self, name: impl Into<String>, address: IpAddr) -> Self {
        self.hosts.insert((name.into(), address));
        self
    }

    /// A resource limit of the process, such as `nofile`.
    #[must_use]
    pub fn ulimit(mut self, name: impl Into<String>, soft: i64, hard: i64) -> Self {
        self.ulimits.insert(name.into(), (soft, hard));
        self
    }

    /// The exit codes that count as success, instead of just 0.
    #[must_use]
    pub fn valid_exit_codes(mut self, codes: impl IntoIterator<Item = i32>) -> Self {
        self.exit_codes = codes.into_iter().collect();
        self
    }

    /// The network.
    #[must_use]
    pub fn network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// A device by its CDI name, `vendor.com/class=name`. Name and `optional` are part of the key.
    #[must_use]
    pub fn device(mut self, name: impl Into<String>, optional: bool) -> Self {
        self.devices.insert(name.into(), optional);
        self
    }

    /// The privileges.
    #[must_use]
    pub fn security(mut self, security: Security) -> Self {
        self.security = security;
        self
    }

    /// Proxy settings.
    #[must_use]
    pub fn proxy(mut self, proxy: Proxy) -> Self {
        self.proxy = Some(proxy);
        self
    }

    /// A mount at `dest`, an absolute path.
    #[must_use]
    pub fn mount(mut self, dest: impl Into<String>, mount: impl Into<Mount>) -> Self {
        self.mounts.push((dest.into(), mount.into()));
        self
    }

    /// What is said about it.
    #[must_use]
    pub fn metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = metadata;
        self
    }

    /// The exec and its outputs.
    ///
    /// # Errors
    /// No arguments; an empty or malformed name; a place that is not absolute
    /// or is used twice; a name that is both environment and secret; no output
    /// at all; what Windows workers do not have; a writable mount of a part of
    /// an input whose key should follow the content.
    pub fn build(mut self) -> Result<Run, Error> {
        self.check()?;
        let mounts = self.places()?;
        let mut needs = BTreeSet::new();
        let mut inputs = Inputs::default();
        let mut outputs = BTreeMap::new();
        let mut wire = Vec::with_capacity(mounts.len());
        for (dest, mount) in &mounts {
            let mut made = mount.to_pb(dest, &mut needs);
            if let Mount::Cache(cache) = mount
                && let Some(from) = &cache.from
            {
                made.input = inputs.add(from);
            }
            if let Mount::Bind(bind) = mount {
                if let Some(input) = &bind.input {
                    made.input = inputs.add(input);
                }
                if bind.access.makes_output() {
                    made.output = to_index(outputs.len());
                    outputs.insert(dest.clone(), made.output);
                }
            }
            wire.push(made);
        }
        if outputs.is_empty() {
            return Err(Error::NoOutput);
        }

        let meta = self.meta(&mut needs);
        let exec = pb::ExecOp {
            meta: Some(meta),
            mounts: wire,
            network: self.network.to_pb(&mut needs),
            security: self.security.to_pb(&mut needs),
            secretenv: self.secretenv(&mut needs),
            cdi_devices: self.devices(&mut needs),
        };
        let vertex = Vertex::new(
            pb::op::Op::Exec(exec),
            Some(self.platform.to_pb()),
            inputs.into_vec(),
            needs,
            std::mem::take(&mut self.metadata),
        );
        Ok(Run { vertex, outputs })
    }

    /// Refuses what is wrong besides the mounts.
    fn check(&mut self) -> Result<(), Error> {
        if self.args.is_empty() {
            return Err(Error::Empty { what: "args" });
        }
        self.cwd = path::mount_point("working directory", &self.cwd)?;
        for name in self.env.keys().chain(self.secret_env.keys()) {
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(Error::Invalid {
                    what: "environment name",
                    value: name.clone(),
                    expected: "a name without `=`",
                });
            }
        }
        for (name, (id, _)) in &self.secret_env {
            filled("secret id", id)?;
            if self.env.contains_key(name) {
                return Err(Error::Twice {
                    what: "environment name",
                    name: name.clone(),
                });
            }
        }
        for (name, _) in &self.hosts {
            filled("host name", name)?;
        }
        for name in self.ulimits.keys() {
            filled("ulimit", name)?;
        }
        for name in self.devices.keys() {
            filled("device", name)?;
        }
        Ok(())
    }

    /// All mounts by place, the root first.
    fn places(&self) -> Result<Vec<(String, Mount)>, Error> {
        let mut places = BTreeMap::new();
        let root = Mount::Bind(self.root.0.clone());
        if self.platform.is_windows() && self.root.0.input.is_none() {
            return Err(Error::NotOnWindows {
                what: "an empty root",
            });
        }
        places.insert(ROOT.to_owned(), root);
        for (dest, mount) in &self.mounts {
            let place = path::mount_point("mount", dest)?;
            if self.platform.is_windows()
                && let Some(what) = mount.not_on_windows()
            {
                return Err(Error::NotOnWindows { what });
            }
            if let Mount::Bind(bind) = mount
                && bind.content == ContentCache::On
                && bind.access == Access::Writable
                && bind.selector.is_some()
            {
                return Err(Error::ContentOfPart { dest: place });
            }
            if places.insert(place.clone(), mount.clone()).is_some() {
                return Err(Error::Twice {
                    what: "mount",
                    name: place,
                });
            }
        }
        // `/` sorts before every other absolute path, with a drive or not.
        Ok(places.into_iter().collect())
    }

    fn meta(&self, needs: &mut BTreeSet<Cap>) -> pb::Meta {
        needs.insert(caps::EXEC_META_BASE);
        if !self.cgroup_parent.is_empty() {
            needs.insert(caps::EXEC_META_CGROUP_PARENT);
        }
        if !self.ulimits.is_empty() {
            needs.insert(caps::EXEC_META_ULIMIT);
        }
        if !self.exit_codes.is_empty() {
            needs.insert(caps::EXEC_VALID_EXIT_CODE);
        }
        pb::Meta {
            args: self.args.clone(),
            env: self.env.iter().map(|(k, v)| format!("{k}={v}")).collect(),
            cwd: self.cwd.clone(),
            user: self.user.clone(),
            proxy_env: self.proxy.as_ref().map(|proxy| {
                needs.insert(caps::EXEC_META_PROXY);
                pb::ProxyEnv {
                    http_proxy: proxy.http.clone(),
                    https_proxy: proxy.https.clone(),
                    ftp_proxy: proxy.ftp.clone(),
                    no_proxy: proxy.no.clone(),
                    all_proxy: proxy.all.clone(),
                }
            }),
            extra_hosts: self
                .hosts
                .iter()
                .map(|(host, ip)| pb::HostIp {
                    host: host.clone(),
                    ip: ip.to_string(),
                })
                .collect(),
            hostname: self.hostname.clone(),
            ulimit: self
                .ulimits
                .iter()
                .map(|(name, (soft, hard))| pb::Ulimit {
                    name: name.clone(),
                    soft: *soft,
                    hard: *hard,
                })
                .collect(),
            cgroup_parent: self.cgroup_parent.clone(),
            // Without it, mount points stay behind as empty directories.
            remove_mount_stubs_recursive: true,
            valid_exit_codes: self.exit_codes.iter().copied().collect(),
        }
    }

    fn devices(&self, needs: &mut BTreeSet<Cap>) -> Vec<pb::CdiDevice> {
        if !self.devices.is_empty() {
            needs.insert(caps::EXEC_META_CDI);
        }
        self.devices
            .iter()
            .map(|(name, optional)| pb::CdiDevice {
                name: name.clone(),
                optional: *optional,
            })
            .collect()
    }

    fn secretenv(&self, needs: &mut BTreeSet<Cap>) -> Vec<pb::SecretEnv> {
        if !self.secret_env.is_empty() {
            needs.insert(caps::EXEC_MOUNT_SECRET);
            needs.insert(caps::EXEC_SECRET_ENV);
        }
        self.secret_env
            .iter()
            .map(|(name, (id, optional))| pb::SecretEnv {
                id: id.clone(),
                name: name.clone(),
                optional: *optional,
            })
            .collect()
    }
}

/// An exec in the graph, and its outputs by the place of their mount.
#[derive(Clone)]
pub struct Run {
    vertex: Arc<Vertex>,
    outputs: BTreeMap<String, i64>,
}

impl Run {
    /// What became of the root.
    ///
    /// # Errors
    /// The root has no output.
    pub fn root(&self) -> Result<Output, Error> {
        self.output(ROOT)
    }

    /// What became of the mount at `dest`.
    ///
    /// # Errors
    /// Nothing is mounted there, or it makes no output.
    pub fn output(&self, dest: &str) -> Result<Output, Error> {
        let place = path::mount_point("mount", dest)?;
        match self.outputs.get(&place) {
            Some(index) => Ok(self.vertex.output(*index)),
            None => Err(Error::NotAnOutput { dest: place }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cache, FileOp, MkFile, Secret, Sharing, Ssh, Tmpfs};

    fn linux() -> Platform {
        Platform::new("linux", "amd64")
    }

    fn tree() -> Output {
        FileOp::new(None)
            .mkfile(MkFile::new("/a", 0o644, ""))
            .build()
            .unwrap()
    }

    fn exec() -> Exec {
        Exec::new(linux(), Root::writable(tree()), ["true"])
    }

    #[track_caller]
    fn refused(exec: Exec) -> String {
        match exec.build() {
            Ok(_) => panic!("should be refused"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn args_are_needed() {
        let none: [&str; 0] = [];
        let exec = Exec::new(linux(), Root::scratch(), none);
        assert_eq!(refused(exec), "args must not be empty");
    }

    #[test]
    fn the_working_directory_is_absolute() {
        for cwd in ["", "work", "/a/../b"] {
            assert!(refused(exec().cwd(cwd)).starts_with("working directory"));
        }
    }

    #[test]
    fn a_place_is_used_once_however_it_is_written() {
        let cache = || Cache::new("id", Sharing::Shared).unwrap();
        for (first, second) in [("/a", "/a/"), ("/a/b", "/a//./b"), ("/", "/b")] {
            let twice = exec().mount(first, cache()).mount(second, cache());
            assert!(refused(twice).ends_with("is given twice"));
        }
    }

    #[test]
    fn mounts_are_at_absolute_places() {
        for dest in ["", "a", "/a/../b"] {
            assert!(refused(exec().mount(dest, Tmpfs::new())).starts_with("mount"));
        }
    }

    #[test]
    fn names_of_the_environment_are_names() {
        for name in ["", "A=B", "A\0"] {
            assert!(refused(exec().env(name, "x")).starts_with("environment name"));
            assert!(refused(exec().secret_env(name, "x", true)).starts_with("environment name"));
        }
        assert_eq!(
            refused(exec().secret_env("A", "", true)),
            "secret id must not be empty"
        );
    }

    #[test]
    fn a_secret_does_not_overwrite_a_plain_variable() {
        assert_eq!(
            refused(exec().env("A", "1").secret_env("A", "id", true)),
            "environment name \"A\" is given twice"
        );
    }

    #[test]
    fn other_names_are_not_empty() {
        let localhost = std::net::Ipv4Addr::LOCALHOST.into();
        assert_eq!(
            refused(exec().host("", localhost)),
            "host name must not be empty"
        );
        assert_eq!(refused(exec().ulimit("", 1, 1)), "ulimit must not be empty");
        assert!(Cache::new("", Sharing::Shared).is_err());
        assert!(Secret::new("").is_err());
        assert!(Ssh::new("").is_err());
        assert!(Bind::scratch().selector("a").is_err());
    }

    #[test]
    fn an_exec_without_output_is_refused() {
        let gate = Exec::new(linux(), Root::read_only(tree()), ["true"])
            .mount("/in", Bind::read_only(tree()))
            .mount("/drop", Bind::discard(tree()));
        assert_eq!(refused(gate), "no mount of the exec makes an output");
    }

    #[test]
    fn the_content_of_a_part_that_is_written_to_is_no_key() {
        let bind = || Bind::writable(tree()).content(ContentCache::On);
        let part = bind().selector("/a").unwrap();
        assert!(refused(exec().mount("/x", part)).contains("selects a part"));
        assert!(exec().mount("/x", bind()).build().is_ok());
        let sealed = Bind::sealed(tree()).content(ContentCache::On);
        let sealed = sealed.selector("/a").unwrap();
        assert!(exec().mount("/x", sealed).build().is_ok());
    }

    #[test]
    fn windows_has_no_empty_root_and_nothing_in_memory() {
        let windows = || Platform::new("windows", "amd64");
        assert!(refused(Exec::new(windows(), Root::scratch(), ["cmd"])).contains("an empty root"));
        let exec = || Exec::new(windows(), Root::writable(tree()), ["cmd"]).cwd(r"C:\src");
        assert!(refused(exec().mount(r"C:\t", Tmpfs::new())).contains("tmpfs"));
        let secret = Secret::new("s").unwrap();
        assert!(refused(exec().mount(r"C:\s", secret)).contains("secret"));
        assert!(refused(exec().mount(r"C:\a", Ssh::new("a").unwrap())).contains("SSH"));
        let run = exec()
            .mount(r"C:\out\", Bind::scratch())
            .secret_env("TOKEN", "token", true)
            .build()
            .unwrap();
        assert_eq!(run.root().unwrap().index(), 0);
        assert_eq!(run.output(r"C:\out").unwrap().index(), 1);
    }

    #[test]
    fn only_places_with_an_output_have_one() {
        let run = exec()
            .mount("/in", Bind::read_only(tree()))
            .mount("/out", Bind::scratch())
            .build()
            .unwrap();
        assert!(run.root().is_ok());
        assert!(run.output("/out/").is_ok());
        for dest in ["/in", "/nothing", "nonsense"] {
            assert!(run.output(dest).is_err());
        }
    }

    #[test]
    fn the_later_value_counts() {
        let exec = exec()
            .env("A", "1")
            .env("A", "2")
            .valid_exit_codes([1])
            .valid_exit_codes([2]);
        let once = self::exec().env("A", "2").valid_exit_codes([2]);
        let digest = |exec: Exec| exec.build().unwrap().root().unwrap().digest();
        assert_eq!(digest(exec), digest(once));
    }

    #[test]
    fn capabilities_follow_the_fields() {
        let needs = |exec: Exec| -> Vec<String> {
            let output = exec.build().unwrap().root().unwrap();
            output.vertex.needs().map(|cap| cap.to_string()).collect()
        };
        let base = needs(exec());
        assert_eq!(base, ["exec.meta.base", "exec.mount.bind"]);
        let more = |exec: Exec| -> Vec<String> {
            let mut needs = needs(exec);
            needs.retain(|cap| !base.contains(cap));
            needs
        };
        let bind = || Bind::read_only(tree());
        for (exec, cap) in [
            (exec().cgroup_parent("g"), "exec.meta.cgroup.parent"),
            (exec().network(Network::None), "exec.meta.network"),
            (exec().proxy(Proxy::default()), "exec.meta.proxyenv"),
            (exec().security(Security::Insecure), "exec.meta.security"),
            (exec().ulimit("nofile", 1, 1), "exec.meta.ulimit"),
            (exec().valid_exit_codes([1]), "exec.validexitcode"),
            (
                exec().mount("/a", Bind::discard(tree())),
                "exec.mount.bind.readwrite-nooutput",
            ),
            (
                exec().mount("/a", bind().selector("/b").unwrap()),
                "exec.mount.selector",
            ),
            (
                exec().mount("/a", bind().content(ContentCache::Off)),
                "exec.mount.cache.content",
            ),
            (exec().mount("/a", Tmpfs::new()), "exec.mount.tmpfs"),
            (
                exec().mount("/a", Secret::new("s").unwrap()),
                "exec.mount.secret",
            ),
            (exec().mount("/a", Ssh::new("s").unwrap()), "exec.mount.ssh"),
        ] {
            assert_eq!(more(exec), [cap]);
        }
        assert_eq!(
            more(exec().mount("/a", Cache::new("c", Sharing::Shared).unwrap())),
            ["exec.mount.cache", "exec.mount.cache.sharing"]
        );
        assert_eq!(
            more(exec().secret_env("A", "a", true)),
            ["exec.mount.secret", "exec.secretenv"]
        );
        let megabyte = 1_000_000.try_into().unwrap();
        assert_eq!(
            more(exec().mount("/a", Tmpfs::new().size(megabyte))),
            ["exec.mount.tmpfs", "exec.mount.tmpfs.size"]
        );
    }
}
