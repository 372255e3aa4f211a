/** All Gateway API objects together: from the objects to listeners, host tables, certificates and statuses. */
import type { ObjectOf } from "../../api/kinds.ts";
import { nameOf, refOf } from "../../api/object.ts";
import type { World } from "../../world.ts";
import { attempt } from "../attempt.ts";
import type { GatewaysByService } from "../backends/tls-policies.ts";
import { listMemo, trackedMemo } from "../memo.ts";
import type { TranslateSettings } from "../settings.ts";
import type { DesiredEvent, Diagnostic, Translation } from "../translation.ts";
import { createPolicyAttacher } from "./attached-policies.ts";
import { attach, findMissingParents, parentsOf, type Attachment, type Parents } from "./attachment.ts";
import { createCollisionCheck, type Reserved } from "./collisions.ts";
import { createDedicatedPlanner } from "./dedicated/gateway.ts";
import { createIdentityPlanner } from "./dedicated/identity.ts";
import { parametersWithoutEffect } from "./dedicated/parameters.ts";
import type { Manifest } from "./dedicated/plan.ts";
import { describeStatuses } from "./findings.ts";
import { createGatewayClassReader } from "./gateway-classes.ts";
import { createGatewayPlanner, filterFindingsOf, type PlannedGateway } from "./gateways.ts";
import { planGrpcRoute } from "./grpc-route.ts";
import type { Claim } from "./host-tables.ts";
import { planHttpRoute } from "./http-route.ts";
import type { L4RouteKind } from "./kinds.ts";
import { planL4Route, unusableL4Route, type L4Plan } from "./l4-route.ts";
import { createOwnScopes, createPlanFinder, type OwnScope } from "./own-scopes.ts";
import { createPlacer, scopeOf, type PlacedGateway } from "./placement.ts";
import { bindAdvertised, bindInternal, type Bindings } from "./ports.ts";
import { unusableRoute, type CommonPlan, type RoutePlan } from "./route-plan.ts";
import { createScopeBuilder, type GatewayScope, type ScopeInput } from "./scope.ts";
import { routeStatus, type RouteStatus } from "./status.ts";
import { createStatusBuilder, type GatewayStatuses } from "./statuses.ts";
import { createVipPlanner, type Vip } from "./vip-plan.ts";

export type GatewayPart = {
  /** What the shared proxies serve. */
  readonly shared: GatewayScope;
  /** What the proxies of single Gateways serve. */
  readonly dedicated: readonly OwnScope[];
  readonly statuses: GatewayStatuses;
  readonly diagnostics: readonly Diagnostic[];
  readonly events: readonly DesiredEvent[];
  readonly vips: readonly Vip[];
  readonly identities: readonly Manifest[];
  /** Worked out when asked for; the same function for as long as the answer is the same. */
  readonly gatewaysByService: () => GatewaysByService;
  readonly policies: Translation["gatewayPolicies"];
};

/** A route with the listeners that take it. */
type AttachedRoute<Plan> = {
  readonly plan: Plan;
  readonly status: RouteStatus;
  /** Ids of the listeners that count it, each once. */
  readonly listeners: readonly string[];
  readonly claims: readonly Claim<Plan>[];
  readonly diagnostics: readonly Diagnostic[];
};

