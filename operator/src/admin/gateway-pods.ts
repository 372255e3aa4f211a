import operatorModule, { type ResourceEvent } from "@dot-i/k8s-operator";
import { createListeners } from "@svc-gateway/common/collections/listeners.ts";
import type { OwnAddress, OwnPorts } from "@svc-gateway/common/ir/own-ports.ts";
import { canonicalIp } from "@svc-gateway/common/values/ip-address.ts";
import { nameOf, refOf, type KubeObject } from "../api/object.ts";

/** The addresses and ports of the gateway's pods, updated by watch events. */
export type GatewayPods = {
  /** The present addresses and ports, the same value while nothing changes; undefined until every watch has listed. */
  current(): OwnPorts | undefined;
  /** Announces a watch; the returned function must be called whenever that watch has listed. */
  listing(): () => void;
  onEvent(event: ResourceEvent): Promise<void>;
  /** Calls back when the pods are known, and whenever their addresses change. */
  subscribe(listener: () => void): () => void;
};

export type GatewayPodsOptions = {
  /** Namespace of the controllers and the shared proxies. */
  readonly installNamespace: string;
  /** The ports of every process of the gateway, including those that its pod does not declare. */
  readonly ports: readonly number[];
};

type Pod = KubeObject & {
  readonly spec?: {
    readonly hostNetwork?: boolean;
    readonly containers?: readonly {
      readonly ports?: readonly { readonly name?: string; readonly containerPort?: number }[];
    }[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly podIP?: string;
    readonly podIPs?: readonly { readonly ip?: string }[];
  };
};

/** The names of ports that pods of the gateway reserve for themselves. */
const ownNames: ReadonlySet<string | undefined> = new Set(["admin", "bootstrap", "discovery", "health"]);

/**
 * Follows the pods of controllers and proxies, so that no backend can lead to them (docs/security.md, "Ports of the
 * gateway itself"). All addresses of a pod count until it has ended: then they can belong to another pod.
 */
export function createGatewayPods({ installNamespace, ports }: GatewayPodsOptions): GatewayPods {
  const pods = new Map<string, readonly OwnAddress[]>();
  const listeners = createListeners();
  const unlisted = new Set<object>();
  let known: OwnPorts = { addresses: [] };
  const notify = (): void => {
    if (unlisted.size > 0) return;
    listeners.notify();
  };
  return {
    current: () => (unlisted.size > 0 ? undefined : known),
    listing() {
      const watch = {};
      unlisted.add(watch);
      return () => {
        if (unlisted.delete(watch)) notify();
      };
    },
    onEvent({ type, object }) {
      // The object is plain JSON as sent by the API server for `pods`.
      const pod = object as unknown as Pod;
      const key = nameOf(refOf(pod));
      const isDeleted = type === operatorModule.ResourceEventType.Deleted;
      const addresses = isDeleted ? [] : addressesOf(pod, installNamespace, ports);
      if (addresses.length === 0) pods.delete(key);
      else pods.set(key, addresses);
      const next = merge(known, [...pods.values()].flat());
      if (next !== known) {
        known = next;
        notify();
      }
      return Promise.resolve();
    },
    subscribe: listeners.subscribe,
  };
}

function addressesOf(
  { metadata, spec, status }: Pod,
  installNamespace: string,
  processPorts: readonly number[],
): readonly OwnAddress[] {
  if (status?.phase === "Succeeded" || status?.phase === "Failed") return [];
  const { "app.kubernetes.io/name": name, "app.kubernetes.io/component": component } = metadata.labels ?? {};
  if (name !== "svc") return [];
  const isInstalled =
    metadata.namespace === installNamespace && (component === "controller" || component === "shared-proxy");
  const onNode = spec?.hostNetwork === true;
  // Any user may set these labels on a pod: with the network of its node it would claim ports of other processes there.
  const isDedicated = component === "dedicated-proxy" && !onNode;
  if (!isInstalled && !isDedicated) return [];
  const declared = (spec?.containers ?? []).flatMap((container) =>
    (container.ports ?? []).flatMap((port) => (ownNames.has(port.name) ? (port.containerPort ?? []) : [])),
  );
  const ports = sorted([...processPorts, ...declared]);
  const ips = [status?.podIP ?? "", ...(status?.podIPs ?? []).map(({ ip = "" }) => ip)];
  const hosts = new Set(ips.flatMap((ip) => canonicalIp(ip) ?? []));
  return [...hosts].map((host) => ({ host, ports, ...(onNode && { shared: true }) }));
}

const sorted = (ports: readonly number[]): readonly number[] => [...new Set(ports)].sort((a, b) => a - b);

/** Merges addresses by host, in order; equal entries and an equal whole keep their identity. */
function merge(before: OwnPorts, all: readonly OwnAddress[]): OwnPorts {
  const known = new Map(before.addresses.map((address) => [address.host, address]));
  const byHost = Map.groupBy(all, ({ host }) => host);
  const addresses = [...byHost]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([host, ofHost]) => {
      const ports = sorted(ofHost.flatMap((address) => address.ports));
      const isShared = ofHost.some(({ shared }) => shared === true);
      const next: OwnAddress = { host, ports, ...(isShared && { shared: true }) };
      const last = known.get(host);
      return last !== undefined && JSON.stringify(last) === JSON.stringify(next) ? last : next;
    });
  const isSame =
    addresses.length === before.addresses.length &&
    addresses.every((address, index) => address === before.addresses[index]);
  return isSame ? before : { addresses };
}
