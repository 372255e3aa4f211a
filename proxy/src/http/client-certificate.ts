import type { TLSSocket } from "node:tls";
import type { ClientConnection, VerifiedClient } from "../exchange/client-connection.ts";
import type { HeaderList } from "../message/message.ts";
import { type ClientPolicy, type DemandedRules, isProvenBy } from "../tls/client-validation.ts";

export const clientCertificateHeader = "X-SSL-Client-Cert";

/** The client's certificate as its requests see it; encoded once per connection. */
export function verifiedClientOf(
  socket: TLSSocket,
  policy: ClientPolicy | undefined,
): VerifiedClient | undefined {
  if (policy === undefined) return undefined;
  const leaf = policy.forward && socket.authorized ? socket.getPeerX509Certificate() : undefined;
  return { policy, encodedCertificate: leaf === undefined ? "" : encodeAll(leaf.toString()) };
}

/** Every character but ASCII letters and digits as `%` and two hexadecimal digits. */
const encodeAll = (text: string): string =>
  text.replaceAll(
    /[^A-Za-z0-9]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  );

/** True when a request under these rules must not come over this connection (RFC 9110 15.5.20); never over plain HTTP. */
export const isUnproven = ({ tls }: ClientConnection, rules: DemandedRules | undefined): boolean =>
  rules !== undefined && tls !== undefined && !isProvenBy(tls.client?.policy, rules);

/** Adds the client's certificate to requests for hosts that forward it. */
export function addClientCertificate(
  headers: HeaderList,
  { tls }: ClientConnection,
  rules: DemandedRules | undefined,
): void {
  const encoded = tls?.client?.encodedCertificate ?? "";
  if (encoded !== "" && rules?.forward === true) headers.push(clientCertificateHeader, encoded);
}
