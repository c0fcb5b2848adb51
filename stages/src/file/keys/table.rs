//! The tables and keys themselves. Long lines are meant: one key, one line.

use super::Form::{Any, Anything, Bool, Date, List, Names, Table as One, Text, Values, Whole, Word};
use super::{Form, Key, Named, Table};

const fn key(
    name: &'static str,
    form: Form,
    default: Option<&'static str>,
    about: &'static str,
) -> Key {
    Key {
        name,
        form,
        default,
        about,
    }
}

/// There is no default: the key must be there.
const NEEDED: Option<&str> = None;
/// Without it there is nothing.
const NONE: Option<&str> = Some("none");
/// Nothing is to be said of what counts without it.
const OPEN: Option<&str> = Some("");

const TEXTS: Form = List(&Text);
const VALUES: Form = List(&Values);
const WHEN_KEY: Key = key(
    "when",
    One(&WHEN),
    Some("always"),
    "the lanes in which it counts",
);

static ALLOWED: Form = One(&LINT);
const LINT_KEY: Key = key(
    "lint",
    List(&ALLOWED),
    NONE,
    "lints that are allowed here, each with a reason",
);

/// The whole file.
pub(super) static FILE: Table = Table {
    name: "file",
    title: "a lane file",
    about: "Everything that one graph declares.",
    keys: &[&[
        key("graph", One(&GRAPH), NEEDED, "what holds for the whole graph"),
        key("pin", Names(Named::Variable, &One(&PIN)), NONE, "pins that are made of others"),
        key("arg", Names(Named::Variable, &One(&ARG)), NONE, "what a caller may set"),
        key("host", Names(Named::Variable, &One(&HOST)), NONE, "settings of the build machine, never keyed"),
        key("switch", Names(Named::Word, &One(&SWITCH)), NONE, "booleans that turn stages, steps and entries on or off"),
        key("kit", Names(Named::Word, &One(&KIT)), NONE, "bundles that steps name"),
        key("refuse", List(&One(&REFUSE)), NONE, "combinations that cannot be built"),
        key("git", Names(Named::Word, &One(&GIT)), NONE, "repositories, each at a ref"),
        key("fetch", Names(Named::Word, &One(&FETCH)), NONE, "files that are downloaded, by their hashes"),
        key("payload", Names(Named::Word, &One(&PAYLOAD)), NONE, "files that licences keep out of the repository"),
        key("slot", Names(Named::Word, &Names(Named::Word, &One(&CHOICE))), NONE, "places in the chain that each lane fills"),
        key("lane", Names(Named::Word, &One(&LANE)), NEEDED, "what is built, for whom"),
        key("group", Names(Named::Word, &One(&GROUP)), NONE, "lanes that make one result of several platforms"),
        key("stage", Names(Named::Word, &One(&STAGE)), NONE, "pieces of work with one product"),
        key("gate", Names(Named::Word, &One(&GATE)), NONE, "checks over products"),
        key("pin-rule", Names(Named::Word, &One(&PIN_RULE)), NONE, "what must hold between pins"),
    ]],
};

static GRAPH: Table = Table {
    name: "graph",
    title: "[graph]",
    about: "What holds for the whole graph.",
    keys: &[&[
        LINT_KEY,
        key("name", Text, NEEDED, "name of the graph, for people"),
        key("versions", Text, Some("no pins"), "the pins file, in or below the lane file's directory"),
        key("pins", TEXTS, Some("all"), "which of its pins are ours: patterns, `!` takes out, the last that matches decides"),
        key("include", TEXTS, NONE, "further files of tables, in or below the lane file's directory; path parts may have `*` and `?`"),
        key("default", Text, OPEN, "the lane that is built without `--target`; a graph with one lane needs none"),
        key("layer-budget", Whole, Some("125"), "the most layers that an output may have above its base image"),
    ]],
};

static PIN: Table = Table {
    name: "pin",
    title: "[pin.NAME]",
    about: "A pin that is made of another one.",
    keys: &[&[LINT_KEY, key("from", Text, NEEDED, "a pin of the pins file, with filters behind a bar: `CUDA_VERSION|parts:2`")]],
};

static ARG: Table = Table {
    name: "arg",
    title: "[arg.NAME]",
    about: "What a caller may set with `--build-arg NAME=VALUE`.",
    keys: &[&[
        LINT_KEY,
        key("about", Text, NEEDED, "one line, shown where somebody names an unknown argument"),
        key("default", Text, Some("absent"), "the value when the caller says nothing"),
        key("type", Word(&["text", "bool", "int"]), Some("`text`"), "what a value must be"),
        key("choices", TEXTS, OPEN, "the values that there are, in place of `type`"),
        key("stamp", Bool, Some("`false`"), "it says something of the run: only image configs and tags may name it"),
    ]],
};

