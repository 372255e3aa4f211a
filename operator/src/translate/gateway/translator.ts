/** Translates all Gateway API objects into listeners, host tables, certificates and statuses. */
import { joinLists } from "@svc-gateway/common/collections/join-lists.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { nameOf, refOf } from "../../api/object.ts";
import type { World } from "../../world.ts";
import { attempt } from "../attempt.ts";
import type { GatewaysByService } from "../backends/tls-policies.ts";
import type { DesiredEvent, Diagnostic } from "../finding.ts";
import { listMemo } from "../incremental/memo.ts";
import { noOwners, type HostOwners } from "../ownership.ts";
import type { TranslateSettings } from "../settings.ts";
import type { SizeLedger } from "../size/ledger.ts";
import { nothingLeftOut, type LeftOut } from "../size/object-size.ts";
import type { Translation } from "../translation.ts";
import { namespaceFilter } from "../watched-namespaces.ts";
import { createDedicatedPlanner } from "./dedicated/gateway.ts";
import { createIdentityPlanner } from "./dedicated/identity.ts";
import { parametersWithoutEffect } from "./dedicated/parameters.ts";
import type { Manifest } from "./dedicated/plan.ts";
import { gatewaysByService, type ReferringRoute } from "./gateways-by-service.ts";
import type { HttpRouteKind, L4RouteKind } from "./kinds.ts";
import { frontendFindings } from "./listeners/frontend-validation.ts";
import { createGatewayClassReader } from "./listeners/gateway-classes.ts";
import {
  createGatewayPlanner,
  clientFindingsOf,
  filterFindingsOf,
  listenersOf,
  type PlannedGateway,
} from "./listeners/gateways.ts";
import { createParentlessSetFinder } from "./listeners/parentless-sets.ts";
import { createStrayFinder } from "./listeners/strays.ts";
import { createPolicyAttacher } from "./policies/attached-policies.ts";
import { createAttachedRoutes } from "./routes/attached-routes.ts";
import { parentsOf } from "./routes/attachment.ts";
import { planGrpcRoute } from "./routes/grpc-route.ts";
import { planHttpRoute } from "./routes/http-route.ts";
import { planL4Route, unusableL4Route, type L4Plan } from "./routes/l4-route.ts";
import { createOwnedClaims, type OwnedClaims } from "./routes/ownership.ts";
import { fitRoute, leaveOutRoute, unusableRoute, type RoutePlan } from "./routes/route-plan.ts";
import { unservedOfGateway } from "./routes/unserved-fields.ts";
import { createCertificateSizes, withoutCertificates } from "./scopes/certificate-sizes.ts";
import { createCollisionCheck, type Reserved } from "./scopes/collisions.ts";
import { createOrphanFinder } from "./scopes/orphans.ts";
import { createOwnScopes, createPlanFinder, type OwnScope } from "./scopes/own-scopes.ts";
import { createPlacer, scopeOf, type PlacedGateway } from "./scopes/placement.ts";
import { bindAdvertised, bindInternal, type Bindings } from "./scopes/ports.ts";
import { createRouteSizes } from "./scopes/route-sizes.ts";
import { createScopeBuilder, type GatewayScope, type ScopeInput } from "./scopes/scope.ts";
import { createVipPlanner, type Vip } from "./scopes/vip-plan.ts";
import { describeStatuses } from "./status/findings.ts";
import { countLostRoutes, createLossStatuses, joinLost } from "./status/lost-hosts.ts";
import { createStatusBuilder, type GatewayStatuses } from "./status/statuses.ts";

export type GatewayPart = {
  /** The scope of the shared proxies. */
  readonly shared: GatewayScope;
  /** The scopes of the Gateways with dedicated proxies. */
  readonly dedicated: readonly OwnScope[];
  readonly statuses: GatewayStatuses;
  readonly diagnostics: readonly Diagnostic[];
  readonly events: readonly DesiredEvent[];
  /** The oldest routes of the shared proxies that name hosts; empty unless host ownership is enabled. */
  readonly owners: HostOwners;
  readonly vips: readonly Vip[];
  readonly identities: readonly Manifest[];
  /** Computed on demand. The function keeps its identity until its result can change. */
  readonly gatewaysByService: () => GatewaysByService;
  readonly policies: Translation["gatewayPolicies"];
};

/**
 * Translates in two steps. The first plans Gateways and routes and reports their sizes to the ledger; the
 * second builds everything that is not left out. Results for unchanged objects are reused.
 */
