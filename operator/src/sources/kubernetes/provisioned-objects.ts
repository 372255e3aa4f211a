import { createHash } from "node:crypto";
import { createListeners } from "@svc-gateway/common/collections/listeners.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import type { KubeObject } from "../../api/object.ts";
import {
  componentLabel,
  controllerAnnotation,
  dedicatedComponent,
  identityComponent,
} from "../../translate/gateway/names.ts";
import { type ApiClient, describeApiError } from "./api-client.ts";
import { heldPart } from "./object-parts.ts";
import { createOutageLog } from "./outage-log.ts";
import { runReflector } from "./reflector.ts";

/** The kinds of objects that are created for a Gateway, with their paths. */
export const provisionedKinds = {
  ServiceAccount: { apiVersion: "v1", base: "/api/v1", plural: "serviceaccounts" },
  Service: { apiVersion: "v1", base: "/api/v1", plural: "services" },
  Deployment: { apiVersion: "apps/v1", base: "/apis/apps/v1", plural: "deployments" },
  HorizontalPodAutoscaler: {
    apiVersion: "autoscaling/v2",
    base: "/apis/autoscaling/v2",
    plural: "horizontalpodautoscalers",
  },
  PodDisruptionBudget: { apiVersion: "policy/v1", base: "/apis/policy/v1", plural: "poddisruptionbudgets" },
} as const;

export type ProvisionedKind = keyof typeof provisionedKinds;

export type ProvisionedRef = {
  readonly kind: ProvisionedKind;
  readonly namespace: string;
  readonly name: string;
};

/** The path of an object that is created for a Gateway. */
export function pathOfProvisioned({ kind, namespace, name }: ProvisionedRef): string {
  const { base, plural } = provisionedKinds[kind];
  return `${base}/namespaces/${namespace}/${plural}/${name}`;
}

/** The part of a provisioned object that is read. */
export type Provisioned = KubeObject & {
  readonly spec?: { readonly replicas?: number; readonly clusterIP?: string };
  readonly status?: { readonly readyReplicas?: number };
};

/** The objects that this controller has created for Gateways, as stored in the API server. */
export type ProvisionedObjects = {
  /** True once all objects have been listed. */
  isListed(): boolean;
  get(ref: ProvisionedRef): Provisioned | undefined;
  /** The objects that belong to a Gateway (`namespace/name`). */
  of(gateway: string): readonly Provisioned[];
  /** The Gateways with at least one object. */
  gateways(): Iterable<string>;
  /**
   * Calls the listener with the Gateway of an object that was added, changed or removed, or with undefined if all
   * objects may have changed.
   */
  subscribe(listener: (gateway: string | undefined) => void): () => void;
  /** Resolves when, after the signal, the watches have ended. */
  readonly done: Promise<void>;
};

export type ProvisionedObjectsOptions = {
  readonly client: ApiClient;
  readonly controllerName: string;
  /** The namespaces that may be read; undefined for all namespaces. */
  readonly namespaces?: readonly string[] | undefined;
  readonly log: Logger;
  readonly signal: AbortSignal;
};

/** The provisioned objects of a controller that creates none for Gateways. */
export const nothingProvisioned: ProvisionedObjects = {
  isListed: () => true,
  get: () => undefined,
  of: () => [],
  gateways: () => [],
  subscribe: () => () => undefined,
  done: Promise.resolve(),
};

/** A watch of one kind in one namespace, or in all of them. */
type Watched = { readonly kind: ProvisionedKind; readonly namespace: string | undefined };

const labelSelector = `${componentLabel} in (${dedicatedComponent},${identityComponent})`;

