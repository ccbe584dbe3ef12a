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
root=$(cd "$(dirname "$0")/.." && pwd)

release=xila-guard namespace=xila-guard-smoke deployment=xila-guard-xila-guard-webhook kind_cluster=xila-guard-smoke
# Two tenants, by label and by nothing.
tenant=xila-smoke-team stranger=xila-smoke-stranger
chart=$root/charts/xila-guard
helm=${HELM:-helm} rate=${LOAD_RATE:-50}
provider=current keep='' proxy='' load='' installed=''
work=$(mktemp -d)
passed=0

say() { printf '%s\n' "$*"; }
pass() { passed=$((passed + 1)); printf 'ok    %s\n' "$*"; }
fail() {
  printf 'FAIL  %s\n' "$*" >&2
  if [ -n "$installed" ]; then
    kubectl -n "$namespace" get pods -o wide >&2 || true
    kubectl -n "$namespace" get events --sort-by=.lastTimestamp 2>/dev/null | tail -n 15 >&2 || true
    kubectl -n "$namespace" logs "deployment/$deployment" --all-pods --tail=20 --prefix >&2 2>/dev/null || true
  fi
  exit 1
}

while [ $# -gt 0 ]; do
  case $1 in
    --kind) provider=kind ;;
    --keep) keep=1 ;;
    *) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 2 ;;
  esac
  shift
done
for tool in kubectl "$helm" openssl python3; do
  command -v "$tool" >/dev/null || { say "orchestrator-smoke: $tool is not installed" >&2; exit 2; }
done

