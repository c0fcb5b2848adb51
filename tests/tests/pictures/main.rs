//! The page of `lanekit graph` in a browser, at 40 and at 400 steps: that it can be read, and that it does what it says.
//! `cargo xtask test --only pictures` finds or unpacks the browser; pictures of the window go to `target/pictures`.

mod browser;
mod sample;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

use browser::{Look, Page};
use sample::{CHANGED, Sample};

const SMALL: usize = 40;
const LARGE: usize = 400;
const WINDOW: (u32, u32) = (1440, 900);

static FORTY: LazyLock<Sample> = LazyLock::new(|| Sample::new(SMALL));
static FOUR_HUNDRED: LazyLock<Sample> = LazyLock::new(|| Sample::new(LARGE));

fn open(sample: &Sample) -> Page {
    let look = Look {
        scheme: "light",
        size: WINDOW,
    };
    Page::open(sample.page(), look)
}

#[derive(Deserialize)]
struct Overlaps {
    texts: usize,
    pairs: Vec<String>,
}

#[derive(Deserialize)]
struct Unreadable {
    texts: usize,
    bad: Vec<String>,
}

/// Makes sure that what is seen can be read, and that nothing of the picture stands on anything else, seen or not; how
/// many texts are seen.
fn is_readable(page: &mut Page, what: &str) -> usize {
    for whole in [false, true] {
        let found: Overlaps = page.eval(&format!("look.overlaps({whole})"));
        assert!(found.texts > 20, "{what}: {} texts", found.texts);
        assert!(found.pairs.is_empty(), "{what}: {:#?}", found.pairs);
    }
    let found: Unreadable = page.eval("look.unreadable(9)");
    assert!(found.bad.is_empty(), "{what}: {:#?}", found.bad);
    let cut: Vec<String> = page.eval("look.cut()");
    assert!(cut.is_empty(), "{what}: cut without a tooltip: {cut:#?}");
    found.texts
}

#[test]
fn texts_are_read_and_stand_on_nothing_at_both_sizes_in_light_and_dark() {
    for (sample, steps) in [(&*FORTY, SMALL), (&*FOUR_HUNDRED, LARGE)] {
        let nodes = sample.nodes("amd64");
        let count = nodes.iter().filter(|node| node["kind"] == "step").count();
        assert_eq!(count, steps);
        let file = sample.page();
        for scheme in ["light", "dark"] {
            let look = Look {
                scheme,
                size: WINDOW,
            };
            let mut page = Page::open(file, look);
            let name = format!("{steps}-{scheme}");
            let texts = is_readable(&mut page, &name);
            println!("{name}: {texts} texts are seen and can be read, none stands on another");
            page.shot(&name);

            page.click("look.saying('#pages button', 'What if…')");
            page.click("look.saying('#levers li', 'OPTIMIZE')");
            is_readable(&mut page, &format!("{name}, what if"));
            page.shot(&format!("{name}-what-if"));
            page.key("Escape");

            page.key("f");
            is_seen_whole(&mut page, &name);
            page.shot(&format!("{name}-all"));
            let fold = if steps == SMALL {
                "Fold stages"
            } else {
                "Unfold stages"
            };
            page.click(&format!("look.saying('#tools button', '{fold}')"));
            is_readable(&mut page, &format!("{name}, {fold}"));
            page.shot(&format!(
                "{name}-{}",
                if steps == SMALL { "folded" } else { "unfolded" }
            ));

            page.click("look.saying('#lanes button', 'arm64')");
            is_readable(&mut page, &format!("{name}, failed"));
            page.shot(&format!("{name}-failed"));
            page.is_quiet();
        }
    }
}