static HOST: Table = Table {
    name: "host",
    title: "[host.NAME]",
    about: "A setting of the build machine, passed as a secret; in no key, config or history.",
    keys: &[&[
        LINT_KEY,
        key("about", Text, NEEDED, "one line"),
        key("need", Word(&["optional", "required", "waivable"]), Some("`optional`"), "what happens when it is not passed: the step does not see it, or fails; with `waivable` it fails unless the caller does without in one run"),
        key("default", Text, OPEN, "what steps see when it is not passed; with `optional` alone"),
    ]],
};

static GIT: Table = Table {
    name: "git",
    title: "[git.NAME]",
    about: "A repository at a ref; its commit is the value `git.NAME.commit`.",
    keys: &[&[
        LINT_KEY,
        key("url", Values, NEEDED, "where it is"),
        key("ref", Values, Some("the remote's HEAD"), "a branch, a tag, a commit"),
        key("subdir", Values, Some("all"), "only this directory of it"),
        key("submodules", Bool, Some("`true`"), "whether its submodules are checked out too"),
        key("git-dir", Bool, Some("`false`"), "whether it has its `.git`"),
    ]],
};

static FETCH: Table = Table {
    name: "fetch",
    title: "[fetch.NAME]",
    about: "A file that the engine downloads; it must have the hash.",
    keys: &[&[
        LINT_KEY,
        key("url", Values, NEEDED, "where it is: `https://…` or `http://…`"),
        key("sha256", Text, NEEDED, "its hash: the pin that has it, or 64 hexadecimal digits"),
        key("filename", Text, Some("the last part of the URL"), "what the file is called"),
    ]],
};

static PAYLOAD: Table = Table {
    name: "payload",
    title: "[payload.NAME]",
    about: "A file that licences keep out of the repository: where it is absent, what takes it is off.",
    keys: &[&[
        LINT_KEY,
        key("path", Text, NEEDED, "where it is in the context; its last part may have `*` and `?`, and the last one by version counts"),
        key("context", Text, Some("the build's context"), "the named context that has it"),
        key("sha256", Text, Some("with `empty-ok`, none"), "its hash: the pin that has it, or 64 hexadecimal digits"),
        key("empty-ok", Text, Some("the hash is needed"), "why nobody may know its hash: then what is measured is told"),
        key("about", Text, OPEN, "one line"),
        key("tag-part", One(&PAYLOAD_TAG_PART), OPEN, "what it adds to the tags of what it changes"),
    ]],
};

static PAYLOAD_TAG_PART: Table = Table {
    name: "payload-tag-part",
    title: "tag-part of a payload",
    about: "What a payload adds to a tag where it is there, and where not; one of the two may add nothing.",
    keys: &[&[
        key("present", Text, Some("nothing"), "what is added when it is there"),
        key("absent", Text, Some("nothing"), "what is added when it is not"),
    ]],
};

static SWITCH: Table = Table {
    name: "switch",
    title: "[switch.NAME]",
    about: "A boolean that the caller may set.",
    keys: &[&[
        LINT_KEY,
        key("default", Bool, NEEDED, "what it is when the caller says nothing"),
        key("about", Text, NEEDED, "one line"),
        key("tag-part", One(&TAG_PART), OPEN, "what the value adds to the tags of what it changes"),
    ]],
};

static TAG_PART: Table = Table {
    name: "tag-part",
    title: "tag-part of a switch",
    about: "What each value of a switch adds to a tag; one of the two may add nothing.",
    keys: &[&[
        key("true", Text, Some("nothing"), "what is added when it is on"),
        key("false", Text, Some("nothing"), "what is added when it is off"),
    ]],
};

static KIT: Table = Table {
    name: "kit",
    title: "[kit.NAME]",
    about: "A bundle that steps name in `kits`.",
    keys: &[&[LINT_KEY, WHEN_KEY], &BRINGS],
};

static REFUSE: Table = Table {
    name: "refuse",
    title: "[[refuse]]",
    about: "A combination that cannot be built; asking for it is an error.",
    keys: &[&[
        LINT_KEY,
        key("when", One(&WHEN), NEEDED, "the combination"),
        key("why", Text, NEEDED, "why"),
    ]],
};

