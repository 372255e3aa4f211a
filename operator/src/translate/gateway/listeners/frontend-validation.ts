/**
 * The client certificates that HTTPS listeners of a Gateway request (GEP-91). See
 * docs/features/frontend-client-certificates.md.
 */
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

/** The client certificates that a listener requests. */
export type FrontendValidation = {
  readonly mode: ClientValidation["mode"];
  /** The certificate authorities as PEM. If absent, no client certificate is valid. */
  readonly authorities: string | undefined;
  /** As in `ClientRules`. */
  readonly maxIntermediates?: number;
  readonly byRequest?: RequestVerdict;
  readonly forward?: true;
};

export type ReadFrontendValidation = {
  /** The validation; undefined if no certificates are requested. */
  readonly validation: FrontendValidation | undefined;
  readonly unresolved: ConditionReason | undefined;
  /** The reason why the listener is not served: without an authority, no client could be admitted. */
  readonly unaccepted: ConditionReason | undefined;
};

const nothing: ReadFrontendValidation = {
  validation: undefined,
  unresolved: undefined,
  unaccepted: undefined,
};

/**
 * The validation of client certificates at a port of a Gateway. The entry of the port, even an empty one, takes
 * precedence over the default.
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

/** Reads the validation at a port of a Gateway. Only the first of several references is used. */
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
 * Joins the validation that the Gateway sets for the port with the options of the listener itself. A listener
 * with both is not served, because neither may weaken the other.
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
  /** The ports that the validation applies to, for messages. */
  readonly ports: string;
};

/** All validations of a Gateway, including those that apply to none of its listeners. */
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

/** Whether a Gateway admits clients without a valid certificate, at some port or by default. */
export const hasInsecureValidation = (gateway: ObjectOf<"Gateway">): boolean =>
  validationsIn(gateway).some(({ validation }) => isInsecure(validation));

/**
 * Findings about the validations of a Gateway: modes that admit any client, and references that are ignored
 * because each validation uses only its first one.
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

/**
 * Returns the listener without its authorities for clients, which are too large. It still requests
 * certificates, but none is valid.
 */
export const withoutAuthorities = memo((listener: Listener): Listener =>
  listener.validation === undefined
    ? listener
    : { ...listener, validation: { ...listener.validation, authorities: undefined } },
);

/** The rules for the client certificate that requests for a host of the listener need; undefined if they need none. */
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

/** Whether a listener serves only clients with a valid certificate. */
export const requiresCertificate = (validation: FrontendValidation | undefined): boolean =>
  validation?.mode === "require" || validation?.byRequest?.mode === "on";

/** Builds the client certificate settings of a port. The result is the same value while the listeners are the same. */
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
 * Removes the client certificate settings of Ingresses for names that a listener has a certificate for: the
 * listener whose certificate is presented also decides about the clients.
 */
export function withoutNamesOf(
  { hosts: served }: TlsPort,
  { authorities, hosts }: ClientCertPort,
): ClientCertPort {
  const taken = new Set(served.map(({ host }) => host));
  return { authorities, hosts: hosts.filter(({ host }) => !taken.has(host)) };
}

/** Merges the settings of one port. The two have no names in common. */
export function mergeClientCertPorts(first: ClientCertPort, second: ClientCertPort): ClientCertPort {
  const hosts = [...first.hosts, ...second.hosts];
  hosts.sort((a, b) => compareText(a.bucket, b.bucket) || compareText(a.host, b.host));
  return { authorities: { ...second.authorities, ...first.authorities }, hosts };
}
