//! One private dockerd with its own containerd, state, sockets and bridge.

use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::daemon::{Ready, Service, unmount_below};
use super::install::Prefix;
use super::{Engine, Kind};
use crate::process::Process;
use crate::run;

const NET: Duration = Duration::from_secs(10);

/// How an instance stores images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Store {
    /// containerd's snapshotters.
    Containerd,
    /// The graph driver `overlay2`.
    GraphDriver,
}

/// One private dockerd.
#[derive(Debug)]
pub(super) struct Instance {
    store: Store,
    /// What stays: images, build cache, configuration.
    state: PathBuf,
    /// What a restart of the machine may take: sockets, containers' state.
    /// Short, since the path of a socket has at most 107 bytes (unix(7)).
    run: PathBuf,
    bridge: String,
    /// The control group that steps and containers run below.
    group: String,
    base: PathBuf,
    prefix: Prefix,
}

impl Instance {
    pub(super) fn new(base: &Path, prefix: &Prefix, store: Store) -> Instance {
        let id = id_of(base);
        let (name, letter) = match store {
            Store::Containerd => ("main", 'm'),
            Store::GraphDriver => ("graphdriver", 'g'),
        };
        Instance {
            store,
            state: base.join(name),
            run: Path::new("/run/lanekit").join(&id).join(name),
            bridge: format!("lk{letter}{id}"),
            group: format!("lanekit-{id}-{name}"),
            base: base.to_owned(),
            prefix: prefix.clone(),
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match self.store {
            Store::Containerd => "main",
            Store::GraphDriver => "graphdriver",
        }
    }

    pub(super) fn engine(&self) -> Engine {
        Engine {
            docker_host: Some(format!("unix://{}", self.docker_socket().display())),
            docker_config: Some(self.prefix.docker_config()),
            builder: "default".to_owned(),
            path: self.prefix.path(),
            kind: match self.store {
                Store::Containerd => Kind::Private,
                Store::GraphDriver => Kind::GraphDriver,
            },
        }
    }

    pub(super) fn is_up(&self) -> bool {
        self.containerd().is_up() && self.dockerd().is_up()
    }

    /// Starts it unless it is up. What a crash left behind is cleared first.
    pub(super) fn start(&self) -> Result<()> {
        if self.is_up() {
            return Ok(());
        }
        self.stop()?;
        for dir in [&self.state, &self.run] {
            fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
        }
        self.make_bridge()?;
        self.configure()?;
        self.containerd().start()?;
        self.dockerd().start()
    }

    /// Stops it and takes away its mounts, its bridge and its sockets; hands
    /// back the names of what ran.
    pub(super) fn stop(&self) -> Result<Vec<String>> {
        let mut stopped = Vec::new();
        for service in [self.dockerd(), self.containerd()] {
            if service.stop()? {
                stopped.push(service.name);
            }
        }
        self.kill_left();
        unmount_below(&self.run)?;
        unmount_below(&self.state)?;
        if self.run.exists() {
            fs::remove_dir_all(&self.run)?;
            if let Some(shared) = self.run.parent() {
                // It stays while the other instance uses it.
                let _ = fs::remove_dir(shared);
            }
        }
        if self.has_bridge() {
            self.ip(&["link", "del", &self.bridge])?;
        }
        Ok(stopped)
    }

    /// Ends what outlives daemons that crashed: steps, and the keepers of
    /// containers, whose command line names the socket.
    fn kill_left(&self) {
        let socket = self.containerd_socket().display().to_string();
        for process in Process::all() {
            if process.is_in_group(&self.group) || process.words().contains(&socket) {
                process.kill();
            }
        }
    }

    fn docker_socket(&self) -> PathBuf {
        self.run.join("docker.sock")
    }

    fn containerd_socket(&self) -> PathBuf {
        self.run.join("containerd.sock")
    }

    fn containerd(&self) -> Service {
        self.service(
            "containerd",
            "usr/bin/containerd",
            self.state.join("containerd.toml"),
            Ready::Listens(self.containerd_socket()),
        )
    }

    fn dockerd(&self) -> Service {
        self.service(
            "dockerd",
            "usr/sbin/dockerd",
            self.state.join("daemon.json"),
            Ready::Http(self.docker_socket(), "/_ping"),
        )
    }

    fn service(&self, what: &str, program: &str, config: PathBuf, ready: Ready) -> Service {
        let flag = if what == "dockerd" {
            "--config-file"
        } else {
            "--config"
        };
        Service {
            name: format!("{}-{what}", self.name()),
            argv: vec![
                self.prefix.program(program).display().to_string(),
                flag.to_owned(),
                config.display().to_string(),
            ],
            path: self.prefix.path(),
            ready,
            base: self.base.clone(),
        }
    }

    fn configure(&self) -> Result<()> {
        // Version 2 is read by containerd 1 and 2; CRI would want a network set-up.
        let containerd = format!(
            "version = 2\nroot = {}\nstate = {}\ndisabled_plugins = [\"io.containerd.grpc.v1.cri\"]\n\
             [grpc]\naddress = {}\n",
            json!(self.state.join("containerd")),
            json!(self.run.join("containerd")),
            json!(self.containerd_socket()),
        );
        fs::write(self.state.join("containerd.toml"), containerd)?;
        let mut dockerd = json!({
            "hosts": [format!("unix://{}", self.docker_socket().display())],
            "containerd": self.containerd_socket(),
            "data-root": self.state.join("docker"),
            "exec-root": self.run.join("exec"),
            "pidfile": self.run.join("dockerd.pid"),
            "exec-opts": ["native.cgroupdriver=cgroupfs"],
            "cgroup-parent": format!("/{}", self.group),
            "bridge": self.bridge,
            // Steps need no way out, and the machine's rules are not ours.
            "iptables": false,
            "ip6tables": false,
            "ip-forward": false,
            "ip-masq": false,
            "userland-proxy": false,
            // A record that is collected would look like a step that had to run.
            "builder": {
                "gc": { "enabled": false },
                // What a caller may then ask for by `--allow`: nothing is given to who does not.
                "entitlements": { "network-host": true, "security-insecure": true, "device": true },
            },
            "cdi-spec-dirs": [self.state.join("cdi")],
            "features": { "containerd-snapshotter": self.store == Store::Containerd },
        });
        dockerd["storage-driver"] = self.storage_driver()?.into();
        self.devices()?;
        fs::write(
            self.state.join("daemon.json"),
            serde_json::to_vec_pretty(&dockerd)?,
        )?;
        Ok(())
    }

    /// Two devices that are none (`/dev/null` by another name, and a variable): `open` is for everybody, `kept` for callers
    /// that ask for it.
    fn devices(&self) -> Result<()> {
        let device = |name: &str| {
            json!({
                "name": name,
                "annotations": { "org.mobyproject.buildkit.device.autoallow": (name == "open").to_string() },
                "containerEdits": {
                    "env": [format!("THING={name}")],
                    "deviceNodes": [{ "path": "/dev/thing", "hostPath": "/dev/null" }],
                },
            })
        };
        let spec = json!({
            "cdiVersion": "0.6.0",
            "kind": "lanekit.test/device",
            "devices": [device("open"), device("kept")],
        });
        let place = self.state.join("cdi");
        fs::create_dir_all(&place)?;
        fs::write(place.join("device.json"), serde_json::to_vec_pretty(&spec)?)?;
        Ok(())
    }

    /// Overlay where the file system below can carry it, else plain copies.
    fn storage_driver(&self) -> Result<&'static str> {
        let overlay = overlay_works(&self.state.join("probe"))?;
        Ok(match (self.store, overlay) {
            (Store::Containerd, true) => "overlayfs",
            (Store::Containerd, false) => "native",
            (Store::GraphDriver, true) => "overlay2",
            (Store::GraphDriver, false) => "vfs",
        })
    }