/// A condition: all of its parts must hold.
static WHEN: Table = Table {
    name: "when",
    title: "when",
    about: "A condition; all of its parts must hold.",
    keys: &[&[
        key("lane", One(&WHEN_LANE), OPEN, "attributes of the lane: `lane.target = \"arm64\"`"),
        key("slot", Names(Named::Word, &ONE_OF), OPEN, "choices of the lane: `slot.sdk = [\"plain\", \"rocm\"]`"),
        key("switch", Names(Named::Word, &Bool), OPEN, "switches: `switch.spikes = true`"),
        key("payload", Names(Named::Word, &PRESENCE), OPEN, "whether a payload is there: `payload.tensorrt = \"present\"`, or `absent`"),
        key("request", One(&WHEN_REQUEST), OPEN, "what the caller named; in `[[refuse]]` alone"),
        key("not", One(&WHEN), OPEN, "what must not hold"),
        key("any", List(&One(&WHEN)), OPEN, "conditions of which one must hold"),
    ]],
};

/// A value, or a list of which one will do.
const ONE_OF: Form = Any(&[Text, TEXTS]);

const PRESENCE: Form = Any(&[Word(&["present", "absent"]), TEXTS]);

static WHEN_LANE: Table = Table {
    name: "when-lane",
    title: "lane of a condition",
    about: "What a lane must be; a list means any of them.",
    keys: &[&[
        key("name", ONE_OF, OPEN, "its name"),
        key("target", ONE_OF, OPEN, "the architecture that is built for"),
        key("target-os", ONE_OF, OPEN, "the system that is built for"),
        key("platform", ONE_OF, OPEN, "what the steps run on"),
        key("set", Names(Named::Variable, &ONE_OF), OPEN, "its constants"),
    ]],
};

static WHEN_REQUEST: Table = Table {
    name: "when-request",
    title: "request of a condition",
    about: "What the caller named; a list means any of them.",
    keys: &[&[
        key("stage", ONE_OF, OPEN, "the stage of `--target LANE/STAGE`"),
        key("output", ONE_OF, OPEN, "the output that is built"),
    ]],
};

static CHOICE: Table = Table {
    name: "choice",
    title: "[slot.NAME], each of its choices",
    about: "What stands in the slot: one of the two keys.",
    keys: &[&[
        key("stage", Text, OPEN, "a stage that stands in the slot"),
        key("same-as", Text, OPEN, "nothing stands there: what is behind starts from this stage"),
        key("when", One(&WHEN), Some("by the lane's choice"), "it stands there when this holds, whatever the lane says"),
    ]],
};

static LANE: Table = Table {
    name: "lane",
    title: "[lane.NAME]",
    about: "One thing that is built for someone.",
    keys: &[&[
        LINT_KEY,
        key("platform", Text, NEEDED, "what the steps run on: `OS/ARCH` or `OS/ARCH/VARIANT`"),
        key("target", Text, Some("the platform"), "what is built for: `OS/ARCH`, or an `ARCH` of the platform's system"),
        key("slot", Names(Named::Word, &Text), NONE, "the choice for each slot of the graph"),
        key("set", Names(Named::Variable, &Text), NONE, "constants: `lane.set.NAME`"),
        key("output", Names(Named::Word, &One(&OUTPUT)), NEEDED, "what comes out, at least one"),
    ]],
};

static GROUP: Table = Table {
    name: "group",
    title: "[group.NAME]",
    about: "Lanes that make one result, one platform from each.",
    keys: &[&[
        LINT_KEY,
        key("lanes", TEXTS, NEEDED, "the lanes, each of a platform of its own"),
        key("output", Text, Some("`image`, or the lane's only one"), "the output of each lane"),
        key("tag", Values, OPEN, "the tag of the whole result"),
    ]],
};

static OUTPUT: Table = Table {
    name: "output",
    title: "[lane.NAME.output.NAME]",
    about: "One thing that comes out of a lane.",
    keys: &[&[
        LINT_KEY,
        WHEN_KEY,
        key("stage", Text, NEEDED, "whose product it is"),
        key("root", Values, OPEN, "a directory of the product that becomes the root: a bundle, without image config"),
        key("add", List(&Any(&[Text, One(&FILES)])), NONE, "files of the context beside a bundle"),
        key("tag", Values, OPEN, "the tag that the lane suggests"),
        key("attest", Bool, Some("`false`"), "of an image: whether the verdicts of its gates go with it as attestations"),
    ]],
};

static STAGE: Table = Table {
    name: "stage",
    title: "[stage.NAME]",
    about: "A named piece of work with one product.",
    keys: &[&[
        LINT_KEY,
        WHEN_KEY,
        key("from", Any(&[Text, TEXTS, One(&FROM)]), OPEN, "what it starts with: a stage, the first of a list that the lane has, `scratch`, an image, a slot"),
        key("merge", List(&Any(&[Text, One(&MERGE)])), OPEN, "trees, put together; in place of `from`"),
        key("conflict", List(&One(&CONFLICT)), NONE, "what counts where merged trees differ"),
        key("add", List(&Any(&[Text, One(&ADD)])), NONE, "trees, put onto the root before the steps"),
        key("tree", List(&Any(&[Values, One(&TREE)])), Some("the whole root"), "the paths that are the product"),
        key("same-for", TEXTS, NONE, "attributes of the lane on which it may not depend: `lane.target`"),
        key("env", Names(Named::Variable, &Any(&[Values, One(&EDIT)])), NONE, "chain env: seen here, by stages that start from this one, and in the image config"),
        key("step", List(&One(&STEP)), NONE, "the steps, in order"),
        key("image", One(&IMAGE), NONE, "config of the image"),
    ]],
};

