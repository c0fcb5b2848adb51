//! Pictures of lanes.

use std::collections::BTreeMap;

use stages::explain::Why;
use stages::graph::Graph;
use stages::keys;
use stages::lower::ExecOptions;
use stages::view::graph::{
    self, Build, By, Kind, Lane, LastRun, LeverKind, Levers, Past, Picture, State,
};

use crate::common::{load, plan, request};

const LANES: &str = include_str!("pictures/lanes.toml");
const PINS: &str = include_str!("pictures/versions.env");

/// A lane of a graph, with what is known of its builds.
fn lane(graph: &Graph, target: &str, past: &Past) -> Lane {
    lane_with(graph, target, past, graph::MOST_NODES)
}

/// The same, with so many nodes looked at for its pins and files.
fn lane_with(graph: &Graph, target: &str, past: &Past, most: usize) -> Lane {
    let request = request(target, &[]);
    let (plan, facts) = plan(graph, &request).expect("a plan");
    let contents = |path: &str| Some(format!("digest of {path}"));
    let options = ExecOptions::default();
    let manifest = keys::make("g", &request, &plan, &facts, &options, &contents);
    let mut lane = graph::lane(target, &plan, &manifest, past);
    let levers = Levers {
        graph,
        request: &request,
        facts: &facts,
        contents: &contents,
        manifest: &manifest,
        most,
    };
    (lane.levers, lane.unasked) = graph::levers(&lane, &levers);
    lane
}

/// A build in which onnx and what stands behind it ran, tvm failed, and all else came from the cache.
fn past() -> Past {
    let states = [
        ("base:from", State::Cached),
        ("toolchain/wrapper", State::Cached),
        ("onnx/build", State::Ran),
        ("ffmpeg/build", State::Ran),
        ("opencv/build", State::Cached),
        ("litert/build", State::Cancelled),
        ("tvm/build", State::Failed),
        ("gate:arch/inspect", State::Ran),
        ("gate:arch/assert", State::Failed),
    ];
    let seconds = [
        ("onnx/build", 75.0),
        ("ffmpeg/build", 12.5),
        ("opencv/build", 300.0),
        ("litert/build", 2.0),
        ("gate:arch/inspect", 0.5),
    ];
    let why = Why::Changed(vec![keys::Change {
        name: "env.VERSION".into(),
        old: Some("1".into()),
        new: Some("2".into()),
    }]);
    Past {
        build: Some(Build {
            number: 7,
            at: "2026-12-02T10:00:00Z".into(),
            ok: false,
        }),
        states: states.map(|(id, state)| (id.into(), state)).into(),
        last: [
            ("onnx/build".into(), LastRun::new(7, &why)),
            ("opencv/build".into(), LastRun::new(3, &Why::Lost)),
        ]
        .into(),
        seconds: seconds.map(|(id, seconds)| (id.into(), seconds)).into(),
        verdicts: [("arch".into(), "failed".into())].into(),
    }
}

fn sample() -> Picture {
    let graph = load(LANES, PINS).graph.expect("a graph");
    Picture {
        schema: graph::SCHEMA,
        graph: "media-mini".into(),
        lanes: vec![lane(&graph, "arm64", &past())],
    }
}

#[test]
fn the_sample_as_mermaid() {
    insta::assert_snapshot!(graph::mermaid(&sample()));
}

#[test]
fn the_sample_as_dot() {
    insta::assert_snapshot!(graph::dot(&sample()));
}

#[test]
fn several_lanes_stand_beside_each_other() {
    let graph = load(LANES, PINS).graph.expect("a graph");
    let lanes = ["amd64", "amd64-rocm"];
    let picture = Picture {
        schema: graph::SCHEMA,
        graph: "media-mini".into(),
        lanes: lanes
            .map(|name| lane(&graph, name, &Past::default()))
            .into(),
    };
    let (mermaid, dot) = (graph::mermaid(&picture), graph::dot(&picture));
    for (number, name) in lanes.iter().enumerate() {
        assert!(mermaid.contains(&format!("subgraph l{number}[\"{name}\"]")));
        assert!(dot.contains(&format!("label=\"{name}\"")));
    }
    assert!(
        !mermaid.contains(" class "),
        "nothing is known of any build"
    );
}

