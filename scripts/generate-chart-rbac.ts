/** The template of the controllers' roles, which follow the values of the chart: rules come from generate-chart-rules.ts. */
import { rulesOf, type Place, type Rule } from "./generate-chart-rules.ts";

/** The template takes the name from the flag; rules are written with this in its place. */
const caSecret = "{{ .caSecret }}";

const ruleText = ({ why, group, resources, verbs, names }: Rule): string =>
  [
    ...(why === "" ? [] : [`# ${why}`]),
    `- apiGroups: [${group === "" ? '""' : group}]`,
    `  resources: [${resources.join(", ")}]`,
    ...(names === undefined
      ? []
      : [`  resourceNames: [${names.map((name) => JSON.stringify(name)).join(", ")}]`]),
    `  verbs: [${verbs.join(", ")}]`,
  ].join("\n");

/** The rules of a place as a named template, whose context says which needs there are. */
function rulesTemplate(place: Place): string {
  const parts = rulesOf(caSecret)
    .filter((rule) => rule.place === place)
    .map((rule) =>
      rule.need === "always" ? ruleText(rule) : `{{- if .${rule.need} }}\n${ruleText(rule)}\n{{- end }}`,
    );
  return `{{- define "svc.rules.${place}" -}}\n${parts.join("\n")}\n{{- end }}\n`;
}

const metadata = (name: string, namespace?: string): string =>
  [
    "metadata:",
    `  name: ${name}`,
    ...(namespace === undefined ? [] : [`  namespace: ${namespace}`]),
    "  labels:",
    '    {{- include "svc.labels" $ | nindent 4 }}',
  ].join("\n");

const binding = (kind: "ClusterRole" | "Role", name: string, namespace?: string): string =>
  `apiVersion: rbac.authorization.k8s.io/v1
kind: ${kind}Binding
${metadata(name, namespace)}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ${kind}
  name: ${name}
subjects:
  - { kind: ServiceAccount, name: svc-controller, namespace: {{ $.Release.Namespace }} }`;

const role = (kind: "ClusterRole" | "Role", name: string, rules: string, namespace?: string): string =>
  `apiVersion: rbac.authorization.k8s.io/v1
kind: ${kind}
${metadata(name, namespace)}
rules:
${rules}`;

const include = (place: Place): string => `  {{- include "svc.rules.${place}" $on | nindent 2 }}`;

const everywhere = "{{ $.Release.Namespace }}-svc-controller";

export const rbacTemplate =
  (): string => `# Written by scripts/generate-chart.ts from scripts/generate-chart-rules.ts.
# What the controllers use and nothing else; the proxies have no permission at all.
${(["cluster", "read", "served", "own"] as const).map(rulesTemplate).join("")}
{{- $flags := .Values.controller.flags }}
{{- $gatewayApi := ne (toString (get $flags "disable-gateway-api")) "true" }}
{{- $ingress := ne (toString (get $flags "disable-ingress")) "true" }}
{{- $noVips := and (hasKey $flags "shared-proxy-selector") (eq (toString (get $flags "shared-proxy-selector")) "") }}
{{- $served := include "svc.servedNamespaces" . | fromJsonArray }}
{{- $on := dict
  "ingress" $ingress
  "gatewayApi" $gatewayApi
  "vips" (and $gatewayApi (not $noVips))
  "dedicated" (and $gatewayApi .Values.dedicatedGateways.enabled)
  "adminAuth" .Values.adminAuth.controllers
  "namespaced" (gt (len $served) 0)
  "ingressNginx" (and $ingress (ne (toString (get $flags "ingress-nginx-classes" | default "")) ""))
  "caSecret" (get $flags "discovery-ca-secret" | default "svc-discovery-ca")
}}
${role("ClusterRole", everywhere, `${include("cluster")}\n  {{- if not $served }}\n${include("read")}\n${include("served")}\n  {{- end }}`)}
---
${binding("ClusterRole", everywhere)}
{{- range $namespace := include "svc.readNamespaces" . | fromJsonArray }}
---
${role("Role", everywhere, `${include("read")}\n  {{- if has $namespace $served }}\n${include("served")}\n  {{- end }}`, "{{ $namespace }}")}
---
${binding("Role", everywhere, "{{ $namespace }}")}
{{- end }}
---
# In its own namespace.
${role("Role", "svc-controller", include("own"))}
---
${binding("Role", "svc-controller")}
{{- if .Values.adminAuth.controllers }}
---
# To be bound to accounts that may see the admin pages of controllers, such as that of a Prometheus.
${role("ClusterRole", "{{ $.Release.Namespace }}-svc-admin-reader", `  - nonResourceURLs: [/metrics, /api/v1/health, /api/v1/fleet/*]\n    verbs: [get]`)}
{{- end }}
`;
