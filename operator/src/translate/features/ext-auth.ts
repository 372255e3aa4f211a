import { extAuth, type ExtAuth } from "@svc-gateway/common/features/ext-auth.ts";
import { mayBeIdentityHeader } from "@svc-gateway/common/features/header-modifier.ts";
import { parseDuration } from "@svc-gateway/common/values/duration.ts";
import { formatNamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { protocolOf, tcpPortsOf } from "../backends/service-port.ts";
import { describeProblem, protectionUnavailable, resourcePartlyIgnored } from "../diagnostics.ts";
import { quote } from "../text.ts";
import type { AnnotationReader } from "./annotation-reader.ts";
import type { FeatureContext } from "./context.ts";
import { resolveProtection } from "./reference.ts";

const defaultTimeoutMs = 2_000;

/** Who is asked whether a request may pass; absent: nobody. See docs/features/ext-auth.md. */
export function translateExtAuth(read: AnnotationReader, context: FeatureContext): ExtAuth | undefined {
  const definition = extAuth.annotations.extAuth;
  const resource = resolveProtection("SvcExternalAuth", definition, read, context);
  if (resource === undefined) return undefined;
  if (resource === "unavailable") return {};
  const named = `SvcExternalAuth ${formatNamespacedName(resource.metadata)}`;
  const { spec } = resource;
  const unavailable = (why: string): ExtAuth => {
    const text = `${named} cannot be used: ${why}`;
    context.announce(definition, (place) => protectionUnavailable(place, text, definition.fallback));
    return {};
  };
  if (spec.protocol !== "HTTP")
    return unavailable(`the protocol ${spec.protocol} is not part of this release yet`);
  if ((spec.forwardBody?.maxSize ?? 0) > 0) return unavailable("forwardBody is not part of this release yet");
  const target = findService(resource, context);
  if (typeof target === "string") return unavailable(target);
  context.need(target);
  const warn = (message: string): void =>
    context.report(definition, (place) => resourcePartlyIgnored(place, `${named}: ${message}`));
  const usable = (names: readonly string[]): string[] =>
    names
      .filter(
        (name) =>
          mayBeIdentityHeader(name) || warn(`the header ${quote(name)} cannot be passed on and is left out`),
      )
      .map((name) => name.toLowerCase());
  return {
    check: {
      endpoints: target.name,
      protocol: protocolOf(target.port),
      timeoutMs: readTimeout(spec.timeout, warn),
      failClosed: spec.failClosed !== false,
      allowedHeaders: usable(spec.allowedHeaders ?? ["Authorization"]),
      allowedResponseHeaders: usable(spec.allowedResponseHeaders ?? []),
    },
  };
}

/** The port of the Service, or why it cannot be asked. */
function findService(
  { metadata, spec }: ObjectOf<"SvcExternalAuth">,
  { lookup, permits }: FeatureContext,
): Parameters<FeatureContext["need"]>[0] | string {
  const { name, namespace = metadata.namespace, port: number } = spec.backendRef;
  const key = `${namespace}/${name}`;
  const from = { kind: "SvcExternalAuth", namespace: metadata.namespace } as const;
  if (!permits(from, { kind: "Service", namespace, name })) {
    return `no ReferenceGrant permits a reference from it to Service ${key}`;
  }
  const service = lookup("Service", namespace, name);
  if (service === undefined) return `Service ${key} does not exist`;
  if (service.spec?.type === "ExternalName") return `Service ${key} is of type ExternalName`;
  const port = tcpPortsOf(service).find((one) => one.port === number);
  if (port === undefined) return `Service ${key} has no TCP port ${number}`;
  return { name: `${key}/${port.port}`, key, service, port };
}

function readTimeout(text: string | undefined, warn: (message: string) => void): number {
  if (text === undefined) return defaultTimeoutMs;
  const parsed = parseDuration(text);
  if (parsed.ok) return parsed.value === 0 ? defaultTimeoutMs : parsed.value;
  warn(`the timeout ${describeProblem(parsed.error)}; it is 2s`);
  return defaultTimeoutMs;
}
