/** Bounds what the routes of one object may take in a snapshot. See docs/routing.md, "Size". */
import type { Route } from "@svc-gateway/common/ir/route.ts";

/**
 * Most bytes for the routes of one object on all of its hosts and listeners. An object of Kubernetes is smaller than
 * 2 MiB, but a feature that it writes once stands at each of its paths, on each of its hosts, and at each listener: without
 * a bound one object would fill the 64 MiB of a snapshot, which all tenants share.
 */
export const maxRoutesBytes = 8 * 1024 * 1024;

/** Fewer routes than these cannot come near the bound: no object can say much more than a megabyte about one of them. */
const fewRoutes = 4;

/** Names, marks and numbers of a route besides what is measured. */
const routeOverheadBytes = 120;

/** Whether so many copies of these routes take more than an object may have. */
export function areTooLarge(routes: readonly Route[], copies: number): boolean {
  return routes.length * copies > fewRoutes && sizeOfRoutes(routes) * copies > maxRoutesBytes;
}

/** About how many bytes routes take as they are sent. What several have in common is measured once. */
export function sizeOfRoutes(routes: readonly Route[]): number {
  const known = new Map<unknown, number>();
  const sizeOf = (part: unknown): number => {
    if (part === undefined) return 0;
    const before = known.get(part);
    if (before !== undefined) return before;
    const size = JSON.stringify(part).length;
    known.set(part, size);
    return size;
  };
  let bytes = 0;
  for (const { id, match, backends, features, source } of routes) {
    bytes += routeOverheadBytes + id.length + source.name.length + source.namespace.length;
    bytes += sizeOf(match);
    for (const backend of backends) bytes += sizeOf(backend);
    for (const feature of Object.values(features ?? {})) bytes += sizeOf(feature);
  }
  return bytes;
}
