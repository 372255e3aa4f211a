import type { TlsHost } from "@svc-gateway/common/ir/certificate.ts";
import type { HostPattern } from "@svc-gateway/common/ir/keys.ts";
import type { ObjectRef } from "../../api/object.ts";
import type { Age } from "../age.ts";
import type { TlsCertificate } from "../certificates/tls-secret.ts";
import type { AuthTls } from "../features/auth-tls.ts";
import type { DesiredEvent, Diagnostic } from "../finding.ts";

/**
 * The certificates and client rules of one server name, and the findings of Ingresses that may not take part in it.
 */
export type TlsHostTable = Findings & {
  readonly name: HostPattern;
  /** Undefined: the name has no certificate of its own. */
  readonly host: TlsHost | undefined;
  readonly clients: OwnedRules | undefined;
  readonly used: readonly TlsOffer[];
  /** The claims that the table is built from. */
  readonly claims: readonly TlsClaim[];
  /** Whether some Ingress that lists the name asks for client certificates. */
  readonly asks: boolean;
  /** The rules by namespace, as if it were alone; empty where no Ingress asks for client certificates. */
  readonly byNamespace: ReadonlyMap<string, NamespaceRules>;
};

/** The claim of one Ingress that lists a host, or of the settings, on its handshakes. */
export type TlsClaim = {
  readonly host: HostPattern;
  /** Undefined: the certificates of others, or of a less specific name, are shown. */
  readonly offer: TlsOffer | undefined;
  /** Undefined: nothing is asked of clients. */
  readonly clients: AuthTls | undefined;
  readonly owner: ObjectRef;
  readonly namespace: string;
  readonly age: Age;
  /** It is here for its clients only: no `spec.tls` lists the host. */
  readonly isUnlisted?: true;
  readonly field: string;
  /** Whether the fallback certificate is shown where no other one can be, as in ingress-nginx. */
  readonly fallsBack?: true;
};

/** A usable certificate. */
export type TlsOffer = { readonly certificate: TlsCertificate; readonly secret: ObjectRef };

export type Findings = {
  readonly diagnostics: readonly Diagnostic[];
  readonly events: readonly DesiredEvent[];
};

/** The client certificates that an Ingress asks for. */
export type OwnedRules = { readonly owner: ObjectRef; readonly rules: AuthTls };

/** The rules of the Ingresses of one namespace for a server name. */
export type NamespaceRules = { readonly offers: boolean; readonly clients: OwnedRules | undefined };