    fn has_bridge(&self) -> bool {
        Path::new("/sys/class/net").join(&self.bridge).exists()
    }

    /// A bridge of its own: dockerd without one would take, or take away, the
    /// `docker0` of an engine beside it.
    fn make_bridge(&self) -> Result<()> {
        if !self.has_bridge() {
            self.ip(&["link", "add", "name", &self.bridge, "type", "bridge"])?;
        }
        let used = self.ip(&["-4", "addr", "show"])?;
        let subnet = free_subnet(&used).context("no private subnet is free for the bridge")?;
        let address = format!("{}/24", Ipv4Addr::from(u32::from(subnet) + 1));
        self.ip(&["addr", "add", &address, "dev", &self.bridge])?;
        self.ip(&["link", "set", &self.bridge, "up"])?;
        Ok(())
    }

    fn ip(&self, args: &[&str]) -> Result<String> {
        let mut ip = Command::new(self.prefix.program("usr/bin/busybox"));
        Ok(run::output(ip.arg("ip").args(args), NET)?.out)
    }
}

/// Eight characters that stand for a directory in names which must be short.
fn id_of(base: &Path) -> String {
    Sha256::digest(base.as_os_str().as_encoded_bytes())
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The first /24 of 10.213.0.0/16 that no address in `ip addr` lies in.
fn free_subnet(ip_addr: &str) -> Option<Ipv4Addr> {
    let used: Vec<(Ipv4Addr, u32)> = ip_addr
        .lines()
        .filter_map(|line| line.trim().strip_prefix("inet "))
        .filter_map(|rest| rest.split_whitespace().next()?.split_once('/'))
        .filter_map(|(address, bits)| Some((address.parse().ok()?, bits.parse().ok()?)))
        .collect();
    (0..=255)
        .map(|third| Ipv4Addr::new(10, 213, third, 0))
        .find(|subnet| {
            !used
                .iter()
                .any(|(address, bits)| meet(*address, *bits, *subnet))
        })
}

/// Whether the network of an address and a /24 share addresses.
fn meet(address: Ipv4Addr, bits: u32, subnet: Ipv4Addr) -> bool {
    let mask = u32::MAX
        .checked_shl(32 - bits.clamp(1, 24))
        .unwrap_or(u32::MAX);
    u32::from(address) & mask == u32::from(subnet) & mask
}

/// Tries an overlay mount in a folder and takes it away again.
fn overlay_works(dir: &Path) -> Result<bool> {
    for sub in ["lower", "upper", "work", "merged"] {
        fs::create_dir_all(dir.join(sub))?;
    }
    let options = format!(
        "lowerdir={0}/lower,upperdir={0}/upper,workdir={0}/work",
        dir.display()
    );
    let mut mount = Command::new("mount");
    mount
        .args(["-t", "overlay", "overlay", "-o", &options])
        .arg(dir.join("merged"));
    let works = run::output(&mut mount, NET).is_ok();
    unmount_below(dir)?;
    if let Err(error) = fs::remove_dir_all(dir) {
        bail!("cannot remove {}: {error}", dir.display());
    }
    Ok(works)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_subnet_of_the_bridge_meets_no_address_of_the_machine() {
        let none = "    inet 127.0.0.1/8 scope host lo\n    inet 192.0.2.2/24 brd 192.0.2.255\n";
        assert_eq!(free_subnet(none), Some(Ipv4Addr::new(10, 213, 0, 0)));
        let one = "    inet 10.213.0.1/24 scope global lkm\n    inet6 fe80::1/64 scope link\n";
        assert_eq!(free_subnet(one), Some(Ipv4Addr::new(10, 213, 1, 0)));
        let half = "    inet 10.213.5.1/17 scope global x\n";
        assert_eq!(free_subnet(half), Some(Ipv4Addr::new(10, 213, 128, 0)));
        assert_eq!(free_subnet("    inet 10.1.2.3/8 scope global x\n"), None);
        let inside = "    inet 10.213.0.77/32 scope global x\n";
        assert_eq!(free_subnet(inside), Some(Ipv4Addr::new(10, 213, 1, 0)));
    }

    #[test]
    fn sockets_and_bridges_have_short_names_however_deep_the_checkout_lies() {
        let deep = PathBuf::from("/x".repeat(200));
        let prefix: Prefix = serde_json::from_value(json!({"layout": 1, "packages": {}})).unwrap();
        let instance = Instance::new(&deep, &prefix, Store::GraphDriver);
        // dockerd puts a socket of this name below its exec-root.
        let longest = instance.run.join("exec/libnetwork/0123456789ab.sock");
        assert!(longest.as_os_str().len() <= 107);
        assert!(instance.bridge.len() <= 15, "{}", instance.bridge);
    }

    #[test]
    fn two_directories_share_nothing() {
        assert_ne!(
            id_of(Path::new("/a/.engine")),
            id_of(Path::new("/b/.engine"))
        );
    }
}
