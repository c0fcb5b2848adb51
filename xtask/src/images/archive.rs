//! A directory as an image archive that `docker load` takes, with the same
//! bytes whenever the directory holds the same.
//!
//! The archive is an OCI layout (image-spec, image-layout.md) with one layer,
//! and has Docker's `manifest.json` beside it for engines with graph drivers.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::json;
use sha2::{Digest, Sha256};
use tar::{Builder, EntryType, Header};

use super::hex;

/// All times in an archive, in seconds since 1970: what a base image is does
/// not depend on when it was made.
const TIME: u64 = 0;

/// What an image says beside its files.
pub(super) struct Config<'a> {
    pub(super) path: &'a str,
    pub(super) command: &'a str,
    pub(super) labels: &'a [(&'a str, &'a str)],
}

/// Writes the archive of a root directory, under one name.
pub(super) fn write(root: &Path, config: &Config<'_>, name: &str, archive: &Path) -> Result<()> {
    let layer = archive.with_extension("layer");
    let (digest, size) = write_layer(root, &layer)?;
    let labels: BTreeMap<&str, &str> = config.labels.iter().copied().collect();
    let config = serde_json::to_vec(&json!({
        "architecture": architecture(),
        "os": "linux",
        "created": "1970-01-01T00:00:00Z",
        "config": {
            "Env": [format!("PATH={}", config.path)],
            "Cmd": [config.command],
            "WorkingDir": "/",
            "Labels": labels,
        },
        "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{digest}")] },
        "history": [{ "created": "1970-01-01T00:00:00Z", "created_by": "cargo xtask engine images" }],
    }))?;
    let config_digest = sha256(&config);
    let manifest = serde_json::to_vec(&json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": {
            "mediaType": "application/vnd.oci.image.config.v1+json",
            "digest": format!("sha256:{config_digest}"),
            "size": config.len(),
        },
        "layers": [{
            "mediaType": "application/vnd.oci.image.layer.v1.tar",
            "digest": format!("sha256:{digest}"),
            "size": size,
        }],
    }))?;
    let manifest_digest = sha256(&manifest);
    let tag = name.rsplit(':').next().unwrap_or("latest");
    let index = serde_json::to_vec(&json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [{
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "digest": format!("sha256:{manifest_digest}"),
            "size": manifest.len(),
            "platform": { "architecture": architecture(), "os": "linux" },
            "annotations": {
                "io.containerd.image.name": name,
                "org.opencontainers.image.ref.name": tag,
            },
        }],
    }))?;
    let docker = serde_json::to_vec(&json!([{
        "Config": blob(&config_digest),
        "RepoTags": [name.strip_prefix("docker.io/").unwrap_or(name)],
        "Layers": [blob(&digest)],
    }]))?;

    let part = archive.with_extension("part");
    let mut tar = Builder::new(BufWriter::new(create(&part)?));
    add(&mut tar, "oci-layout", br#"{"imageLayoutVersion":"1.0.0"}"#)?;
    add(&mut tar, "index.json", &index)?;
    add(&mut tar, "manifest.json", &docker)?;
    add(&mut tar, &blob(&manifest_digest), &manifest)?;
    add(&mut tar, &blob(&config_digest), &config)?;
    let mut header = header(EntryType::Regular, 0o644);
    header.set_size(size);
    tar.append_data(&mut header, blob(&digest), File::open(&layer)?)?;
    tar.into_inner()?.flush()?;
    fs::remove_file(&layer)?;
    // Only a whole archive gets its name.
    fs::rename(&part, archive)?;
    Ok(())
}

/// Writes the files of a directory as one layer; hands back digest and size.
fn write_layer(root: &Path, layer: &Path) -> Result<(String, u64)> {
    let mut tar = Builder::new(BufWriter::new(create(layer)?));
    for path in sorted(root)? {
        let file = root.join(&path);
        append(&mut tar, &file, &path).with_context(|| path.display().to_string())?;
    }
    let mut file = tar
        .into_inner()?
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    file.rewind()?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    let mut size = 0;
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok((hex(&hash.finalize()), size));
        }
        hash.update(&buffer[..read]);
        size += read as u64;
    }
}

