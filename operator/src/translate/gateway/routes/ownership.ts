/** What is left of the hosts of Gateways for their owners. See docs/routing.md, "Who owns a host". */
import { sortEntries } from "@svc-gateway/common/ir/sorted-entries.ts";
import { formatRef, nameOf, type ObjectRef } from "../../../api/object.ts";
import { routeConflict } from "../../diagnostics.ts";
import { routeConflictEvent } from "../../events.ts";
import type { DesiredEvent, Diagnostic } from "../../finding.ts";
import type { FindingsList } from "../../incremental/findings-list.ts";
import { olderOf, type HostOwner, type HostOwners } from "../../ownership.ts";
import { quote } from "../../text.ts";
import type { Listener } from "../listeners/gateways.ts";
import type { Claim, ClaimedHost, ClaimsOfListener } from "../scopes/host-tables.ts";
import type { LostHost, LostHosts } from "../status/lost-hosts.ts";
import type { RoutePlan } from "./route-plan.ts";

type Claims = ReadonlyMap<string, ClaimsOfListener<RoutePlan>>;

export type OwnedClaims = FindingsList & {
  readonly claims: Claims;
  /** The oldest routes that name hosts. */
  readonly owners: HostOwners;
  /** Whether the host of a listener belongs to an Ingress of another namespace, so that its requests are not the listener's. */
  readonly isTaken: (listener: Listener) => boolean;
  readonly lost: LostHosts;
};

/**
 * Takes from every host of one scope what routes of other namespaces than that of its oldest route or Ingress have there.
 * `listeners` are the ids of those of the scope.
 */
export function createOwnedClaims(): (
  all: Claims,
  listeners: ReadonlySet<string>,
  ingressOwners: HostOwners,
) => OwnedClaims {
  const known = new WeakMap<ClaimedHost<RoutePlan>, { readonly key: string; readonly left: ReducedHost }>();
  const reduce = (one: ClaimedHost<RoutePlan>, owner: HostOwner): ReducedHost => {
    const key = `${owner.namespace} ${owner.object.kind} ${owner.object.name}`;
    const last = known.get(one);
    if (last?.key === key) return last.left;
    const left = leaveToOwner(one, owner);
    known.set(one, { key, left });
    return left;
  };
  return (all, listeners, ingressOwners) => {
    const routeOwners = oldestRoutes(all, listeners);
    const ownerOf: HostOwners = (host) => olderOf(ingressOwners(host), routeOwners.get(host));
    const claims = new Map(all);
    /** A host of several listeners is lost once. */
    const losses = new Map<string, Loss>();
    const lost = new Map<string, LostHost[]>();
    for (const id of listeners) {
      const hosts = new Map<string, ClaimedHost<RoutePlan> | undefined>();
      let isReduced = false;
      for (const one of all.get(id)?.values ?? []) {
        const owner = ownerOf(one.host.host);
        const left = owner === undefined ? { host: one, losers: [], losses: [] } : reduce(one, owner);
        isReduced ||= left.host !== one;
        hosts.set(one.host.host, left.host);
        if (owner !== undefined) {
          const loss = { listener: id, host: one.host.host, owner };
          for (const loser of left.losers) addTo(lost, formatRef(loser), loss);
        }
        for (const loss of left.losses)
          losses.set(`${formatRef(loss.event.object)} ${loss.event.message}`, loss);
      }
      if (isReduced) claims.set(id, sortEntries(hosts));
    }
    return {
      claims,
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

function addTo(lost: Map<string, LostHost[]>, route: string, host: LostHost): void {
  const hosts = lost.get(route);
  if (hosts === undefined) lost.set(route, [host]);
  else hosts.push(host);
}

/** Of a listener: `<Kind>/<namespace>/<name>/<listener>`. */
const namespaceOf = (id: string): string | undefined => id.split("/")[1];

function oldestRoutes(all: Claims, listeners: ReadonlySet<string>): ReadonlyMap<string, HostOwner> {
  const owners = new Map<string, HostOwner>();
  for (const id of listeners) {
    for (const { host, claims } of all.get(id)?.values ?? []) {
      for (const { plan } of claims) {
        const owner = { object: plan.ref, namespace: plan.ref.namespace ?? "", age: plan.age };
        owners.set(host.host, olderOf(owners.get(host.host), owner) ?? owner);
      }
    }
  }
  return owners;
}

type ReducedHost = {
  /** Undefined: nothing is left. */
  readonly host: ClaimedHost<RoutePlan> | undefined;
  /** The routes that get nothing of it. */
  readonly losers: readonly ObjectRef[];
  readonly losses: readonly Loss[];
};

type Loss = { readonly finding: Diagnostic; readonly event: DesiredEvent };

/** Characters of a path in a message. */
const maxShownPath = 500;

function leaveToOwner(one: ClaimedHost<RoutePlan>, owner: HostOwner): ReducedHost {
  const isOwn = ({ plan }: Claim<RoutePlan>): boolean => plan.ref.namespace === owner.namespace;
  const own = one.claims.filter(isOwn);
  if (own.length === one.claims.length) return { host: one, losers: [], losses: [] };
  const losers = one.claims.filter((claim) => !isOwn(claim)).map(({ plan }) => plan.ref);
  const losses = one.claims
    .filter((claim) => !isOwn(claim))
    .flatMap(({ plan }) => {
      const paths = new Set(plan.routes.map(({ route }) => route.match.path.value));
      return [...paths].map((path) =>
        lossOf(
          plan.ref,
          `Route on host ${one.host.host} path ${path.length > maxShownPath ? quote(path) : path} is shadowed by ${nameOf(owner.object)}`,
        ),
      );
    });
  return {
    host: own.length === 0 ? undefined : { ...one, claims: own },
    losers,
    losses,
  };
}

const lossOf = (object: ObjectRef, message: string): Loss => ({
  finding: routeConflict({ object, field: "spec.hostnames" }, message),
  event: routeConflictEvent(object, message),
});
