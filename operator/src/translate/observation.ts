import type { Observation } from "@svc-gateway/common/ir/observation.ts";
import { readFieldChoice } from "@svc-gateway/common/values/access-field-choice.ts";
import type { ObjectRef } from "../api/object.ts";
import { invalidObservation } from "./diagnostics/references.ts";
import type { Diagnostic } from "./finding.ts";

/** The settings of a resource for logs and traces of requests. */
type Wishes = {
  readonly accessLog?: boolean | undefined;
  readonly fields?: readonly string[] | undefined;
  readonly tracing?: { readonly enabled?: boolean; readonly ratio?: number } | undefined;
};

/** The names of the fields of the resource that contain the settings. */
type WishFields = { readonly fields: string };

/**
 * Reads the settings of a resource for logs and traces of requests, without invalid ones; undefined if there
 * are none.
 */
export function readObservation(
  object: ObjectRef,
  names: WishFields,
  { accessLog, fields = [], tracing }: Wishes,
): { readonly observation: Observation | undefined; readonly diagnostics: readonly Diagnostic[] } {
  const choice = readFieldChoice(fields);
  const observation: Observation = {
    ...(accessLog === false && { accessLog }),
    ...(choice.ok && choice.value.length > 0 && { fields: choice.value }),
    ...(tracing?.enabled === false
      ? { tracing: false }
      : tracing?.ratio !== undefined && { tracing: { ratio: tracing.ratio } }),
  };
  return {
    observation: Object.keys(observation).length === 0 ? undefined : observation,
    diagnostics: choice.ok
      ? []
      : [
          invalidObservation(
            { object, field: names.fields },
            choice.error,
            "lines have the fields of --access-log-fields",
          ),
        ],
  };
}
