/** Lists the objects of a live cluster, in the form into which a folder of manifests is read. */
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { definitionOf, kindOf, type KindName, type KnownObject } from "@svc-gateway/operator/api/kinds.ts";
import { effectOfInvalid } from "@svc-gateway/operator/api/stand-in.ts";
import { nameOf, refOf, type KubeObject } from "@svc-gateway/operator/api/object.ts";
import {
  validateObject,
  type InvalidObject,
  type SchemaProblem,
} from "@svc-gateway/operator/api/validate.ts";
import type { ObjectKey } from "@svc-gateway/operator/sources/files/document.ts";
import type { FileState } from "@svc-gateway/operator/sources/files/file-state.ts";
import { emptyFolder, joinFiles } from "@svc-gateway/operator/sources/files/folder-state.ts";
import type { Place } from "@svc-gateway/operator/sources/files/place.ts";
import { describeApiError } from "@svc-gateway/operator/sources/kubernetes/api-client.ts";
import {
  listCluster,
  type ClusterListing,
  type UnreadCollection,
} from "@svc-gateway/operator/sources/kubernetes/cluster-listing.ts";
import {
  findInstalledKinds,
  type InstalledKind,
} from "@svc-gateway/operator/sources/kubernetes/installed-kinds.ts";
import { instead } from "@svc-gateway/operator/sources/kubernetes/instead-of-invalid.ts";
import { declaredPart } from "@svc-gateway/operator/sources/kubernetes/object-parts.ts";
import { planWatches } from "@svc-gateway/operator/sources/kubernetes/watch-plan.ts";
import type { ReadFolder } from "../translate-folder.ts";
import { assumeSecrets } from "./assumed-secrets.ts";
import type { LiveCluster } from "./connect.ts";
import { fileOf, textOfObject } from "./object-text.ts";

export type ReadClusterOptions = {
  /** The namespaces to read; undefined for all of them. */
  readonly namespaces: readonly string[] | undefined;
  readonly disableIngress: boolean;
  readonly disableGatewayApi: boolean;
  /** Whether cluster-scoped objects are not read; `assumed` objects replace them. */
  readonly disableClusterScope?: boolean;
  readonly assumed?: readonly KubeObject[];
  /** Whether Secrets of type Opaque are read even without a label, as Ingresses of ingress-nginx require. */
  readonly readsPlainSecrets: boolean;
  readonly nowMs: number;
  readonly signal: AbortSignal;
};

/**
 * A cluster in the form of a folder of manifests, with one file for each object. `read` returns the text of a manifest,
 * without the data of Secrets.
 */
export type LiveFolder = ReadFolder & {
  /** The kinds that a controller would watch. */
  readonly kinds: readonly InstalledKind[];
  /** All listed objects, in the form in which a controller holds them, and the assumed ones. */
  readonly objects: readonly KubeObject[];
  /** Returns the status of an object of the world, as stored in the API server. */
  readonly statusOf: (object: KubeObject) => unknown;
  /** One sentence for each assumption by which the result differs from the cluster. */
  readonly notes: readonly string[];
};

/**
 * Lists everything that a controller reads. Secrets that the user may not read are assumed. Fails with one line for
 * each other kind that cannot be read.
 */
