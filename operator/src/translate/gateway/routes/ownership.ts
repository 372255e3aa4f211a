/**
 * Host ownership among routes: removes claims to hosts that belong to other namespaces. See docs/routing.md,
 * "Who owns a host".
 */
import { sortEntries } from "@svc-gateway/common/ir/sorted-entries.ts";
import { formatRef, nameOf, type ObjectRef } from "../../../api/object.ts";
import { routeConflict } from "../../diagnostics/routes.ts";
import { routeConflictEvent } from "../../events.ts";
import type { DesiredEvent, Diagnostic } from "../../finding.ts";
import type { FindingsList } from "../../incremental/findings-list.ts";
import { olderOf, type HostOwner, type HostOwners } from "../../ownership.ts";
import { quote } from "../../text.ts";
import type { Listener } from "../listeners/gateways.ts";
import type { Claim, ClaimedHost, ClaimsOfListener } from "../scopes/host-tables.ts";
import type { LostHost, LostHosts } from "../status/lost-hosts.ts";
import type { L4Plan } from "./l4-route.ts";
import type { CommonPlan, RoutePlan } from "./route-plan.ts";

type Claims<Plan> = ReadonlyMap<string, ClaimsOfListener<Plan>>;

/** Everything that routes serve at the listeners of Gateways, by the id of the listener. */
export type AllClaims = { readonly claims: Claims<RoutePlan>; readonly l4Claims: Claims<L4Plan> };

export type OwnedClaims = FindingsList &
  AllClaims & {
    /** The oldest route that names each host. */
    readonly owners: HostOwners;
    /**
     * Whether the host of a listener belongs to an Ingress of another namespace, so that the listener does not
     * serve it.
     */
    readonly isTaken: (listener: Listener) => boolean;
    readonly lost: LostHosts;
  };

/**
 * Removes from every host of one scope the claims of routes outside the namespace of its oldest route or
 * Ingress. `listeners` are the ids of the listeners of the scope. TLSRoutes take part with their host names, if
 * they have any.
 */
export function createOwnedClaims(): (
  all: AllClaims,
  listeners: ReadonlySet<string>,
  ingressOwners: HostOwners,
) => OwnedClaims {
  const reduceHttp = createReduction<RoutePlan>(() => true, pathsOfRoutes);
  const reduceL4 = createReduction<L4Plan>(isName, () => [""]);
  return ({ claims, l4Claims }, listeners, ingressOwners) => {
    const routeOwners = new Map<string, HostOwner>();
    for (const id of listeners) {
      for (const one of claims.get(id)?.values ?? []) addOwners(routeOwners, one);
      for (const one of l4Claims.get(id)?.values ?? []) if (isName(one)) addOwners(routeOwners, one);
    }
    const ownerOf: HostOwners = (host) => olderOf(ingressOwners(host), routeOwners.get(host));
    /** Losses by object and message, so that a host of several listeners is reported as lost only once. */
    const losses = new Map<string, Loss>();
    const lost = new Map<string, LostHost[]>();
    const leave = <Plan extends CommonPlan>(all: Claims<Plan>, reduce: Reduction<Plan>): Claims<Plan> => {
      const left = new Map(all);
      for (const id of listeners) {
        const hosts = new Map<string, ClaimedHost<Plan> | undefined>();
        let isReduced = false;
        for (const one of all.get(id)?.values ?? []) {
          const owner = ownerOf(one.host.host);
          const reduced = owner && reduce(one, owner);
          hosts.set(one.host.host, reduced === undefined ? one : reduced.host);
          if (owner === undefined || reduced === undefined) continue;
          isReduced = true;
          const loss = { listener: id, host: one.host.host, owner };
          for (const loser of reduced.losers) addTo(lost, formatRef(loser), loss);
          for (const reported of reduced.losses)
            losses.set(`${formatRef(reported.event.object)} ${reported.event.message}`, reported);
        }
        if (isReduced) left.set(id, sortEntries(hosts));
      }
      return left;
    };
    return {
      claims: leave(claims, reduceHttp),
      l4Claims: leave(l4Claims, reduceL4),
      owners: (host) => routeOwners.get(host),
      isTaken: ({ id, hostname }) => {
        const owner = ownerOf(hostname.host);
        return owner?.object.kind === "Ingress" && owner.namespace !== namespaceOf(id);
      },
      lost,
      diagnostics: Array.from(losses.values(), ({ finding }) => finding),
      events: Array.from(losses.values(), ({ event }) => event),
    };
  };
}

