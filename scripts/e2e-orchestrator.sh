#!/usr/bin/env bash
# Another real, unmodified orchestrator and Xila Guard on the same workload: its Pods are admitted and run (A), what crosses the
# boundary is denied (B), and both admissions are in effect (C). A profile is called verified only after a run of this.
#
# usage: e2e-orchestrator.sh kueue|yunikorn|kai
# environment: E2E_CLUSTER, E2E_IMAGE_LOAD, E2E_WORKLOAD_IMAGE, E2E_KEEP, IMAGE, HELM as in e2e-volcano.sh, and
#   KUEUE_VERSION     (default v0.17.0)   KUEUE_MANIFEST   a file, instead of that version's release manifest
#   YUNIKORN_VERSION  (default 1.8.0)     YUNIKORN_CHART   a folder or archive, instead of that version's chart
#   KAI_VERSION       (default v0.17.0)   KAI_CHART        likewise
#   E2E_HELM_ARGS     more arguments for the orchestrator's chart, such as --set
# exit code: 0 all hold; 1 something does not; 2 wrong usage; 3 the manifest, the chart or an image is not to be had
set -euo pipefail
release=xila-e2e namespace=xila-guard-e2e tenant=xila-e2e-team stranger=xila-e2e-stranger
# shellcheck source=scripts/lib/harness.sh
. "$(dirname "$0")/lib/harness.sh"

name=${1:-} provider=${E2E_CLUSTER:-kind} keep=${E2E_KEEP:-} kind_cluster=xila-guard-e2e
workload_image=${E2E_WORKLOAD_IMAGE:-docker.io/library/busybox:1.36}
read -ra helm_args <<<"${E2E_HELM_ARGS:-}"

# What is particular to each: its namespace, its webhook configurations, which of our webhooks judge its Pods, a label that
# makes a Pod its own, the scheduler that its Pods name, and the labels of a test Job and of that Job's template.
case $name in
  kueue)
    own_namespace=kueue-system own_webhooks='^kueue-' hook='validate-kueue[-0-9]*' scheduler=default-scheduler
    label='"kueue.x-k8s.io/podset":"main"' job_label='"kueue.x-k8s.io/queue-name":"xila-e2e"' template_label=''
    ;;
  yunikorn)
    own_namespace=yunikorn own_webhooks='^yunikorn-admission-controller' hook='validate-yunikorn[-0-9]*' scheduler=yunikorn
    label='"yunikorn.apache.org/app-id":"xila-e2e"' job_label='' template_label=''
    ;;
  kai)
    own_namespace=kai-scheduler own_webhooks='^(validating|mutating)-kai-admission' hook='[a-z]*-kai' scheduler=kai-scheduler
    label='"kai.scheduler/queue":"default-queue"' job_label='' template_label=$label
    ;;
  *) usage; exit 2 ;;
esac
need kubectl "$helm" openssl python3 curl

explain() {
  say "--- Jobs, Pods and events of the tenant"
  kubectl -n "$tenant" get jobs,pods -o wide
  kubectl -n "$tenant" get events --sort-by=.lastTimestamp 2>/dev/null | tail -n 15
  say "--- $name's Pods and last lines"
  kubectl -n "$own_namespace" get pods -o wide
  kubectl -n "$own_namespace" get pods -o name | while read -r pod; do kubectl -n "$own_namespace" logs "$pod" --tail=8 --prefix; done
}

# --- the orchestrators

# helm_install CHART ARGUMENT...: of the orchestrator's own chart
helm_install() {
  kubectl get namespace "$own_namespace" >/dev/null 2>&1 && cannot 2 "the namespace $own_namespace is there already; delete it first"
  undo kubectl delete namespace "$own_namespace" --ignore-not-found --timeout=120s
  undo "$helm" uninstall "$name" -n "$own_namespace" --ignore-not-found --wait --timeout 3m
  "$helm" upgrade --install "$name" "$@" -n "$own_namespace" --create-namespace --timeout 5m "${helm_args[@]}" >"$work/out" 2>&1 && return
  cat "$work/out" >&2
  if grep -qiE 'not found|no such|failed to (do request|fetch|download)|looks like .* is not a valid chart|dial tcp' "$work/out"; then cannot 3 "the chart is not to be had: $*"; fi
  fail "helm upgrade --install $name $*"
}