/// What only carries bytes is no node, and what it carries arrives all the same.
#[test]
fn every_node_has_a_way_to_the_output() {
    let picture = sample();
    let lane = &picture.lanes[0];
    let mut reach = vec![false; lane.nodes.len()];
    let output = lane.nodes.iter().position(|node| node.kind == Kind::Output);
    reach[output.expect("an output")] = true;
    for _ in 0..lane.nodes.len() {
        for edge in &lane.edges {
            reach[edge.from] |= reach[edge.to];
        }
    }
    let lost = (0..lane.nodes.len()).filter(|node| !reach[*node]);
    let lost: Vec<&str> = lost.map(|node| lane.nodes[node].id.as_str()).collect();
    assert_eq!(lost, [""; 0]);
    let by = |from: &str, to: &str| {
        let id = |node: usize| lane.nodes[node].id.as_str();
        let found = lane
            .edges
            .iter()
            .find(|edge| id(edge.from) == from && id(edge.to) == to);
        found.map(|edge| edge.by)
    };
    assert_eq!(by("toolchain/wrapper", "onnx/build"), Some(By::Key));
    assert_eq!(by("onnx/build", "media:merge"), Some(By::Content));
    assert_eq!(by("media:merge", "gate:arch"), Some(By::Content));
    assert_eq!(by("gate:arch", "image:add"), Some(By::Wait));
    assert_eq!(by("gate:arch", "output"), Some(By::Wait));
    assert_eq!(by("image/index", "final"), Some(By::Key));
}

#[test]
fn levers_say_what_impact_says() {
    let picture = sample();
    let lane = &picture.lanes[0];
    let names = |nodes: &[usize]| {
        let ids = nodes.iter().map(|node| lane.nodes[*node].id.as_str());
        ids.collect::<Vec<_>>().join(" ")
    };
    let levers: BTreeMap<(LeverKind, &str), _> = lane
        .levers
        .iter()
        .map(|lever| ((lever.kind, lever.name.as_str()), lever))
        .collect();
    let moved = |kind, name| {
        let lever = levers[&(kind, name)];
        (names(&lever.must), names(&lever.may))
    };
    let (must, may) = moved(LeverKind::Pin, "LITERT_VERSION");
    assert_eq!(must, "litert/build");
    assert_eq!(may, "media:merge image:add image/index gate:arch");
    let (must, may) = moved(LeverKind::File, "src/opencv.c");
    assert_eq!(must, "opencv/build");
    assert_eq!(may, "media:merge image:add image/index gate:arch");
    let (must, _) = moved(LeverKind::Arg, "OPTIMIZE");
    let all = "onnx/build ffmpeg/build opencv/build litert/build tvm/build";
    assert_eq!(must, all);
    let host = levers[&(LeverKind::Host, "MEDIA_CACHE_ENDPOINT")];
    assert_eq!((host.must.len(), host.may.len()), (0, 0));
    assert_eq!(names(&host.seen), all);
    // What this lane has no step for moves nothing in it.
    assert!(!levers.contains_key(&(LeverKind::Pin, "CUDA_VERSION")));
}

#[test]
fn a_lane_with_too_many_nodes_has_some_pins_and_files_and_says_how_many_are_left_out() {
    let graph = load(LANES, PINS).graph.expect("a graph");
    let of = |most: usize| {
        let lane = lane_with(&graph, "arm64", &Past::default(), most);
        let count = |kind| {
            lane.levers
                .iter()
                .filter(|lever| lever.kind == kind)
                .count()
        };
        let kinds = [
            LeverKind::Pin,
            LeverKind::File,
            LeverKind::Arg,
            LeverKind::Host,
        ]
        .map(count);
        (kinds, lane.unasked)
    };
    let ([pins, files, args, hosts], none) = of(graph::MOST_NODES);
    assert!(
        pins > 2 && files > 2 && args > 0 && hosts > 0,
        "{pins} {files} {args} {hosts}"
    );
    assert_eq!(none, 0);
    // Room for nothing: what is cheap is there all the same.
    let (found, left) = of(1);
    assert_eq!(found, [0, 0, args, hosts]);
    assert!(left >= pins + files, "{left}");
    // Of four, two are files.
    let nodes = {
        let request = request("arm64", &[]);
        let (plan, facts) = plan(&graph, &request).expect("a plan");
        let options = ExecOptions::default();
        keys::make("g", &request, &plan, &facts, &options, &|_| None)
            .nodes
            .len()
    };
    let ([_, some, ..], less) = of(4 * nodes);
    assert_eq!((some, less), (2, left - 4));
}

/// Names that mean something to a language that a picture is written in.
const HOSTILE: &str = r#"[graph]
name = "a\"] --> <img src=x onerror=alert(1)> </script>"
[lane.l]
platform = "linux/amd64"
output.o = { stage = "s", tag = "x:1" }
[stage.s]
from = { image = "busybox:1.36" }
[[stage.s.step]]
name = "one"
files = ["</script><script>alert(1)</script>.c", "a\"];b{c}|d.c"]
run = ["sh", "-c", "</script><img src=x onerror=alert(1)> \u2028 `x` ${x} \"]"]
"#;

