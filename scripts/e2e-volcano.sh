#!/usr/bin/env bash
# Real, unmodified Volcano and Xila Guard on the same workload, without conflict. A line for each check, a summary, and exit
# code 0 only if all of them hold.
#
# usage: e2e-volcano.sh
# environment:
#   E2E_CLUSTER         kind (default): makes a cluster of its own and deletes it; current: the one that KUBECONFIG names,
#                       where nothing is deleted that this script did not make, and a Volcano that is there is used as it is
#   E2E_IMAGE_LOAD      a command that makes our image known to the cluster; it gets the image's name as its last argument
#   E2E_WORKLOAD_IMAGE  what the test Jobs run; it needs "sleep" (default docker.io/library/busybox:1.36)
#   E2E_KEEP            not empty: leave everything as it is at the end, and say how to clean up
#   VOLCANO_VERSION     (default v1.12.2)
#   VOLCANO_MANIFEST    a file, instead of that version's release manifest from the network
#   IMAGE               our image, already built; else scripts/build-image.sh builds it
#   HELM                the helm binary
# exit code: 0 all hold; 1 something does not; 2 wrong usage; 3 the manifest is not to be had
set -euo pipefail
release=xila-e2e namespace=xila-guard-e2e tenant=xila-e2e-team stranger=xila-e2e-stranger
# shellcheck source=scripts/lib/harness.sh
. "$(dirname "$0")/lib/harness.sh"

