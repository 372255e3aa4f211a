/** How much of the resources of ports are the certificates of Gateways. See docs/routing.md, "Size". */
import type { TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import type { ClientCertPort } from "@svc-gateway/common/ir/client-certificate.ts";
import { memo } from "../../incremental/memo.ts";
import type { GatewayScope } from "./scope.ts";

/**
 * The characters of the certificates and client authorities that Gateways offer on the ports of a scope, as resources
 * contain them. The size ledger counts them for the namespaces of the Gateways.
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

/** Line ends of PEM are escaped in JSON. */
const encodedLength = (text: string): number => JSON.stringify(text).length;
