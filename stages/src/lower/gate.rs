//! Gates: `inspect → assert → seal`.
//!
//! The seal mounts a product read-only *with an output*. BuildKit hands the input of such a mount
//! on as its output (`frontend/gateway/container/container.go`, `PrepareMounts`), so what stands
//! behind the seal waits for the verdict, but has the product's own key: adding, changing or
//! removing a gate re-runs nothing.
//!
//! Policy enters only the assert, and lanegate only by the bytes of its one file.

use llb::{
    Bind, ContentCache, Copy, Digest, Exec, FileOp, Metadata, MkDir, MkFile, Network, Output, Root,
    Run, caps,
};

use super::step::FILE_MODE;
use super::{Attested, Failed, LoweredGate, Lowering};
use crate::diag::rule;
use crate::plan::windows::{command_line, with_drive};
use crate::plan::{PlannedGate, StageIndex, TreePath, directories};

/// Name of the report in [`LoweredGate::inspect`].
pub const REPORT: &str = "report.json";
/// Name of the report with its verdict in [`LoweredGate::assert`].
pub const VERDICT: &str = "verdict.json";

/// What the predicates in [`Attested::made`] are: in-toto's test results.
pub const PREDICATE_TYPE: &str = "https://in-toto.io/attestation/test-result/v0.1";

/// Directory of the lane's report among those of its gates.
const LANE: &str = "/lane";
/// The forms of that report, each with its file.
const FORMS: [(&str, &str); 3] = [
    ("json", "report.json"),
    ("junit", "junit.xml"),
    ("sarif", "report.sarif"),
];

const LANEGATE: &str = "/lanegate";
const PRODUCT: &str = "/product";
const OUT: &str = "/out";
/// The same directory with a `/` at its end.
const OUT_DIR: &str = "/out/";
/// Where a policy stands on a Windows root.
const POLICY_DIR: &str = "/lanekit-policy";
/// The file that is lanegate, on Windows.
const LANEGATE_EXE: &str = "/lanegate.exe";

/// Where a report stands that was made outside of the build.
const GIVEN: &str = "/given";
/// Where a gate's own keys stand.
const ASK: &str = "/ask.json";
/// Where a recorded step has lanegate, and what it writes.
pub(super) const RECORDER: &str = "/.lanekit/lanegate";
pub(super) const RECORD: &str = "/.lanekit/out";

/// A product that a gate looks at.
struct Looked<'g> {
    of: StageIndex,
    roots: &'g [TreePath],
    /// Where it appears below [`PRODUCT`].
    at: String,
    /// What `--root` says.
    root: String,
}

