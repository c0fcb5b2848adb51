//! What a caller did not pass and a step needs. The engine names it, and neither the step nor what to do.

use stages::diag::Span;
use stages::plan::{Plan, PlannedStep};

/// What to pass, and the lines of the step that needs it, if that is what an engine's message tells of.
pub(super) fn to_pass<'p>(plan: &'p Plan, message: &str) -> Option<(String, &'p Span)> {
    let mut steps = plan.stages.iter().flat_map(|stage| &stage.steps);
    steps.find_map(|step| Some((of_step(step, message)?, &step.span)))
}

fn of_step(step: &PlannedStep, message: &str) -> Option<String> {
    let no_secret = |id: &str| message.contains(&format!("secret {id}: not found"));
    let mut hosts = step.host.iter().filter(|host| host.required());
    if let Some(host) = hosts.find(|host| no_secret(&host.name)) {
        let name = &host.name;
        return Some(format!(
            "host setting {name} is needed and was not given: pass --secret id={name},env={name}"
        ));
    }
    let mut secrets = step.secrets.iter().filter(|secret| secret.required);
    if let Some(secret) = secrets.find(|secret| no_secret(&secret.id)) {
        let id = &secret.id;
        return Some(format!(
            "secret {id} is needed and was not given: pass --secret id={id},src=FILE"
        ));
    }
    // The first is said by a client that passes other agents, the second where it passes none (BuildKit's
    // `session/sshforward/sshprovider` and `solver/llbsolver/mounts`).
    let no_agent = |id: &str| {
        let unset = format!("unset ssh forward key {id}");
        let ends = message
            .lines()
            .any(|line| line.trim_end().ends_with(&unset));
        ends || message.contains(&format!("no SSH key \"{id}\" forwarded from the client"))
    };
    let mut agents = step.ssh.iter().filter(|agent| agent.required);
    let id = &agents.find(|agent| no_agent(&agent.id))?.id;
    Some(format!(
        "SSH agent {id} is needed and was not given: pass --ssh {id}"
    ))
}