provider=${E2E_CLUSTER:-kind} keep=${E2E_KEEP:-} kind_cluster=xila-guard-e2e
version=${VOLCANO_VERSION:-v1.12.2} manifest=${VOLCANO_MANIFEST:-}
workload_image=${E2E_WORKLOAD_IMAGE:-docker.io/library/busybox:1.36}
label='"volcano.sh/job-name":"e2e"'
controller=system:serviceaccount:volcano-system:volcano-controllers
own_webhooks='^volcano-admission-service'
[ $# -eq 0 ] || { usage; exit 2; }
need kubectl "$helm" openssl python3 curl

explain() {
  local name
  say "--- Jobs, PodGroups, Pods and events of the tenant"
  kubectl -n "$tenant" get jobs.batch.volcano.sh,podgroups.scheduling.volcano.sh,pods -o wide 2>/dev/null
  kubectl -n "$tenant" get events --sort-by=.lastTimestamp 2>/dev/null | tail -n 15
  for name in volcano-admission volcano-controllers volcano-scheduler; do
    say "--- $name's last errors"
    kubectl -n volcano-system logs "deployment/$name" --tail=2000 2>/dev/null | grep -E '^[EF][0-9]{4}' | tail -n 8 || true
  done
}

# --- Volcano

queue_open() { [ "$(kubectl get queues.scheduling.volcano.sh default -o jsonpath='{.status.state}')" = Open ]; }

install_volcano() {
  local url=https://raw.githubusercontent.com/volcano-sh/volcano/$version/installer/volcano-development.yaml
  if kubectl get crd jobs.batch.volcano.sh >/dev/null 2>&1; then
    say "Volcano is there already; it stays as it is"
  else
    if [ -z "$manifest" ]; then
      manifest=$work/volcano.yaml
      curl -fsSL --connect-timeout 15 --max-time 120 -o "$manifest" "$url" || cannot 3 "$url is not to be had; VOLCANO_MANIFEST=file takes another way"
    fi
    [ -r "$manifest" ] || cannot 3 "VOLCANO_MANIFEST: no file $manifest"
    kubectl get namespace volcano-system >/dev/null 2>&1 && cannot 2 "half a Volcano is there: the namespace volcano-system without its Jobs' definition"
    undo kubectl delete -f "$manifest" --ignore-not-found --timeout=180s
    kubectl apply -f "$manifest" >"$work/out" 2>&1 || { cat "$work/out" >&2; fail "kubectl apply -f $manifest"; }
  fi
  deployments_available volcano-system 300 volcano-admission volcano-controllers volcano-scheduler
  wait_for 60 "Volcano's webhooks have their CA" certified "$own_webhooks"
  wait_for 120 "Volcano's default queue is open" queue_open
  say "Volcano runs: $(kubectl -n volcano-system get deployments -o jsonpath='{.items[*].spec.template.spec.containers[*].image}')"
}

# vcjob NAME MIN_AVAILABLE SCHEDULER SPEC: a Volcano Job of two Pods as JSON. SCHEDULER is a member of its spec, or empty; SPEC
# are members of the Pods' spec, or empty
vcjob() {
  local security='"securityContext":{"allowPrivilegeEscalation":false,"runAsNonRoot":true,"runAsUser":65532,"capabilities":{"drop":["ALL"]}}'
  printf '{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"%s"},"spec":{"minAvailable":%s,%s"tasks":[{"name":"worker","replicas":2,"template":{"spec":{"restartPolicy":"Never","terminationGracePeriodSeconds":1,%s"containers":[{"name":"main","image":"%s","command":["sleep","3600"],"resources":{"requests":{"cpu":"10m","memory":"16Mi"}},%s}]}}}]}}' \
    "$1" "$2" "${3:+$3,}" "${4:+$4,}" "$workload_image" "$security"
}
submit() { printf %s "$1" | kubectl create -n "$tenant" -f - >"$work/out" 2>&1; } # JOB
job() { kubectl -n "$tenant" get jobs.batch.volcano.sh "$1" -o "jsonpath={$2}"; } # NAME PATH
pod_field() { kubectl -n "$tenant" get pod "$1" -o "jsonpath={$2}"; } # NAME PATH
runs() { [ "$(job "$1" .status.state.phase) $(job "$1" .status.running)" = "Running 2" ]; } # NAME: all its Pods run
no_pods() { [ -z "$(kubectl -n "$tenant" get pods -l "volcano.sh/job-name=$1" -o name)" ]; } # NAME
# describes NAME PATTERN: what its owner sees
describes() { kubectl -n "$tenant" describe vcjob "$1" | grep -E -- "$2"; }
remove() { kubectl -n "$tenant" delete jobs.batch.volcano.sh "$1" --timeout=60s >/dev/null; wait_for 60 "the Pods of $1 are gone" no_pods "$1"; }

# --- the checks

check_admitted() {
  local before after pod
  before=$(reviews volcano CREATE allowed)
  submit "$(vcjob train 2 '"schedulerName":"volcano"' '')" || { cat "$work/out" >&2; fail "the compliant Job was refused"; }
  wait_for 180 "both Pods of the compliant Job run" runs train
  pass "a compliant Volcano Job reached Running, with both Pods"
  for pod in train-worker-0 train-worker-1; do
    [ -n "$(pod_field $pod .spec.nodeName)" ] || fail "$pod is not bound"
    [ "$(pod_field $pod .spec.schedulerName)" = volcano ] || fail "$pod has another scheduler: $(pod_field $pod .spec.schedulerName)"
    [ "$(kubectl -n "$tenant" get events --field-selector "involvedObject.name=$pod,reason=Scheduled" -o jsonpath='{.items[*].source.component}')" = volcano ] ||
      fail "no event says that Volcano scheduled $pod"
    pass "$pod: bound to $(pod_field $pod .spec.nodeName) by Volcano, schedulerName is still volcano"
    wait_for 10 "an audit line for $pod" audited $pod operation=CREATE profile=volcano mode=enforce decision=allowed dryRun=False user=$controller "tenant=$tenant"
    pass "$pod: the guard's audit log holds its admission by profile volcano, as created by $controller"
  done
  after=$(reviews volcano CREATE allowed)
  [ "$after" -ge $((before + 2)) ] || fail "the guard's metrics counted $before reviews before the Job and $after after it, not 2 more"
  pass "the guard's metrics count the reviews: $before before the Job, $after after it"
}

check_denied() {
  admitted "a compliant Pod with Volcano's label, for comparison" "$tenant" "$(pod fine "$label" volcano)"
  crossing_denied validate-volcano "$label" volcano
  debug_denied validate-volcano train-worker-0
}

check_together() {
  ! submit "$(vcjob mixed 3 '' "$privileged")" || fail "Volcano admitted a Job that wants more Pods than it has"
  grep -q 'admission webhook "validatejob.volcano.sh" denied the request: .*minAvailable' "$work/out" || { cat "$work/out" >&2; fail "refused, but not by Volcano"; }
  pass "a Job that Volcano's webhook refuses is refused by it: minAvailable 3 of 2"
  submit "$(vcjob mixed 2 '' "$privileged")" || { cat "$work/out" >&2; fail "the same Job with minAvailable 2 was refused"; }
  [ "$(job mixed .spec.schedulerName)/$(job mixed .spec.queue)" = volcano/default ] || fail "Volcano's mutating webhook did not complete the Job"
  pass "the same Job mended so is admitted and completed by Volcano: schedulerName and queue, which it left out, are set"
  wait_for 60 "the guard denies a Pod of that Job" audited mixed-worker-0 operation=CREATE profile=volcano decision=denied "checks=['privileged']" user=$controller
  no_pods mixed || fail "Pods of the privileged Job are there"
  pass "its Pods, which ours refuses, are refused by ours: not one was made"
  unchanged Volcano "$own_webhooks" "$work/volcano-webhooks"
  unchanged "Xila Guard" "^$release-" "$work/guard-webhooks"
}

check_route() {
  admitted "without routeGuard: a privileged Pod that leaves Volcano's label out" "$tenant" "$(pod bad '' volcano "$privileged")"
  guard_upgrade "${values[@]}" -f "$work/route-guard.yaml"
  wait_for 30 "the guarded route is in force" denied_by route-volcano "$(pod bad '' volcano "$privileged")"
  crossing_denied route-volcano '' volcano
  admitted "with routeGuard: a compliant Pod without the label" "$tenant" "$(pod fine '' volcano)"
  admitted "with routeGuard: an ordinary privileged Pod that does not name Volcano" "$tenant" "$(pod other '' default-scheduler "$privileged")"
  unchanged Volcano "$own_webhooks" "$work/volcano-webhooks"
}

check_reason() {
  local reason='crosses the placement boundary of profile volcano: \[privileged\] spec.initContainers\[0\]'
  wait_for 60 "kubectl describe vcjob shows the reason" describes mixed "FailedCreate.*$reason"
  pass "kubectl describe vcjob shows its owner the reason: $(describes mixed "$reason" | tr -d '\134' | grep -oE '\[privileged\] [^,]*' | head -n1)"
  if kubectl -n "$tenant" patch jobs.batch.volcano.sh mixed --type=json -p '[{"op":"remove","path":"/spec/tasks/0/template/spec/initContainers"}]' >"$work/out" 2>&1; then
    fail "Volcano let the template of a Job change"
  fi
  grep -q 'validatejob.volcano.sh" denied' "$work/out" || { cat "$work/out" >&2; fail "the change of the template was refused, but not by Volcano"; }
  pass "the template cannot be mended in place: Volcano refuses that"
  remove mixed
  submit "$(vcjob mixed 2 '' '')" || { cat "$work/out" >&2; fail "the mended Job was refused"; }
  wait_for 180 "both Pods of the mended Job run" runs mixed
  pass "deleted and created again with a mended template, the Job runs"
}

outage() { ! create "$tenant" "$(pod fine "$label" volcano)" >"$work/out" 2>&1 && grep -q 'failed calling webhook "[a-z]*-volcano.guard.xila.us"' "$work/out"; }
check_outage() {
  local begin phase
  guard_scale 0
  wait_for 90 "Volcano's Pods are refused while no guard runs" outage
  begin=$SECONDS
  submit "$(vcjob patient 2 '"schedulerName":"volcano"' '')" || { cat "$work/out" >&2; fail "the Job itself was refused: only its Pods are the guard's"; }
  wait_for 60 "the Job's owner sees that the guard does not answer" describes patient 'FailedCreate.*failed calling webhook'
  sleep 5
  phase=$(job patient .status.state.phase)
  if ! no_pods patient; then fail "Pods were made while no guard ran"; fi
  [ "$phase" = Pending ] || fail "the Job is not held back but $phase"
  pass "no guard: the Job is admitted, its Pods are held back ($phase after $((SECONDS - begin)) s), and kubectl describe says why"
  guard_scale 1
  # Volcano tries 15 times, at intervals that double from 5 ms: the last time about 164 s after the first.
  wait_for $((begin + 175 - SECONDS)) "the Job runs within Volcano's retry window" runs patient
  pass "the guard is back: both Pods run $((SECONDS - begin)) s after the Job was created; nothing was lost"
}

# --- the run

use_cluster "$provider" "$kind_cluster"
install_volcano
guard_image "$provider" "$kind_cluster" "${E2E_IMAGE_LOAD:-}" e2e
# shellcheck disable=SC2154 # guard_image sets it
say "Xila Guard: $image"
values=(-f "$chart/profiles/volcano.yaml" --set 'enforcement.webhook.extraArgs={--audit-log=-}')
sed 's/^    verification:/    routeGuard: true\n&/' "$chart/profiles/volcano.yaml" >"$work/route-guard.yaml"
guard_install "${values[@]}"
fingerprint "$own_webhooks" >"$work/volcano-webhooks"
fingerprint "^$release-" >"$work/guard-webhooks"
wait_for 30 "the tenant is known" create "$tenant" "$(pod fine "$label" volcano)"

section A "a compliant Volcano Job is admitted, scheduled by Volcano, and runs" check_admitted
section B "what crosses the boundary is denied, with our message" check_denied
section C "both admissions are in effect on one workload" check_together
section D "routeGuard holds Pods that leave the label out" check_route
section E "a denial reaches the Job's owner, and a mended Job runs" check_reason
section F "an outage of the guard holds Jobs back and loses none" check_outage
summary
