{{- /*
What is wrong with one profile, as a JSON list of sentences; {where, entry}. The schema leaves these
to the templates, since its messages name a pattern and not the remedy.
*/ -}}
{{- define "xila-guard.profile.problems" -}}
{{- $where := .where -}}
{{- $entry := .entry -}}
{{- $p := dict "list" list -}}
{{- $name := $entry.name -}}
{{- if not (kindIs "string" $name) -}}
{{- $_ := set $p "list" (append $p.list (printf "%s.name is %s. Give the profile a name in quotes, such as \"volcano\"." $where (include "xila-guard.shown" (dict "value" $name)))) -}}
{{- else -}}
{{- if gt (len $name) 63 -}}
{{- $_ := set $p "list" (append $p.list (printf "%s.name %q has %d characters. It becomes part of object names, which allow 63: shorten it." $where $name (len $name))) -}}
{{- else if not (regexMatch "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" $name) -}}
{{- $_ := set $p "list" (append $p.list (printf "%s.name %q cannot be part of an object name. Use lower-case letters, digits and \"-\", with a letter or digit at both ends." $where $name)) -}}
{{- else if eq $name "enforcement" -}}
{{- $_ := set $p "list" (append $p.list (printf "%s.name \"enforcement\" is taken by the webhook of enforcement.enabled. Use another name." $where)) -}}
{{- end -}}
{{- end -}}
{{- $scheduler := $entry.schedulerName -}}
{{- if not (hasKey $entry "schedulerName") -}}
{{- $_ := set $p "list" (append $p.list (printf "%s.schedulerName is missing. Write the name that the orchestrator's Pods carry in spec.schedulerName, or \"default-scheduler\" if it sets none." $where)) -}}
{{- else if not (kindIs "string" $scheduler) -}}
{{- $_ := set $p "list" (append $p.list (printf "%s.schedulerName is %s. Write the scheduler's name in quotes; \"\" stands for default-scheduler." $where (include "xila-guard.shown" (dict "value" $scheduler)))) -}}
{{- else if not (regexMatch "^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$" $scheduler) -}}
{{- $_ := set $p "list" (append $p.list (printf "%s.schedulerName %q is no scheduler's name. Use letters, digits, \"-\", \"_\" and \".\", with a letter or digit at both ends; one profile names one scheduler." $where $scheduler)) -}}
{{- else if and $entry.routeGuard (has $scheduler (list "" "default-scheduler")) -}}
{{- $_ := set $p "list" (append $p.list (printf "%s.routeGuard cannot guard the route of schedulerName %q: every ordinary Pod takes it. Set routeGuard to false; to judge every Pod of the tenants, set enforcement.enabled to true." $where $scheduler)) -}}
{{- end -}}
{{- $single := hasKey $entry "workloadSelector" -}}
{{- $many := hasKey $entry "workloadSelectors" -}}
{{- if and $single $many -}}
{{- $_ := set $p "list" (append $p.list (printf "%s has both workloadSelector and workloadSelectors. Keep workloadSelectors, and put the single selector into it." $where)) -}}
{{- else if $many -}}
{{- if not $entry.workloadSelectors -}}
{{- $_ := set $p "list" (append $p.list (printf "%s.workloadSelectors is empty. List at least one label selector." $where)) -}}
{{- end -}}
{{- range $index, $selector := $entry.workloadSelectors -}}
{{- include "xila-guard.workloadSelector.problems" (dict "p" $p "where" (printf "%s.workloadSelectors[%d]" $where $index) "selector" $selector) -}}
{{- end -}}
{{- else if $single -}}
{{- include "xila-guard.workloadSelector.problems" (dict "p" $p "where" (printf "%s.workloadSelector" $where) "selector" $entry.workloadSelector) -}}
{{- else -}}
{{- $_ := set $p "list" (append $p.list (printf "%s.workloadSelector is missing. Write the label selector that the orchestrator's Pods match, for example {matchExpressions: [{key: volcano.sh/job-name, operator: Exists}]}." $where)) -}}
{{- end -}}
{{- if $entry.namespaceSelector -}}
{{- include "xila-guard.selector.problems" (dict "p" $p "where" (printf "%s.namespaceSelector" $where) "selector" $entry.namespaceSelector) -}}
{{- end -}}
{{- $p.list | toJson -}}
{{- end -}}

{{- /* Adds to p.list; {p, where, selector} */ -}}
{{- define "xila-guard.workloadSelector.problems" -}}
{{- $selector := .selector | default dict -}}
{{- if or $selector.matchLabels $selector.matchExpressions -}}
{{- include "xila-guard.selector.problems" . -}}
{{- else -}}
{{- $_ := set .p "list" (append .p.list (printf "%s is empty and selects every Pod. Name a label of the orchestrator's Pods; to judge every Pod of the tenants, set enforcement.enabled to true." .where)) -}}
{{- end -}}
{{- end -}}

