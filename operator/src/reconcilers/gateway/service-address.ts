import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { type ApiClient, type ApiError, describeApiError } from "../../sources/kubernetes/api-client.ts";
import { fieldManager } from "../../write/status-writer.ts";

/** The address fields of a Service that will be applied. */
export type AddressedService = {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec?: { readonly clusterIP?: unknown };
};

type Present = {
  readonly metadata: { readonly uid?: string };
  readonly spec?: { readonly clusterIP?: string };
};

/** The API server's reason for refusing an address; undefined if it grants the address or has not decided. */
export type AddressRefusal = string | undefined;

const collectionOf = ({ metadata: { namespace } }: AddressedService): string =>
  `/api/v1/namespaces/${namespace}/services`;

/**
 * Prepares a Service for another cluster IP. The cluster IP of a Service cannot be changed, so the Service must be
 * deleted and created again. It is deleted only after a dry run has shown that the API server grants the new address.
 * Returns the reason if it refuses.
 */
export async function deleteForNewClusterIp(
  client: Pick<ApiClient, "call">,
  service: AddressedService,
  present: Present | undefined,
  signal: AbortSignal,
): Promise<Result<AddressRefusal>> {
  const wanted = service.spec?.clusterIP;
  if (wanted === undefined || present?.spec?.clusterIP === wanted) return ok(undefined);
  const { name } = service.metadata;
  const asked = await client.call(collectionOf(service), {
    method: "POST",
    query: { fieldManager, dryRun: "All" },
    body: { ...service, metadata: { ...service.metadata, name: trialName(name) } },
    signal,
  });
  if (!asked.ok)
    return isRefusal(asked.error) ? ok(asked.error.message) : problem(describeApiError(asked.error));
  if (present === undefined) return ok(undefined);
  const deleted = await client.call(`${collectionOf(service)}/${name}`, {
    method: "DELETE",
    body: { preconditions: { uid: present.metadata.uid } },
    signal,
  });
  return deleted.ok || deleted.error.status === 404
    ? ok(undefined)
    : problem(describeApiError(deleted.error));
}

/** The name of the Service in the dry run; the same name would be refused as already existing. */
const trialName = (name: string): string => `${name.slice(0, 55).replace(/-+$/, "")}-address`;

/** Whether the address was refused. 422 means that it is outside the range of the cluster or already in use. */
const isRefusal = ({ status }: ApiError): boolean => status === 422;
