{{- /*
Everything that this release is refused for, as a JSON list of sentences; each names the value and
the remedy. What the schema can say well, it says; what needs words, or two values, stands here.
*/ -}}
{{- define "xila-guard.refusals" -}}
{{- $problems := (include "xila-guard.integrations" . | fromJson).problems | default list -}}
{{- if .Values.enforcement.scheduler.enabled -}}
{{- $problems = append $problems "enforcement.scheduler.enabled: this version has no controlled scheduler yet. Leave it false; enforcement.enabled=true enforces the admission boundary without it." -}}
{{- end -}}
{{- range $index, $name := .Values.externalSchedulers -}}
{{- if not (and (kindIs "string" $name) (regexMatch "^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$" (toString $name))) -}}
{{- $problems = append $problems (printf "externalSchedulers[%d]: %s is no scheduler's name. Write one name in quotes for each item; the ordinary one is \"default-scheduler\"." $index (include "xila-guard.shown" (dict "value" $name))) -}}
{{- end -}}
{{- end -}}
{{- range $name, $budget := dict "observe" .Values.observe.podDisruptionBudget "enforcement.webhook" .Values.enforcement.webhook.podDisruptionBudget -}}
{{- if and $budget.enabled (not (kindIs "invalid" $budget.minAvailable)) (not (kindIs "invalid" $budget.maxUnavailable)) -}}
{{- $problems = append $problems (printf "%s.podDisruptionBudget has both minAvailable and maxUnavailable, and Kubernetes takes one. Set the other to null." $name) -}}
{{- end -}}
{{- end -}}
{{- if or (include "xila-guard.webhook.enabled" .) .Values.orchestratorIntegrations -}}
{{- $problems = concat $problems (include "xila-guard.webhook.refusals" . | fromJsonArray | default list) -}}
{{- end -}}
{{- $problems | toJson -}}
{{- end -}}

{{- /* Those that matter once a webhook is installed. */ -}}
{{- define "xila-guard.webhook.refusals" -}}
{{- $webhook := .Values.enforcement.webhook -}}
{{- $tls := $webhook.tls -}}
{{- $problems := list -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" .Release.Name) -}}
{{- $problems = append $problems (printf "The release is called %q, and the webhook's Service is called after it. A Service's name begins with a letter and has no \".\": install under another release name." .Release.Name) -}}
{{- end -}}
{{- if and $webhook.certManager.enabled $tls.caBundle -}}
{{- $problems = append $problems "enforcement.webhook.tls.caBundle and enforcement.webhook.certManager.enabled=true are two owners of one CA. Keep one: with cert-manager leave caBundle empty." -}}
{{- else if $webhook.certManager.enabled -}}
{{- else if not $tls.caBundle -}}
{{- $problems = append $problems (printf "enforcement.webhook.tls.caBundle is empty, and without a CA the API server cannot call the webhook. Either set enforcement.webhook.certManager.enabled=true (cert-manager must be installed), or make a certificate with scripts/make-webhook-certs.sh, put it into the Secret %q (enforcement.webhook.tls.secretName) and set enforcement.webhook.tls.caBundle to the base64 of its CA." (include "xila-guard.webhook.secretName" .)) -}}
{{- else if not (regexMatch "^[A-Za-z0-9+/\\s]+=*\\s*$" $tls.caBundle) -}}
{{- $problems = append $problems "enforcement.webhook.tls.caBundle is not base64. Set it to the base64 of the CA's PEM file: openssl base64 -A -in ca.crt" -}}
{{- else -}}
{{- $pem := b64dec (regexReplaceAll "\\s" $tls.caBundle "") -}}
{{- if contains "PRIVATE KEY" $pem -}}
{{- $problems = append $problems "enforcement.webhook.tls.caBundle holds a private key. It is published to everybody who may read the webhook configuration: set it to the CA's certificate only, and replace that key." -}}
{{- else if not (contains "-----BEGIN CERTIFICATE-----" $pem) -}}
{{- $problems = append $problems "enforcement.webhook.tls.caBundle is base64, but of no PEM certificate. Set it to the base64 of the CA's PEM file: openssl base64 -A -in ca.crt" -}}
{{- end -}}
{{- end -}}
{{- if and $webhook.hostNetwork (eq (int $webhook.port) 10250) -}}
{{- $problems = append $problems "enforcement.webhook.hostNetwork=true with port 10250 collides with the kubelet's own port. Set enforcement.webhook.port to another one, and let the control plane reach it." -}}
{{- end -}}
{{- if eq (int $webhook.port) (int .Values.metrics.port) -}}
{{- $problems = append $problems (printf "enforcement.webhook.port and metrics.port are both %d. Give them different ports." (int $webhook.port)) -}}
{{- end -}}
{{- if and $webhook.clientCA.configMapName $webhook.clientCA.secretName -}}
{{- $problems = append $problems "enforcement.webhook.clientCA names both a ConfigMap and a Secret. Keep one of configMapName and secretName." -}}
{{- end -}}
{{- $problems | toJson -}}
{{- end -}}
