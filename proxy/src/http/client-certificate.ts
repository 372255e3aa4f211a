import type { TLSSocket } from "node:tls";
import type { ClientPolicy } from "../tls/client-validation.ts";
import type { ClientConnection, VerifiedClient } from "./connection.ts";
import type { HeaderList } from "./message.ts";

export const clientCertificateHeader = "X-SSL-Client-Cert";

/** What requests see of the client's certificate; the encoding is made once per connection. */
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

/**
 * Whether a request for `host` may come over this connection (RFC 9110 15.5.20): a host that lets in only clients with
 * certificates is served over connections whose handshake was checked for it, or by the same rules. A connection that
 * was let in stays so when the rules of its host change, unless nobody is let in any more.
 */
export function isMisdirected({ listener, tls }: ClientConnection, host: string): boolean {
  const wanted = listener.clientPolicyOf?.(host);
  if (wanted?.mode !== "require") return false;
  const proven = tls?.client?.policy;
  if (proven?.mode !== "require" || wanted.authorities.length === 0) return true;
  return proven.host !== wanted.host && proven.id !== wanted.id;
}

/** Shows the certificate to the upstream of a host that wants it. */
export function addClientCertificate(
  headers: HeaderList,
  { listener, tls }: ClientConnection,
  host: string,
): void {
  const encoded = tls?.client?.encodedCertificate ?? "";
  if (encoded === "" || listener.clientPolicyOf?.(host)?.forward !== true) return;
  headers.push(clientCertificateHeader, encoded);
}