fn append(tar: &mut Builder<BufWriter<File>>, file: &Path, path: &Path) -> Result<()> {
    let meta = fs::symlink_metadata(file)?;
    let mode = meta.mode() & 0o7777;
    if meta.is_symlink() {
        let target = fs::read_link(file)?;
        tar.append_link(&mut header(EntryType::Symlink, 0o777), path, target)?;
    } else if meta.is_dir() {
        let mut header = header(EntryType::Directory, mode);
        tar.append_data(&mut header, path, io::empty())?;
    } else {
        let mut header = header(EntryType::Regular, mode);
        header.set_size(meta.len());
        tar.append_data(&mut header, path, File::open(file)?)?;
    }
    Ok(())
}

/// Every path below a directory, relative to it, parents before children.
fn sorted(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut todo = vec![PathBuf::new()];
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(root.join(&dir))? {
            let entry = entry?;
            let path = dir.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                todo.push(path.clone());
            }
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn header(kind: EntryType, mode: u32) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_mtime(TIME);
    header.set_uid(0);
    header.set_gid(0);
    header.set_size(0);
    header
}

fn add(tar: &mut Builder<BufWriter<File>>, path: &str, bytes: &[u8]) -> Result<()> {
    let mut header = header(EntryType::Regular, 0o644);
    header.set_size(bytes.len() as u64);
    Ok(tar.append_data(&mut header, path, bytes)?)
}

fn create(path: &Path) -> Result<File> {
    File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(path)
        .with_context(|| format!("cannot write {}", path.display()))
}

fn blob(digest: &str) -> String {
    format!("blobs/sha256/{digest}")
}

fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// This machine's architecture, as images name it.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn root(dir: &Path, order: &[&str]) {
        for name in order {
            fs::write(dir.join(name), *name).unwrap();
            fs::set_permissions(dir.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::create_dir(dir.join("tmp")).unwrap();
        fs::set_permissions(dir.join("tmp"), fs::Permissions::from_mode(0o1777)).unwrap();
        symlink("a", dir.join("link")).unwrap();
    }

    fn archive(order: &[&str], label: &str) -> Vec<u8> {
        let dir = tempfile::tempdir().unwrap();
        let from = dir.path().join("root");
        fs::create_dir(&from).unwrap();
        root(&from, order);
        let file = dir.path().join("image.tar");
        let config = Config {
            path: "/bin",
            command: "/bin/sh",
            labels: &[("inputs", label)],
        };
        write(&from, &config, "docker.io/lanekit/x:1", &file).unwrap();
        fs::read(file).unwrap()
    }

    #[test]
    fn the_same_files_give_the_same_bytes_whenever_and_in_whatever_order_they_were_made() {
        let first = archive(&["a", "b", "c"], "1");
        std::thread::sleep(std::time::Duration::from_millis(1100));
        assert!(first == archive(&["c", "a", "b"], "1"));
        assert!(first != archive(&["c", "a", "b"], "2"));
    }

    #[test]
    fn modes_and_links_reach_the_layer() {
        let bytes = archive(&["a"], "1");
        let mut outer = tar::Archive::new(&bytes[..]);
        let layer = outer
            .entries()
            .unwrap()
            .map(|entry| {
                let mut bytes = Vec::new();
                entry.unwrap().read_to_end(&mut bytes).unwrap();
                bytes
            })
            .last()
            .unwrap();
        let seen: Vec<(String, u32, Option<PathBuf>)> = tar::Archive::new(&layer[..])
            .entries()
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                (
                    entry.path().unwrap().display().to_string(),
                    entry.header().mode().unwrap(),
                    entry.link_name().unwrap().map(|name| name.into_owned()),
                )
            })
            .collect();
        assert_eq!(
            seen,
            [
                ("a".to_owned(), 0o755, None),
                ("link".to_owned(), 0o777, Some("a".into())),
                ("tmp".to_owned(), 0o1777, None),
            ]
        );
    }
}
