{{/* Rules between values, which the schema cannot express: a mistake ends the installation with a message. */}}
{{- define "svc.validate" -}}
{{- $proxy := .Values.sharedProxy }}
{{- $scaling := $proxy.autoscaling }}
{{- $service := $proxy.service }}
{{- if and (ne $proxy.kind "DaemonSet") $proxy.hostPorts.enabled }}
{{- fail (printf "sharedProxy.hostPorts.enabled is true with sharedProxy.kind %q, expected \"DaemonSet\": two pods on a node cannot bind the same port" $proxy.kind) }}
{{- end }}
{{- if $scaling.enabled }}
{{- if eq $proxy.kind "DaemonSet" }}
{{- fail "sharedProxy.autoscaling.enabled is true with sharedProxy.kind \"DaemonSet\", expected \"Deployment\": a DaemonSet has a pod on each node" }}
{{- end }}
{{- if gt (int $scaling.minReplicas) (int $scaling.maxReplicas) }}
{{- fail (printf "sharedProxy.autoscaling.minReplicas is %d, expected at most maxReplicas, which is %d" (int $scaling.minReplicas) (int $scaling.maxReplicas)) }}
{{- end }}
{{- if not (or $scaling.targetCPUUtilizationPercentage $scaling.targetMemoryUtilizationPercentage $scaling.targetRequestsPerSecondPerWorker $scaling.metrics) }}
{{- fail "sharedProxy.autoscaling.enabled is true without a target, expected targetCPUUtilizationPercentage, targetMemoryUtilizationPercentage, targetRequestsPerSecondPerWorker or metrics" }}
{{- end }}
{{- end }}
{{- $flags := default dict $proxy.flags }}
{{- $grace := include "svc.milliseconds" (hasKey $flags "proxy-shutdown-grace-period" | ternary (get $flags "proxy-shutdown-grace-period") "30s" | toString) | int64 }}
{{- $timeout := include "svc.milliseconds" (hasKey $flags "proxy-shutdown-timeout" | ternary (get $flags "proxy-shutdown-timeout") "5s" | toString) | int64 }}
{{- /* Connections are accepted for 5 s of the grace period, however short it is. */}}
{{- $wait := dig "preStop" "sleep" "seconds" 0 (default dict $proxy.lifecycle) | int64 }}
{{- $seconds := add $wait (div (add (max 5000 $grace) $timeout 999) 1000) }}
{{- if le (int64 $proxy.terminationGracePeriodSeconds) $seconds }}
{{- fail (printf "sharedProxy.terminationGracePeriodSeconds is %d, expected more than %d: what a preStop hook sleeps, and the flags proxy-shutdown-grace-period and proxy-shutdown-timeout; the pod would be killed with requests in flight" (int64 $proxy.terminationGracePeriodSeconds) $seconds) }}
{{- end }}
{{- if ne $service.type "LoadBalancer" }}
{{- range $field := list "loadBalancerIP" "loadBalancerClass" "loadBalancerSourceRanges" }}
{{- if get $service $field }}
{{- fail (printf "sharedProxy.service.%s is set with type %q, expected type \"LoadBalancer\"" $field $service.type) }}
{{- end }}
{{- end }}
{{- end }}
{{- if eq $service.type "ClusterIP" }}
{{- range $name, $port := $service.nodePorts }}
{{- if $port }}
{{- fail (printf "sharedProxy.service.nodePorts.%s is %d with type \"ClusterIP\", expected type \"NodePort\" or \"LoadBalancer\"" $name (int $port)) }}
{{- end }}
{{- end }}
{{- end }}
{{- if and $service.healthCheckNodePort (or (ne $service.type "LoadBalancer") (ne $service.externalTrafficPolicy "Local")) }}
{{- fail "sharedProxy.service.healthCheckNodePort is set, expected type \"LoadBalancer\" and externalTrafficPolicy \"Local\"" }}
{{- end }}
{{- if and .Values.console.enabled (not .Values.adminAuth.controllers) (not (get (default dict .Values.controller.flags) "admin-ui-token-file")) }}
{{- fail "console.enabled is true without a way to sign in, expected adminAuth.controllers or controller.flags.admin-ui-token-file" }}
{{- end }}
{{- if .Values.rbac.namespaced }}
{{- if not (include "svc.servedNamespaces" . | fromJsonArray) }}
{{- fail "rbac.namespaced is true without controller.flags.watch-namespace, expected the namespaces that get Roles" }}
{{- end }}
{{- if .Values.adminAuth.controllers }}
{{- fail "adminAuth.controllers is true with rbac.namespaced, expected false: tokens are verified by cluster-scoped reviews" }}
{{- end }}
{{- end }}
{{- range $component := list "controller" "sharedProxy" }}
{{- $values := get $.Values $component }}
{{- range $values.extraEnv }}
{{- if has .name (list "POD_NAME" "POD_NAMESPACE" "SVC_IMAGE" "SVC_DISCOVERY_ENDPOINT") }}
{{- fail (printf "%s.extraEnv names %q, which the chart sets, expected another name" $component .name) }}
{{- end }}
{{- end }}
{{- range $values.extraVolumes }}
{{- if has .name (list "discovery-token" "trust-bundle") }}
{{- fail (printf "%s.extraVolumes names %q, which the chart uses, expected another name" $component .name) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