/** Remembers what it worked out, under these settings, for every object that stays the same. */
export function createGatewayTranslator(
  settings: TranslateSettings,
  reserved: readonly Reserved[],
): (world: World) => GatewayPart {
  const { controllerName, allowExternalName } = settings;
  const readClasses = createGatewayClassReader(controllerName);
  const planGateways = createGatewayPlanner(settings);
  const { gatewayVips, dedicated } = settings;
  const place = createPlacer({ controllerName, dedicated, vipNamespace: gatewayVips?.namespace });
  const planVip = gatewayVips === undefined ? () => undefined : createVipPlanner(gatewayVips);
  const planOwn =
    dedicated === undefined ? () => [] : createDedicatedPlanner({ ...dedicated, controllerName });
  const planIdentities = createIdentityPlanner(controllerName);
  const checkCollisions =
    gatewayVips === undefined
      ? createCollisionCheck(reserved)
      : (gateways: readonly PlacedGateway[]) => gateways;
  const bindShared = gatewayVips === undefined ? bindAdvertised() : bindInternal(gatewayVips.namespace);
  const bindOwn = bindAdvertised()([]).of;
  const parentsFor = listMemo((gateways: readonly PlannedGateway[]) => parentsOf(gateways));
  const planHttp = trackedMemo((route: ObjectOf<"HTTPRoute">, _: undefined, view) =>
    attempt(route, () => planHttpRoute(route, { view, allowExternalName }), unusableRoute(route)),
  );
  const planGrpc = trackedMemo((route: ObjectOf<"GRPCRoute">, _: undefined, view) =>
    attempt(route, () => planGrpcRoute(route, { view, allowExternalName }), unusableRoute(route)),
  );
  const planL4 = trackedMemo((route: ObjectOf<L4RouteKind>, _: undefined, view) =>
    attempt(route, () => planL4Route(route, { view, allowExternalName }), unusableL4Route(route)),
  );
  // A rule that is not supported answers 500, also when no other is left.
  const attachHttp = trackedMemo((plan: RoutePlan, parents: Parents, view) =>
    attachedRoute(plan, plan.routes.length > 0, attach(plan, parents, view), findMissingParents(plan, view)),
  );
  const attachL4 = trackedMemo((plan: L4Plan, parents: Parents, view) =>
    attachedRoute(plan, !plan.isUnusable, attach(plan, parents, view), findMissingParents(plan, view)),
  );
  // Ports are shared where the shared proxies bind them as Gateways write them.
  const attachPolicies = createPolicyAttacher<PlacedGateway>((gateway) =>
    gatewayVips === undefined && gateway.placement.inShared ? "" : nameOf(refOf(gateway.gateway)),
  );
  const buildShared = createScopeBuilder();
  const buildOwn = createOwnScopes();
  const buildStatuses = createStatusBuilder();

  return (world) => {
    const classes = readClasses(world);
    const placed = checkCollisions(place(planGateways(world, classes), classes, world));
    const policies = attachPolicies(world, placed);
    const { gateways } = policies;
    const inShared = gateways.filter(({ placement }) => placement.inShared);
    const own = planOwn(gateways);
    const bindings = bindShared(inShared, world);
    const bindingsOf = (gateway: PlacedGateway): Bindings =>
      scopeOf(gateway).kind === "shared" ? bindings.of(gateway) : bindOwn(gateway);
    const parents = parentsFor(gateways, undefined);
    const httpRoutes = [
      ...world.HTTPRoute.map((route) => planHttp(route, undefined, world)),
      ...world.GRPCRoute.map((route) => planGrpc(route, undefined, world)),
    ].map((plan) => attachHttp(plan, parents, world));
    const l4Routes = [...world.TLSRoute, ...world.TCPRoute, ...world.UDPRoute].map((route) =>
      attachL4(planL4(route, undefined, world), parents, world),
    );
    const routes = [...httpRoutes, ...l4Routes];

    const attached = new Map<string, number>();
    const diagnostics: Diagnostic[] = [...policies.diagnostics];
    for (const found of gateways.flatMap(filterFindingsOf)) diagnostics.push(...found.diagnostics);
    for (const route of routes) {
      for (const finding of route.diagnostics) diagnostics.push(finding);
      for (const id of route.listeners) attached.set(id, (attached.get(id) ?? 0) + 1);
    }

    const statuses = buildStatuses({
      classes,
      gateways,
      bindingsOf,
      routes: routes.map(({ status }) => status),
      attached,
      world,
    });
    diagnostics.push(...describeStatuses(statuses));
    if (dedicated === undefined) diagnostics.push(...parametersWithoutEffect(gateways, classes));
    const claimed = { claims: claimsOf(httpRoutes), l4Claims: claimsOf(l4Routes) };
    // Without Gateways that have their own proxies, every route is the shared ones'.
    const isMixed = own.length > 0;
    const plansOf = createPlanFinder(httpRoutes, isMixed ? gateways : undefined);
    const l4PlansOf = createPlanFinder(l4Routes, isMixed ? gateways : undefined);
    const inputOf = (of: readonly PlacedGateway[], bindingsIn: ScopeInput["bindingsOf"]): ScopeInput => ({
      ...claimed,
      gateways: of,
      bindingsOf: bindingsIn,
      routes: plansOf(of),
      l4Routes: l4PlansOf(of),
    });
    return {
      shared: buildShared(inputOf(inShared, bindings.of)),
      dedicated: buildOwn(own, (of) =>
        inputOf(
          gateways.filter(({ gateway }) => gateway === of),
          bindOwn,
        ),
      ),
      statuses,
      diagnostics,
      events: [...bindings.events, ...own.flatMap(({ events }) => events)],
      vips: inShared.flatMap((gateway) => planVip(gateway, bindings.of(gateway)) ?? []),
      policies: policies.attachments,
      identities: gatewayVips === undefined || dedicated === undefined ? [] : planIdentities(inShared),
      gatewaysByService: () => gatewaysByService(gateways, routes),
    };
  };
}

