/** The standard filter ExternalAuth (GEP-1494), read as a check by a service. See docs/features/ext-auth.md. */
import type { ExternalCheck } from "@svc-gateway/common/features/ext-auth.ts";
import { maxCheckedBodyBytes } from "@svc-gateway/common/features/ext-auth.ts";
import { isPathText } from "@svc-gateway/common/features/path-modifier.ts";
import type { HTTPRouteRuleFilterExternalAuth as Written } from "../../../api/generated/httproute.ts";
import type { ConditionReason } from "../../condition.ts";
import { routeFieldIgnored } from "../../diagnostics/gateway.ts";
import { defaultAuthTimeoutMs, defaultClientHeaders } from "../../features/ext-auth.ts";
import { usableNames } from "../../features/usable-names.ts";
import { quote } from "../../text.ts";
import { resolveBackendRef } from "../routes/backend-ref.ts";
import type { FilterContext } from "./filter-context.ts";

/** Returns the check, or the reason why the filter cannot be applied: `unresolved` if its reference is at fault. */
export function readExternalAuthFilter(
  written: Written | undefined,
  { view, allowExternalName, kind, namespace, level, place, findings }: FilterContext,
):
  | { readonly check: ExternalCheck }
  | { readonly unresolved: ConditionReason }
  | { readonly unsupported: ConditionReason } {
  const unsupported = (message: string) => ({ unsupported: { reason: "UnsupportedValue", message } });
  if (level === "backend") return unsupported("Filter ExternalAuth is not supported on a backend");
  if (written === undefined) return unsupported("An ExternalAuth filter names no service");
  const { protocol, backendRef, http, grpc, forwardBody } = written;
  const isGrpc = protocol === "GRPC";
  const options = { view, allowExternalName, isGrpc, use: "checks" } as const;
  const { backend, endpointRef, refusal } = resolveBackendRef(backendRef, { kind, namespace }, options);
  if (refusal !== undefined) return { unresolved: refusal };
  if (endpointRef === undefined || backend.endpoints === undefined) {
    return unsupported("An ExternalAuth filter names no service");
  }
  const pathPrefix = http?.path?.replace(/\/+$/, "") ?? "";
  if (!isGrpc && !isPathPrefix(pathPrefix)) {
    return unsupported(`The path ${quote(pathPrefix)} of an ExternalAuth filter is not a valid path`);
  }
  findings.endpointRefs.push(endpointRef);
  const ignored: string[] = [];
  const names = (list: readonly string[] = [], field: string): readonly string[] | undefined =>
    list.length === 0 ? undefined : usableNames(list, field, ignored);
  const allowedHeaders = isGrpc
    ? names(grpc?.allowedHeaders, "grpc.allowedHeaders")
    : [...new Set(["authorization", ...(names(http?.allowedHeaders, "http.allowedHeaders") ?? [])])];
  const allowedResponseHeaders = isGrpc
    ? undefined
    : names(http?.allowedResponseHeaders, "http.allowedResponseHeaders");
  const maxBodyBytes = Math.min(forwardBody?.maxSize ?? 0, maxCheckedBodyBytes);
  if ((forwardBody?.maxSize ?? 0) > maxBodyBytes) {
    ignored.push(`forwardBody.maxSize is more than ${maxCheckedBodyBytes}; ${maxCheckedBodyBytes} applies`);
  }
  for (const message of ignored) findings.diagnostics.push(routeFieldIgnored(place, message));
  return {
    check: {
      endpoints: backend.endpoints,
      protocol: backend.protocol,
      api: isGrpc ? "grpc" : "http",
      timeoutMs: defaultAuthTimeoutMs,
      failClosed: true,
      ...(allowedHeaders !== undefined && { allowedHeaders: [...allowedHeaders] }),
      ...(allowedResponseHeaders !== undefined && { allowedResponseHeaders: [...allowedResponseHeaders] }),
      clientResponseHeaders: defaultClientHeaders.map((name) => name.toLowerCase()),
      ...(!isGrpc && pathPrefix !== "" && { pathPrefix }),
      ...(maxBodyBytes > 0 && { maxBodyBytes }),
    },
  };
}

const isPathPrefix = (text: string): boolean => text === "" || (text.startsWith("/") && isPathText(text));
