#!/usr/bin/env bash
# Installs Xila Guard on a real cluster as docs/install.md says, and shows that it guards: admission, denials, an added
# profile, a restart and a certificate rotation under load, an outage, helm test, and an uninstall that leaves nothing.
#
# usage: orchestrator-smoke.sh [--kind] [--keep]
#   --kind   make a kind cluster, and delete it at the end; else the cluster that KUBECONFIG names
#   --keep   leave everything as it is at the end
# environment:
#   IMAGE       the image, already built; else scripts/build-image.sh builds it
#   IMAGE_LOAD  a command that makes an image known to the cluster; it gets the image's name as its last argument
#   HELM        the helm binary
#   LOAD_RATE   Pods created per second under load (default 50)
set -euo pipefail
release=xila-guard namespace=xila-guard-smoke tenant=xila-smoke-team stranger=xila-smoke-stranger
# shellcheck source=scripts/lib/harness.sh
. "$(dirname "$0")/lib/harness.sh"

provider=current kind_cluster=xila-guard-smoke keep='' rate=${LOAD_RATE:-50} proxy='' load=''
while [ $# -gt 0 ]; do
  case $1 in
    --kind) provider=kind ;;
    --keep) keep=1 ;;
    *) usage; exit 2 ;;
  esac
  shift
done
need kubectl "$helm" openssl python3

volcano='"volcano.sh/job-name":"smoke"' kueue='"kueue.x-k8s.io/queue-name":"smoke"'

refused_in_outage() { ! create "$tenant" "$1" >"$work/out" 2>&1 && grep -q 'failed calling webhook "validate-volcano' "$work/out"; }
# not_after POD: when the certificate that it serves ends, of its metrics
not_after() { server_metrics "$1" | sed -n 's/^xila_guard_certificate_not_after_timestamp_seconds //p'; }
all_serve_until_other_than() { # NOT_AFTER
  local name
  for name in $(server_pods); do [ "$(not_after "$name")" != "$1" ] || return 1; done
}
upgrade() { guard_upgrade -f "$chart/profiles/volcano.yaml" "$@"; } # VALUES...

start_load() {
  kubectl proxy --port=0 >"$work/proxy" 2>&1 &
  proxy=$!
  wait_for 20 "kubectl proxy" grep -q 'Starting to serve on' "$work/proxy"
  pod load "$volcano" volcano | python3 "$root/scripts/pod-load.py" --url "http://$(sed -n 's/Starting to serve on //p' "$work/proxy")" \
    --namespace "$tenant" --rate "$rate" >"$work/load" 2>&1 &
  load=$!
  sleep 2
}
end_load() { # WHAT
  kill -TERM "$load"
  if wait "$load"; then load=''; else load=''; cat "$work/load" >&2; fail "calls were lost: $1"; fi
  stop "$proxy"; proxy=''
  pass "$1: $(head -n1 "$work/load")"
}
# The harness calls it when the script ends, whatever the reason.
at_exit() { stop "$load"; stop "$proxy"; }

use_cluster "$provider" "$kind_cluster"
guard_image "$provider" "$kind_cluster" "${IMAGE_LOAD:-}" smoke

# --- install

# shellcheck disable=SC2119 # without values: as the chart is
guard_install
observer_leads() { [ -n "$(kubectl -n "$namespace" get lease "$release-xila-guard-observe" -o jsonpath='{.spec.holderIdentity}')" ]; }
wait_for 30 "an observe controller leads" observer_leads
pass "installed without an orchestrator: the observe controller runs under Pod Security restricted, and leads"
kubectl get validatingwebhookconfigurations,deployments -A -l "app.kubernetes.io/instance=$release,app.kubernetes.io/component=webhook" -o name >"$work/out"
[ ! -s "$work/out" ] || fail "there is a webhook without an orchestrator: $(cat "$work/out")"
admitted "without an orchestrator, everything" "$stranger" "$(pod bad "$volcano" volcano "$privileged")"

upgrade
pass "an orchestrator added: two replicas of the webhook ready under Pod Security restricted"

# --- what it lets in, and what it does not

wait_for 10 "the tenant is known" create "$tenant" "$(pod fine "$volcano" volcano)"
admitted "a compliant Pod" "$tenant" "$(pod fine "$volcano" volcano)"
crossing_denied validate-volcano "$volcano" volcano
denied "another scheduler" validate-volcano scheduler "$tenant" "$(pod bad "$volcano" default-scheduler)"
admitted "a Pod without the label: the label alone is an opt-out" "$tenant" "$(pod free '' volcano "$privileged")"

