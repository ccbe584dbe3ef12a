# shellcheck shell=bash
# What the scripts that try Xila Guard on a real cluster share: words, waits, clean-up, a cluster and an image, the guard's
# installation, and Pods that are admitted or denied. Sourced, under set -euo pipefail; sets $root, $work and an EXIT trap.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
chart=$root/charts/xila-guard
helm=${HELM:-helm}
# The release, which a script may rename before it installs; and two namespaces, a tenant by its label and nobody's.
release=${release:-xila-guard} namespace=${namespace:-xila-guard} tenant=${tenant:-xila-team} stranger=${stranger:-xila-stranger}
deployment=$release-xila-guard-webhook
passed=0

# --- words

say() { printf '%s\n' "$*"; }
pass() { passed=$((passed + 1)); printf 'ok    %s\n' "$*"; }
# fail WHAT: shows what explains it, by the script's own function explain if it has one (at_exit is another such, called at the end), and ends the script
fail() {
  printf 'FAIL  %s\n' "$*" >&2
  { show_guard; if declare -F explain >/dev/null; then explain; fi; } >&2 || true
  exit 1
}
# cannot CODE WHAT: the script could not even begin; 2 for wrong usage, 3 for something that is not to be had here
cannot() { printf '%s: %s\n' "$(basename "$0")" "$2" >&2; exit "$1"; }
usage() { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; }
need() {
  local tool
  for tool in "$@"; do command -v "$tool" >/dev/null || cannot 2 "$tool is not installed"; done
}

# --- clean-up

# undo COMMAND...: run at the end, last first. Only what a script made itself is put here, so nothing else is ever deleted.
# The list is a file, so that a subshell can add to it.
undo() { printf '%q ' "$@" >>"$work/undo"; printf '\n' >>"$work/undo"; }
# stop PID: ends a child of ours
stop() { if [ -n "$1" ]; then kill "$1" 2>/dev/null || true; wait "$1" 2>/dev/null || true; fi; }

# shellcheck disable=SC2317,SC2329 # called by the trap
clean_up() {
  local code=$? line
  trap '' INT TERM HUP
  trap - EXIT
  if declare -F at_exit >/dev/null; then at_exit; fi
  if [ -n "${section:-}" ]; then kill -TERM -- "-$section" 2>/dev/null || true; wait "$section" 2>/dev/null || true; fi
  if [ -n "${keep:-}" ]; then
    say "kept, by request (KUBECONFIG=${KUBECONFIG:-}); to clean up:"
    if [ -f "$work/undo" ]; then tac "$work/undo"; fi
    exit "$code"
  fi
  if [ -f "$work/undo" ]; then
    while read -r line; do eval "$line" >>"$work/cleaned" 2>&1 || say "could not clean up: $line" >&2; done < <(tac "$work/undo")
  fi
  rm -rf "$work"
  exit "$code"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

# --- waits and sections

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

# section NAME TITLE FUNCTION: runs FUNCTION by itself, so that the next section runs even if this one fails. In a process
# group of its own: a signal to the script ends it and what it started at once.
section='' failures=0 held=()
section() {
  local begin=$SECONDS code=0
  printf '\n=== %s: %s\n' "$1" "$2"
  set -m
  (
    trap - EXIT INT TERM HUP
    set -e
    "$3"
  ) </dev/null &
  section=$!
  set +m
  wait "$section" || code=$?
  section=''
  if [ "$code" -eq 0 ]; then
    held+=("$1  holds   $2 ($((SECONDS - begin)) s)")
  else
    failures=$((failures + 1)) held+=("$1  FAILED  $2 ($((SECONDS - begin)) s)")
  fi
}
# summary: one line for each section; exit code 0 only if all hold
summary() {
  printf '\n=== summary\n'
  printf '%s\n' "${held[@]}"
  [ "$failures" -eq 0 ] || { say "$failures of ${#held[@]} failed" >&2; exit 1; }
  say "all ${#held[@]} hold"
}

# --- a cluster and an image

# use_cluster current|kind NAME: with kind, makes a cluster of that name, and deletes it at the end
use_cluster() {
  case $1 in
    current) ;;
    kind)
      need kind
      export KUBECONFIG=$work/kubeconfig
      if kind get clusters 2>/dev/null | grep -x "$2" >/dev/null; then cannot 2 "a kind cluster \"$2\" is there already; delete it first"; fi
      undo kind delete cluster --name "$2"
      kind create cluster --name "$2" --wait 3m || fail "kind create cluster"
      ;;
    *) cannot 2 "cluster \"$1\": expected kind or current" ;;
  esac
  kubectl version -o json >/dev/null 2>&1 || cannot 2 "no cluster answers; set KUBECONFIG, or use kind"
}