export function createGatewayTranslator(
  settings: TranslateSettings,
  reserved: readonly Reserved[],
  ledger: SizeLedger,
): (world: World) => (leftOut: LeftOut, ingressOwners: HostOwners) => GatewayPart {
  const { controllerName, allowExternalName } = settings;
  const isWatched = namespaceFilter(settings.watchNamespaces);
  const readClasses = createGatewayClassReader(controllerName);
  const planGateways = createGatewayPlanner(settings);
  const { gatewayVips, dedicated } = settings;
  const { refusesDedicated } = settings;
  const vipNamespace = gatewayVips?.namespace;
  const placementSettings = { controllerName, dedicated, refusesDedicated, vipNamespace };
  const place = createPlacer(placementSettings);
  const isOrphan = createOrphanFinder(placementSettings);
  const planVip = gatewayVips === undefined ? () => undefined : createVipPlanner(gatewayVips);
  const planOwn =
    dedicated === undefined ? () => [] : createDedicatedPlanner({ ...dedicated, controllerName });
  const planIdentities = createIdentityPlanner(controllerName);
  const checkCollisions =
    gatewayVips === undefined
      ? createCollisionCheck(reserved, settings.machinePorts)
      : (gateways: readonly PlacedGateway[]) => gateways;
  const bindShared = gatewayVips === undefined ? bindAdvertised() : bindInternal(gatewayVips.namespace);
  const bindOwn = bindAdvertised()([]).of;
  const parentsFor = listMemo((gateways: readonly PlannedGateway[]) => parentsOf(gateways));
  const attachHttp = createAttachedRoutes<HttpRouteKind, RoutePlan>({
    isWatched,
    kinds: ["HTTPRoute", "GRPCRoute"],
    plan: (route, view) =>
      attempt(
        route,
        () =>
          route.kind === "GRPCRoute"
            ? planGrpcRoute(route, { view, allowExternalName })
            : planHttpRoute(route, { view, allowExternalName }),
        unusableRoute(route),
      ),
    // An unsupported rule answers 500, even if it is the only one left.
    serves: (plan) => plan.routes.length > 0,
    fit: fitRoute,
    leaveOut: leaveOutRoute,
  });
  const attachL4 = createAttachedRoutes<L4RouteKind, L4Plan>({
    isWatched,
    kinds: ["TLSRoute", "TCPRoute", "UDPRoute"],
    plan: (route, view) =>
      attempt(route, () => planL4Route(route, { view, allowExternalName }), unusableL4Route(route)),
    serves: (plan) => !plan.isUnusable,
    // L4 plans contain nothing large that tables repeat.
    fit: (plan) => plan,
    leaveOut: (plan) => plan,
  });
  const countSizes = createRouteSizes(ledger);
  const countCertificates = createCertificateSizes(ledger);
  // Without VIPs, the shared proxies bind the ports that Gateways specify, so these Gateways share ports.
  const attachPolicies = createPolicyAttacher<PlacedGateway>(
    (gateway) =>
      gatewayVips === undefined && gateway.placement.inShared ? "" : nameOf(refOf(gateway.gateway)),
    isWatched,
  );
  const findStrays = createStrayFinder(isWatched);
  const findParentless = createParentlessSetFinder(isWatched);
  const buildShared = createScopeBuilder();
  const buildOwn = createOwnScopes();
  const buildStatuses = createStatusBuilder();
  const leaveToOwners = createOwnedClaims();
  const reportLosses = createLossStatuses();
  const ingressPorts = new Set(reserved.map(({ port }) => port));

  return (world) => {
    // 1. Gateways of our classes, their listeners, and which proxies serve them.
    const classes = readClasses(world);
    const isServed = (gateway: ObjectOf<"Gateway">): boolean =>
      classes.has(gateway.spec.gatewayClassName) || isOrphan(gateway, world);
    const placed = checkCollisions(place(planGateways(world, isServed), classes, world));

    // 2. Policies that are attached to Gateways.
    const policies = attachPolicies(world, placed);
    const { gateways } = policies;

    // 3. Scopes and the ports that their proxies bind.
    const inShared = gateways.filter(({ placement }) => placement.inShared);
    const own = planOwn(gateways);
    const bindings = bindShared(inShared, world);
    const bindingsOf = (gateway: PlacedGateway): Bindings =>
      scopeOf(gateway).kind === "shared" ? bindings.of(gateway) : bindOwn(gateway);

    // 4. The plan of each route, and the listeners that it attaches to.
    const parents = parentsFor(gateways, undefined);
    const plannedHttp = attachHttp(world, parents);
    const l4 = attachL4(world, parents).finish(nothingLeftOut);

    // 5. Sizes, from which the ledger chooses what is left out.
    countSizes(plannedHttp.planned, gateways);
    countCertificates(gateways);

    const build = (leftOut: LeftOut, ingressOwners: HostOwners): GatewayPart => {
      // 6. Routes and certificates without what is left out.
      const http = plannedHttp.finish(leftOut);
      const unoffered = withoutCertificates(gateways, leftOut);
      // Without Gateways that have dedicated proxies, every route belongs to the shared proxies.
      const isMixed = own.length > 0;
      const plansOf = createPlanFinder(http.routes, isMixed ? gateways : undefined);
      const l4PlansOf = createPlanFinder(l4.routes, isMixed ? gateways : undefined);

      // 7. Host ownership: removes claims to hosts that belong to an Ingress or route of another namespace.
      const isOwned = settings.hostOwnership === "namespace";
      const ownedIn = (of: readonly PlacedGateway[], otherOwners: HostOwners): OwnedClaims =>
        isOwned
          ? leaveToOwners({ claims: http.claims, l4Claims: l4.claims }, idsOf(of), otherOwners)
          : {
              claims: http.claims,
              l4Claims: l4.claims,
              owners: noOwners,
              isTaken: () => false,
              lost: new Map(),
              diagnostics: [],
              events: [],
            };
      const owned = ownedIn(inShared, ingressOwners);
      // Dedicated proxies serve no Ingresses.
      const ownedApart = new Map(
        own.map(({ gateway: of }) => [
          of,
          ownedIn(
            gateways.filter(({ gateway }) => gateway === of),
            noOwners,
          ),
        ]),
      );

      // 8. Statuses, with the hosts that routes lose.
      const lost = joinLost([owned.lost, ...Array.from(ownedApart.values(), (apart) => apart.lost)]);
      const routes = reportLosses(joinLists(http.statuses, l4.statuses), lost);
      const lostRoutes = countLostRoutes(routes, lost);
      const statuses = buildStatuses({
        classes,
        gateways,
        bindingsOf,
        parentlessSets: findParentless(world),
        routes,
        attached: (listener) =>
          http.attached(listener) + l4.attached(listener) - (lostRoutes.get(listener) ?? 0),
        world,
      });

      // 9. One set of resources for each scope.
      const inputOf = (
        of: readonly PlacedGateway[],
        bindingsIn: ScopeInput["bindingsOf"],
        { claims, l4Claims, isTaken }: OwnedClaims,
        portsOfIngresses: ScopeInput["ingressPorts"],
      ): ScopeInput => ({
        ingressPorts: portsOfIngresses,
        claims,
        isTaken: (listener, port) => ingressPorts.has(port) && isTaken(listener),
        l4Claims,
        gateways: of,
        bindingsOf: bindingsIn,
        routes: plansOf(of),
        l4Routes: l4PlansOf(of),
        withoutCertificates: unoffered,
      });
      return {
        shared: buildShared(inputOf(inShared, bindings.bound, owned, ingressPorts)),
        dedicated: buildOwn(own, (of) =>
          inputOf(
            gateways.filter(({ gateway }) => gateway === of),
            bindOwn,
            ownedApart.get(of) ?? owned,
            new Set(),
          ),
        ),
        statuses,
        diagnostics: joinLists(
          findStrays(world, isServed),
          policies.diagnostics,
          gateways.flatMap((gateway) =>
            filterFindingsOf(gateway).flatMap(({ diagnostics, unlessAuthenticated }) => [
              ...diagnostics,
              ...unlessAuthenticated,
            ]),
          ),
          gateways.flatMap(clientFindingsOf),
          gateways.flatMap(({ gateway }) => [...frontendFindings(gateway), ...unservedOfGateway(gateway)]),
          http.diagnostics,
          l4.diagnostics,
          describeStatuses(statuses),
          http.statusDiagnostics,
          owned.diagnostics,
          [...ownedApart.values()].flatMap(({ diagnostics }) => diagnostics),
          l4.statusDiagnostics,
          dedicated === undefined && !refusesDedicated ? parametersWithoutEffect(gateways, classes) : [],
        ),
        events: [
          ...bindings.events,
          ...own.flatMap(({ events }) => events),
          ...owned.events,
          ...[...ownedApart.values()].flatMap(({ events }) => events),
        ],
        owners: owned.owners,
        vips: inShared.flatMap((gateway) => planVip(gateway, bindings.of(gateway)) ?? []),
        policies: policies.attachments,
        identities: gatewayVips === undefined || dedicated === undefined ? [] : planIdentities(inShared),
        gatewaysByService: () =>
          gatewaysByService(gateways, joinLists<ReferringRoute>(http.routes, l4.routes)),
      };
    };
    return build;
  };
}

const idsOf = (gateways: readonly PlannedGateway[]): ReadonlySet<string> =>
  new Set(gateways.flatMap((gateway) => listenersOf(gateway).map(({ id }) => id)));

/** The empty result, for when the Gateway API is not served. */
export const noGateways: GatewayPart = {
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
  statuses: { classes: [], gateways: [], listenerSets: [], parentlessSets: [], routes: [] },
  vips: [],
  identities: [],
  gatewaysByService: () => new Map(),
  diagnostics: [],
  events: [],
  owners: noOwners,
};
