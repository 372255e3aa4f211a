/** The pod of dedicated proxies. See docs/dedicated-gateways.md, "Pods". */
import type { ObjectOf } from "../../../api/kinds.ts";
import type { DedicatedSettings } from "../../settings.ts";
import { infrastructureOf } from "../infrastructure.ts";
import { dedicatedComponent, ownLabels, selectorLabels } from "../names.ts";
import type { JsonObject } from "./json.ts";
import type { Parameters } from "./parameters.ts";
import {
  podPorts,
  proxyContainer,
  secretsPath,
  tokenVolume,
  trustConfigMap,
  trustVolume,
} from "./pod-parts.ts";
import { strategicMerge } from "./strategic-merge.ts";

const user = 65_532;

export type PodInput = {
  readonly gateway: ObjectOf<"Gateway">;
  readonly serviceAccount: string;
  readonly parameters: Parameters;
  readonly image: string;
};

/** The pod template, including what the flag and the parameters merge into it. */
export function podTemplateOf(input: PodInput, settings: DedicatedSettings): JsonObject {
  const { gateway, parameters } = input;
  const { labels, annotations } = infrastructureOf(gateway);
  const rendered = {
    metadata: {
      labels: { ...labels, ...ownLabels(gateway, dedicatedComponent) },
      ...(annotations !== undefined && { annotations }),
    },
    spec: podSpec(input, settings),
  };
  return [settings.podTemplate, ...parameters.overlays.map(({ template }) => template)].reduce(
    strategicMerge,
    rendered,
  );
}

const podSpec = (
  { gateway, serviceAccount, parameters: { resources }, image }: PodInput,
  settings: DedicatedSettings,
): JsonObject => ({
  serviceAccountName: serviceAccount,
  automountServiceAccountToken: false,
  // Environment variables derived from the names of Services could be mistaken for settings of the proxy.
  enableServiceLinks: false,
  // Longer than a shutdown takes: 30 s to drain and 5 s to close the remaining connections.
  terminationGracePeriodSeconds: 45,
  // A lost DNS answer costs one second instead of the five that resolvers wait by default; the fourth attempt
  // waits eight.
  dnsConfig: {
    options: [
      { name: "timeout", value: "1" },
      { name: "attempts", value: "4" },
    ],
  },
  securityContext: {
    runAsNonRoot: true,
    runAsUser: user,
    runAsGroup: user,
    fsGroup: user,
    seccompProfile: { type: "RuntimeDefault" },
    // Allows the proxy to bind any port without a capability.
    sysctls: [{ name: "net.ipv4.ip_unprivileged_port_start", value: "0" }],
  },
  containers: [
    {
      name: proxyContainer,
      image,
      args: [
        "serve",
        "proxy",
        "--dedicated",
        `--gateway-name=${gateway.metadata.name}`,
        `--gateway-namespace=${gateway.metadata.namespace}`,
      ],
      env: [
        { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
        { name: "POD_NAMESPACE", valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } } },
        { name: "SVC_DISCOVERY_ENDPOINT", value: settings.discoveryEndpoint },
        { name: "SVC_DISCOVERY_BOOTSTRAP_ENDPOINT", value: settings.bootstrapEndpoint },
        { name: "SVC_DISCOVERY_TRUST_DOMAIN", value: settings.trustDomain },
        // For the main thread, which is not latency-critical. The threads that serve requests have a limit of
        // their own.
        { name: "NODE_OPTIONS", value: "--max-semi-space-size=4" },
      ],
      ports: Object.entries(podPorts).map(([name, containerPort]) => ({ name, containerPort })),
      startupProbe: { ...probe("/healthz"), periodSeconds: 1, failureThreshold: 60 },
      livenessProbe: { ...probe("/healthz"), periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 },
      // As in the chart: on an overloaded node, a single late answer must not take a pod out of service.
      readinessProbe: { ...probe("/readyz"), ...readinessTimes },
      ...(resources !== undefined && { resources }),
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      },
      volumeMounts: [
        { name: tokenVolume, mountPath: `${secretsPath}/discovery-token`, readOnly: true },
        { name: trustVolume, mountPath: `${secretsPath}/trust-bundle`, readOnly: true },
      ],
    },
  ],
  volumes: [
    {
      name: tokenVolume,
      projected: {
        sources: [
          { serviceAccountToken: { path: "token", audience: "svc-discovery", expirationSeconds: 3600 } },
        ],
      },
    },
    { name: trustVolume, configMap: { name: trustConfigMap } },
  ],
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: "kubernetes.io/hostname",
      whenUnsatisfiable: "ScheduleAnyway",
      labelSelector: { matchLabels: selectorLabels(gateway, dedicatedComponent) },
    },
  ],
});

/** The same values as `sharedProxy.readinessProbe` of the chart, where the cost of other values is described. */
export const readinessTimes = { periodSeconds: 2, timeoutSeconds: 2, failureThreshold: 2 };

const probe = (path: string): JsonObject => ({ httpGet: { path, port: "health" } });