static FROM: Table = Table {
    name: "from",
    title: "from of a stage",
    about: "What a stage starts with; one of the keys.",
    keys: &[&[
        key("image", Values, OPEN, "an image"),
        key("pull", Word(&["always", "missing"]), Some("the engine's"), "where the image is looked for: in its registry, or in the engine's own store first"),
        key("slot", Text, OPEN, "what the lane has in this slot"),
    ]],
};

static MERGE: Table = Table {
    name: "merge",
    title: "an entry of merge",
    about: "A tree that is put together with others.",
    keys: &[&[
        key("stage", Text, NEEDED, "whose product"),
        key("from", Values, Some("its tree"), "the part of its product that is meant"),
        key("to", Values, Some("its own path"), "where that part goes; needs `from`"),
        WHEN_KEY,
        key("else", Word(&["absent-marker"]), OPEN, "a file stands in its place in lanes without it"),
        key("why", Text, OPEN, "what that file says; with `else`"),
    ]],
};

static CONFLICT: Table = Table {
    name: "conflict",
    title: "an entry of conflict",
    about: "What counts where merged trees differ.",
    keys: &[&[
        key("path", Values, NEEDED, "a pattern below `/`, with `*`, `?` and `**`"),
        key("take", Text, NEEDED, "`any`, or the stage whose file counts"),
        key("why", Text, NEEDED, "why"),
        WHEN_KEY,
    ]],
};

static ADD: Table = Table {
    name: "add",
    title: "an entry of add",
    about: "A tree that is put onto a root.",
    keys: &[&[key("stage", Text, NEEDED, "whose tree"), WHEN_KEY]],
};

static TREE: Table = Table {
    name: "tree",
    title: "an entry of tree",
    about: "What of a directory is the product.",
    keys: &[&[
        key("at", Values, NEEDED, "the directory"),
        key("only", VALUES, Some("all"), "patterns below it, of which one must match"),
        key("except", VALUES, NONE, "patterns below it that are left out"),
        WHEN_KEY,
    ]],
};

static EDIT: Table = Table {
    name: "edit",
    title: "an edit of env",
    about: "An edit of a variable: `value`, `unset`, or the parts of a list such as PATH.",
    keys: &[&[
        key("value", Values, OPEN, "what it is from here on"),
        key("unset", Bool, Some("`false`"), "whether it is taken away"),
        key("set", ENTRIES, OPEN, "in place of what is inherited"),
        key("prepend", ENTRIES, NONE, "in front of it"),
        key("append", ENTRIES, NONE, "behind it"),
        WHEN_KEY,
        key("config", Bool, Some("`true`"), "whether the image's config has it too"),
    ]],
};

/// A text, or a table for one that some lanes have.
const ENTRY: Form = Any(&[Values, One(&ENTRY_TABLE)]);
const ENTRIES: Form = List(&ENTRY);

static ENTRY_TABLE: Table = Table {
    name: "entry",
    title: "an entry with a condition",
    about: "A text that only some lanes have, in place of the text alone.",
    keys: &[&[key("value", Values, NEEDED, "the text"), WHEN_KEY]],
};

static IMAGE: Table = Table {
    name: "image",
    title: "[stage.NAME.image]",
    about: "What the image's config carries and no step of the stage sees.",
    keys: &[&[
        key("env", Names(Named::Variable, &ENTRY), NONE, "environment"),
        key("labels", Names(Named::Free, &ENTRY), NONE, "labels; those of `--label` win"),
        key("entrypoint", VALUES, Some("inherited"), "entrypoint; it empties the command that is inherited"),
        key("cmd", VALUES, Some("inherited"), "command"),
        key("user", Values, Some("inherited"), "user"),
        key("workdir", Values, Some("inherited"), "working directory"),
        key("annotations", Names(Named::Free, &ENTRY), NONE, "annotations of the image's manifest"),
        key("shell", VALUES, Some("inherited"), "what runs commands that are texts"),
        key("stop-signal", Values, Some("inherited"), "the signal that ends a container"),
        key("volumes", ENTRIES, Some("inherited"), "directories that are volumes, beside those that are inherited"),
        key("ports", ENTRIES, Some("inherited"), "ports such as `8080/tcp`, beside those that are inherited"),
        key("healthcheck", Any(&[Word(&["none"]), One(&HEALTHCHECK)]), Some("inherited"), "how an engine sees whether a container is well"),
    ]],
};