/** Follows the objects that are created for Gateways, so that a change or deletion is noticed immediately. */
export function followProvisionedObjects(options: ProvisionedObjectsOptions): ProvisionedObjects {
  const { client, controllerName, log, signal } = options;
  const kinds = Object.keys(provisionedKinds) as ProvisionedKind[];
  const watched = kinds.flatMap((kind): readonly Watched[] =>
    (options.namespaces ?? [undefined]).map((namespace) => ({ kind, namespace })),
  );
  const held = new Map(watched.map((one) => [one, new Map<string, Provisioned>()]));
  const unlisted = new Set(watched);
  const listeners = createListeners<[gateway: string | undefined]>();
  const notify = (gateway: string | undefined): void => {
    if (unlisted.size > 0) return;
    listeners.notify(gateway);
  };

  const follow = (one: Watched, objects: Map<string, Provisioned>): Promise<void> => {
    const { kind, namespace } = one;
    const { apiVersion, base, plural } = provisionedKinds[kind];
    const outage = createOutageLog(log, "watch", { resource: plural, labelSelector, namespace });
    const isOurs = ({ metadata }: KubeObject): boolean =>
      metadata.annotations?.[controllerAnnotation] === controllerName;
    const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`;
    return runReflector({
      client,
      path: namespace === undefined ? `${base}/${plural}` : `${base}/namespaces/${namespace}/${plural}`,
      apiVersion,
      kind,
      labelSelector,
      signal,
      events: {
        onList(listed) {
          objects.clear();
          for (const object of listed.filter(isOurs)) objects.set(keyOf(object), object);
          unlisted.delete(one);
          outage.works();
          notify(undefined);
        },
        onApply(object) {
          // When an object moves to another Gateway, its former owner is notified, too.
          const before = objects.get(keyOf(object));
          if (isOurs(object)) objects.set(keyOf(object), object);
          else objects.delete(keyOf(object));
          for (const gateway of new Set([before, object].map((each) => each && gatewayOf(each)))) {
            if (gateway !== undefined) notify(gateway);
          }
        },
        onDelete(object) {
          objects.delete(keyOf(object));
          const gateway = gatewayOf(object);
          if (gateway !== undefined) notify(gateway);
        },
        onOpen: outage.works,
        onRestart: () => {},
        onError: (error) => outage.failed({ error: describeApiError(error) }),
      },
    });
  };

  const all = (): readonly Provisioned[] => [...held.values()].flatMap((objects) => [...objects.values()]);
  return {
    isListed: () => unlisted.size === 0,
    get({ kind, namespace, name }) {
      for (const [one, objects] of held) {
        const found = one.kind === kind ? objects.get(`${namespace}/${name}`) : undefined;
        if (found !== undefined) return found;
      }
      return undefined;
    },
    of: (gateway) => all().filter((object) => gatewayOf(object) === gateway),
    gateways: () => new Set(all().flatMap((object) => gatewayOf(object) ?? [])),
    subscribe: listeners.subscribe,
    done: Promise.all(Array.from(held, ([one, objects]) => follow(one, objects))).then(() => undefined),
  };
}

/** The Gateway (`namespace/name`) for which an object was created. */
export function gatewayOf({ metadata }: KubeObject): string | undefined {
  const owner = metadata.ownerReferences?.find(({ kind }) => kind === "Gateway");
  return owner === undefined ? undefined : `${metadata.namespace}/${owner.name}`;
}

/** Returns a hash of the declared part of an object, without what controllers report. */
export function fingerprintOf(object: KubeObject): string {
  const { apiVersion: _version, kind, metadata, status: _status, ...rest } = heldPart(object) as Provisioned;
  const { namespace, name, uid, labels, annotations, ownerReferences, finalizers, deletionTimestamp } =
    metadata;
  const declared = [
    [kind, namespace, name, uid, deletionTimestamp],
    [sorted(labels), sorted(annotations), ownerReferences, finalizers],
    sorted(rest),
  ];
  return createHash("sha256").update(JSON.stringify(declared)).digest("base64");
}

/** The sorted entries of a map; an absent map equals an empty one. */
const sorted = (map: object = {}): readonly (readonly [string, unknown])[] =>
  Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1));