# kind_load NAME IMAGE: docker's images kind takes itself, others by an archive
kind_load() {
  if docker image inspect "$2" >/dev/null 2>&1; then kind load docker-image --name "$1" "$2"; return; fi
  if command -v podman >/dev/null && podman image exists "$2"; then
    podman save -o "$work/image.tar" "$2"
  else
    buildah push -q "$2" "docker-archive:$work/image.tar:$2"
  fi
  kind load image-archive --name "$1" "$work/image.tar"
  rm -f "$work/image.tar"
}

# guard_image CLUSTER NAME LOAD TAG: builds the image unless $IMAGE names one, and makes it known to the cluster; sets $image.
# LOAD is a command that gets the image as its last argument; empty: the nodes can pull it.
guard_image() {
  image=${IMAGE:-}
  if [ -z "$image" ]; then
    image=ghcr.io/xila-guard/xila-guard:$4
    "$root/scripts/build-image.sh" "$image" || fail "build-image.sh"
  fi
  if [ -n "$3" ]; then
    bash -c "$3 \"\$1\"" load "$image" || fail "not loaded: $3 $image"
  elif [ "$1" = kind ]; then
    kind_load "$2" "$image" || fail "kind does not load $image"
  fi
}

# --- the guard

show_guard() {
  kubectl get namespace "$namespace" >/dev/null 2>&1 || return 0
  say "--- the guard's Pods, events and last lines"
  kubectl -n "$namespace" get pods -o wide
  kubectl -n "$namespace" get events --sort-by=.lastTimestamp 2>/dev/null | tail -n 15
  kubectl -n "$namespace" logs "deployment/$deployment" --all-pods --tail=20 --prefix 2>/dev/null
}

# guard_certificates: makes them, the namespace and the Secret
guard_certificates() {
  "$root/scripts/make-webhook-certs.sh" --release "$release" --namespace "$namespace" --out "$work/tls" --apply >"$work/out" 2>&1 ||
    { cat "$work/out" >&2; fail "make-webhook-certs.sh --apply"; }
}
# guard_upgrade VALUES...: the command of docs/install.md
guard_upgrade() {
  "$helm" upgrade --install "$release" "$chart" -n "$namespace" --wait --timeout 3m -f "$work/tls/values-tls.yaml" \
    --set "image.repository=${image%:*}" --set-string "image.tag=${image##*:}" "$@" >"$work/helm" 2>&1 ||
    { cat "$work/helm" >&2; fail "helm upgrade --install $*"; }
}
# guard_install VALUES...: under Pod Security restricted, with a tenant's and a stranger's namespace beside it
guard_install() {
  local name
  for name in "$namespace" "$tenant" "$stranger"; do
    if kubectl get namespace "$name" >/dev/null 2>&1; then cannot 2 "the namespace $name is there already; delete it first"; fi
  done
  name=$(kubectl get validatingwebhookconfigurations -l app.kubernetes.io/name=xila-guard -o name)
  [ -z "$name" ] || cannot 2 "a Xila Guard protects this cluster already: $name"
  undo kubectl delete namespace "$namespace" "$tenant" "$stranger" --ignore-not-found --timeout=120s
  undo "$helm" uninstall "$release" -n "$namespace" --ignore-not-found
  guard_certificates
  kubectl label namespace "$namespace" pod-security.kubernetes.io/enforce=restricted >/dev/null
  guard_upgrade "$@"
  for name in "$tenant" "$stranger"; do kubectl create namespace "$name" >/dev/null; done
  kubectl label namespace "$tenant" "guard.xila.us/tenant=$tenant" >/dev/null
}
guard_scale() { kubectl -n "$namespace" scale "deployment/$deployment" --replicas="$1" >/dev/null; } # REPLICAS
server_pods() { kubectl -n "$namespace" get pods -l app.kubernetes.io/component=webhook --field-selector=status.phase=Running -o name | cut -d/ -f2; }
server_metrics() { kubectl get --raw "/api/v1/namespaces/$namespace/pods/http:$1:8080/proxy/metrics"; } # POD