export async function readCluster(
  { client }: Pick<LiveCluster, "client">,
  options: ReadClusterOptions,
): Promise<Result<LiveFolder, readonly string[]>> {
  const installed = await findInstalledKinds(client, options.signal);
  if (!installed.ok) return fail([`the API server cannot be asked: ${describeApiError(installed.error)}`]);
  const { kinds } = planWatches(installed.value, { disableClusterScope: false, ...options });
  const listing = await listCluster({ client, kinds, ...options });
  const isSecret = ({ kind, error }: UnreadCollection): boolean =>
    kind === "Secret" && (error.status === 401 || error.status === 403);
  const failures = listing.unread.filter((one) => !isSecret(one));
  if (failures.length > 0) return fail(failures.map(describeUnread));
  const { objects: known, notes } = await withAssumed(listing, options);
  const objects = [...known, ...(options.assumed ?? [])];
  const held = new Map<string, KubeObject>();
  const files = objects.map((object) => {
    const file = fileOf(object);
    held.set(file, object);
    return readObject(object, { file, line: 1, column: 1 });
  });
  const read = (file: string): Promise<string> => {
    const object = held.get(file);
    return Promise.resolve(object === undefined ? "" : textOfObject(object));
  };
  const statusOf = (object: KubeObject): unknown =>
    (held.get(fileOf(object)) as { readonly status?: unknown } | undefined)?.status;
  return ok({ state: joinFiles(files, [], emptyFolder), read, kinds, objects, statusOf, notes });
}

async function withAssumed(
  { objects, unread }: ClusterListing,
  { nowMs }: ReadClusterOptions,
): Promise<{ readonly objects: readonly KubeObject[]; readonly notes: readonly string[] }> {
  if (unread.length === 0) return { objects, notes: [] };
  const namespaces = new Set(unread.map(({ namespace }) => namespace));
  const known = new Set(objects.filter(({ kind }) => kind === "Secret").map((one) => nameOf(refOf(one))));
  const assumed = await assumeSecrets(objects, {
    isUnread: (namespace) => namespaces.has(undefined) || namespaces.has(namespace),
    isKnown: (name) => known.has(name),
    nowMs,
  });
  const named = [...namespaces].filter((one) => one !== undefined);
  const where = namespaces.has(undefined) ? "" : ` of ${named.toSorted().join(", ")}`;
  const note = `Secrets${where} may not be listed by this user: those that objects name are assumed to exist and to be valid`;
  return { objects: [...objects, ...assumed], notes: [note] };
}

/** Reads one object like a controller that starts: an invalid object is replaced by a stand-in, or omitted. */
function readObject(given: KubeObject, place: Place): FileState {
  const ref = refOf(given);
  const declared = declaredPart(given);
  const valid = validateObject(declared);
  if (valid.ok) {
    const { object } = valid.value;
    return {
      objects: [{ key: keyOf(given), ref, object, place, state: "current" }],
      problems: [],
      ignored: [],
    };
  }
  const { line, column } = place;
  // A running controller that knows an earlier valid version still uses that, which is not visible from here.
  const standIn = instead(declared, valid.error, undefined) as KnownObject | undefined;
  const effect = effectOfInvalid(standIn, false);
  const problems = problemsOf(valid.error).map(({ path, message }) => ({
    ...place,
    severity: "error" as const,
    reason: "InvalidObject" as const,
    message: `${path === "" ? message : `${path}: ${message}`}; ${effect}`,
    ...(path !== "" && { field: path }),
    manifest: { line, column },
    object: ref,
  }));
  const key = keyOf(given);
  const objects =
    standIn === undefined ? [] : [{ key, ref, object: standIn, place, state: "stand-in" as const }];
  return { objects, problems, ignored: [] };
}

const problemsOf = (error: InvalidObject): readonly SchemaProblem[] =>
  error.reason === "unknown-kind" ? [{ path: "", message: `unknown kind ${error.kind}` }] : error.problems;

function keyOf(object: KubeObject): ObjectKey {
  const { kind, namespace = "", name } = refOf(object);
  const known = kindOf(object.apiVersion, kind) as KindName;
  return `${definitionOf(known).group}/${kind}/${namespace}/${name}` as ObjectKey;
}

function describeUnread({ kind, namespace, error }: UnreadCollection): string {
  const { plural, group } = definitionOf(kind);
  const resource = group === "" ? plural : `${plural}.${group}`;
  const where = namespace === undefined ? "" : ` in namespace ${namespace}`;
  return error.status === 403
    ? `this user may not list ${resource}${where}: expected the rights in docs/cli.md, "Rights"`
    : `${resource}${where} cannot be listed: ${describeApiError(error)}`;
}