/// The bounds of `docs/decisions/0120-pictures.md`; `cargo xtask bench keys` holds the one of 5,000 steps.
#[test]
fn a_page_is_small_at_both_sizes_and_has_all_of_its_levers() {
    for (sample, most) in [(&*FORTY, 256 << 10), (&*FOUR_HUNDRED, 1 << 20)] {
        let page = std::fs::read_to_string(sample.page()).expect("a page");
        println!("a page of {} bytes, of at most {most}", page.len());
        assert!(page.len() <= most, "{} bytes", page.len());
        assert!(page.contains("\"unasked\":0"));
        let none = sample.components().iter().find(|component| {
            let pin = format!("\"kind\":\"pin\",\"name\":\"{}\"", component.pin);
            !page.contains(&pin)
        });
        assert!(none.is_none(), "no lever of {}", none.expect("one").pin);
    }
}

/// Makes sure that every stage, gate and output can be read at once, by its name.
fn is_seen_whole(page: &mut Page, what: &str) {
    let groups: BTreeSet<String> =
        page.eval("[...document.querySelectorAll('.group')].map((group) => group.ariaLabel)");
    assert!(groups.len() > 15, "{what}: {} groups", groups.len());
    let tiles: BTreeSet<String> = page.eval("look.tiles()");
    assert_eq!(tiles, groups, "{what}: what is seen from afar");
    let seen: Overlaps = page.eval("look.overlaps()");
    assert_eq!(seen.pairs, Vec::<String>::new(), "{what}, from afar");
    let small: Unreadable = page.eval("look.unreadable(9)");
    assert_eq!(small.bad, Vec::<String>::new(), "{what}, from afar");
    let cut: Vec<String> = page.eval("look.cut()");
    assert_eq!(cut, Vec::<String>::new(), "{what}: cut without a tooltip");
    let bare: Vec<String> = page.eval(
        "[...document.querySelectorAll('.tile:not(.output)')].filter((tile) => !/^\\d+ (ran|cached|failed|cancelled|not built|must|may)/.test(tile.querySelector('.sum').textContent) || !tile.querySelector('.mark').ariaLabel).map((tile) => tile.textContent)",
    );
    assert_eq!(bare, Vec::<String>::new(), "{what}: a state without a word");
}

#[test]
fn from_afar_a_lane_is_tiles_that_keys_and_clicks_open() {
    let sample = &*FOUR_HUNDRED;
    let mut page = open(sample);
    let focused = "document.activeElement.querySelector('.label').textContent";
    let is_afar = "byId('world').hidden && !byId('tiles').hidden";
    page.eval::<Value>("document.querySelector('.head').focus(); null");
    let first: String = page.eval(focused);
    page.key("f");
    assert!(page.eval::<bool>(is_afar));
    // The focus stays at its stage.
    assert_eq!(page.eval::<String>(focused), first);
    // The change of a pin is seen from afar too, in words.
    page.click("look.saying('#pages button', 'What if…')");
    let pin = &sample.components()[CHANGED].pin;
    page.hover(&format!("look.saying('#levers li', '{pin}')"));
    let name = &sample.components()[CHANGED].name;
    let tile = format!("look.saying('.tile', '{name}')");
    let tag: String = page.eval(&format!("{tile}.querySelector('.tag').textContent"));
    assert!(tag.contains(" must"), "{tag}");
    let told: usize = page.eval("document.querySelectorAll('.tile .tag').length");
    let [must, may] = impact(sample, &[&format!("{pin}=9")]);
    assert!(told > 1 && told <= must.len() + may.len() + 4, "{told}");
    page.shot("400-light-all-what-if");
    page.hover("look.saying('#levers li', 'OPTIMIZE')");
    is_seen_whole(&mut page, "400, a change that moves nearly all");
    let kinds: usize = page.eval("document.querySelectorAll('.tile .tag.must').length");
    assert!(kinds > 100, "{kinds}");
    page.hover("byId('search')");
    // A click opens a stage at full size.
    page.click(&tile);
    assert!(!page.eval::<bool>(is_afar));
    assert_eq!(page.eval::<f64>("view.scale"), 1.0);
    assert_eq!(&page.eval::<String>(focused), name);
    assert!(page.eval::<bool>("look.isSeen(document.activeElement.closest('.group'))"));
    assert!(
        page.eval::<usize>(
            "document.activeElement.closest('.group').querySelectorAll('.row').length"
        ) > 0
    );
    // So does Enter, after arrow keys that go from tile to tile and to the row of tiles below.
    page.key("f");
    assert_eq!(&page.eval::<String>(focused), name);
    page.key("ArrowRight");
    page.key("ArrowDown");
    page.key("ArrowUp");
    page.key("ArrowLeft");
    assert_eq!(&page.eval::<String>(focused), name);
    page.key("ArrowDown");
    let below: String = page.eval(focused);
    assert_ne!(&below, name);
    page.key("Enter");
    assert!(!page.eval::<bool>(is_afar));
    assert_eq!(page.eval::<String>(focused), below);
    // Whatever else shows a step leaves the tiles, and so does zooming in; zooming out comes back to them.
    page.key("f");
    page.key("/");
    page.write("final/licences");
    page.key("Enter");
    assert!(page.eval::<bool>("look.isSeen(document.querySelector('.row.selected'))"));
    for key in ["-", "-"] {
        page.key(key);
    }
    assert!(page.eval::<bool>(is_afar));
    page.key("+");
    assert!(!page.eval::<bool>(is_afar));
    page.key("f");
    page.click("look.saying('#lanes button', 'arm64')");
    assert!(!page.eval::<bool>(is_afar));
    page.is_quiet();
}

