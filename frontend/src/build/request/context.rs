//! What the lints see of the context in `--check`: the texts of scripts, and what is below directories.

use std::collections::{BTreeMap, BTreeSet};

use stages::graph::lint;
use stages::ignore::Ignore;
use stages::lower;

use super::super::Given;
use super::super::context::Main;
use super::super::files::{Read, Unread, is_missing};
use crate::gateway::bridge::{Bridge, Evaluate, MODE_DIR, Ref};
use crate::gateway::error::Failure;
use crate::gateway::join::join_all;

/// How many names of a directory are asked for. What has more is not judged.
const MOST: usize = 20_000;

/// The same graph, with what lints say that look into the context.
pub(super) async fn looked_into(
    given: &Given<'_>,
    main: &Main,
    read: Read,
    ignore: Option<&Ignore>,
) -> Result<Read, Unread> {
    let Read {
        loaded,
        vertex,
        made,
    } = read;
    let wanted = lint::texts(&loaded.graph);
    let directories = lint::directories(&loaded.graph);
    // Of directories just their names are sent for this alone: all of one is too much to see whether it is there.
    let (listed, whole): (BTreeSet<String>, BTreeSet<String>) = lint::listed(&loaded.graph)
        .into_iter()
        .filter(|path| ignore.is_none_or(|ignore| !ignore.takes(path)))
        .partition(|path| !path.ends_with('/') || directories.contains(path));
    let (mut texts, mut below) = (BTreeMap::new(), BTreeMap::new());
    let mut missing = BTreeSet::new();
    if !(wanted.is_empty() && directories.is_empty() && listed.is_empty()) {
        let files = match &main.files {
            Some(files) => files.clone(),
            None => {
                let plain = |path: &String| path.trim_end_matches('/').to_owned();
                let paths = [&wanted, &directories, &listed].into_iter().flatten();
                let paths: Vec<String> = paths
                    .map(plain)
                    .collect::<BTreeSet<_>>()
                    .into_iter()
                    .collect();
                let session = given.opts.session_of("context");
                lower::client_files(&paths, session, ignore)
                    .map_err(|error| Failure::new(error.to_string()))?
            }
        };
        let definition = llb::Definition::new(&files);
        let bridge = given.bridge;
        let context = bridge
            .solve(definition.into(), Evaluate::Later, &[])
            .await?;
        missing.extend(absent(bridge, &context, listed).await?);
        for path in wanted {
            // That one is no text is said where it is used.
            let text = bridge.read_file(&context, &path, stages::file::MAX_FILE);
            if let Ok(text) = text.await {
                texts.insert(path, text);
            }
        }
        for directory in directories {
            if let Some(names) = names(bridge, &context, &directory).await? {
                below.insert(directory, names);
            }
        }
    }
    if !whole.is_empty() {
        let files = match &main.files {
            Some(files) => files.clone(),
            None => {
                let plain = |path: &String| path.trim_end_matches('/').to_owned();
                let session = given.opts.session_of("context");
                lower::client_directories(&whole.iter().map(plain).collect(), session, ignore)
                    .map_err(|error| Failure::new(error.to_string()))?
            }
        };
        let definition = llb::Definition::new(&files).into();
        let context = given.bridge.solve(definition, Evaluate::Later, &[]).await?;
        missing.extend(absent(given.bridge, &context, whole).await?);
    }
    let loaded = loaded.with_context(
        |path| texts.get(path).cloned(),
        |directory| below.get(directory).cloned(),
        |path| missing.contains(path),
    )?;
    Ok(Read {
        loaded,
        vertex,
        made,
    })
}

/// Those paths at which nothing is; directories end with `/`, and a file is none.
async fn absent(
    bridge: &Bridge,
    context: &Ref,
    paths: BTreeSet<String>,
) -> Result<Vec<String>, Failure> {
    let stats = paths
        .iter()
        .map(|path| bridge.stat(context, path.trim_end_matches('/')));
    let stats = join_all(stats).await;
    let mut missing = Vec::new();
    for (path, stat) in paths.into_iter().zip(stats) {
        match stat {
            Err(failure) if is_missing(&failure) => missing.push(path),
            Err(failure) => return Err(failure),
            Ok(stat) if path.ends_with('/') && stat.mode & MODE_DIR == 0 => missing.push(path),
            Ok(_) => {}
        }
    }
    Ok(missing)
}

/// The paths of all that is below a directory, relative to it; nothing when it is empty or not there.
async fn names(
    bridge: &Bridge,
    context: &Ref,
    directory: &str,
) -> Result<Option<Vec<String>>, Failure> {
    let (mut found, mut open) = (Vec::new(), vec![String::new()]);
    while let Some(below) = open.pop() {
        let path = format!("{directory}{below}");
        for entry in bridge.read_dir(context, path.trim_end_matches('/')).await? {
            let path = format!("{below}{}", entry.name);
            if entry.directory {
                open.push(format!("{path}/"));
            }
            found.push(path);
        }
        if found.len() > MOST {
            return Ok(None);
        }
    }
    Ok((!found.is_empty()).then_some(found))
}
