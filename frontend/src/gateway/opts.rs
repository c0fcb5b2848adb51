//! What the build was asked for: the environment that an engine gives a frontend, read once into one typed value.
//!
//! An engine passes options as `BUILDKIT_FRONTEND_OPT_<n>=key=value` in random order, so nothing here depends on
//! the order. (The workers, which come by the environment too, are asked for with the capabilities.) Every option is read, is left to the engine with the reason beside it, or is reported: none is
//! dropped in silence, and all that is wrong is reported at once.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::net::IpAddr;

use llb::proto::pb::LinuxResources;
use llb::{Network, Platform, Proxy, Reference, ResolveMode};
use serde::Deserialize;

mod resources;

/// Variable prefix of the options.
const OPT: &str = "BUILDKIT_FRONTEND_OPT_";
/// Variable that holds the client's session.
const SESSION: &str = "BUILDKIT_SESSION_ID";
/// The file read when neither the client nor the route says which.
const LANE_FILE: &str = "lanes.toml";
/// The file that a client means when it names none and came by a syntax line.
const DOCKERFILE: &str = "Dockerfile";

/// Whether this process was started by an engine as a frontend.
#[must_use]
pub fn is_gateway(mut names: impl Iterator<Item = OsString>) -> bool {
    names.any(|name| {
        name.to_str()
            .is_some_and(|name| name == SESSION || name.starts_with(OPT))
    })
}

/// Everything a build was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opts {
    /// Id of the client's session, which holds its local directories, secrets and stores.
    pub session: String,
    /// Other sessions that hold single local directories, by the directory's name.
    pub local_sessions: BTreeMap<String, String>,
    /// What the engine calls its product in messages: `docker`, `buildkit`, or nothing.
    pub product: String,
    /// The lane file.
    pub file: File,
    /// Where the build's files come from.
    pub context: Context,
    /// Whether a repository as context keeps its `.git`.
    pub keep_git_dir: bool,
    /// Other contexts by name, which replace images and stages.
    pub contexts: Contexts,
    /// What to build; nothing for the file's default.
    pub target: Option<String>,
    /// Platforms asked for; none for whatever the lane says.
    pub platforms: Vec<Platform>,
    /// Whether the result shall have parts by platform, however many those are; nothing for what its target makes.
    pub multi_platform: Option<bool>,
    /// Values that the caller sets (`--build-arg`), without those that engines give a meaning themselves.
    pub args: BTreeMap<String, String>,
    /// Proxy settings, which reach steps without entering a key.
    pub proxy: Proxy,
    /// `SOURCE_DATE_EPOCH`, seconds since 1970. The engine's exporters apply it by themselves.
    pub source_date_epoch: Option<u64>,
    /// Labels for the image.
    pub labels: BTreeMap<String, String>,
    /// What must run even if it is cached.
    pub no_cache: NoCache,
    /// Caches to look into, in order.
    pub cache_imports: Vec<CacheImport>,
    /// How image names are resolved.
    pub resolve_mode: ResolveMode,
    /// Hosts that steps know by name, in the order given.
    pub hosts: Vec<(String, IpAddr)>,
    /// Size of `/dev/shm` in bytes.
    pub shm_size: Option<u64>,
    /// Process limits of steps.
    pub ulimits: Vec<Ulimit>,
    /// Limits of memory and processors of steps.
    pub resources: Option<LinuxResources>,
    /// Network of steps that do not say otherwise.
    pub network: Option<Network>,
    /// Control group that steps run under.
    pub cgroup_parent: Option<String>,
    /// Host name that steps see.
    pub hostname: Option<String>,
    /// Prefix of the ids of cache mounts.
    pub cache_namespace: Option<String>,
    /// Sub-request, instead of a build.
    pub request: Option<String>,
    /// What the client needs the frontend to be able to do.
    pub frontend_caps: BTreeSet<String>,
    /// The frontend's own image, as it was asked for.
    pub source: Option<String>,
    /// The syntax line with what follows the image's name.
    pub cmdline: Option<String>,
    /// Options that nothing here knows, in order of their names.
    pub unknown: BTreeSet<String>,
}

/// The lane file: its name, and the local directory that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Path in that directory.
    pub name: String,
    /// Name of the local directory.
    pub local: String,
    /// The client wants the file from that directory even when the context is elsewhere.
    pub forced: bool,
}

impl Default for File {
    fn default() -> Self {
        Self {
            name: LANE_FILE.to_owned(),
            local: "dockerfile".to_owned(),
            forced: false,
        }
    }
}

/// Where the build's files come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Context {
    /// The client's local directory of the name `context`, or an input of that name.
    #[default]
    Local,
    /// A git or archive URL.
    Remote {
        /// The URL.
        url: String,
        /// Directory within.
        subdir: Option<String>,
    },
}

/// What must run even if it is cached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum NoCache {
    /// Nothing.
    #[default]
    No,
    /// Everything.
    All,
    /// What has one of these names (lower case, since their case does not count).
    Only(BTreeSet<String>),
}

