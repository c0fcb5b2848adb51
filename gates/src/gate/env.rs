//! The gate `env`: the environment that a product ships with is everybody's, not the build
//! machine's.
//!
//! Three scopes can hold it: the process, and on Windows the registry's machine and user scopes.
//! The image's own configuration is held against them.

use std::net::{Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};

use super::{Check, Keys, Names, NoKeys};
use crate::arch_table::Row;
use crate::exit::Failure;
use crate::list::{self, Entry};
use crate::name::Name;
use crate::rule::Rule;
use crate::seen::Seen;
use crate::walk::Root;

const SCOPE_BYTES: u64 = 16 << 20;

const HOST: Rule = Rule::new("ENV001", "a setting of the build machine");
const PRIVATE: Rule = Rule::new("ENV002", "an address of a private network");
const DIFFERS: Rule = Rule::new(
    "ENV003",
    "a process has another environment than the image says",
);
const SECRET: Rule = Rule::new("ENV004", "something like a credential");
const MISSING: Rule = Rule::new("ENV005", "a scope that cannot be read");

/// The gate.
pub struct Env;

impl Check for Env {
    const NAME: &'static str = "env";
    const ABOUT: &'static str = "the environment of a product is not that of the build machine";
    const VERSION: u32 = 2;
    const COUNTS: &'static [&'static str] = &["scopes", "variables"];
    const RULES: &'static [Rule] = &[HOST, PRIVATE, DIFFERS, SECRET, MISSING];
    type Ask = Ask;
    type Demand = NoKeys;

    fn inspect(row: &Row, roots: &[Root], ask: &Ask) -> Result<Seen, Failure> {
        let tree = list::listed(roots)?;
        let fold = row.folds_case();
        let mut look = Look {
            fold,
            settings: ask,
            found: Seen::default(),
        };
        look.scope("image", &ask.env, false);
        for scope in &ask.scopes {
            let file = Name::from(format!("{scope}.json").as_str());
            let Some(Entry::File(path, _)) = tree.entries.get(&file) else {
                let why = "the scope was not written down";
                look.found.wrong(MISSING, &file, why);
                continue;
            };
            let bytes = list::read(path, SCOPE_BYTES)?.unwrap_or_default();
            match serde_json::from_slice::<Names>(&bytes) {
                Ok(names) => look.scope(scope, &names, scope == "process"),
                Err(why) => {
                    let why = format!("no object of names and values: {why}");
                    look.found.wrong(MISSING, &file, why);
                }
            }
        }
        let found = look.found;
        Ok(tree.seen(found))
    }
}

/// What *inspect* is told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Ask {
    /// The environment of the image: the frontend fills it in.
    #[serde(default)]
    pub env: Names,
    /// Ask of the build machine, which the product must not have: the frontend fills it in.
    #[serde(default)]
    pub host: Vec<String>,
    /// Variables that a process has without anybody having set them for it.
    #[serde(default)]
    pub own: Vec<String>,
    /// Scopes besides the image's that must be there: `process`, `machine`, `user`. Each is a file
    /// `NAME.json` of the tree, an object of names and values.
    #[serde(default)]
    pub scopes: Vec<String>,
}

impl Keys for Ask {}

/// What runtimes add to every process.
const OWN: [&str; 6] = ["HOME", "HOSTNAME", "PWD", "SHLVL", "TERM", "_"];

struct Look<'l> {
    fold: bool,
    settings: &'l Ask,
    found: Seen,
}

impl Look<'_> {
    fn same(&self, a: &str, b: &str) -> bool {
        a == b || (self.fold && a.eq_ignore_ascii_case(b))
    }

    fn scope(&mut self, scope: &str, names: &Names, whole: bool) {
        for (name, value) in names {
            let subject = Name::from(format!("{scope}/{name}").as_str());
            if self.settings.host.iter().any(|host| self.same(host, name)) {
                let why = "a setting of the build machine, which no product may have";
                self.found.wrong(HOST, &subject, why);
            }
            for host in hosts(value).filter(|host| private(host)) {
                let why = format!("`{host}` means something on one network only");
                self.found.wrong(PRIVATE, &subject, why);
            }
            if secret(name, value) {
                // The value stays out of the report.
                let why = "it looks like a credential";
                self.found.wrong(SECRET, &subject, why);
            }
            if whole && !self.declared(name, value) {
                let why = "the image does not say so, and the process has it";
                self.found.wrong(DIFFERS, &subject, why);
            }
            self.found.count("variables", &subject, &[]);
        }
        if whole {
            for name in self.settings.env.keys() {
                if !names.keys().any(|have| self.same(have, name)) {
                    let subject = Name::from(format!("{scope}/{name}").as_str());
                    let why = "the image says so, and the process does not have it";
                    self.found.wrong(DIFFERS, &subject, why);
                }
            }
        }
        // Of a scope without a variable nothing was looked at.
        if !names.is_empty() {
            let subject = Name::from(scope);
            self.found.count("scopes", &subject, &[]);
        }
    }

    fn declared(&self, name: &str, value: &str) -> bool {
        let own = OWN
            .into_iter()
            .chain(self.settings.own.iter().map(String::as_str));
        if own.into_iter().any(|own| self.same(own, name)) {
            return true;
        }
        let mut env = self.settings.env.iter();
        env.any(|(known, want)| self.same(known, name) && want == value)
    }
}