pod debugged "$volcano" volcano | kubectl create -n "$tenant" -f - >/dev/null || fail "create a Pod to debug"
debug_denied validate-volcano debugged

# --- helm test

if kubectl get service -n kube-system kube-dns >/dev/null 2>&1; then
  connect=()
else # no cluster DNS: to a server's own address
  connect=(--set "selftest.connect=$(kubectl -n "$namespace" get pod "$(server_pods | head -n1)" -o jsonpath='{.status.podIP}'):10250")
  upgrade "${connect[@]}"
fi
"$helm" test "$release" -n "$namespace" --timeout 2m >"$work/out" 2>&1 ||
  { cat "$work/out" >&2; kubectl -n "$namespace" logs "$release-xila-guard-selftest" >&2 || true; fail "helm test"; }
pass "helm test: a good and a bad review got their answers"

# --- an upgrade that adds a profile and guards the route

upgrade --set integrations.kueue=true --set-json 'orchestratorIntegrations=[{"name":"volcano","schedulerName":"volcano","routeGuard":true,"workloadSelector":{"matchExpressions":[{"key":"volcano.sh/job-name","operator":"Exists"}]}}]'
wait_for 60 "the new profile's Pods are admitted" create "$tenant" "$(pod fine "$kueue" default-scheduler)"
admitted "a compliant Pod of the profile that was added" "$tenant" "$(pod fine "$kueue" default-scheduler)"
denied "a privileged Pod of the profile that was added" validate-kueue privileged "$tenant" "$(pod bad "$kueue" default-scheduler "$privileged")"
wait_for 30 "the guarded route is in force" denied_by route-volcano "$(pod free '' volcano "$privileged")"
denied "a Pod without the label, on the guarded route" route-volcano privileged "$tenant" "$(pod free '' volcano "$privileged")"
admitted "an ordinary Pod of nobody's" "$stranger" "$(pod free '' default-scheduler)"

# --- a restart and a rotation under load

start_load
kubectl -n "$namespace" rollout restart "deployment/$deployment" >/dev/null
kubectl -n "$namespace" rollout status "deployment/$deployment" --timeout=3m >/dev/null || fail "the restart did not end within 3 minutes"
sleep 12 # the old servers serve on for shutdownDelaySeconds
end_load "a rolling restart loses no call"

before=$(not_after "$(server_pods | head -n1)")
start_load
sleep 1 # the new certificate's end, in whole seconds, has to differ
guard_certificates
wait_for 180 "every server shows the new certificate" all_serve_until_other_than "$before"
sleep 5
end_load "a certificate rotation loses no call"
restarts=$(kubectl -n "$namespace" get pods -l app.kubernetes.io/component=webhook -o jsonpath='{.items[*].status.containerStatuses[*].restartCount}')
[ "$(tr -d ' 0' <<<"$restarts")" = "" ] || fail "servers restarted by themselves: $restarts"
pass "no server restarted by itself"

# --- an outage

guard_scale 0
wait_for 90 "protected Pods are refused while no server runs" refused_in_outage "$(pod fine "$volcano" volcano)"
pass "no server: protected Pods are refused"
admitted "no server: everybody else's Pods" "$stranger" "$(pod free '' default-scheduler)"
guard_scale 1
kubectl -n "$namespace" rollout status "deployment/$deployment" --timeout=2m >/dev/null || fail "the server did not come back within 2 minutes"
wait_for 30 "protected Pods are admitted again" create "$tenant" "$(pod fine "$volcano" volcano)"
pass "the server came back by itself, and protected Pods with it"

# --- uninstall

"$helm" uninstall "$release" -n "$namespace" --wait --timeout 2m >"$work/out" 2>&1 || { cat "$work/out" >&2; fail "helm uninstall"; }
left_behind() {
  kubectl get validatingwebhookconfigurations,clusterroles,clusterrolebindings -l "app.kubernetes.io/instance=$release" -o name
  kubectl get deployments,services,configmaps,serviceaccounts,poddisruptionbudgets,resourcequotas,roles,rolebindings,pods \
    -n "$namespace" -l "app.kubernetes.io/instance=$release" -o name
}
nothing_left() { left_behind >"$work/left" && cat "$work/left" && [ ! -s "$work/left" ]; }
wait_for 60 "nothing is left by helm uninstall" nothing_left
pass "helm uninstall left nothing"
admitted "after that, what was denied before" "$tenant" "$(pod bad "$volcano" volcano "$privileged")"
say "passed: $passed"