stop() { # PID: ends a child of ours
  if [ -n "$1" ]; then kill "$1" 2>/dev/null || true; wait "$1" 2>/dev/null || true; fi
}
# shellcheck disable=SC2317 # called by the trap
cleanup() {
  local code=$?
  trap - EXIT INT TERM
  stop "$load"; stop "$proxy"
  if [ -z "$keep" ]; then
    if [ "$provider" = kind ] && [ -n "${KUBECONFIG:-}" ]; then
      kind delete cluster --name "$kind_cluster" >/dev/null 2>&1 || true
    elif [ -n "$installed" ]; then
      "$helm" uninstall "$release" -n "$namespace" --ignore-not-found >/dev/null 2>&1 || true
      kubectl delete namespace "$namespace" "$tenant" "$stranger" --ignore-not-found --wait=false >/dev/null 2>&1 || true
    fi
  fi
  rm -rf "$work"
  exit "$code"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# wait_for SECONDS WHAT COMMAND...: until COMMAND succeeds
wait_for() {
  local seconds=$1 what=$2 end
  shift 2
  end=$((SECONDS + seconds))
  until "$@" >"$work/wait" 2>&1; do
    [ "$SECONDS" -lt "$end" ] || { cat "$work/wait" >&2; fail "after $seconds s still not: $what"; }
    sleep 1
  done
}

# pod NAME LABEL SCHEDULER [SPEC]: a Pod as JSON, harmless but for what SPEC (members of its spec) adds
pod() {
  local security='"securityContext":{"allowPrivilegeEscalation":false,"runAsNonRoot":true,"runAsUser":65532,"capabilities":{"drop":["ALL"]},"seccompProfile":{"type":"RuntimeDefault"}}'
  printf '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s","labels":{%s}},"spec":{"schedulerName":"%s"%s,"containers":[{"name":"main","image":"registry.k8s.io/pause:3.10",%s}]}}' \
    "$1" "$2" "$3" "${4:+,$4}" "$security"
}
volcano='"volcano.sh/job-name":"smoke"' kueue='"kueue.x-k8s.io/queue-name":"smoke"'
privileged='"initContainers":[{"name":"init","image":"registry.k8s.io/pause:3.10","securityContext":{"privileged":true}}]'

# create NAMESPACE POD: by dry run, which calls the webhooks and stores nothing
create() { printf %s "$2" | kubectl create -n "$1" --dry-run=server -o name -f -; }

admitted() { # WHAT NAMESPACE POD
  create "$2" "$3" >"$work/out" 2>&1 || { cat "$work/out" >&2; fail "not admitted: $1"; }
  pass "admitted: $1"
}
denied() { # WHAT WEBHOOK CHECK NAMESPACE POD
  if create "$4" "$5" >"$work/out" 2>&1; then fail "admitted: $1"; fi
  grep -q "admission webhook \"$2.guard.xila.us\" denied the request: .*\[$3\]" "$work/out" ||
    { cat "$work/out" >&2; fail "denied, but not by $2 for $3: $1"; }
  pass "denied by $2 for $3: $1"
}
refused_in_outage() { ! create "$tenant" "$1" >"$work/out" 2>&1 && grep -q 'failed calling webhook "validate-volcano' "$work/out"; }
denied_by() { ! create "$tenant" "$2" >"$work/out" 2>&1 && grep -q "webhook \"$1.guard.xila.us\" denied" "$work/out"; }

server_pods() { kubectl -n "$namespace" get pods -l app.kubernetes.io/component=webhook --field-selector=status.phase=Running -o name | cut -d/ -f2; }
# not_after POD: when the certificate that it serves ends, of its metrics
not_after() {
  kubectl get --raw "/api/v1/namespaces/$namespace/pods/http:$1:8080/proxy/metrics" | sed -n 's/^xila_guard_certificate_not_after_timestamp_seconds //p'
}
all_serve_until_other_than() { # NOT_AFTER
  local name
  for name in $(server_pods); do [ "$(not_after "$name")" != "$1" ] || return 1; done
}

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

upgrade() { # VALUES...: the command of docs/install.md
  "$helm" upgrade --install "$release" "$chart" -n "$namespace" --wait --timeout 3m -f "$work/tls/values-tls.yaml" \
    -f "$chart/profiles/volcano.yaml" --set "image.repository=${image%:*}" --set-string "image.tag=${image##*:}" "$@" >"$work/helm" 2>&1 ||
    { cat "$work/helm" >&2; fail "helm upgrade --install $*"; }
}

# --- a cluster and an image

if [ "$provider" = kind ]; then
  command -v kind >/dev/null || { say "orchestrator-smoke: kind is not installed" >&2; exit 2; }
  export KUBECONFIG=$work/kubeconfig
  kind create cluster --name "$kind_cluster" --wait 3m || fail "kind create cluster"
  IMAGE_LOAD=${IMAGE_LOAD:-kind load docker-image --name $kind_cluster}
fi
kubectl version -o json >/dev/null 2>&1 || { say "orchestrator-smoke: no cluster answers; set KUBECONFIG, or use --kind" >&2; exit 2; }
kubectl get namespace "$namespace" >/dev/null 2>&1 && { say "orchestrator-smoke: the namespace $namespace is there already; delete it first" >&2; exit 2; }

image=${IMAGE:-}
if [ -z "$image" ]; then
  image=ghcr.io/xila-guard/xila-guard:smoke
  "$root/scripts/build-image.sh" "$image" || fail "build-image.sh"
fi
if [ -n "${IMAGE_LOAD:-}" ]; then bash -c "$IMAGE_LOAD \"\$1\"" load "$image" || fail "IMAGE_LOAD: $IMAGE_LOAD $image"; fi

# --- install

installed=1
"$root/scripts/make-webhook-certs.sh" --namespace "$namespace" --out "$work/tls" --apply >"$work/out" 2>&1 || { cat "$work/out" >&2; fail "make-webhook-certs.sh --apply"; }
kubectl label namespace "$namespace" pod-security.kubernetes.io/enforce=restricted >/dev/null
upgrade
pass "installed, two replicas ready under Pod Security restricted"
for name in "$tenant" "$stranger"; do kubectl create namespace "$name" >/dev/null; done
kubectl label namespace "$tenant" "guard.xila.us/tenant=$tenant" >/dev/null

# --- what it lets in, and what it does not

wait_for 10 "the tenant is known" create "$tenant" "$(pod fine "$volcano" volcano)"
admitted "a compliant Pod" "$tenant" "$(pod fine "$volcano" volcano)"
denied "a Pod that picks its node" validate-volcano node-pin "$tenant" "$(pod bad "$volcano" volcano '"nodeName":"some-node"')"
denied "a privileged init container" validate-volcano privileged "$tenant" "$(pod bad "$volcano" volcano "$privileged")"
for field in hostNetwork hostPID hostIPC; do
  denied "$field" validate-volcano host-namespace "$tenant" "$(pod bad "$volcano" volcano "\"$field\":true")"