install_kueue() {
  local version=${KUEUE_VERSION:-v0.17.0} manifest=${KUEUE_MANIFEST:-}
  local url=https://github.com/kubernetes-sigs/kueue/releases/download/$version/manifests.yaml
  if ! kubectl get crd clusterqueues.kueue.x-k8s.io >/dev/null 2>&1; then
    if [ -z "$manifest" ]; then
      manifest=$work/kueue.yaml
      curl -fsSL --connect-timeout 15 --max-time 120 -o "$manifest" "$url" || cannot 3 "$url is not to be had; KUEUE_MANIFEST=file takes another way"
    fi
    [ -r "$manifest" ] || cannot 3 "KUEUE_MANIFEST: no file $manifest"
    undo kubectl delete -f "$manifest" --ignore-not-found --timeout=180s
    own_apis=1
    kubectl apply --server-side -f "$manifest" >"$work/out" 2>&1 || { cat "$work/out" >&2; fail "kubectl apply -f $manifest"; }
  fi
  deployments_available "$own_namespace" 300 kueue-controller-manager
  undo kubectl delete clusterqueues.kueue.x-k8s.io,resourceflavors.kueue.x-k8s.io xila-e2e --ignore-not-found --timeout=60s
}
kueue_queues() {
  local api
  api=kueue.x-k8s.io/$(kubectl get crd clusterqueues.kueue.x-k8s.io -o jsonpath='{.spec.versions[?(@.storage==true)].name}')
  kubectl apply -f - <<EOF
{"apiVersion":"$api","kind":"ResourceFlavor","metadata":{"name":"xila-e2e"}}
---
{"apiVersion":"$api","kind":"ClusterQueue","metadata":{"name":"xila-e2e"},"spec":{"namespaceSelector":{},"resourceGroups":[{"coveredResources":["cpu","memory"],
  "flavors":[{"name":"xila-e2e","resources":[{"name":"cpu","nominalQuota":"1"},{"name":"memory","nominalQuota":"1Gi"}]}]}]}}
---
{"apiVersion":"$api","kind":"LocalQueue","metadata":{"name":"xila-e2e","namespace":"$tenant"},"spec":{"clusterQueue":"xila-e2e"}}
EOF
}