# reviews PROFILE OPERATION DECISION: how many real ones (no dry runs), of all servers' metrics
reviews() {
  local name
  for name in $(server_pods); do server_metrics "$name"; done | awk -v profile="profile=\"$1\"" -v operation="operation=\"$2\"" \
    -v decision="decision=\"$3\"" '/^xila_guard_reviews_total{/ && index($0, profile) && index($0, operation) && index($0, decision) && index($0, "dry_run=\"false\"") { n += $2 } END { print n + 0 }'
}
# audited POD KEY=VALUE...: an audit line of the tenant's Pod has these values. Needs --audit-log=-
audited() {
  local name
  for name in $(server_pods); do kubectl -n "$namespace" logs "$name"; done | python3 -c '
import json, sys
want = dict(pair.split("=", 1) for pair in sys.argv[1:])
for line in sys.stdin.readlines():  # all of it, or kubectl would fail on a closed pipe
    try:
        entry = json.loads(line)
    except ValueError:
        continue
    if "uid" in entry and all(str(entry.get(key)) == value for key, value in want.items()):
        print(line, end="")
        sys.exit()
sys.exit("no audit line with " + str(want))' "namespace=$tenant" "name=$1" "${@:2}"
}

# --- Pods, by dry run: it calls the webhooks and stores nothing, so not even a failing guard lets a bad Pod in

# pod NAME LABEL SCHEDULER [SPEC]: a Pod as JSON, harmless but for what SPEC (members of its spec) adds
pod() {
  local security='"securityContext":{"allowPrivilegeEscalation":false,"runAsNonRoot":true,"runAsUser":65532,"capabilities":{"drop":["ALL"]},"seccompProfile":{"type":"RuntimeDefault"}}'
  printf '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s","labels":{%s}},"spec":{"schedulerName":"%s"%s,"containers":[{"name":"main","image":"registry.k8s.io/pause:3.10",%s}]}}' \
    "$1" "$2" "$3" "${4:+,$4}" "$security"
}
# shellcheck disable=SC2034 # for the scripts
privileged='"initContainers":[{"name":"init","image":"registry.k8s.io/pause:3.10","securityContext":{"privileged":true}}]'

create() { printf %s "$2" | kubectl create -n "$1" --dry-run=server -o name -f -; } # NAMESPACE OBJECT
admitted() { # WHAT NAMESPACE POD
  create "$2" "$3" >"$work/out" 2>&1 || { cat "$work/out" >&2; fail "not admitted: $1"; }
  pass "admitted: $1"
}
denied() { # WHAT WEBHOOK CHECK NAMESPACE POD
  if create "$4" "$5" >"$work/out" 2>&1; then fail "admitted: $1"; fi
  is_denial "$@"
}
is_denial() { # WHAT WEBHOOK CHECK: $work/out is a denial by a webhook that the pattern WEBHOOK names
  local by
  by=$(sed -n "s/.*admission webhook \"\($2\)\.guard\.xila\.us\" denied the request: .*\[$3\].*/\1/p" "$work/out")
  [ -n "$by" ] || { cat "$work/out" >&2; fail "denied, but not by $2 for $3: $1"; }
  pass "denied by ${by%%$'\n'*} for $3: $1"
}
denied_by() { ! create "$tenant" "$2" >"$work/out" 2>&1 && grep -q "webhook \"$1.guard.xila.us\" denied" "$work/out"; } # WEBHOOK POD

