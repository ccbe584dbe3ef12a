{{- /*
"true" where the controller's workload is installed. This version's binary has no `observe` command
yet: then the release holds its ServiceAccount only, and a Deployment would never become ready.
*/ -}}
{{- define "xila-guard.observe.enabled" -}}
{{- if and .Values.observe.enabled (include "xila-guard.observe.available" .) -}}true{{- end -}}
{{- end -}}

{{- define "xila-guard.observe.available" -}}{{- end -}}
