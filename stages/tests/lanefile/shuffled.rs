//! The order of tables means nothing: in every order a file gives the same vertices.

use ::llb::{Caps, Platform};
use stages::lower::ExecOptions;

use crate::common::{Loaded, load, lower_with, plan_with, rendered, request};

/// Tables of one graph that uses what lanes, conditions and inputs have.
const TABLES: [&str; 14] = [
    "[graph]\nname = \"t\"\nversions = \"versions.env\"\n",
    "[pin.MAJOR]\nfrom = \"TOOL|parts:1\"\n",
    "[arg.WORD]\ndefault = \"w\"\nabout = \"a word\"\n",
    "[host.CACHE]\nabout = \"a cache\"\nneed = \"waivable\"\n",
    "[switch.fast]\ndefault = true\nabout = \"less\"\ntag-part = { false = \"-slow\" }\n",
    "[kit.cache]\nhost = [\"CACHE\"]\ncache = [{ id = \"c\", at = \"/cache\" }]\nwhen = { switch.fast = true }\n",
    "[slot.sdk]\nplain = { same-as = \"base\" }\nrich = { stage = \"sdk\" }\n",
    "[fetch.zlib]\nurl = \"https://h.example/z-${pin.TOOL}.tar\"\nsha256 = \"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"\n",
    "[payload.sdk]\npath = \"sdk.zip\"\nempty-ok = \"test\"\n",
    "[lane.l]\nplatform = \"linux/amd64\"\nslot.sdk = \"rich\"\nset.MODE = \"m\"\noutput.image = { stage = \"out\", tag = \"out:l\" }\n",
    "[lane.k]\nplatform = \"linux/amd64\"\nslot.sdk = \"plain\"\nset.MODE = \"k\"\noutput.image = { stage = \"out\", tag = \"out:k\" }\n",
    "[stage.base]\nfrom = { image = \"x\" }\nenv.PATH = { prepend = [\"/a\", \"/b\"], append = [{ value = \"/c\", when = { lane.set.MODE = \"m\" } }] }\nenv.B = \"1\"\n",
    "[stage.sdk]\nfrom = \"base\"\n[[stage.sdk.step]]\nname = \"s\"\nargs = [\"MAJOR\", \"WORD\"]\nfiles = [{ payload = \"sdk\", at = \"/p\" }, { fetch = \"zlib\", at = \"/f\" }]\nkits = [\"cache\"]\nrun = [\"make\"]\n",
    "[stage.out]\nfrom = { slot = \"sdk\" }\n[[stage.out.step]]\nname = \"o\"\nargs = [\"SDK=payload.sdk\", \"MODE=lane.set.MODE\"]\nrun = [\"make\"]\n",
];

fn digest(text: &str, lane: &str, there: bool) -> String {
    let loaded: Loaded = load(text, "TOOL=1.2\n");
    let Ok(graph) = &loaded.graph else {
        panic!("{}", rendered(&loaded));
    };
    let bytes = there.then(|| b"sdk".to_vec());
    let made = plan_with(graph, &request(lane, &[]), &|_| bytes.clone());
    let (plan, facts) = made.expect("a plan");
    let worker = Platform::new("linux", "amd64");
    let options = ExecOptions::default();
    let lowered = lower_with(&loaded, &plan, &facts, &Caps::all(), worker, options);
    lowered.expect("LLB").result.digest().to_string()
}

#[test]
fn tables_in_25_orders_make_the_same_vertices() {
    let plain = TABLES.concat();
    for (lane, there) in [("l", true), ("l", false), ("k", true), ("k", false)] {
        let first = digest(&plain, lane, there);
        let mut tables = TABLES.to_vec();
        let mut seed = 7_usize;
        for _ in 0..25 {
            for at in (1..tables.len()).rev() {
                seed = seed.wrapping_mul(1_103_515_245).wrapping_add(12_345) & 0x7fff_ffff;
                tables.swap(at, (seed >> 8) % (at + 1));
            }
            assert_eq!(
                digest(&tables.concat(), lane, there),
                first,
                "{lane} {there}: {tables:#?}"
            );
        }
    }
    // They are not all the same: what is there counts where it is taken.
    assert_ne!(digest(&plain, "l", true), digest(&plain, "l", false));
    assert_ne!(digest(&plain, "l", true), digest(&plain, "k", true));
}
