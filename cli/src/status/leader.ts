/** Determines the leader of the controllers, which is the only replica that writes statuses. */
import { describeApiError } from "@svc-gateway/operator/sources/kubernetes/api-client.ts";
import type { ReadOnlyClient } from "../live/connect.ts";
import type { LiveController } from "../live/controller.ts";
import { error, type StatusProblem } from "./problem.ts";

export type LeaderStatus = {
  /** The pod of the leader; absent if there is none, or it is not known. */
  readonly leader?: string;
  readonly renewedAt?: string;
  /** The reason why the leader is not known. */
  readonly unknown?: string;
  readonly problems: readonly StatusProblem[];
};

type Lease = {
  readonly spec?: { readonly holderIdentity?: string | null; readonly renewTime?: string | null };
};

const leaseName = "svc-leader-lock";

/** Reads the Lease of the controllers. */
export async function readLeader(
  client: ReadOnlyClient,
  { namespace, settings }: LiveController,
  nowMs: number,
): Promise<LeaderStatus> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${leaseName}`;
  const found = await client.call<Lease>(path);
  const subject = `Lease ${namespace}/${leaseName}`;
  if (!found.ok && found.error.status === 404) {
    return { problems: [error(subject, "does not exist: no replica leads, so no status is written")] };
  }
  if (!found.ok) {
    const why =
      found.error.status === 403
        ? `this user may not get leases.coordination.k8s.io in namespace ${namespace}`
        : describeApiError(found.error);
    return { unknown: why, problems: [] };
  }
  const { holderIdentity, renewTime } = found.value.spec ?? {};
  if (!holderIdentity || !renewTime) {
    return { problems: [error(subject, "has no holder: no replica leads, so no status is written")] };
  }
  const isStale = nowMs - Date.parse(renewTime) > settings.controllerLeaseTtlMs;
  return {
    leader: holderIdentity,
    renewedAt: renewTime,
    problems: isStale
      ? [error(subject, `was last renewed by ${holderIdentity} at ${renewTime}: no replica leads`)]
      : [],
  };
}