#[test]
fn names_mean_nothing_to_the_languages_of_pictures() {
    let loaded = load(HOSTILE, "");
    let graph = loaded
        .graph
        .as_ref()
        .unwrap_or_else(|_| panic!("{}", crate::common::rendered(&loaded)));
    let mut lane = lane(graph, "l", &Past::default());
    for node in &mut lane.nodes {
        node.label = "a\"] --> b <img src=x> \\ \n #quot; {|}".into();
    }
    let picture = Picture {
        schema: graph::SCHEMA,
        graph: graph.table.name.value.clone(),
        lanes: vec![lane],
    };
    let mermaid = graph::mermaid(&picture);
    let drawn: Vec<&str> = mermaid
        .lines()
        .filter(|line| line.contains("img"))
        .collect();
    assert_eq!(drawn.len(), 3, "{mermaid}");
    for line in drawn {
        let label = line.split('"').nth(1).expect("a label");
        assert!(!label.contains(['<', '>', '{', ']', '|', '`']), "{label}");
        assert_eq!(line.matches('"').count(), 2, "{line}");
    }
    insta::assert_snapshot!("hostile_dot", graph::dot(&picture));
}

#[test]
fn the_sample_as_svg() {
    insta::assert_snapshot!(graph::svg(&sample()));
}

/// The places of the groups of a drawing: left, top, right, bottom.
fn boxes(svg: &str) -> Vec<[f64; 4]> {
    let number = |text: &str| text.parse::<f64>().expect("a number");
    let mut boxes = Vec::new();
    let mut at = (0.0, 0.0);
    for line in svg.lines() {
        for part in line.split('<') {
            let attribute = |name: &str| {
                let (_, rest) = part.split_once(&format!(" {name}=\""))?;
                rest.split('"').next()
            };
            if part.starts_with("g class=") {
                let moved = attribute("transform").expect("a place");
                let (x, y) = moved["translate(".len()..moved.len() - 1]
                    .split_once(' ')
                    .expect("two numbers");
                at = (number(x), number(y));
            }
            if part.starts_with("rect class=\"box\"") {
                let size = ["width", "height"].map(|name| number(attribute(name).expect("a size")));
                boxes.push([at.0, at.1, at.0 + size[0], at.1 + size[1]]);
            }
        }
    }
    boxes
}

#[test]
fn nothing_of_a_drawing_stands_on_anything_else() {
    let picture = sample();
    let boxes = boxes(&graph::svg(&picture));
    assert_eq!(boxes.len(), picture.lanes[0].groups.len());
    for (number, a) in boxes.iter().enumerate() {
        for b in &boxes[number + 1..] {
            let apart = a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1];
            assert!(apart, "{a:?} {b:?}");
        }
    }
}

/// The data of a page, as its script reads it.
fn data(page: &str) -> serde_json::Value {
    let open = "<script id=\"data\" type=\"application/json\">";
    let (_, rest) = page.split_once(open).expect("data");
    let (json, _) = rest.split_once("</script>").expect("an end");
    serde_json::from_str(json).expect("JSON")
}

#[test]
fn a_page_has_all_of_the_picture_and_takes_nothing_from_elsewhere() {
    let picture = sample();
    let page = graph::html(&picture);
    let lane = &data(&page)["lanes"][0];
    assert_eq!(
        lane["nodes"].as_array().map(Vec::len),
        Some(picture.lanes[0].nodes.len())
    );
    let columns = lane["columns"].as_array().expect("columns");
    let items = columns
        .iter()
        .flat_map(|column| column.as_array().expect("items"));
    let groups = items.filter(|item| item.get("group").is_some()).count();
    assert_eq!(groups, picture.lanes[0].groups.len());
    for outside in ["src=", "href=", "@import", "url(", "https:"] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn names_mean_nothing_to_a_page_and_a_drawing() {
    let loaded = load(HOSTILE, "");
    let graph = loaded.graph.as_ref().expect("a graph");
    let picture = Picture {
        schema: graph::SCHEMA,
        graph: graph.table.name.value.clone(),
        lanes: vec![lane(graph, "l", &Past::default())],
    };
    let page = graph::html(&picture);
    assert_eq!(page.matches("</script>").count(), 2, "the page's own");
    assert_eq!(page.matches("<img").count(), 0);
    let told = data(&page).to_string();
    assert!(
        told.contains("</script><img src=x onerror=alert(1)>"),
        "{told}"
    );
    let svg = graph::svg(&picture);
    assert_eq!(
        svg.matches("<img").count() + svg.matches("<script").count(),
        0
    );
}
