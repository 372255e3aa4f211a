import { ok, type Result } from "@svc-gateway/common/values/result.ts";
import { definitionOf, kindNames, type KindName } from "../../api/kinds.ts";
import type { ApiClient, ApiError } from "./api-client.ts";

/** A kind that the API server serves, and where. */
export type InstalledKind = {
  readonly kind: KindName;
  readonly apiVersion: string;
  /** Path of its collection over all namespaces. */
  readonly path: string;
};

type ResourceList = { readonly resources?: readonly { readonly name: string }[] };

/**
 * Asks the API server which of the kinds that we read it serves, each in the version we prefer among those served.
 * A kind that is missing is simply not in the answer; a server that cannot be asked is an error.
 */
export async function findInstalledKinds(
  client: ApiClient,
): Promise<Result<readonly InstalledKind[], ApiError>> {
  const served = new Map<string, ReadonlySet<string>>();
  const found: InstalledKind[] = [];
  for (const kind of kindNames) {
    const { group, versions, plural } = definitionOf(kind);
    for (const version of versions) {
      const apiVersion = group === "" ? version : `${group}/${version}`;
      const base = group === "" ? `/api/${version}` : `/apis/${apiVersion}`;
      let names = served.get(base);
      if (names === undefined) {
        const asked = await resourcesAt(client, base);
        if (!asked.ok) return asked;
        served.set(base, (names = asked.value));
      }
      if (!names.has(plural)) continue;
      found.push({ kind, apiVersion, path: `${base}/${plural}` });
      break;
    }
  }
  return ok(found);
}

/** Plural names of a group version; none when the server does not know it. */
async function resourcesAt(client: ApiClient, base: string): Promise<Result<ReadonlySet<string>, ApiError>> {
  const answer = await client.call<ResourceList>(base);
  if (!answer.ok) return answer.error.status === 404 ? ok(new Set()) : answer;
  return ok(new Set((answer.value.resources ?? []).map(({ name }) => name)));
}