static HEALTHCHECK: Table = Table {
    name: "healthcheck",
    title: "healthcheck of an image",
    about: "A command that tells whether a container is well; `none` turns off what is inherited.",
    keys: &[&[
        key("cmd", VALUES, OPEN, "a command and its arguments; or `script`"),
        key("script", Values, OPEN, "a text for the shell of the image"),
        key("interval", Text, Some("the engine's"), "from one to the next: `30s`, `1m30s`, `500ms`"),
        key("timeout", Text, Some("the engine's"), "how long one may take"),
        key("start-period", Text, Some("the engine's"), "how long a container may take to start"),
        key("start-interval", Text, Some("the engine's"), "from one to the next while it starts"),
        key("retries", Whole, Some("the engine's"), "how often it must fail"),
    ]],
};

static STEP: Table = Table {
    name: "step",
    title: "[[stage.NAME.step]]",
    about: "One command, or one file operation: the unit that has a cache key.",
    keys: &[
        &[
            LINT_KEY,
            key("name", Text, NEEDED, "its name in the stage"),
            key("run", VALUES, OPEN, "the command and its arguments, without a shell; or `script`, or a file operation"),
            key("script", Text, OPEN, "a script, in place of `run`; nothing is filled in"),
            key("shell", VALUES, OPEN, "what runs the script, in front of its path"),
            key("command-line", Values, OPEN, "on Windows: the text that starts the process, as it is"),
            WHEN_KEY,
            key("kits", TEXTS, NONE, "kits whose content counts as if it stood here"),
        ],
        &BRINGS,
        &[
            key("network", Word(&["default", "none", "host"]), Some("`default`"), "whether it has a network"),
            key("security", Word(&["sandbox", "insecure"]), Some("`sandbox`"), "what it may do"),
            key("extra-hosts", Names(Named::Free, &Text), NONE, "names with their addresses"),
            key("ulimit", Names(Named::Free, &Any(&[Text, Whole])), NONE, "limits: a number, or `soft:hard`; -1 is none"),
            key("shm-size", Text, Some("the engine's"), "size of `/dev/shm`"),
            key("devices", List(&Any(&[Text, One(&DEVICE)])), NONE, "devices of the host, by CDI name"),
            key("workdir", Values, Some("see `files`"), "where it runs"),
            key("user", Values, Some("the image's"), "as whom it runs"),
            key("record", Bool, Some("`false`"), "the product is what it printed and how it ended, for a gate"),
            key("via", Word(&["entrypoint", "nothing"]), Some("`nothing`"), "whether it runs through the entrypoint of what it starts from"),
        ],
        &[
            key("copy", One(&COPY), OPEN, "file operation: copies from a stage or the context"),
            key("write", One(&WRITE), OPEN, "file operation: makes a file"),
            key("mkdir", One(&MKDIR), OPEN, "file operation: makes a directory"),
            key("link", One(&LINK), OPEN, "file operation: makes a symbolic link"),
            key("delete", One(&DELETE), OPEN, "file operation: takes away"),
        ],
    ],
};

/// What steps see and kits bring.
static BRINGS: [Key; 10] = [
    key("args", TEXTS, NONE, "pins, arguments and lane values that it sees: `NAME`, `NEW=OLD`, `NEW=OLD|filter`, `PREFIX_*`"),
    key("env", Names(Named::Variable, &ENTRY), NONE, "its constants"),
    key("host", TEXTS, NONE, "host settings that it sees"),
    key("files", List(&Any(&[Text, One(&FILES)])), NONE, "files of the context that it sees"),
    key("uses", List(&Any(&[Text, One(&USES)])), NONE, "products of other stages that it sees"),
    key("pins-file", One(&PINS_FILE), NONE, "some pins as a file"),
    key("cache", List(&One(&CACHE)), NONE, "cache mounts"),
    key("secret", List(&One(&SECRET)), NONE, "values of the caller as files, in no key"),
    key("ssh", Any(&[Bool, List(&One(&SSH))]), NONE, "SSH agents of the caller; `true` is the default one"),
    key("tmpfs", List(&One(&TMPFS)), NONE, "directories in memory"),
];

static FILES: Table = Table {
    name: "files",
    title: "an entry of files",
    about: "A file or directory of the context.",
    keys: &[&[
        key("git", Text, Some("the context"), "a git source that it is of"),
        key("payload", Text, Some("the context"), "a payload, which is there where the payload is"),
        key("fetch", Text, Some("the context"), "a download"),
        key("from", Text, Some("all of the git source"), "its path; a directory ends with `/`; needed from the context"),
        key("at", Values, Some("its own path"), "the directory in which it appears"),
        WHEN_KEY,
    ]],
};

