//! Why a pod cannot start, with the cluster's message and what to do about it.
//! The reasons are the kubelet's (kubernetes, pkg/kubelet/images/types.go, pkg/kubelet/container/sync_result.go) and the scheduler's.

use std::time::Duration;

use k8s_openapi::api::core::v1::{ContainerStateTerminated, ContainerStatus, Event, Pod};

use loadline_platform::mebibytes;

use crate::image::PodImage;

/// The pod of a deployment just removed may still occupy what this one needs.
const UNSCHEDULABLE: Duration = Duration::from_secs(10);
/// The kubelet tries again what took too long on a busy node, ten seconds later (kubernetes, pkg/kubelet/kubelet.go, `backOffPeriod`).
const TIMED_OUT: Duration = Duration::from_secs(40);

/// What keeps a pod from starting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StartupFailure {
    pub why: String,
    /// How long it may last, if it can resolve itself.
    pub may_last: Duration,
    /// Whether the container ran, so that its last output says more.
    pub ran: bool,
}

impl StartupFailure {
    fn permanent(why: String) -> StartupFailure {
        StartupFailure { why, may_last: Duration::ZERO, ran: false }
    }
}

/// What keeps the pod from starting, if anything does.
pub(crate) fn of_pod(pod: &Pod, image: Option<&PodImage>) -> Option<StartupFailure> {
    let status = pod.status.as_ref()?;
    if status.phase.as_deref() == Some("Failed")
        && status.container_statuses.iter().flatten().all(|c| terminated(c).is_none())
    {
        // The kubelet rejected the pod.
        let reason = status.reason.as_deref().unwrap_or("it failed");
        let why = format!("{reason}: {}", status.message.as_deref().unwrap_or("no further details"));
        return Some(StartupFailure::permanent(with_port_hint(why)));
    }
    // Init containers are meant to end, the others are not.
    let preparing = status.init_container_statuses.iter().flatten().map(|container| (container, true));
    let serving = status.container_statuses.iter().flatten().map(|container| (container, false));
    let mut found = preparing
        .chain(serving)
        .filter_map(|(container, may_end)| of_container(pod, container, may_end, image));
    if let Some(found) = found.next() {
        return Some(found);
    }
    let conditions = status.conditions.iter().flatten();
    let unscheduled = conditions.into_iter().find(|c| {
        c.type_ == "PodScheduled" && c.status == "False" && c.reason.as_deref() == Some("Unschedulable")
    })?;
    let why = format!(
        "the scheduler finds no node: {}",
        unscheduled.message.as_deref().unwrap_or("no further details")
    );
    Some(StartupFailure { why: with_port_hint(why), may_last: UNSCHEDULABLE, ran: false })
}

/// What prevented the creation of the pod: a quota, a policy, a webhook. `workload` is what should have created it.
pub(crate) fn of_event(event: &Event, workload: &str) -> Option<StartupFailure> {
    if event.reason.as_deref() != Some("FailedCreate") {
        return None;
    }
    let name = event.involved_object.name.as_deref()?;
    // A ReplicaSet has its Deployment's name and a hash.
    let ours = name.strip_prefix(workload).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    ours.then(|| {
        let said = event.message.as_deref().unwrap_or("no further details");
        StartupFailure::permanent(format!("the cluster rejects it: {said}"))
    })
}

fn of_container(
    pod: &Pod,
    container: &ContainerStatus,
    may_end: bool,
    image: Option<&PodImage>,
) -> Option<StartupFailure> {
    let state = container.state.as_ref();
    if let Some(waiting) = state.and_then(|state| state.waiting.as_ref()) {
        let reason = waiting.reason.as_deref().unwrap_or_default();
        let said = waiting.message.as_deref().unwrap_or("no further details");
        match reason {
            "ErrImageNeverPull"
            | "ErrImagePull"
            | "ImagePullBackOff"
            | "InvalidImageName"
            | "ImageInspectError"
            | "RegistryUnavailable" => {
                let hint =
                    image.map(|image| format!(". To load it there: {}", image.hint)).unwrap_or_default();
                let missing =
                    if reason == "ErrImageNeverPull" { "is not on the node" } else { "cannot be pulled" };
                return Some(StartupFailure::permanent(format!(
                    "the image {} {missing} ({reason}: {said}){hint}",
                    container.image
                )));
            }
            "CreateContainerConfigError"
            | "CreateContainerError"
            | "RunContainerError"
            | "PreStartHookError"
            | "PostStartHookError" => {
                let failure = StartupFailure::permanent(format!("{reason}: {said}"));
                let may_last = if timed_out(said) { TIMED_OUT } else { Duration::ZERO };
                return Some(StartupFailure { may_last, ..failure });
            }
            _ => {}
        }
    }
    let ended = terminated(container)?;
    let done = may_end && ended.exit_code == 0;
    (!done).then(|| StartupFailure {
        why: ending(pod, container, ended),
        may_last: Duration::ZERO,
        ran: true,
    })
}