function attachedRoute<Plan extends CommonPlan>(
  plan: Plan,
  hasRoutes: boolean,
  attachments: readonly Attachment[],
  missing: readonly Diagnostic[],
): AttachedRoute<Plan> {
  const claims = new Map<string, Claim<Plan>>();
  const listeners = new Set<string>();
  for (const attachment of attachments) {
    for (const { listener, hosts } of attachment.listeners) {
      if (!plan.isUnusable) listeners.add(listener.id);
      if (!hasRoutes || !listener.serves) continue;
      for (const host of hosts) claims.set(`${listener.id} ${host.host}`, { listener, host, plan });
    }
  }
  return {
    plan,
    status: routeStatus(plan, attachments),
    listeners: [...listeners],
    claims: [...claims.values()],
    diagnostics: attachments.length === 0 ? missing : [...plan.diagnostics, ...missing],
  };
}

/** Which Gateways have routes or listeners that send to a Service, be it questions about requests. */
function gatewaysByService(
  gateways: readonly PlannedGateway[],
  routes: readonly Pick<AttachedRoute<CommonPlan>, "listeners" | "plan">[],
): GatewaysByService {
  const gatewayOf = new Map<string, ObjectOf<"Gateway">>();
  for (const { gateway, own, sets } of gateways) {
    for (const { listeners } of [own, ...sets]) for (const { id } of listeners) gatewayOf.set(id, gateway);
  }
  const result = new Map<string, Set<ObjectOf<"Gateway">>>();
  const usersOf = (service: string): Set<ObjectOf<"Gateway">> => {
    const users = result.get(service) ?? new Set();
    result.set(service, users);
    return users;
  };
  for (const planned of gateways) {
    const needs = [
      ...(planned.guard?.needs ?? []),
      ...filterFindingsOf(planned).flatMap((found) => found.needs),
    ];
    for (const { key } of needs) usersOf(key).add(planned.gateway);
  }
  for (const { plan, listeners } of routes) {
    for (const { key } of plan.needs) {
      const users = usersOf(key);
      for (const id of listeners) {
        const gateway = gatewayOf.get(id);
        if (gateway !== undefined) users.add(gateway);
      }
    }
  }
  return result;
}

/** By the id of the listener. */
function claimsOf<Plan>(routes: readonly AttachedRoute<Plan>[]): ReadonlyMap<string, readonly Claim<Plan>[]> {
  const claims = new Map<string, Claim<Plan>[]>();
  for (const route of routes) {
    for (const claim of route.claims) {
      const list = claims.get(claim.listener.id);
      if (list === undefined) claims.set(claim.listener.id, [claim]);
      else list.push(claim);
    }
  }
  return claims;
}