#[test]
fn stages_in_which_nothing_happened_share_a_tile_where_there_are_too_many() {
    let sample = Sample::new(600);
    let mut page = open(&sample);
    let groups: usize = page.eval("document.querySelectorAll('.group').length");
    page.key("f");
    let tiles: Vec<String> = page.eval("look.tiles()");
    assert!(tiles.len() < 40, "{} tiles of {groups}", tiles.len());
    let shared = groups + 1 - tiles.len();
    assert_eq!(
        tiles.last().map(String::as_str),
        Some(format!("{shared} other stages").as_str())
    );
    // What ran has a tile of its own.
    assert!(
        tiles.contains(&sample.components()[CHANGED].name),
        "{tiles:?}"
    );
    page.shot("600-light-all");
    page.click("document.querySelector('.tile:last-child')");
    is_seen_whole(&mut page, "600");
    assert!(page.eval::<bool>("document.activeElement.classList.contains('tile')"));
    page.shot("600-light-all-open");
    page.is_quiet();
}

#[test]
fn a_page_fits_small_windows() {
    for size in [(1024, 700), (420, 800)] {
        let look = Look {
            scheme: "light",
            size,
        };
        let mut page = Page::open(FORTY.page(), look);
        is_readable(&mut page, &format!("{size:?}"));
        page.shot(&format!("window-{}", size.0));
        page.is_quiet();
    }
}

/// The names of what is marked so in the picture, all stages unfolded.
fn marked(page: &mut Page, mark: &str) -> BTreeSet<String> {
    let names: Vec<String> = page.eval(&format!("look.names('.{mark}')"));
    names.into_iter().collect()
}

/// What `lanekit impact` says of a change: the steps that must run, and those that may.
fn impact(sample: &Sample, change: &[&str]) -> [BTreeSet<String>; 2] {
    let said = sample.lanekit(&[&["impact", "--format", "json"], change].concat());
    let said: Value = serde_json::from_str(&said).expect("JSON");
    let moved = said["moved"].as_array().expect("a list");
    ["must", "may"].map(|fate| {
        let steps = moved.iter().filter(|step| step["fate"] == fate);
        let steps = steps.filter_map(|step| step["step"].as_str());
        steps.map(str::to_owned).collect()
    })
}

