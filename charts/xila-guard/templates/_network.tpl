{{- /*
{root, component, name, servesReviews?}. Reviews may come from anywhere: the API server's address is not in
the cluster's network, and a policy that shuts it out stops every protected Pod.
*/ -}}
{{- define "xila-guard.networkPolicy" -}}
{{- $policy := .root.Values.networkPolicy -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  {{- include "xila-guard.metadata" (dict "root" .root "name" .name "component" .component) | nindent 2 }}
spec:
  podSelector:
    matchLabels:
      {{- include "xila-guard.selectorLabels" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
  ingress:
    {{- if .servesReviews }}
    - ports: [{port: https, protocol: TCP}]
    {{- end }}
    - ports: [{port: metrics, protocol: TCP}]
      {{- with $policy.metricsFrom }}
      from:
        {{- include "xila-guard.yaml" . | nindent 8 }}
      {{- end }}
    {{- with $policy.extraIngress }}
    {{- include "xila-guard.yaml" . | nindent 4 }}
    {{- end }}
  egress:
    # The API server, under whatever address it has.
    - ports:
        {{- range $policy.apiServerPorts }}
        - {port: {{ . }}, protocol: TCP}
        {{- end }}
    {{- with $policy.extraEgress }}
    {{- include "xila-guard.yaml" . | nindent 4 }}
    {{- end }}
{{- end -}}
