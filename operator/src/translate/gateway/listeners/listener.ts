/** A single listener, as its Gateway or ListenerSet specifies it. See docs/gateway-api.md, "Listeners". */
import type { HostPattern } from "@svc-gateway/common/ir/keys.ts";
import type { GatewayListener as Written } from "../../../api/generated/gateway.ts";
import type { ObjectOf } from "../../../api/kinds.ts";
import type { AuthorityOptions } from "../../certificates/authority-refs.ts";
import type { TlsCertificate } from "../../certificates/tls-secret.ts";
import type { ConditionReason } from "../../condition.ts";
import { describeProblem } from "../../diagnostics/define-finding.ts";
import type { Diagnostic } from "../../finding.ts";
import type { View } from "../../incremental/view.ts";
import { anyHost } from "../../ingress/host.ts";
import type { TranslateSettings } from "../../settings.ts";
import { quote, quoteKind } from "../../text.ts";
import { readHost } from "../hostnames.ts";
import {
  familyOf,
  gatewayGroup,
  hasHostnames,
  isProtocolName,
  protocols,
  type ListenerProtocol,
  type RouteKind,
  type ListenerOwner,
} from "../kinds.ts";
import { backendCertificateName } from "../routes/backend-certificate.ts";
import { resolveCertificates } from "./certificate-refs.ts";
import { joinClients, readFrontendValidation, type FrontendValidation } from "./frontend-validation.ts";
import { readListenerClients } from "./listener-clients.ts";
import { readListenerFilters, type ListenerFilters } from "./listener-filters.ts";
import { readNamespaceRule, type NamespaceRule } from "./namespaces.ts";
export type ParsedListener = {
  /** `<Kind>/<namespace>/<name>/<listener>`: unique, and stable while the listener keeps its name. */
  readonly id: string;
  readonly name: string;
  /** The port that clients connect to. */
  readonly port: number;
  /** The name of the protocol in the API, even if it is not supported. */
  readonly written: string;
  readonly protocol: ListenerProtocol | undefined;
  /** The host that the listener serves; every host if the protocol has no host names. */
  readonly hostname: HostPattern;
  /** The end that terminates TLS: the proxy or the backend; undefined for protocols without TLS. */
  readonly tlsMode: "terminate" | "passthrough" | undefined;
  /** The kinds of routes that can attach. */
  readonly kinds: readonly RouteKind[];
  /** The namespaces whose routes can attach. */
  readonly namespaces: NamespaceRule;
  readonly certificates: readonly TlsCertificate[];
  /** The client certificates that the listener requests. */
  readonly validation: FrontendValidation | undefined;
  /** The findings about its TLS options. */
  readonly clientFindings: readonly Diagnostic[];
  /** The name of the Gateway whose certificate is presented to backends; undefined if none is. */
  readonly backendCertificate: string | undefined;
  /** The filters that run on every request before a route is chosen. */
  readonly filters: ListenerFilters;
  /** The reason why the listener is not accepted; undefined if it is. */
  readonly unaccepted: ConditionReason | undefined;
  /** Whether it is not accepted because it could not verify clients, so that its name must not be served at all. */
  readonly failsClosed: boolean;
  /** The reason why one of its references cannot be resolved; undefined if all can. */
  readonly unresolved: ConditionReason | undefined;
};

export type ListenerOptions = AuthorityOptions & Pick<TranslateSettings, "allowExternalName">;

/** Reads all listeners of `owner`: the Gateway itself, or a ListenerSet of it. */
export const readListeners = (
  owner: ListenerOwner,
  gateway: ObjectOf<"Gateway">,
  options: ListenerOptions,
): readonly ParsedListener[] =>
  (owner.spec.listeners ?? []).map((written, index) => readListener(written, index, owner, gateway, options));