impl NoCache {
    /// Whether what has this name must run.
    #[must_use]
    pub fn covers(&self, name: &str) -> bool {
        match self {
            Self::No => false,
            Self::All => true,
            Self::Only(names) => names.contains(&name.to_lowercase()),
        }
    }
}

/// A cache to look into: a kind, and what that kind needs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct CacheImport {
    /// `registry`, `local`, `gha`, …
    #[serde(rename = "Type")]
    pub kind: String,
    /// Settings of that kind.
    #[serde(rename = "Attrs", default)]
    pub attrs: BTreeMap<String, String>,
}

/// A process limit; −1 is no limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ulimit {
    /// Such as `nofile`.
    pub name: String,
    /// The limit that a process meets.
    pub soft: i64,
    /// The limit up to which it may raise that.
    pub hard: i64,
}

/// Contexts by name. A name is kept in its familiar form, with or without a platform.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contexts(BTreeMap<String, NamedContext>);

/// One named context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedContext {
    /// Where it comes from.
    pub source: ContextSource,
    /// What to add to the key under which a local directory is shared.
    pub shared_key: Option<String>,
    /// Metadata that an input came with, such as its image config.
    pub metadata: BTreeMap<String, Vec<u8>>,
}

/// Where a named context comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContextSource {
    /// Nothing at all.
    Scratch,
    /// An image by name.
    Image(Reference),
    /// An image in a store of the client.
    OciLayout {
        /// The store's id.
        store: String,
        /// Which image of it.
        digest: String,
    },
    /// A local directory of the client, by name.
    Local(String),
    /// The result of another build, by name.
    Input(String),
    /// A git repository or a file or archive, by URL.
    Remote(String),
}

impl Contexts {
    /// The context that stands in for `name` on `platform`: one for just that platform, else one for any.
    #[must_use]
    pub fn find(&self, name: &str, platform: &Platform) -> Option<(&str, &NamedContext)> {
        let name = familiar(name);
        let exact = format!("{name}::{platform}");
        [exact, name]
            .iter()
            .find_map(|key| self.0.get_key_value(key))
            .map(|(key, context)| (key.as_str(), context))
    }

    /// Whether the key is that of the context which the engine took the frontend's own image from.
    #[must_use]
    pub fn is_frontend(&self, key: &str, source: Option<&str>) -> bool {
        source.is_some_and(|source| key.split("::").next() == Some(familiar(source).as_str()))
    }

    /// All of them by key, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &NamedContext)> {
        self.0.iter().map(|(key, context)| (key.as_str(), context))
    }
}

/// The name people write, without what goes without saying: neither the default registry and folder nor the
/// default tag. What is no image name (`MY_STAGE`) stays as it is.
fn familiar(name: &str) -> String {
    let Ok(reference) = name.parse::<Reference>() else {
        return name.to_owned();
    };
    let full = reference.to_string();
    let short = full.strip_prefix("docker.io/").unwrap_or(&full);
    let short = short
        .strip_prefix("library/")
        .filter(|rest| !rest.contains('/'))
        .unwrap_or(short);
    short.strip_suffix(":latest").unwrap_or(short).to_owned()
}

/// One option that could not be read or that lanekit cannot honour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptError {
    /// The option's name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// What is wrong and what to do.
    pub problem: String,
}

impl fmt::Display for OptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "option {}={}: {}", self.name, self.value, self.problem)
    }
}

/// Everything that is wrong with the options; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptErrors(pub Vec<OptError>);

