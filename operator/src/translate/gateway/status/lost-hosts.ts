/** The statuses of routes whose hosts belong to other namespaces. See docs/routing.md, "Who owns a host". */
import { formatRef, refOf } from "../../../api/object.ts";
import type { DesiredCondition } from "../../condition.ts";
import { haveSameItems } from "../../incremental/memo.ts";
import type { HostOwner } from "../../ownership.ts";
import { oneLine } from "../../text.ts";
import type { RouteStatus } from "./object-status.ts";

/** A host of a listener that a route loses to the host's owner. */
export type LostHost = { readonly listener: string; readonly host: string; readonly owner: HostOwner };

/** Lost hosts by the route, in the format of `formatRef`. */
export type LostHosts = ReadonlyMap<string, readonly LostHost[]>;

type Parent = RouteStatus["parents"][number];

/** Joins the lost hosts of several scopes. Each listener belongs to one scope. */
export const joinLost = (all: readonly LostHosts[]): LostHosts =>
  new Map(
    Array.from(
      Map.groupBy(
        all.flatMap((lost) => [...lost]),
        ([route]) => route,
      ),
      ([route, entries]) => [route, entries.flatMap(([, hosts]) => hosts)],
    ),
  );

/** The maximum number of hosts that a condition names. */
const maxNamed = 16;

/**
 * Adds the lost hosts to the statuses of routes. If a route loses every host at a parent, `Accepted` is False;
 * otherwise `PartiallyInvalid` is True. A status is the same value until its content changes.
 */
export function createLossStatuses(): (
  routes: readonly RouteStatus[],
  lost: LostHosts,
) => readonly RouteStatus[] {
  const known = new WeakMap<RouteStatus, { readonly key: string; readonly status: RouteStatus }>();
  let last: readonly RouteStatus[] = [];
  const withLostHosts = (status: RouteStatus, hosts: readonly LostHost[]): RouteStatus => {
    const key = hosts
      .map(({ listener, host, owner }) => `${listener} ${host} ${describeOwner(owner)}`)
      .join("\n");
    const before = known.get(status);
    if (before?.key === key) return before.status;
    const next = { ...status, parents: status.parents.map((parent) => withLosses(parent, hosts)) };
    known.set(status, { key, status: next });
    return next;
  };
  return (routes, lost) => {
    if (lost.size === 0) return routes;
    const next = routes.map((status) => {
      const hosts = lost.get(formatRef(refOf(status.object)));
      return hosts === undefined ? status : withLostHosts(status, hosts);
    });
    if (!haveSameItems(last, next)) last = next;
    return last;
  };
}

function withLosses(parent: Parent, all: readonly LostHost[]): Parent {
  const { conditions, places } = parent;
  const isLost = new Map(all.map((one) => [`${one.listener} ${one.host}`, one]));
  const here = places.flatMap(({ listener, host }) => isLost.get(`${listener} ${host}`) ?? []);
  if (!isAccepted(parent) || here.length === 0) return parent;
  const owners = new Map(here.map(({ host, owner }) => [host, describeOwner(owner)]));
  const named = Array.from(owners, ([host, owner]) => `${host} belongs to ${owner}`).slice(0, maxNamed);
  const rest = owners.size > maxNamed ? `, and ${owners.size - maxNamed} more` : "";
  const message = oneLine(`${named.join(", ")}${rest}`);
  const isWhole = here.length === places.length;
  const others = conditions.filter(({ type }) => type !== (isWhole ? "Accepted" : "PartiallyInvalid"));
  const partly = conditions.find(({ type }) => type === "PartiallyInvalid");
  const reason = "RouteConflict";
  const condition: DesiredCondition = isWhole
    ? { type: "Accepted", status: "False", reason, message: `Nothing is served at this parent: ${message}` }
    : {
        type: "PartiallyInvalid",
        status: "True",
        reason: partly?.reason ?? reason,
        message: `${partly === undefined ? "Dropped Rule for" : `${partly.message};`} hosts of other owners: ${message}`,
      };
  return {
    ...parent,
    conditions: isWhole
      ? [condition, ...others.filter(({ type }) => type !== "PartiallyInvalid")]
      : [...others, condition],
  };
}

const isAccepted = ({ conditions }: Parent): boolean =>
  conditions.some(({ type, status }) => type === "Accepted" && status === "True");

/**
 * Counts, by the id of the listener, the routes that are not attached to it because they lose every host at the
 * parents that contain it. `routes` are statuses with their losses.
 */
export function countLostRoutes(
  routes: readonly RouteStatus[],
  lost: LostHosts,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  if (lost.size === 0) return counts;
  for (const { object, parents } of routes) {
    if (!lost.has(formatRef(refOf(object)))) continue;
    const attached = new Set(parents.filter(isAccepted).flatMap(({ listeners }) => listeners));
    for (const listener of new Set(parents.flatMap(({ listeners }) => listeners))) {
      if (!attached.has(listener)) counts.set(listener, (counts.get(listener) ?? 0) + 1);
    }
  }
  return counts;
}

const describeOwner = ({ object }: HostOwner): string => formatRef(object);