#[test]
fn a_chosen_change_marks_what_impact_says() {
    for sample in [&*FORTY, &*FOUR_HUNDRED] {
        let mut page = open(sample);
        unfold(&mut page);
        let steps: BTreeSet<String> = sample
            .nodes("amd64")
            .iter()
            .filter(|node| node["kind"] == "step")
            .filter_map(|node| node["id"].as_str().map(str::to_owned))
            .collect();
        page.click("look.saying('#pages button', 'What if…')");
        let pin = &sample.components()[CHANGED + 1].pin;
        let pin_changed = format!("{pin}=9");
        let changes: [(&str, &[&str]); 3] = [
            ("OPTIMIZE", &["OPTIMIZE=3"]),
            (pin, &[&pin_changed]),
            ("src/common.h", &["--file", "src/common.h"]),
        ];
        for (lever, change) in changes {
            page.click("byId('filter')");
            page.eval::<Value>("byId('filter').select(); null");
            page.write(lever);
            let option = format!("look.saying('#levers li', '{lever}')");
            let [must, may] = impact(sample, change);
            assert!(!must.is_empty() && !may.is_empty(), "{lever}");
            let is_marked = |page: &mut Page, how: &str| {
                let found = ["must", "may"].map(|mark| {
                    let found = marked(page, mark);
                    found.intersection(&steps).cloned().collect::<BTreeSet<_>>()
                });
                assert_eq!(found, [must.clone(), may.clone()], "{lever}, {how}");
            };
            page.hover(&option);
            is_marked(&mut page, "under the pointer");
            page.click(&option);
            page.hover("byId('search')");
            is_marked(&mut page, "chosen");
            // Not by colour alone.
            let words: Vec<String> = page.eval(
                "[...document.querySelectorAll('.row.must .tag')].map((tag) => tag.textContent)",
            );
            assert!(words.len() >= must.len() && words.iter().all(|word| word == "must"));
            page.key("Escape");
            assert_eq!(
                marked(&mut page, "must"),
                BTreeSet::new(),
                "{lever}, let go"
            );
        }
        page.is_quiet();
    }
}

fn unfold(page: &mut Page) {
    if page.eval("Boolean(look.saying('#tools button', 'Unfold stages'))") {
        page.click("byId('fold')");
    }
}

#[test]
fn the_reason_for_a_run_is_found_in_three_clicks() {
    for sample in [&*FORTY, &*FOUR_HUNDRED] {
        let mut page = open(sample);
        // Another lane is open: one click. The step whose reason is wanted: the second. What it hangs on: the third.
        page.click("look.saying('#lanes button', 'arm64')");
        page.click("look.saying('#lanes button', 'amd64')");
        let step = format!("{}/configure", sample.consumer().name);
        page.click(&format!("look.saying('#build .entry', '{step}')"));
        let changed = &sample.components()[CHANGED];
        let first = format!("{}/{}", changed.name, changed.steps[0]);
        let why: String = page.eval("document.querySelector('#step .why').textContent");
        let because = format!(
            "its input {} has other bytes ({first}: env.VERSION: 1.0 → 2.0)",
            changed.name
        );
        assert_eq!(why, because);
        let last = format!("{}/{}", changed.name, changed.steps.last().expect("a step"));
        page.click(&format!("look.saying('#step .entry', '{last}')"));
        let shown: String = page.eval("document.querySelector('#step h2').textContent");
        assert_eq!(shown, last);
        assert!(page.eval::<bool>("look.isSeen(document.querySelector('.row.selected'))"));
        // The same says the command.
        let said = sample.lanekit(&["explain", &step, "--lane", "amd64"]);
        assert!(said.contains(&because), "{said}");
        page.is_quiet();
    }
}

#[test]
fn search_finds_steps_of_folded_stages_and_values_of_keys() {
    let sample = &*FOUR_HUNDRED;
    let mut page = open(sample);
    let last = sample.components().last().expect("a component");
    let step = format!("{}/{}", last.name, last.steps[0]);
    page.key("/");
    page.write(&step);
    page.shot("400-light-search");
    page.key("Enter");
    let shown: String = page.eval("document.querySelector('#step h2').textContent");
    assert_eq!(shown, step);
    assert!(page.eval::<bool>("look.isSeen(document.querySelector('.row.selected'))"));
    assert!(
        page.eval::<bool>("document.activeElement === document.querySelector('.row.selected')")
    );
    // By a file of its key.
    page.key("/");
    page.eval::<Value>("byId('search').select(); null");
    page.write(&format!("src/{}.c", last.name));
    let found: Vec<String> =
        page.eval("[...document.querySelectorAll('#found .label')].map((one) => one.textContent)");
    assert_eq!(found.first(), Some(&step));
    page.eval::<Value>("byId('search').select(); null");
    page.write("no such thing");
    let none: String = page.eval("byId('found').textContent");
    assert_eq!(none, "Nothing is called so.");
    page.is_quiet();
}

