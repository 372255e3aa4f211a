import { backoffMs, type Backoff } from "@svc-gateway/common/time/backoff.ts";
import { sleep, systemClock } from "@svc-gateway/common/time/clock.ts";
import { ok, type Result } from "@svc-gateway/common/values/result.ts";
import { definitionOf, kindNames, type KindName } from "../../api/kinds.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { type ApiClient, type ApiError, describeApiError } from "./api-client.ts";
import { createOutageLog } from "./outage-log.ts";

/** A kind that the API server serves, with its version and path. */
export type InstalledKind = {
  readonly kind: KindName;
  readonly apiVersion: string;
  /** The path of its collection over all namespaces. */
  readonly path: string;
};

type ResourceList = { readonly resources?: readonly { readonly name: string }[] };

/**
 * Returns the kinds that we read and that the API server serves, each in the version that we prefer among those served.
 * A missing kind is absent from the result; a failed request is an error.
 */
export async function findInstalledKinds(
  client: Pick<ApiClient, "call">,
  signal?: AbortSignal,
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
        const asked = await resourcesAt(client, base, signal);
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

const waits = { firstMs: 500, maxMs: 5_000 } as const satisfies Backoff;

const ownGroup = /\.svc-labs\.dev$/;
/**
 * The longest wait for our own kinds. Definitions that were created together with the controller are served a moment
 * later.
 */
const ownKindsLimitMs = 30_000;

export type WaitForKindsOptions = {
  readonly client: ApiClient;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** How long our own kinds are awaited after the first response, in milliseconds. */
  readonly ownKindsMs?: number;
};

/**
 * Repeats the request until the API server responds and serves our own kinds, which Helm creates a moment before the
 * controller starts: a kind that is missing now is not watched. After `ownKindsMs` the controller continues without the
 * missing kinds. Returns undefined if the signal aborts before.
 */
export async function waitForInstalledKinds({
  client,
  signal,
  log,
  ownKindsMs = ownKindsLimitMs,
}: WaitForKindsOptions): Promise<readonly InstalledKind[] | undefined> {
  const outage = createOutageLog(log, "API server");
  let answeredMs: number | undefined;
  for (let attempt = 1; !signal.aborted; attempt++) {
    const found = await findInstalledKinds(client, signal);
    if (found.ok) {
      outage.works();
      const missing = missingOwnKinds(found.value);
      if (missing.length === 0) return found.value;
      answeredMs ??= performance.now();
      if (performance.now() - answeredMs >= ownKindsMs) {
        log.warn({ kinds: missing }, "custom resource definitions are missing; these kinds are not watched");
        return found.value;
      }
    } else if (!signal.aborted) {
      outage.failed({ error: describeApiError(found.error) });
    }
    await sleep(systemClock, backoffMs(waits, attempt), signal);
  }
  return undefined;
}

function missingOwnKinds(found: readonly InstalledKind[]): readonly KindName[] {
  const present = new Set(found.map(({ kind }) => kind));
  return kindNames.filter((kind) => ownGroup.test(definitionOf(kind).group) && !present.has(kind));
}

/** The plural names of a group version; empty if the server does not know it. */
async function resourcesAt(
  client: Pick<ApiClient, "call">,
  base: string,
  signal: AbortSignal | undefined,
): Promise<Result<ReadonlySet<string>, ApiError>> {
  const answer = await client.call<ResourceList>(base, signal === undefined ? {} : { signal });
  if (!answer.ok) return answer.error.status === 404 ? ok(new Set()) : answer;
  return ok(new Set((answer.value.resources ?? []).map(({ name }) => name)));
}

/** The path of the collection of a kind in one namespace. */
export function pathInNamespace({ path, kind }: InstalledKind, namespace: string): string {
  const { plural } = definitionOf(kind);
  return `${path.slice(0, -plural.length)}namespaces/${namespace}/${plural}`;
}

/** The path of one object of a kind, named `namespace/name`, or `name` for cluster-scoped kinds. */
export function pathOfObject(installed: InstalledKind, name: string): string {
  const [namespace = "", objectName] = name.split("/");
  return objectName === undefined
    ? `${installed.path}/${name}`
    : `${pathInNamespace(installed, namespace)}/${objectName}`;
}