install_yunikorn() {
  local source=(yunikorn --repo https://apache.github.io/yunikorn-release --version "${YUNIKORN_VERSION:-1.8.0}")
  if kubectl get mutatingwebhookconfigurations yunikorn-admission-controller-mutations >/dev/null 2>&1; then
    say "YuniKorn is there already; it stays as it is"
  else
    [ -z "${YUNIKORN_CHART:-}" ] || source=("$YUNIKORN_CHART")
    undo kubectl delete mutatingwebhookconfigurations/yunikorn-admission-controller-mutations validatingwebhookconfigurations/yunikorn-admission-controller-validations --ignore-not-found
    # Its web page is not needed; and it takes every Pod of the cluster unless it is told whose.
    helm_install "${source[@]}" --set enableWebService=false --set "yunikornDefaults.admissionController\.filtering\.processNamespaces=^xila-e2e-"
  fi
  deployments_available "$own_namespace" 300 yunikorn-scheduler yunikorn-admission-controller
}

install_kai() {
  local source=(oci://ghcr.io/kai-scheduler/kai-scheduler/kai-scheduler --version "${KAI_VERSION:-v0.17.0}")
  if kubectl get crd bindrequests.scheduling.run.ai >/dev/null 2>&1; then
    say "KAI is there already; it stays as it is"
  else
    [ -z "${KAI_CHART:-}" ] || source=("$KAI_CHART")
    undo kubectl delete crd configs.kai.scheduler schedulingshards.kai.scheduler topologies.kai.scheduler bindrequests.scheduling.run.ai podgroups.scheduling.run.ai queues.scheduling.run.ai --ignore-not-found --timeout=60s
    helm_install "${source[@]}"
  fi
  wait_for 180 "KAI's operator has made its admission" kubectl -n "$own_namespace" get deployment admission
  deployments_available "$own_namespace" 300 kai-operator admission binder pod-grouper kai-scheduler-default
}

# job NAME SPEC [LABELS [ANNOTATIONS]]: a Job of two Pods as JSON, as a user of this orchestrator writes it; SPEC are members of
# the Pods' spec, LABELS replace the Job's own
job() {
  local security='"securityContext":{"allowPrivilegeEscalation":false,"runAsNonRoot":true,"runAsUser":65532,"capabilities":{"drop":["ALL"]}}' own=''
  [ "$name" != kai ] || own='"schedulerName":"kai-scheduler",'
  printf '{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"%s","labels":{%s}},"spec":{"parallelism":2,"completions":2,"template":{"metadata":{"labels":{%s}},"spec":{%s%s"restartPolicy":"Never","terminationGracePeriodSeconds":1,"containers":[{"name":"main","image":"%s","command":["sleep","3600"],"resources":{"requests":{"cpu":"10m","memory":"16Mi"}},%s}]}}}}' \
    "$1" "${3:-$job_label}" "$template_label" "$own" "${2:+$2,}" "$workload_image" "$security"
}
# refused_by_owner: the orchestrator's own admission refuses this; $work/out holds its words
refused_by_owner() {
  case $name in
    kueue) ! job bad '' '"kueue.x-k8s.io/queue-name":"No_Queue"' | kubectl create -n "$tenant" --dry-run=server -f - >"$work/out" 2>&1 ;;
    yunikorn) ! kubectl -n "$tenant" annotate --overwrite "$(pods_of train | head -n1)" 'yunikorn.apache.org/user.info={"user":"mallory"}' >"$work/out" 2>&1 ;;
    # Either GPU sharing is off, or a fraction beside a whole GPU is refused.
    kai) ! create "$tenant" "$(pod bad "$label" kai-scheduler | sed 's/"labels"/"annotations":{"gpu-fraction":"0.5"},&/; s/"name":"main"/&,"resources":{"limits":{"nvidia.com\/gpu":"1"}}/')" >"$work/out" 2>&1 ;;
  esac
}

submit() { printf %s "$1" | kubectl create -n "$tenant" -f - >"$work/out" 2>&1; } # JOB
pods_of() { kubectl -n "$tenant" get pods -l "batch.kubernetes.io/job-name=$1" -o name; } # JOB
runs() { [ "$(kubectl -n "$tenant" get pods -l "batch.kubernetes.io/job-name=$1" -o jsonpath='{.items[*].status.phase}')" = "Running Running" ]; } # JOB
pod_runs() { [ "$(kubectl -n "$tenant" get pod "$1" -o jsonpath='{.status.phase}')" = Running ]; } # POD
gone() { [ -z "$(pods_of "$1")" ]; } # JOB
describes() { kubectl -n "$tenant" describe job "$1" | grep -E -- "$2"; } # JOB PATTERN

# --- the checks

check_admitted() {
  local before after pod field
  before=$(reviews "$name" CREATE allowed)
  submit "$(job train '')" || { cat "$work/out" >&2; fail "the compliant Job was refused"; }
  wait_for 180 "both Pods of the compliant Job run" runs train
  pass "a compliant Job reached Running, with both Pods"
  for pod in $(pods_of train | cut -d/ -f2); do
    field=$(kubectl -n "$tenant" get pod "$pod" -o jsonpath='{.spec.schedulerName} {.spec.nodeName}')
    [ "${field% *}" = "$scheduler" ] || fail "$pod has another scheduler: $field"
    pass "$pod: bound to ${field#* } by $scheduler"
    wait_for 10 "an audit line for $pod" audited_allowed "$pod"
    pass "$pod: the guard's audit log holds its admission by profile $name"
  done
  after=$(reviews "$name" CREATE allowed)
  [ "$after" -ge $((before + 2)) ] || fail "the guard's metrics counted $before reviews before the Job and $after after it, not 2 more"
  pass "the guard's metrics count the reviews: $before before the Job, $after after it"
  [ "$name" != kueue ] || check_plain_pod
}
# Kueue labels the Pods of a Job and those that users make themselves differently, and starts the latter by an update.
check_plain_pod() {
  local object
  object=$(pod plain "$job_label" default-scheduler | sed "s|registry.k8s.io/pause:3.10\"|$workload_image\",\"command\":[\"sleep\",\"3600\"]|")
  submit "$object" || { cat "$work/out" >&2; fail "a compliant Pod with a queue was refused"; }
  wait_for 120 "the Pod with a queue runs" pod_runs plain
  wait_for 10 "an audit line for plain" audited_allowed plain
  pass "a Pod with a queue, without a Job, is admitted, started by Kueue, and runs"
  denied "the same Pod, but privileged" "$hook" privileged "$tenant" "$(pod bad "$job_label" default-scheduler "$privileged")"
}
audited_allowed() { audited "$1" operation=CREATE "profile=$name" mode=enforce decision=allowed dryRun=False "tenant=$tenant"; }

