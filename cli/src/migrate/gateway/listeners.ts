/** Plans the listeners: one Gateway for requests without TLS, and a ListenerSet with certificates per Ingress. */
import type { ObjectOf } from "@svc-gateway/operator/api/kinds.ts";
import { nameOf } from "@svc-gateway/operator/api/object.ts";
import type { NamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import { tlsBlocks, wildcardOver, type MissingSecret } from "../missing-secrets.ts";

/** The group and version of the standard kinds. */
export const gatewayApi = "gateway.networking.k8s.io/v1";

/** A listener of a ListenerSet. */
export type HostListener = {
  readonly set: NamespacedName;
  readonly section: string;
  readonly host: string;
  readonly mode: "Terminate" | "Passthrough";
  readonly secret?: string;
  /** Whether routes of other namespaces attach to it. */
  readonly isShared: boolean;
};

export type Listeners = {
  /** The TLS listener of a host; undefined if it has none. */
  of(host: string): HostListener | undefined;
  /** The listeners in the ListenerSet of an Ingress. */
  ownedBy(ingress: ObjectOf<"Ingress">): readonly HostListener[];
};

type Needs = {
  readonly missing: readonly MissingSecret[];
  /** The hosts whose TLS connections are passed through to the backend. */
  readonly passed: ReadonlySet<string>;
};

/** Plans the listeners. The first Ingress that names or needs a Secret for a host owns its listener; others attach. */
export function planListeners(ingresses: readonly ObjectOf<"Ingress">[], needs: Needs): Listeners {
  const byHost = new Map<string, { readonly owner: string; readonly listener: HostListener }>();
  const users = Map.groupBy(
    ingresses.flatMap((one) => hostsOf(one).map((host) => ({ host, namespace: one.metadata.namespace }))),
    ({ host }) => host,
  );
  const add = (ingress: ObjectOf<"Ingress">, host: string, secret: string | undefined): void => {
    if (host === "*" || byHost.has(host)) return;
    const { namespace, name } = ingress.metadata;
    const count = [...byHost.values()].filter(({ owner }) => owner === nameOf(ingress.metadata)).length;
    const isShared = [...users].some(
      ([other, of]) =>
        (other === host || (host.startsWith("*.") && other.endsWith(host.slice(1)))) &&
        of.some((user) => user.namespace !== namespace),
    );
    const isPassed = needs.passed.has(host);
    byHost.set(host, {
      owner: nameOf(ingress.metadata),
      listener: {
        set: { namespace, name },
        section: `https-${count + 1}`,
        host,
        mode: isPassed ? "Passthrough" : "Terminate",
        ...(!isPassed && secret !== undefined && { secret }),
        isShared,
      },
    });
  };
  for (const ingress of ingresses) {
    for (const { hosts, secretName } of tlsBlocks(ingress)) {
      if (secretName !== undefined) for (const host of hosts) add(ingress, host, secretName);
    }
  }
  for (const { ingress, host, name } of needs.missing) add(ingress, host, name);
  for (const ingress of ingresses) {
    for (const host of hostsOf(ingress)) if (needs.passed.has(host)) add(ingress, host, undefined);
  }
  const of = (host: string): HostListener | undefined => {
    const own = byHost.get(host)?.listener;
    const wider = byHost.get(wildcardOver(host))?.listener;
    // A passthrough wildcard excludes hosts below it that have rules (docs/ingress-nginx.md, "TLS passthrough").
    return own ?? (wider?.mode === "Passthrough" ? undefined : wider);
  };
  return {
    of,
    ownedBy: ({ metadata }) =>
      [...byHost.values()].filter(({ owner }) => owner === nameOf(metadata)).map(({ listener }) => listener),
  };
}

const hostsOf = ({ spec }: ObjectOf<"Ingress">): readonly string[] => [
  ...new Set((spec?.rules ?? []).map(({ host }) => (host ?? "*").toLowerCase())),
];

type ListenerSetOptions = {
  readonly annotations: Readonly<Record<string, string>>;
  /** Returns the TLS options of a listener. */
  readonly optionsOf: (listener: HostListener) => Readonly<Record<string, string>>;
};

/** Writes the ListenerSet of an Ingress; undefined if it owns no listener. */
export function writeListenerSet(
  listeners: readonly HostListener[],
  gateway: NamespacedName,
  { annotations, optionsOf }: ListenerSetOptions,
): ObjectOf<"ListenerSet"> | undefined {
  const [first] = listeners;
  if (first === undefined) return undefined;
  return {
    apiVersion: gatewayApi,
    kind: "ListenerSet",
    metadata: { ...first.set, ...(Object.keys(annotations).length > 0 && { annotations }) },
    spec: {
      parentRef: { group: "gateway.networking.k8s.io", kind: "Gateway", ...gateway },
      listeners: listeners.map((listener) => {
        const { section, host, mode, secret, isShared } = listener;
        const options = optionsOf(listener);
        return {
          name: section,
          hostname: host,
          port: 443,
          protocol: mode === "Passthrough" ? "TLS" : "HTTPS",
          tls: {
            mode,
            ...(secret !== undefined && { certificateRefs: [{ name: secret }] }),
            ...(Object.keys(options).length > 0 && { options }),
          },
          ...(isShared && { allowedRoutes: { namespaces: { from: "All" as const } } }),
        };
      }),
    },
  };
}

/** The section name of the listener for requests without TLS. */
export const plainSection = "http";

/** Writes a Gateway that accepts routes and listeners of all namespaces. */
export const writeGateway = (gateway: NamespacedName, className: string): ObjectOf<"Gateway"> => ({
  apiVersion: gatewayApi,
  kind: "Gateway",
  metadata: gateway,
  spec: {
    gatewayClassName: className,
    allowedListeners: { namespaces: { from: "All" } },
    listeners: [
      {
        name: plainSection,
        port: 80,
        protocol: "HTTP",
        allowedRoutes: { namespaces: { from: "All" } },
      },
    ],
  },
});
