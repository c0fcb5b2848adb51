//! Downloads: pinned files as inputs of steps.

use crate::common::{load, lower, plan, rendered, request};
use crate::trees::{graph, llb, wrong};
use ::llb::Caps;

const HASH: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

fn out(fetch: &str, keys: &str) -> String {
    graph(&format!(
        "[fetch.zlib]\n{fetch}\n[stage.out]\nfrom = {{ image = \"x\" }}\n[[stage.out.step]]\nname = \"s\"\nuses = [\"part\"]\n{keys}\n"
    ))
}

fn pinned() -> String {
    format!("url = \"https://h.example/zlib-${{lane.target}}.tar.gz?x=1\"\nsha256 = \"{HASH}\"")
}

const TAKES: &str =
    "files = [{ fetch = \"zlib\", at = \"/src\" }, { fetch = \"zlib\" }]\nrun = [\"make\"]";

#[test]
fn a_step_has_a_download_by_its_hash() {
    insta::assert_snapshot!(llb(&out(&pinned(), TAKES)));
}

#[test]
fn a_file_step_copies_a_download() {
    let text = out(&pinned(), "").replace(
        "name = \"s\"\nuses = [\"part\"]",
        "name = \"s\"\ncopy = { fetch = \"zlib\", to = \"/opt/zlib.tar.gz\", mode = \"0600\" }",
    );
    let shown = llb(&text);
    assert!(shown.contains("http.checksum"), "{shown}");
    assert!(shown.contains("to /opt/zlib.tar.gz"), "{shown}");
}

#[test]
fn a_hash_may_be_a_pin_and_its_value_for_one_run_counts() {
    let text = out(
        "url = \"https://h.example/z.tar.gz\"\nsha256 = \"ZLIB_HASH\"",
        TAKES,
    )
    .replace("[graph]\n", "[graph]\nversions = \"versions.env\"\n");
    let loaded = load(&text, &format!("ZLIB_HASH=sha256:{HASH}\n"));
    let Ok(graph) = &loaded.graph else {
        panic!("{}", rendered(&loaded));
    };
    let other = "0".repeat(64);
    for (args, expected) in [
        (vec![], HASH),
        (
            vec![("LANEKIT_PIN_ZLIB_HASH", other.as_str())],
            other.as_str(),
        ),
    ] {
        let (plan, _) = plan(graph, &request("l", &args)).expect("a plan");
        assert_eq!(plan.fetches["zlib"].sha256, expected);
        assert_eq!(plan.fetches["zlib"].filename, "z.tar.gz");
    }
    let unfit = plan(graph, &request("l", &[("LANEKIT_PIN_ZLIB_HASH", "")]));
    assert!(unfit.is_err(), "nothing is downloaded without a hash");
}

#[test]
fn a_lane_that_takes_no_download_is_as_without_it() {
    let lanes = out(&pinned(), TAKES);
    let with = load(&lanes, "");
    let bare = load(
        &graph(
            "[stage.out]\nfrom = { image = \"x\" }\n[[stage.out.step]]\nname = \"s\"\nuses = [\"part\"]\nrun = [\"make\"]\n",
        ),
        "",
    );
    let digest = |loaded| {
        let lowered = lower(loaded, &request("l/part", &[]), &Caps::all());
        lowered.map(|made| made.result.digest()).map_err(|_| ())
    };
    assert!(digest(&with).is_ok());
    assert_eq!(digest(&with), digest(&bare));
}

#[test]
fn downloads_that_cannot_be_are_refused_together() {
    let keys = "files = [{ fetch = \"zlib\", payload = \"zlib\" }, { fetch = \"zlibb\" }]\nrun = [\"true\"]";
    let plain = "run = [\"true\"]";
    let no_name = format!("url = \"https://h.example/\"\nsha256 = \"{HASH}\"");
    let no_url = format!("url = \"ftp://h.example/x\"\nsha256 = \"{HASH}\"");
    insta::assert_snapshot!(
        [
            wrong(&out("url = \"https://h/x\"\nfilename = \"a/b\"", keys)),
            wrong(&out("url = \"https://h/x\"", plain)),
            wrong(&out(
                "url = \"https://h/${env.X}\"\nsha256 = \"NONE\"",
                &keys.replace(", payload = \"zlib\"", "")
            )),
            wrong(&out(&pinned(), plain)),
            wrong(&out(&no_name, TAKES)),
            wrong(&out(&no_url, TAKES)),
        ]
        .join("----\n")
    );
}
