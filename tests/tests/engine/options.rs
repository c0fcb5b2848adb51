//! Every option of `docker buildx build`, each run. The table in `docs/lanefile.md` is this one: a test of the
//! documents compares them.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::net::UnixListener;

use engine_tests::{Example, Said, Setup, buildx, docker, nonce, skipped};

/// One option: whether lanekit supports it, and what shows that.
struct Row {
    option: &'static str,
    run: fn(&Lab),
}

const fn row(option: &'static str, _supported: &'static str, run: fn(&Lab)) -> Row {
    Row { option, run }
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    row("--add-host", "yes", |lab| {
        lab.build(&["--add-host", "box:10.1.2.3"]).pass("10.1.2.3");
    }),
    row("--allow", "yes", |lab| {
        lab.build(&["--allow", "network.host", "--network", "host"]).pass("step ran");
    }),
    row("--annotation", "yes", |lab| {
        assert!(lab.oci(&["--annotation", "org.x=annotated"]).contains("annotated"));
    }),
    row("--attest", "yes", |lab| {
        assert!(lab.oci(&["--attest", "type=provenance,mode=max"]).contains("slsa.dev/provenance"));
    }),
    row("--build-arg", "yes", |lab| {
        lab.build(&["--build-arg", "WORD=given"]).pass("word=given");
        lab.build(&["--build-arg", "WROD=given"]).fail("the nearest is `WORD`");
    }),
    row("--build-context", "yes", |lab| {
        lab.build(&["--build-context", "unused=docker-image://scratch"]).pass("nothing of this lane is taken from it");
    }),
    row("--builder", "yes", |lab| {
        lab.build(&["--builder", "default"]).pass("step ran");
    }),
    row("--cache-from", "yes", |lab| {
        let cache = lab.file("cache");
        let to = format!("type=local,dest={cache},mode=max");
        lab.build(&["--cache-to", &to]).pass("step ran");
        lab.build(&["--cache-from", &format!("type=local,src={cache}")]).pass("importing cache manifest");
    }),
    row("--cache-to", "yes", |lab| {
        let cache = lab.file("cache-to");
        lab.build(&["--cache-to", &format!("type=local,dest={cache}")]).pass("step ran");
        assert!(fs::exists(format!("{cache}/index.json")).expect("a directory"));
    }),
    row("--call", "yes", |lab| {
        lab.build(&["--call=targets"]).pass("l (default) ");
        lab.build(&["--call=targets,format=json"]).pass("\"name\": \"l\"");
        lab.build(&["--call=outline"]).pass("what the step says");
        lab.build(&["--call=subrequests.describe"]).pass("outline ");
        lab.build(&["--call=nothing"]).fail("unsupported request frontend.nothing");
    }),
    row("--cgroup-parent", "yes", |lab| {
        lab.build(&["--cgroup-parent", "lanekit-options"]).pass("step ran");
    }),
    row("--check", "yes", |lab| {
        lab.build(&["--check"]).pass("Check complete, no warnings found.");
        lab.build(&["--check", "--target", "nope"]).fail("there is no lane `nope`");
        let wrong = Example::of(&LANES.replace("output.tree = { stage = \"app\"", "output.tree = { stage = \"ap\""));
        let said = lab.of(&wrong, &["--check"]).fail("error[LK005]");
        said.says("lanes.toml:15");
    }),
    row("--debug", "yes", |lab| {
        lab.build(&["--debug"]).pass("step ran");
    }),
    row("--file", "yes", |lab| {
        lab.example.write("other.toml", lab.example.read("lanes.toml").replace("\"step\"", "\"other\""));
        lab.build(&["--file", &lab.file("other.toml")]).pass("other ran");
    }),
    row("--iidfile", "yes", |lab| {
        let file = lab.file("iid");
        lab.loaded(&["--iidfile", &file], |name| assert_eq!(fs::read_to_string(&file).expect("an id"), inspect(name, "{{.Id}}")));
    }),
    row("--label", "yes", |lab| {
        lab.loaded(&["--label", "org.x=labelled"], |name| assert_eq!(inspect(name, "{{index .Config.Labels \"org.x\"}}"), "labelled"));
    }),
    row("--load", "yes", |lab| {
        lab.loaded(&["--load"], |name| assert!(inspect(name, "{{.Id}}").starts_with("sha256:")));
    }),
    row("--metadata-file", "yes", |lab| {
        let file = lab.file("metadata");
        lab.build(&["--metadata-file", &file]).pass("step ran");
        assert!(fs::read_to_string(file).expect("metadata").contains("frontend.lanekit.publishable"));
    }),
    row("--network", "yes", |lab| {
        lab.build(&["--network", "none"]).pass("interfaces=1 ");
    }),
    row("--no-cache", "yes", |lab| {
        let word = ["--build-arg", "WORD=again"];
        lab.build(&word).pass("step ran");
        assert!(!lab.build(&word).pass("CACHED").err.contains("step ran"));
        lab.build(&["--no-cache", word[0], word[1]]).pass("step ran");
    }),
    row("--no-cache-filter", "yes", |lab| {
        let word = ["--build-arg", "WORD=filtered"];
        lab.build(&word).pass("step ran");
        lab.build(&["--no-cache-filter", "app", word[0], word[1]]).pass("step ran");
        lab.build(&["--no-cache-filter", "ap", word[0], word[1]]).fail("did you mean `app`");
    }),
    row("--output", "yes", |lab| {
        let tree = lab.file("tree");
        lab.build(&["--target", "l/tree", "--output", &format!("type=local,dest={tree}")]).pass("step ran");
        assert_eq!(fs::read_to_string(format!("{tree}/made")).expect("a file"), "input\n");
    }),
    row("--platform", "partly", |lab| {
        lab.build(&["--platform", "linux/amd64"]).pass("step ran");
        lab.build(&["--platform", "linux/s390x"]).fail("lane `l` runs on linux/amd64, not on linux/s390x");
    }),
    row("--progress", "yes", |lab| {
        lab.build(&["--progress", "rawjson"]).pass("\"vertexes\"");
    }),
    row("--provenance", "yes", |lab| {
        assert!(!lab.oci(&["--provenance", "false"]).contains("slsa.dev/provenance"));
    }),
    row("--pull", "yes", |lab| {
        let Some(registry) = lab.setup.registry("--pull") else {
            return;
        };
        let image = lab.setup.busybox.rsplit('/').next().expect("a name");
        let context = format!("busybox:1.36=docker-image://{registry}/lanekit/{image}");
        lab.bare(&["--pull", "--build-context", &context]).pass("step ran");
    }),
    row("--push", "yes", |lab| {
        let Some(registry) = lab.setup.registry("--push") else {
            return;
        };
        let name = format!("{registry}/options:{}", nonce());
        lab.build(&["--push", "--tag", &name]).pass("pushing manifest");
    }),
    row("--quiet", "yes", |lab| {
        let word = format!("WORD={}", nonce());
        let said = lab.bare(&["--quiet", "--build-arg", &word, "--build-context", &lab.base(), "--output", "type=docker"]);
        let id = said.pass("sha256:").out;
        docker(&lab.setup.engine, &["image", "rm", id.trim()]);
    }),
    row("--sbom", "yes", |lab| {
        // The scanner's image comes from a registry that tests do not reach.
        lab.build(&["--sbom", "false"]).pass("step ran");
    }),
    row("--secret", "yes", |lab| {
        lab.secret(&["--secret", "id=TOKEN,env=LANEKIT_TOKEN"]).pass("token=7 letters");
        // The value is in no key: the same step again would be found.
        lab.build(&["--no-cache"]).pass("token=0 letters");
    }),
    row("--shm-size", "yes", |lab| {
        lab.build(&["--shm-size", "3m"]).pass("shm=3072 ");
    }),
    row("--ssh", "yes", |lab| {
        let socket = lab.file("agent");
        let _agent = UnixListener::bind(&socket).expect("a socket");
        lab.example.edit("lanes.toml", "echo \"step\"", "echo \"agent=$SSH_AUTH_SOCK\"; echo \"step\"");
        lab.example.edit("lanes.toml", "host  = [\"TOKEN\"]", "host  = [\"TOKEN\"]\nssh = true");
        lab.build(&["--ssh", &format!("default={socket}")]).pass("agent=/");
    }),
    row("--tag", "yes", |lab| {
        lab.loaded(&[], |name| assert!(inspect(name, "{{.RepoTags}}").contains(name)));
    }),
    row("--target", "yes", |lab| {
        lab.build(&["--target", "l/app"]).pass("step ran");
        lab.build(&["--target", "m"]).fail("did you mean `l`");
    }),
    row("--ulimit", "yes", |lab| {
        lab.build(&["--ulimit", "nofile=77:88"]).pass("files=77 ");
    }),
];

