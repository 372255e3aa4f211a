{{/* Parts of pods that controllers and proxies share. Each takes a component: dict "root", "component", "name", "values". */}}

{{/* The beginning of the pod's spec. */}}
{{- define "svc.pod" -}}
serviceAccountName: {{ .name }}
# Environment variables for Services could be mistaken for flags of this program.
enableServiceLinks: false
terminationGracePeriodSeconds: {{ .values.terminationGracePeriodSeconds }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
{{- with .values.topologySpreadConstraints }}
  {{- toYaml . | nindent 2 }}
{{- else }}
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "svc.selector" . | nindent 8 }}
{{- end }}
{{- end }}

{{/* Pod Security "restricted". An id that is null is left to the cluster. */}}
{{- define "svc.podSecurity" -}}
runAsNonRoot: true
{{- range $field := list "runAsUser" "runAsGroup" "fsGroup" }}
{{- $id := get $.Values.podSecurityContext $field }}
{{- if ne (toString $id) "" }}
{{ $field }}: {{ int64 $id }}
{{- end }}
{{- end }}
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{/* The parts of the container that the values decide, without env, args and ports. */}}
{{- define "svc.container" -}}
image: {{ include "svc.image" .root }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
{{- with .values.extraEnvFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- range $probe := list "startupProbe" "livenessProbe" "readinessProbe" }}
{{ $probe }}:
  httpGet: { path: {{ eq $probe "readinessProbe" | ternary "/readyz" "/healthz" }}, port: health }
  {{- toYaml (get $.values $probe) | nindent 2 }}
{{- end }}
{{- with .values.lifecycle }}
lifecycle:
  {{- toYaml . | nindent 2 }}
{{- end }}
resources:
  {{- toYaml .values.resources | nindent 2 }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{/* Variables: the identity of the pod, those in "env" (a map), and those of the values. */}}
{{- define "svc.env" -}}
- name: POD_NAME
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
- name: POD_NAMESPACE
  valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
{{- $given := list }}
{{- range .values.extraEnv }}{{ $given = append $given .name }}{{ end }}
{{- range $name, $value := .env }}
{{- if not (and (eq $name "NODE_OPTIONS") (has $name $given)) }}
- name: {{ $name }}
  value: {{ $value }}
{{- end }}
{{- end }}
{{- with .values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* A lost answer of the DNS costs a second, not the five that resolvers wait by default; the fourth try waits eight. */}}
{{- define "svc.dns" -}}
dnsConfig:
  options:
    - { name: timeout, value: "1" }
    - { name: attempts, value: "4" }
{{- end }}

{{/* A budget for evictions, where more than one pod runs: a component with "pods", the fewest that are wanted. */}}
{{- define "svc.disruptionBudget" -}}
{{- $budget := .values.disruptionBudget }}
{{- if and $budget.enabled (gt (int .pods) 1) }}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "svc.metadata" (omit . "values") | nindent 2 }}
spec:
  {{- if ne (toString $budget.minAvailable) "" }}
  minAvailable: {{ $budget.minAvailable }}
  {{- else }}
  maxUnavailable: {{ $budget.maxUnavailable }}
  {{- end }}
  selector:
    matchLabels:
      {{- include "svc.selector" . | nindent 6 }}
{{- end }}
{{- end }}

{{/*
Why a budget forbids every eviction of a component (dict "component", "values", "pods", the fewest that run); empty when it
allows one. Percentages are rounded up, as the API server does it.
*/}}
{{- define "svc.blockedEvictions" -}}
{{- $budget := .values.disruptionBudget }}
{{- if and $budget.enabled (gt (int .pods) 1) }}
{{- $field := ne (toString $budget.minAvailable) "" | ternary "minAvailable" "maxUnavailable" }}
{{- $text := get $budget $field | toString }}
{{- $number := trimSuffix "%" $text | int }}
{{- if hasSuffix "%" $text }}{{ $number = div (add (mul $number (int .pods)) 99) 100 | int }}{{ end }}
{{- $allowed := eq $field "minAvailable" | ternary (sub (int .pods) $number) $number | int }}
{{- if le $allowed 0 }}
{{- printf "%s.disruptionBudget.%s is %s with %d pods" .component $field $text (int .pods) }}
{{- end }}
{{- end }}
{{- end }}

{{/* What pods of dedicated proxies inherit, as the JSON of a partial pod template. */}}
{{- define "svc.dedicatedPodTemplate" -}}
{{- $env := list
  (dict "name" "SVC_LOG" "value" .Values.log.level)
  (dict "name" "SVC_LOG_FORMAT" "value" .Values.log.format)
}}
{{- range .Values.sharedProxy.extraEnv }}
{{- if hasKey . "value" }}{{ $env = append $env . }}{{ end }}
{{- end }}
{{- $spec := dict "containers" (list (dict "name" "proxy" "env" $env "imagePullPolicy" .Values.image.pullPolicy)) }}
{{- with .Values.image.pullSecrets }}{{ $_ := set $spec "imagePullSecrets" . }}{{ end }}
{{- with .Values.sharedProxy.priorityClassName }}{{ $_ := set $spec "priorityClassName" . }}{{ end }}
{{- /* The ids of the program's own template are those of values.yaml: only others are said. */}}
{{- $ids := dict }}
{{- range $field := list "runAsUser" "runAsGroup" "fsGroup" }}
{{- $id := get $.Values.podSecurityContext $field }}
{{- if eq (toString $id) "" }}{{ $_ := set $ids $field nil }}
{{- else if ne (int64 $id) 65532 }}{{ $_ := set $ids $field (int64 $id) }}
{{- end }}
{{- end }}
{{- with $ids }}{{ $_ := set $spec "securityContext" . }}{{ end }}
{{- $metadata := dict }}
{{- with .Values.commonLabels }}{{ $_ := set $metadata "labels" . }}{{ end }}
{{- with .Values.commonAnnotations }}{{ $_ := set $metadata "annotations" . }}{{ end }}
{{- dict "metadata" $metadata "spec" $spec | toJson }}
{{- end }}
