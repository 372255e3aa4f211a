import { parseTimeout, type Timeouts } from "@svc-gateway/common/features/timeouts.ts";
import type { HTTPRouteRuleTimeouts } from "../../../api/generated/httproute.ts";
import { describeProblem } from "../../diagnostics/define-finding.ts";

/** Reads the timeouts of a rule (GEP-1742). Zero disables a timeout, even where the proxy has a default. */
export function readTimeouts(
  written: HTTPRouteRuleTimeouts | undefined,
  warn: (message: string) => void,
): Timeouts | undefined {
  if (written === undefined) return undefined;
  const read = (name: "request" | "backendRequest"): number | undefined => {
    const text = written[name];
    if (text === undefined) return undefined;
    const parsed = parseTimeout(text);
    if (parsed.ok) return parsed.value;
    warn(`${name}: ${describeProblem(parsed.error)}; this timeout is not set`);
    return undefined;
  };
  const requestTimeoutMs = read("request");
  const backendTimeoutMs = read("backendRequest");
  return {
    replacesDefaults: true,
    ...(requestTimeoutMs !== undefined && { requestTimeoutMs }),
    ...(backendTimeoutMs !== undefined && { backendTimeoutMs }),
  };
}
