import type { Retry } from "@svc-gateway/common/features/retry.ts";
import type { HTTPRouteRuleRetry } from "../../../api/generated/httproute.ts";
import { readRetrySpec } from "../../features/retry.ts";

/** Reads the retries of a rule (GEP-1731), which are those of a RetryPolicy with `attempts` defaulting to 1. */
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
