//! The generated Rust of the wire schema in `llb/proto/`, and the JSON Schema and the reference
//! of the lane file.
//!
//! The files are checked in, so that no build needs a protobuf compiler;
//! [`run`] writes them, or tells which one is out of date.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use prost_build::{Config, Module};
use prost_types::FileDescriptorSet;

/// One schema file, its protobuf package, and the module of `llb::proto` that
/// holds its messages.
struct Schema {
    file: &'static str,
    package: &'static str,
    module: &'static str,
}

const SCHEMAS: &[Schema] = &[
    Schema {
        file: "ops.proto",
        package: "pb",
        module: "pb",
    },
    Schema {
        file: "gateway.proto",
        package: "moby.buildkit.v1.frontend",
        module: "gateway",
    },
    Schema {
        file: "worker.proto",
        package: "moby.buildkit.v1.types",
        module: "types",
    },
    Schema {
        file: "caps.proto",
        package: "moby.buildkit.v1.apicaps",
        module: "apicaps",
    },
    Schema {
        file: "stat.proto",
        package: "fsutil.types",
        module: "fsutil",
    },
    Schema {
        file: "status.proto",
        package: "google.rpc",
        module: "rpc",
    },
];

const PROTO_DIR: &str = "llb/proto";
const MESSAGES_DIR: &str = "llb/src/generated";
/// The package with the service, and where its client and server go.
const SERVICE: (&str, &str) = (
    "moby.buildkit.v1.frontend",
    "frontend/src/generated/llb_bridge.rs",
);

/// Writes the generated files, or with `check` compares them with what is
/// checked in.
///
/// # Errors
/// A schema that does not compile; a file that cannot be read or written; with
/// `check`, the names of the files whose text differs.
pub(crate) fn run(check: bool) -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .context("xtask lies in the workspace")?;
    let files = generate(root)?;
    if !check {
        for (path, text) in &files {
            let path = root.join(path);
            fs::write(&path, text).with_context(|| format!("write {}", path.display()))?;
        }
        return Ok(());
    }
    let mut stale = Vec::new();
    for (path, text) in &files {
        let there = fs::read_to_string(root.join(path)).unwrap_or_default();
        if there.replace("\r\n", "\n") != *text {
            stale.push(path.display().to_string());
        }
    }
    ensure!(
        stale.is_empty(),
        "out of date: {}\nrun `cargo xtask codegen` and commit what it writes",
        stale.join(", ")
    );
    Ok(())
}

/// All generated files: path below `root` and text.
fn generate(root: &Path) -> Result<BTreeMap<PathBuf, String>> {
    let set = protox::compile(SCHEMAS.iter().map(|s| s.file), [root.join(PROTO_DIR)])
        .with_context(|| format!("compile the schema in {PROTO_DIR}"))?;
    let mut files = BTreeMap::new();
    for schema in SCHEMAS {
        let own = set
            .file
            .iter()
            .find(|f| f.name() == schema.file)
            .with_context(|| format!("{} was not compiled", schema.file))?;
        ensure!(
            own.package() == schema.package,
            "{} declares package {}, expected {}",
            schema.file,
            own.package(),
            schema.package
        );
        let mut config = config();
        for other in SCHEMAS.iter().filter(|o| o.package != schema.package) {
            config.extern_path(
                format!(".{}", other.package),
                format!("crate::proto::{}", other.module),
            );
        }
        let path = Path::new(MESSAGES_DIR).join(format!("{}.rs", schema.module));
        let text = package(&mut config, &set, schema.package)?;
        files.insert(path, with_header(schema.file, &text));

        if schema.package == SERVICE.0 {
            let mut config = self::config();
            for s in SCHEMAS {
                config.extern_path(
                    format!(".{}", s.package),
                    format!("::llb::proto::{}", s.module),
                );
            }
            config.service_generator(
                tonic_prost_build::configure()
                    .build_transport(false)
                    .service_generator(),
            );
            let text = package(&mut config, &set, schema.package)?;
            files.insert(PathBuf::from(SERVICE.1), with_header(schema.file, &text));
        }
    }
    files.insert("docs/lanes.schema.json".into(), stages::file::schema());
    files.insert("docs/reference.md".into(), stages::file::reference());
    Ok(files)
}

/// The choices for every message: maps that are in order.
fn config() -> Config {
    let mut config = Config::new();
    config.btree_map(["."]);
    config
}

/// The Rust text of one package. All files are handed over, because messages
/// refer to each other across them; what `config` maps to another place makes
/// no text.
fn package(config: &mut Config, set: &FileDescriptorSet, package: &str) -> Result<String> {
    let requests = set
        .file
        .iter()
        .map(|f| (Module::from_protobuf_package_name(f.package()), f.clone()))
        .collect();
    config
        .generate(requests)?
        .remove(&Module::from_protobuf_package_name(package))
        .with_context(|| format!("package {package} made no text"))
}

/// Says where the text comes from and how to make it again.
fn with_header(schema: &str, text: &str) -> String {
    let body = text
        .strip_prefix("// This file is @generated by prost-build.\n")
        .unwrap_or(text);
    format!(
        "// @generated from {PROTO_DIR}/{schema} by `cargo xtask codegen` (prost-build, tonic-prost-build).\n\
         // Do not edit: change the schema and run it again; `cargo xtask codegen --check` compares.\n\
         {body}"
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_generated_files_are_those_of_the_schema() {
        super::run(true).unwrap();
    }
}
