#!/usr/bin/env bash
# Makes the webhook's TLS material without cert-manager: a CA, a certificate for the Service's names, a Secret and
# the chart's values.
#
# usage: make-webhook-certs.sh [--release NAME] [--namespace NAME] [--out DIR] [--days N] [--ca-days N]
#                              [--cluster-domain NAME] [--service NAME] [--apply | --rotate-ca]
#
#   --release NAME         Helm release                                    (default xila-guard)
#   --namespace NAME       namespace of the release                        (default xila-guard)
#   --out DIR              where the files go                              (default ./xila-guard-tls)
#   --days N, --ca-days N  lifetime of the certificate and of the CA       (default 365, 3650)
#   --cluster-domain NAME  DNS domain of the cluster                       (default cluster.local)
#   --service NAME         Service, if it is not the chart's
#   --apply                also create the namespace and the Secret, with kubectl
#   --rotate-ca            make a new CA; ca.crt then holds the new one and the old one, for the change-over
#
# Run again, it keeps the CA in DIR and makes a new certificate: with --apply that is the whole rotation, since the
# server reads a changed Secret without a restart. DIR/ca.key signs certificates that the API server trusts for
# this webhook: keep it safe, or delete it and begin anew next time.
set -euo pipefail

fail() { echo "make-webhook-certs: $*" >&2; exit 1; }
usage() { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; }

release=xila-guard namespace=xila-guard out=xila-guard-tls days=365 ca_days=3650 domain=cluster.local service=''
apply='' rotate=''
while [ $# -gt 0 ]; do
  case $1 in
    --apply) apply=1; shift; continue ;;
    --rotate-ca) rotate=1; shift; continue ;;
    -h | --help) usage; exit 0 ;;
    --release | --namespace | --out | --days | --ca-days | --cluster-domain | --service)
      [ $# -ge 2 ] || fail "$1 needs a value" ;;
    *) usage >&2; fail "unknown argument $1" ;;
  esac
  case $1 in
    --release) release=$2 ;;
    --namespace) namespace=$2 ;;
    --out) out=$2 ;;
    --days) days=$2 ;;
    --ca-days) ca_days=$2 ;;
    --cluster-domain) domain=$2 ;;
    --service) service=$2 ;;
  esac
  shift 2
done
for number in "$days" "$ca_days"; do
  [[ $number =~ ^[1-9][0-9]{0,4}$ ]] || fail "\"$number\" is no number of days"
done
for name in "$release" "$namespace"; do
  [[ $name =~ ^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$ ]] || fail "\"$name\" is no name of a release or namespace"
done
[ -z "$apply" ] || [ -z "$rotate" ] || fail "--rotate-ca cannot --apply: the API server has to trust the new CA before the server shows its certificate"
command -v openssl >/dev/null || fail "openssl is not installed"

