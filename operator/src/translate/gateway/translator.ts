/** All Gateway API objects together: from the objects to listeners, host tables, certificates and statuses. */
import type { TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import type { Listener as BoundListener, ListenerSet } from "@svc-gateway/common/ir/listener.ts";
import { listenerKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { nameOf, refOf } from "../../api/object.ts";
import type { World } from "../../world.ts";
import { compareText } from "../age.ts";
import { attempt } from "../attempt.ts";
import type { EndpointNeed } from "../backends/service-port.ts";
import { listMemo, memo, trackedMemo } from "../memo.ts";
import type { KeySetNeed } from "../credentials/remote-key-sets.ts";
import type { TranslateSettings } from "../settings.ts";
import type { DesiredEvent, Diagnostic } from "../translation.ts";
import { attach, findMissingParents, parentsOf, type Attachment, type Parents } from "./attachment.ts";
import { createCollisionCheck, type Reserved } from "./collisions.ts";
import { createGatewayClassReader } from "./gateway-classes.ts";
import { createGatewayPlanner, type Listener, type PlannedGateway } from "./gateways.ts";
import { planGrpcRoute } from "./grpc-route.ts";
import { createHostTableBuilder, type Claim, type GatewayHost, type HostClaim } from "./host-tables.ts";
import { planHttpRoute } from "./http-route.ts";
import type { L4RouteKind } from "./kinds.ts";
import { planL4Route, unusableL4Route, type L4Plan } from "./l4-route.ts";
import { createL4TableBuilder, type L4Claim, type L4Table } from "./l4-tables.ts";
import { bindAdvertised, bindInternal, type Assignment, type Bindings } from "./ports.ts";
import { createVipPlanner, type VipService } from "./vip-plan.ts";
import { unusableRoute, type CommonPlan, type RoutePlan } from "./route-plan.ts";
import { describeStatuses } from "./findings.ts";
import { routeStatus, type RouteStatus } from "./status.ts";
import { createStatusBuilder, type GatewayStatuses } from "./statuses.ts";
import { createTlsBuilder } from "./tls.ts";

export type GatewayPart = {
  /** One for each Gateway of ours. */
  readonly listenerSets: readonly Resource[];
  readonly listeners: readonly BoundListener[];
  readonly hosts: readonly GatewayHost[];
  readonly l4: readonly L4Table[];
  /** May name a Service port more than once. */
  readonly needs: readonly EndpointNeed[];
  /** What routes name besides endpoint sets; may hold a key more than once, then with the same value. */
  readonly resources: readonly Resource[];
  /** Key sets that routes name; may hold a name more than once. */
  readonly keySets: readonly KeySetNeed[];
  readonly tls: ReadonlyMap<number, TlsPort>;
  readonly statuses: GatewayStatuses;
  readonly diagnostics: readonly Diagnostic[];
  readonly events: readonly DesiredEvent[];
  readonly vips: readonly VipService[];
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
  const planGateways = createGatewayPlanner();
  const { gatewayVips } = settings;
  const planVip = gatewayVips === undefined ? undefined : createVipPlanner(gatewayVips);
  const checkCollisions =
    gatewayVips === undefined
      ? createCollisionCheck(reserved)
      : (gateways: readonly PlannedGateway[]) => gateways;
  const bind = gatewayVips === undefined ? bindAdvertised() : bindInternal(gatewayVips.namespace);
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
  const buildTables = createHostTableBuilder();
  const buildL4Tables = createL4TableBuilder();
  const buildStatuses = createStatusBuilder();
  const tlsOf = new Map<number, ReturnType<typeof createTlsBuilder>>();
  const listenerSetOf = memo((gateway: PlannedGateway) =>
    memo((ports: Bindings) => boundListeners(gateway, ports)),
  );

  return (world) => {
    const classes = readClasses(world);
    const gateways = checkCollisions(planGateways(world, classes));
    const bindings = bind(gateways, world);
    const parents = parentsFor(gateways, undefined);
    const httpRoutes = [
      ...world.HTTPRoute.map((route) => planHttp(route, undefined, world)),
      ...world.GRPCRoute.map((route) => planGrpc(route, undefined, world)),
    ].map((plan) => attachHttp(plan, parents, world));
    const l4Routes = [...world.TLSRoute, ...world.TCPRoute, ...world.UDPRoute].map((route) =>
      attachL4(planL4(route, undefined, world), parents, world),
    );
    const routes = [...httpRoutes, ...l4Routes];

    const claims = new Map<string, HostClaim[]>();
    const l4Claims = new Map<string, L4Claim[]>();
    const attached = new Map<string, number>();
    const needs: EndpointNeed[] = [];
    const resources: Resource[] = [];
    const keySets: KeySetNeed[] = [];
    const diagnostics: Diagnostic[] = [];
    for (const route of routes) {
      for (const finding of route.diagnostics) diagnostics.push(finding);
      if (route.status.parents.length === 0) continue;
      for (const id of route.listeners) attached.set(id, (attached.get(id) ?? 0) + 1);
      for (const need of route.plan.needs) needs.push(need);
    }
    for (const route of httpRoutes) {
      if (route.status.parents.length === 0) continue;
      for (const claim of route.claims) add(claims, claim.listener.id, claim);
      for (const resource of route.plan.resources) resources.push(resource);
      for (const keySet of route.plan.keySets) keySets.push(keySet);
    }

    for (const { claims: ofRoute } of l4Routes) {
      for (const claim of ofRoute) add(l4Claims, claim.listener.id, claim);
    }

    const ports = [...listenersByPort(gateways, bindings)].map(([port, listeners]) => ({ port, listeners }));
    const tls = new Map<number, TlsPort>();
    for (const { port, listeners } of ports) {
      const secure = listeners.filter(({ tlsMode }) => tlsMode === "terminate");
      if (secure.length === 0) continue;
      const build = tlsOf.get(port) ?? createTlsBuilder();
      tlsOf.set(port, build);
      tls.set(port, build(secure));
    }
    const statuses = buildStatuses({
      classes,
      gateways,
      bindings,
      boundOf: (gateway) => listenerSetOf(gateway)(bindings.of(gateway)).resource,
      routes: routes.map(({ status }) => status),
      attached,
    });
    diagnostics.push(...describeStatuses(statuses));
    const bound = gateways.map((gateway) => listenerSetOf(gateway)(bindings.of(gateway)));
    return {
      listenerSets: bound.flatMap(({ resource }) => resource ?? []),
      listeners: bound.flatMap(({ value }) => value.listeners),
      hosts: buildTables(ports, claims),
      l4: buildL4Tables(ports, l4Claims),
      needs,
      resources,
      keySets,
      tls,
      statuses,
      diagnostics,
      events: bindings.events,
      vips:
        planVip === undefined
          ? []
          : gateways.flatMap((gateway) => planVip(gateway, bindings.of(gateway)) ?? []),
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

/** The listeners that serve, by the port that proxies bind, the oldest Gateway's first. */
function listenersByPort(
  gateways: readonly PlannedGateway[],
  bindings: Assignment,
): ReadonlyMap<number, readonly Listener[]> {
  const ports = new Map<number, Listener[]>();
  for (const gateway of gateways) {
    const bound = bindings.of(gateway);
    for (const listener of [gateway.own, ...gateway.sets].flatMap(({ listeners }) => listeners)) {
      const port = bound.get(listener.port);
      if (listener.serves && port !== undefined) add(ports, port, listener);
    }
  }
  return new Map([...ports].sort(([a], [b]) => a - b));
}

/** What the proxies bind for a Gateway: each port and protocol once. */
function boundListeners(
  { gateway, own, sets }: PlannedGateway,
  ports: Bindings,
): {
  readonly value: ListenerSet;
  readonly resource: Resource | undefined;
} {
  const bound = new Map<string, BoundListener>();
  for (const { port: publicPort, protocol, serves } of [own, ...sets].flatMap(({ listeners }) => listeners)) {
    const port = ports.get(publicPort);
    if (!serves || protocol === undefined || port === undefined) continue;
    bound.set(`${port} ${protocol}`, { port, publicPort, protocol });
  }
  const listeners = [...bound.values()].sort(
    (a, b) => a.port - b.port || compareText(a.protocol, b.protocol),
  );
  const value = { listeners };
  const key = listenerKey(nameOf(refOf(gateway)));
  return { value, resource: listeners.length === 0 ? undefined : encodeResource(key, value) };
}

function add<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
