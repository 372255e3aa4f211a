/** What the API server holds at one moment, as a controller would read it: for commands that look once and follow nothing. */
import type { Result } from "@svc-gateway/common/values/result.ts";
import type { KindName } from "../../api/kinds.ts";
import { nameOf, refOf, type KubeObject } from "../../api/object.ts";
import type { ApiClient, ApiError } from "./api-client.ts";
import { pathInNamespace, type InstalledKind } from "./installed-kinds.ts";
import { listCollection } from "./reflector.ts";
import { watchesOf, type Watched, type WatchedOptions } from "./watched.ts";

/** A collection that could not be read. */
export type UnreadCollection = {
  readonly kind: KindName;
  /** Undefined: that of all namespaces. */
  readonly namespace: string | undefined;
  readonly error: ApiError;
};

export type ClusterListing = {
  /** Reduced to what a controller holds of them. */
  readonly objects: readonly KubeObject[];
  readonly unread: readonly UnreadCollection[];
};

export type ClusterListingOptions = Omit<WatchedOptions, "ownSecrets"> & {
  readonly client: Pick<ApiClient, "call">;
  readonly kinds: readonly InstalledKind[];
  readonly signal: AbortSignal;
};

/** Lists that run at a time: an API server counts all requests of a user together. */
const maxRunning = 4;

/** Lists the kinds with the selections of a controller; a collection that cannot be read is named, and the rest is read. */
export async function listCluster(options: ClusterListingOptions): Promise<ClusterListing> {
  const { client, kinds, signal } = options;
  const waiting = kinds.flatMap((installed) => watchesOf(installed, { ...options, ownSecrets: [] }));
  const objects = new Map<string, KubeObject>();
  const unread: UnreadCollection[] = [];
  const listOne = async (watched: Watched): Promise<void> => {
    const { kind, selection } = watched;
    const listed = await listWatched(watched, client, signal);
    if (!listed.ok) unread.push({ kind, namespace: selection.namespace, error: listed.error });
    // One Secret may be in several selections.
    else for (const object of listed.value.objects) objects.set(`${kind} ${nameOf(refOf(object))}`, object);
  };
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await listOne(next);
  };
  await Promise.all(Array.from({ length: maxRunning }, work));
  return { objects: [...objects.values()], unread };
}

const listWatched = (
  { installed, selection: { namespace, ...selectors }, reduce }: Watched,
  client: Pick<ApiClient, "call">,
  signal: AbortSignal,
): Promise<Result<{ readonly objects: readonly KubeObject[] }, ApiError>> =>
  listCollection({
    client,
    ...installed,
    ...(namespace !== undefined && { path: pathInNamespace(installed, namespace) }),
    ...selectors,
    reduce,
    signal,
  });
