/**
 * The pure core of the gateway, which translates the objects of a cluster into the snapshot that proxies serve. It
 * uses no client, clock, logger or I/O. Bad input becomes a diagnostic, an Event and a documented fallback, never an
 * exception, and never changes how another object is served (docs/architecture.md). README.md describes the stages.
 */
import { joinLists } from "@svc-gateway/common/collections/join-lists.ts";
import { sessionKeyKey } from "@svc-gateway/common/ir/keys.ts";
import { noOwnPorts, type OwnPorts } from "@svc-gateway/common/ir/own-ports.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import type { SessionKeyValue } from "@svc-gateway/common/ir/session-key.ts";
import type { ObjectOf } from "../api/kinds.ts";
import { nameOf, refOf } from "../api/object.ts";
import type { World } from "../world.ts";
import { createEndpointTranslator } from "./backends/endpoint-sets.ts";
import { createOwnPortFinder } from "./backends/own-port-services.ts";
import { createPolicyTranslator } from "./backends/policies.ts";
import { translateSessionKey } from "./backends/session-key.ts";
import { createTlsPolicyTranslator } from "./backends/tls-policies.ts";
import { createValidityCheck } from "./certificates/validity.ts";
import { createCloser } from "./closures.ts";
import { createKeySetTranslator, wantedKeySets, type FetchedKeySets } from "./credentials/remote-key-sets.ts";
import { createEndpointEvents, findingEvents } from "./finding-events.ts";
import type { DesiredEvent } from "./finding.ts";
import { createRunningIngressNginxFinder } from "./foreign/running-ingress-nginx.ts";
import { reuseUnlessChanged } from "./gateway/reuse.ts";
import { offeredCertificateBytes } from "./gateway/scopes/offered-certificates.ts";
import { createGatewayTranslator, noGateways } from "./gateway/translator.ts";
import { memo } from "./incremental/memo.ts";
import {
  createInvalidAttacher,
  createInvalidTlsAttacher,
  invalidPolicyFindings,
  namesOfGateways,
} from "./invalid-policies.ts";
import { createClassFilter } from "./ingress/classes.ts";
import { createIngressTranslator, ingressListenersOf, noIngresses } from "./ingress/translator.ts";
import { noOwners } from "./ownership.ts";
import {
  dedicatedScope,
  sharedResources,
  type NamedResources,
  type ReferringPart,
} from "./scope-resources.ts";
import type { TranslateSettings } from "./settings.ts";
import { createPolicyStatusTranslator } from "./policy-status/translator.ts";
import { createPortMerger } from "./shared-ports.ts";
import { certificatesTooLarge, leftOutFindings, sizeEvents } from "./size/findings.ts";
import { createSizeLedger } from "./size/ledger.ts";
import { sharedScope } from "./size/object-size.ts";
import { createTakenHostFinder } from "./taken-hosts.ts";
import type { Translation } from "./translation.ts";
import { createWorldFilter, namespaceFilter } from "./watched-namespaces.ts";

type TranslateOptions = {
  /** The current time in milliseconds since 1970. If absent, the validity times of certificates are not checked. */
  readonly nowMs?: number;
  /**
   * The results of fetching the key sets that the previous translation wanted; if absent, nothing has been fetched.
   */
  readonly keySets?: FetchedKeySets;
  /** The ports of the gateway's own pods, which no endpoint may be or lead to; none by default. */
  readonly ownPorts?: OwnPorts;
  /** The Leases that an ingress-nginx in the cluster renews, as `namespace/name`; none by default. */
  readonly ingressNginxLeases?: readonly string[];
  /** The key of session cookies (base64), if the World has no Secret with one. */
  readonly sessionKey?: string;
  /** Whether invalid policies of the World are reported as findings. Those of files are findings of their files. */
  readonly reportsInvalid?: boolean;
  /** The Secret with the fallback certificate, if the World has none. */
  readonly fallbackCertificate?: ObjectOf<"Secret">;
};

/**
 * Translates a World. Equal Worlds and settings give equal results on every machine. Results for objects and
 * settings of the same identity are remembered, so that one changed object costs little in a World of any size.
 */
export function translate(
  world: World,
  settings: TranslateSettings,
  options: TranslateOptions = {},
): Translation {
  const kept = keptTranslator(settings);
  const translator = kept.translator ?? createTranslator(settings);
  // A translator that throws can contain half-finished work, so the next translation creates another one.
  kept.translator = undefined;
  const translation = translator(world, options);
  kept.translator = translator;
  return translation;
}

