//! Git sources: a ref is looked up once, and what it stands for is a value.

use crate::flow::{engine, ops, run};

use llb::proto::pb;

const COMMIT: &str = "1212121212121212121212121212121212121212";
const OBJECT: &str = "3434343434343434343434343434343434343434";

/// A lane file with a source, whose commit a step and a label name.
const LANES: &str = r#"# syntax=lanekit/frontend
[graph]
name = "g"
[arg.REF]
default = "v2"
about = "what is built"
[git.llama]
url = "https://h.example/b.git"
ref = "${arg.REF}"
[lane.amd64]
platform = "linux/amd64"
output.image = { stage = "app" }
[stage.app]
from = { image = "busybox:1.36" }
image.labels.revision = "${git.llama.commit}"
[[stage.app.step]]
name = "build"
args = ["REVISION=git.llama.commit"]
files = [{ git = "llama", at = "/src" }]
run = ["make"]
"#;

fn sources(ops: &[pb::Op]) -> Vec<&pb::SourceOp> {
    ops.iter()
        .filter_map(|op| match &op.op {
            Some(pb::op::Op::Source(source)) if source.identifier.starts_with("git://") => {
                Some(source)
            }
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn a_ref_is_looked_up_and_its_commit_is_a_value() {
    let mut script = engine(LANES);
    let found = (OBJECT.to_owned(), COMMIT.to_owned());
    script
        .gits
        .insert("git://h.example/b.git#v2".to_owned(), found);
    let ran = run(script, &[]).await;
    let definition = ran.solved().definition.expect("a definition");
    let ops = ops(&definition);
    let [source] = sources(&ops)[..] else {
        panic!("one checkout")
    };
    assert_eq!(source.identifier, "git://h.example/b.git#v2");
    assert_eq!(
        source.attrs["git.checksum"], OBJECT,
        "what the ref itself is"
    );
    let exec = ops.iter().find_map(|op| match &op.op {
        Some(pb::op::Op::Exec(exec)) => exec.meta.clone(),
        _ => None,
    });
    let env = exec.expect("an exec").env;
    assert!(env.contains(&format!("REVISION={COMMIT}")), "{env:?}");
    let config = &ran.built().metadata["containerimage.config"];
    assert!(String::from_utf8_lossy(config).contains(COMMIT));
}

#[tokio::test]
async fn an_engine_that_answers_for_images_alone_is_asked_for_a_checkout() {
    let mut script = engine(LANES);
    let empty = (String::new(), String::new());
    script
        .gits
        .insert("git://h.example/b.git#v2".to_owned(), empty);
    script
        .made
        .insert(".git/HEAD".to_owned(), b"ref: refs/heads/v2\n".to_vec());
    script.made.insert(
        ".git/refs/heads/v2".to_owned(),
        format!("{COMMIT}\n").into_bytes(),
    );
    let ran = run(script, &[]).await;
    let config = &ran.built().metadata["containerimage.config"];
    assert!(String::from_utf8_lossy(config).contains(COMMIT));
}

#[tokio::test]
async fn a_ref_that_is_not_there_is_refused_with_the_lines_of_its_source() {
    let ran = run(engine(LANES), &["build-arg:REF=none"]).await;
    let said = &ran.refused().message;
    assert!(
        said.contains("git source llama") && said.contains("not found"),
        "{said}"
    );
    let lines = ran.lines();
    assert!(lines.contains(&("lanes.toml".to_owned(), 7)), "{lines:?}");
}