/** Returns the claims that the owner of a host keeps; undefined if it keeps all of them. */
type Reduction<Plan> = (one: ClaimedHost<Plan>, owner: HostOwner) => ReducedHost<Plan> | undefined;

/** Remembers the remaining claims of a host until the host or its owner changes. */
function createReduction<Plan extends CommonPlan>(
  isOwnable: (one: ClaimedHost<Plan>) => boolean,
  pathsOf: (plan: Plan) => readonly string[],
): Reduction<Plan> {
  type Known = { readonly key: string; readonly left: ReducedHost<Plan> | undefined };
  const known = new WeakMap<ClaimedHost<Plan>, Known>();
  return (one, owner) => {
    if (!isOwnable(one)) return undefined;
    const key = `${owner.namespace} ${owner.object.kind} ${owner.object.name}`;
    const last = known.get(one);
    if (last?.key === key) return last.left;
    const left = leaveToOwner(one, owner, pathsOf);
    known.set(one, { key, left });
    return left;
  };
}

/** Whether a host can be owned. Only TLSRoutes have host names; connections for any other name have no owner. */
const isName = ({ host: { kind }, claims }: ClaimedHost<L4Plan>): boolean =>
  kind !== "any" && claims.every(({ plan }) => plan.kind === "TLSRoute");

function addTo(lost: Map<string, LostHost[]>, route: string, host: LostHost): void {
  const hosts = lost.get(route);
  if (hosts === undefined) lost.set(route, [host]);
  else hosts.push(host);
}

/** The namespace in the id of a listener, `<Kind>/<namespace>/<name>/<listener>`. */
const namespaceOf = (id: string): string | undefined => id.split("/")[1];

function addOwners(owners: Map<string, HostOwner>, { host, claims }: ClaimedHost<CommonPlan>): void {
  for (const { plan } of claims) {
    const owner = { object: plan.ref, namespace: plan.ref.namespace ?? "", age: plan.age };
    owners.set(host.host, olderOf(owners.get(host.host), owner) ?? owner);
  }
}

type ReducedHost<Plan> = {
  /** The host with the remaining claims; undefined if none remain. */
  readonly host: ClaimedHost<Plan> | undefined;
  /** The routes that lose their claims to the host. */
  readonly losers: readonly ObjectRef[];
  readonly losses: readonly Loss[];
};

type Loss = { readonly finding: Diagnostic; readonly event: DesiredEvent };

/** The number of characters up to which a message shows a path in full. */
const maxShownPath = 500;

function leaveToOwner<Plan extends CommonPlan>(
  one: ClaimedHost<Plan>,
  owner: HostOwner,
  pathsOf: (plan: Plan) => readonly string[],
): ReducedHost<Plan> | undefined {
  const isOwn = ({ plan }: Claim<Plan>): boolean => plan.ref.namespace === owner.namespace;
  const own = one.claims.filter(isOwn);
  if (own.length === one.claims.length) return undefined;
  const others = one.claims.filter((claim) => !isOwn(claim)).map(({ plan }) => plan);
  return {
    host: own.length === 0 ? undefined : { ...one, claims: own },
    losers: others.map(({ ref }) => ref),
    losses: others.flatMap((plan) =>
      pathsOf(plan).map((path) =>
        lossOf(plan.ref, `Route on host ${one.host.host}${path} is shadowed by ${nameOf(owner.object)}`),
      ),
    ),
  };
}

const pathsOfRoutes = ({ routes }: RoutePlan): readonly string[] =>
  Array.from(
    new Set(routes.map(({ route }) => route.match.path.value)),
    (path) => ` path ${path.length > maxShownPath ? quote(path) : path}`,
  );

const lossOf = (object: ObjectRef, message: string): Loss => ({
  finding: routeConflict({ object, field: "spec.hostnames" }, message),
  event: routeConflictEvent(object, message),
});