done
denied "a hostPath volume" validate-volcano host-path "$tenant" "$(pod bad "$volcano" volcano '"volumes":[{"name":"v","hostPath":{"path":"/"}}]')"
denied "another scheduler" validate-volcano scheduler "$tenant" "$(pod bad "$volcano" default-scheduler)"
denied "a namespace without a tenant" validate-volcano tenant "$stranger" "$(pod bad "$volcano" volcano)"
admitted "a Pod without the label: the label alone is an opt-out" "$tenant" "$(pod free '' volcano "$privileged")"

pod debugged "$volcano" volcano | kubectl create -n "$tenant" -f - >/dev/null || fail "create a Pod to debug"
debug='{"spec":{"ephemeralContainers":[{"name":"debug","image":"registry.k8s.io/pause:3.10","securityContext":{"privileged":true}}]}}'
if kubectl patch pod debugged -n "$tenant" --subresource=ephemeralcontainers --type=strategic -p "$debug" >"$work/out" 2>&1; then
  fail "admitted: a privileged debug container, added later"
fi
grep -q 'validate-volcano.guard.xila.us" denied the request: .*\[privileged\]' "$work/out" || { cat "$work/out" >&2; fail "the debug container's denial"; }
pass "denied by validate-volcano for privileged: a debug container, added later"

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
"$root/scripts/make-webhook-certs.sh" --namespace "$namespace" --out "$work/tls" --apply >"$work/out" 2>&1 || { cat "$work/out" >&2; fail "make-webhook-certs.sh --apply"; }
wait_for 180 "every server shows the new certificate" all_serve_until_other_than "$before"
sleep 5
end_load "a certificate rotation loses no call"
restarts=$(kubectl -n "$namespace" get pods -l app.kubernetes.io/component=webhook -o jsonpath='{.items[*].status.containerStatuses[*].restartCount}')
[ "$(tr -d ' 0' <<<"$restarts")" = "" ] || fail "servers restarted by themselves: $restarts"
pass "no server restarted by itself"

# --- an outage

kubectl -n "$namespace" scale "deployment/$deployment" --replicas=0 >/dev/null
wait_for 90 "protected Pods are refused while no server runs" refused_in_outage "$(pod fine "$volcano" volcano)"
pass "no server: protected Pods are refused"
admitted "no server: everybody else's Pods" "$stranger" "$(pod free '' default-scheduler)"
kubectl -n "$namespace" scale "deployment/$deployment" --replicas=1 >/dev/null
kubectl -n "$namespace" rollout status "deployment/$deployment" --timeout=2m >/dev/null || fail "the server did not come back within 2 minutes"
wait_for 30 "protected Pods are admitted again" create "$tenant" "$(pod fine "$volcano" volcano)"
pass "the server came back by itself, and protected Pods with it"

# --- uninstall

"$helm" uninstall "$release" -n "$namespace" --wait --timeout 2m >"$work/out" 2>&1 || { cat "$work/out" >&2; fail "helm uninstall"; }
left=$(kubectl get validatingwebhookconfigurations,clusterroles,clusterrolebindings -l "app.kubernetes.io/instance=$release" -o name
  kubectl get deployments,services,configmaps,serviceaccounts,poddisruptionbudgets,resourcequotas,roles,rolebindings,pods -n "$namespace" -l "app.kubernetes.io/instance=$release" -o name)
[ -z "$left" ] || fail "left behind by helm uninstall: $left"
pass "helm uninstall left nothing"
admitted "after that, what was denied before" "$tenant" "$(pod bad "$volcano" volcano "$privileged")"
say "passed: $passed"