type Translator = (world: World, options: TranslateOptions) => Translation;

const keptTranslator: (settings: TranslateSettings) => { translator: Translator | undefined } = memo(() => ({
  translator: undefined,
}));

/** Creates a translator whose stages remember their work from one translation to the next. */
function createTranslator(settings: TranslateSettings): Translator {
  const { ingressEnabled, gatewayApiEnabled, installNamespace } = settings;
  const ingressListeners = ingressEnabled ? ingressListenersOf(settings) : [];
  const ledger = createSizeLedger(settings.maxScopeBytes);
  const onlyWatched = createWorldFilter(settings.watchNamespaces);
  const isWatched = namespaceFilter(settings.watchNamespaces);
  const closeTargets = createCloser(isWatched);
  const planIngresses = ingressEnabled
    ? createIngressTranslator(settings, ingressListeners, ledger)
    : () => () => ({ owners: noOwners, finish: () => noIngresses });
  const planGateways = gatewayApiEnabled
    ? reuseUnlessChanged(createGatewayTranslator(settings, ingressListeners, ledger))
    : () => () => noGateways;
  const translatePolicies = createPolicyTranslator();
  const translateTlsPolicies = createTlsPolicyTranslator(settings);
  const findOwnPorts = createOwnPortFinder(settings.localPorts);
  const translateEndpoints = createEndpointTranslator(settings);
  const translateKeySets = createKeySetTranslator(settings.maxKeySetBytes);
  const mergePorts = createPortMerger();
  const checkValidity = createValidityCheck();
  const findTakenHosts = createTakenHostFinder();
  const endpointEvents = createEndpointEvents();
  const findRunningIngressNginx = createRunningIngressNginxFinder(settings);
  const translatePolicyStatuses = createPolicyStatusTranslator(settings);
  const addInvalidBackendPolicies = createInvalidAttacher(["SvcBackendPolicy"]);
  const addInvalidGatewayPolicies = createInvalidAttacher(["SvcExternalAuth", "ClientTrafficPolicy"]);
  const addInvalidTlsPolicies = createInvalidTlsAttacher();
  const servedClassesOf = memo((classes: World["IngressClass"]) =>
    classes.filter(createClassFilter(settings)),
  );

  return (
    given,
    {
      nowMs,
      keySets: fetched = nothingFetched,
      sessionKey: givenKey,
      ownPorts: ofPods = noOwnPorts,
      ingressNginxLeases = [],
      fallbackCertificate,
      reportsInvalid = false,
    },
  ) => {
    // 1. Select: the watched namespaces, with the targets of invalid protecting objects marked as closed.
    const { world: whole, diagnostics: closed } = closeTargets(given);
    const world = onlyWatched(whole);
    const invalid = invalidPolicyFindings(world, isWatched);

    // 2. Plan each Ingress, Gateway and route, and report their sizes to the ledger.
    const buildIngresses = planIngresses(world, fallbackCertificate);
    const buildGateways = planGateways(world);

    // 3. Fit: choose the objects to leave out, so that each scope stays below its limit.
    const leftOut = ledger.leftOut();

    // 4. Build: host tables, certificates and statuses. Each side needs the host owners of the other one.
    const unfinished = buildIngresses(leftOut);
    const gateway = buildGateways(leftOut, unfinished.owners);
    const ingress = unfinished.finish(gateway.owners);

    // 5. Resolve the names that the built routes refer to.
    const parts: readonly ReferringPart[] = [ingress, gateway.shared, ...gateway.dedicated];
    const policies = translatePolicies(world);
    const tlsPolicies = translateTlsPolicies(world, gateway.gatewaysByService);
    const ownPorts = findOwnPorts(world, ofPods);
    const endpoints = translateEndpoints({
      world,
      endpointRefs: joinLists(...parts.map(({ endpointRefs }) => endpointRefs)),
      policies: policies.byService,
      ports: policies.ports,
      tlsPolicies,
      ownPorts,
    });
    const keySetRefs = parts.flatMap((part) => part.keySets);
    const keySets = translateKeySets(keySetRefs, fetched);
    const sessionKey = translateSessionKey(world, installNamespace, givenKey);
    const named: NamedResources = {
      keySets: keySets.resources,
      endpoints: endpoints.resources,
      endpointSets: endpoints.sets,
      tlsSettings: (name) => policies.tlsResource(name) ?? tlsPolicies.resource(name),
      hasTlsSettings: policies.ports.size > 0 || tlsPolicies.byService.size > 0,
      sessionKey: encodeSessionKey(sessionKey.value),
    };

    // 6. Merge: the ports that Ingresses and Gateways share.
    const ports = mergePorts(ingress, gateway);

    // 7. Check: findings that need all of the above.
    const outdated = nowMs === undefined ? [] : checkValidity(ingress.tlsHosts.values, nowMs);
    const takenHosts = findTakenHosts(ingress.hosts, gateway.shared.hosts);
    const tooLarge = ledger.tooLarge();
    const foreign = findRunningIngressNginx(world, ingressNginxLeases);

    // 8. Assemble the result.
    const gateways = { world, ours: namesOfGateways(gateway.statuses.gateways) };
    return {
      world: whole,
      scopes: {
        shared: sharedResources(ingress, gateway, ports, named),
        dedicated: gateway.dedicated.map((scope) => dedicatedScope(scope, named)),
      },
      routing: {
        hosts: joinLists(
          ingress.hosts,
          gateway.shared.hosts.map(({ served }) => served),
        ),
        endpoints: endpoints.sets,
        tls: ports.tls,
        clientCerts: ports.clientCerts,
      },
      conflicts: ingress.conflicts,
      diagnostics: joinLists(
        ingress.diagnostics,
        gateway.diagnostics,
        leftOutFindings(leftOut),
        certificatesTooLarge(tooLarge),
        policies.diagnostics,
        tlsPolicies.diagnostics,
        endpoints.diagnostics,
        keySets.diagnostics,
        sessionKey.diagnostics,
        outdated,
        closed,
        reportsInvalid ? invalid.diagnostics : [],
        takenHosts,
        foreign,
      ),
      events: withoutRepeats([
        ...ingress.events,
        ...gateway.events,
        ...sizeEvents(leftOut, tooLarge),
        ...endpoints.events,
        ...keySets.events,
        ...findingEvents(ingress.diagnostics),
        ...findingEvents(gateway.diagnostics),
        ...invalid.events,
        ...findingEvents(closed),
        ...findingEvents(takenHosts),
        ...findingEvents(foreign),
        ...endpointEvents(ingress.hosts, endpoints.sets),
      ]),
      sizes: ledger.sizes(),
      certificateBytes: new Map([
        [sharedScope, offeredCertificateBytes(gateway.shared)],
        ...gateway.dedicated.map(
          (scope) => [nameOf(refOf(scope.of.gateway)), offeredCertificateBytes(scope)] as const,
        ),
      ]),
      ownPorts,
      wantedKeySets: wantedKeySets(keySetRefs),
      ingresses: ingress.ingresses,
      statusIngresses: ingress.statusIngresses,
      needsFallbackCertificate: ingress.needsFallbackCertificate,
      nginxReports: ingress.nginxReports,
      gatewayStatuses: gateway.statuses,
      vips: gateway.vips,
      dedicated: gateway.dedicated.map(({ of }) => of),
      identities: gateway.identities,
      backendPolicies: addInvalidBackendPolicies(policies.attachments, gateways),
      backendTlsPolicies: addInvalidTlsPolicies(tlsPolicies.attachments, world, gateway.gatewaysByService),
      gatewayPolicies: addInvalidGatewayPolicies(gateway.policies, gateways),
      policyStatuses: translatePolicyStatuses({
        world,
        served: [
          ingress.ingresses,
          servedClassesOf(world.IngressClass),
          gateway.statuses.classes,
          gateway.statuses.gateways,
          gateway.statuses.listenerSets,
          gateway.statuses.routes,
        ],
        ofKeySets: keySets.diagnostics,
      }),
    };
  };
}

const nothingFetched: FetchedKeySets = new Map();

const encodeSessionKey = (value: SessionKeyValue | undefined): readonly Resource[] =>
  value === undefined ? [] : [encodeResource(sessionKeyKey, value)];

/** Removes Events that repeat object, reason and message of another one. */
const withoutRepeats = (events: readonly DesiredEvent[]): readonly DesiredEvent[] => [
  ...new Map(events.map((event) => [JSON.stringify(event), event])).values(),
];
