import { X509Certificate } from "node:crypto";
import type { DetailedPeerCertificate, Server, TLSSocket } from "node:tls";

/** Facts about a client that are recorded during its handshake, because Node does not provide them afterwards. */
export type HandshakeNotes = {
  /** The secret that encrypts the server's records after a TLS 1.3 handshake (RFC 8446 7.1). */
  readonly serverSecret: Buffer | undefined;
  /** The certificates that the client sent after its own, as far as each is the issuer of the previous one. */
  readonly presented: readonly X509Certificate[];
};

export type HandshakeNotebook = {
  /** Records the facts of all connections of a server. */
  watch(server: Server): void;
  of(socket: TLSSocket): HandshakeNotes;
};

const serverSecretLabel = "SERVER_TRAFFIC_SECRET_0 ";
/** The most certificates that are read, which is more than any real chain has; the rest is ignored. */
const maxPresented = 16;

/**
 * Creates a notebook. Before a handshake is complete, Node exposes its connection only by the key log. At completion
 * Node itself reads the client's certificate, and some versions lose the other certificates when they do
 * (nodejs/node#65579). They are therefore read before.
 */
export function createHandshakeNotebook(): HandshakeNotebook {
  type Notes = { -readonly [Key in keyof HandshakeNotes]: HandshakeNotes[Key] };
  const notes = new WeakMap<TLSSocket, Notes>();

  const open = (socket: TLSSocket): Notes => {
    const opened: Notes = { serverSecret: undefined, presented: [] };
    notes.set(socket, opened);
    socket.prependOnceListener("secure", () => {
      opened.presented = presentedBy(socket);
    });
    return opened;
  };

  return {
    watch(server) {
      server.on("keylog", (bytes: Buffer, socket) => {
        const own = notes.get(socket) ?? open(socket);
        const line = bytes.toString("latin1").trimEnd();
        if (!line.startsWith(serverSecretLabel)) return;
        own.serverSecret = Buffer.from(line.slice(line.lastIndexOf(" ") + 1), "hex");
      });
    },
    of: (socket) => notes.get(socket) ?? { serverSecret: undefined, presented: [] },
  };
}

function presentedBy(socket: TLSSocket): readonly X509Certificate[] {
  const found: X509Certificate[] = [];
  let last: Partial<DetailedPeerCertificate> = socket.getPeerCertificate(true);
  while (found.length < maxPresented) {
    const next: Partial<DetailedPeerCertificate> | undefined = last.issuerCertificate;
    // A root is its own issuer.
    if (next?.raw === undefined || next === last) break;
    found.push(new X509Certificate(next.raw));
    last = next;
  }
  return found;
}