impl Lowering<'_> {
    /// A step with lanegate around its command, and the place of what that writes down.
    pub(super) fn recorded(&self, command: Vec<String>) -> Result<(Vec<String>, Bind), Failed> {
        let Some(binary) = self.host.lanegate.clone() else {
            let text = "a recorded step needs lanegate, which is in the frontend image; there is none here";
            return Err(Failed::new(rule::ENGINE, text));
        };
        let around = [RECORDER, "run", "--out", RECORD, "--env", "--"].map(str::to_owned);
        let bind = Bind::read_only(binary).selector(LANEGATE)?;
        Ok((around.into_iter().chain(command).collect(), bind))
    }

    /// A product for those that the gates hold back.
    pub(super) fn held(
        &mut self,
        producer: StageIndex,
        product: Output,
        gates: Vec<usize>,
    ) -> Result<Output, Failed> {
        let key = (producer, gates);
        if let Some(seal) = self.seals.get(&key) {
            return Ok(seal.clone());
        }
        let lowered = key
            .1
            .iter()
            .map(|&g| self.gate(g))
            .collect::<Result<Vec<_>, _>>()?;
        let seal = self.seal(&self.plan.stages[producer].name, product, &lowered)?;
        self.seals.insert(key, seal.clone());
        Ok(seal)
    }

    /// The output behind all gates.
    pub(super) fn sealed(&mut self, output: Output) -> Result<Output, Failed> {
        let gates = (0..self.plan.gates.len())
            .map(|gate| self.gate(gate))
            .collect::<Result<Vec<_>, _>>()?;
        if gates.is_empty() {
            return Ok(output);
        }
        self.seal("output", output, &gates)
    }

    /// What all gates saw and decided as one tree, red ones too: `NAME.json` of each, and the
    /// lane's report in the directory [`LANE`], where no gate's name can be.
    pub(super) fn reports(&mut self) -> Result<Output, Failed> {
        let gates = (0..self.plan.gates.len())
            .map(|index| self.gate(index))
            .collect::<Result<Vec<_>, _>>()?;
        let merged = self.made(&self.merged(&gates)?)?;
        let mut op = FileOp::new(self.gate_base()?);
        let mut at = "/";
        for gate in gates {
            at = gate.at;
            let to = format!("/{}.json", gate.name);
            op = op.copy(Copy::new(gate.inspect, format!("{at}{REPORT}"), to));
        }
        for (_, file) in FORMS {
            let (from, to) = (format!("{at}{file}"), format!("{LANE}/{file}"));
            op = op.copy(Copy::new(merged.clone(), from, to).make_parents());
        }
        let metadata = Metadata::named("[gates] reports");
        Ok(op.metadata(metadata).build()?)
    }

    /// The verdicts of these gates as one report, in each form.
    fn merged(&self, gates: &[LoweredGate]) -> Result<Run, Failed> {
        let mut args = vec!["merge".to_owned()];
        args.extend(self.verdicts(gates));
        for (form, file) in FORMS {
            let out = self.gate_place(&format!("{OUT_DIR}{file}"));
            args.extend(["--format", form, "--out", &out].map(str::to_owned));
        }
        // Who asks for the reports wants them, whatever they say.
        args.push("--defer".to_owned());
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let exec = self.shown_verdicts(self.writing(&args)?, gates)?;
        Ok(exec.metadata(Metadata::named("[gates] merge")).build()?)
    }

    /// What the output's gates say of it, as predicates; nothing where no gate does.
    pub(super) fn attested(&mut self) -> Result<Option<Attested>, Failed> {
        let gates = (0..self.plan.gates.len())
            .map(|gate| self.gate(gate))
            .collect::<Result<Vec<_>, _>>()?;
        let Some(at) = gates.first().map(|gate| gate.at) else {
            return Ok(None);
        };
        let out = self.gate_place(OUT);
        let mut args = vec!["merge".to_owned()];
        args.extend(self.verdicts(&gates));
        args.extend(["--predicates".to_owned(), out]);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let exec = self.shown_verdicts(self.writing(&args)?, &gates)?;
        let run = exec.metadata(Metadata::named("[gates] attest")).build()?;
        Ok(Some(Attested {
            made: self.made(&run)?,
            paths: gates
                .iter()
                .map(|gate| format!("{at}{}.json", gate.name))
                .collect(),
        }))
    }

    /// The arguments that name verdicts, with the policies that they must be of.
    fn verdicts(&self, gates: &[LoweredGate]) -> Vec<String> {
        let mut args = Vec::new();
        for gate in gates {
            let verdict = self.gate_place(&format!("/verdicts/{}/{VERDICT}", gate.name));
            args.push(format!("{}={verdict}", gate.name));
            args.extend([
                "--policy".to_owned(),
                format!("{}={}", gate.name, gate.policy),
            ]);
        }
        args
    }

    /// The verdicts where those arguments say.
    fn shown_verdicts(&self, mut exec: Exec, gates: &[LoweredGate]) -> Result<Exec, Failed> {
        for gate in gates {
            let at = self.gate_place(&format!("/verdicts/{}", gate.name));
            exec = exec.mount(at, self.seen(&gate.assert)?);
        }
        Ok(exec)
    }

    /// The vertices of a gate, made when first needed.
    fn gate(&mut self, index: usize) -> Result<LoweredGate, Failed> {
        if let Some(gate) = &self.gates[index] {
            return Ok(gate.clone());
        }
        let gate = &self.plan.gates[index];
        let lowered = self.lower_gate(gate).map_err(|e| e.within(&gate.span))?;
        self.gates[index] = Some(lowered.clone());
        Ok(lowered)
    }

    fn lower_gate(&self, gate: &PlannedGate) -> Result<LoweredGate, Failed> {
        let inspect = match &gate.report {
            None => self.inspect(gate)?,
            Some(path) => self.accept(gate, path)?,
        };
        let inspect = self.made(&inspect)?;
        let assert = self.made(&self.assert(gate, &inspect)?)?;
        let policy = Digest::of(gate.policy.as_bytes());
        let (name, span) = (gate.name.clone(), gate.span.clone());
        Ok(LoweredGate {
            name,
            inspect,
            assert,
            at: if self.gates_on_windows() {
                OUT_DIR
            } else {
                "/"
            },
            policy,
            span,
        })
    }

    fn inspect(&self, gate: &PlannedGate) -> Result<Run, Failed> {
        let target = gate.target.to_string();
        let report = self.gate_place(&format!("{OUT}/{REPORT}"));
        let mut args = vec!["inspect", gate.check, "--target", &target];
        let products = self.looked_at(gate);
        let roots: Vec<String> = products
            .iter()
            .map(|product| product.root.clone())
            .collect();
        for root in &roots {
            args.extend(["--root", root.as_str()]);
        }
        let ask = self.gate_place(ASK);
        if !gate.ask.is_empty() {
            args.extend(["--ask-file", ask.as_str()]);
        }
        args.extend(["--report", report.as_str()]);
        let name = format!(
            "[gate {}] inspect {}",
            gate.name, self.plan.stages[gate.of].name
        );
        let mut exec = self.writing(&args)?;
        if !gate.ask.is_empty() {
            exec = exec.mount(ask, self.ask(gate)?);
        }
        for setting in &gate.host {
            exec = exec.secret_env(setting, setting, true);
        }
        if gate.check == "floors" {
            exec = exec.mount(self.gate_place(PRODUCT), self.policies(gate)?);
        } else {
            for product in products {
                exec = self.shown(exec, &product)?;
            }
        }
        Ok(exec
            .metadata(self.stage_metadata(name, &gate.span, &gate.name))
            .build()?)
    }

    /// A report that was made outside of the build, in place of inspect: what comes of it is a
    /// report in either case. The file may be missing, which is for the verdict to say.
    fn accept(&self, gate: &PlannedGate, path: &str) -> Result<Run, Failed> {
        let target = gate.target.to_string();
        let out = self.gate_place(&format!("{OUT}/{REPORT}"));
        let (product, given) = (self.gate_place(PRODUCT), self.gate_place(GIVEN));
        let file = self.gate_place(&format!("{GIVEN}/{REPORT}"));
        let ask = self.gate_place(ASK);
        let mut args = vec![
            "accept", gate.check, "--gate", &gate.name, "--of", &product, "--target", &target,
            "--given", &file,
        ];
        if !gate.ask.is_empty() {
            args.extend(["--ask-file", ask.as_str()]);
        }
        args.extend(["--report", out.as_str()]);
        let mut exec = self.writing(&args)?.mount(given, self.given(gate, path)?);
        if !gate.ask.is_empty() {
            exec = exec.mount(ask, self.ask(gate)?);
        }
        for product in self.looked_at(gate) {
            exec = self.shown(exec, &product)?;
        }
        let name = format!("[gate {}] accept {path}", gate.name);
        Ok(exec
            .metadata(self.stage_metadata(name, &gate.span, &gate.name))
            .build()?)
    }

    /// The file of the context, if it is there, as [`REPORT`] of a mount.
    fn given(&self, gate: &PlannedGate, path: &str) -> Result<Bind, Failed> {
        let windows = self.gates_on_windows();
        let dir = if windows { GIVEN } else { "" };
        let mut op = FileOp::new(self.gate_base()?);
        if windows {
            op = op.mkdir(MkDir::new(GIVEN, 0o755));
        }
        let from = format!("/{}", perhaps(path));
        let copy = Copy::new(self.context_for(path)?, from, format!("{dir}/{REPORT}"));
        let copy = copy.wildcard(true).follow_symlink().mode(FILE_MODE);
        let metadata = self.metadata(format!("[gate {}] report", gate.name), &gate.span);
        let bind = Bind::read_only(op.copy(copy).metadata(metadata).build()?);
        Ok(if windows { bind.selector(GIVEN)? } else { bind })
    }

    /// The products that a gate looks at, each with the root that it is to inspect.
    fn looked_at<'g>(&self, gate: &'g PlannedGate) -> Vec<Looked<'g>> {
        if gate.against.is_empty() {
            // The label is empty: paths in the report are those in the product.
            let root = format!("{}=", self.gate_place(PRODUCT));
            let at = String::new();
            let (of, roots) = (gate.of, gate.roots.as_slice());
            return vec![Looked {
                of,
                roots,
                at,
                root,
            }];
        }
        let own = [(gate.of, gate.roots.as_slice())];
        let others = gate
            .against
            .iter()
            .map(|(of, roots)| (*of, roots.as_slice()));
        own.into_iter()
            .chain(others)
            .map(|(of, roots)| {
                let name = &self.plan.stages[of].name;
                let at = format!("/{name}");
                let root = format!("{}={name}", self.gate_place(&format!("{PRODUCT}{at}")));
                Looked {
                    of,
                    roots,
                    at,
                    root,
                }
            })
            .collect()
    }

    /// What of a product a gate sees, as mounts.
    fn shown(&self, exec: Exec, product: &Looked<'_>) -> Result<Exec, Failed> {
        let mut exec = exec;
        for place in directories(product.roots) {
            let (owner, from) = self.source(product.of, place);
            let output = self.product_at(owner, &from)?;
            let at = format!("{PRODUCT}{}{}", product.at, place.trim_end_matches('/'));
            let bind = Bind::read_only(output).selector(&from)?;
            exec = exec.mount(self.gate_place(&at), bind);
        }
        Ok(exec)
    }

    /// What inspect is told, as a mount of one file.
    fn ask(&self, gate: &PlannedGate) -> Result<Bind, Failed> {
        let file = MkFile::new(ASK, 0o644, gate.ask.as_bytes());
        let metadata = self.metadata(format!("[gate {}] ask", gate.name), &gate.span);
        let op = FileOp::new(self.gate_base()?)
            .mkfile(file)
            .metadata(metadata);
        Ok(Bind::read_only(op.build()?).selector(ASK)?)
    }

    /// The policies of all other gates, each a file.
    fn policies(&self, gate: &PlannedGate) -> Result<Bind, Failed> {
        let others = self.plan.gates.iter().filter(|one| one.name != gate.name);
        let files = others.map(|other| (format!("{}.json", other.name), other.policy.as_str()));
        self.policy_files(gate, "policies", files)
    }

    /// A red assert still succeeds (`--defer`): the seal is what fails, when its product is
    /// ready, so that a red gate stops no running step and its verdict can be read.
    fn assert(&self, gate: &PlannedGate, inspect: &Output) -> Result<Run, Failed> {
        let policy = self.policy(gate)?;
        let report = self.gate_place(&format!("/in/{REPORT}"));
        let out = self.gate_place(&format!("{OUT}/{VERDICT}"));
        let policy_path = self.gate_place("/policy/policy.json");
        let (name, policy_flag) = (gate.name.as_str(), "--policy");
        let args = [
            "assert",
            "--gate",
            name,
            policy_flag,
            &policy_path,
            "--report",
            &report,
            "--out",
            &out,
            "--defer",
        ];
        let exec = self
            .writing(&args)?
            .mount(self.gate_place("/in"), self.seen(inspect)?)
            .mount(self.gate_place("/policy"), policy);
        let name = format!("[gate {}] assert", gate.name);
        Ok(exec
            .metadata(self.stage_metadata(name, &gate.span, &gate.name))
            .build()?)
    }

    fn seal(&self, what: &str, product: Output, gates: &[LoweredGate]) -> Result<Output, Failed> {
        let mut args = vec!["seal".to_owned()];
        args.extend(self.verdicts(gates));
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let exec = self.shown_verdicts(self.lanegate(&args)?, gates)?;
        let mut metadata = Metadata::named(format!("[seal] {what}"));
        for gate in gates {
            metadata = metadata.at(self.lines.location(&gate.span));
        }
        let mut product = Bind::sealed(product);
        // Without this a miss of the fast key would hash the whole product for nothing.
        if self.host.caps.supports(caps::EXEC_MOUNT_CONTENT_CACHE) {
            product = product.content(ContentCache::Off);
        }
        let at = self.gate_place(PRODUCT);
        let run = exec.mount(&at, product).metadata(metadata).build()?;
        Ok(run.output(&at)?)
    }

    /// lanegate on an empty root: no network, no environment, nothing of the lane. Windows has no
    /// empty root: there it runs on the lane's base image.
    pub(super) fn lanegate(&self, args: &[&str]) -> Result<Exec, Failed> {
        let Some(binary) = self.host.lanegate.clone() else {
            let text = "gates need lanegate, as merges that compare do: it is in the frontend image, and there is none here";
            return Err(Failed::new(rule::ENGINE, text));
        };
        let (file, root, platform) = if self.gates_on_windows() {
            let base = self.base_image()?;
            let root = FileOp::new(Some(base.root.clone()))
                .mkdir(MkDir::new(OUT, 0o755))
                .metadata(Metadata::named("[gates] root"))
                .build()?;
            (LANEGATE_EXE, Root::writable(root), base.platform.clone())
        } else {
            (LANEGATE, Root::scratch(), self.host.worker.clone())
        };
        let program = self.gate_place(file);
        let args = std::iter::once(program.as_str()).chain(args.iter().copied());
        let args: Vec<String> = args.map(str::to_owned).collect();
        let args = if self.gates_on_windows() {
            vec![command_line(&args)]
        } else {
            args
        };
        let exec = Exec::new(platform, root, args)
            .cwd(self.gate_place("/"))
            .network(Network::None)
            .mount(program, Bind::read_only(binary).selector(file)?);
        Ok(exec)
    }

    /// lanegate with a directory that it writes to: on Windows its root has one.
    fn writing(&self, args: &[&str]) -> Result<Exec, Failed> {
        let exec = self.lanegate(args)?;
        Ok(if self.gates_on_windows() {
            exec
        } else {
            exec.mount(OUT, Bind::scratch())
        })
    }

    /// The policy of a gate, as a mount.
    fn policy(&self, gate: &PlannedGate) -> Result<Bind, Failed> {
        let file = ("policy.json".to_owned(), gate.policy.as_str());
        self.policy_files(gate, "policy", [file])
    }

    /// Policies as files of a mount. On Windows they lie in a directory of a system, because
    /// nothing can be written into an empty root there.
    fn policy_files<'t>(
        &self,
        gate: &PlannedGate,
        what: &str,
        files: impl IntoIterator<Item = (String, &'t str)>,
    ) -> Result<Bind, Failed> {
        let windows = self.gates_on_windows();
        let mut op = FileOp::new(self.gate_base()?);
        if windows {
            op = op.mkdir(MkDir::new(POLICY_DIR, 0o755));
        }
        let dir = if windows { POLICY_DIR } else { "" };
        for (name, text) in files {
            let path = format!("{dir}/{name}");
            op = op.mkfile(MkFile::new(path, 0o644, text.as_bytes()));
        }
        let metadata = self.metadata(format!("[gate {}] {what}", gate.name), &gate.span);
        let bind = Bind::read_only(op.metadata(metadata).build()?);
        Ok(if windows {
            bind.selector(POLICY_DIR)?
        } else {
            bind
        })
    }

    /// What a run of lanegate made, as another one sees it.
    fn seen(&self, made: &Output) -> Result<Bind, Failed> {
        let bind = Bind::read_only(made.clone());
        Ok(if self.gates_on_windows() {
            bind.selector(OUT)?
        } else {
            bind
        })
    }

    /// What holds the file that a run of lanegate made.
    fn made(&self, run: &Run) -> Result<Output, Failed> {
        Ok(if self.gates_on_windows() {
            run.root()?
        } else {
            run.output(OUT)?
        })
    }

    fn gates_on_windows(&self) -> bool {
        self.host.worker.is_windows()
    }

    fn gate_place(&self, path: &str) -> String {
        if self.gates_on_windows() {
            with_drive(path)
        } else {
            path.to_owned()
        }
    }

    fn gate_base(&self) -> Result<Option<Output>, Failed> {
        Ok(if self.gates_on_windows() {
            Some(self.base_image()?.root.clone())
        } else {
            None
        })
    }
}

/// A path as a pattern that nothing else matches (`[g]ates/a.json`): where there is no such file
/// the engine then copies nothing, which it allows for patterns alone. Its first character is the
/// pattern, since the directory in front of the first pattern must be there (fsutil
/// `copy.ResolveWildcards`).
fn perhaps(path: &str) -> String {
    let mut chars = path.char_indices();
    match chars.find(|(_, c)| !matches!(c, '/' | ']' | '^')) {
        Some((at, c)) => format!("{}[{c}]{}", &path[..at], &path[at + c.len_utf8()..]),
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_pattern_of_itself_alone() {
        for (path, pattern) in [
            ("gates/device.json", "[g]ates/device.json"),
            ("é", "[é]"),
            ("^]a", "^][a]"),
        ] {
            assert_eq!(perhaps(path), pattern);
        }
    }
}
