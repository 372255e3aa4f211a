/** The client certificates that an Ingress requests. See docs/ingress-nginx.md, "Client certificates". */
import { annotationKey, annotationPrefix } from "@svc-gateway/common/features/definition.ts";
import { authTls } from "@svc-gateway/common/features/auth-tls.ts";
import type { RequestVerdict } from "@svc-gateway/common/ir/client-certificate.ts";
import { compileRegex } from "@svc-gateway/common/values/regex.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { isStandIn } from "../../api/stand-in.ts";
import { readPlainAuthorities, revocationKey, unknownPlainSecret } from "../certificates/authorities.ts";
import { describeProblem } from "../diagnostics/define-finding.ts";
import { revocationUnsupported } from "../diagnostics/ingress-nginx.ts";
import type { AuthTls } from "../features/auth-tls.ts";
import type { View } from "../incremental/view.ts";
import { noGrant } from "../reference-grants.ts";
import {
  authTlsErrorPage,
  authTlsMatchCn,
  authTlsPassCertificateToUpstream,
  authTlsSecret,
  authTlsVerifyClient,
  authTlsVerifyDepth,
} from "./annotations/client-certificates.ts";
import type { NginxAnnotation } from "./annotations/declare.ts";
import { nginxKey, type NginxClass } from "./class.ts";
import { openNginxAnnotations, type ClosingFinding, type NginxReader } from "./reader.ts";
import { referenceForm } from "./values.ts";

type Named = Pick<NginxAnnotation, "name">;

/** Receives findings. `closeHost` reports why no client is admitted to the hosts of the Ingress. */
export type ClientSays = {
  readonly closeHost: (annotation: Named, why: string, finding?: ClosingFinding) => void;
  readonly differs: (annotation: Named, how: string) => void;
};

const silent: ClientSays = { closeHost: () => undefined, differs: () => undefined };

/** Reads the rules for client certificates; undefined if the annotations request none. */
export function readClientCertificates(
  read: NginxReader,
  { namespace, lookup, permits }: View & { readonly namespace: string },
  says: ClientSays,
): AuthTls | undefined {
  const written = read(authTlsSecret);
  // A value that cannot be read has closed the paths already.
  if (written === undefined) return undefined;
  const word = read(authTlsVerifyClient) ?? "on";
  if (word === "off") return undefined;
  const mode = word === "optional" || word === "optional_no_ca" ? word : "on";
  const subject = read(authTlsMatchCn);
  const page = read(authTlsErrorPage);
  const isNamedLocation = page?.startsWith("@") === true;
  if (isNamedLocation) says.differs(authTlsErrorPage, "there are no named locations; clients get 400");
  const byRequest: RequestVerdict = {
    mode,
    ...(subject !== undefined && { subject }),
    ...(page !== undefined && !isNamedLocation && { errorPage: page }),
  };
  const rules = {
    // 0 counts as 1.
    maxIntermediates: Math.max(1, read(authTlsVerifyDepth) ?? 1),
    forward: read(authTlsPassCertificateToUpstream) === true,
    byRequest,
  };
  const closed: AuthTls = { ...rules, authorities: undefined };
  const close = (why: string, finding?: ClosingFinding): AuthTls => {
    says.closeHost(authTlsSecret, why, finding);
    return closed;
  };
  const reference = referenceForm({ optionalNamespace: false }).parse(written);
  if (!reference.ok) return close(describeProblem(reference.error));
  const { namespace: owner = namespace, name } = reference.value;
  const named = `Secret ${owner}/${name}`;
  const from = { kind: "Ingress", namespace } as const;
  if (!permits(from, { kind: "Secret", namespace: owner, name })) {
    return close(noGrant(owner, from, named));
  }
  const secret = lookup("Secret", owner, name);
  if (secret === undefined || isStandIn(secret)) return close(unknownPlainSecret(named));
  if (secret.data?.[revocationKey] !== undefined) {
    return close(
      `${named} has ${revocationKey}: revoked certificates are not supported`,
      revocationUnsupported,
    );
  }
  const authorities = readPlainAuthorities(secret);
  if (!authorities.ok) return close(`${named} ${describeProblem(authorities.error)}`);
  const regex = subject === undefined ? undefined : compileRegex(subject, { whole: false });
  if (regex?.ok === false) {
    says.closeHost(authTlsMatchCn, describeProblem(regex.error));
    return closed;
  }
  return { ...rules, authorities: authorities.value };
}

/** Reads the same rules for the handshakes of an Ingress, without findings, which belong to its plan. */
export function readNginxAuthTls(
  ingress: ObjectOf<"Ingress">,
  nginx: NginxClass,
  view: View,
): AuthTls | undefined {
  const { annotations = {}, namespace } = ingress.metadata;
  const key = nginxKey(authTlsSecret, nginx.settings);
  const ownKey = annotationKey(authTls.annotations.authTlsSecret);
  if (Object.hasOwn(annotations, ownKey)) return undefined;
  if (!Object.hasOwn(annotations, key) && !nginx.defaults.has(authTlsSecret.name)) return undefined;
  const names = Object.keys(annotations)
    .filter((one) => one.startsWith(annotationPrefix))
    .map((one) => one.slice(annotationPrefix.length));
  const { read } = openNginxAnnotations(ingress, nginx, {
    ofIngress: new Set(names),
    ofClass: new Set(),
    protects: () => false,
  });
  return readClientCertificates(read, { ...view, namespace }, silent);
}
