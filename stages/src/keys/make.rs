//! Plan → manifest: the same vertices that [`crate::lower`] makes, by what is in their keys.
//!
//! Plans are taken apart field by field: a new field does not compile before this says whether
//! it is in a key.

use serde_json::json;

use super::{
    By, Draft, FileKey, GitKey, ImageKey, Input, Kind, Manifest, Node, PayloadKey, SCHEMA, short,
};
use crate::file::{Access, Device, Network, Sandbox, Sharing};
use crate::lower::{ExecOptions, REPORT};
use crate::plan::{
    CacheMount, Commit, CopiedPart, CopySource, Facts, FileCopy, FileWork, GitSource, GuardedMount,
    ImageSource, Merge, Owner, OwnerId, PayloadFact, Plan, PlannedGate, PlannedStage, PlannedStep,
    Product, Request, StageIndex, Start, StepFile, TreePath, UseCopy, UseMount, Work,
};

/// Digests of the files and directories of the context, by path, as far as they are known.
pub type Contents<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Makes the manifest of a plan.
///
/// `options` is what the caller demands of every step, `contents` knows the context's files.
#[must_use]
pub fn make(
    graph: &str,
    request: &Request,
    plan: &Plan,
    facts: &Facts,
    options: &ExecOptions,
    contents: &Contents<'_>,
) -> Manifest {
    draft(graph, request, plan, facts, options, contents).seal()
}

/// The same, without its keys.
#[must_use]
pub fn draft(
    graph: &str,
    request: &Request,
    plan: &Plan,
    facts: &Facts,
    options: &ExecOptions,
    contents: &Contents<'_>,
) -> Draft {
    let mut maker = Maker {
        plan,
        facts,
        options,
        contents,
        nodes: Vec::new(),
        products: Vec::new(),
        os_version: String::new(),
    };
    for source in plan.gits.values() {
        maker.git(source);
    }
    for stage in &plan.stages {
        let product = maker.stage(stage);
        maker.products.push(product);
    }
    for gate in &plan.gates {
        maker.gate(gate);
    }
    let images = facts.images.iter().map(|(name, fact)| {
        let key = ImageKey {
            reference: reference(&fact.source),
            config: fact.config.clone(),
            os_version: fact.os_version.clone(),
        };
        (name.clone(), key)
    });
    let gits = facts.gits.iter().map(|(name, found)| {
        let Commit { commit, object } = found.clone();
        (name.clone(), GitKey { commit, object })
    });
    Draft(Manifest {
        schema: SCHEMA.to_owned(),
        graph: graph.to_owned(),
        lane: plan.lane.clone(),
        target: request.target.clone().unwrap_or_default(),
        args: request.args.clone(),
        images: images.collect(),
        gits: gits.collect(),
        payloads: plan.payloads.iter().map(payload).collect(),
        nodes: maker.nodes,
    })
}

fn payload((name, fact): (&String, &PayloadFact)) -> (String, Option<PayloadKey>) {
    let found = match fact.clone() {
        PayloadFact::Absent => None,
        PayloadFact::Present { path, sha256 } => Some(PayloadKey { path, sha256 }),
    };
    (name.clone(), found)
}

/// What stands for an image in a key.
fn reference(source: &ImageSource) -> String {
    match source {
        ImageSource::Scratch => "scratch".to_owned(),
        ImageSource::Files(files) => format!("files {}", files.digest()),
        ImageSource::Registry { reference } => reference.clone(),
        // Session and store only say where it is.
        ImageSource::OciLayout {
            reference,
            session: _,
            store: _,
        } => reference.clone(),
    }
}

struct Maker<'a> {
    plan: &'a Plan,
    facts: &'a Facts,
    options: &'a ExecOptions,
    contents: &'a Contents<'a>,
    nodes: Vec<Node>,
    /// The node that makes the product of each stage; nothing for an empty file system.
    products: Vec<Option<String>>,
    /// Windows' build number of the stage that is being made.
    os_version: String,
}

/// Name of the input that a node changes.
pub(crate) const ROOT: &str = "root";

fn by_key(node: &str) -> Input {
    Input {
        node: node.to_owned(),
        by: By::Key,
        part: String::new(),
    }
}

fn by_content(node: &str, part: &str) -> Input {
    Input {
        node: node.to_owned(),
        by: By::Content,
        part: part.to_owned(),
    }
}

