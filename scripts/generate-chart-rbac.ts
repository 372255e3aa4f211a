/**
 * The template of the controllers' roles, which depend on the values of the chart. The rules come from
 * generate-chart-rules.ts.
 */
import { rulesOf, type Place, type Rule } from "./generate-chart-rules.ts";

/** The placeholder for the name of the Secret, which the template sets from the flag. */
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

/** The rules of a place as a named template, which receives the active needs as its context. */
function rulesTemplate(place: Place): string {
  const parts = rulesOf(caSecret)
    .filter((rule) => rule.place === place)
    .map((rule) =>
      rule.need === "always" ? ruleText(rule) : `{{- if .${rule.need} }}\n${ruleText(rule)}\n{{- end }}`,
    );
  return `{{- define "svc.rules.${place}" -}}\n${parts.join("\n")}\n{{- end }}\n`;
}

const metadata = (name: string, namespace?: string): string => {
  const place = namespace === undefined ? "" : ` "namespace" ${namespace}`;
  return `metadata:\n  {{- include "svc.metadata" (dict "root" $ "name" ${name}${place}) | nindent 2 }}`;
};

/** A name as the argument of a template function. */
type Name = { readonly argument: string; readonly text: string };

const binding = (kind: "ClusterRole" | "Role", name: Name, namespace?: string): string =>
  `apiVersion: rbac.authorization.k8s.io/v1
kind: ${kind}Binding
${metadata(name.argument, namespace)}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ${kind}
  name: ${name.text}
subjects:
  - { kind: ServiceAccount, name: svc-controller, namespace: {{ $.Release.Namespace | quote }} }`;

const role = (kind: "ClusterRole" | "Role", name: Name, rules: string, namespace?: string): string =>
  `apiVersion: rbac.authorization.k8s.io/v1
kind: ${kind}
${metadata(name.argument, namespace)}
rules:
${rules}`;

const include = (place: Place): string => `  {{- include "svc.rules.${place}" $on | nindent 2 }}`;

const inNamespaceOfRelease = (suffix: string): Name => ({
  argument: `(printf "%s-${suffix}" $.Release.Namespace)`,
  text: `{{ $.Release.Namespace }}-${suffix}`,
});
const everywhere = inNamespaceOfRelease("svc-controller");
const own: Name = { argument: '"svc-controller"', text: "svc-controller" };

export const rbacTemplate =
  (): string => `# Written by scripts/generate-chart.ts from scripts/generate-chart-rules.ts.
# What the controllers use and nothing else; the proxies have no permission at all.
${(["cluster", "read", "served", "own"] as const).map(rulesTemplate).join("")}
{{- $flags := default dict .Values.controller.flags }}
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
{{- if not .Values.rbac.namespaced }}
${role("ClusterRole", everywhere, `${include("cluster")}\n  {{- if not $served }}\n${include("read")}\n${include("served")}\n  {{- end }}`)}
---
${binding("ClusterRole", everywhere)}
{{- end }}
{{- range $namespace := include "svc.readNamespaces" . | fromJsonArray }}
---
${role("Role", everywhere, `${include("read")}\n  {{- if has $namespace $served }}\n${include("served")}\n  {{- end }}`, "$namespace")}
---
${binding("Role", everywhere, "$namespace")}
{{- end }}
---
# In its own namespace.
${role("Role", own, include("own"))}
---
${binding("Role", own)}
{{- if .Values.adminAuth.controllers }}
---
# To be bound to accounts that may see the admin pages of controllers, such as that of a Prometheus.
${role("ClusterRole", inNamespaceOfRelease("svc-admin-reader"), `  - nonResourceURLs: [/metrics, /api/v1/health, /api/v1/fleet/*, /console]\n    verbs: [get]`)}
{{- end }}
`;