#[test]
fn all_is_reached_by_keys() {
    let sample = &*FORTY;
    let mut page = open(sample);
    let focused = "document.activeElement.id || document.activeElement.textContent";
    // Lanes, search, view, picture, details, in this order.
    let mut reached = Vec::new();
    for _ in 0..9 {
        page.key("Tab");
        reached.push(page.eval::<String>(focused));
    }
    let (base, rest) = (reached.remove(6), &reached);
    assert!(base.starts_with("base"), "{base}");
    let order = ["amd64", "search", "fold", "out", "in", "fit"];
    assert_eq!(rest[..6], order);
    // Arrow keys choose the next lane.
    page.eval::<Value>("byId('lanes').firstChild.focus(); null");
    page.key("ArrowRight");
    assert_eq!(
        page.eval::<String>("document.querySelector('#lanes [aria-selected=true]').textContent"),
        "arm64"
    );
    page.key("Home");
    // From the first stage to what takes it, down its rows, and into one.
    page.eval::<Value>("document.querySelector('.head').focus(); null");
    page.key("ArrowRight");
    page.key("ArrowDown");
    let row: String = page.eval("document.activeElement.ariaLabel");
    assert!(
        page.eval::<bool>("look.isSeen(document.activeElement)"),
        "{row}"
    );
    page.key("Enter");
    let pressed: bool = page.eval("document.activeElement.ariaPressed === 'true'");
    assert!(pressed, "{row}");
    page.shot("40-light-keys");
    page.key("Escape");
    assert!(page.eval::<bool>("document.querySelector('.selected') === null"));
    // A stage folds and unfolds where the focus is.
    page.eval::<Value>("[...document.querySelectorAll('.head')].at(2).focus(); null");
    for expanded in ["false", "true"] {
        page.key("Enter");
        assert_eq!(
            page.eval::<String>("document.activeElement.ariaExpanded"),
            expanded
        );
    }
    // A change is chosen, and let go.
    page.eval::<Value>("byId('page-change').focus(); null");
    page.click("byId('page-change')");
    page.key("Tab");
    page.key("Tab");
    page.key("Enter");
    assert!(page.eval::<bool>("document.querySelector('.row.must') !== null"));
    page.key("Escape");
    assert!(page.eval::<bool>("document.querySelector('.row.must') === null"));
    page.is_quiet();
}

#[test]
fn gates_stand_at_the_edge_with_their_verdicts_and_the_slowest_chain_is_marked() {
    for sample in [&*FORTY, &*FOUR_HUNDRED] {
        let mut page = open(sample);
        unfold(&mut page);
        let gates: Vec<String> = page.eval("look.names('.gate').sort()");
        assert_eq!(
            gates,
            ["gate arch/arch: pass", "gate closure/imports: pass"]
        );
        // Both come before the output, and one before the stage that it holds.
        let waits: usize = page.eval("document.querySelectorAll('#edges .wait').length");
        assert_eq!(waits, 3);
        let red: usize = page.eval("document.querySelectorAll('.gate.red, #edges .red').length");
        assert_eq!(red, 0);
        // All of it was built: nothing says that it was not.
        let unbuilt: Vec<String> = page.eval(
            "[...document.querySelectorAll('.row')].map((row) => row.ariaLabel).filter((text) => text.includes('not built'))",
        );
        assert_eq!(unbuilt, Vec::<String>::new());
        // Nor does an output that is folded: it says what it is called.
        let output = "document.querySelector('.group.output";
        let name: String = page.eval(&format!("{output} .row .label').textContent"));
        page.click(&format!("{output} .head')"));
        let folded: String = page.eval(&format!("{output}').textContent"));
        assert_eq!(folded, format!("output{name}"));
        let marks: usize = page.eval("document.querySelectorAll('.group.output .mark').length");
        assert_eq!(marks, 0);
        page.click(&format!("{output} .head')"));
        let left = |page: &mut Page, name: &str| -> f64 {
            page.eval(&format!(
                "document.querySelector('.group[aria-label=\"{name}\"]').getBoundingClientRect().left"
            ))
        };
        let [media, gate, image, output] =
            ["media", "gate arch", "image", "output"].map(|name| left(&mut page, name));
        assert!(media < gate && gate < image && image < output);

        let path = slowest(sample);
        let marked: BTreeSet<String> = marked(&mut page, "critical");
        let steps: BTreeSet<String> = path.iter().cloned().collect();
        assert!(steps.is_subset(&marked), "{steps:?} {marked:?}");

        // In the other lane the gate `arch` failed: it holds a stage and the output.
        page.click("look.saying('#lanes button', 'arm64')");
        unfold(&mut page);
        let gates: Vec<String> = page.eval("look.names('.gate').sort()");
        assert_eq!(gates, ["gate arch/arch: failed", "gate closure/imports"]);
        let red: usize = page.eval("document.querySelectorAll('#edges .red').length");
        assert_eq!(red, 2);
        // What it holds was not reached, and does not count as cached.
        let held: Vec<String> = page.eval("look.names('.unknown:not(.output)').sort()");
        assert_eq!(held, ["final/licences", "image/add 1", "image/index"]);
        page.is_quiet();
    }
}

