//! Git sources: their files, and their commits as values.

use stages::keys;
use stages::lower::ExecOptions;

use crate::common::{load, manifest};
use crate::trees::{graph, llb, wrong};

const GIT: &str = "[git.app]\nurl = \"https://h.example/app.git\"\nref = \"main\"\nsubdir = \"sub\"\nsubmodules = false\n";

fn out(keys: &str) -> String {
    graph(&format!(
        "{GIT}[stage.out]\nfrom = {{ image = \"x\" }}\n[[stage.out.step]]\nname = \"s\"\nuses = [\"part\"]\n{keys}\n"
    ))
}

#[test]
fn a_step_has_files_of_a_commit_and_names_it() {
    let keys = "args = [\"REV=git.app.commit\"]\nfiles = [{ git = \"app\", at = \"/src\" }, { git = \"app\", from = \"Makefile\", at = \"/m\" }]\nrun = [\"make\", \"${git.app.commit}\"]";
    insta::assert_snapshot!(llb(&out(keys)));
}

#[test]
fn a_file_step_copies_of_a_commit() {
    let text = out("").replace("name = \"s\"\nuses = [\"part\"]", "name = \"s\"\ncopy = { git = \"app\", from = \"doc/\", to = \"/usr/share/doc\", only = [\"*.md\"] }");
    let shown = llb(&text);
    assert!(
        shown.contains("git://h.example/app.git#main:sub"),
        "{shown}"
    );
    assert!(
        shown.contains(":/doc to /usr/share/ make-parents include=[\"*.md\"]"),
        "{shown}"
    );
}

#[test]
fn a_commit_that_only_a_label_names_is_not_checked_out() {
    let text = out("run = [\"true\"]").replace(
        "[[stage.out.step]]",
        "image.labels.rev = \"${git.app.commit}\"\n[[stage.out.step]]",
    );
    assert!(!llb(&text).contains("git://"));
}

#[test]
fn sources_that_cannot_be_are_refused_together() {
    let keys = "run = [\"${git.app.tag}\", \"${git.ap.commit}\"]\nfiles = [{ git = \"app\" }, { git = \"appp\", at = \"/x\" }, { git = \"app\", from = \"../x\", at = \"/y\" }]";
    let form = wrong(&out(keys));
    let keys = "run = [\"${git.ap.commit}\"]\nfiles = [{ git = \"appp\", at = \"/x\" }]";
    let names = wrong(&out(keys).replace("ref = \"main\"", "ref = \"${git.app.commit}\""));
    let unused = wrong(&out("run = [\"true\"]"));
    insta::assert_snapshot!([form, names, unused].join("----\n"));
}

#[test]
fn what_of_a_commit_is_checked_out_is_in_its_key() {
    let keys = "files = [{ git = \"app\", at = \"/src\" }]\nrun = [\"make\"]";
    let made = |git: &str| {
        let loaded = load(&out(keys).replace(GIT, git), "");
        let manifest = manifest(&loaded, "l", &ExecOptions::default(), &|_| None);
        manifest.node("git:app").expect("a node").clone()
    };
    let old = made(GIT);
    let changed = |git: &str| -> Vec<String> {
        let changes = keys::changes(&old, &made(git)).into_iter();
        changes.map(|change| change.name).collect()
    };
    assert_eq!(changed(&GIT.replace("\"sub\"", "\"other\"")), ["subdir"]);
    assert_eq!(changed(&GIT.replace("= false", "= true")), ["submodules"]);
    // With its `.git`, what the ref is called is seen.
    assert_eq!(changed(&format!("{GIT}git-dir = true\n")), ["reference"]);
    // Where it is fetched from is not.
    assert_eq!(
        changed(&GIT.replace("h.example", "mirror.example")),
        Vec::<String>::new()
    );
}
