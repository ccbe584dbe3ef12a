{{- /*
The profiles of this release as JSON, {profiles, problems}: orchestratorIntegrations, then the shipped
ones that `integrations` switches on, each with its defaults filled in. Everything that renders or
refuses a profile reads it here.
*/ -}}
{{- define "xila-guard.integrations" -}}
{{- $root := . -}}
{{- $problems := list -}}
{{- $entries := list -}}
{{- range $index, $entry := .Values.orchestratorIntegrations -}}
{{- $entries = append $entries (dict "where" (printf "orchestratorIntegrations[%d]" $index) "entry" $entry) -}}
{{- end -}}
{{- $shipped := include "xila-guard.shipped" . | fromJsonArray -}}
{{- range $name, $wish := .Values.integrations -}}
{{- if not (has $name $shipped) -}}
{{- $problems = append $problems (printf "integrations.%s: the chart ships no profile of that name. It ships %s; describe any other orchestrator in orchestratorIntegrations." $name (join ", " $shipped)) -}}
{{- else if or (kindIs "map" $wish) (eq (toString $wish) "true") -}}
{{- $file := $root.Files.Get (printf "profiles/%s.yaml" $name) | fromYaml -}}
{{- range $entry := $file.orchestratorIntegrations -}}
{{- $entry = mergeOverwrite $entry (ternary $wish dict (kindIs "map" $wish)) -}}
{{- $entries = append $entries (dict "where" (printf "integrations.%s" $name) "entry" $entry) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $profiles := list -}}
{{- $seen := dict -}}
{{- range $entries -}}
{{- $found := include "xila-guard.profile.problems" . | fromJsonArray -}}
{{- $name := get .entry "name" | toString -}}
{{- if hasKey $seen $name -}}
{{- $found = append $found (printf "%s: the name %q is also in %s. A name stands for one profile: rename or drop one of them." .where $name (get $seen $name)) -}}
{{- end -}}
{{- $_ := set $seen $name .where -}}
{{- if $found -}}
{{- $problems = concat $problems $found -}}
{{- else -}}
{{- $profiles = append $profiles (include "xila-guard.profile" (dict "root" $root "entry" .entry "where" .where) | fromJson) -}}
{{- end -}}
{{- end -}}
{{- $problems = concat $problems (include "xila-guard.webhookName.problems" $profiles | fromJsonArray | default list) -}}
{{- dict "profiles" $profiles "problems" $problems | toJson -}}
{{- end -}}

{{- /* Names of the shipped profiles, sorted: the files of profiles/. */ -}}
{{- define "xila-guard.shipped" -}}
{{- $names := list -}}
{{- range $path, $_ := .Files.Glob "profiles/*.yaml" -}}
{{- $names = append $names (base $path | trimSuffix ".yaml") -}}
{{- end -}}
{{- $names | sortAlpha | toJson -}}
{{- end -}}

{{- /* One entry with its defaults; {root, entry}. */ -}}
{{- define "xila-guard.profile" -}}
{{- $entry := .entry -}}
{{- $selectors := $entry.workloadSelectors | default (list $entry.workloadSelector) -}}
{{- $webhooks := list -}}
{{- range $index, $selector := $selectors -}}
{{- $suffix := ternary (printf "-%d" (add1 $index)) "" (gt $index 0) -}}
{{- $webhooks = append $webhooks (dict "name" (printf "validate-%s%s.guard.xila.us" $entry.name $suffix) "selector" $selector) -}}
{{- end -}}
{{- dict
  "name" $entry.name
  "where" .where
  "schedulerName" ($entry.schedulerName | default "default-scheduler")
  "selectors" $selectors
  "webhooks" $webhooks
  "namespaceSelector" (include "xila-guard.namespaceSelector" (dict "root" .root "selector" $entry.namespaceSelector) | fromJson)
  "failurePolicy" ($entry.failurePolicy | default "Fail")
  "mode" ($entry.mode | default "enforce")
  "routeGuard" ($entry.routeGuard | default false)
  "labelGuard" ($entry.labelGuard | default false)
  "verification" ($entry.verification | default "example")
  | toJson -}}
{{- end -}}

{{- /*
A namespaceSelector of the user's with the mandatory exclusions added, never replaced: a webhook that
fails closed over its own namespace could not start again, and over kube-system would stop the
cluster. {root, selector}
*/ -}}
{{- define "xila-guard.namespaceSelector" -}}
{{- $selector := deepCopy (.selector | default dict) -}}
{{- $expressions := $selector.matchExpressions | default list -}}
{{- $excluded := include "xila-guard.excludedNamespaces" .root | fromJsonArray -}}
{{- $_ := set $selector "matchExpressions" (append $expressions (dict "key" "kubernetes.io/metadata.name" "operator" "NotIn" "values" $excluded)) -}}
{{- if not $selector.matchLabels }}{{ $_ := unset $selector "matchLabels" }}{{ end -}}
{{- $selector | toJson -}}
{{- end -}}

{{- define "xila-guard.excludedNamespaces" -}}
{{- concat (list .Release.Namespace "kube-system") .Values.enforcement.webhook.excludedNamespaces | uniq | toJson -}}
{{- end -}}

{{- /* Every schedulerName that is accepted, sorted: what --external-schedulers says. */ -}}
{{- define "xila-guard.externalSchedulers" -}}
{{- $names := .Values.externalSchedulers -}}
{{- range (include "xila-guard.integrations" . | fromJson).profiles -}}
{{- $names = append $names .schedulerName -}}
{{- end -}}
{{- $names | uniq | sortAlpha | join "," -}}
{{- end -}}

{{- /* "true" where a webhook is installed at all. */ -}}
{{- define "xila-guard.webhook.enabled" -}}
{{- if or .Values.enforcement.enabled (include "xila-guard.integrations" . | fromJson).profiles -}}true{{- end -}}
{{- end -}}
