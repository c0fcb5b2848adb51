//! What a step sees besides files and products: caches, secrets, SSH agents, memory.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use super::build::Planner;
use super::step::place;
use super::uses::contained;
use super::{CacheMount, GuardedMount};
use crate::file::{Brings, Guarded};

pub(super) fn caches(
    planner: &mut Planner<'_, '_>,
    sees: &[&Brings],
    env: &BTreeMap<String, String>,
) -> Vec<CacheMount> {
    let mut mounts = Vec::new();
    for cache in sees.iter().flat_map(|brings| &brings.cache) {
        if !planner.selection.setting.holds(cache.when.as_ref()) {
            continue;
        }
        let Some(at) = place(planner, &cache.at, env) else {
            continue;
        };
        let mut from = None;
        if let (Some(name), Some(sub)) = (&cache.from, &cache.sub)
            && let Some(path) = place(planner, sub, env)
            && let Some(&stage) = planner.index.get(name.value.as_str())
        {
            contained(planner, &name.value, stage, &path, &sub.span);
            from = Some((stage, path));
        }
        mounts.push(CacheMount {
            id: cache.id.value.clone(),
            at,
            sharing: cache.sharing,
            from,
            access: cache.access,
            span: cache.span.clone(),
        });
    }
    mounts.sort_by(|a, b| a.at.cmp(&b.at));
    mounts
}

/// Secrets or SSH agents; without a place of its own each is in the directory `usual` by its id.
pub(super) fn guarded<'g>(
    planner: &mut Planner<'_, '_>,
    mounts: impl Iterator<Item = &'g Guarded>,
    usual: &str,
    env: &BTreeMap<String, String>,
) -> Vec<GuardedMount> {
    let mut found: Vec<GuardedMount> = mounts
        .filter_map(|mount| {
            if !planner.selection.setting.holds(mount.when.as_ref()) {
                return None;
            }
            let at = match &mount.at {
                Some(at) => place(planner, at, env)?,
                None => planner.spelling.usual(
                    &format!("{usual}/{}", mount.id.value),
                    &mount.id.span,
                    &mut planner.report,
                )?,
            };
            Some(GuardedMount {
                id: mount.id.value.clone(),
                at,
                required: mount.required,
                access: mount.access,
            })
        })
        .collect();
    found.sort_by(|a, b| a.at.cmp(&b.at));
    found
}

pub(super) fn memory(
    planner: &mut Planner<'_, '_>,
    sees: &[&Brings],
    env: &BTreeMap<String, String>,
) -> Vec<(String, Option<NonZeroU64>)> {
    let mut found: Vec<(String, Option<NonZeroU64>)> = sees
        .iter()
        .flat_map(|brings| &brings.tmpfs)
        .filter_map(|mount| {
            if !planner.selection.setting.holds(mount.when.as_ref()) {
                return None;
            }
            Some((place(planner, &mount.at, env)?, mount.size))
        })
        .collect();
    found.sort();
    found
}
