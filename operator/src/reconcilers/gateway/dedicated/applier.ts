import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { KubeObject } from "../../../api/object.ts";
import { type ApiClient, describeApiError } from "../../../sources/kubernetes/api-client.ts";
import {
  fingerprintOf,
  gatewayOf,
  pathOfProvisioned,
  type Provisioned,
  type ProvisionedObjects,
} from "../../../sources/kubernetes/provisioned-objects.ts";
import type { Manifest } from "../../../translate/gateway/dedicated/plan.ts";
import { controllerAnnotation } from "../../../translate/gateway/names.ts";
import { memo } from "../../../translate/incremental/memo.ts";
import { fieldManager } from "../../../write/status-writer.ts";
import type { Notes } from "../notes.ts";
import { deleteForNewClusterIp } from "../service-address.ts";

export type ApplierOptions = {
  readonly client: ApiClient;
  readonly controllerName: string;
  readonly provisioned: Pick<ProvisionedObjects, "get">;
  readonly refusals: Pick<Notes<string>, "set">;
  /** Messages about objects that have another owner, by Gateway (`namespace/name`), for its status. */
  readonly taken: Pick<Notes<string>, "set">;
};

/** Applies objects, except those that are known to be up to date. */
export type Applier = {
  /** Applies the objects in their order and stops at the first failure. */
  apply(objects: readonly Manifest[], signal: AbortSignal): Promise<Result<string>>;
};

/** The manifest that was last applied and a fingerprint of the resulting object. */
type Applied = { readonly wanted: string; readonly fingerprint: string };

/** The largest number of remembered objects; a forgotten object is only applied once more. */
const maxKnown = 20_000;

type ManagedDeployment = {
  readonly metadata: {
    readonly managedFields?: readonly {
      readonly manager?: string;
      readonly fieldsV1?: { readonly "f:spec"?: object };
    }[];
  };
  readonly spec: { readonly replicas?: number };
};

const ownsReplicas = ({ metadata }: ManagedDeployment): boolean =>
  metadata.managedFields?.some(
    ({ manager, fieldsV1 }) => manager === fieldManager && "f:replicas" in (fieldsV1?.["f:spec"] ?? {}),
  ) === true;

/**
 * Uses server-side apply, which does not modify fields that are not set here. The API server adds defaults to objects,
 * so its response is remembered instead of comparing field by field: an object that equals the response is up to date.
 */
export function createApplier({
  client,
  controllerName,
  provisioned,
  refusals,
  taken,
}: ApplierOptions): Applier {
  const known = new Map<string, Applied>();
  const textOf = memo((manifest: Manifest) => JSON.stringify(manifest));

  const applyOne = async (manifest: Manifest, signal: AbortSignal): Promise<Result<string>> => {
    const { kind, metadata } = manifest;
    const { namespace, name } = metadata;
    const path = pathOfProvisioned({ kind, namespace, name });
    const wanted = textOf(manifest);
    let present = provisioned.get({ kind, namespace, name });
    if (present !== undefined && !isOurs(present, manifest)) return refuseTaken(manifest);
    const last = known.get(path);
    if (present !== undefined && last?.wanted === wanted && last.fingerprint === fingerprintOf(present)) {
      return ok("unchanged");
    }
    if (present === undefined) {
      const found = await client.call<Provisioned>(path, { signal });
      if (!found.ok && found.error.status !== 404) return problem(describeApiError(found.error));
      if (found.ok && !isOurs(found.value, manifest)) return refuseTaken(manifest);
      present = found.ok ? found.value : undefined;
    }
    if (kind === "Service") {
      const refused = await deleteForNewClusterIp(client, manifest, present, signal);
      if (!refused.ok) return refused;
      refusals.set(gatewayOf(manifest) ?? "", refused.value);
      // The status has the reason; another attempt would be rejected as well.
      if (refused.value !== undefined) return ok("refused");
    }
    if (kind === "Deployment" && present !== undefined && manifest.spec?.["replicas"] === undefined) {
      const kept = await keepReplicas(manifest, signal);
      if (!kept.ok) return kept;
    }
    const applied = await client.call<KubeObject>(path, {
      method: "PATCH",
      patch: "apply",
      query: { fieldManager, force: true },
      body: manifest,
      signal,
    });
    if (!applied.ok) return problem(`${kind} ${namespace}/${name}: ${describeApiError(applied.error)}`);
    if (known.size >= maxKnown) known.clear();
    known.set(path, { wanted, fingerprint: fingerprintOf({ ...applied.value, kind }) });
    return ok(present === undefined ? "created" : "updated");
  };

  /**
   * Keeps the number of replicas of a Deployment that is scaled by an autoscaler. While this controller is the only
   * owner of the field, omitting it would reset it to one.
   */
  const keepReplicas = async (manifest: Manifest, signal: AbortSignal): Promise<Result<string>> => {
    const { apiVersion, kind, metadata } = manifest;
    const { namespace, name } = metadata;
    const path = pathOfProvisioned({ kind, namespace, name });
    const found = await client.call<ManagedDeployment>(path, { signal });
    if (!found.ok) return found.error.status === 404 ? ok("gone") : problem(describeApiError(found.error));
    const { replicas } = found.value.spec;
    if (!ownsReplicas(found.value)) return ok("unchanged");
    const applied = await client.call(path, {
      method: "PATCH",
      patch: "apply",
      query: { fieldManager: `${fieldManager}-scale`, force: true },
      body: { apiVersion, kind, metadata: { namespace, name }, spec: { replicas } },
      signal,
    });
    return applied.ok ? ok("updated") : problem(describeApiError(applied.error));
  };

  /** Refuses to write an object that belongs to another owner, known or not. */
  const refuseTaken = (manifest: Manifest): Result<string> => {
    const { kind, metadata } = manifest;
    const message = `${kind} ${metadata.namespace}/${metadata.name} exists but was not created for this Gateway; it is left unchanged`;
    taken.set(gatewayOf(manifest) ?? "", message);
    return problem(message);
  };

  const isOurs = (present: Provisioned, manifest: Manifest): boolean =>
    present.metadata.annotations?.[controllerAnnotation] === controllerName &&
    present.metadata.ownerReferences?.some(({ uid }) => uid === manifest.metadata.ownerReferences[0]?.uid) ===
      true;

  return {
    async apply(objects, signal) {
      let outcome = "unchanged";
      for (const object of objects) {
        const applied = await applyOne(object, signal);
        if (!applied.ok) return applied;
        if (applied.value !== "unchanged") outcome = applied.value;
      }
      const [first] = objects;
      if (first !== undefined) taken.set(gatewayOf(first) ?? "", undefined);
      return ok(outcome);
    },
  };
}