{{- /* Kubernetes' own rules for a label selector. Adds to p.list; {p, where, selector} */ -}}
{{- define "xila-guard.selector.problems" -}}
{{- $p := .p -}}
{{- $where := .where -}}
{{- range $key, $value := .selector.matchLabels -}}
{{- include "xila-guard.labelKey.problems" (dict "p" $p "where" (printf "%s.matchLabels" $where) "key" $key) -}}
{{- include "xila-guard.labelValue.problems" (dict "p" $p "where" (printf "%s.matchLabels[%q]" $where $key) "value" $value) -}}
{{- end -}}
{{- range $index, $term := .selector.matchExpressions -}}
{{- $here := printf "%s.matchExpressions[%d]" $where $index -}}
{{- include "xila-guard.labelKey.problems" (dict "p" $p "where" (printf "%s.key" $here) "key" $term.key) -}}
{{- if has $term.operator (list "In" "NotIn") -}}
{{- if not $term.values -}}
{{- $_ := set $p "list" (append $p.list (printf "%s.values is empty, and operator %s needs at least one value. Add one, or use Exists or DoesNotExist." $here $term.operator)) -}}
{{- end -}}
{{- else if not (has $term.operator (list "Exists" "DoesNotExist")) -}}
{{- $_ := set $p "list" (append $p.list (printf "%s.operator is %s. Use In, NotIn, Exists or DoesNotExist." $here (include "xila-guard.shown" (dict "value" $term.operator)))) -}}
{{- else if $term.values -}}
{{- $_ := set $p "list" (append $p.list (printf "%s.values must be left out: operator %s takes none. To compare values use In or NotIn." $here $term.operator)) -}}
{{- end -}}
{{- range $i, $value := $term.values -}}
{{- include "xila-guard.labelValue.problems" (dict "p" $p "where" (printf "%s.values[%d]" $here $i) "value" $value) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "xila-guard.labelKey.problems" -}}
{{- $key := .key | toString -}}
{{- $parts := splitList "/" $key -}}
{{- $good := and (kindIs "string" .key) (le (len $parts) 2) (regexMatch "^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$" (last $parts)) -}}
{{- if and $good (eq (len $parts) 2) -}}
{{- $good = and (le (len (first $parts)) 253) (regexMatch "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$" (first $parts)) -}}
{{- end -}}
{{- if not $good -}}
{{- $_ := set .p "list" (append .p.list (printf "%s: %s is no label key. Write it as Kubernetes does, \"name\" or \"example.com/name\", at most 63 characters after the \"/\"." .where (include "xila-guard.shown" (dict "value" .key)))) -}}
{{- end -}}
{{- end -}}

{{- define "xila-guard.labelValue.problems" -}}
{{- if not (kindIs "string" .value) -}}
{{- $_ := set .p "list" (append .p.list (printf "%s is %s, and a label's value is text. Put it in quotes." .where (include "xila-guard.shown" (dict "value" .value)))) -}}
{{- else if not (regexMatch "^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$" .value) -}}
{{- $_ := set .p "list" (append .p.list (printf "%s %q is no label value. Kubernetes allows at most 63 letters, digits, \"-\", \"_\" and \".\", with a letter or digit at both ends." .where .value)) -}}
{{- end -}}
{{- end -}}

{{- /* Metrics and audit annotations go by the webhook's name, so no two profiles may share one. */ -}}
{{- define "xila-guard.webhookName.problems" -}}
{{- $problems := list -}}
{{- $seen := dict -}}
{{- range $profile := . -}}
{{- range $profile.webhooks -}}
{{- if and (hasKey $seen .name) (ne (get $seen .name) $profile.name) -}}
{{- $problems = append $problems (printf "%s.name: profiles %q and %q would both have a webhook called %s. Rename one of them." $profile.where (get $seen .name) $profile.name .name) -}}
{{- end -}}
{{- $_ := set $seen .name $profile.name -}}
{{- end -}}
{{- end -}}
{{- $problems | toJson -}}
{{- end -}}

{{- /* A value as the user would recognise it; {value} */ -}}
{{- define "xila-guard.shown" -}}
{{- if kindIs "invalid" .value -}}
not set
{{- else if kindIs "bool" .value -}}
the boolean {{ .value }}
{{- else if or (kindIs "float64" .value) (kindIs "int64" .value) -}}
the number {{ include "xila-guard.yaml.scalar" .value }}
{{- else -}}
{{ toJson .value }}
{{- end -}}
{{- end -}}
