import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { type ApiClient, type ApiError, describeApiError } from "../../sources/kubernetes/api-client.ts";
import { fieldManager } from "../../write/status-writer.ts";

/** A Service that is to be applied, as far as its address goes. */
export type AddressedService = {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec?: { readonly clusterIP?: unknown };
};

type Present = {
  readonly metadata: { readonly uid?: string };
  readonly spec?: { readonly clusterIP?: string };
};

/** The API server's reason for refusing an address; undefined when it grants it, or when that is not known. */
export type AddressRefusal = string | undefined;

const collectionOf = ({ metadata: { namespace } }: AddressedService): string =>
  `/api/v1/namespaces/${namespace}/services`;

/**
 * Makes a cluster IP possible. The cluster IP of a Service cannot be changed, so the Service is deleted and created
 * again with the new address, but only after a dry run has shown that the API server grants it. The value is its
 * refusal.
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

/** A Service of the same name would be refused for its name. */
const trialName = (name: string): string => `${name.slice(0, 55).replace(/-+$/, "")}-address`;

/** 422: the address is outside the range of the cluster or already in use. */
const isRefusal = ({ status }: ApiError): boolean => status === 422;
