/** The share of certificates of Gateways in the resources of ports. See docs/routing.md, "Size". */
import type { TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import type { ClientCertPort } from "@svc-gateway/common/ir/client-certificate.ts";
import { memo } from "../../incremental/memo.ts";
import type { GatewayScope } from "./scope.ts";

/**
 * The number of characters that the certificates and client authorities of Gateways take in the resources of a
 * scope's ports. The size ledger counts them for the namespaces of the Gateways.
 */
export function offeredCertificateBytes({
  tls,
  clientCerts,
}: Pick<GatewayScope, "tls" | "clientCerts">): number {
  let bytes = 0;
  for (const port of tls.values()) bytes += certificatesOf(port);
  for (const port of clientCerts.values()) bytes += authoritiesOf(port);
  return bytes;
}

const certificatesOf = memo(({ certificates }: TlsPort): number =>
  Object.values(certificates).reduce(
    (sum, { chainPem, keyPem }) => sum + encodedLength(chainPem) + encodedLength(keyPem),
    0,
  ),
);

const authoritiesOf = memo(({ authorities }: ClientCertPort): number =>
  Object.values(authorities).reduce((sum, text) => sum + encodedLength(text), 0),
);

/** The length as JSON, in which the line ends of PEM are escaped. */
const encodedLength = (text: string): number => JSON.stringify(text).length;