/// The slowest chain of steps, as `lanekit impact` has it.
fn slowest(sample: &Sample) -> Vec<String> {
    let said = sample.lanekit(&["impact", "OPTIMIZE=3", "--format", "json"]);
    let said: Value = serde_json::from_str(&said).expect("JSON");
    serde_json::from_value(said["all"]["path"].clone()).expect("a path")
}

#[test]
fn states_have_shapes_and_words_beside_their_colours() {
    let mut page = open(&FORTY);
    let states: Vec<(String, String, String)> = page.eval(
        "[...document.querySelectorAll('#legend .mark')].map((mark) => [mark.classList[1], mark.firstChild.getAttribute('d'), mark.ariaLabel])",
    );
    assert_eq!(states.len(), 5);
    let shapes: BTreeSet<&String> = states.iter().map(|(_, shape, _)| shape).collect();
    assert_eq!(shapes.len(), 5);
    let bare: Vec<String> = page.eval(
        "[...document.querySelectorAll('.row:not(.output)')].filter((row) => !row.ariaLabel.includes(row.querySelector('.mark').ariaLabel)).map((row) => row.ariaLabel)",
    );
    assert_eq!(bare, Vec::<String>::new());
    page.call(
        "Emulation.setEmulatedVisionDeficiency",
        serde_json::json!({ "type": "achromatopsia" }),
    );
    page.shot("40-light-grey");
    page.is_quiet();
}

#[test]
fn a_lane_file_without_a_ledger_makes_a_page_too() {
    let sample = Sample::new(SMALL);
    sample.forget();
    let mut page = open(&sample);
    let title: String = page.eval("document.querySelector('#build h2').textContent");
    assert_eq!(title, "No build is known");
    is_readable(&mut page, "no ledger");
    page.shot("40-light-no-ledger");
    page.is_quiet();
}

#[test]
fn texts_of_a_drawing_fit_into_their_boxes() {
    for (sample, steps) in [(&*FORTY, SMALL), (&*FOUR_HUNDRED, LARGE)] {
        for scheme in ["light", "dark"] {
            let look = Look {
                scheme,
                size: WINDOW,
            };
            let mut page = Page::open(sample.drawing(), look);
            let found: Overlaps = page.eval("look.drawn()");
            assert!(found.texts > steps, "{} texts", found.texts);
            assert_eq!(found.pairs, Vec::<String>::new(), "{steps} {scheme}");
            assert_eq!(
                page.eval::<Vec<String>>("look.over()"),
                Vec::<String>::new()
            );
            page.shot(&format!("drawing-{steps}-{scheme}"));
            page.is_quiet();
        }
    }
}