static PINS_FILE: Table = Table {
    name: "pins-file",
    title: "pins-file of a step",
    about: "A file `NAME=VALUE` with just these pins, sorted by name.",
    keys: &[&[
        key("at", Values, NEEDED, "where it appears"),
        key("keys", TEXTS, NEEDED, "which pins: names, and patterns over those of our scope"),
        WHEN_KEY,
    ]],
};

static USES: Table = Table {
    name: "uses",
    title: "an entry of uses",
    about: "A product of another stage.",
    keys: &[&[
        key("stage", Text, NEEDED, "whose product"),
        key("sub", Values, Some("all roots of its tree"), "the part that is seen; needed when the product is a whole root"),
        key("at", Values, Some("its own path"), "where it appears; needs `sub`"),
        key("as", Word(&["mount", "copy"]), Some("`mount`"), "how it gets there"),
        WHEN_KEY,
    ]],
};

static CACHE: Table = Table {
    name: "cache",
    title: "an entry of cache",
    about: "A directory that outlives the step, in no key.",
    keys: &[
        &[
            key("id", Text, NEEDED, "which cache"),
            key("at", Values, NEEDED, "where it appears"),
            key("sharing", Word(&["shared", "private", "locked"]), Some("`shared`"), "steps at the same time, each its own, or one after the other"),
            key("from", Text, Some("empty"), "a stage whose product is in it when it is new; needs `sub`"),
            key("sub", Values, OPEN, "the part of that product"),
            WHEN_KEY,
        ],
        ACCESS,
    ],
};

/// Mode and owner of a mount.
const ACCESS: &[Key] = &[
    key("mode", Text, OPEN, "permission bits as octal text: `0400`"),
    key("uid", Whole, Some("0"), "its user"),
    key("gid", Whole, Some("0"), "its group"),
];

static SECRET: Table = Table {
    name: "secret",
    title: "an entry of secret",
    about: "A value of the caller as a file: `--secret id=ID,src=FILE`.",
    keys: &[
        &[
            key("id", Text, NEEDED, "how the caller calls it"),
            key("at", Values, Some("`/run/secrets/ID`"), "where it appears"),
            key("required", Bool, Some("`true`"), "whether the step fails without it"),
            WHEN_KEY,
        ],
        ACCESS,
    ],
};

static SSH: Table = Table {
    name: "ssh",
    title: "an entry of ssh",
    about: "An SSH agent of the caller as a socket: `--ssh ID`.",
    keys: &[
        &[
            key("id", Text, Some("`default`"), "how the caller calls it"),
            key("at", Values, Some("`/run/ssh-agents/ID`"), "where it appears"),
            key("required", Bool, Some("`true`"), "whether the step fails without it"),
            WHEN_KEY,
        ],
        ACCESS,
    ],
};

static TMPFS: Table = Table {
    name: "tmpfs",
    title: "an entry of tmpfs",
    about: "A directory in memory.",
    keys: &[&[
        key("at", Values, NEEDED, "where it appears"),
        key("size", Text, Some("the engine's"), "the most that it holds: bytes, or with `KiB`, `MiB`, `GiB`"),
        WHEN_KEY,
    ]],
};

static DEVICE: Table = Table {
    name: "device",
    title: "an entry of devices",
    about: "A device of the host.",
    keys: &[&[
        key("name", Text, NEEDED, "its CDI name"),
        key("optional", Bool, Some("`false`"), "whether the step can do without"),
        WHEN_KEY,
    ]],
};

static COPY: Table = Table {
    name: "copy",
    title: "copy of a step",
    about: "Copies a path of another stage's product, or of the context.",
    keys: &[
        &[
            key("stage", Text, Some("the context"), "from whose product"),
            key("git", Text, Some("the context"), "from which git source"),
            key("payload", Text, Some("the context"), "a payload: where it is absent, the step is not there"),
            key("fetch", Text, Some("the context"), "a download"),
            key("from", Values, Some("the whole tree"), "what is copied; needed from the context"),
            key("to", Values, OPEN, "where it goes; into it when it ends with `/`"),
            key("only", VALUES, Some("all"), "patterns below a directory, of which one must match"),
            key("except", VALUES, NONE, "patterns below it that are left out"),
        ],
        PERMISSIONS,
    ],
};

/// Mode and owner of what a file operation makes.
const PERMISSIONS: &[Key] = &[
    key("mode", Text, OPEN, "permission bits as octal text: `0644`"),
    key("owner", Values, OPEN, "`USER` or `USER:GROUP`"),
];

static WRITE: Table = Table {
    name: "write",
    title: "write of a step",
    about: "Makes a file.",
    keys: &[
        &[
            key("path", Values, NEEDED, "where"),
            key("text", Values, NEEDED, "its content"),
        ],
        PERMISSIONS,
    ],
};

