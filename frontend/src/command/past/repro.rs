//! `lanekit repro`: runs a step twice, and shows what differs between its two products.
//!
//! The second run is `--no-cache-filter STAGE/STEP`: the engine then looks up no record for that step, while all that it
//! stands on comes from the cache. To ignore the cache empties the step's cache mounts, and a compile cache would hide
//! what differs; so they get names of their own in that run. They are in no key.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use stages::plan::Facts;

use super::buildx::{Buildx, Scratch};
use super::client::Asked;
use super::{Stop, WRONG, print};
use crate::progress::{End, Progress};
use crate::repro::compare;

/// A step that runs twice.
#[derive(Args, Debug)]
pub(in crate::command) struct Repro {
    /// The lane, where it is not the default one, and STAGE/STEP, or STAGE when it has one step
    #[arg(value_names = ["LANE] [STAGE/STEP"], num_args = 1..=2, required = true)]
    step: Vec<String>,
    /// The lane file
    #[arg(long, short, default_value = "lanes.toml", value_name = "FILE")]
    file: PathBuf,
    /// The directory that steps take files from; without it that of the lane file
    #[arg(long, value_name = "DIRECTORY")]
    context: Option<PathBuf>,
    /// How it is shown
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Options of `docker buildx build`
    #[arg(last = true)]
    options: Vec<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Text,
    Json,
}

impl Repro {
    pub(super) fn run(&self) -> Result<(), Stop> {
        let (lane, step) = match self.step.as_slice() {
            [lane, step] => (Some(lane.clone()), step),
            [step, ..] => (None, step),
            [] => return Err(Stop::Unable("which step?".to_owned())),
        };
        let asked = Asked {
            target: lane,
            file: self.file.clone(),
            context: self.context.clone(),
            args: super::build::Options::read(&self.options).args,
        };
        let (target, step) = find(&asked, step)?;
        let scratch = Scratch::new()?;
        let (first, second) = (scratch.file("first.tar"), scratch.file("second.tar"));
        self.build(&asked, &target, &first, &[])?;
        let namespace = format!(
            "BUILDKIT_CACHE_MOUNT_NS=lanekit-repro-{}",
            std::process::id()
        );
        let anew = ["--no-cache-filter", &step, "--build-arg", &namespace];
        let progress = self.build(&asked, &target, &second, &anew)?;
        if !ran(&progress, &step) {
            let why = format!("{step} did not run a second time: the engine served its record");
            return Err(Stop::Unable(why));
        }
        let found = compare(&first, &second)
            .map_err(|error| Stop::Unable(format!("the product of {step}: {error}")))?;
        print(&match self.format {
            Format::Text => found.text(&step),
            Format::Json => format!("{:#}\n", found.json(&step)),
        })?;
        match found.is_same() {
            true => Ok(()),
            false => Err(Stop::Said(WRONG)),
        }
    }

    fn build(
        &self,
        asked: &Asked,
        target: &str,
        tar: &Path,
        more: &[&str],
    ) -> Result<Progress, Stop> {
        let output = format!("type=tar,dest={}", tar.display());
        // A statement about the build would lie beside the product.
        let build = Buildx::new(asked, target)
            .args(["--output", &output, "--provenance=false"])
            .args(&self.options)
            .args(more);
        match build.run(asked)? {
            (true, progress) => Ok(progress),
            (false, _) => Err(Stop::Unable("the build failed".to_owned())),
        }
    }
}

/// The target that is the product of a step, and the step's whole name.
fn find(asked: &Asked, step: &str) -> Result<(String, String), Stop> {
    let client = asked.open()?;
    let lane = client.plan(&client.request, &Facts::default())?.lane;
    let (stage, name) = match step.split_once('/') {
        Some((stage, name)) => (stage, Some(name)),
        None => (step, None),
    };
    let mut request = client.request.clone();
    request.target = Some(match name {
        Some(name) => format!("{lane}/{stage}/{name}"),
        None => format!("{lane}/{stage}"),
    });
    // An unknown stage or step is said here, with what there is.
    let plan = client.plan(&request, &Facts::default())?;
    let name = match name {
        Some(name) => name.to_owned(),
        None => {
            let stages = plan.stages.iter().filter(|planned| planned.name == stage);
            let steps: Vec<&str> = stages
                .flat_map(|planned| planned.steps.iter().map(|step| step.name.as_str()))
                .collect();
            match steps.as_slice() {
                [only] => (*only).to_owned(),
                [] => return Err(Stop::Unable(format!("stage {stage} has no step"))),
                more => {
                    let names = more.join(", ");
                    let why = format!("which step of {stage}? it has {names}: name {stage}/STEP");
                    return Err(Stop::Unable(why));
                }
            }
        }
    };
    Ok((format!("{lane}/{stage}/{name}"), format!("{stage}/{name}")))
}

fn ran(progress: &Progress, step: &str) -> bool {
    let vertex = format!("[{step}] ");
    let named = progress.vertices.values();
    let mut named = named.filter(|found| found.name.starts_with(&vertex));
    named.any(|found| found.end() == End::Ran)
}
