//! Sources: what comes from outside the graph.

mod git;
mod http;
mod image;
mod local;
mod oci;

use std::collections::{BTreeMap, BTreeSet};

pub use git::Git;
pub use http::Http;
pub use image::{Image, ResolveMode};
pub use local::Local;
pub use oci::OciLayout;

use crate::caps::Cap;
use crate::proto::pb;
use crate::vertex::Vertex;
use crate::{Metadata, Output, Platform};

/// A source under construction. Attributes are added with what they need.
#[derive(Clone, Debug, Default)]
struct Attrs {
    attrs: BTreeMap<String, String>,
    needs: BTreeSet<Cap>,
}

impl Attrs {
    /// An attribute; an empty one is left out, because BuildKit's encoder and
    /// ours do not write it alike.
    fn set(&mut self, key: &str, value: impl Into<String>) {
        let value = value.into();
        if !value.is_empty() {
            self.attrs.insert(key.to_owned(), value);
        }
    }

    fn need(&mut self, cap: Cap) {
        self.needs.insert(cap);
    }

    fn build(self, identifier: String, platform: Option<&Platform>, metadata: Metadata) -> Output {
        let op = pb::op::Op::Source(pb::SourceOp {
            identifier,
            attrs: self.attrs,
        });
        Vertex::new(
            op,
            platform.map(Platform::to_pb),
            Vec::new(),
            self.needs,
            metadata,
        )
        .output(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Digest, Reference};

    fn needs(output: &Output) -> Vec<String> {
        output.vertex.needs().map(|cap| cap.to_string()).collect()
    }

    fn platform() -> Platform {
        Platform::new("linux", "amd64")
    }

    fn image() -> Image {
        Image::new("a".parse().unwrap(), platform())
    }

    #[test]
    fn only_pulling_has_to_be_obeyed() {
        let with = |mode| needs(&image().resolve_mode(mode).build());
        assert_eq!(with(ResolveMode::Default), ["source.image"]);
        assert_eq!(with(ResolveMode::PreferLocal), ["source.image"]);
        assert_eq!(
            with(ResolveMode::Pull),
            ["source.image", "source.image.resolvemode"]
        );
        assert_eq!(
            needs(&image().checksum(Digest::of(b"")).build()),
            ["source.image", "source.image.checksum"]
        );
    }

    #[test]
    fn what_is_not_said_is_not_written() {
        let plain = image().build();
        assert_eq!(image().record_type("").build(), plain);
        assert_eq!(image().resolve_mode(ResolveMode::Default).build(), plain);
    }

    #[test]
    fn an_oci_layout_is_pinned_and_has_a_store() {
        let pinned: Reference = format!("a@{}", Digest::of(b"")).parse().unwrap();
        let layout = |reference: &Reference, session, store| {
            OciLayout::new(reference.clone(), session, store, platform())
        };
        assert!(layout(&"a:1".parse().unwrap(), "session", "store").is_err());
        assert!(layout(&pinned, "", "store").is_err());
        assert!(layout(&pinned, "session", "").is_err());
        let output = layout(&pinned, "session", "store").unwrap().build();
        assert_eq!(needs(&output), ["source.ocilayout"]);
    }

    #[test]
    fn a_local_has_a_name_and_an_id() {
        assert!(Local::of_session("", "id").is_err());
        assert!(Local::of_session("name", "").is_err());
        assert!(Local::of_session("name", "a:b").is_err());
        assert!(Local::unique("", "id").is_err());
        assert!(Local::unique("name", "").is_err());
    }

    #[test]
    fn a_local_needs_what_it_uses() {
        let local = || Local::of_session("name", "id").unwrap();
        let base = ["source.local", "source.local.sessionid"];
        assert_eq!(needs(&local().differ_none().build()), base);
        for (local, cap) in [
            (local().include(["a"]), "source.local.includepatterns"),
            (local().exclude(["a"]), "source.local.excludepatterns"),
            (local().follow(["a"]), "source.local.followpaths"),
            (local().shared_key_hint("a"), "source.local.sharedkeyhint"),
        ] {
            let needs = needs(&local.build());
            let more: Vec<_> = needs.iter().filter(|n| !base.contains(&&***n)).collect();
            assert_eq!(more, [cap]);
        }
        assert_eq!(
            needs(&Local::unique("name", "id").unwrap().build()),
            ["source.local", "source.local.unique"]
        );
    }

    #[test]
    fn a_download_has_a_url_and_a_plain_file_name() {
        for url in ["", "https://", "ftp://a", "a", "https://a b"] {
            assert!(Http::new(url).is_err(), "{url}");
        }
        for name in ["", "a/b"] {
            assert!(Http::new("https://a").unwrap().filename(name).is_err());
        }
    }

    #[test]
    fn a_download_needs_what_it_uses() {
        let http = || Http::new("https://a").unwrap();
        assert_eq!(needs(&http().owner(0, 0).build()), ["source.http"]);
        for (http, cap) in [
            (http().checksum(Digest::of(b"")), "source.http.checksum"),
            (http().mode(0o644), "source.http.perm"),
            (http().owner(1, 0), "soruce.http.uidgid"),
            (http().auth_header_secret("s"), "source.http.auth"),
        ] {
            assert!(needs(&http.build()).iter().any(|need| need == cap), "{cap}");
        }
    }

    #[test]
    fn a_repository_has_a_remote_that_git_knows() {
        for remote in [
            "",
            "a",
            "a/b",
            "https://a",
            "https:///b",
            "https://a/",
            "ftp://a/b",
            "https://a/b#c",
            "@a:b",
            "u@:b",
            "u@a:",
            "https://a /b",
        ] {
            assert!(Git::new(remote).is_err(), "{remote}");
        }
        let git = || Git::new("https://a/b").unwrap();
        for reference in ["", "a#b", "a:b", "a b"] {
            assert!(git().reference(reference).is_err(), "{reference}");
        }
        for commit in ["", "012345", "g123456", &"0".repeat(65)] {
            assert!(git().checksum(commit).is_err(), "{commit}");
        }
        assert!(git().subdir("a/../..").is_err());
    }

    #[test]
    fn a_repository_needs_what_it_uses() {
        let git = || Git::new("https://a/b").unwrap();
        assert_eq!(needs(&git().build()), ["source.git", "source.git.fullurl"]);
        for (git, cap) in [
            (git().subdir("c").unwrap(), "source.git.subdir"),
            (git().checksum("0123456").unwrap(), "source.git.checksum"),
            (git().keep_git_dir(), "source.git.keepgitdir"),
            (git().skip_submodules(), "source.git.skipsubmodules"),
            (git().auth_token_secret("s"), "source.git.httpauth"),
            (git().known_ssh_hosts("h"), "source.git.knownsshhosts"),
            (Git::new("u@a:b").unwrap(), "source.git.mountsshsock"),
        ] {
            assert!(needs(&git.build()).iter().any(|need| need == cap), "{cap}");
        }
    }
}
