import type { IncomingMessage, ServerResponse } from "node:http";
import type { KubeConfig } from "@kubernetes/client-node";
import { applyMergePatch } from "../../../src/write/merge-patch.ts";
import { sendJson, startFakeApiServer } from "./fake-api-server.ts";
import { withManagedConditions } from "./fake-managed-fields.ts";

/** An object as the fake stores it. */
export type Stored = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly type?: string;
  readonly status?: unknown;
};

export type FakeCluster = {
  readonly config: KubeConfig;
  /** Requests so far as `METHOD path?query`. */
  readonly requests: readonly string[];
  /** Creates or replaces an object of a collection, such as `/apis/networking.k8s.io/v1/ingresses`. */
  put(collection: string, object: object): Stored;
  get(collection: string, name: string): Stored | undefined;
  list(collection: string): readonly Stored[];
  remove(collection: string, name: string): void;
  /** Answers a request instead of the store; undefined passes the request to the store. */
  intercept: (request: IncomingMessage, url: URL) => { status: number; body: object | string } | undefined;
  /** Cuts every open watch. */
  cutWatches(): void;
  /** Forgets all changes so far: watches from before get 410. */
  compact(): void;
  close(): Promise<void>;
};

export type FakeClusterOptions = {
  /** Served resources by group version, such as `networking.k8s.io/v1: ["ingresses"]`; "v1" is the core group. */
  readonly resources: Readonly<Record<string, readonly string[]>>;
  /** Answers TokenReviews. */
  readonly reviewToken?: (token: string) => object;
};

type Change = { readonly version: number; readonly type: string; readonly object: Stored };
type Watcher = {
  readonly collection: string;
  readonly query: URLSearchParams;
  readonly namespace: string | undefined;
  readonly response: ServerResponse;
};
/** The sender of a change: its name in managed fields, and whether it applies. */
type Writer = { readonly manager: string; readonly isApply: boolean };
type Place = {
  readonly collection: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
};

/**
 * An API server in memory: lists in pages, watches, optimistic locking, merge patches, status subresources. What is applied
 * is created, or merged without regard to who manages a field; managed fields list the messages of conditions. A status
 * without a list that its definition requires is rejected.
 */