impl fmt::Display for OptErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, error) in self.0.iter().enumerate() {
            write!(f, "{}{error}", if n == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl std::error::Error for OptErrors {}

impl Opts {
    /// Reads the environment of the process.
    pub fn from_env(
        vars: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, OptErrors> {
        let mut reader = Reader::default();
        let mut opts = Self::default();
        for (name, value) in vars {
            let Some(name) = name.to_str() else { continue };
            let wanted =
                name.starts_with(OPT) || matches!(name, SESSION | "BUILDKIT_EXPORTEDPRODUCT");
            if !wanted {
                continue;
            }
            let Ok(value) = value.into_string() else {
                reader.refuse(name, "…", "is not UTF-8");
                continue;
            };
            match name {
                SESSION => opts.session = value,
                "BUILDKIT_EXPORTEDPRODUCT" => opts.product = value,
                _ => reader.add(&value),
            }
        }
        opts.read(&mut reader);
        if reader.errors.is_empty() {
            Ok(opts)
        } else {
            reader.errors.sort_by(|a, b| {
                (&a.name, &a.value, &a.problem).cmp(&(&b.name, &b.value, &b.problem))
            });
            Err(OptErrors(reader.errors))
        }
    }

    /// The session that holds the local directory of this name.
    #[must_use]
    pub fn session_of(&self, local: &str) -> &str {
        self.local_sessions.get(local).unwrap_or(&self.session)
    }

    fn read(&mut self, from: &mut Reader) {
        self.cmdline = from.text("cmdline");
        self.source = from.text("source");
        self.request = from.text("requestid");
        self.frontend_caps = from
            .text("frontend.caps")
            .iter()
            .flat_map(|list| list.split(','))
            .map(cap_name)
            .collect();
        self.target = from.text("target");
        self.cgroup_parent = from.text("cgroup-parent");
        self.labels = from.group("label:");
        self.local_sessions = from.group("local-sessionid:");
        self.platforms = from
            .parsed("platform", |list| list.split(',').map(platform).collect())
            .unwrap_or_default();
        self.resolve_mode = from
            .parsed("image-resolve-mode", resolve_mode)
            .unwrap_or_default();
        self.hosts = from.parsed("add-hosts", hosts).unwrap_or_default();
        self.shm_size = from.parsed("shm-size", bytes).filter(|size| *size > 0);
        self.ulimits = from.parsed("ulimit", ulimits).unwrap_or_default();
        self.resources = resources::read(from);
        self.network = from.parsed("force-network-mode", network);
        self.cache_imports = from
            .parsed("cache-imports", cache_imports)
            .unwrap_or_default();
        self.cache_imports
            .extend(from.parsed("cache-from", cache_from).unwrap_or_default());
        self.no_cache = match from.take("no-cache") {
            None => NoCache::No,
            Some(names) if names.is_empty() => NoCache::All,
            Some(names) => NoCache::Only(names.split(',').map(str::to_lowercase).collect()),
        };
        self.read_file_and_context(from);
        self.read_named_contexts(from);
        self.read_args(from);
        self.read_engine_options(from);
        self.unknown = std::mem::take(&mut from.opts).into_keys().collect();
    }

    fn read_file_and_context(&mut self, from: &mut Reader) {
        // A syntax line is found in the file that the client means, which without a name is its Dockerfile.
        let unnamed = if self.cmdline.is_some() {
            DOCKERFILE
        } else {
            LANE_FILE
        };
        let local = from.text("dockerfilekey");
        self.file = File {
            name: from.text("filename").unwrap_or_else(|| unnamed.to_owned()),
            forced: local.is_some(),
            local: local.unwrap_or_else(|| File::default().local),
        };
        let key = from
            .text("contextkey")
            .unwrap_or_else(|| "context".to_owned());
        let subdir = from.text("contextsubdir");
        self.context = match (from.text(&key), subdir) {
            (Some(url), subdir) => Context::Remote { url, subdir },
            (None, None) => Context::Local,
            (None, Some(subdir)) => {
                from.refuse("contextsubdir", &subdir, "needs a remote context");
                Context::Local
            }
        };
    }

    fn read_named_contexts(&mut self, from: &mut Reader) {
        let mut shared_keys = from.group("sharedkey:localdir:");
        let mut metadata = from.group("input-metadata:");
        for (written, value) in from.group("context:") {
            let option = format!("context:{written}");
            let (name, written_platform) = match written.split_once("::") {
                Some((name, platform)) => (name, Some(platform)),
                None => (written.as_str(), None),
            };
            let key = match written_platform.map(platform).transpose() {
                Ok(Some(platform)) => format!("{}::{platform}", familiar(name)),
                Ok(None) => familiar(name),
                Err(problem) => {
                    from.refuse(&option, &value, &problem);
                    continue;
                }
            };
            let source = match context_source(&value) {
                Ok(source) => source,
                Err(problem) => {
                    from.refuse(&option, &value, &problem);
                    continue;
                }
            };
            let metadata = match &source {
                ContextSource::Input(input) => metadata.remove(input).unwrap_or_default(),
                _ => String::new(),
            };
            let metadata = match input_metadata(&metadata) {
                Ok(metadata) => metadata,
                Err(problem) => {
                    from.refuse("input-metadata", &metadata, &problem);
                    continue;
                }
            };
            let context = NamedContext {
                source,
                shared_key: shared_keys.remove(&written),
                metadata,
            };
            if self.contexts.0.insert(key.clone(), context).is_some() {
                from.refuse(
                    &option,
                    &value,
                    &format!("{key} is named twice, in two spellings"),
                );
            }
        }
    }

    fn read_args(&mut self, from: &mut Reader) {
        self.args = from.group("build-arg:");
        let mut take = |name: &str| self.args.remove(name).filter(|value| !value.is_empty());
        // The capital spelling wins, so that the result does not hang on the order of a map.
        let mut proxy = |upper: &str| {
            let lower = take(&upper.to_lowercase());
            take(upper).or(lower).unwrap_or_default()
        };
        self.proxy = Proxy {
            http: proxy("HTTP_PROXY"),
            https: proxy("HTTPS_PROXY"),
            ftp: proxy("FTP_PROXY"),
            no: proxy("NO_PROXY"),
            all: proxy("ALL_PROXY"),
        };
        if let Some(epoch) = self
            .args
            .remove("SOURCE_DATE_EPOCH")
            .filter(|value| !value.is_empty())
        {
            match epoch.parse() {
                Ok(seconds) => self.source_date_epoch = Some(seconds),
                Err(_) => from.refuse(
                    "build-arg:SOURCE_DATE_EPOCH",
                    &epoch,
                    "is not a number of seconds",
                ),
            }
        }
        let mut engine: BTreeMap<String, String> = BTreeMap::new();
        self.args.retain(|name, value| {
            let ours = !name.starts_with("BUILDKIT_");
            if !ours {
                engine.insert(name.clone(), std::mem::take(value));
            }
            ours
        });
        self.cache_namespace = engine
            .remove("BUILDKIT_CACHE_MOUNT_NS")
            .filter(|value| !value.is_empty());
        let keep = "BUILDKIT_CONTEXT_KEEP_GIT_DIR";
        if let Some(value) = engine.remove(keep).filter(|value| !value.is_empty()) {
            match parse_bool(&value) {
                Some(keep) => self.keep_git_dir = keep,
                None => from.refuse(
                    &format!("build-arg:{keep}"),
                    &value,
                    "is neither true nor false",
                ),
            }
        }
        let hostname = from.text("hostname");
        self.hostname = engine
            .remove("BUILDKIT_SANDBOX_HOSTNAME")
            .filter(|value| !value.is_empty())
            .or(hostname);
        let multi = from.take("multi-platform");
        if let Some(multi) = engine
            .remove("BUILDKIT_MULTI_PLATFORM")
            .or(multi)
            .filter(|value| !value.is_empty())
        {
            match parse_bool(&multi) {
                Some(multi) => self.multi_platform = Some(multi),
                None => from.refuse("multi-platform", &multi, "is neither true nor false"),
            }
        }
        // Which frontend runs, and what exporters and attestations do: decided before we were asked.
        for settled in ["BUILDKIT_SYNTAX", "BUILDKIT_INLINE_CACHE"] {
            engine.remove(settled);
        }
        engine.retain(|name, _| !name.starts_with("BUILDKIT_ATTEST_"));
        from.opts.extend(
            engine
                .into_iter()
                .map(|(name, value)| (format!("build-arg:{name}"), value)),
        );
    }

    /// What the engine does without us, and what cannot be done.
    fn read_engine_options(&mut self, from: &mut Reader) {
        // Provenance is written by the engine, which also runs the scanner for a bill of materials.
        from.group("attest:");
        // Where the client's directories come from, for the provenance.
        from.group("vcs:");
        if let Some(value) = from.text("override-copy-image") {
            from.refuse(
                "override-copy-image",
                &value,
                "engines no longer copy by an image",
            );
        }
    }
}

/// Options that are still to be read, and what was wrong with those that were.
#[derive(Default)]
struct Reader {
    opts: BTreeMap<String, String>,
    errors: Vec<OptError>,
}

impl Reader {
    fn add(&mut self, opt: &str) {
        let Some((key, value)) = opt.split_once('=') else {
            return self.refuse(opt, "", "has no value");
        };
        match self.opts.insert(key.to_owned(), value.to_owned()) {
            Some(before) if before != value => {
                let (low, high) = if before.as_str() < value {
                    (before.as_str(), value)
                } else {
                    (value, before.as_str())
                };
                self.refuse(key, low, &format!("is also given as {high}"));
            }
            _ => {}
        }
    }

    fn refuse(&mut self, name: &str, value: &str, problem: &str) {
        self.errors.push(OptError {
            name: name.to_owned(),
            value: value.to_owned(),
            problem: problem.to_owned(),
        });
    }

    fn take(&mut self, key: &str) -> Option<String> {
        self.opts.remove(key)
    }

    /// An option for which empty is the same as absent.
    fn text(&mut self, key: &str) -> Option<String> {
        self.take(key).filter(|value| !value.is_empty())
    }

    fn parsed<T>(&mut self, key: &str, parse: impl FnOnce(&str) -> Result<T, String>) -> Option<T> {
        let value = self.text(key)?;
        parse(&value)
            .map_err(|problem| self.refuse(key, &value, &problem))
            .ok()
    }

    /// All options that begin with `prefix`, by the rest of their names.
    fn group(&mut self, prefix: &str) -> BTreeMap<String, String> {
        let mut group = BTreeMap::new();
        self.opts
            .retain(|key, value| match key.strip_prefix(prefix) {
                Some(name) => {
                    group.insert(name.to_owned(), std::mem::take(value));
                    false
                }
                None => true,
            });
        group
    }
}

/// A capability may carry a mark for those who pass it on (`…contexts+forward`).
fn cap_name(cap: &str) -> String {
    cap.split('+').next().unwrap_or(cap).to_owned()
}

fn platform(text: &str) -> Result<Platform, String> {
    text.parse().map_err(|error: llb::Error| error.to_string())
}

fn resolve_mode(word: &str) -> Result<ResolveMode, String> {
    match word {
        "default" => Ok(ResolveMode::Default),
        "pull" => Ok(ResolveMode::Pull),
        "local" => Ok(ResolveMode::PreferLocal),
        _ => Err("is none of default, pull and local".to_owned()),
    }
}

fn network(word: &str) -> Result<Network, String> {
    match word {
        "none" => Ok(Network::None),
        "host" => Ok(Network::Host),
        "sandbox" => Ok(Network::Sandbox),
        _ => Err("is none of none, host and sandbox".to_owned()),
    }
}

fn bytes(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| "is not a number of bytes".to_owned())
}

fn hosts(list: &str) -> Result<Vec<(String, IpAddr)>, String> {
    let host = |field: String| {
        let field = field.to_lowercase();
        let (name, ip) = field
            .split_once('=')
            .ok_or_else(|| format!("\"{field}\" is not host=address"))?;
        let ip = ip
            .trim_matches(['[', ']'])
            .parse()
            .map_err(|_| format!("\"{ip}\" is not an address"))?;
        Ok((name.to_owned(), ip))
    };
    csv(list)?.into_iter().map(host).collect()
}

fn ulimits(list: &str) -> Result<Vec<Ulimit>, String> {
    const NAMES: [&str; 15] = [
        "core",
        "cpu",
        "data",
        "fsize",
        "locks",
        "memlock",
        "msgqueue",
        "nice",
        "nofile",
        "nproc",
        "rss",
        "rtprio",
        "rttime",
        "sigpending",
        "stack",
    ];
    let ulimit = |field: String| {
        let (name, limits) = field
            .split_once('=')
            .ok_or_else(|| format!("\"{field}\" is not name=soft[:hard]"))?;
        if !NAMES.contains(&name) {
            return Err(format!("there is no limit \"{name}\""));
        }
        let (soft, hard) = limits.split_once(':').unwrap_or((limits, limits));
        let number = |text: &str| match text.parse() {
            Ok(limit) if limit >= -1 => Ok(limit),
            _ => Err(format!("\"{text}\" is not a limit")),
        };
        let (soft, hard): (i64, i64) = (number(soft)?, number(hard)?);
        if hard != -1 && (soft == -1 || soft > hard) {
            return Err(format!("the soft limit of {name} is above the hard one"));
        }
        Ok(Ulimit {
            name: name.to_owned(),
            soft,
            hard,
        })
    };
    csv(list)?.into_iter().map(ulimit).collect()
}

fn cache_imports(json: &str) -> Result<Vec<CacheImport>, String> {
    serde_json::from_str(json).map_err(|error| format!("is not a list of caches in JSON: {error}"))
}

fn cache_from(list: &str) -> Result<Vec<CacheImport>, String> {
    let registry = |name: &str| CacheImport {
        kind: "registry".to_owned(),
        attrs: BTreeMap::from([("ref".to_owned(), name.to_owned())]),
    };
    Ok(list.split(',').map(registry).collect())
}

fn context_source(value: &str) -> Result<ContextSource, String> {
    let (scheme, rest) = value
        .split_once(':')
        .ok_or("a context is scheme:what, for example docker-image://debian:12")?;
    let rest = rest.strip_prefix("//").unwrap_or(rest);
    match scheme {
        "docker-image" if rest == "scratch" => Ok(ContextSource::Scratch),
        "docker-image" => rest
            .parse()
            .map(ContextSource::Image)
            .map_err(|error: llb::Error| error.to_string()),
        "oci-layout" => match rest.split_once('@') {
            Some((store, digest)) if !store.is_empty() && digest.parse::<llb::Digest>().is_ok() => {
                // A tag may stand before the digest; the store is what it stands on.
                let store = match store.rsplit_once(':') {
                    Some((name, tag)) if !tag.contains('/') => name,
                    _ => store,
                };
                Ok(ContextSource::OciLayout {
                    store: store.to_owned(),
                    digest: digest.to_owned(),
                })
            }
            _ => Err("an image of a store is oci-layout://store@sha256:…".to_owned()),
        },
        "local" if !rest.is_empty() => Ok(ContextSource::Local(rest.to_owned())),
        "input" if !rest.is_empty() => Ok(ContextSource::Input(rest.to_owned())),
        "git" | "http" | "https" | "ssh" => Ok(ContextSource::Remote(value.to_owned())),
        scheme if scheme.starts_with("git@") => Ok(ContextSource::Remote(value.to_owned())),
        _ => Err(format!("no context comes from \"{scheme}:\"")),
    }
}

/// Metadata of an input: a JSON object of values in base64, or no text at all.
fn input_metadata(json: &str) -> Result<BTreeMap<String, Vec<u8>>, String> {
    use base64::Engine as _;
    if json.is_empty() {
        return Ok(BTreeMap::new());
    }
    let encoded: BTreeMap<String, String> =
        serde_json::from_str(json).map_err(|error| error.to_string())?;
    let decode = |(key, value): (String, String)| {
        let value = base64::engine::general_purpose::STANDARD
            .decode(value)
            .map_err(|error| error.to_string())?;
        Ok((key, value))
    };
    encoded.into_iter().map(decode).collect()
}

fn parse_bool(word: &str) -> Option<bool> {
    match word {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

/// Fields of one CSV line; a field in quotes may hold commas and doubled quotes.
fn csv(line: &str) -> Result<Vec<String>, String> {
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        let (field, after) = if let Some(quoted) = rest.strip_prefix('"') {
            let mut field = String::new();
            let mut tail = quoted;
            loop {
                let (part, after) = tail.split_once('"').ok_or("a quote is not closed")?;
                field.push_str(part);
                match after.strip_prefix('"') {
                    Some(after) => {
                        field.push('"');
                        tail = after;
                    }
                    None => break (field, after),
                }
            }
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            (rest[..end].to_owned(), &rest[end..])
        };
        fields.push(field);
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None if after.is_empty() => return Ok(fields),
            None => return Err("text follows a closed quote".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    fn env(opts: &[&str]) -> Vec<(OsString, OsString)> {
        let session = (SESSION.into(), "session-1".into());
        let opts = opts
            .iter()
            .enumerate()
            .map(|(n, opt)| (format!("{OPT}{n}").into(), opt.into()));
        opts.chain([session, ("PATH".into(), "/bin".into())])
            .collect()
    }

    fn read(opts: &[&str]) -> Opts {
        Opts::from_env(env(opts)).unwrap()
    }

    fn refused(opts: &[&str]) -> String {
        Opts::from_env(env(opts)).unwrap_err().to_string()
    }

    fn linux() -> Platform {
        Platform::new("linux", "amd64")
    }

    /// What `docker buildx build` sends with most of its flags set, as seen on the wire.
    const BUILDX: [&str; 30] = [
        "filename=sub/lanes.toml",
        "target=arm64",
        "build-arg:APP=a=b",
        "build-arg:EMPTY=",
        "build-arg:HTTP_PROXY=http://proxy:1",
        "build-arg:no_proxy=localhost",
        "build-arg:SOURCE_DATE_EPOCH=1700000000",
        "build-arg:BUILDKIT_SYNTAX=localhost:5000/lanekit",
        "label:org.name=x",
        "no-cache=",
        "platform=linux/amd64",
        "image-resolve-mode=local",
        "add-hosts=Box=10.0.0.1,six=::1",
        "shm-size=1048576",
        "ulimit=nofile=1024:2048,core=-1",
        "memory=67108864",
        "memswap=-1",
        "cpushares=512",
        "cpuperiod=100000",
        "cpuquota=50000",
        "cpusetcpus=0-1,3",
        "cpusetmems=0",
        "force-network-mode=none",
        "cgroup-parent=/lanes",
        r#"cache-imports=[{"Type":"registry","Attrs":{"ref":"localhost:5000/c"}},{"Type":"inline"}]"#,
        "attest:provenance=mode=min,inline-only=true",
        "vcs:revision=0123",
        "frontend.caps=moby.buildkit.frontend.contexts+forward",
        "source=localhost:5000/lanekit",
        "cmdline=localhost:5000/lanekit --x",
    ];

    #[test]
    fn what_buildx_sends_is_all_understood() {
        let opts = read(&BUILDX);
        assert_eq!(opts.session, "session-1");
        assert_eq!(
            (opts.file.name.as_str(), opts.file.local.as_str()),
            ("sub/lanes.toml", "dockerfile")
        );
        assert_eq!(opts.target.as_deref(), Some("arm64"));
        assert_eq!(
            opts.args,
            BTreeMap::from([
                ("APP".into(), "a=b".into()),
                ("EMPTY".into(), String::new())
            ])
        );
        assert_eq!(
            (opts.proxy.http.as_str(), opts.proxy.no.as_str()),
            ("http://proxy:1", "localhost")
        );
        assert_eq!(opts.source_date_epoch, Some(1_700_000_000));
        assert_eq!(opts.labels["org.name"], "x");
        assert_eq!(
            (opts.no_cache, opts.platforms),
            (NoCache::All, vec![linux()])
        );
        assert_eq!(
            (opts.resolve_mode, opts.network),
            (ResolveMode::PreferLocal, Some(Network::None))
        );
        assert_eq!(
            opts.hosts,
            [
                ("box".into(), "10.0.0.1".parse().unwrap()),
                ("six".into(), "::1".parse().unwrap())
            ]
        );
        assert_eq!(opts.shm_size, Some(1 << 20));
        assert_eq!(
            opts.ulimits[0],
            Ulimit {
                name: "nofile".into(),
                soft: 1024,
                hard: 2048
            }
        );
        assert_eq!(
            opts.ulimits[1],
            Ulimit {
                name: "core".into(),
                soft: -1,
                hard: -1
            }
        );
        assert_eq!(opts.cgroup_parent.as_deref(), Some("/lanes"));
        let limits = LinuxResources {
            memory: 64 << 20,
            memory_swap: -1,
            cpu_shares: 512,
            cpu_period: 100_000,
            cpu_quota: 50_000,
            cpuset_cpus: "0-1,3".to_owned(),
            cpuset_mems: "0".to_owned(),
        };
        assert_eq!(opts.resources, Some(limits));
        assert_eq!(opts.cache_imports[0].attrs["ref"], "localhost:5000/c");
        assert_eq!(
            opts.cache_imports[1],
            CacheImport {
                kind: "inline".into(),
                attrs: BTreeMap::new()
            }
        );
        assert!(
            opts.frontend_caps
                .contains("moby.buildkit.frontend.contexts")
        );
        assert_eq!(opts.unknown, BTreeSet::new());
    }

    #[test]
    fn nothing_given_is_nothing_asked_for() {
        let opts = read(&[]);
        assert_eq!(
            opts,
            Opts {
                session: "session-1".into(),
                ..Opts::default()
            }
        );
        assert_eq!(opts.file.name, "lanes.toml");
        assert_eq!(read(&["cmdline=x"]).file.name, "Dockerfile");
    }

    #[test]
    fn an_engine_is_known_by_its_variables() {
        assert!(is_gateway(env(&[]).into_iter().map(|(name, _)| name)));
        assert!(is_gateway(std::iter::once(format!("{OPT}0").into())));
        assert!(!is_gateway(
            ["PATH", "BUILDKIT_HOST"].map(OsString::from).into_iter()
        ));
    }

    #[test]
    fn no_cache_is_for_nothing_for_all_or_for_names_of_any_case() {
        assert!(!read(&[]).no_cache.covers("a"));
        assert!(read(&["no-cache="]).no_cache.covers("a"));
        let some = read(&["no-cache=ONNX,media/step"]).no_cache;
        assert!(some.covers("onnx") && some.covers("Media/Step") && !some.covers("media"));
    }

    #[test]
    fn a_named_context_is_found_for_its_platform_first_and_by_any_spelling() {
        let layout = format!("context:kit=oci-layout://store:tag@{DIGEST}");
        let opts = read(&[
            "context:debian:12::linux/arm64=docker-image://localhost:5000/debian:arm",
            "context:docker.io/library/debian:12=docker-image://localhost:5000/debian",
            "context:base=docker-image://scratch",
            "context:src=local:src-1",
            "sharedkey:localdir:src=key",
            "context:up=input:up-1",
            r#"input-metadata:up-1={"containerimage.config":"e30="}"#,
            "context:repo=https://example.com/x.git#main",
            "context:MY_STAGE=git@example.com:x/y",
            &layout,
        ]);
        let arm = Platform::new("linux", "aarch64");
        let image = |name: &str, platform: &Platform| match &opts
            .contexts
            .find(name, platform)
            .unwrap()
            .1
            .source
        {
            ContextSource::Image(reference) => familiar(&reference.to_string()),
            other => panic!("{other:?}"),
        };
        assert_eq!(image("debian:12", &linux()), "localhost:5000/debian");
        assert_eq!(
            image("docker.io/library/debian:12", &arm),
            "localhost:5000/debian:arm"
        );
        assert!(opts.contexts.find("debian:13", &linux()).is_none());
        let get = |name: &str| opts.contexts.find(name, &linux()).unwrap().1.clone();
        assert_eq!(get("base").source, ContextSource::Scratch);
        assert_eq!(
            (get("src").source, get("src").shared_key),
            (ContextSource::Local("src-1".into()), Some("key".into()))
        );
        assert_eq!(get("up").source, ContextSource::Input("up-1".into()));
        assert_eq!(get("up").metadata["containerimage.config"], b"{}");
        assert_eq!(
            get("repo").source,
            ContextSource::Remote("https://example.com/x.git#main".into())
        );
        assert_eq!(
            get("MY_STAGE").source,
            ContextSource::Remote("git@example.com:x/y".into())
        );
        assert_eq!(
            get("kit").source,
            ContextSource::OciLayout {
                store: "store".into(),
                digest: DIGEST.into()
            }
        );
    }

    #[test]
    fn a_remote_context_may_come_under_another_name() {
        let url = |url: &str, subdir: Option<&str>| Context::Remote {
            url: url.into(),
            subdir: subdir.map(Into::into),
        };
        assert_eq!(
            read(&["context=https://h/x.tar"]).context,
            url("https://h/x.tar", None)
        );
        assert_eq!(
            read(&["contextkey=c", "c=https://h/x", "contextsubdir=d"]).context,
            url("https://h/x", Some("d"))
        );
        let opts = read(&["dockerfilekey=f"]);
        assert_eq!((opts.file.local.as_str(), opts.file.forced), ("f", true));
        let opts = read(&["local-sessionid:context=other"]);
        assert_eq!(
            (opts.session_of("context"), opts.session_of("dockerfile")),
            ("other", "session-1")
        );
    }

    #[test]
    fn of_two_spellings_of_a_proxy_the_capital_one_counts() {
        for opts in [
            ["build-arg:HTTP_PROXY=a", "build-arg:http_proxy=b"],
            ["build-arg:http_proxy=b", "build-arg:HTTP_PROXY=a"],
        ] {
            assert_eq!(read(&opts).proxy.http, "a");
        }
    }

    #[test]
    fn what_nothing_knows_is_kept_to_be_told() {
        let opts = read(&[
            "frobnicate=1",
            "build-arg:BUILDKIT_NEW=2",
            "build-arg:MINE=3",
        ]);
        assert_eq!(
            Vec::from_iter(opts.unknown),
            ["build-arg:BUILDKIT_NEW", "frobnicate"]
        );
        assert_eq!(opts.args.len(), 1);
    }

    #[test]
    fn everything_wrong_is_told_at_once_with_the_options_name() {
        insta::assert_snapshot!(refused(&[
            "platform=linux/amd64,linux",
            "image-resolve-mode=maybe",
            "add-hosts=box",
            "add-hosts2",
            "shm-size=1g",
            "ulimit=nofile=2:1",
            "force-network-mode=vpn",
            "cache-imports=[{]",
            "build-arg:SOURCE_DATE_EPOCH=context",
            "multi-platform=both",
            "memory=64m",
            "memswap=-2",
            "cpushares=0",
            "cpuperiod=-1",
            "cpuquota=half",
            "cpusetcpus=3-1",
            "cpusetmems=0,",
            "contextsubdir=x",
            "context:a=debian",
            "context:b=oci-layout://store",
            "context:c=docker-image://UPPER",
            "context:d::vax=docker-image://debian",
            "context:e=ftp://x",
        ]), @r#"
        option add-hosts=box: "box" is not host=address
        option add-hosts2=: has no value
        option build-arg:SOURCE_DATE_EPOCH=context: is not a number of seconds
        option cache-imports=[{]: is not a list of caches in JSON: key must be a string at line 1 column 3
        option context:a=debian: a context is scheme:what, for example docker-image://debian:12
        option context:b=oci-layout://store: an image of a store is oci-layout://store@sha256:…
        option context:c=docker-image://UPPER: image reference "UPPER" must be [REGISTRY/]PATH, with a path of lower-case letters, digits, `_`, `.`, `-`, `/`
        option context:d::vax=docker-image://debian: platform "vax" must be OS/ARCHITECTURE or OS/ARCHITECTURE/VARIANT
        option context:e=ftp://x: no context comes from "ftp:"
        option contextsubdir=x: needs a remote context
        option cpuperiod=-1: is not a number above 0
        option cpuquota=half: is not a number above 0
        option cpusetcpus=3-1: is not a list of numbers up to 8192 and ranges, such as 0-3,6
        option cpusetmems=0,: is not a list of numbers up to 8192 and ranges, such as 0-3,6
        option cpushares=0: is not a number above 0
        option force-network-mode=vpn: is none of none, host and sandbox
        option image-resolve-mode=maybe: is none of default, pull and local
        option memory=64m: is not a number above 0
        option memswap=-2: is neither a number of bytes nor -1, for no limit
        option multi-platform=both: is neither true nor false
        option platform=linux/amd64,linux: platform "linux" must be OS/ARCHITECTURE or OS/ARCHITECTURE/VARIANT
        option shm-size=1g: is not a number of bytes
        option ulimit=nofile=2:1: the soft limit of nofile is above the hard one
        "#);
    }

    #[test]
    fn one_name_in_two_spellings_and_one_option_with_two_values_are_refused() {
        let told = refused(&[
            "context:debian=docker-image://a",
            "context:docker.io/library/debian=docker-image://b",
        ]);
        assert!(told.contains("debian is named twice"), "{told}");
        assert_eq!(
            refused(&["target=b", "target=a"]),
            "option target=a: is also given as b"
        );
    }

    #[test]
    fn a_value_in_quotes_may_hold_commas() {
        assert_eq!(csv(r#"a,"b,""c""",d"#).unwrap(), ["a", r#"b,"c""#, "d"]);
        assert_eq!(csv("").unwrap(), [""]);
        assert!(csv(r#""a"#).is_err() && csv(r#""a"b"#).is_err());
    }

    proptest::proptest! {
        #[test]
        fn the_order_of_the_variables_changes_nothing(
            order in proptest::sample::subsequence((0..BUILDX.len()).collect::<Vec<_>>(), BUILDX.len()).prop_shuffle(),
        ) {
            let shuffled: Vec<&str> = order.into_iter().map(|n| BUILDX[n]).collect();
            proptest::prop_assert_eq!(read(&shuffled), read(&BUILDX));
        }

        #[test]
        fn any_option_is_read_or_refused(key in "[a-z:.-]{0,20}|context:.{0,10}|ulimit|add-hosts", value in ".{0,30}") {
            let _ = Opts::from_env(env(&[&format!("{key}={value}")]));
        }
    }

    use proptest::strategy::Strategy as _;
}
