#!/usr/bin/env bash
# Writes deploy/ anew from the chart: plain manifests for kubectl apply. HELM names the helm binary.
# usage: render-deploy.sh [DIR]     default: deploy
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
to=${1:-$root/deploy}
helm=${HELM:-helm}
command -v "$helm" >/dev/null || { echo "render-deploy: helm is not installed; set HELM to its path" >&2; exit 1; }
mkdir -p "$to"

# A CA only to get the rendering past the chart; the text that takes its place is not base64, so the API server
# refuses the manifest until somebody has put a real CA there.
ca=LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==
placeholder=put-the-base64-of-ca.crt-here

# render FILE "what it is" VALUE...
render() {
  local file=$1 title=$2 arguments=(); shift 2
  for value in "$@"; do arguments+=(--set "$value"); done
  {
    echo "# $title"
    echo "# Rendered from charts/xila-guard by scripts/render-deploy.sh; change the chart, not this file."
    # Without Helm there is no release, nor a chart's version.
    "$helm" template xila-guard "$root/charts/xila-guard" -n xila-guard --skip-tests "${arguments[@]}" |
      sed -e '/^ *helm\.sh\/chart: /d' -e '/^ *app\.kubernetes\.io\/managed-by: /d' -e '/^# Source: /d' -e "s|\"$ca\"|\"$placeholder\"|"
  } >"$to/$file"
}

cat >"$to/00-namespace.yaml" <<'EOF'
# The namespace of Xila Guard. Every Pod in it passes Pod Security "restricted".
apiVersion: v1
kind: Namespace
metadata:
  name: xila-guard
  labels:
    pod-security.kubernetes.io/enforce: restricted
EOF
render 10-observe.yaml "The observe controller: reports, never blocks."
render 20-volcano-cert-manager.yaml "The admission webhook for Volcano, with a certificate by cert-manager." \
  observe.enabled=false integrations.volcano=true enforcement.webhook.certManager.enabled=true
render 20-volcano-manual-tls.yaml "The admission webhook for Volcano, with a certificate of your own: see README.md." \
  observe.enabled=false integrations.volcano=true "enforcement.webhook.tls.caBundle=$ca"
