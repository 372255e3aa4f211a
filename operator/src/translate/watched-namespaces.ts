/** Selects the part of a world that `--watch-namespace` includes. See docs/routing.md, "Namespaces". */
import type { KindName } from "../api/kinds.ts";
import type { KubeObject } from "../api/object.ts";
import type { World } from "../world.ts";
import { memo } from "./incremental/memo.ts";

/** The kinds that route or configure by themselves. What these refer to may be in any namespace that permits it. */
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

/** Whether objects of this namespace are served; an empty list of namespaces means all of them. */
export function namespaceFilter(namespaces: readonly string[]): (namespace: string) => boolean {
  if (namespaces.length === 0) return () => true;
  const watched = new Set(namespaces);
  return (namespace) => watched.has(namespace);
}

/** Whether an object is left out because of its namespace. */
export const isLeftOut = ({ kind, metadata }: KubeObject, namespaces: readonly string[]): boolean =>
  restrictedKinds.has(kind) && !namespaceFilter(namespaces)(metadata.namespace ?? "");

/** The world without what is left out; lists that stay the same keep their identity. */
export function createWorldFilter(namespaces: readonly string[]): (world: World) => World {
  if (namespaces.length === 0) return (world) => world;
  const isWatched = namespaceFilter(namespaces);
  const watchedOf = memo((list: readonly KubeObject[]) =>
    list.filter(({ metadata }) => isWatched(metadata.namespace ?? "")),
  );
  return (world) => ({
    ...world,
    // Each list holds a part of what it held.
    ...(Object.fromEntries(restricted.map((kind) => [kind, watchedOf(world[kind])])) as Partial<World>),
  });
}