static MKDIR: Table = Table {
    name: "mkdir",
    title: "mkdir of a step",
    about: "Makes a directory.",
    keys: &[&[key("path", Values, NEEDED, "where")], PERMISSIONS],
};

static LINK: Table = Table {
    name: "link",
    title: "link of a step",
    about: "Makes a symbolic link.",
    keys: &[&[
        key("path", Values, NEEDED, "where; nothing may be there"),
        key("to", Values, NEEDED, "what it says"),
    ]],
};

static DELETE: Table = Table {
    name: "delete",
    title: "delete of a step",
    about: "Takes a file away, or a directory with all that is in it.",
    keys: &[&[
        key("path", Values, NEEDED, "what"),
        key("optional", Bool, Some("`false`"), "whether it may be missing"),
    ]],
};

static GATE: Table = Table {
    name: "gate",
    title: "[gate.NAME]",
    about: "A check over the product of a stage.",
    keys: &[&[
        LINT_KEY,
        WHEN_KEY,
        key("of", Text, NEEDED, "whose product"),
        key("check", Word(&["absent", "arch", "census", "contract", "coverage", "data", "deps", "elf", "env", "exec", "files", "floors", "gpu", "imports", "leak", "manifest", "overlap", "plugin", "signed", "tests", "wheel"]), NEEDED, "what is checked"),
        key("for", Text, Some("`of`"), "the stage in whose builds it checks"),
        key("against", TEXTS, NONE, "stages whose products it looks at besides"),
        key("ask", Names(Named::Free, &Anything), NONE, "what it is told to look for: the gate's own keys"),
        key("demand", Names(Named::Free, &Anything), NONE, "what it holds against what it saw: the gate's own keys"),
        key("report", Values, NONE, "the file of the context that has its report, when that is made outside of the build"),
        key("effect", Word(&["block", "advise"]), Some("`block`"), "what a red verdict does: nothing goes on, or it is told"),
        key("roots", VALUES, Some("the stage's tree"), "directories of the product that are looked at"),
        key("hold", TEXTS, NONE, "stages that do not start before it passed"),
        key("allow", List(&One(&ALLOW)), NONE, "exemptions"),
        key("floor", List(&One(&FLOOR)), OPEN, "how much must have been inspected; one for each lane, or `empty-ok`"),
        key("empty-ok", Text, OPEN, "why nothing needs to be inspected"),
        key("skippable", Bool, Some("`false`"), "whether a caller may skip it: such a run has no tag"),
    ]],
};

static ALLOW: Table = Table {
    name: "allow",
    title: "an entry of allow",
    about: "An exemption of a gate.",
    keys: &[&[
        key("path", Text, NEEDED, "a pattern over names in the report"),
        key("why", Text, NEEDED, "why"),
        WHEN_KEY,
    ]],
};