function readListener(
  written: Written,
  index: number,
  owner: ListenerOwner,
  gateway: ObjectOf<"Gateway">,
  options: ListenerOptions,
): ParsedListener {
  const { view } = options;
  const { kind, metadata } = owner;
  const { name, port, protocol: protocolName } = written;
  const protocol = isProtocolName(protocolName) ? protocols[protocolName].protocol : undefined;
  const isNamed = protocol !== undefined && hasHostnames(familyOf(protocol));
  const hostname = readHost(isNamed ? written.hostname : undefined);
  const kinds = readKinds(written);
  const isSecure = protocol !== undefined && familyOf(protocol) === "tls";
  const tls = isSecure ? readTls(written, owner, view) : noTls;
  const ofGateway = protocol === "https" ? readFrontendValidation(gateway, port, options) : undefined;
  const ofListener = readListenerClients(written, index, owner, view);
  const clients = joinClients(ofGateway, ofListener);
  const filters = readListenerFilters(written, index, owner, options);
  return {
    id: `${kind}/${metadata.namespace}/${metadata.name}/${name}`,
    name,
    port,
    written: protocolName,
    protocol,
    hostname: hostname.ok ? hostname.value : anyHost,
    tlsMode: tls.mode,
    kinds: kinds.kinds,
    namespaces: readNamespaceRule(written.allowedRoutes?.namespaces, "Same"),
    certificates: tls.certificates,
    validation: clients.validation,
    clientFindings: ofListener.diagnostics,
    backendCertificate: backendCertificateName(gateway),
    filters,
    unaccepted:
      unsupportedProtocol(protocolName) ??
      filters.unaccepted ??
      (hostname.ok ? undefined : { reason: "UnsupportedValue", message: describeProblem(hostname.error) }) ??
      tls.unaccepted ??
      clients.unaccepted,
    // A listener whose host is invalid has no name that could be closed.
    failsClosed: protocol === "https" && hostname.ok && clients.unaccepted !== undefined,
    unresolved: clients.unresolved ?? tls.refusal ?? filters.unresolved ?? kinds.refusal,
  };
}

const unsupportedProtocol = (protocol: string): ConditionReason | undefined =>
  isProtocolName(protocol)
    ? undefined
    : {
        reason: "UnsupportedProtocol",
        message: `Protocol ${quote(protocol)} is not supported, expected one of ${Object.keys(protocols).join(", ")}`,
      };

/** The kinds that the protocol carries, limited to those that `allowedRoutes.kinds` names, if any. */
function readKinds({ protocol, allowedRoutes }: Written): {
  readonly kinds: readonly RouteKind[];
  readonly refusal?: ConditionReason;
} {
  const possible: readonly RouteKind[] = isProtocolName(protocol) ? protocols[protocol].kinds : [];
  const wanted = allowedRoutes?.kinds ?? [];
  if (wanted.length === 0) return { kinds: possible };
  const kinds = possible.filter((kind) =>
    wanted.some((one) => one.kind === kind && (one.group ?? gatewayGroup) === gatewayGroup),
  );
  const refused = wanted.filter(
    (one) => (one.group ?? gatewayGroup) !== gatewayGroup || !possible.some((kind) => kind === one.kind),
  );
  if (refused.length === 0) return { kinds };
  const names = refused.map(({ group = gatewayGroup, kind }) => quoteKind({ group, kind })).join(", ");
  const expected =
    possible.length === 0 ? "" : `, expected ${possible.join(" or ")} of group ${gatewayGroup}`;
  const message = `Routes of kind ${names} cannot attach to a listener of protocol ${protocol}${expected}`;
  return { kinds, refusal: { reason: "InvalidRouteKinds", message } };
}

type ReadTls = {
  readonly mode: ParsedListener["tlsMode"];
  readonly certificates: readonly TlsCertificate[];
  readonly refusal?: ConditionReason | undefined;
  readonly unaccepted?: ConditionReason;
};

const noTls: ReadTls = { mode: undefined, certificates: [] };

function readTls({ protocol, tls }: Written, { kind, metadata }: ListenerOwner, view: View): ReadTls {
  if (tls?.mode === "Passthrough") {
    if (protocol === "TLS") return { mode: "passthrough", certificates: [] };
    const message = "An HTTPS listener cannot pass TLS through, expected mode Terminate";
    return { mode: "terminate", certificates: [], unaccepted: { reason: "UnsupportedValue", message } };
  }
  const refs = tls?.certificateRefs ?? [];
  if (refs.length === 0) {
    const message = `A listener of protocol ${protocol} that terminates TLS needs certificateRefs`;
    return { mode: "terminate", certificates: [], refusal: { reason: "InvalidCertificateRef", message } };
  }
  return {
    mode: "terminate",
    ...resolveCertificates(
      refs,
      { kind, namespace: metadata.namespace },
      view,
      (index) => `tls.certificateRefs[${index}]`,
    ),
  };
}