const LANES: &str = r#"# syntax=docker.io/lanekit/frontend:0.1
[graph]
name = "options"
default = "l"

[arg.WORD]
default = "none"
about   = "what the step says"

[host.TOKEN]
about = "a secret"

[lane.l]
platform     = "linux/amd64"
output.tree = { stage = "app", root = "/out" }
output.image = { stage = "app" }

[stage.app]
from = { image = "busybox:1.36" }

[[stage.app.step]]
name  = "say"
args  = ["WORD"]
host  = ["TOKEN"]
files = ["input.txt"]
script = '''
mkdir -p /out && cat input.txt > /out/made
echo "word=$WORD token=$(printf %s "${TOKEN-}" | wc -c) letters"
echo "files=$(ulimit -n) shm=$(df -k /dev/shm | awk 'END { print $2 }') end"
echo "interfaces=$(grep -c : /proc/net/dev) end"
cat /etc/hosts
echo "step" "ran"
'''
"#;

/// A lane file whose step says what it sees.
struct Lab {
    setup: &'static Setup,
    example: Example,
    /// No two rows run the same step, unless they want to.
    word: String,
}

impl Lab {
    fn new() -> Self {
        let word = nonce();
        let example = Example::of(&LANES.replace(
            "name  = \"say\"",
            &format!("name  = \"say\"\nenv = {{ ROW = \"{word}\" }}"),
        ));
        example.write("input.txt", "input\n");
        Self {
            setup: Setup::get(),
            example,
            word,
        }
    }

