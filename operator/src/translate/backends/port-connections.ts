/**
 * The connection settings that a SvcBackendPolicy sets for ports of Services. See
 * docs/features/backend-policy.md, "Ports".
 */
import { systemAuthorities, type BackendTls } from "@svc-gateway/common/ir/backend-tls.ts";
import { canonicalJson } from "@svc-gateway/common/ir/canonical-json.ts";
import { backendTlsKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource, sha256Hex, type Resource } from "@svc-gateway/common/ir/resource.ts";
import { parseDnsName } from "@svc-gateway/common/values/hostname.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { SvcBackendPolicySpec } from "../../api/generated/svcbackendpolicy.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { refOf } from "../../api/object.ts";
import { authorityLabel, bundleKey, isForAuthorities } from "../certificates/authorities.ts";
import { readBackendSecret, type BackendSecret } from "../certificates/backend-secret.ts";
import { isTlsSecret } from "../certificates/tls-secret.ts";
import { describeProblem } from "../diagnostics/define-finding.ts";
import { backendTlsUnusable, policyNotVerified } from "../diagnostics/policies.ts";
import type { Diagnostic } from "../finding.ts";
import type { View } from "../incremental/view.ts";

/** The connection settings of one port. */
export type PortConnection = {
  readonly protocol?: "http2";
  /** The resource `backendtls|` with the TLS settings; if absent, only a BackendTLSPolicy enables TLS. */
  readonly tls?: { readonly name: string; readonly resource: Resource };
  /** Whether requests that arrived without TLS are also sent without it, although `tls` is set. */
  readonly followsClient?: true;
};

export type PortConnections = {
  /** Settings by the number of the Service port. */
  readonly ports: ReadonlyMap<number, PortConnection>;
  /** The fields with unusable TLS settings, because of which no connection is made. */
  readonly unusable: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
};

type TlsSpec = NonNullable<NonNullable<SvcBackendPolicySpec["ports"]>[number]["tls"]>;

/**
 * Reads the ports of a policy. Unusable TLS settings become settings that trust no authority, so that no
 * connection is made.
 */
export function readPortConnections(
  object: ObjectOf<"SvcBackendPolicy">,
  { lookup }: Pick<View, "lookup">,
): PortConnections {
  const unusable: string[] = [];
  const diagnostics: Diagnostic[] = [];
  const secretOf = (name: string) => lookup("Secret", object.metadata.namespace, name);
  const ports = (object.spec.ports ?? []).map(({ port, protocol, tls }, index) => {
    const field = `spec.ports[${index}].tls`;
    const place = { object: refOf(object), field };
    const connection: { -readonly [Name in keyof PortConnection]: PortConnection[Name] } = {
      ...(protocol === "HTTP2" && { protocol: "http2" as const }),
    };
    if (tls !== undefined) {
      const read = readTls(tls, secretOf);
      if (!read.ok) {
        unusable.push(field);
        diagnostics.push(backendTlsUnusable(place, port, describeProblem(read.error)));
      } else if (read.value.unverified === true) diagnostics.push(policyNotVerified(place, port));
      connection.tls = asResource(read.ok ? read.value : trustsNone);
      if (read.ok && tls.followClient === true) connection.followsClient = true;
    }
    return [port, connection] as const;
  });
  return { ports: new Map(ports), unusable, diagnostics };
}

/** Settings without authorities. No connection is made with them. */
const trustsNone: BackendTls = { hostname: "" };

/**
 * Turns settings into a resource; equal settings share one. Its name contains capitals, which no namespace has,
 * so it never equals that of a BackendTLSPolicy.
 */
function asResource(tls: BackendTls): NonNullable<PortConnection["tls"]> {
  const name = `SvcBackendPolicy/tls-${sha256Hex(canonicalJson(tls)).slice(0, 32)}`;
  return { name, resource: encodeResource(backendTlsKey(name), tls) };
}

function readTls(
  spec: TlsSpec,
  secretOf: (name: string) => ObjectOf<"Secret"> | undefined,
): Result<BackendTls> {
  const { insecureSkipVerify, hostname: written, sendServerName, secretRef, maxIntermediates } = spec;
  const hostname = written === undefined ? ok("") : parseDnsName(written);
  if (!hostname.ok) return problem(`hostname ${describeProblem(hostname.error)}`);
  const isSystem = spec.wellKnownCACertificates !== undefined;
  const secret: Result<BackendSecret> =
    secretRef === undefined ? ok({}) : readSecret(secretRef.name, secretOf(secretRef.name));
  if (!secret.ok) return secret;
  const { authorities, certificate } = secret.value;
  const shown = certificate && { certificate };
  if (insecureSkipVerify === true) {
    return ok({ hostname: sendServerName === false ? "" : hostname.value, unverified: true, ...shown });
  }
  if (hostname.value === "") return problem("hostname is missing");
  if (!isSystem && authorities === undefined) {
    return problem(
      `Secret ${secretRef?.name ?? ""} has no key ${bundleKey}`,
      "the authorities to verify backends with",
    );
  }
  return ok({
    hostname: hostname.value,
    ...(sendServerName === false && { hidesServerName: true }),
    authorities: isSystem ? systemAuthorities : authorities,
    ...(maxIntermediates !== undefined && { maxIntermediates }),
    ...shown,
  });
}

function readSecret(name: string, secret: ObjectOf<"Secret"> | undefined): Result<BackendSecret> {
  const expected = `type kubernetes.io/tls, or Opaque with the label ${authorityLabel}: "true"`;
  // A controller reads no other Secrets, so an unknown Secret can exist nevertheless.
  if (secret === undefined) return problem(`Secret ${name} does not exist or cannot be used`, expected);
  if (!isTlsSecret(secret) && !isForAuthorities(secret)) {
    return problem(`Secret ${name} cannot be used`, expected);
  }
  const parts = readBackendSecret(secret);
  return parts.ok ? parts : problem(`Secret ${name} ${describeProblem(parts.error)}`);
}

/** The ports of a policy whose TLS settings are withheld: no connection is made to the ports that have some. */
export const closedPorts = ({
  spec: { ports = [] },
}: ObjectOf<"SvcBackendPolicy">): Omit<PortConnections, "diagnostics"> => ({
  ports: new Map(
    ports.map(({ port, protocol, tls }) => [
      port,
      { ...(protocol && { protocol: "http2" as const }), ...(tls && { tls: asResource(trustsNone) }) },
    ]),
  ),
  unusable: ports.flatMap(({ tls }, index) => (tls === undefined ? [] : [`spec.ports[${index}].tls`])),
});
