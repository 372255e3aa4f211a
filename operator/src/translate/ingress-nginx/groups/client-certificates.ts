/** Client certificates of hosts. See docs/ingress-nginx.md, "Client certificates". */
import { authTls } from "@svc-gateway/common/features/auth-tls.ts";
import { annotationKey } from "@svc-gateway/common/features/definition.ts";
import { refOf } from "../../../api/object.ts";
import { clientRulesOf } from "../../ingress/client-rules.ts";
import {
  authTlsErrorPage,
  authTlsMatchCn,
  authTlsPassCertificateToUpstream,
  authTlsSecret,
  authTlsVerifyClient,
  authTlsVerifyDepth,
} from "../annotations/client-certificates.ts";
import { readClientCertificates } from "../client-certificates.ts";
import type { Group } from "./group.ts";
import { reportPartners } from "./partners.ts";

const partners = [
  ...[authTlsVerifyClient, authTlsVerifyDepth, authTlsPassCertificateToUpstream],
  ...[authTlsErrorPage, authTlsMatchCn],
];

const ownKey = annotationKey(authTls.annotations.authTlsSecret);

export const clientCertificates: Group = (read, context) => {
  const { ingress, isWritten } = context;
  // The annotation of this gateway, which applies to handshakes, takes precedence.
  if (Object.hasOwn(ingress.metadata.annotations ?? {}, ownKey)) return {};
  const rules = readClientCertificates(read, context, context);
  if (rules === undefined) {
    if (isWritten(authTlsSecret)) return {};
    reportPartners(partners, "has no effect without auth-tls-secret", read, context);
    return {};
  }
  const clients = clientRulesOf(refOf(ingress), rules);
  return { route: (route) => ({ ...route, clients }) };
};
