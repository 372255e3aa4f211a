import { createListeners } from "@svc-gateway/common/collections/listeners.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { sleep, systemClock, type Clock } from "@svc-gateway/common/time/clock.ts";
import { definitionOf } from "../../api/kinds.ts";
import type { OptionalField } from "../../translate/gateway/status/supported-features.ts";
import { type ApiClient, type ApiError, describeApiError } from "./api-client.ts";
import { createOutageLog } from "./outage-log.ts";

/** Which optional fields the definitions of the Gateway API have that are installed. */
export type GatewayFields = {
  /** False also while it is not known. */
  has(field: OptionalField): boolean;
  /**
   * Whether the API server has returned the definitions, or has denied access to them: then no field counts as
   * installed.
   */
  isKnown(): boolean;
  /** Calls back when an answer may have changed. */
  subscribe(listener: () => void): () => void;
  /** Resolves after the signal. */
  readonly done: Promise<void>;
};

type Schema = {
  readonly properties?: { readonly [name: string]: Schema };
  readonly items?: Schema;
  readonly "x-kubernetes-group-version-kind"?: readonly {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
  }[];
};

type Document = { readonly components?: { readonly schemas?: { readonly [name: string]: Schema } } };

const { group, versions } = definitionOf("Gateway");
const version = versions[0] ?? "";
/** Every client that the API server knows may read it (role `system:discovery`). */
const documentPath = `/openapi/v3/apis/${group}/${version}`;

/** Definitions are replaced rarely, and the document is about a megabyte. */
const refreshMs = 5 * 60_000;
/** After a failure, and while there is no definition in the document. */
const retryMs = 10_000;

export type GatewayFieldsOptions = {
  readonly client: Pick<ApiClient, "call">;
  /** The fields to look for. */
  readonly fields: readonly OptionalField[];
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly clock?: Pick<Clock, "schedule">;
};

/**
 * Reads the OpenAPI document of the Gateway API every few minutes. What was known stays while it cannot be read. See
 * docs/gateway-api.md, "Classes".
 */
export function followGatewayFields(options: GatewayFieldsOptions): GatewayFields {
  const { client, fields, log, signal, clock = systemClock } = options;
  const outage = createOutageLog(log, "OpenAPI document", { path: documentPath });
  const listeners = createListeners();
  let present: ReadonlySet<OptionalField> | undefined;

  const settle = (next: ReadonlySet<OptionalField>): void => {
    const isSame = present?.size === next.size && [...next].every((field) => present?.has(field));
    if (isSame) return;
    present = next;
    listeners.notify();
  };
  /** The value is how long to wait until the next time, in milliseconds. */
  const read = async (): Promise<number> => {
    const answer = await client.call<Document>(documentPath, { signal });
    if (!answer.ok) {
      if (signal.aborted) return retryMs;
      outage.failed({ error: describeApiError(answer.error) });
      if (isRefusal(answer.error) && present === undefined) settle(new Set());
      return retryMs;
    }
    outage.works();
    const definitions = definitionsIn(answer.value);
    // A moment after a definition has been made it is in no document.
    if (!definitions.has("Gateway")) return retryMs;
    settle(new Set(fields.filter(({ kind, path }) => hasField(definitions.get(kind), path))));
    return refreshMs;
  };
  const run = async (): Promise<void> => {
    while (await sleep(clock, await read(), signal));
  };

  return {
    has: (field) => present?.has(field) === true,
    isKnown: () => present !== undefined,
    subscribe: listeners.subscribe,
    done: run(),
  };
}

/** Memoized: the same answer for the same question. */
const isRefusal = ({ status }: ApiError): boolean => status >= 400 && status < 500 && status !== 429;

/** By kind, in the version of the document. */
function definitionsIn({ components }: Document): ReadonlyMap<string, Schema> {
  const found = new Map<string, Schema>();
  for (const schema of Object.values(components?.schemas ?? {})) {
    for (const of of schema["x-kubernetes-group-version-kind"] ?? []) {
      if (of.group === group && of.version === version) found.set(of.kind, schema);
    }
  }
  return found;
}

function hasField(schema: Schema | undefined, path: readonly string[]): boolean {
  let at = schema;
  for (const name of path) at = (at?.items ?? at)?.properties?.[name];
  return at !== undefined;
}
