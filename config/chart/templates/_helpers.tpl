{{- define "svc.image" -}}
{{- $image := .Values.image }}
{{- $tag := $image.tag | default (ternary "" (include "svc.labelValue" .Chart.AppVersion) (ne $image.digest "")) }}
{{- $image.repository }}{{ with $tag }}:{{ . }}{{ end }}{{ with $image.digest }}@{{ . }}{{ end }}
{{- end }}

{{/* A text as the value of a label or the tag of an image, which have no "+" as a version with build metadata has. */}}
{{- define "svc.labelValue" -}}
{{- . | replace "+" "_" | trunc 63 | trimAll "-_." }}
{{- end }}

{{/* Labels of an object: dict "root", optionally "component" and "labels". Those of the chart win over those of values. */}}
{{- define "svc.labels" -}}
{{- $root := .root }}
{{- $own := dict
  "app.kubernetes.io/name" "svc"
  "app.kubernetes.io/instance" $root.Release.Name
  "app.kubernetes.io/managed-by" $root.Release.Service
  "app.kubernetes.io/version" (include "svc.labelValue" $root.Chart.AppVersion)
  "helm.sh/chart" (printf "%s-%s" $root.Chart.Name $root.Chart.Version | include "svc.labelValue")
}}
{{- with .component }}{{ $_ := set $own "app.kubernetes.io/component" . }}{{ end }}
{{- toYaml (merge $own (default dict .labels) (default dict $root.Values.commonLabels)) }}
{{- end }}

{{/* Metadata of an object: dict "root", "name", optionally "namespace", "component", "labels" and "annotations". */}}
{{- define "svc.metadata" -}}
name: {{ .name | quote }}
{{- with .namespace }}
namespace: {{ . | quote }}
{{- end }}
{{ include "svc.podMetadata" . }}
{{- end }}

{{/* Labels and annotations: dict "root", optionally "component", "labels" and "annotations". */}}
{{- define "svc.podMetadata" -}}
labels:
  {{- include "svc.labels" . | nindent 2 }}
{{- with merge (dict) (default dict .annotations) (default dict .root.Values.commonAnnotations) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Selector labels of a component: dict "component". */}}
{{- define "svc.selector" -}}
app.kubernetes.io/name: svc
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* Flags as arguments, in name order: a map. Numbers come as floats, and whole ones must not read 1e+06. */}}
{{- define "svc.flags" -}}
{{- range $name, $value := . }}
{{- if and (kindIs "float64" $value) (eq (floor $value) $value) }}
- {{ printf "--%s=%d" $name (int64 $value) | quote }}
{{- else }}
- {{ printf "--%s=%v" $name $value | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* Milliseconds of a duration such as "1m30s", as docs/reference/values.md defines it; 0 of a text that is none. */}}
{{- define "svc.milliseconds" -}}
{{- $units := dict "ns" 0.000001 "us" 0.001 "ms" 1.0 "s" 1000.0 "m" 60000.0 "h" 3600000.0 }}
{{- $sum := 0.0 }}
{{- range regexFindAll "([0-9]+[.]?[0-9]*|[.][0-9]+)(ns|us|ms|s|m|h)" . -1 }}
{{- $number := regexFind "[0-9.]+" . }}
{{- $sum = addf $sum (mulf (float64 (printf "0%s" $number)) (get $units (trimPrefix $number .))) }}
{{- end }}
{{- ceil $sum | int64 }}
{{- end }}

{{/* Whose classes are served: the flag of the controllers, where it is set. */}}
{{- define "svc.controllerName" -}}
{{ get (default dict .Values.controller.flags) "controller-name" | default "svc-labs.dev/gateway-controller" }}
{{- end }}

{{/* The namespaces whose objects are served, as a JSON list: those of the flag watch-namespace; empty: all. */}}
{{- define "svc.servedNamespaces" -}}
{{- $names := list }}
{{- range splitList "," (toString (get (default dict .Values.controller.flags) "watch-namespace")) }}
{{- with trim . }}{{ $names = append $names . }}{{ end }}
{{- end }}
{{- $names | uniq | sortAlpha | toJson }}
{{- end }}

{{/* The namespaces that are read, as a JSON list; empty: all. */}}
{{- define "svc.readNamespaces" -}}
{{- $served := include "svc.servedNamespaces" . | fromJsonArray }}
{{- if $served }}
{{- concat $served .Values.controller.referenceNamespaces (list .Release.Namespace) | uniq | sortAlpha | toJson }}
{{- else }}
{{- list | toJson }}
{{- end }}
{{- end }}

{{/* The ports that the controller sends to the proxies as those of Ingresses, as a JSON map by name; those of 0 are left out. */}}
{{- define "svc.ingressPorts" -}}
{{- $flags := default dict .Values.controller.flags }}
{{- $ports := dict }}
{{- with hasKey $flags "ingress-http-port" | ternary (get $flags "ingress-http-port") 80 | int }}{{ $_ := set $ports "http" . }}{{ end }}
{{- with hasKey $flags "ingress-https-port" | ternary (get $flags "ingress-https-port") 443 | int }}{{ $_ := set $ports "https" . }}{{ end }}
{{- toJson $ports }}
{{- end }}
