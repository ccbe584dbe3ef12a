{{- /*
Writes a value as block YAML in which every string is quoted. Helm's toYaml leaves quotes to its own
reading of YAML; readers differ on y, on, 0123, 1e6 and 1_000, and here a label value that turns into
a boolean or a number moves the boundary.
*/ -}}
{{- define "xila-guard.yaml" -}}
{{- if and (kindIs "map" .) . -}}
{{- $map := . -}}
{{- range $index, $key := keys $map | sortAlpha -}}
{{- if $index }}{{ "\n" }}{{ end -}}
{{- include "xila-guard.yaml.entry" (dict "key" $key "value" (get $map $key)) -}}
{{- end -}}
{{- else if and (kindIs "slice" .) . -}}
{{- range $index, $item := . -}}
{{- if $index }}{{ "\n" }}{{ end -}}
- {{ include "xila-guard.yaml" $item | indent 2 | trim }}
{{- end -}}
{{- else -}}
{{- include "xila-guard.yaml.scalar" . -}}
{{- end -}}
{{- end -}}

{{- /* One "key: value"; {key, value}. A caller that wants an order of its own calls it key by key. */ -}}
{{- define "xila-guard.yaml.entry" -}}
{{- /* Of such words, YAML reads only these as something else than text. */ -}}
{{- if and (regexMatch "^[a-z][A-Za-z0-9._/-]{2,}$" .key) (not (has .key (list "null" "true" "false" "yes" "off"))) -}}
{{- .key -}}
{{- else -}}
{{- .key | toJson -}}
{{- end -}}
:
{{- if and (kindIs "map" .value) .value }}
{{- include "xila-guard.yaml" .value | nindent 2 -}}
{{- else if and (kindIs "slice" .value) .value }}
{{- include "xila-guard.yaml" .value | nindent 2 -}}
{{- else }} {{ include "xila-guard.yaml.scalar" .value -}}
{{- end -}}
{{- end -}}

{{- define "xila-guard.yaml.scalar" -}}
{{- if kindIs "map" . -}}
{}
{{- else if kindIs "slice" . -}}
[]
{{- else if and (kindIs "float64" .) (eq (floor .) (float64 .)) -}}
{{- /* Helm holds integers as floats, and would write 12345678 as 1.2345678e+07. */ -}}
{{- int64 . -}}
{{- else -}}
{{- toJson . -}}
{{- end -}}
{{- end -}}
