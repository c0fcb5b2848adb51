//! A registry on loopback, for pushes, pulls and caches.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::json;

use super::daemon::{Ready, Service};
use super::install::Prefix;

/// The port that is taken when it is free.
const PORT: u16 = 5000;

/// The private registry.
#[derive(Debug)]
pub(super) struct Registry {
    base: PathBuf,
    dir: PathBuf,
    port: u16,
    prefix: Prefix,
}

impl Registry {
    /// The registry of an engine's directory. Its port is settled the first
    /// time, and again when another program has taken it meanwhile.
    pub(super) fn new(base: &Path, prefix: &Prefix) -> Result<Registry> {
        let dir = base.join("registry");
        let noted = fs::read_to_string(dir.join("port"))
            .ok()
            .and_then(|text| text.trim().parse().ok());
        let mut registry = Registry {
            base: base.to_owned(),
            dir,
            port: noted.unwrap_or(PORT),
            prefix: prefix.clone(),
        };
        if registry.service().process().is_none() {
            registry.port = free_port(registry.port)?;
        }
        Ok(registry)
    }

    /// `HOST:PORT`, as in the names of images.
    pub(super) fn address(&self) -> String {
        format!("{}:{}", Ipv4Addr::LOCALHOST, self.port)
    }

    pub(super) fn is_up(&self) -> bool {
        self.service().is_up()
    }

    pub(super) fn version(&self) -> String {
        self.prefix.version("docker-registry")
    }

    pub(super) fn start(&self) -> Result<()> {
        if self.is_up() {
            return Ok(());
        }
        let store = self.dir.join("store");
        fs::create_dir_all(&store).with_context(|| format!("cannot make {}", store.display()))?;
        fs::write(self.dir.join("port"), self.port.to_string())?;
        // JSON is YAML.
        let config = json!({
            "version": 0.1,
            "log": { "level": "warn" },
            "storage": {
                "filesystem": { "rootdirectory": store },
                "delete": { "enabled": true },
            },
            "http": { "addr": self.address() },
        });
        fs::write(self.config(), serde_json::to_vec_pretty(&config)?)?;
        self.service().start()
    }

    /// Stops it; hands back its name if it ran.
    pub(super) fn stop(&self) -> Result<Vec<String>> {
        let service = self.service();
        Ok(if service.stop()? {
            vec![service.name]
        } else {
            Vec::new()
        })
    }

    fn config(&self) -> PathBuf {
        self.dir.join("config.yml")
    }

    fn service(&self) -> Service {
        Service {
            name: "registry".to_owned(),
            argv: vec![
                self.prefix
                    .program("usr/bin/docker-registry")
                    .display()
                    .to_string(),
                "serve".to_owned(),
                self.config().display().to_string(),
            ],
            path: self.prefix.path(),
            ready: Ready::HttpAt(self.address(), "/v2/"),
            base: self.base.clone(),
        }
    }
}

/// The port itself when nobody listens on it, else one that the system picks.
fn free_port(wanted: u16) -> Result<u16> {
    let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let listener = bind(wanted)
        .or_else(|_| bind(0))
        .context("no port is free on loopback")?;
    Ok(listener.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_is_taken_is_not_used() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        assert_ne!(free_port(port).unwrap(), port);
        drop(taken);
        assert_eq!(free_port(port).unwrap(), port);
    }
}