# crossing_denied WEBHOOK LABEL SCHEDULER: each way over the boundary, by a Pod that the webhook is for
crossing_denied() {
  local field
  denied "a privileged init container" "$1" privileged "$tenant" "$(pod bad "$2" "$3" "$privileged")"
  denied "a Pod that picks its node" "$1" node-pin "$tenant" "$(pod bad "$2" "$3" '"nodeName":"some-node"')"
  for field in hostNetwork hostPID hostIPC; do
    denied "$field" "$1" host-namespace "$tenant" "$(pod bad "$2" "$3" "\"$field\":true")"
  done
  denied "a hostPath volume" "$1" host-path "$tenant" "$(pod bad "$2" "$3" '"volumes":[{"name":"v","hostPath":{"path":"/"}}]')"
  denied "a namespace without a tenant" "$1" tenant "$stranger" "$(pod bad "$2" "$3")"
}
# debug_denied WEBHOOK POD: a privileged debug container, added to a Pod that is there
debug_denied() {
  local debug='{"spec":{"ephemeralContainers":[{"name":"debug","image":"registry.k8s.io/pause:3.10","securityContext":{"privileged":true}}]}}'
  if kubectl patch pod "$2" -n "$tenant" --subresource=ephemeralcontainers --type=strategic -p "$debug" >"$work/out" 2>&1; then
    fail "admitted: a privileged debug container, added later"
  fi
  is_denial "a privileged debug container, added to $2 later" "$1" privileged
}

# --- two admissions side by side

webhook_configurations=validatingwebhookconfigurations,mutatingwebhookconfigurations
# fingerprint PATTERN: the webhook configurations with such names: which objects they are, and all that they say
fingerprint() {
  kubectl get $webhook_configurations -o json | python3 -c '
import hashlib, json, re, sys
for item in sorted(json.load(sys.stdin)["items"], key=lambda item: (item["kind"], item["metadata"]["name"])):
    meta = item["metadata"]
    if re.match(sys.argv[1], meta["name"]):
        said = json.dumps([item["webhooks"], meta.get("labels"), meta.get("annotations")], sort_keys=True)
        print(item["kind"], meta["name"], meta["uid"], meta["generation"], hashlib.sha256(said.encode()).hexdigest())' "$1"
}
unchanged() { # WHOSE PATTERN FILE: they are still as in FILE
  fingerprint "$2" >"$work/now"
  [ -s "$3" ] || fail "no webhook configurations of $1"
  diff "$3" "$work/now" >"$work/out" || { cat "$work/out" >&2; fail "$1's webhook configurations have changed"; }
  pass "$1's webhook configurations ($(wc -l <"$3")) are what they were"
}
certified() { # PATTERN: each of these configurations has its CA, which its owner writes when it starts
  kubectl get $webhook_configurations -o json | python3 -c '
import json, re, sys
hooks = [h for c in json.load(sys.stdin)["items"] if re.match(sys.argv[1], c["metadata"]["name"]) for h in c["webhooks"]]
sys.exit(not hooks or not all(h["clientConfig"].get("caBundle") for h in hooks))' "$1"
}
# deployments_available NAMESPACE SECONDS NAME...: waits for them; ends with code 3 if their images cannot be had
deployments_available() {
  local space=$1 end=$((SECONDS + $2)) name missing
  for name in "${@:3}"; do
    until kubectl -n "$space" wait "deployment/$name" --for=condition=Available --timeout=1s >"$work/wait" 2>&1; do
      [ "$SECONDS" -ge "$end" ] || { sleep 1; continue; }
      missing=$(kubectl -n "$space" get pods -o jsonpath='{range .items[*].status.containerStatuses[*]}{.state.waiting.reason}{" "}{.image}{"\n"}{end}' | grep -E '^(ErrImagePull|ImagePullBackOff)' | sort -u || true)
      [ -z "$missing" ] || cannot 3 "images are not to be had: $missing"
      kubectl -n "$space" get pods,events >&2 || true
      fail "after $2 s still not: deployment $space/$name is available ($(cat "$work/wait"))"
    done
  done
}
