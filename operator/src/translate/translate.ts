/**
 * The pure core of the gateway: from the objects of a cluster to the snapshot that proxies serve. No client, clock,
 * logger or I/O is reached from here; bad input becomes a diagnostic, an Event and a documented fallback, never an
 * exception, and never changes what another object serves (docs/architecture.md).
 */
import { joinLists } from "@svc-gateway/common/collections/join-lists.ts";
import type { TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import type { ClientCertPort } from "@svc-gateway/common/ir/client-certificate.ts";
import {
  clientCertKey,
  endpointsKey,
  jwksKey,
  listenerKey,
  sessionKeyKey,
  tlsKey,
} from "@svc-gateway/common/ir/keys.ts";
import { noOwnPorts, type OwnPorts } from "@svc-gateway/common/ir/own-ports.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import type { SessionKeyValue } from "@svc-gateway/common/ir/session-key.ts";
import { findEntry, noEntries, sortEntries } from "@svc-gateway/common/ir/sorted-entries.ts";
import { kindNames, type KindName } from "../api/kinds.ts";
import type { World } from "../world.ts";
import { createEndpointTranslator } from "./backends/endpoint-sets.ts";
import { createOwnPortFinder } from "./backends/own-port-services.ts";
import { createPolicyTranslator } from "./backends/policies.ts";
import { translateSessionKey } from "./backends/session-key.ts";
import { createTlsPolicyTranslator, type TlsPolicies } from "./backends/tls-policies.ts";
import { createValidityCheck } from "./certificates/validity.ts";
import { createCloser } from "./closures.ts";
import { createKeySetTranslator, wantedKeySets, type FetchedKeySets } from "./credentials/remote-key-sets.ts";
import { createEndpointEvents, findingEvents } from "./finding-events.ts";
import type { DesiredEvent } from "./finding.ts";
import { mergeClientCertPorts, withoutNamesOf } from "./gateway/listeners/frontend-validation.ts";
import { withIngressNames, type L4Table } from "./gateway/scopes/l4-tables.ts";
import type { OwnScope } from "./gateway/scopes/own-scopes.ts";
import type { GatewayScope } from "./gateway/scopes/scope.ts";
import { mergeTlsPorts } from "./gateway/scopes/tls.ts";
import { createGatewayTranslator, type GatewayPart } from "./gateway/translator.ts";
import { haveSameItems, memo } from "./incremental/memo.ts";
import { ingressListener } from "./ingress/host-table.ts";
import { createIngressTranslator, ingressListenersOf, type IngressPart } from "./ingress/translator.ts";
import { noOwners, type HostOwners } from "./ownership.ts";
import type { Routing } from "./routing.ts";
import type { TranslateSettings } from "./settings.ts";
import { certificatesTooLarge, leftOutFindings, sizeEvents } from "./size/findings.ts";
import { createSizeLedger } from "./size/ledger.ts";
import type { LeftOut } from "./size/object-size.ts";
import { createTakenHostFinder } from "./taken-hosts.ts";
import type { DedicatedScope, Translation } from "./translation.ts";
import { createWorldFilter } from "./watched-namespaces.ts";

type TranslateOptions = {
  /** The current time in milliseconds since 1970; without it, certificates are not checked for being outdated. */
  readonly nowMs?: number;
  /** What the key sets that the last translation wanted have come to; without it, nothing has been fetched. */
  readonly keySets?: FetchedKeySets;
  /** The ports at which pods of the gateway itself answer: no endpoint may be one, or lead there. None unless given. */
  readonly ownPorts?: OwnPorts;
  /** The key of session cookies (base64) where the world has no Secret with one. */
  readonly sessionKey?: string;
};

/**
 * Translates a world. Equal worlds and settings give equal results on every machine. Work done for objects and
 * settings of the same identity is remembered, so that one changed object costs little whatever the size of the world.
 */
export function translate(
  world: World,
  settings: TranslateSettings,
  options: TranslateOptions = {},
): Translation {
  const kept = keptTranslator(settings);
  const translator = kept.translator ?? createTranslator(settings);
  // A bug that shows half-way through must not leave half-kept work behind: then the next one begins from nothing.
  kept.translator = undefined;
  const translation = translator(world, options);
  kept.translator = translator;
  return translation;
}

type Translator = (world: World, options: TranslateOptions) => Translation;

const keptTranslator: (settings: TranslateSettings) => { translator: Translator | undefined } = memo(() => ({
  translator: undefined,
}));

function createTranslator(settings: TranslateSettings): Translator {
  const ingressListeners = settings.ingressEnabled ? ingressListenersOf(settings) : [];
  const ledger = createSizeLedger(settings.maxScopeBytes);
  const planIngresses = settings.ingressEnabled
    ? createIngressTranslator(settings, ingressListeners, ledger)
    : () => () => ({ owners: noOwners, finish: () => noIngresses });
  const planGateways = settings.gatewayApiEnabled
    ? unlessOnlyOthersChanged(createGatewayTranslator(settings, ingressListeners, ledger))
    : () => () => noGateways;
  const translatePolicies = createPolicyTranslator();
  const translateTlsPolicies = createTlsPolicyTranslator(settings);
  const translateEndpoints = createEndpointTranslator(settings);
  const findOwnPorts = createOwnPortFinder(settings.localPorts);
  const translateKeySets = createKeySetTranslator(settings.maxKeySetBytes);
  const tlsOf = createTlsOfPorts();
  const clientCertsOf = createClientCertsOfPorts();
  const l4Of = createL4OfPorts();
  const checkValidity = createValidityCheck();
  const watchedIn = createWorldFilter(settings.watchNamespaces);
  const close = createCloser();
  const findTakenHosts = createTakenHostFinder();
  const endpointEvents = createEndpointEvents();
  return (
    given,
    { nowMs, keySets: fetched = nothingFetched, sessionKey: otherwise, ownPorts: pods = noOwnPorts },
  ) => {
    const { world, diagnostics: closed } = close(watchedIn(given));
    const buildIngresses = planIngresses(world);
    const buildGateways = planGateways(world);
    const leftOut = ledger.leftOut();
    const unfinished = buildIngresses(leftOut);
    const gateway = buildGateways(leftOut, unfinished.owners);
    const ingress = unfinished.finish(gateway.owners);
    const policies = translatePolicies(world);
    const tlsPolicies = translateTlsPolicies(world, gateway.gatewaysByService);
    const all = partsOf(ingress, gateway);
    const ownPorts = findOwnPorts(world, pods);
    const endpoints = translateEndpoints({
      world,
      endpointRefs: joinLists(...all.map(({ endpointRefs }) => endpointRefs)),
      policies: policies.byService,
      tlsPolicies,
      ownPorts,
    });
    const wanted = all.flatMap((part) => part.keySets);
    const keySets = translateKeySets(wanted, fetched);
    const sessionKey = translateSessionKey(world, settings.installNamespace, otherwise);
    const tls = tlsOf(ingress, gateway);
    const clientCerts = clientCertsOf(ingress, gateway);
    const validity = nowMs === undefined ? [] : checkValidity(ingress.tlsHosts.values, nowMs);
    const takenHosts = findTakenHosts(ingress.hosts, gateway.shared.hosts);
    const named: Named = {
      keySets,
      endpoints,
      tlsPolicies,
      sessionKey: encodeSessionKey(sessionKey.value),
    };
    return {
      scopes: {
        shared: sharedResources({ ingress, gateway, tls, clientCerts, l4: l4Of(ingress, gateway), named }),
        dedicated: gateway.dedicated.map((scope) => dedicatedScope(scope, named)),
      },
      routing: {
        hosts: joinLists(
          ingress.hosts,
          gateway.shared.hosts.map(({ served }) => served),
        ),
        endpoints: endpoints.sets,
        tls,
        clientCerts,
      },
      conflicts: ingress.conflicts,
      diagnostics: joinLists(
        ingress.diagnostics,
        gateway.diagnostics,
        leftOutFindings(leftOut),
        certificatesTooLarge(ledger.tooLarge()),
        policies.diagnostics,
        tlsPolicies.diagnostics,
        endpoints.diagnostics,
        keySets.diagnostics,
        sessionKey.diagnostics,
        validity,
        closed,
        takenHosts,
      ),
      events: withoutRepeats([
        ...ingress.events,
        ...gateway.events,
        ...sizeEvents(leftOut, ledger.tooLarge()),
        ...endpoints.events,
        ...keySets.events,
        ...findingEvents(ingress.diagnostics),
        ...findingEvents(gateway.diagnostics),
        ...findingEvents(takenHosts),
        ...endpointEvents(ingress.hosts, endpoints.sets),
      ]),
      sizes: ledger.sizes(),
      ownPorts,
      wantedKeySets: wantedKeySets(wanted),
      ingresses: ingress.ingresses,
      gatewayStatuses: gateway.statuses,
      vips: gateway.vips,
      dedicated: gateway.dedicated.map(({ of }) => of),
      identities: gateway.identities,
      backendPolicies: policies.attachments,
      backendTlsPolicies: tlsPolicies.attachments,
      gatewayPolicies: gateway.policies,
    };
  };
}

/** The port at which Ingresses are served with TLS. */
const securePort = ({ listenerSet }: IngressPart): number | undefined =>
  listenerSet.listeners.find(({ protocol }) => protocol === "https")?.port;

/** The certificates of each port; where Ingresses and Gateways share one, a Gateway's come first, as its routes do. */
function createTlsOfPorts(): (ingress: IngressPart, gateway: GatewayPart) => ReadonlyMap<number, TlsPort> {
  const mergeWith = memo((first: TlsPort) => memo((second: TlsPort) => mergeTlsPorts(first, second)));
  return (ingress, gateway) => {
    const secure = securePort(ingress);
    const tls = new Map(gateway.shared.tls);
    if (secure === undefined) return tls;
    const other = tls.get(secure);
    return tls.set(secure, other === undefined ? ingress.tls : mergeWith(other)(ingress.tls));
  };
}

/** What is served below HTTP, with the names of Ingresses on a port that they share with TLS listeners. */
function createL4OfPorts(): (ingress: IngressPart, gateway: GatewayPart) => readonly L4Table[] {
  const joined = memo((table: L4Table) => memo((tls: TlsPort) => withIngressNames(table, tls)));
  return (ingress, { shared: { l4 } }) => {
    const secure = securePort(ingress);
    return l4.map((table) =>
      table.protocol === "tls" && table.port === secure ? joined(table)(ingress.tls) : table,
    );
  };
}

/** What is asked of clients, in the same way. */
function createClientCertsOfPorts(): (
  ingress: IngressPart,
  gateway: GatewayPart,
) => ReadonlyMap<number, ClientCertPort> {
  const mergeWith = memo((first: ClientCertPort) =>
    memo((second: ClientCertPort) => mergeClientCertPorts(first, second)),
  );
  const without = memo((tls: TlsPort) => memo((clients: ClientCertPort) => withoutNamesOf(tls, clients)));
  return (ingress, { shared: { clientCerts, tls } }) => {
    const secure = securePort(ingress);
    if (secure === undefined || ingress.clientCerts.hosts.length === 0) return clientCerts;
    const ofGateways = tls.get(secure);
    const own = ofGateways === undefined ? ingress.clientCerts : without(ofGateways)(ingress.clientCerts);
    if (own.hosts.length === 0) return clientCerts;
    const other = clientCerts.get(secure);
    const merged = other === undefined ? own : mergeWith(other)(own);
    return new Map(clientCerts).set(secure, merged);
  };
}

/**
 * Kinds that nothing of a Gateway asks for: those of Ingresses, and those that only what comes after the routes looks at.
 * Routes name endpoint sets and never look into them, and endpoints change far more often than everything else.
 */
const othersKinds: ReadonlySet<KindName> = new Set([
  "Ingress",
  "IngressClass",
  "SvcIngressClassParameters",
  "EndpointSlice",
  "SvcBackendPolicy",
  "BackendTLSPolicy",
]);

/** Keeps the last result while no list but those of such kinds is another one, and the same is left out and owned. */
function unlessOnlyOthersChanged<T>(
  plan: (world: World) => (leftOut: LeftOut, owners: HostOwners) => T,
): (world: World) => (leftOut: LeftOut, owners: HostOwners) => T {
  type Build = ReturnType<typeof plan>;
  let last: { readonly world: World; readonly build: Build } | undefined;
  const rememberingOne = (build: Build): Build => {
    let known: { readonly inputs: readonly unknown[]; readonly output: T } | undefined;
    return (leftOut, owners) => {
      const inputs = [leftOut, owners];
      if (known === undefined || !haveSameItems(known.inputs, inputs)) {
        known = { inputs, output: build(leftOut, owners) };
      }
      return known.output;
    };
  };
  return (world) => {
    const known = last;
    const isSame =
      known !== undefined &&
      kindNames.every((kind) => othersKinds.has(kind) || known.world[kind] === world[kind]);
    last = { world, build: isSame ? known.build : rememberingOne(plan(world)) };
    return last.build;
  };
}

const encodeSessionKey = (value: SessionKeyValue | undefined): readonly Resource[] =>
  value === undefined ? [] : [encodeResource(sessionKeyKey, value)];

type Parts = {
  readonly ingress: IngressPart;
  readonly gateway: GatewayPart;
  readonly tls: Routing["tls"];
  readonly clientCerts: Routing["clientCerts"];
  readonly l4: readonly L4Table[];
  readonly named: Named;
};

/** What others refer to by name, of all scopes together. */
type Named = {
  readonly keySets: ReturnType<ReturnType<typeof createKeySetTranslator>>;
  readonly endpoints: ReturnType<ReturnType<typeof createEndpointTranslator>>;
  readonly tlsPolicies: TlsPolicies;
  readonly sessionKey: readonly Resource[];
};

type Referring = Pick<GatewayScope, "endpointRefs" | "keySets">;

/** Whatever needs endpoints and key sets. */
const partsOf = (ingress: IngressPart, { shared, dedicated }: GatewayPart): readonly Referring[] => [
  ingress,
  shared,
  ...dedicated,
];

/** Of what others refer to by name, that which some of them do. */
function namedBy(parts: readonly Referring[], all: Named): readonly Resource[] {
  const { keySets, endpoints, sessionKey } = all;
  const keys = new Set<string>();
  for (const { endpointRefs, keySets: wanted } of parts) {
    for (const { name } of endpointRefs) keys.add(endpointsKey(name));
    for (const { name } of wanted) keys.add(jwksKey(name));
  }
  const named = [...keySets.resources, ...endpoints.resources].filter(({ key }) => keys.has(key));
  return [...named, ...tlsOfSets(parts, all), ...sessionKey];
}

/** The policies of the endpoint sets that some need, each once. */
function tlsOfSets(parts: readonly Referring[], { endpoints, tlsPolicies }: Named): readonly Resource[] {
  if (tlsPolicies.byService.size === 0) return [];
  const policies = new Set<string>();
  for (const { endpointRefs } of parts) {
    for (const { name } of endpointRefs) {
      const tls = findEntry(endpoints.sets, name)?.set.tls;
      if (tls !== undefined) policies.add(tls);
    }
  }
  return [...policies].flatMap((policy) => tlsPolicies.resource(policy) ?? []);
}

/** What the proxies of one Gateway serve: nothing that another scope has, but the key of the cookies. */
function dedicatedScope(scope: OwnScope, named: Named): DedicatedScope {
  const { namespace, name } = scope.of.gateway.metadata;
  const { endpointRefs, hosts, tls, clientCerts } = scope;
  return {
    gateway: { namespace, name },
    serviceAccount: scope.of.serviceAccount,
    resources:
      scope.listenerSets.length === 0 ? [] : [...gatewayResources(scope), ...namedBy([scope], named)],
    routing: {
      hosts: hosts.map(({ served }) => served),
      endpoints: sortEntries(
        new Map(
          endpointRefs.flatMap(({ name: set }) => {
            const entry = findEntry(named.endpoints.sets, set);
            return entry === undefined ? [] : [[set, entry] as const];
          }),
        ),
      ),
      tls,
      clientCerts,
    },
  };
}

const gatewayResources = ({
  listenerSets,
  tls,
  clientCerts,
  hosts,
  l4,
  resources,
}: GatewayScope): readonly Resource[] => [
  ...listenerSets,
  ...[...clientCerts].map(([port, value]) => encodeResource(clientCertKey(port), value)),
  ...[...tls].map(([port, value]) => encodeResource(tlsKey(port), value)),
  ...hosts.map(({ resource }) => resource),
  ...l4.map(({ resource }) => resource),
  ...withoutRepeatedKeys(resources),
];

const withoutRepeatedKeys = (resources: readonly Resource[]): Iterable<Resource> =>
  new Map(resources.map((resource) => [resource.key, resource])).values();

function sharedResources({ ingress, gateway, tls, clientCerts, l4, named }: Parts): readonly Resource[] {
  const listenerSets = [
    ...(ingress.listenerSet.listeners.length === 0
      ? []
      : [encodeResource(listenerKey(ingressListener), ingress.listenerSet)]),
    ...gateway.shared.listenerSets,
  ];
  if (listenerSets.length === 0) return [];
  const ports = [
    ...[...tls].map(([port, value]) => encodeResource(tlsKey(port), value)),
    ...[...clientCerts].map(([port, value]) => encodeResource(clientCertKey(port), value)),
  ];
  return joinLists(
    listenerSets,
    ports,
    ingress.routes,
    [...withoutRepeatedKeys([...ingress.resources, ...gateway.shared.resources])],
    gateway.shared.hosts.map(({ resource }) => resource),
    l4.map(({ resource }) => resource),
    gateway.dedicated.length === 0
      ? joinLists(
          named.keySets.resources,
          named.endpoints.resources,
          tlsOfSets([ingress, gateway.shared], named),
          named.sessionKey,
        )
      : namedBy([ingress, gateway.shared], named),
  );
}

const nothingFetched: FetchedKeySets = new Map();

/** One Event per object, reason and message. */
const withoutRepeats = (events: readonly DesiredEvent[]): readonly DesiredEvent[] => [
  ...new Map(events.map((event) => [JSON.stringify(event), event])).values(),
];

const noIngresses: IngressPart = {
  ingresses: [],
  listenerSet: { listeners: [] },
  hosts: [],
  conflicts: [],
  routes: [],
  endpointRefs: [],
  resources: [],
  keySets: [],
  tls: { certificates: {}, hosts: [] },
  clientCerts: { authorities: {}, hosts: [] },
  tlsHosts: noEntries,
  diagnostics: [],
  events: [],
};

const noGateways: GatewayPart = {
  shared: {
    listenerSets: [],
    hosts: [],
    l4: [],
    endpointRefs: [],
    resources: [],
    keySets: [],
    tls: new Map(),
    clientCerts: new Map(),
  },
  dedicated: [],
  policies: [],
  statuses: { classes: [], gateways: [], listenerSets: [], routes: [] },
  vips: [],
  identities: [],
  gatewaysByService: () => new Map(),
  diagnostics: [],
  events: [],
  owners: noOwners,
};
