import {
  closedService,
  extAuth,
  type ExtAuth,
  type ExternalCheck,
} from "@svc-gateway/common/features/ext-auth.ts";
import { mayBeClientHeader } from "@svc-gateway/common/features/header-modifier.ts";
import { parseDuration } from "@svc-gateway/common/values/duration.ts";
import { formatNamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { protocolOf, tcpPortsOf, type EndpointRef } from "../backends/service-port.ts";
import { describeProblem } from "../diagnostics/define-finding.ts";
import { protectionUnavailable, resourcePartlyIgnored } from "../diagnostics/references.ts";
import type { View } from "../incremental/view.ts";
import type { AnnotationReader } from "./annotation-reader.ts";
import type { FeatureContext } from "./context.ts";
import { readHttpSettings } from "./ext-auth-http.ts";
import { readUrlCheck } from "./ext-auth-url.ts";
import { usableNames } from "./usable-names.ts";
import { resolveProtection } from "./reference.ts";

/** The timeout of a service whose resource sets none, in milliseconds. */
export const defaultAuthTimeoutMs = 2_000;

/**
 * The headers of an admitting response that are passed on to clients by default, so that services can renew
 * sessions.
 */
export const defaultClientHeaders: readonly string[] = ["Set-Cookie"];

/** The service that authorizes requests; undefined for none. See docs/features/ext-auth.md. */
export function translateExtAuth(read: AnnotationReader, context: FeatureContext): ExtAuth | undefined {
  const definition = extAuth.annotations.extAuth;
  const resource = resolveProtection("SvcExternalAuth", definition, read, context);
  if (resource === undefined) return undefined;
  if (resource === "invalid") return closedService;
  if (resource === "unavailable") return [{}];
  const named = `SvcExternalAuth ${formatNamespacedName(resource.metadata)}`;
  const { asked, endpointRef, ignored } = readExternalAuth(resource, context);
  for (const message of ignored) {
    context.report(definition, (place) => resourcePartlyIgnored(place, `${named}: ${message}`));
  }
  if (!asked.ok) {
    const text = `${named} cannot be used: ${asked.error.message}`;
    context.reportWithEvent(definition, (place) => protectionUnavailable(place, text, definition.fallback));
    return [{}];
  }
  if (endpointRef !== undefined) context.useEndpoints(endpointRef);
  return [asked.value];
}

export type ReadExternalAuth = {
  /** The check of each request, or the reason why the service cannot be used. */
  readonly asked: Result<ExtAuth[number]>;
  readonly endpointRef?: EndpointRef;
  /** Values that are not used as written, each as a sentence. */
  readonly ignored: readonly string[];
};

/** Reads a SvcExternalAuth, for annotations, filters and Gateways alike. */
export function readExternalAuth(
  resource: ObjectOf<"SvcExternalAuth">,
  view: Pick<View, "lookup" | "permits">,
): ReadExternalAuth {
  const { spec } = resource;
  const ignored: string[] = [];
  const timeoutMs = readTimeout(spec.timeout, ignored);
  if (spec.http?.url !== undefined) return { ...readUrlCheck(resource, timeoutMs, view, ignored), ignored };
  const target = findAuthService(resource, view);
  if (!target.ok) return { asked: target, ignored };
  const http = readHttpSettings(spec, resource, ignored);
  if (!http.ok) return { asked: http, ignored };
  const isGrpc = spec.protocol === "GRPC";
  const allowedHeaders = spec.allowedHeaders ?? (isGrpc ? undefined : ["Authorization"]);
  const maxBodyBytes = spec.forwardBody?.maxSize ?? 0;
  const check: ExternalCheck = {
    endpoints: target.value.name,
    protocol: isGrpc ? "http2" : protocolOf(target.value.port),
    api: isGrpc ? "grpc" : "http",
    timeoutMs,
    failClosed: spec.failClosed !== false,
    ...(allowedHeaders !== undefined && {
      allowedHeaders: usableNames(allowedHeaders, "spec.allowedHeaders", ignored),
    }),
    allowedResponseHeaders: usableNames(
      spec.allowedResponseHeaders ?? [],
      "spec.allowedResponseHeaders",
      ignored,
    ),
    clientResponseHeaders: usableNames(
      spec.clientResponseHeaders ?? defaultClientHeaders,
      "spec.clientResponseHeaders",
      ignored,
      mayBeClientHeader,
    ),
    ...(maxBodyBytes > 0 && { maxBodyBytes }),
    ...http.value,
  };
  return { asked: ok({ check }), endpointRef: target.value, ignored };
}

/** Returns the port of the Service that a SvcExternalAuth names, or the reason why it cannot be used. */
export function findAuthService(
  { metadata, spec }: ObjectOf<"SvcExternalAuth">,
  { lookup, permits }: Pick<View, "lookup" | "permits">,
): Result<EndpointRef> {
  if (spec.backendRef === undefined) return problem("it names neither a backendRef nor a URL");
  const { name, namespace = metadata.namespace, port: number } = spec.backendRef;
  const key = `${namespace}/${name}`;
  const from = { kind: "SvcExternalAuth", namespace: metadata.namespace } as const;
  if (!permits(from, { kind: "Service", namespace, name })) {
    return problem(`no ReferenceGrant permits a reference from it to Service ${key}`);
  }
  const service = lookup("Service", namespace, name);
  if (service === undefined) return problem(`Service ${key} does not exist`);
  if (service.spec?.type === "ExternalName") return problem(`Service ${key} is of type ExternalName`);
  const port = tcpPortsOf(service).find((one) => one.port === number);
  if (port === undefined) return problem(`Service ${key} has no TCP port ${number}`);
  return ok({ name: `${key}/${port.port}`, key, service, port, uses: ["checks"] });
}

function readTimeout(text: string | undefined, ignored: string[]): number {
  if (text === undefined) return defaultAuthTimeoutMs;
  const parsed = parseDuration(text);
  if (parsed.ok) return parsed.value === 0 ? defaultAuthTimeoutMs : parsed.value;
  ignored.push(`spec.timeout: ${describeProblem(parsed.error)}; 2s applies`);
  return defaultAuthTimeoutMs;
}
