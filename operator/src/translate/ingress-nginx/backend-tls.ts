/** TLS to backends, as requested by annotations. See docs/ingress-nginx.md, "Backends". */
import type { BackendTls } from "@svc-gateway/common/ir/backend-tls.ts";
import { canonicalJson } from "@svc-gateway/common/ir/canonical-json.ts";
import { backendTlsKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource, sha256Hex } from "@svc-gateway/common/ir/resource.ts";
import { canonicalIp } from "@svc-gateway/common/values/ip-address.ts";
import type { EndpointVariant } from "../backends/service-port.ts";
import { unknownPlainSecret } from "../certificates/authorities.ts";
import { readBackendSecret, type BackendSecret } from "../certificates/backend-secret.ts";
import { describeProblem } from "../diagnostics/define-finding.ts";
import {
  backendNotVerified,
  ciphersFixed,
  noVerifyName,
  verificationRequired,
} from "../diagnostics/ingress-nginx.ts";
import { noGrant } from "../reference-grants.ts";
import {
  proxySslCiphers,
  proxySslName,
  proxySslProtocols,
  proxySslSecret,
  proxySslServerName,
  proxySslVerify,
  proxySslVerifyDepth,
} from "./annotations/backend-tls.ts";
import { backendProtocol } from "./annotations/routing.ts";
import type { GroupContext } from "./groups/group.ts";
import type { NginxReader } from "./reader.ts";

const others = [
  proxySslVerify,
  proxySslName,
  proxySslServerName,
  proxySslVerifyDepth,
  proxySslCiphers,
  proxySslProtocols,
];

/** Reads the settings of connections with TLS; undefined if TLS is not used. */
export function readBackendTls(
  read: NginxReader,
  context: GroupContext,
  isUsed: boolean,
): EndpointVariant | undefined {
  const secret = readSecret(read, context);
  const isSet = read(proxySslSecret) !== undefined;
  if (!isUsed && isSet) {
    context.noEffect(proxySslSecret, "backends are not connected to over TLS (backend-protocol)");
  }
  if (!isSet || !isUsed) reportWithoutEffect(read, context, isSet);
  if (!isUsed) return undefined;
  if (isSet && read(proxySslCiphers) !== undefined) {
    context.report(proxySslCiphers, (place) =>
      ciphersFixed(place, "proxy-ssl-ciphers has no effect: the ciphers are ECDHE with AES-GCM or ChaCha20"),
    );
  }
  const tls = isSet ? settingsOf(read, context, secret) : unverified;
  if (
    tls.unverified === true &&
    context.nginx.policy.forbidden.has("backend-protocol-without-verification")
  ) {
    return provide(refuseUnverified(tls, context), context);
  }
  if (tls.unverified === true && (!isSet || secret !== undefined)) {
    context.report(backendProtocol, (place) =>
      backendNotVerified(
        place,
        "connections to the backends are encrypted, but their certificates are not verified, unless a BackendTLSPolicy applies to the Service",
      ),
    );
  }
  return provide(tls, context);
}

/**
 * Returns settings that trust no authority. With them no connection is made, unless a BackendTLSPolicy takes
 * precedence.
 */
function refuseUnverified(
  { unverified: _unverified, ...tls }: BackendTls,
  context: GroupContext,
): BackendTls {
  const text =
    "the certificates of backends would not be verified, which the operator forbids; requests are answered 502, unless a BackendTLSPolicy applies to the Service";
  context.report(
    backendProtocol,
    (place) => verificationRequired(place, `${backendProtocol.name}: ${text}`),
    {
      outcome: "refused",
      text,
    },
  );
  return tls;
}

const unverified: BackendTls = { hostname: "", unverified: true };

/** Settings for TLS without verification of the backend. The server name is sent if there is one. */
export const unverifiedTls = (context: GroupContext, hostname = ""): EndpointVariant =>
  provide({ ...unverified, hostname }, context);

/**
 * Adds a resource that is named by the hash of its content, so that equal settings of different Ingresses are
 * one resource.
 */
function provide(tls: BackendTls, { provide: add }: GroupContext): EndpointVariant {
  const id = `tls-${sha256Hex(canonicalJson(tls)).slice(0, 32)}`;
  const name = `ingress-nginx/${id}`;
  add(encodeResource(backendTlsKey(name), tls));
  return { id, tls: name };
}

/** Reports settings without effect: in ingress-nginx, all of them require the Secret. */
function reportWithoutEffect(read: NginxReader, context: GroupContext, isSet: boolean): void {
  if (isSet) return;
  for (const annotation of others) {
    if (read.sourceOf(annotation) !== "annotation") continue;
    const isVerify = annotation === proxySslVerify && read(proxySslVerify) === true;
    context.noEffect(annotation, "has no effect without proxy-ssl-secret", isVerify ? "error" : "warning");
  }
}

/** Reads the Secret. If it cannot be used, closes the Ingress and returns undefined. */
function readSecret(read: NginxReader, context: GroupContext): BackendSecret | undefined {
  const reference = read(proxySslSecret);
  if (reference === undefined) return undefined;
  const { namespace: own, lookup, permits, close } = context;
  const { namespace = own, name } = reference;
  const from = { kind: "Ingress", namespace: own } as const;
  const named = `Secret ${namespace}/${name}`;
  if (!permits(from, { kind: "Secret", namespace, name })) {
    close(proxySslSecret, noGrant(namespace, from, named));
    return undefined;
  }
  const secret = lookup("Secret", namespace, name);
  if (secret === undefined) {
    close(proxySslSecret, unknownPlainSecret(named));
    return undefined;
  }
  const parts = readBackendSecret(secret);
  if (parts.ok) return parts.value;
  close(proxySslSecret, `${named} ${describeProblem(parts.error)}`);
  return undefined;
}

function settingsOf(read: NginxReader, context: GroupContext, secret: BackendSecret | undefined): BackendTls {
  const name = read(proxySslName) ?? "";
  const hidesServerName = read(proxySslServerName) !== true || canonicalIp(name) !== undefined;
  const { authorities, certificate } = secret ?? {};
  const shown = certificate && { certificate };
  if (read(proxySslServerName) === true && name === "") {
    context.differs(proxySslServerName, "no server name is sent, because proxy-ssl-name does not set one");
  }
  if (read(proxySslVerify) !== true) {
    return { hostname: hidesServerName ? "" : name, unverified: true, ...shown };
  }
  if (secret !== undefined && authorities === undefined) {
    context.close(proxySslVerify, "the Secret of proxy-ssl-secret has no ca.crt to verify backends with");
  }
  if (name === "") {
    const text = "no proxy-ssl-name says which name certificates must have; requests are answered 502";
    context.report(proxySslVerify, (place) => noVerifyName(place, `${proxySslVerify.name}: ${text}`), {
      outcome: "refused",
      text,
    });
  }
  return {
    hostname: name,
    ...(authorities !== undefined && { authorities }),
    ...(hidesServerName && { hidesServerName: true }),
    // As in nginx, 0 counts as 1.
    maxIntermediates: Math.max(1, read(proxySslVerifyDepth) ?? 1),
    ...shown,
  };
}
