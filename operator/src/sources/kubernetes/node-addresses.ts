import { createListeners } from "@svc-gateway/common/collections/listeners.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import type { KubeObject } from "../../api/object.ts";
import { type ApiClient, describeApiError } from "./api-client.ts";
import { createOutageLog } from "./outage-log.ts";
import { runReflector } from "./reflector.ts";

/** The addresses of the cluster's nodes that clients outside can use. */
export type NodeAddresses = {
  /** One address of each node, sorted by the names of the nodes; the same list while nothing changes. */
  list(): readonly string[];
  subscribe(listener: () => void): () => void;
  /** Resolves when, after the signal, the watch has ended. */
  readonly done: Promise<void>;
};

/** The addresses for a controller that does not read nodes. */
export const noNodeAddresses: NodeAddresses = {
  list: () => [],
  subscribe: () => () => undefined,
  done: Promise.resolve(),
};

type Node = KubeObject & {
  readonly status?: { readonly addresses?: readonly { readonly type: string; readonly address: string }[] };
};

export type NodeAddressesOptions = {
  readonly client: ApiClient;
  readonly log: Logger;
  readonly signal: AbortSignal;
};

/** Follows the nodes and keeps one address of each: the external one, or else the internal one. */
export function followNodeAddresses({ client, log, signal }: NodeAddressesOptions): NodeAddresses {
  const ofNode = new Map<string, string>();
  const listeners = createListeners();
  const outage = createOutageLog(log, "watch", { resource: "nodes" });
  let list: readonly string[] = [];

  const put = (node: Node): void => {
    const address = addressOf(node);
    if (address === undefined) ofNode.delete(node.metadata.name);
    else ofNode.set(node.metadata.name, address);
  };
  const settle = (): void => {
    const next = [...ofNode].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, address]) => address);
    if (next.length === list.length && next.every((address, index) => address === list[index])) return;
    list = next;
    listeners.notify();
  };

  const done = runReflector({
    client,
    path: "/api/v1/nodes",
    apiVersion: "v1",
    kind: "Node",
    signal,
    events: {
      onList(nodes) {
        ofNode.clear();
        nodes.forEach(put);
        outage.works();
        settle();
      },
      onApply(node) {
        put(node);
        settle();
      },
      onDelete(node) {
        ofNode.delete(node.metadata.name);
        settle();
      },
      onOpen: outage.works,
      onRestart: () => {},
      onError: (error) => outage.failed({ error: describeApiError(error) }),
    },
  });
  return {
    list: () => list,
    subscribe: listeners.subscribe,
    done,
  };
}

function addressOf({ status }: Node): string | undefined {
  const addresses = status?.addresses ?? [];
  const ofType = (wanted: string): string | undefined =>
    addresses.find(({ type }) => type === wanted)?.address;
  return ofType("ExternalIP") ?? ofType("InternalIP");
}
