import type { Retry } from "@svc-gateway/common/features/retry.ts";
import type { HTTPRouteRuleRetry } from "../../../api/generated/httproute.ts";
import { readRetrySpec } from "../../features/retry.ts";

/** The retries of a rule (GEP-1731): those of a RetryPolicy, with one attempt more unless it says how many. */
export function readRetry(
  written: HTTPRouteRuleRetry | undefined,
  warn: (message: string) => void,
): Retry | undefined {
  if (written === undefined) return undefined;
  const { value, refused } = readRetrySpec({ ...written, attempts: written.attempts ?? 1 }, "");
  for (const message of refused) warn(message);
  if (value === undefined) return undefined;
  const { grpcCodes: _, ...http } = value;
  return http;
}
