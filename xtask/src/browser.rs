//! Chromium for the tests of pages: the machine's, or Debian's, unpacked and never installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use crate::repo::whole;
use crate::{engine, repo, run};

/// Names under which a machine may have it.
const NAMES: [&str; 2] = ["chromium-headless-shell", "chromium"];
/// The part of Chromium that draws without a screen, and a font, since it brings none.
const PACKAGES: [&str; 2] = ["chromium-headless-shell", "fonts-dejavu-core"];
/// Where its package has the program.
const PROGRAM: &str = "usr/lib/chromium/chromium-headless-shell";
/// Packages of its closure that it does not need to draw a page, by how their names begin: drivers of graphics cards,
/// programs of a desktop, and the C library, which the machine has and whose loader is the machine's.
const NOT_NEEDED: [&str; 8] = [
    "libc6",
    "libdrm-",
    "libgl1",
    "libglx",
    "libllvm",
    "libz3",
    "x11-",
    "xdg-utils",
];
const PROBE: Duration = Duration::from_secs(30);

/// A browser that runs here.
pub(crate) struct Browser {
    /// The program.
    pub(crate) program: PathBuf,
    /// What it needs in its environment.
    pub(crate) env: Vec<(&'static str, String)>,
}

/// The machine's browser; where it has none, Debian's of the machine's own suite.
///
/// # Errors
/// When apt cannot deliver, or what it delivered does not run.
pub(crate) fn ensure() -> Result<Browser> {
    if let Some(program) = NAMES.iter().find_map(|name| run::which(name)) {
        return probed(Browser {
            program,
            env: Vec::new(),
        });
    }
    let tree = std::path::absolute(repo::root().join("target/browser"))?;
    whole(&tree, unpack).context("Debian's Chromium")?;
    let fonts = tree.join("fonts.conf");
    fs::write(&fonts, fonts_conf(&tree))?;
    probed(Browser {
        program: tree.join(PROGRAM),
        env: vec![
            ("LD_LIBRARY_PATH", library_path(&tree)?),
            ("FONTCONFIG_FILE", fonts.display().to_string()),
        ],
    })
}

fn unpack(to: &Path) -> Result<()> {
    let suite = engine::suite(&[])?;
    let names = suite.closure(&PACKAGES)?;
    let names: Vec<&str> = names
        .iter()
        .map(String::as_str)
        .filter(|name| !NOT_NEEDED.iter().any(|start| name.starts_with(start)))
        .collect();
    let debs = to.with_extension("debs");
    let files = suite.download(&names, &debs)?;
    engine::unpack(&files, to)?;
    Ok(fs::remove_dir_all(debs)?)
}

/// The folders of the tree's libraries, and theirs: some packages keep private libraries there.
fn library_path(tree: &Path) -> Result<String> {
    let arch = std::env::consts::ARCH;
    let mut folders = Vec::new();
    for dir in ["usr/lib", "lib"] {
        let dir = tree.join(dir).join(format!("{arch}-linux-gnu"));
        if dir.is_dir() {
            let inner = fs::read_dir(&dir)?.flatten().map(|entry| entry.path());
            let inner = inner.filter(|path| path.is_dir());
            folders.extend(std::iter::once(dir.clone()).chain(inner));
        }
    }
    folders.sort();
    let folders: Vec<String> = folders
        .iter()
        .map(|dir| dir.display().to_string())
        .collect();
    Ok(folders.join(":"))
}

/// The fonts of the tree alone.
fn fonts_conf(tree: &Path) -> String {
    let tree = tree.display();
    format!(
        "<?xml version=\"1.0\"?>\n<!DOCTYPE fontconfig SYSTEM \"fonts.dtd\">\n<fontconfig>\n\
         <dir>{tree}/usr/share/fonts</dir>\n<cachedir>{tree}/cache</cachedir>\n</fontconfig>\n"
    )
}

/// Makes sure that it starts.
fn probed(browser: Browser) -> Result<Browser> {
    let mut probe = Command::new(&browser.program);
    probe.arg("--version").envs(browser.env.iter().cloned());
    let said = run::output(&mut probe, PROBE)?;
    ensure!(
        said.out.contains("Chrom"),
        "{} is no Chromium: {}",
        browser.program.display(),
        said.out
    );
    run::note(&format!(
        "{} is {}",
        browser.program.display(),
        said.out.trim()
    ));
    Ok(browser)
}
