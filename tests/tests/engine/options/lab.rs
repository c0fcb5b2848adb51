//! A lane file whose steps say what they see, on one engine.

use std::fs;
use std::path::Path;

use engine_tests::{Engine, Example, Said, Setup, buildx, docker, nonce};

const LANES: &str = include_str!("lanes.toml");

/// The lane file in a directory of its own. No two labs run the same steps.
pub(super) struct Lab {
    pub(super) engine: &'static Engine,
    pub(super) example: Example,
    /// Said by every step, and in the names of what is made here.
    pub(super) word: String,
}

impl Lab {
    pub(super) fn new(engine: &'static Engine) -> Self {
        let word = nonce();
        let example = Example::of(&LANES.replace("ROW = \"\"", &format!("ROW = \"{word}\"")));
        example.write("input.txt", "input\n");
        Self {
            engine,
            example,
            word,
        }
    }

    /// Whether images lie in containerd's store, not in a graph driver: then an image may be an index and have
    /// attestations, and the engine exports layouts and caches.
    pub(super) fn keeps_indexes(&self) -> bool {
        self.engine.merge
    }

    /// The registry, where the engines are ours.
    pub(super) fn registry(&self, shows: &str) -> Option<&'static str> {
        Setup::get().registry(shows)
    }

    /// The path of a file in the directory.
    pub(super) fn file(&self, name: &str) -> String {
        self.example.file(name).to_string_lossy().into_owned()
    }

    /// The base image, as a named context.
    pub(super) fn base(&self) -> String {
        format!("busybox:1.36=docker-image://{}", Setup::get().busybox)
    }

    /// A build of the lane file, whose result goes nowhere unless `args` say where.
    pub(super) fn build(&self, args: &[&str]) -> Said {
        self.with(args, &[])
    }

    /// The same with variables of the caller.
    pub(super) fn with(&self, args: &[&str], env: &[(&str, &str)]) -> Said {
        self.of(self.example.path(), args, env)
    }

    /// The same of another directory.
    pub(super) fn of(&self, directory: &Path, args: &[&str], env: &[(&str, &str)]) -> Said {
        let base = self.base();
        let directory = directory.to_string_lossy().into_owned();
        let file = format!("{directory}/lanes.toml");
        let mut all = vec!["--build-context", &base];
        if !args.contains(&"--file") {
            all.extend(["--file", &file]);
        }
        let goes = ["--output", "--push", "--load", "--tag"];
        if !args.iter().any(|arg| goes.contains(arg)) {
            all.extend(["--output", "type=cacheonly"]);
        }
        all.extend(args);
        all.push(&directory);
        buildx(self.engine, &all, env, b"")
    }

    /// `docker buildx build ARGS DIRECTORY` and nothing else.
    pub(super) fn bare(&self, args: &[&str]) -> Said {
        let directory = self.file("");
        buildx(self.engine, &[args, &[&directory]].concat(), &[], b"")
    }

    /// The directory of an OCI layout of the image.
    pub(super) fn layout(&self, args: &[&str]) -> std::path::PathBuf {
        let place = self.example.file("layout");
        let _ = fs::remove_dir_all(&place);
        let output = format!("type=oci,tar=false,dest={}", place.display());
        self.build(&[&["--output", &output], args].concat())
            .pass("exporting");
        place
    }

    /// Loads the image under a name of its own, looks at it, and takes it away.
    pub(super) fn loaded(&self, args: &[&str], look: impl Fn(&str)) {
        let name = format!("options:{}", self.word);
        let load: &[&str] = if args.contains(&"--load") {
            &[]
        } else {
            &["--load"]
        };
        self.build(&[args, load, &["--tag", &name]].concat())
            .pass("naming to");
        look(&name);
        docker(self.engine, &["image", "rm", &name]);
    }

    pub(super) fn inspect(&self, name: &str, format: &str) -> String {
        let text = docker(self.engine, &["image", "inspect", "--format", format, name]);
        text.trim().to_owned()
    }

    /// Whether the client has an option; of one that it has not, that it says so.
    pub(super) fn client_has(&self, option: &str, value: &str) -> bool {
        let help = docker(self.engine, &["buildx", "build", "--help"]);
        if help.contains(&format!(" {option} ")) {
            return true;
        }
        let said = self.build(&[option, value]);
        assert_ne!(said.code, Some(0), "{said}");
        said.says(&format!("unknown flag: {option}"));
        false
    }
}