/// Whatever in a text could be a host: words of letters, digits, dots, colons and hyphens.
fn hosts(value: &str) -> impl Iterator<Item = &str> {
    value
        .split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':')))
        .flat_map(|word| {
            let ip6 = word.matches(':').count() > 1;
            // `host:port` is two words, an IPv6 address is one.
            let parts: Vec<&str> = if ip6 {
                vec![word]
            } else {
                word.split(':').collect()
            };
            parts
        })
        .filter(|word| word.len() > 2)
}

/// Names that resolve on one network only.
const ZONES: [&str; 8] = [
    ".corp",
    ".home",
    ".home.arpa",
    ".internal",
    ".intranet",
    ".lan",
    ".local",
    ".private",
];

/// Whether an address or name is of a private network, of this machine or of one link.
#[must_use]
pub fn private(host: &str) -> bool {
    if let Ok(address) = host.parse::<Ipv4Addr>() {
        let [a, b, ..] = address.octets();
        return address.is_private() || address.is_link_local() || (a == 100 && b & 0xc0 == 64);
    }
    if let Ok(address) = host.parse::<Ipv6Addr>() {
        let [first, ..] = address.segments();
        return first & 0xfe00 == 0xfc00 || first & 0xffc0 == 0xfe80;
    }
    let lower = host.to_ascii_lowercase();
    ZONES
        .iter()
        .any(|zone| lower.len() > zone.len() && lower.ends_with(zone))
}

/// Whether this is a credential by its name, or an URL with one in it.
fn secret(name: &str, value: &str) -> bool {
    const WORDS: [&str; 7] = [
        "PASSWORD",
        "PASSWD",
        "SECRET",
        "TOKEN",
        "CREDENTIAL",
        "CREDENTIALS",
        "APIKEY",
    ];
    let name = name.to_ascii_uppercase();
    let named = name.split('_').any(|part| WORDS.contains(&part))
        || ["API_KEY", "ACCESS_KEY", "PRIVATE_KEY"]
            .iter()
            .any(|key| name.ends_with(key));
    let in_url = value.split_once("://").is_some_and(|(_, rest)| {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        authority
            .rsplit_once('@')
            .is_some_and(|(user, _)| user.contains(':'))
    });
    (named && !value.is_empty()) || in_url
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(settings: &Ask, scope: &str, names: &[(&str, &str)], whole: bool) -> Vec<String> {
        let mut look = Look {
            fold: false,
            settings,
            found: Seen::default(),
        };
        let names = names
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        look.scope(scope, &names.collect(), whole);
        look.found.ids().into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn host_settings_private_addresses_and_credentials_are_found() {
        let settings = Ask {
            host: vec!["SCCACHE_WEBDAV_ENDPOINT".to_owned()],
            ..Ask::default()
        };
        for (name, value, want) in [
            ("SCCACHE_WEBDAV_ENDPOINT", "", "ENV001"),
            ("URL", "http://192.168.1.7:8080/x", "ENV002"),
            ("URL", "http://cache.lan/x", "ENV002"),
            ("HOSTS", "a,10.0.0.1;b", "ENV002"),
            ("A", "http://[fd00::1]:80/", "ENV002"),
            ("A", "100.64.3.4", "ENV002"),
            ("GH_TOKEN", "x", "ENV004"),
            ("PROXY", "http://me:pw@example.org/", "ENV004"),
        ] {
            assert_eq!(
                told(&settings, "image", &[(name, value)], false),
                [want],
                "{name}={value}"
            );
        }
        for (name, value) in [
            ("PATH", "/usr/local/bin:/usr/bin"),
            ("VERSION", "10.0.26100.0.1"),
            ("URL", "https://example.org:8443/a@b:c"),
            ("LOCAL", "8.8.8.8"),
            ("TOKENIZERS_PARALLELISM", "false"),
            ("NAME", "plan.local.rs"),
        ] {
            assert!(
                told(&settings, "image", &[(name, value)], false).is_empty(),
                "{name}={value}"
            );
        }
    }

    #[test]
    fn a_process_has_what_the_image_says_and_nothing_else() {
        let env = Names::from([("A".to_owned(), "1".to_owned())]);
        let settings = Ask {
            env,
            ..Ask::default()
        };
        assert!(told(&settings, "process", &[("A", "1"), ("HOME", "/root")], true).is_empty());
        assert_eq!(told(&settings, "process", &[("A", "2")], true), ["ENV003"]);
        assert_eq!(
            told(&settings, "process", &[("A", "1"), ("B", "")], true),
            ["ENV003"]
        );
        assert_eq!(told(&settings, "process", &[], true), ["ENV003"]);
    }
}
