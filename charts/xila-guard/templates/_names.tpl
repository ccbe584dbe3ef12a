{{- /*
<release>-xila-guard-<suffix>, always, also for a release called xila-guard. Over the limit (63, a
Service's) it is cut and ends in eight characters of its own hash, so that two long names stay two.
{root, suffix, limit?}
*/ -}}
{{- define "xila-guard.name" -}}
{{- $name := printf "%s-xila-guard-%s" .root.Release.Name .suffix -}}
{{- $limit := .limit | default 63 | int -}}
{{- if gt (len $name) $limit -}}
{{- $head := $name | trunc (sub $limit 9 | int) -}}
{{- printf "%s-%s" (regexReplaceAll "[-.]+$" $head "") (sha256sum $name | trunc 8) -}}
{{- else -}}
{{- $name -}}
{{- end -}}
{{- end -}}

{{- define "xila-guard.webhook.name" -}}
{{- include "xila-guard.name" (dict "root" . "suffix" "webhook") -}}
{{- end -}}

{{- define "xila-guard.webhook.secretName" -}}
{{- .Values.enforcement.webhook.tls.secretName | default (include "xila-guard.name" (dict "root" . "suffix" "webhook-tls")) -}}
{{- end -}}

{{- define "xila-guard.observe.name" -}}
{{- include "xila-guard.name" (dict "root" . "suffix" "observe") -}}
{{- end -}}

{{- define "xila-guard.webhook.serviceAccountName" -}}
{{- .Values.enforcement.webhook.serviceAccount.name | default (include "xila-guard.webhook.name" .) -}}
{{- end -}}

{{- define "xila-guard.observe.serviceAccountName" -}}
{{- .Values.observe.serviceAccount.name | default (include "xila-guard.observe.name" .) -}}
{{- end -}}

{{- define "xila-guard.config.name" -}}
{{- include "xila-guard.name" (dict "root" . "suffix" "config") -}}
{{- end -}}

{{- /* What selects a component's Pods. A Deployment's selector can never change: add nothing here. */ -}}
{{- define "xila-guard.selectorLabels" -}}
app.kubernetes.io/name: "xila-guard"
app.kubernetes.io/instance: {{ .root.Release.Name | toJson }}
app.kubernetes.io/component: {{ .component | toJson }}
{{- end -}}

{{- /* Labels of every object; {root, component, extra?}. The chart's own win over commonLabels. */ -}}
{{- define "xila-guard.labels" -}}
{{- $own := dict
  "helm.sh/chart" (printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_")
  "app.kubernetes.io/version" .root.Chart.AppVersion
  "app.kubernetes.io/managed-by" .root.Release.Service
  "app.kubernetes.io/part-of" "xila-guard" -}}
{{- $own = mergeOverwrite (deepCopy .root.Values.commonLabels) (.extra | default dict) $own (include "xila-guard.selectorLabels" . | fromYaml) -}}
{{- include "xila-guard.yaml" $own -}}
{{- end -}}

{{- /* metadata of an object: {root, name, component, namespaced? (true), labels?, annotations?} */ -}}
{{- define "xila-guard.metadata" -}}
name: {{ .name | toJson }}
{{- if ne (.namespaced | toString) "false" }}
namespace: {{ .root.Release.Namespace | toJson }}
{{- end }}
labels:
  {{- include "xila-guard.labels" (dict "root" .root "component" .component "extra" .labels) | nindent 2 }}
{{- with mergeOverwrite (deepCopy .root.Values.commonAnnotations) (.annotations | default dict) }}
annotations:
  {{- include "xila-guard.yaml" . | nindent 2 }}
{{- end }}
{{- end -}}