/// Whether the kubelet gave up waiting: for a ConfigMap, a Secret, or the container runtime.
fn timed_out(message: &str) -> bool {
    message.contains("timed out waiting") || message.contains("deadline exceeded")
}

/// How the container ended, now or the last time.
pub(crate) fn terminated(container: &ContainerStatus) -> Option<&ContainerStateTerminated> {
    let state = container.state.as_ref().and_then(|state| state.terminated.as_ref());
    state.or_else(|| container.last_state.as_ref().and_then(|state| state.terminated.as_ref()))
}

/// Describes how the container ended.
pub(crate) fn ending(pod: &Pod, container: &ContainerStatus, ended: &ContainerStateTerminated) -> String {
    let limit = || {
        let containers = pod.spec.iter().flat_map(|spec| &spec.containers);
        let limits = containers
            .filter(|c| c.name == container.name)
            .filter_map(|c| c.resources.as_ref()?.limits.as_ref());
        limits
            .filter_map(|limits| limits.get("memory"))
            .map(|limit| format!(" of {}", limit.0.parse().map_or(limit.0.clone(), mebibytes)))
            .next()
            .unwrap_or_default()
    };
    match (ended.reason.as_deref(), ended.signal) {
        (Some("OOMKilled"), _) => {
            format!("the kernel's OOM killer ended it: it needs more than its limit{}", limit())
        }
        // The runtimes report a signal as a shell does: 128 and its number.
        (_, Some(signal)) if signal != 0 => format!("it was ended by signal {signal}"),
        (_, _) if ended.exit_code > 128 => format!("it was ended by signal {}", ended.exit_code - 128),
        (Some(reason), _) if !matches!(reason, "Error" | "Completed") => {
            format!("{reason}: {}", ended.message.as_deref().unwrap_or("no further details"))
        }
        _ => format!("it exited on its own (exit status: {})", ended.exit_code),
    }
}

