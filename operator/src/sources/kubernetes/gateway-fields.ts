import { createListeners } from "@svc-gateway/common/collections/listeners.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { sleep, systemClock, type Clock } from "@svc-gateway/common/time/clock.ts";
import { definitionOf } from "../../api/kinds.ts";
import type { OptionalField } from "../../translate/gateway/status/supported-features.ts";
import { type ApiClient, type ApiError, describeApiError } from "./api-client.ts";
import { createOutageLog } from "./outage-log.ts";

/** The optional fields that the installed definitions of the Gateway API have. */
export type GatewayFields = {
  /** Whether the definitions have a field; false while that is not known. */
  has(field: OptionalField): boolean;
  /**
   * Whether the API server has returned the definitions or has denied access to them. If access is denied, no field
   * counts as installed.
   */
  isKnown(): boolean;
  /** Calls the listener when a result of `has` or `isKnown` may have changed. */
  subscribe(listener: () => void): () => void;
  /** Resolves after the signal has aborted. */
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
/** The path of the OpenAPI document, which every authenticated client may read (role `system:discovery`). */
const documentPath = `/openapi/v3/apis/${group}/${version}`;

/** The interval between reads: definitions are rarely replaced, and the document is about a megabyte. */
const refreshMs = 5 * 60_000;
/** The interval after a failure, and while the document has no definition. */
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
 * Reads the OpenAPI document of the Gateway API every few minutes. The last known fields are kept while it cannot be
 * read. See docs/gateway-api.md, "Classes".
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
  /** Reads the document once and returns the time until the next read, in milliseconds. */
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
    // A newly created definition is missing from the document for a moment.
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

/** Whether the API server refused the request for good: a repeated request would get the same response. */
const isRefusal = ({ status }: ApiError): boolean => status >= 400 && status < 500 && status !== 429;

/** Returns the definitions in the version of the document, by kind. */
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
