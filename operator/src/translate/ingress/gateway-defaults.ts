/** Plans settings that act like Ingresses: the backend of last resort and the default certificate. */
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { resolveServicePort } from "../backends/service-port.ts";
import { servedCertificate } from "../certificates/last-good.ts";
import { formatTime } from "../certificates/validity.ts";
import { invalidCertificate, lastCertificateKept, secretNotFound } from "../diagnostics/certificates.ts";
import type { View } from "../incremental/view.ts";
import type { TranslateSettings } from "../settings.ts";
import { anyHost } from "./host.ts";
import { anyPath } from "./path.ts";
import type { IngressPlan } from "./plan.ts";
import type { TlsPlan } from "./tls.ts";

export type LastResort = Pick<IngressPlan, "endpointRefs" | "diagnostics"> & {
  readonly route: Route | undefined;
};

/** Plans the route of `--ingress-default-backend`, which is ordered after all others on every host. */
export function planLastResort(
  { ingressDefaultBackend: reference, allowExternalName }: TranslateSettings,
  _: undefined,
  { lookup }: View,
): LastResort {
  if (reference === undefined) return { route: undefined, endpointRefs: [], diagnostics: [] };
  const { namespace, name } = reference;
  const place = { object: { kind: "Service", namespace, name } };
  const { backend, endpointRef, diagnostic } = resolveServicePort(
    reference,
    place,
    lookup,
    allowExternalName,
  );
  const route = {
    id: `ingress-default-backend/${namespace}/${name}`,
    source: { kind: "Service", namespace, name },
    match: { path: anyPath },
    backends: [backend],
    fallback: true as const,
  };
  return {
    route,
    endpointRefs: endpointRef === undefined ? [] : [endpointRef],
    diagnostics: diagnostic === undefined ? [] : [diagnostic],
  };
}

/**
 * Plans the certificate of `--default-tls-secret`. It applies to server names without another certificate, and
 * precedes every Ingress.
 */
export function planDefaultCertificate(
  { defaultTlsSecret }: TranslateSettings,
  _: undefined,
  { lookup }: View,
): TlsPlan {
  if (defaultTlsSecret === undefined) return { claims: [], diagnostics: [], events: [] };
  const { namespace, name } = defaultTlsSecret;
  const object = { kind: "Secret", namespace, name };
  const secret = lookup("Secret", namespace, name);
  if (secret === undefined) {
    return { claims: [], diagnostics: [secretNotFound({ object }, `${namespace}/${name}`)], events: [] };
  }
  const served = servedCertificate(secret);
  if (!served.ok)
    return {
      claims: [],
      diagnostics: [invalidCertificate({ object }, `${namespace}/${name}`, served.error)],
      events: [],
    };
  const { certificate, unusableUpdate } = served.value;
  const claim = {
    host: anyHost,
    offer: { certificate, secret: object },
    clients: undefined,
    owner: object,
    namespace,
    age: { createdMs: Number.NEGATIVE_INFINITY, key: "" },
    field: "",
  };
  const until = formatTime(certificate.notAfterMs);
  const diagnostics =
    unusableUpdate === undefined
      ? []
      : [lastCertificateKept({ object }, `${namespace}/${name}`, unusableUpdate, until)];
  return { claims: [claim], diagnostics, events: [] };
}
