/**
 * Lists the objects of an API server at one moment, as a controller would read them, for commands that read once and do
 * not watch.
 */
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
  /** The namespace of the collection; undefined for all namespaces. */
  readonly namespace: string | undefined;
  readonly error: ApiError;
};

export type ClusterListing = {
  /** The objects, reduced to the parts that a controller holds. */
  readonly objects: readonly KubeObject[];
  readonly unread: readonly UnreadCollection[];
};

export type ClusterListingOptions = Omit<WatchedOptions, "ownSecrets"> & {
  readonly client: Pick<ApiClient, "call">;
  readonly kinds: readonly InstalledKind[];
  readonly signal: AbortSignal;
};

/** The largest number of concurrent lists: an API server counts all requests of a user together. */
const maxRunning = 4;

/**
 * Lists the kinds with the selections of a controller. A collection that cannot be read is reported in `unread`, and
 * the others are still read.
 */
export async function listCluster(options: ClusterListingOptions): Promise<ClusterListing> {
  const { client, kinds, signal } = options;
  const waiting = kinds.flatMap((installed) => watchesOf(installed, { ...options, ownSecrets: [] }));
  const objects = new Map<string, KubeObject>();
  const unread: UnreadCollection[] = [];
  const listOne = async (watched: Watched): Promise<void> => {
    const { kind, selection } = watched;
    const listed = await listWatched(watched, client, signal);
    if (!listed.ok) unread.push({ kind, namespace: selection.namespace, error: listed.error });
    // One Secret can match several selections.
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