# The chart's own rule: over 63 characters a name is cut and ends in 8 characters of its hash.
service_name() {
  local name=$release-xila-guard-webhook head hash
  if [ ${#name} -gt 63 ]; then
    hash=$(printf %s "$name" | openssl dgst -sha256 -r | cut -c1-8)
    head=$(printf %s "${name:0:54}" | sed 's/[-.]*$//')
    name=$head-$hash
  fi
  echo "$name"
}
service=${service:-$(service_name)}
host=$service.$namespace.svc

# Seconds since 1970 as openssl writes times.
moment() { date -u -d "@$1" +%Y%m%d%H%M%SZ 2>/dev/null || date -u -r "$1" +%Y%m%d%H%M%SZ; }
now=$(date +%s)
# An hour back, so that a node whose clock is late does not take it for a certificate of the future.
start=$(moment $((now - 3600)))

umask 077
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/openssl.cnf" <<EOF
[ca]
default_ca = here
[here]
database = $work/index
new_certs_dir = $work
rand_serial = yes
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
[authority]
basicConstraints = critical,CA:TRUE,pathlen:0
keyUsage = critical,keyCertSign,cRLSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = DNS:$host,DNS:$host.$domain,DNS:$service.$namespace,DNS:$service
[request]
distinguished_name = empty
[empty]
EOF
: >"$work/index"

# new_key FILE; request KEY SUBJECT; sign EXTENSIONS DAYS OUT ARGS...
new_key() { openssl ecparam -genkey -name prime256v1 -noout -out "$1" 2>/dev/null; }
request() { openssl req -new -key "$1" -subj "$2" -config "$work/openssl.cnf" -out "$work/request"; }
sign() {
  local extensions=$1 days=$2 to=$3; shift 3
  openssl ca -batch -notext -config "$work/openssl.cnf" -extensions "$extensions" -startdate "$start" \
    -enddate "$(moment $((now + days * 86400)))" -in "$work/request" -out "$to" "$@" 2>"$work/log" ||
    { cat "$work/log" >&2; fail "openssl could not sign"; }
}

# The certificate that signs is the first of ca.crt; after --rotate-ca the old one follows it.
if [ -s "$out/ca.key" ] && [ -s "$out/ca.crt" ] && [ -z "$rotate" ]; then
  echo "keeping the CA of $out/ca.crt"
  openssl x509 -in "$out/ca.crt" -checkend $((days * 86400)) -noout >/dev/null ||
    fail "the CA in $out ends before the certificate would: use --rotate-ca, or fewer --days"
else
  [ -z "$rotate" ] || [ -s "$out/ca.crt" ] || fail "--rotate-ca: there is no CA in $out to rotate"
  new_key "$work/ca.key"
  request "$work/ca.key" "/CN=xila-guard-webhook-ca"
  sign authority "$ca_days" "$work/ca.crt" -selfsign -keyfile "$work/ca.key"
  if [ -n "$rotate" ]; then openssl x509 -in "$out/ca.crt" >>"$work/ca.crt"; fi
  mv "$work/ca.key" "$work/ca.crt" "$out/"
fi
openssl x509 -in "$out/ca.crt" -out "$work/signer.crt"
new_key "$work/tls.key"
# A common name has room for 64 characters only; the names that count are the alternative ones.
request "$work/tls.key" "/CN=xila-guard-webhook"
sign server "$days" "$work/tls.crt" -cert "$work/signer.crt" -keyfile "$out/ca.key"
openssl verify -CAfile "$out/ca.crt" "$work/tls.crt" >/dev/null || fail "the new certificate does not verify against $out/ca.crt"
mv "$work/tls.key" "$work/tls.crt" "$out/"

one_line() { openssl base64 -A -in "$1"; }
cat >"$out/secret.yaml" <<EOF
apiVersion: v1
kind: Secret
type: kubernetes.io/tls
metadata:
  name: "${service}-tls"
  namespace: "$namespace"
data:
  ca.crt: $(one_line "$out/ca.crt")
  tls.crt: $(one_line "$out/tls.crt")
  tls.key: $(one_line "$out/tls.key")
EOF
cat >"$out/values-tls.yaml" <<EOF
enforcement:
  webhook:
    tls:
      secretName: "${service}-tls"
      caBundle: $(one_line "$out/ca.crt")
EOF
echo "wrote $out/{ca.crt,ca.key,tls.crt,tls.key,secret.yaml,values-tls.yaml} for $host, until $(openssl x509 -in "$out/tls.crt" -noout -enddate | cut -d= -f2)"

helm_command="helm upgrade --install $release charts/xila-guard -n $namespace -f $out/values-tls.yaml -f charts/xila-guard/profiles/volcano.yaml"
if [ -n "$rotate" ]; then
  cat <<EOF
next, in this order:
  1. helm upgrade with -f $out/values-tls.yaml     the API server trusts both CAs
  2. kubectl apply -f $out/secret.yaml             the server shows the new certificate, within two minutes
  3. later, once only the new one is in use: remove the second certificate from $out/ca.crt, run this script again
     with --apply, and helm upgrade with the new $out/values-tls.yaml
EOF
elif [ -n "$apply" ]; then
  kubectl get namespace "$namespace" >/dev/null 2>&1 || kubectl create namespace "$namespace"
  kubectl apply -f "$out/secret.yaml"
  echo "next, unless it is installed already:"
  echo "  $helm_command"
else
  echo "next:"
  echo "  kubectl create namespace $namespace"
  echo "  kubectl apply -f $out/secret.yaml"
  echo "  $helm_command"
fi