impl Maker<'_> {
    fn push(&mut self, id: String, kind: Kind, vertex: String, made_of: MadeOf) -> String {
        let MadeOf {
            components,
            files,
            inputs,
        } = made_of;
        self.nodes.push(Node {
            id: id.clone(),
            kind,
            key: String::new(),
            own: String::new(),
            vertex,
            components: components.into_iter().collect(),
            files: files.into_iter().collect(),
            inputs: inputs.into_iter().collect(),
        });
        id
    }

    /// A source that an engine checks out. It goes by its commit, wherever that is fetched.
    fn git(&mut self, source: &GitSource) {
        let GitSource {
            name,
            url: _,
            reference,
            subdir,
            submodules,
            git_dir,
            span: _,
        } = source;
        let mut made_of = MadeOf::default();
        let found = self.facts.gits.get(name);
        made_of.put("commit", found.map_or(reference, |found| &found.commit));
        made_of.put("subdir", subdir);
        made_of.put("submodules", submodules.to_string());
        if *git_dir {
            // With its `.git`, what the ref is called is in it.
            made_of.put("reference", reference);
        }
        let vertex = format!("[git] {name}");
        self.push(format!("git:{name}"), Kind::Git, vertex, made_of);
    }

    fn stage(&mut self, stage: &PlannedStage) -> Option<String> {
        let PlannedStage {
            name,
            span: _,
            start,
            add,
            steps,
            product,
            os_version,
        } = stage;
        self.os_version.clone_from(os_version);
        let mut root = match start {
            Start::Scratch => None,
            Start::Image(reference) => self.image(name, reference),
            Start::Stage(from) => self.products[*from].clone(),
            Start::Merge(merge) => return self.merge(name, merge),
        };
        if !add.is_empty() {
            root = Some(self.add(name, add, root.as_deref()));
        }
        for step in steps {
            root = Some(self.step(name, step, root.as_deref()));
        }
        match (product, root) {
            // There no copy makes a tree: consumers take its paths from the producer's root.
            (Product::Tree(_), Some(root)) if self.on_windows() => Some(root),
            (Product::Tree(paths), Some(root)) => Some(self.tree(name, paths, &root)),
            (Product::Tree(_), None) => None,
            (Product::Root, root) => root,
        }
    }

    fn image(&mut self, stage: &str, name: &str) -> Option<String> {
        let reference = self
            .facts
            .images
            .get(name)
            .map_or_else(|| name.to_owned(), |fact| reference(&fact.source));
        if reference == "scratch" {
            return None;
        }
        let mut made_of = MadeOf::default();
        made_of.put("image", reference);
        made_of.put("platform", &self.plan.platform);
        if !self.os_version.is_empty() {
            made_of.put("os-version", &self.os_version);
        }
        let vertex = format!("[{stage}] from ");
        Some(self.push(format!("{stage}:from"), Kind::Image, vertex, made_of))
    }

    fn tree(&mut self, stage: &str, paths: &[TreePath], root: &str) -> String {
        let mut made_of = MadeOf::default();
        for path in paths {
            made_of.put_path("tree", path);
        }
        made_of.inputs.push((ROOT.into(), by_content(root, "")));
        let vertex = format!("[{stage}] tree");
        self.push(format!("{stage}:tree"), Kind::Tree, vertex, made_of)
    }

    fn add(&mut self, stage: &str, parts: &[StageIndex], root: Option<&str>) -> String {
        let mut made_of = MadeOf::on(root);
        for (number, &part) in parts.iter().enumerate() {
            let Product::Tree(paths) = &self.plan.stages[part].product else {
                continue;
            };
            for path in paths {
                made_of.put_path(&format!("add.{number}"), path);
            }
            if let Some(product) = &self.products[part] {
                made_of.content(format!("add.{number}"), product, "");
            }
        }
        let vertex = format!("[{stage}] add");
        self.push(format!("{stage}:add"), Kind::Copy, vertex, made_of)
    }

    fn merge(&mut self, stage: &str, merge: &Merge) -> Option<String> {
        let Merge {
            parts,
            markers,
            any,
            take,
            compare,
            fold,
        } = merge;
        let mut made_of = MadeOf::default();
        for (number, part) in parts.iter().enumerate() {
            let Some(product) = self.products[part.stage].clone() else {
                continue;
            };
            let name = format!("part.{number}");
            match &part.moved {
                None => made_of.inputs.push((name, by_key(&product))),
                Some((from, to)) => {
                    let mut moved = MadeOf::default();
                    moved.put("to", to);
                    moved.content("from".to_owned(), &product, from);
                    let vertex = format!("[{stage}] {from} at {to}");
                    let id = format!("{stage}:part.{number}");
                    let moved = self.push(id, Kind::Copy, vertex, moved);
                    made_of.inputs.push((name, by_key(&moved)))
                }
            };
        }
        for marker in markers {
            made_of.put(format!("absent.{}", marker.path), &marker.text);
        }
        for (pattern, winner) in take {
            let winner = &self.plan.stages[*winner].name;
            made_of.put(format!("take.{pattern}"), winner);
        }
        // These decide whether the build goes on, not what the tree is: the comparison lets the
        // merged tree through under its own key.
        let _ = (any, compare, fold);
        if let (1, 0, []) = (made_of.inputs.len(), markers.len(), take.as_slice()) {
            // A merge of one tree is that tree.
            let only = made_of.inputs.into_iter().next();
            return only.map(|(_, input)| input.node);
        }
        let vertex = format!("[{stage}] merge");
        Some(self.push(format!("{stage}:merge"), Kind::Merge, vertex, made_of))
    }

    fn step(&mut self, stage: &str, step: &PlannedStep, root: Option<&str>) -> String {
        let PlannedStep {
            name,
            span: _,
            work,
            env,
            // The batch file is among the files.
            behind: _,
            host,
            files,
            uses,
            copies,
            cache,
            secrets,
            ssh,
            tmpfs,
            network,
            sandbox,
            cwd,
            user,
            record,
        } = step;
        let argv = match work {
            Work::Run(argv) => argv,
            Work::File(work) => return self.file_step(stage, name, work, root),
        };
        let root = self.copies(stage, name, copies, root);
        let mut made_of = MadeOf::on(root.as_deref());
        made_of.put("command", list(argv));
        made_of.put("cwd", cwd);
        made_of.put("user", user);
        if *record {
            made_of.put("recorded-by", "lanegate");
        }
        made_of.put("platform", &self.plan.platform);
        if !self.os_version.is_empty() {
            made_of.put("os-version", &self.os_version);
        }
        for (name, value) in env {
            made_of.put(format!("env.{name}"), value);
        }
        for setting in host {
            made_of.put(format!("host.{}", setting.name), setting.shown());
        }
        for (mount, files) in files {
            for file in files {
                self.file(mount, file, &mut made_of);
            }
        }
        for UseMount {
            stage,
            sub,
            at,
            span: _,
        } in uses
        {
            if let Some(product) = &self.products[*stage] {
                made_of.content(at.clone(), product, self.part(*stage, sub));
            }
        }
        for cache in cache {
            self.cache(cache, &mut made_of);
        }
        for (kind, mounts) in [("secret", secrets), ("ssh", ssh)] {
            for GuardedMount {
                id,
                at,
                required,
                access,
            } in mounts
            {
                let need = if *required { "required" } else { "optional" };
                let value = format!("{id} {need}{}", shown_access(*access));
                made_of.put(format!("{kind}.{at}"), value);
            }
        }
        for (at, size) in tmpfs {
            let size = size.map(|size| size.to_string()).unwrap_or_default();
            made_of.put(format!("tmpfs.{at}"), size);
        }
        self.sandbox(sandbox, &mut made_of);
        self.exec_options(*network, &mut made_of);
        let vertex = format!("[{stage}/{name}] ");
        self.push(format!("{stage}/{name}"), Kind::Step, vertex, made_of)
    }

    fn on_windows(&self) -> bool {
        self.plan.platform.starts_with("windows")
    }

    /// The part of a product that a path is; empty where that is all of it.
    fn part<'p>(&self, stage: StageIndex, path: &'p str) -> &'p str {
        match &self.plan.stages[stage].product {
            _ if self.on_windows() => path,
            Product::Tree(paths) if matches!(paths.as_slice(), [only] if only.directory() == path) => {
                ""
            }
            _ => path,
        }
    }

    /// What the caller demands of every step. Proxies, and limits of memory and processors, are in no key; what stands in
    /// front of the names of caches is said with these.
    fn exec_options(&self, network: Network, made_of: &mut MadeOf) {
        let ExecOptions {
            network: wanted,
            hosts,
            ulimits,
            cgroup_parent,
            resources: _,
            // Which of both sizes counts is said with the step's own.
            shm_size: _,
            cache_namespace: _,
            hostname,
            proxy: _,
        } = self.options;
        let network = match (network, wanted) {
            (Network::None, _) => "none".to_owned(),
            (Network::Host, _) => "host".to_owned(),
            (Network::Default, None) => "default".to_owned(),
            (Network::Default, Some(wanted)) => format!("{wanted:?}").to_lowercase(),
        };
        made_of.put("network", network);
        // The engine keeps the addresses of hosts out of the key.
        for (host, _) in hosts {
            made_of.put(format!("option.host.{host}"), "");
        }
        for (name, soft, hard) in ulimits {
            made_of.put(format!("option.ulimit.{name}"), format!("{soft}:{hard}"));
        }
        let options = [("cgroup-parent", cgroup_parent), ("hostname", hostname)];
        for (name, value) in options {
            if !value.is_empty() {
                made_of.put(format!("option.{name}"), value);
            }
        }
    }

    fn cache(&self, cache: &CacheMount, made_of: &mut MadeOf) {
        let CacheMount {
            id,
            at,
            sharing,
            from,
            access,
            span: _,
        } = cache;
        let id = self.options.cache_id(id);
        let kept = match sharing {
            Sharing::Shared if is_of_place(&id, &self.plan.place(at)) => id.as_str(),
            _ => "",
        };
        made_of.put(
            format!("cache.{at}"),
            format!("{kept}{}", shown_access(*access)),
        );
        if let Some((stage, sub)) = from
            && let Some(product) = &self.products[*stage]
        {
            made_of.content(format!("cache.{at}"), product, sub);
        }
    }

    fn sandbox(&self, sandbox: &Sandbox, made_of: &mut MadeOf) {
        let Sandbox {
            insecure,
            hosts,
            ulimits,
            devices,
            shm_size,
        } = sandbox;
        if *insecure {
            made_of.put("insecure", "true");
        }
        for (host, _) in hosts {
            made_of.put(format!("host-name.{host}"), "");
        }
        for (name, soft, hard) in ulimits {
            made_of.put(format!("ulimit.{name}"), format!("{soft}:{hard}"));
        }
        for Device { name, optional, .. } in devices {
            let need = if *optional { "optional" } else { "required" };
            made_of.put(format!("device.{name}"), need);
        }
        if let Some(size) = shm_size.or(self.options.shm_size) {
            made_of.put("shm-size", size.to_string());
        }
    }

    fn file(&self, mount: &str, file: &StepFile, made_of: &mut MadeOf) {
        let place = |to: &str| format!("{mount}/{to}").trim_end_matches('/').to_owned();
        match file {
            StepFile::Context { from, to } => {
                made_of.files.push((place(to), self.context(from)));
            }
            StepFile::Git { git, from, to } => {
                made_of.content(place(to), &format!("git:{git}"), from);
            }
            StepFile::Payload { payload, from, to } => {
                made_of.files.push((place(to), self.payload(payload, from)));
            }
            StepFile::Fetch { fetch, from: _, to } => {
                made_of.files.push((place(to), self.download(fetch)));
            }
            StepFile::Script { to, text } => {
                made_of.files.push((place(to), text_key(text)));
            }
        }
    }

    /// A payload goes by the hash that was measured.
    fn payload(&self, name: &str, path: &str) -> FileKey {
        let digest = match self.facts.payloads.get(name) {
            Some(PayloadFact::Present { sha256, .. }) => sha256.chars().take(32).collect(),
            Some(PayloadFact::Absent) | None => String::new(),
        };
        FileKey {
            path: path.to_owned(),
            digest,
        }
    }

    /// A download goes by its hash, wherever it is.
    fn download(&self, name: &str) -> FileKey {
        let download = self.plan.fetches.get(name);
        FileKey {
            path: download
                .map(|download| download.url.clone())
                .unwrap_or_default(),
            digest: download
                .map(|download| download.sha256.chars().take(32).collect())
                .unwrap_or_default(),
        }
    }

    fn context(&self, path: &str) -> FileKey {
        FileKey {
            path: path.to_owned(),
            digest: (self.contents)(path).unwrap_or_default(),
        }
    }

    /// Products that are copied into the root before a step: a node for each, as each is a vertex.
    fn copies(
        &mut self,
        stage: &str,
        step: &str,
        copies: &[UseCopy],
        root: Option<&str>,
    ) -> Option<String> {
        let mut root = root.map(str::to_owned);
        for (number, copy) in copies.iter().enumerate() {
            let UseCopy {
                stage: from,
                what,
                span: _,
            } = copy;
            let mut made_of = MadeOf::on(root.as_deref());
            let Some(product) = self.products[*from].clone() else {
                continue;
            };
            match what {
                CopiedPart::Paths(paths) => {
                    for path in paths {
                        made_of.put_path("copy", path);
                    }
                    made_of.content("copy".to_owned(), &product, "");
                }
                CopiedPart::Part { sub, at } => {
                    made_of.put("to", at);
                    made_of.content("copy".to_owned(), &product, self.part(*from, sub));
                }
            }
            let vertex = format!("[{stage}] copy for {step}");
            let id = format!("{stage}/{step}:copy.{number}");
            root = Some(self.push(id, Kind::Copy, vertex, made_of));
        }
        root
    }

    fn file_step(
        &mut self,
        stage: &str,
        name: &str,
        work: &FileWork,
        root: Option<&str>,
    ) -> String {
        let mut made_of = MadeOf::on(root);
        match work {
            FileWork::Copy(copy) => self.file_copy(copy, &mut made_of),
            FileWork::Write {
                path,
                text,
                mode,
                owner,
            } => {
                made_of.put("write", path);
                made_of.put("mode", format!("{mode:o}"));
                made_of.put_owner(owner.as_ref());
                made_of.files.push((path.clone(), text_key(text)));
            }
            FileWork::Mkdir { path, mode, owner } => {
                made_of.put("mkdir", path);
                made_of.put("mode", format!("{mode:o}"));
                made_of.put_owner(owner.as_ref());
            }
            FileWork::Link { path, to } => {
                made_of.put("link", path);
                made_of.put("to", to);
            }
            FileWork::Delete { path, optional } => {
                made_of.put("delete", path);
                made_of.put("optional", optional.to_string());
            }
        }
        let vertex = format!("[{stage}/{name}] ");
        self.push(format!("{stage}/{name}"), Kind::Step, vertex, made_of)
    }

    fn file_copy(&self, copy: &FileCopy, made_of: &mut MadeOf) {
        let FileCopy {
            from,
            only,
            except,
            mode,
            owner,
        } = copy;
        made_of.put("only", list(only));
        made_of.put("except", list(except));
        if let Some(mode) = mode {
            made_of.put("mode", format!("{mode:o}"));
        }
        made_of.put_owner(owner.as_ref());
        match from {
            CopySource::Tree { stage, paths } => {
                for path in paths {
                    made_of.put_path("copy", path);
                }
                if let Some(product) = &self.products[*stage] {
                    made_of.content("copy".to_owned(), product, "");
                }
            }
            CopySource::Part { stage, path, to } => {
                made_of.put("to", to);
                if let Some(product) = &self.products[*stage] {
                    made_of.content("copy".to_owned(), product, self.part(*stage, path));
                }
            }
            CopySource::Git { git, path, to } => {
                made_of.put("to", to);
                made_of.content("copy".to_owned(), &format!("git:{git}"), path);
            }
            CopySource::Payload { payload, path, to } => {
                made_of.put("to", to);
                made_of.put("name", path.rsplit('/').next().unwrap_or(path));
                made_of
                    .files
                    .push((to.clone(), self.payload(payload, path)));
            }
            CopySource::Fetch { fetch, path, to } => {
                made_of.put("to", to);
                made_of.put("name", path);
                made_of.files.push((to.clone(), self.download(fetch)));
            }
            CopySource::Context { path, to } => {
                made_of.put("to", to);
                let name = path.rsplit('/').next().unwrap_or(path);
                made_of.put("name", name);
                made_of.files.push((to.clone(), self.context(path)));
            }
        }
    }

    fn gate(&mut self, gate: &PlannedGate) {
        let PlannedGate {
            name,
            span: _,
            of,
            check,
            ask,
            host,
            against,
            report,
            target,
            roots,
            // Who waits for it runs under the same key as without it.
            hold: _,
            policy,
        } = gate;
        let Some(product) = self.products[*of].clone() else {
            return;
        };
        let mut made_of = MadeOf::default();
        made_of.put("check", *check);
        if !ask.is_empty() {
            made_of.put("ask", ask);
        }
        for name in host {
            made_of.put(format!("host.{name}"), "optional");
        }
        if *check == "floors" {
            let others = self.plan.gates.iter().filter(|other| other.name != *name);
            for other in others {
                made_of.put(format!("policy.{}", other.name), &other.policy);
            }
        }
        if let Some(path) = report {
            // It is taken for one gate alone.
            made_of.put("gate", name);
            made_of.files.push((REPORT.to_owned(), self.context(path)));
        }
        made_of.put("target", target.to_string());
        for place in crate::plan::directories(roots) {
            made_of.content(place.to_owned(), &product, self.part(*of, place));
        }
        for (stage, roots) in against {
            let Some(product) = &self.products[*stage] else {
                continue;
            };
            let label = &self.plan.stages[*stage].name;
            for place in crate::plan::directories(roots) {
                made_of.content(
                    format!("/{label}{place}"),
                    product,
                    self.part(*stage, place),
                );
            }
        }
        let vertex = format!("[gate {name}] inspect");
        let inspect = self.push(
            format!("gate:{name}/inspect"),
            Kind::Inspect,
            vertex,
            made_of,
        );
        let mut made_of = MadeOf::default();
        made_of.put("gate", name);
        made_of.put("policy", policy);
        made_of.content("report".to_owned(), &inspect, "");
        let vertex = format!("[gate {name}] assert");
        self.push(format!("gate:{name}/assert"), Kind::Assert, vertex, made_of);
    }
}