export async function startFakeCluster(options: FakeClusterOptions): Promise<FakeCluster> {
  const collections = new Map<string, Map<string, Stored>>();
  const history = new Map<string, Change[]>();
  const watchers = new Set<Watcher>();
  let version = 100;
  let compactedAt = 0;
  let uids = 0;

  const itemsOf = (collection: string): Map<string, Stored> => {
    const items = collections.get(collection) ?? new Map<string, Stored>();
    collections.set(collection, items);
    return items;
  };

  const publish = (collection: string, type: string, object: Stored): void => {
    const change = { version, type, object };
    history.set(collection, [...(history.get(collection) ?? []), change]);
    for (const watcher of watchers) if (watcher.collection === collection) send(watcher, change);
  };

  const store = (collection: string, key: string, object: object): Stored => {
    const items = itemsOf(collection);
    const before = items.get(key);
    const incoming = object as Stored;
    const stored: Stored = {
      ...incoming,
      metadata: {
        ...incoming.metadata,
        uid: before?.metadata.uid ?? incoming.metadata.uid ?? `uid-${++uids}`,
        resourceVersion: String(++version),
      },
    };
    items.set(key, stored);
    publish(collection, before === undefined ? "ADDED" : "MODIFIED", stored);
    return stored;
  };

  const remove = (collection: string, key: string): void => {
    const stored = itemsOf(collection).get(key);
    if (stored === undefined) return;
    itemsOf(collection).delete(key);
    version++;
    publish(collection, "DELETED", stored);
  };

  const list = (place: Place, query: URLSearchParams, response: ServerResponse): void => {
    const all = [...itemsOf(place.collection).values()].filter((object) =>
      selects(object, place.namespace, query),
    );
    const offset = Number(query.get("continue") ?? 0);
    const limit = Number(query.get("limit") ?? all.length);
    const items = all.slice(offset, offset + limit);
    const next = offset + limit < all.length ? { continue: String(offset + limit) } : {};
    sendJson(response, { metadata: { resourceVersion: String(version), ...next }, items });
  };

  const watch = (place: Place, query: URLSearchParams, response: ServerResponse): void => {
    const from = Number(query.get("resourceVersion"));
    if (from < compactedAt) return sendJson(response, { code: 410, reason: "Expired" }, 410);
    const { collection, namespace } = place;
    const watcher = { collection, namespace, query, response };
    response.writeHead(200, { "content-type": "application/json" });
    response.flushHeaders();
    for (const change of history.get(collection) ?? []) if (change.version > from) send(watcher, change);
    watchers.add(watcher);
    response.on("close", () => watchers.delete(watcher));
  };

  const write = (place: Place, method: string, body: Stored, by: Writer): [number, object] => {
    const { collection, namespace, subresource } = place;
    const { isApply, manager } = by;
    const name = place.name ?? body.metadata.name;
    const key = namespace === undefined ? name : `${namespace}/${name}`;
    const before = itemsOf(collection).get(key);
    if (method === "POST" || (isApply && before === undefined && subresource === undefined)) {
      if (before !== undefined) return [409, { reason: "AlreadyExists" }];
      const scope = namespace === undefined ? {} : { namespace };
      return [201, store(collection, key, { ...body, metadata: { ...body.metadata, ...scope } })];
    }
    if (before === undefined) return [404, { reason: "NotFound" }];
    const { resourceVersion, uid } = body.metadata ?? {};
    const isStale = resourceVersion !== undefined && resourceVersion !== before.metadata.resourceVersion;
    if (isStale || (uid !== undefined && uid !== before.metadata.uid)) return [409, { reason: "Conflict" }];
    const merged = method === "PATCH" ? (applyMergePatch(before, body) as Stored) : body;
    if (subresource === "status") {
      const missing = missingList(collection, merged.status);
      if (missing !== undefined) return [422, { reason: "Invalid", message: `${missing}: Required value` }];
      const after = { ...before, status: merged.status };
      return [200, store(collection, key, withManagedConditions(before, after, manager))];
    }
    return [200, store(collection, key, merged)];
  };

  const answer = (request: IncomingMessage, response: ServerResponse, url: URL): void => {
    const forced = cluster.intercept(request, url);
    if (forced !== undefined) return sendJson(response, forced.body, forced.status);
    const resources = options.resources[url.pathname.replace(/^\/apis?\//, "")];
    if (resources !== undefined) {
      return sendJson(response, { resources: resources.map((name) => ({ name })) });
    }
    const place = parsePath(url.pathname);
    if (place === undefined) return sendJson(response, { reason: "NotFound" }, 404);
    if (request.method === "GET" && place.name === undefined) {
      if (url.searchParams.get("watch") === "true") return watch(place, url.searchParams, response);
      return list(place, url.searchParams, response);
    }
    if (request.method === "GET") {
      const key = place.namespace === undefined ? place.name : `${place.namespace}/${place.name}`;
      const found = itemsOf(place.collection).get(key ?? "");
      return sendJson(response, found ?? { reason: "NotFound" }, found === undefined ? 404 : 200);
    }
    void readBody(request).then((body) => {
      if (place.collection.endsWith("/tokenreviews")) {
        const { spec } = body as unknown as { spec: { token: string } };
        return sendJson(response, { ...body, status: options.reviewToken?.(spec.token) ?? {} }, 201);
      }
      const isApply = request.headers["content-type"] === "application/apply-patch+yaml";
      const manager = url.searchParams.get("fieldManager") ?? "unknown";
      const [status, result] = write(place, request.method ?? "", body, { isApply, manager });
      return sendJson(response, result, status);
    });
  };

  const server = await startFakeApiServer(answer);
  const cluster: FakeCluster = {
    config: server.config,
    requests: server.requests,
    put(collection, object) {
      const { namespace, name } = (object as Stored).metadata;
      return store(collection, namespace === undefined ? name : `${namespace}/${name}`, object);
    },
    get: (collection, name) => itemsOf(collection).get(name),
    list: (collection) => [...itemsOf(collection).values()],
    remove,
    intercept: () => undefined,
    cutWatches() {
      for (const { response } of watchers) response.destroy();
    },
    compact() {
      compactedAt = version + 1;
      version++;
    },
    close: server.close,
  };
  return cluster;
}

function send({ response, namespace, query }: Watcher, { type, object, version }: Change): void {
  if (!selects(object, namespace, query)) return;
  const versioned = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
  response.write(`${JSON.stringify({ type, object: versioned })}\n`);
}

/** The field of a status that is missing although the definitions of the Gateway API require it. */
function missingList(collection: string, status: unknown): string | undefined {
  const required = collection.endsWith("/backendtlspolicies")
    ? "ancestors"
    : /\/(http|grpc|tls|tcp|udp)routes$/.test(collection)
      ? "parents"
      : undefined;
  const isMissing =
    required !== undefined && status !== undefined && !Object.hasOwn(Object(status), required);
  return isMissing ? `status.${required}` : undefined;
}

function selects(object: Stored, namespace: string | undefined, query: URLSearchParams): boolean {
  if (namespace !== undefined && object.metadata.namespace !== namespace) return false;
  const { name, namespace: ownNamespace } = object.metadata;
  const fields = { type: object.type, "metadata.name": name, "metadata.namespace": ownNamespace };
  for (const selected of (query.get("fieldSelector") ?? "").split(",")) {
    const [field = "", value] = selected.split("=");
    if (field in fields && fields[field as keyof typeof fields] !== value) return false;
  }
  const labels = (query.get("labelSelector") ?? "").split(",").filter((one) => one !== "");
  return labels.every((selected) => {
    const [, label = "", operator, value] = /^([^!=]+)(!?=)(.*)$/.exec(selected) ?? [];
    return (object.metadata.labels?.[label] === value) === (operator === "=");
  });
}

function parsePath(path: string): Place | undefined {
  const parts = path.split("/").slice(1);
  const base = parts[0] === "api" ? parts.slice(0, 2) : parts.slice(0, 3);
  const rest = parts.slice(base.length);
  const isNamespaced = rest[0] === "namespaces" && rest.length > 2;
  const [plural, name, subresource] = isNamespaced ? rest.slice(2) : rest;
  if (plural === undefined) return undefined;
  return {
    collection: `/${base.join("/")}/${plural}`,
    namespace: isNamespaced ? rest[1] : undefined,
    name,
    subresource,
  };
}

async function readBody(request: IncomingMessage): Promise<Stored> {
  let text = "";
  for await (const chunk of request) text += (chunk as Buffer).toString("utf8");
  return JSON.parse(text) as Stored;
}
