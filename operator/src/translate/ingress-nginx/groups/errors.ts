/** Error pages, and Services that replace backends without endpoints. See docs/features/error-pages.md. */
import type { ErrorPages } from "@svc-gateway/common/features/error-pages.ts";
import { findServicePort } from "../../backends/service-port.ts";
import type { ServicePortRef } from "../../backends/service-port-ref.ts";
import { customHttpErrors, disableProxyInterceptErrors } from "../annotations/responses.ts";
import { defaultBackend } from "../annotations/routing.ts";
import type { NginxReader } from "../reader.ts";
import type { Group, GroupContext, NginxPath } from "./group.ts";

type PageService = NonNullable<ErrorPages["page"]>;

export const errors: Group = (read, context) => {
  const codes = [...new Set((read(customHttpErrors) ?? []).map(Number))].sort((a, b) => a - b);
  const own = serviceOf(read, context);
  const page = own ?? lastResortOf(context);
  if (own === undefined && codes.length === 0) return {};
  const ownOnly = read(disableProxyInterceptErrors) === true;
  return {
    ofPath: (path) => ({
      "error-pages": {
        codes,
        ...(page && { page }),
        ...(ownOnly && { ownOnly }),
        ...(own && { standIn: own }),
        fields: fieldsOf(path, context),
      },
    }),
  };
};

/** The Service of the annotation, at its first port. As in ingress-nginx, one that does not exist is ignored. */
function serviceOf(read: NginxReader, context: GroupContext): PageService | undefined {
  const { namespace, lookup, allowExternalName, useEndpoints, ignore } = context;
  const name = read(defaultBackend);
  if (name === undefined) return undefined;
  const key = `${namespace}/${name}`;
  const [first] = lookup("Service", namespace, name)?.spec?.ports ?? [];
  const reference = { namespace, name, port: { number: first?.port ?? 80 }, use: "errors" } as const;
  const found = findServicePort(reference, lookup, allowExternalName);
  if (!found.ok) {
    ignore(defaultBackend, reasons[found.error](key));
    return undefined;
  }
  useEndpoints(found.value.endpointRef);
  const { endpoints, protocol } = found.value.backend;
  return endpoints === undefined ? undefined : { service: key, endpoints, protocol };
}

const reasons = {
  "no-service": (key: string) => `Service ${key} does not exist`,
  "external-name": (key: string) => `Service ${key} is of type ExternalName, which is not allowed`,
  "no-port": (key: string) => `Service ${key} has no TCP port to send requests to`,
} as const;

/** The backend of `--ingress-default-backend`, whose endpoints are in every snapshot. */
function lastResortOf({ lastResort }: GroupContext): PageService | undefined {
  const [backend] = lastResort?.backends ?? [];
  if (backend?.endpoints === undefined) return undefined;
  return { service: backend.service, endpoints: backend.endpoints, protocol: backend.protocol };
}

const fieldsOf = ({ backend }: NginxPath, { namespace, ingress }: GroupContext): ErrorPages["fields"] => [
  { name: "X-Namespace", value: namespace },
  { name: "X-Ingress-Name", value: ingress.metadata.name },
  ...(backend === undefined
    ? []
    : [
        { name: "X-Service-Name", value: backend.service },
        { name: "X-Service-Port", value: portText(backend.port) },
      ]),
];

const portText = (port: ServicePortRef): string => ("number" in port ? String(port.number) : port.name);
