import { decodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { expect } from "chai";
import type { KubeObject } from "../../src/api/object.ts";
import { translate } from "../../src/translate/translate.ts";
import type { Translation } from "../../src/translate/translation.ts";
import { createWorld } from "../../src/world.ts";
import { createRandom, readCorpus, seed, type CorpusCase } from "./corpus.ts";

const prefix = "zz-";
const casesOfOthers = 4;

/** Values that name a place on the network or a namespace, of the later tenants. */
function foreign(value: unknown, key = ""): unknown {
  if (typeof value === "string") {
    if (key === "namespace") return prefix + value;
    // Long texts are certificates and the like.
    return value.length > 2_000
      ? value
      : value.replaceAll(/\bexample(\.com|\.org|\.net)?\b/g, "stranger.test");
  }
  if (Array.isArray(value)) return value.map((item) => foreign(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, foreign(part, name)]));
}

const oldest = "2000-01-01T00:00:00Z";
const youngest = "2099-01-01T00:00:00Z";

/** Gives objects without a creation time the oldest one; they would otherwise be the youngest. */
const dated = (object: KubeObject): KubeObject => ({
  ...object,
  metadata: { creationTimestamp: oldest, ...object.metadata },
});

/** Hosts of their own where a case means every host: who may have which part of `*` is another matter (docs/routing.md). */
function withHosts(object: KubeObject): KubeObject {
  const { spec } = object as { readonly spec?: Record<string, unknown> };
  const named = (list: unknown, field: string, host: string): unknown =>
    Array.isArray(list) ? list.map((one: object) => ({ [field]: host, ...one })) : list;
  if (object.kind === "Ingress") {
    const { defaultBackend: _, rules, ...rest } = spec ?? {};
    return { ...object, spec: { ...rest, rules: named(rules, "host", "any.stranger.test") } } as KubeObject;
  }
  if (object.kind !== "Gateway" && object.kind !== "ListenerSet") return object;
  const listeners = named(spec?.["listeners"], "hostname", "*.stranger.test");
  return { ...object, spec: { ...spec, listeners } } as KubeObject;
}

/**
 * The objects of a case as those of other tenants, who came last: in other namespaces and with other hosts. References that
 * name a namespace in one text (`shop/users`) still lead to the first tenants' objects, and so do labels and addresses.
 */
const asLaterTenants = ({ objects }: CorpusCase): readonly KubeObject[] =>
  objects
    .filter(({ metadata: { namespace } }) => namespace !== undefined)
    .map((object) => {
      const other = withHosts(foreign(object) as KubeObject);
      return { ...other, metadata: { ...other.metadata, creationTimestamp: youngest } };
    });

const isLaterTenant = (namespace: string | undefined): boolean => namespace?.startsWith(prefix) === true;

type Seen = Readonly<Record<string, unknown>>;

/** Everything of a translation that is about the first tenants. */
function view({ scopes, diagnostics, events, conflicts, gatewayStatuses }: Translation): Seen {
  const about = <Item extends { readonly object: { readonly namespace?: string | undefined } }>(
    list: readonly Item[],
  ) => list.filter(({ object }) => !isLaterTenant(object.namespace));
  const ofObjects = <Item extends { readonly object: KubeObject }>(list: readonly Item[]) =>
    list.filter(({ object }) => !isLaterTenant(object.metadata.namespace));
  return {
    ...Object.fromEntries(scopes.shared.flatMap(resourceView)),
    scopes: scopes.dedicated
      .filter(({ gateway }) => !isLaterTenant(gateway.namespace))
      .map(({ gateway, resources }) => [
        gateway,
        Object.fromEntries(resources.map(({ key, body }) => [key, body])),
      ]),
    diagnostics: about(diagnostics),
    events: about(events),
    conflicts: conflicts.filter(({ loser }) => !isLaterTenant(loser.namespace)),
    gateways: ofObjects(gatewayStatuses.gateways),
    listenerSets: ofObjects(gatewayStatuses.listenerSets),
    routes: ofObjects(gatewayStatuses.routes),
  };
}

/** A resource as its tenant sees it: of tables that are shared, the tenant's entries in their order. */
function resourceView(resource: Resource): readonly (readonly [string, unknown])[] {
  const { key, body } = resource;
  const decoded = decodeResource(resource);
  if (!decoded.ok || decoded.value === undefined) throw new Error(`${key} cannot be decoded`);
  const { type, value } = decoded.value;
  const own = ({ source }: Pick<Route, "source">): boolean => !isLaterTenant(source.namespace);
  switch (type) {
    case "route":
      return [[key, { ...value, routes: value.routes.filter(own) }]];
    case "listener":
      return [[key, value]];
    case "tls":
    case "clientcert":
    case "l4":
      return value.hosts.map((host) => [`${key} ${host.host}`, host] as const);
    default:
      return [[key, body]];
  }
}

/** Removes endpoints that no route uses, because they are in the snapshot only while all proxies have the same one. */
function usedOnly(seen: Seen): Seen {
  const text = JSON.stringify(Object.entries(seen).filter(([key]) => /^(?:route|l4)\|/.test(key)));
  return Object.fromEntries(
    Object.entries(seen).filter(
      ([key]) => !key.startsWith("endpoints|") || text.includes(key.slice("endpoints|".length)),
    ),
  );
}

describe("tenants who come last, with other namespaces and hosts", function () {
  this.timeout(120_000);
  const corpus = readCorpus();

  it("later tenants with other namespaces and hosts change nothing of the first tenants in any golden case", () => {
    const random = createRandom(seed);
    for (const one of corpus) {
      const { settings, nowMs, ownPorts } = one;
      const options = { ownPorts, ...(nowMs !== undefined && { nowMs }) };
      const first = one.objects.map(dated);
      const before = translate(createWorld(first), structuredClone(settings), options);
      const expected = usedOnly(view(before));
      for (let index = 0; index < casesOfOthers; index++) {
        const other = corpus[Math.floor(random() * corpus.length)] as CorpusCase;
        const world = createWorld([...first, ...asLaterTenants(other)]);
        const after = view(translate(world, structuredClone(settings), options));
        // Hosts and resources of the later tenants come in addition.
        for (const [key, value] of Object.entries(expected)) {
          expect(after[key], `${one.name}, then ${other.name}: ${key}`).to.deep.equal(value);
        }
      }
    }
  });
});