/// Whether the id of a shared cache is the place where it is mounted, perhaps behind a name and a `/`. BuildKit keeps
/// such an id in the key, and clears every other one (`checkShouldClearCacheOpts` in its `solver/llbsolver/ops/exec.go`).
fn is_of_place(id: &str, place: &str) -> bool {
    id == place || id.split_once('/').is_some_and(|(_, rest)| rest == place)
}

/// Mode and owner as far as they are said.
fn shown_access(access: Access) -> String {
    let Access { mode, uid, gid } = access;
    let mode = mode.map(|mode| format!(" mode {mode:o}"));
    let uid = uid.map(|id| format!(" user {id}"));
    let gid = gid.map(|id| format!(" group {id}"));
    [mode, uid, gid].into_iter().flatten().collect()
}

/// Texts as a list in JSON.
fn list(texts: &[String]) -> String {
    // Nothing of texts can fail.
    serde_json::to_string(texts).unwrap_or_default()
}

fn text_key(text: &str) -> FileKey {
    FileKey {
        path: String::new(),
        digest: short(text.as_bytes()),
    }
}

/// What a node is made of, while that is collected.
#[derive(Default)]
struct MadeOf {
    components: Vec<(String, String)>,
    files: Vec<(String, FileKey)>,
    inputs: Vec<(String, Input)>,
}

impl MadeOf {
    /// On the root that another node made.
    fn on(root: Option<&str>) -> Self {
        let mut made_of = Self::default();
        if let Some(root) = root {
            made_of.inputs.push((ROOT.into(), by_key(root)));
        }
        made_of
    }

    fn put(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.components.push((name.into(), value.into()));
    }

    fn put_path(&mut self, name: &str, path: &TreePath) {
        let some = match (path.only(), path.except()) {
            ([], []) => String::new(),
            (only, except) => json!({ "only": only, "except": except }).to_string(),
        };
        self.put(format!("{name}.{}", path.as_str()), some);
    }

    fn put_owner(&mut self, owner: Option<&Owner>) {
        let Some(Owner { user, group }) = owner else {
            return;
        };
        let text = |id: &OwnerId| match id {
            OwnerId::Number(number) => number.to_string(),
            OwnerId::Name(name) => name.clone(),
        };
        let group = group.as_ref().map(text).unwrap_or_default();
        self.put("owner", format!("{}:{group}", text(user)));
    }

    fn content(&mut self, at: String, node: &str, part: &str) {
        self.inputs.push((at, by_content(node, part)));
    }
}
