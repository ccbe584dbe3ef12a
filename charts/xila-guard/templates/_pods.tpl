{{- /* registry/repository:tag, or @digest, which wins. A registry given for all images replaces the repository's own. */ -}}
{{- define "xila-guard.image" -}}
{{- $image := .Values.image -}}
{{- $repository := $image.repository -}}
{{- with .Values.global.imageRegistry -}}
{{- $parts := splitList "/" $repository -}}
{{- if and (gt (len $parts) 1) (regexMatch "[.:]|^localhost$" (first $parts)) -}}
{{- $repository = rest $parts | join "/" -}}
{{- end -}}
{{- $repository = printf "%s/%s" (trimSuffix "/" .) $repository -}}
{{- end -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository ($image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{- /*
The part of a Pod's spec that every Pod of the chart shares; {root, component, values, spread?}. They
are always the default scheduler's: a guard that waits for a scheduler it guards never starts.
*/ -}}
{{- define "xila-guard.podSpec" -}}
{{- $values := .values -}}
{{- $selector := include "xila-guard.selectorLabels" . | fromYaml -}}
schedulerName: default-scheduler
{{- with concat .root.Values.imagePullSecrets (.root.Values.global.imagePullSecrets | default list) | uniq }}
imagePullSecrets:
  {{- include "xila-guard.yaml" . | nindent 2 }}
{{- end }}
{{- with $values.priorityClassName }}
priorityClassName: {{ toJson . }}
{{- end }}
{{- with $values.nodeSelector }}
nodeSelector:
  {{- include "xila-guard.yaml" . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations:
  {{- include "xila-guard.yaml" . | nindent 2 }}
{{- end }}
{{- if .spread }}
affinity:
  {{- if $values.affinity }}
  {{- include "xila-guard.yaml" $values.affinity | nindent 2 }}
  {{- else }}
  # Replicas apart, and off the GPU nodes where there are others.
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels:
              {{- include "xila-guard.yaml" $selector | nindent 14 }}
  nodeAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 50
        preference:
          matchExpressions:
            - {key: nvidia.com/gpu.present, operator: DoesNotExist}
  {{- end }}
topologySpreadConstraints:
  {{- range $values.topologySpreadConstraints }}
  {{- $constraint := deepCopy . }}
  {{- if not $constraint.labelSelector }}
  {{- $_ := set $constraint "labelSelector" (dict "matchLabels" $selector) }}
  {{- end }}
  - {{ include "xila-guard.yaml" $constraint | indent 4 | trim }}
  {{- else }} []
  {{- end }}
{{- end }}
securityContext:
  {{- include "xila-guard.yaml" .root.Values.podSecurityContext | nindent 2 }}
# A Service called xila-guard-secure would set XILA_GUARD_SECURE_PORT, which is --secure-port.
enableServiceLinks: false
{{- end -}}

{{- /* What every container of the chart shares; {root, resources} */ -}}
{{- define "xila-guard.container" -}}
image: {{ include "xila-guard.image" .root | toJson }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  {{- include "xila-guard.yaml" .root.Values.securityContext | nindent 2 }}
{{- with .resources }}
resources:
  {{- include "xila-guard.yaml" . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* Labels and annotations of a component's Pods, without the chart's version, which is no reason to restart; {root, component, values} */ -}}
{{- define "xila-guard.podMetadata" -}}
labels:
  {{- $own := include "xila-guard.selectorLabels" . | fromYaml }}
  {{- $_ := set $own "app.kubernetes.io/part-of" "xila-guard" }}
  {{- include "xila-guard.yaml" (mergeOverwrite (deepCopy .root.Values.commonLabels) .values.podLabels $own) | nindent 2 }}
{{- with mergeOverwrite (deepCopy .root.Values.commonAnnotations) .values.podAnnotations }}
annotations:
  {{- include "xila-guard.yaml" . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "xila-guard.probes" -}}
# Over plain HTTP: the kubelet need not trust, nor wait for, the webhook's certificate.
startupProbe:
  httpGet: {path: /healthz, port: metrics}
  periodSeconds: 1
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /healthz, port: metrics}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: {path: /readyz, port: metrics}
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: 2
{{- end -}}

{{- /* {root, component, name, values} */ -}}
{{- define "xila-guard.podDisruptionBudget" -}}
{{- $budget := .values.podDisruptionBudget -}}
{{- if $budget.enabled }}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "xila-guard.metadata" (dict "root" .root "name" .name "component" .component) | nindent 2 }}
spec:
  {{- if not (kindIs "invalid" $budget.minAvailable) }}
  minAvailable: {{ include "xila-guard.yaml.scalar" $budget.minAvailable }}
  {{- else }}
  maxUnavailable: {{ include "xila-guard.yaml.scalar" $budget.maxUnavailable }}
  {{- end }}
  # A replica that is not ready does nobody any good, and must not hold up a drain.
  unhealthyPodEvictionPolicy: {{ $budget.unhealthyPodEvictionPolicy }}
  selector:
    matchLabels:
      {{- include "xila-guard.selectorLabels" . | nindent 6 }}
{{- end }}
{{- end -}}
