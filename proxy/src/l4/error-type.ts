import type { UpstreamError } from "../upstream/upstream-errors.ts";

/** Returns the label `error_type` of `svc_proxy_upstream_errors_total` for a failed connect below HTTP. */
export function errorTypeOf({
  kind,
}: Pick<UpstreamError, "kind">): "refused" | "connect" | "timeout" | "tls" | "other" {
  if (kind === "own-port") return "other";
  if (kind === "refused" || kind === "tls") return kind;
  return kind === "connect-timeout" ? "timeout" : "connect";
}
