import type { TlsHost } from "@svc-gateway/common/ir/certificate.ts";
import type { HostPattern } from "@svc-gateway/common/ir/keys.ts";
import type { ObjectRef } from "../../api/object.ts";
import type { Age } from "../age.ts";
import type { TlsCertificate } from "../certificates/tls-secret.ts";
import type { AuthTls } from "../features/auth-tls.ts";
import type { DesiredEvent, Diagnostic } from "../finding.ts";

/**
 * The certificates and client rules of one server name, and the findings about Ingresses whose claims do not apply.
 */
export type TlsHostTable = Findings & {
  readonly name: HostPattern;
  /** The certificates of the name; undefined if it has none of its own. */
  readonly host: TlsHost | undefined;
  readonly clients: OwnedRules | undefined;
  readonly used: readonly TlsOffer[];
  /** The claims that the table is built from. */
  readonly claims: readonly TlsClaim[];
  /** Whether any Ingress that lists the name requests client certificates. */
  readonly asks: boolean;
  /** The rules of each namespace as if it were the only one, also of those that list the name without rules. */
  readonly byNamespace: ReadonlyMap<string, NamespaceRules>;
};

/** The claim on the handshakes of a host, by one Ingress that lists it or by the settings. */
export type TlsClaim = {
  readonly host: HostPattern;
  /** The certificate; undefined if those of other claims, or of a less specific name, are presented. */
  readonly offer: TlsOffer | undefined;
  /** The rules for clients; undefined if there are none. */
  readonly clients: AuthTls | undefined;
  readonly owner: ObjectRef;
  readonly namespace: string;
  readonly age: Age;
  /** Whether the claim is only about clients, because no `spec.tls` lists the host. */
  readonly isUnlisted?: true;
  readonly field: string;
  /** Whether the fallback certificate is presented if no other one can be, as in ingress-nginx. */
  readonly fallsBack?: true;
};

/** A usable certificate. */
export type TlsOffer = { readonly certificate: TlsCertificate; readonly secret: ObjectRef };

export type Findings = {
  readonly diagnostics: readonly Diagnostic[];
  readonly events: readonly DesiredEvent[];
};

/** The client certificates that an Ingress requests. */
export type OwnedRules = { readonly owner: ObjectRef; readonly rules: AuthTls };

/** The rules of the Ingresses of one namespace for a server name. */
export type NamespaceRules = { readonly offers: boolean; readonly clients: OwnedRules | undefined };
