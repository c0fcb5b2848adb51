//! What is looked up, and where.

use std::fs;

use engine_tests::{Setup, skipped};

use super::lab::Lab;

/// The words of a client whose engine exports neither layouts nor caches.
const NO_EXPORT: &str = "Cache export is not supported for the docker driver";

pub(super) fn cache_to(lab: &Lab) {
    let place = lab.file("cache");
    let local = format!("type=local,dest={place},mode=max");
    if !lab.keeps_indexes() {
        lab.build(&["--cache-to", &local]).fail(NO_EXPORT);
        return;
    }
    lab.build(&["--cache-to", &local]).pass("step ran");
    assert!(fs::exists(format!("{place}/index.json")).expect("a directory"));
    // Services that are not here: an engine of Docker has no exporters for them.
    for kind in ["s3", "azblob"] {
        lab.build(&[
            "--cache-to",
            &format!("type={kind},name=x,bucket=x,region=x"),
        ])
        .fail(&format!("unknown cache exporter: \"{kind}\""));
    }
    let Some(registry) = lab.registry("--cache-to a registry") else {
        return;
    };
    let cache = format!("{registry}/lanekit/cache:{}", lab.word);
    let to = format!("type=registry,ref={cache},mode=max");
    lab.build(&["--cache-to", &to]).pass("exporting cache");
    lab.build(&["--cache-from", &cache])
        .pass(&format!("importing cache manifest from {cache}"));
    let image = format!("{registry}/lanekit/inline:{}", lab.word);
    let inline = ["--cache-to", "type=inline", "--push", "--tag", &image];
    lab.build(&inline).pass("pushing manifest");
    let from = lab.build(&["--cache-from", &image]);
    let from = from.pass(&format!("importing cache manifest from {image}"));
    assert!(!from.err.contains("ERROR"), "{from}");
}

pub(super) fn cache_from(lab: &Lab) {
    let none = lab.build(&["--cache-from", "type=local,src=/nowhere"]);
    none.pass("local cache import at /nowhere not found");
    if !lab.keeps_indexes() {
        return;
    }
    let cache = lab.file("cache");
    lab.build(&["--cache-to", &format!("type=local,dest={cache},mode=max")])
        .pass("CACHED");
    let from = format!("type=local,src={cache}");
    lab.build(&["--cache-from", &from])
        .pass("importing cache manifest from local");
    // Another engine has never seen the step, and finds it there.
    let Some(other) = &Setup::get().graphdriver else {
        skipped::<()>("a cache in another engine", "there is no such engine");
        return;
    };
    let there = Lab {
        engine: other,
        example: lab.example.again(),
        word: lab.word.clone(),
    };
    let said = there.build(&["--cache-from", &from]);
    said.pass("importing cache manifest from local");
}

pub(super) fn no_cache(lab: &Lab) {
    lab.build(&[]).pass("step ran");
    let again = lab.build(&[]).pass("CACHED");
    assert!(!again.err.contains("step ran"), "{again}");
    lab.build(&["--no-cache"]).pass("step ran");
}

pub(super) fn no_cache_filter(lab: &Lab) {
    lab.build(&[]).pass("step ran");
    for named in ["app", "app/say"] {
        lab.build(&["--no-cache-filter", named]).pass("step ran");
    }
    let other = lab.build(&["--no-cache-filter", "other"]).pass("CACHED");
    assert!(!other.err.contains("step ran"), "{other}");
    lab.build(&["--no-cache-filter", "ap"])
        .fail("did you mean `app`");
}
