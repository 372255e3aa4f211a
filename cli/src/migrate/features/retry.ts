/** Writes the conditions for sending a request to another endpoint. */
import { policy, type FeatureWriter } from "../written.ts";
import { durationText } from "./limits.ts";

export const writeRetry: FeatureWriter<"retry"> = (
  { attempts, codes, backoffMs, conditions, everyMethod, withinMs },
  { define, namespace, route },
) => {
  const isHttp2 = route.backends.some(({ protocol }) => protocol === "http2");
  const spec = {
    attempts,
    codes,
    // An empty list, because some gRPC statuses are retried by default.
    ...(isHttp2 && { grpcCodes: [] }),
    ...(backoffMs !== undefined && { backoff: durationText(backoffMs) }),
    ...(conditions !== undefined && { conditions }),
    ...(everyMethod === true && { everyMethod }),
    ...(withinMs !== undefined && { within: durationText(withinMs) }),
  };
  return { annotations: { retry: `${namespace}/${define(policy("RetryPolicy", spec))}` } };
};
