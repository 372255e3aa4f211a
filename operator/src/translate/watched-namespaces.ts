/** Selects the part of a World that `--watch-namespace` includes. See docs/routing.md, "Namespaces". */
import type { KindName } from "../api/kinds.ts";
import type { KubeObject } from "../api/object.ts";
import type { World } from "../world.ts";
import { memo } from "./incremental/memo.ts";

/**
 * The kinds that route or configure on their own. Objects that these refer to can be in any namespace that
 * permits it.
 */
const restricted = [
  "Ingress",
  "Gateway",
  "ListenerSet",
  "HTTPRoute",
  "GRPCRoute",
  "TLSRoute",
  "TCPRoute",
  "UDPRoute",
  "BackendTLSPolicy",
  "SvcBackendPolicy",
  "ClientTrafficPolicy",
] as const satisfies readonly KindName[];

const restrictedKinds: ReadonlySet<string> = new Set(restricted);

/** Whether objects of a namespace are served. An empty list of namespaces means all of them. */
export function namespaceFilter(namespaces: readonly string[]): (namespace: string) => boolean {
  if (namespaces.length === 0) return () => true;
  const watched = new Set(namespaces);
  return (namespace) => watched.has(namespace);
}

/** Whether an object is not served because of its namespace. */
export const isLeftOut = ({ kind, metadata }: KubeObject, namespaces: readonly string[]): boolean =>
  restrictedKinds.has(kind) && !namespaceFilter(namespaces)(metadata.namespace ?? "");

/** Returns the World without objects that are not served. Unchanged lists keep their identity. */
export function createWorldFilter(namespaces: readonly string[]): (world: World) => World {
  if (namespaces.length === 0) return (world) => world;
  const isWatched = namespaceFilter(namespaces);
  const watchedOf = memo((list: readonly KubeObject[]) =>
    list.filter(({ metadata }) => isWatched(metadata.namespace ?? "")),
  );
  return (world) => ({
    ...world,
    // Each list is a part of the original one.
    ...(Object.fromEntries(restricted.map((kind) => [kind, watchedOf(world[kind])])) as Partial<World>),
  });
}
