/** The size of routes in a snapshot, and the limit for those of one object. See docs/routing.md, "Size". */
import { Buffer } from "node:buffer";
import type { Route } from "@svc-gateway/common/ir/route.ts";

/**
 * The maximum number of bytes for the routes of one object on all of its hosts, listeners and ports. An object
 * of Kubernetes is smaller than 2 MiB, but a feature in it is repeated at each of its paths, hosts and
 * listeners: without a limit, one object could fill a snapshot, which all tenants share.
 */
export const maxRoutesBytes = 8 * 1024 * 1024;

/**
 * A number of routes that cannot reach the limit: no object can contain much more than a megabyte for one of them.
 */
const fewRoutes = 4;

/** The size of names and numbers of a route, besides the measured parts. */
const routeOverheadBytes = 120;

/** Whether `copies` of these routes exceed the limit of an object. */
export function areTooLarge(routes: readonly Route[], copies: number): boolean {
  return routes.length * copies > fewRoutes && sizeOfRoutes(routes) * copies > maxRoutesBytes;
}

/** The approximate size of routes as they are sent, in bytes. A part that several routes share is measured once. */
export function sizeOfRoutes(routes: readonly Route[]): number {
  const known = new Map<unknown, number>();
  const sizeOf = (part: unknown): number => {
    if (part === undefined) return 0;
    const before = known.get(part);
    if (before !== undefined) return before;
    const size = Buffer.byteLength(JSON.stringify(part));
    known.set(part, size);
    return size;
  };
  let bytes = 0;
  for (const { id, backends, features, source, ...rest } of routes) {
    bytes += routeOverheadBytes + id.length + source.name.length + source.namespace.length;
    for (const part of Object.values(rest)) bytes += sizeOf(part);
    for (const backend of backends) bytes += sizeOf(backend);
    for (const feature of Object.values(features ?? {})) bytes += sizeOf(feature);
  }
  return bytes;
}

/** The size of the name of a host and its fields other than routes, in bytes. */
export const hostOverheadBytes = 400;