    fn file(&self, name: &str) -> String {
        self.example.file(name).to_string_lossy().into_owned()
    }

    /// The base image, as a named context.
    fn base(&self) -> String {
        format!("busybox:1.36=docker-image://{}", self.setup.busybox)
    }

    fn build(&self, args: &[&str]) -> Said {
        self.of(&self.example, args)
    }

    fn of(&self, example: &Example, args: &[&str]) -> Said {
        let base = self.base();
        let directory = example.path().to_string_lossy().into_owned();
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
        buildx(&self.setup.engine, &all, &[], b"")
    }

    /// Without the base image and without an output.
    fn bare(&self, args: &[&str]) -> Said {
        let directory = self.file("");
        let file = self.file("lanes.toml");
        let mut all = vec!["--file", &file];
        all.extend(args);
        all.push(&directory);
        buildx(&self.setup.engine, &all, &[], b"")
    }

    fn secret(&self, args: &[&str]) -> Said {
        let base = self.base();
        let (directory, file) = (self.file(""), self.file("lanes.toml"));
        let mut all = vec![
            "--build-context",
            &base,
            "--file",
            &file,
            "--output",
            "type=cacheonly",
        ];
        all.extend(args);
        all.push(&directory);
        buildx(
            &self.setup.engine,
            &all,
            &[("LANEKIT_TOKEN", "letters")],
            b"",
        )
    }

    /// The bytes of the image as an archive, as text.
    fn oci(&self, args: &[&str]) -> String {
        let archive = self.file("image.tar");
        let output = format!("type=oci,dest={archive}");
        self.build(&[&["--output", &output], args].concat())
            .pass("step ran");
        String::from_utf8_lossy(&fs::read(archive).expect("an archive")).into_owned()
    }

    /// Loads the image under a name of its own, looks at it, and takes it away.
    fn loaded(&self, args: &[&str], look: impl Fn(&str)) {
        let name = format!("options:{}", self.word);
        let load: &[&str] = if args.contains(&"--load") {
            &[]
        } else {
            &["--load"]
        };
        self.build(&[args, load, &["--tag", &name]].concat())
            .pass("step ran");
        look(&name);
        docker(&self.setup.engine, &["image", "rm", &name]);
    }
}

fn inspect(name: &str, format: &str) -> String {
    let engine = &Setup::get().engine;
    let text = docker(engine, &["image", "inspect", "--format", format, name]);
    text.trim().to_owned()
}

#[test]
fn every_option_does_what_the_table_says() {
    let mut failed = Vec::new();
    for Row { option, run } in ROWS {
        let lab = Lab::new();
        let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(&lab)));
        if ran.is_err() {
            failed.push(*option);
        }
    }
    assert!(failed.is_empty(), "see above: {failed:?}");
}

#[test]
fn the_table_has_every_option_of_the_client() {
    let help = docker(&Setup::get().engine, &["buildx", "build", "--help"]);
    let option = |line: &str| {
        let (_, rest) = line.split_once("--")?;
        let name = rest.split(' ').next()?;
        line.trim_start()
            .starts_with('-')
            .then(|| format!("--{name}"))
    };
    let known: BTreeSet<String> = ROWS.iter().map(|row| row.option.to_owned()).collect();
    let has: BTreeSet<String> = help.lines().filter_map(option).collect();
    assert!(has.len() > 20, "{help}");
    if !Setup::get().is_private() {
        skipped::<()>(
            "options of a client of another version",
            "this client is not ours",
        );
        return;
    }
    assert_eq!(known, has);
}