check_denied() {
  admitted "a compliant Pod of $name's, for comparison" "$tenant" "$(pod fine "$label" "$scheduler")"
  crossing_denied "$hook" "$label" "$scheduler"
  debug_denied "$hook" "$(pods_of train | head -n1 | cut -d/ -f2)"
}

check_together() {
  local reason="crosses the placement boundary of profile $name: \[privileged\] spec.initContainers\[0\]"
  refused_by_owner || { cat "$work/out" >&2; fail "$name's own admission refuses nothing"; }
  if ! grep -q 'admission webhook ".*" denied the request' "$work/out" || grep -q 'guard.xila.us' "$work/out"; then
    cat "$work/out" >&2
    fail "refused, but not by $name"
  fi
  pass "what $name's own admission refuses is refused by it: $(grep -o 'admission webhook "[^"]*"' "$work/out" | head -n1)"
  submit "$(job mixed "$privileged")" || { cat "$work/out" >&2; fail "the privileged Job itself was refused: only its Pods are the guard's"; }
  wait_for 60 "kubectl describe job shows the reason" describes mixed "FailedCreate.*$hook.guard.xila.us.*$reason"
  gone mixed || fail "Pods of the privileged Job are there"
  pass "what ours refuses is refused by ours, and kubectl describe shows the Job's owner why"
  kubectl -n "$tenant" delete job mixed --timeout=60s >/dev/null
  submit "$(job mixed '')" || { cat "$work/out" >&2; fail "the mended Job was refused"; }
  wait_for 180 "both Pods of the mended Job run" runs mixed
  pass "deleted and created again with a mended template, the Job runs"
  unchanged "$name" "$own_webhooks" "$work/own-webhooks"
  unchanged "Xila Guard" "^$release-" "$work/guard-webhooks"
}

# --- the run

use_cluster "$provider" "$kind_cluster"
"install_$name"
wait_for 120 "$name's webhooks have their CA" certified "$own_webhooks"
say "$name runs: $(kubectl -n "$own_namespace" get deployments -o jsonpath='{.items[*].spec.template.spec.containers[*].image}')"
guard_image "$provider" "$kind_cluster" "${E2E_IMAGE_LOAD:-}" e2e
# shellcheck disable=SC2154 # guard_image sets it
say "Xila Guard: $image"
guard_install -f "$chart/profiles/$name.yaml" --set 'enforcement.webhook.extraArgs={--audit-log=-}'
# An API that Kueue serves itself has to go before namespaces do: where it cannot be reached, no namespace ends.
[ -z "${own_apis:-}" ] || undo kubectl delete apiservices -l app.kubernetes.io/name=kueue --ignore-not-found
[ "$name" != kueue ] || wait_for 60 "Kueue takes its queues" kueue_queues
fingerprint "$own_webhooks" >"$work/own-webhooks"
fingerprint "^$release-" >"$work/guard-webhooks"
wait_for 30 "the tenant is known" create "$tenant" "$(pod fine "$label" "$scheduler")"

section A "a compliant Job is admitted, scheduled by $name, and runs" check_admitted
section B "what crosses the boundary is denied, with our message" check_denied
section C "both admissions are in effect on one workload" check_together
summary
