import { retry, type Retry } from "@svc-gateway/common/features/retry.ts";
import { parseDuration } from "@svc-gateway/common/values/duration.ts";
import { formatNamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { describeProblem } from "../diagnostics/define-finding.ts";
import { resourceFieldIgnored } from "../diagnostics/references.ts";
import { memo } from "../incremental/memo.ts";
import type { AnnotationReader } from "./annotation-reader.ts";
import type { FeatureContext } from "./context.ts";
import { resolveReference } from "./reference.ts";

/** The retries of failed requests of an Ingress; undefined for none. See docs/features/retry.md. */
export function translateRetry(read: AnnotationReader, context: FeatureContext): Retry | undefined {
  const definition = retry.annotations.retry;
  const resource = resolveReference("RetryPolicy", definition, read, context);
  if (resource === undefined) return undefined;
  const { value, refused } = readRetryPolicy(resource);
  const named = `RetryPolicy ${formatNamespacedName(resource.metadata)}`;
  for (const what of refused) context.report(definition, (place) => resourceFieldIgnored(place, named, what));
  if (value === undefined) return undefined;
  // gRPC codes apply to GRPCRoutes only.
  const { grpcCodes: _, ...http } = value;
  return http;
}

/** The data of a RetryPolicy, including `grpcCodes`, and sentences about values that are ignored. */
type ReadPolicy = { readonly value: Retry | undefined; readonly refused: readonly string[] };

const defaultCodes = [502, 503, 504];
const defaultGrpcCodes = [14];

/** Reads a policy, once for all routes that use it. The value is undefined if the policy requests no retries. */
export const readRetryPolicy = memo(({ spec }: ObjectOf<"RetryPolicy">): ReadPolicy =>
  readRetrySpec(spec, "spec."),
);

/** Reads the fields of a policy. `at` is the path that precedes them in messages. */
export function readRetrySpec(spec: ObjectOf<"RetryPolicy">["spec"], at: string): ReadPolicy {
  const { attempts = 0, codes = defaultCodes, backoff, grpcCodes = defaultGrpcCodes } = spec;
  const refused: string[] = [];
  if (attempts < 0) refused.push(`${at}attempts ${attempts} is negative; failed requests are not retried`);
  const http = codesWithin(codes, 100, 599);
  if (http.refused !== undefined) {
    refused.push(`${at}codes holds ${http.refused}, expected statuses from 100 to 599; it is ignored`);
  }
  const grpc = codesWithin(grpcCodes, 1, 16);
  if (grpc.refused !== undefined) {
    refused.push(`${at}grpcCodes holds ${grpc.refused}, expected statuses from 1 to 16; it is ignored`);
  }
  const wait = backoff === undefined ? undefined : parseDuration(backoff);
  if (wait !== undefined && !wait.ok) {
    refused.push(`${at}backoff: ${describeProblem(wait.error)}; retries are sent without a wait`);
  }
  if (attempts <= 0) return { value: undefined, refused };
  const backoffMs = wait?.ok === true && wait.value > 0 ? wait.value : undefined;
  const withinMs = readWithin(spec.within, at, refused);
  const { conditions, everyMethod } = spec;
  return {
    value: {
      attempts,
      codes: http.codes,
      ...(backoffMs !== undefined && { backoffMs }),
      grpcCodes: grpc.codes,
      ...(conditions !== undefined && { conditions: inOrder(conditions) }),
      ...(conditions !== undefined && everyMethod === true && { everyMethod }),
      ...(withinMs !== undefined && { withinMs }),
    },
    refused,
  };
}

type Condition = NonNullable<Retry["conditions"]>[number];

const allConditions: readonly Condition[] = ["error", "timeout", "invalid-response"];

/** The conditions in a fixed order, so that equal settings have equal forms. */
const inOrder = (written: readonly Condition[]): Condition[] =>
  allConditions.filter((one) => written.includes(one));

/** Reads `within`. Zero counts as absent. */
function readWithin(text: string | undefined, at: string, refused: string[]): number | undefined {
  if (text === undefined) return undefined;
  const parsed = parseDuration(text);
  if (parsed.ok) return parsed.value > 0 ? parsed.value : undefined;
  refused.push(`${at}within: ${describeProblem(parsed.error)}; attempts may begin at any time`);
  return undefined;
}

/** The codes within a range, sorted and without duplicates, and the first code outside it. */
function codesWithin(
  codes: readonly number[],
  min: number,
  max: number,
): { readonly codes: number[]; readonly refused: number | undefined } {
  const isInside = (code: number): boolean => code >= min && code <= max;
  const inside = new Set(codes.filter(isInside));
  return {
    codes: [...inside].sort((a, b) => a - b),
    refused: codes.find((code) => !isInside(code)),
  };
}
