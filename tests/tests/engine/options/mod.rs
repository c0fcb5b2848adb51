//! Every option of `docker buildx build`, each run, with what it does or with the words that refuse it. The table in
//! `docs/lanefile.md` is this one: a test of the documents compares them.

mod caches;
mod calls;
mod client;
mod lab;
mod results;
mod sources;
mod steps;

use std::collections::BTreeSet;

use engine_tests::{Setup, docker, skipped};

use lab::Lab;

/// Where a row is run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum On {
    /// On each kind of store.
    Every,
    /// On one: it is the client's own, or the engine does nothing with it that has to do with a store.
    One,
}
use On::{Every, One};

/// A test for each option: `NAME: OPTION, SUPPORTED, WHERE, WHAT SHOWS IT`.
macro_rules! rows {
    ($($name:ident: $option:literal, $supported:literal, $on:ident, $shown:path;)*) => {
        const OPTIONS: &[&str] = &[$($option),*];

        mod row {
            use super::*;
            $(#[test]
            fn $name() {
                run($on, $shown);
            })*
        }
    };
}

#[rustfmt::skip]
rows! {
    add_host: "--add-host", "yes", Every, steps::add_host;
    allow: "--allow", "yes", Every, steps::allow;
    annotation: "--annotation", "yes", Every, results::annotation;
    attest: "--attest", "yes", Every, results::attest;
    build_arg: "--build-arg", "yes", One, steps::build_arg;
    build_context: "--build-context", "yes", Every, sources::build_context;
    builder: "--builder", "yes", One, client::builder;
    cache_from: "--cache-from", "yes", Every, caches::cache_from;
    cache_to: "--cache-to", "yes", Every, caches::cache_to;
    call: "--call", "yes", One, calls::call;
    cgroup_parent: "--cgroup-parent", "yes", Every, steps::cgroup_parent;
    check: "--check", "yes", One, calls::check;
    debug: "--debug", "yes", One, client::debug;
    file: "--file", "yes", One, sources::file;
    iidfile: "--iidfile", "yes", Every, results::iidfile;
    label: "--label", "yes", Every, results::label;
    load: "--load", "yes", Every, results::load;
    metadata_file: "--metadata-file", "yes", Every, results::metadata_file;
    network: "--network", "yes", Every, steps::network;
    no_cache: "--no-cache", "yes", Every, caches::no_cache;
    no_cache_filter: "--no-cache-filter", "yes", Every, caches::no_cache_filter;
    output: "--output", "yes", Every, results::output;
    platform: "--platform", "partly", Every, results::platform;
    policy: "--policy", "not run", One, sources::policy;
    progress: "--progress", "yes", One, client::progress;
    provenance: "--provenance", "yes", Every, results::provenance;
    pull: "--pull", "yes", Every, sources::pull;
    push: "--push", "yes", Every, results::push;
    quiet: "--quiet", "yes", Every, client::quiet;
    resource: "--resource", "not run", One, steps::resource;
    sbom: "--sbom", "yes", Every, results::sbom;
    secret: "--secret", "yes", Every, steps::secret;
    shm_size: "--shm-size", "yes", Every, steps::shm_size;
    ssh: "--ssh", "yes", Every, steps::ssh;
    tag: "--tag", "yes", Every, results::tag;
    target: "--target", "yes", One, sources::target;
    ulimit: "--ulimit", "yes", Every, steps::ulimit;
}

#[expect(clippy::print_stdout, reason = "libtest shows it of a row that fails")]
fn run(on: On, shown: fn(&Lab)) {
    let engines = Setup::get().engines();
    for engine in engines.take(if on == One { 1 } else { 2 }) {
        println!("on {}", engine.kind);
        shown(&Lab::new(engine));
    }
}

/// Options that only newer clients than ours have: their rows say what ours makes of them.
const NEWER: [&str; 2] = ["--policy", "--resource"];

#[test]
fn the_table_has_every_option_of_the_client() {
    let help = docker(&Setup::get().engine, &["buildx", "build", "--help"]);
    let option = |line: &str| {
        let (_, rest) = line.split_once("--")?;
        let name = rest.split(' ').next()?;
        line.trim_start()
            .starts_with('-')
            .then(|| format!("--{name}"))
    };
    let known: BTreeSet<String> = OPTIONS.iter().map(|&option| option.to_owned()).collect();
    let mut has: BTreeSet<String> = help.lines().filter_map(option).collect();
    assert!(has.len() > 20, "{help}");
    if !Setup::get().is_private() {
        skipped::<()>(
            "options of a client of another version",
            "this client is not ours",
        );
        return;
    }
    has.extend(NEWER.map(str::to_owned));
    assert_eq!(known, has);
}
