{{- /*
One entry of a ValidatingWebhookConfiguration.
{root, name, path, selector?, namespaceSelector, failurePolicy, labelGuard?, scheduler?}
*/ -}}
{{- define "xila-guard.webhook.entry" -}}
{{- $webhook := .root.Values.enforcement.webhook -}}
- name: {{ .name | toJson }}
  admissionReviewVersions: ["v1"]
  clientConfig:
    service:
      namespace: {{ .root.Release.Namespace | toJson }}
      name: {{ include "xila-guard.webhook.name" .root | toJson }}
      path: {{ .path | toJson }}
      port: 443
    {{- /* With cert-manager no caBundle at all, not even an empty one: it would wipe what the injector wrote. */}}
    {{- if not $webhook.certManager.enabled }}
    caBundle: {{ regexReplaceAll "\\s" $webhook.tls.caBundle "" | toJson }}
    {{- end }}
  rules:
    - apiGroups: [""]
      apiVersions: ["v1"]
      operations: ["CREATE"]
      resources: ["pods"]
      scope: Namespaced
    - apiGroups: [""]
      apiVersions: ["v1"]
      operations: ["UPDATE"]
      resources: {{ ternary (list "pods" "pods/ephemeralcontainers") (list "pods/ephemeralcontainers") (.labelGuard | default false) | toJson }}
      scope: Namespaced
  matchPolicy: Equivalent
  namespaceSelector:
    {{- include "xila-guard.yaml" .namespaceSelector | nindent 4 }}
  {{- with .selector }}
  objectSelector:
    {{- include "xila-guard.yaml" . | nindent 4 }}
  {{- end }}
  {{- with .scheduler }}
  matchConditions:
    - name: names-the-scheduler
      expression: {{ printf "has(object.spec) && has(object.spec.schedulerName) && object.spec.schedulerName == %s" (toJson .) | squote }}
  {{- end }}
  failurePolicy: {{ .failurePolicy }}
  sideEffects: None
  timeoutSeconds: {{ $webhook.timeoutSeconds }}
{{- end -}}

{{- /* metadata of a webhook configuration; {root, name, profile} */ -}}
{{- define "xila-guard.webhook.configuration.metadata" -}}
{{- $webhook := .root.Values.enforcement.webhook -}}
{{- $annotations := deepCopy $webhook.configuration.annotations -}}
{{- if $webhook.certManager.enabled -}}
{{- $_ := set $annotations "cert-manager.io/inject-ca-from" (printf "%s/%s" .root.Release.Namespace (include "xila-guard.name" (dict "root" .root "suffix" "webhook"))) -}}
{{- end -}}
{{- $labels := mergeOverwrite (deepCopy $webhook.configuration.labels) (dict "guard.xila.us/profile" .profile) -}}
{{- /* An object of the cluster's may be called what it likes up to 253 characters. */ -}}
{{- $name := include "xila-guard.name" (dict "root" .root "suffix" (printf "webhook-%s" .profile) "limit" 253) -}}
{{- include "xila-guard.metadata" (dict "root" .root "name" $name "component" "webhook" "namespaced" false "labels" $labels "annotations" $annotations) -}}
{{- end -}}
