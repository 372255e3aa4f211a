/** Client certificates that the HTTPS listeners of a Gateway ask for (GEP-91). See docs/features/frontend-client-certificates.md. */
import type { TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import type {
  ClientCertPort,
  ClientRules,
  ClientValidation,
  RequestVerdict,
} from "@svc-gateway/common/ir/client-certificate.ts";
import { sha256Hex } from "@svc-gateway/common/ir/resource.ts";
import type { GatewayTlsFrontendDefaultValidation as Validation } from "../../../api/generated/gateway.ts";
import type { ObjectOf } from "../../../api/kinds.ts";
import { refOf } from "../../../api/object.ts";
import { compareText } from "../../age.ts";
import {
  resolveAuthorities,
  type AuthorityOptions,
  type UnresolvedAuthority,
} from "../../certificates/authority-refs.ts";
import { reasonAt, type ConditionReason } from "../../condition.ts";
import { insecureFrontendValidation, routeFieldIgnored } from "../../diagnostics/gateway.ts";
import type { Diagnostic } from "../../finding.ts";
import { listMemo, memo } from "../../incremental/memo.ts";
import type { Listener } from "./gateways.ts";
import type { ListenerClients } from "./listener-clients.ts";

/** The client certificates that a listener asks for. */
export type FrontendValidation = {
  readonly mode: ClientValidation["mode"];
  /** PEM; absent: no client certificate is valid. */
  readonly authorities: string | undefined;
  /** As in `ClientRules`. */
  readonly maxIntermediates?: number;
  readonly byRequest?: RequestVerdict;
  readonly forward?: true;
};

export type ReadFrontendValidation = {
  /** Undefined: nothing is asked. */
  readonly validation: FrontendValidation | undefined;
  readonly unresolved: ConditionReason | undefined;
  /** Without an authority no client can be let in, so the listener is not served. */
  readonly unaccepted: ConditionReason | undefined;
};

const nothing: ReadFrontendValidation = {
  validation: undefined,
  unresolved: undefined,
  unaccepted: undefined,
};

/**
 * The validation of client certificates at a port of a Gateway: the entry of the port, even an empty one, comes
 * before the default.
 */
function validationOf(
  { spec }: ObjectOf<"Gateway">,
  port: number,
): { readonly validation: Validation; readonly field: string } | undefined {
  const { perPort = [], default: byDefault } = spec.tls?.frontend ?? {};
  const index = perPort.findIndex((entry) => entry.port === port);
  const ofPort = perPort[index]?.tls;
  const validation = (ofPort ?? byDefault)?.validation;
  const at = ofPort === undefined ? "default" : `perPort[${index}].tls`;
  return validation && { validation, field: `spec.tls.frontend.${at}.validation.caCertificateRefs` };
}

/** Of several references the first one counts. */
export function readFrontendValidation(
  gateway: ObjectOf<"Gateway">,
  port: number,
  options: AuthorityOptions,
): ReadFrontendValidation {
  const found = validationOf(gateway, port);
  if (found === undefined) return nothing;
  const { validation, field } = found;
  const from = { kind: "Gateway", namespace: gateway.metadata.namespace } as const;
  const { pem, refusal } = resolveAuthorities(validation.caCertificateRefs.slice(0, 1), field, from, options);
  if (pem === undefined) {
    const {
      why,
      message,
      field: at,
    } = refusal ?? {
      why: "object",
      message: "No certificate authorities are named in caCertificateRefs",
      field,
    };
    return {
      validation: undefined,
      unresolved: reasonAt(at, { reason: reasons[why], message }),
      unaccepted: reasonAt(at, { reason: "NoValidCACertificate", message }),
    };
  }
  return {
    ...nothing,
    validation: { mode: isInsecure(validation) ? "optional" : "require", authorities: pem },
  };
}

/**
 * What a listener asks of its clients: what its Gateway says for the port, or its own options. With both it is not served, because
 * neither may take a demand of the other one away.
 */
export function joinClients(
  ofGateway: ReadFrontendValidation | undefined,
  { asked, unaccepted, unresolved }: ListenerClients,
): ReadFrontendValidation {
  if (unaccepted !== undefined) return { ...nothing, unaccepted };
  if (asked === undefined) return ofGateway ?? nothing;
  const isAsked = ofGateway !== undefined && ofGateway !== nothing;
  if (isAsked) {
    const message =
      "spec.tls.frontend of the Gateway asks for client certificates at the port, and tls.options of the listener as well, expected one of them";
    return { ...nothing, unresolved, unaccepted: { reason: "UnsupportedValue", message } };
  }
  const { authorities, maxIntermediates, forward, byRequest } = asked;
  return {
    ...nothing,
    unresolved,
    validation: {
      mode: byRequest === undefined ? "require" : "optional",
      authorities,
      maxIntermediates,
      ...(byRequest && { byRequest }),
      ...(forward && { forward: true as const }),
    },
  };
}

const reasons: Readonly<Record<UnresolvedAuthority["why"], string>> = {
  kind: "InvalidCACertificateKind",
  grant: "RefNotPermitted",
  object: "InvalidCACertificateRef",
};

const isInsecure = ({ mode }: Validation): boolean => mode === "AllowInsecureFallback";

type WrittenValidation = {
  readonly validation: Validation;
  readonly field: string;
  /** The ports of listeners that it is for. */
  readonly ports: string;
};

/** The validations of a Gateway, whether or not it has listeners that they are for. */
function validationsIn({ spec }: ObjectOf<"Gateway">): readonly WrittenValidation[] {
  const { default: byDefault, perPort = [] } = spec.tls?.frontend ?? {};
  const written = [
    { at: "default", tls: byDefault, ports: "ports without an entry in perPort" },
    ...perPort.map(({ tls, port }, index) => ({ at: `perPort[${index}].tls`, tls, ports: `port ${port}` })),
  ];
  return written.flatMap(({ at, tls, ports }) =>
    tls?.validation === undefined
      ? []
      : [{ validation: tls.validation, field: `spec.tls.frontend.${at}.validation`, ports }],
  );
}

/** Whether a Gateway lets clients in without a valid certificate, at some port or by default. */
export const hasInsecureValidation = (gateway: ObjectOf<"Gateway">): boolean =>
  validationsIn(gateway).some(({ validation }) => isInsecure(validation));

/**
 * The findings about the validations of a Gateway: modes that let any client in, and references that do not count, because each
 * validation uses its first one only.
 */
export const frontendFindings = memo((gateway: ObjectOf<"Gateway">): readonly Diagnostic[] =>
  validationsIn(gateway).flatMap(({ validation, field, ports }) => {
    const placeOf = (name: string) => ({ object: refOf(gateway), field: `${field}.${name}` });
    const ignored = "Only the first of several references is used; the others are ignored";
    return [
      ...(isInsecure(validation) ? [insecureFrontendValidation(placeOf("mode"), ports)] : []),
      ...(validation.caCertificateRefs.length < 2
        ? []
        : [routeFieldIgnored(placeOf("caCertificateRefs"), ignored)]),
    ];
  }),
);

const authoritiesIdOf = memo(({ authorities }: FrontendValidation) =>
  authorities === undefined ? undefined : sha256Hex(authorities),
);

/** The listener without the authorities of its clients, which are too large: it asks for certificates, and none is valid. */
export const withoutAuthorities = memo((listener: Listener): Listener =>
  listener.validation === undefined
    ? listener
    : { ...listener, validation: { ...listener.validation, authorities: undefined } },
);

/** The client certificate that requests for a host of the listener need; undefined: none. */
export function demandOf({ id, validation }: Pick<Listener, "id" | "validation">): ClientRules | undefined {
  if (validation === undefined) return undefined;
  const { mode, maxIntermediates, byRequest, forward } = validation;
  if (mode !== "require" && byRequest === undefined) return undefined;
  const authorities = authoritiesIdOf(validation);
  return {
    owner: id,
    ...(authorities !== undefined && { authorities }),
    ...(maxIntermediates !== undefined && { maxIntermediates }),
    ...(byRequest && { byRequest }),
    ...(forward && { forward }),
  };
}

/** Whether every client that a listener serves has a valid certificate. */
export const requiresCertificate = (validation: FrontendValidation | undefined): boolean =>
  validation?.mode === "require" || validation?.byRequest?.mode === "on";

/** The client certificates that the listeners of a port ask for; the same value while the listeners are the same. */
export const createFrontendValidationBuilder = (): ((listeners: readonly Listener[]) => ClientCertPort) => {
  const build = listMemo(buildClientCertPort);
  return (listeners) => build(listeners, undefined);
};

function buildClientCertPort(listeners: readonly Listener[]): ClientCertPort {
  const authorities: Record<string, string> = {};
  const hosts: ClientValidation[] = [];
  for (const { id: owner, hostname, validation } of listeners) {
    if (validation === undefined) continue;
    const id = authoritiesIdOf(validation);
    if (id !== undefined && validation.authorities !== undefined) authorities[id] = validation.authorities;
    const { kind, host } = hostname;
    const bucket = kind === "any" ? "default" : kind;
    const { mode, maxIntermediates, byRequest, forward = false } = validation;
    hosts.push({
      ...{ bucket, host, mode },
      ...(byRequest && { deferred: true as const }),
      ...(id !== undefined && { authorities: id }),
      ...(maxIntermediates !== undefined && { maxIntermediates }),
      ...{ forward, owner },
    });
  }
  hosts.sort((a, b) => compareText(a.bucket, b.bucket) || compareText(a.host, b.host));
  return { authorities, hosts };
}

/**
 * The client certificates that Ingresses ask for at names for which no listener has a certificate: a name of a
 * listener shows its certificate, so the listener decides about its clients.
 */
export function withoutNamesOf(
  { hosts: served }: TlsPort,
  { authorities, hosts }: ClientCertPort,
): ClientCertPort {
  const taken = new Set(served.map(({ host }) => host));
  return { authorities, hosts: hosts.filter(({ host }) => !taken.has(host)) };
}

/** Both on one port. They have no names in common. */
export function mergeClientCertPorts(first: ClientCertPort, second: ClientCertPort): ClientCertPort {
  const hosts = [...first.hosts, ...second.hosts];
  hosts.sort((a, b) => compareText(a.bucket, b.bucket) || compareText(a.host, b.host));
  return { authorities: { ...second.authorities, ...first.authorities }, hosts };
}
