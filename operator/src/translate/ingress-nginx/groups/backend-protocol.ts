/** The protocols of connections to backends. See docs/ingress-nginx.md, "Backends". */
import type { Backend } from "@svc-gateway/common/ir/route.ts";
import {
  findServicePort,
  unresolvedBackend,
  variantOf,
  type EndpointVariant,
} from "../../backends/service-port.ts";
import { unsupportedProtocol } from "../../diagnostics/ingress-nginx.ts";
import { connectionProxyHeader, proxyHttpVersion } from "../annotations/forwarding.ts";
import { sslPassthrough } from "../annotations/hosts.ts";
import { backendProtocol } from "../annotations/routing.ts";
import { readBackendTls } from "../backend-tls.ts";
import type { NginxReader } from "../reader.ts";
import type { Group, GroupContext } from "./group.ts";

type Protocol = "HTTP" | "HTTPS" | "AUTO_HTTP" | "GRPC" | "GRPCS" | "FCGI";

export const backendProtocols: Group = (read, context) => {
  const protocol = protocolOf(read, context);
  const tls = readBackendTls(read, context, usesTls(protocol));
  const closes = read(connectionProxyHeader) === "close" || read(proxyHttpVersion) === "1.0";
  if (protocol === "FCGI") refuseFastCgi(context);
  const variants = tls === undefined ? noVariants : createVariants(context, tls);
  return {
    backend(backend) {
      if (backend.endpoints === undefined || protocol === "FCGI") {
        return protocol === "FCGI" ? unserved(backend) : backend;
      }
      const spoken = protocol === undefined ? backend : { ...backend, protocol: versionOf(protocol) };
      const kept: Backend = closes ? { ...spoken, closes } : spoken;
      switch (protocol) {
        case "HTTPS":
        case "GRPCS":
          return { ...kept, endpoints: variants(backend.service, backend.endpoints) };
        case "AUTO_HTTP":
          return { ...kept, secureEndpoints: variants(backend.service, backend.endpoints) };
        default:
          return kept;
      }
    },
  };
};

/**
 * The protocol to use. As in ingress-nginx, `ssl-passthrough` without the flag for it terminates TLS and
 * connects to backends over TLS.
 */
function protocolOf(read: NginxReader, { nginx, differs }: GroupContext): Protocol | undefined {
  const protocol = read(backendProtocol);
  if (read(sslPassthrough) !== true || nginx.settings.sslPassthrough) return protocol;
  differs(
    sslPassthrough,
    "TLS is terminated and backends are connected to over TLS, because --ingress-nginx-ssl-passthrough is not set",
  );
  return protocol === undefined || protocol === "HTTP" ? "HTTPS" : protocol;
}

const usesTls = (protocol: Protocol | undefined): boolean =>
  protocol === "HTTPS" || protocol === "GRPCS" || protocol === "AUTO_HTTP";

const versionOf = (protocol: Protocol): Backend["protocol"] =>
  protocol === "GRPC" || protocol === "GRPCS" ? "http2" : "http1";

function refuseFastCgi(context: GroupContext): void {
  const text = "FastCGI is not served; every request to the paths of the Ingress is answered 503";
  context.report(backendProtocol, (place) => unsupportedProtocol(place, `${backendProtocol.name}: ${text}`), {
    outcome: "refused",
    text,
  });
}

/**
 * Closes the backend, like a path whose protection is not available: HTTP must not reach a FastCGI port, not
 * even after a migration.
 */
const unserved = ({ weight }: Backend): Backend => ({ ...unresolvedBackend(""), weight });

type ToVariant = (service: string, endpoints: string) => string;

const noVariants: ToVariant = (_, endpoints) => endpoints;

/** Returns the endpoint set of a Service port with these connection settings, and adds it to the used ones. */
function createVariants(
  { lookup, allowExternalName, useEndpoints }: GroupContext,
  tls: EndpointVariant,
): ToVariant {
  const known = new Map<string, string>();
  return (service, endpoints) => {
    const present = known.get(endpoints);
    if (present !== undefined) return present;
    const [namespace = "", name = ""] = service.split("/");
    const port = { number: Number(endpoints.slice(service.length + 1)) };
    const found = findServicePort({ namespace, name, port }, lookup, allowExternalName);
    // The port was found before; otherwise the backend would have no endpoints.
    if (!found.ok) return endpoints;
    const variant = variantOf(found.value.endpointRef, tls);
    useEndpoints(variant);
    known.set(endpoints, variant.name);
    return variant.name;
  };
}