fn with_port_hint(why: String) -> String {
    if why.contains("free ports") || why.starts_with("NodePorts") {
        why + " (another pod on the node uses that host port: give the service another port, or remove that pod)"
    } else {
        why
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn with_container(state: Value, last: Value) -> Pod {
        serde_json::from_value(json!({"status": {"phase": "Running", "containerStatuses": [{
            "name": "service", "image": "localhost/orders:1", "imageID": "", "ready": false, "restartCount": 1,
            "state": state, "lastState": last}]},
            "spec": {"containers": [{"name": "service", "resources": {"limits": {"memory": "64Mi"}}}]}}))
        .unwrap()
    }

    fn waiting(reason: &str, message: &str) -> Pod {
        with_container(json!({"waiting": {"reason": reason, "message": message}}), json!({}))
    }

    fn image() -> PodImage {
        let name = "localhost/orders:1".to_owned();
        PodImage { name, pulled: false, entrypoint: None, hint: "`ctr import`".to_owned() }
    }

    #[test]
    fn a_missing_image_says_how_to_load_it() {
        let found =
            of_pod(&waiting("ErrImageNeverPull", "not present with pull policy of Never"), Some(&image()))
                .unwrap();
        assert_eq!(found.may_last, Duration::ZERO);
        assert!(found.why.contains("the image localhost/orders:1 is not on the node"), "{}", found.why);
        assert!(found.why.contains("To load it there: `ctr import`"), "{}", found.why);
        let pull = of_pod(&waiting("ImagePullBackOff", "Back-off pulling"), None).unwrap();
        assert!(pull.why.contains("cannot be pulled (ImagePullBackOff: Back-off pulling)"), "{}", pull.why);
    }

    #[test]
    fn a_container_that_starts_or_runs_is_not_a_failure() {
        for state in [
            json!({"waiting": {"reason": "ContainerCreating"}}),
            json!({"waiting": {"reason": "PodInitializing"}}),
            json!({"running": {}}),
        ] {
            assert_eq!(of_pod(&with_container(state, json!({})), None), None);
        }
        assert_eq!(of_pod(&Pod::default(), None), None);
    }

    #[test]
    fn a_crash_says_how_it_ended_and_that_there_is_output() {
        let crashed = |ended: Value| {
            let state = json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s"}});
            of_pod(&with_container(state, json!({"terminated": ended})), None).unwrap()
        };
        let exited = crashed(json!({"exitCode": 3, "reason": "Error"}));
        assert!(exited.ran && exited.why == "it exited on its own (exit status: 3)", "{}", exited.why);
        let killed = crashed(json!({"exitCode": 139, "reason": "Error"}));
        assert_eq!(killed.why, "it was ended by signal 11");
        let oom = crashed(json!({"exitCode": 137, "reason": "OOMKilled"}));
        assert_eq!(oom.why, "the kernel's OOM killer ended it: it needs more than its limit of 64Mi");
        // Without a unit it is in bytes, which are hard to read.
        let mut pod =
            with_container(json!({"terminated": {"exitCode": 137, "reason": "OOMKilled"}}), json!({}));
        pod.spec.as_mut().unwrap().containers[0] = serde_json::from_value(json!({"name": "service",
            "resources": {"limits": {"memory": "134217728"}}}))
        .unwrap();
        assert!(of_pod(&pod, None).unwrap().why.ends_with("more than its limit of 128 MiB"));
        let unstartable =
            crashed(json!({"exitCode": 128, "reason": "StartError", "message": "no such file"}));
        assert_eq!(unstartable.why, "StartError: no such file");
    }

    #[test]
    fn lack_of_resources_is_transient_and_a_rejection_is_not() {
        let pod = |message: &str| -> Pod {
            serde_json::from_value(json!({"status": {"phase": "Pending", "conditions": [
                {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}]}}))
            .unwrap()
        };
        let full = of_pod(&pod("0/2 nodes are available: 2 Insufficient cpu."), None).unwrap();
        assert!(full.may_last > Duration::ZERO && full.why.contains("2 Insufficient cpu"), "{}", full.why);
        let port =
            of_pod(&pod("1 node(s) didn't have free ports for the requested pod ports."), None).unwrap();
        assert!(port.why.contains("give the service another port"), "{}", port.why);
        let refused: Pod = serde_json::from_value(json!({"status": {"phase": "Failed", "reason": "OutOfcpu",
            "message": "Pod was rejected: Node didn't have enough resource: cpu"}}))
        .unwrap();
        assert_eq!(of_pod(&refused, None).unwrap().may_last, Duration::ZERO);
    }

    #[test]
    fn what_the_kubelet_waited_for_in_vain_may_come_and_what_is_missing_does_not() {
        let of = |message| of_pod(&waiting("CreateContainerConfigError", message), None).unwrap();
        let late = of("failed to sync configmap cache: timed out waiting for the condition");
        assert!(late.may_last > Duration::ZERO);
        assert_eq!(of("configmap \"settings\" not found").may_last, Duration::ZERO);
    }

    #[test]
    fn a_quota_is_quoted_if_it_is_about_this_workload() {
        let event: Event = serde_json::from_value(json!({"metadata": {}, "reason": "FailedCreate",
            "message": "pods \"x\" is forbidden: exceeded quota: small",
            "involvedObject": {"kind": "ReplicaSet", "name": "loadline-3fa90c-1-5d4f"}}))
        .unwrap();
        assert!(of_event(&event, "loadline-3fa90c-1").unwrap().why.contains("exceeded quota: small"));
        assert_eq!(of_event(&event, "loadline-3fa90c-15"), None);
        assert_eq!(of_event(&event, "loadline-3fa90c-2"), None);
    }
}