static FLOOR: Table = Table {
    name: "floor",
    title: "[[gate.NAME.floor]]",
    about: "How much a gate must have inspected to be believed.",
    keys: &[&[
        WHEN_KEY,
        key("absent", One(&MEASURE), OPEN, "the least of what is counted as `absent`"),
        key("archive", One(&MEASURE), OPEN, "the least of what is counted as `archive`"),
        key("archive-members", One(&MEASURE), OPEN, "the least of what is counted as `archive-members`"),
        key("bitcode", One(&MEASURE), OPEN, "the least of what is counted as `bitcode`"),
        key("bundles", One(&MEASURE), OPEN, "the least of what is counted as `bundles`"),
        key("bytes", One(&MEASURE), OPEN, "the least of what is counted as `bytes`"),
        key("code-objects", One(&MEASURE), OPEN, "the least of what is counted as `code-objects`"),
        key("coff", One(&MEASURE), OPEN, "the least of what is counted as `coff`"),
        key("companions", One(&MEASURE), OPEN, "the least of what is counted as `companions`"),
        key("components", One(&MEASURE), OPEN, "the least of what is counted as `components`"),
        key("contracts", One(&MEASURE), OPEN, "the least of what is counted as `contracts`"),
        key("delayed", One(&MEASURE), OPEN, "the least of what is counted as `delayed`"),
        key("edges", One(&MEASURE), OPEN, "the least of what is counted as `edges`"),
        key("elf", One(&MEASURE), OPEN, "the least of what is counted as `elf`"),
        key("entries", One(&MEASURE), OPEN, "the least of what is counted as `entries`"),
        key("equal", One(&MEASURE), OPEN, "the least of what is counted as `equal`"),
        key("failed", One(&MEASURE), OPEN, "the least of what is counted as `failed`"),
        key("files", One(&MEASURE), OPEN, "the least of what is counted as `files`"),
        key("floors", One(&MEASURE), OPEN, "the least of what is counted as `floors`"),
        key("forbidden", One(&MEASURE), OPEN, "the least of what is counted as `forbidden`"),
        key("import", One(&MEASURE), OPEN, "the least of what is counted as `import`"),
        key("indexed", One(&MEASURE), OPEN, "the least of what is counted as `indexed`"),
        key("inspected", One(&MEASURE), OPEN, "the least of what is counted as `inspected`"),
        key("known", One(&MEASURE), OPEN, "the least of what is counted as `known`"),
        key("libraries", One(&MEASURE), OPEN, "the least of what is counted as `libraries`"),
        key("licences", One(&MEASURE), OPEN, "the least of what is counted as `licences`"),
        key("mach-o", One(&MEASURE), OPEN, "the least of what is counted as `mach-o`"),
        key("members", One(&MEASURE), OPEN, "the least of what is counted as `members`"),
        key("names", One(&MEASURE), OPEN, "the least of what is counted as `names`"),
        key("natives", One(&MEASURE), OPEN, "the least of what is counted as `natives`"),
        key("needs", One(&MEASURE), OPEN, "the least of what is counted as `needs`"),
        key("off-path", One(&MEASURE), OPEN, "the least of what is counted as `off-path`"),
        key("passed", One(&MEASURE), OPEN, "the least of what is counted as `passed`"),
        key("paths", One(&MEASURE), OPEN, "the least of what is counted as `paths`"),
        key("pe", One(&MEASURE), OPEN, "the least of what is counted as `pe`"),
        key("plugins", One(&MEASURE), OPEN, "the least of what is counted as `plugins`"),
        key("policies", One(&MEASURE), OPEN, "the least of what is counted as `policies`"),
        key("present", One(&MEASURE), OPEN, "the least of what is counted as `present`"),
        key("programs", One(&MEASURE), OPEN, "the least of what is counted as `programs`"),
        key("required", One(&MEASURE), OPEN, "the least of what is counted as `required`"),
        key("requirements", One(&MEASURE), OPEN, "the least of what is counted as `requirements`"),
        key("scopes", One(&MEASURE), OPEN, "the least of what is counted as `scopes`"),
        key("sections", One(&MEASURE), OPEN, "the least of what is counted as `sections`"),
        key("signatures", One(&MEASURE), OPEN, "the least of what is counted as `signatures`"),
        key("signed", One(&MEASURE), OPEN, "the least of what is counted as `signed`"),
        key("skipped", One(&MEASURE), OPEN, "the least of what is counted as `skipped`"),
        key("suites", One(&MEASURE), OPEN, "the least of what is counted as `suites`"),
        key("symbols", One(&MEASURE), OPEN, "the least of what is counted as `symbols`"),
        key("trees", One(&MEASURE), OPEN, "the least of what is counted as `trees`"),
        key("values", One(&MEASURE), OPEN, "the least of what is counted as `values`"),
        key("variables", One(&MEASURE), OPEN, "the least of what is counted as `variables`"),
        key("wheels", One(&MEASURE), OPEN, "the least of what is counted as `wheels`"),
        key("zip-members", One(&MEASURE), OPEN, "the least of what is counted as `zip-members`"),
    ]],
};

static MEASURE: Table = Table {
    name: "measure",
    title: "a number of a floor",
    about: "A floor with its history.",
    keys: &[&[
        key("least", Whole, NEEDED, "the floor, more than 0"),
        key("measured", Whole, OPEN, "what was counted"),
        key("on", Date, OPEN, "when"),
        key("broken", Whole, OPEN, "what a broken build still had"),
    ]],
};

static PIN_RULE: Table = Table {
    name: "pin-rule",
    title: "[pin-rule.NAME]",
    about: "What must hold between pins: `equal`, or `lead` with `for` and `pins`, or `hold`.",
    keys: &[&[
        LINT_KEY,
        key("equal", TEXTS, OPEN, "pins that have one value"),
        key("lead", Text, OPEN, "a pin that others follow"),
        key("for", Text, OPEN, "the value of `lead` for which the others were last set"),
        key("pins", TEXTS, OPEN, "the pins that follow: names and patterns"),
        key("hold", Names(Named::Variable, &Text), OPEN, "pins with the values that they stay at"),
        key("why", Text, NEEDED, "why"),
    ]],
};

static LINT: Table = Table {
    name: "lint",
    title: "an entry of lint",
    about: "A lint that is allowed at its place.",
    keys: &[&[
        key("allow", Text, NEEDED, "the rule: `LK066`"),
        key("why", Text, NEEDED, "why"),
        key("name", Text, Some("any"), "only where the lint is about this name; needed on `[graph]`"),
    ]],
};
