{{- define "svc.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "svc.labels" -}}
app.kubernetes.io/name: svc
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
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

{{/* Whose classes are served: the flag of the controllers, where it is set. */}}
{{- define "svc.controllerName" -}}
{{ get .Values.controller.flags "controller-name" | default "svc-labs.dev/gateway-controller" }}
{{- end }}

{{- define "svc.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "svc.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "svc.identity" -}}
- name: POD_NAME
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
- name: POD_NAMESPACE
  valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
{{- end }}

{{/* The liveness of a process counts from its first answer, however slow its start. Takes the times of the readiness. */}}
{{- define "svc.probes" -}}
startupProbe:
  httpGet: { path: /healthz, port: health }
  periodSeconds: 1
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /healthz, port: health }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
# Several in a row: on a node with too much to do one answer that is late must not take a pod out of service.
readinessProbe:
  httpGet: { path: /readyz, port: health }
  periodSeconds: {{ .periodSeconds }}
  timeoutSeconds: {{ .timeoutSeconds }}
  failureThreshold: {{ .failureThreshold }}
{{- end }}

{{/* A lost answer of the DNS costs a second, not the five that resolvers wait by default; the fourth try waits eight. */}}
{{- define "svc.dns" -}}
dnsConfig:
  options:
    - { name: timeout, value: "1" }
    - { name: attempts, value: "4" }
{{- end }}

{{/* Where pods run: dict "values" (of the component), "component". */}}
{{- define "svc.scheduling" -}}
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
{{- with .values.priorityClassName }}
priorityClassName: {{ . }}
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

{{/* A budget for evictions, where more than one pod runs: dict "values", "component", "root", "name". */}}
{{- define "svc.disruptionBudget" -}}
{{- if gt (int .values.replicas) 1 }}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .name }}
  labels:
    {{- include "svc.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- include "svc.selector" . | nindent 6 }}
{{- end }}
{{- end }}

{{/* The namespaces whose objects are served, as a JSON list: those of the flag watch-namespace; empty: all. */}}
{{- define "svc.servedNamespaces" -}}
{{- $names := list }}
{{- range splitList "," (toString (get .Values.controller.flags "watch-namespace")) }}
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
