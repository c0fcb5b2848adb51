//! LK071: one cache with two sharings.

use std::collections::BTreeMap;

use super::Seen;
use crate::diag::{Diagnostic, Report, rule};
use crate::file::{Cache, Sharing};

pub(super) fn check(seen: &Seen<'_>, report: &mut Report) {
    let mut first: BTreeMap<&str, &Cache> = BTreeMap::new();
    for cache in seen.graph.brings().flat_map(|brings| &brings.cache) {
        let before = *first.entry(&cache.id.value).or_insert(cache);
        if before.sharing != cache.sharing {
            let message = format!("cache `{}` is shared in two ways", cache.id.value);
            report.push(
                Diagnostic::new(rule::CACHE, message)
                    .at(&cache.span, format!("{} here", word(cache.sharing)))
                    .related(&before.span, format!("{} here", word(before.sharing)))
                    .help("steps that share it rely on one of the two: give both one sharing, or two ids"),
            );
        }
    }
}

fn word(sharing: Sharing) -> &'static str {
    match sharing {
        Sharing::Shared => "shared",
        Sharing::Private => "private",
        Sharing::Locked => "locked",
    }
}
