//! Gates: `inspect → assert → seal`.
//!
//! The seal mounts a product read-only *with an output*. BuildKit hands the input of such a mount
//! on as its output (`frontend/gateway/container/container.go`, `PrepareMounts`), so what stands
//! behind the seal waits for the verdict, but has the product's own key: adding, changing or
//! removing a gate re-runs nothing.
//!
//! Policy enters only the assert, and lanegate only by the bytes of its one file.

use llb::{
    Bind, ContentCache, Copy, Digest, Exec, FileOp, MkFile, Network, Output, Root, Run, caps,
};

use super::{Failed, LoweredGate, Lowering};
use crate::diag::rule;
use crate::file::Check;
use crate::plan::{PlannedGate, StageIndex, directories};

/// Name of the report in [`LoweredGate::inspect`].
pub const REPORT: &str = "report.json";
/// Name of the report with its verdict in [`LoweredGate::assert`].
pub const VERDICT: &str = "verdict.json";

const LANEGATE: &str = "/lanegate";
const PRODUCT: &str = "/product";
const OUT: &str = "/out";

impl Lowering<'_> {
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

    /// The reports of all gates as one tree, red ones too.
    pub(super) fn reports(&mut self) -> Result<Output, Failed> {
        let mut op = FileOp::new(None);
        for index in 0..self.plan.gates.len() {
            let gate = self.gate(index)?;
            let to = format!("/{}.json", gate.name);
            op = op.copy(Copy::new(gate.inspect, format!("/{REPORT}"), to));
        }
        let metadata = llb::Metadata::named("[gates] reports");
        Ok(op.metadata(metadata).build()?)
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
        let Some(product) = self.products[gate.of].clone() else {
            let text = format!(
                "gate `{}` has nothing to check: its product is empty",
                gate.name
            );
            return Err(Failed::new(rule::GATE, text));
        };
        let inspect = self.inspect(gate, product)?.output(OUT)?;
        let assert = self.assert(gate, &inspect)?.output(OUT)?;
        let policy = Digest::of(gate.policy.as_bytes());
        let (name, span) = (gate.name.clone(), gate.span.clone());
        Ok(LoweredGate {
            name,
            inspect,
            assert,
            policy,
            span,
        })
    }

    fn inspect(&self, gate: &PlannedGate, product: Output) -> Result<Run, Failed> {
        let check = match gate.check {
            Check::Arch => "arch",
        };
        let target = gate.target.to_string();
        // The label is empty: paths in the report are those in the product.
        let root = format!("{PRODUCT}=");
        let report = format!("{OUT}/{REPORT}");
        let args = [
            "inspect", check, "--target", &target, "--root", &root, "--report", &report,
        ];
        let name = format!(
            "[gate {}] inspect {}",
            gate.name, self.plan.stages[gate.of].name
        );
        let mut exec = self.lanegate(&args)?.mount(OUT, Bind::scratch());
        for place in directories(&gate.roots) {
            let bind = Bind::read_only(product.clone()).selector(place)?;
            exec = exec.mount(format!("{PRODUCT}{}", place.trim_end_matches('/')), bind);
        }
        Ok(exec
            .metadata(self.stage_metadata(name, &gate.span, &gate.name))
            .build()?)
    }

    /// A red assert still succeeds (`--defer`): the seal is what fails, when its product is
    /// ready, so that a red gate stops no running step and its verdict can be read.
    fn assert(&self, gate: &PlannedGate, inspect: &Output) -> Result<Run, Failed> {
        let policy = FileOp::new(None)
            .mkfile(MkFile::new("/policy.json", 0o644, gate.policy.as_bytes()))
            .metadata(self.metadata(format!("[gate {}] policy", gate.name), &gate.span))
            .build()?;
        let report = format!("/in/{REPORT}");
        let out = format!("{OUT}/{VERDICT}");
        let policy_path = "/policy/policy.json";
        let (name, policy_flag) = (gate.name.as_str(), "--policy");
        let args = [
            "assert",
            "--gate",
            name,
            policy_flag,
            policy_path,
            "--report",
            &report,
            "--out",
            &out,
            "--defer",
        ];
        let exec = self
            .lanegate(&args)?
            .mount("/in", Bind::read_only(inspect.clone()))
            .mount("/policy", Bind::read_only(policy))
            .mount(OUT, Bind::scratch());
        let name = format!("[gate {}] assert", gate.name);
        Ok(exec
            .metadata(self.stage_metadata(name, &gate.span, &gate.name))
            .build()?)
    }

    fn seal(&self, what: &str, product: Output, gates: &[LoweredGate]) -> Result<Output, Failed> {
        let mut args = vec!["seal".to_owned()];
        for gate in gates {
            args.push(format!("{0}=/verdicts/{0}/{VERDICT}", gate.name));
            args.extend([
                "--policy".to_owned(),
                format!("{}={}", gate.name, gate.policy),
            ]);
        }
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let mut exec = self.lanegate(&args)?;
        let mut metadata = llb::Metadata::named(format!("[seal] {what}"));
        for gate in gates {
            exec = exec.mount(
                format!("/verdicts/{}", gate.name),
                Bind::read_only(gate.assert.clone()),
            );
            metadata = metadata.at(self.lines.location(&gate.span));
        }
        let mut product = Bind::sealed(product);
        // Without this a miss of the fast key would hash the whole product for nothing.
        if self.host.caps.supports(caps::EXEC_MOUNT_CONTENT_CACHE) {
            product = product.content(ContentCache::Off);
        }
        let run = exec.mount(PRODUCT, product).metadata(metadata).build()?;
        Ok(run.output(PRODUCT)?)
    }

    /// lanegate on an empty root: no network, no environment, nothing of the lane.
    pub(super) fn lanegate(&self, args: &[&str]) -> Result<Exec, Failed> {
        let Some(binary) = self.host.lanegate.clone() else {
            let text = "gates need lanegate, as merges that compare do: it is in the frontend image, and there is none here";
            return Err(Failed::new(rule::ENGINE, text));
        };
        let args = std::iter::once(LANEGATE).chain(args.iter().copied());
        Ok(Exec::new(self.host.worker.clone(), Root::scratch(), args)
            .network(Network::None)
            .mount(LANEGATE, Bind::read_only(binary).selector(LANEGATE)?))
    }
}
