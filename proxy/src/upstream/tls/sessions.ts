import type { TLSSocket } from "node:tls";
import type { UpstreamEndpoint } from "../upstream.ts";

/** How long a session is resumed before the certificate is verified again, even if its tickets are valid for longer. */
const maxAgeMs = 3_600_000;

export type KeptSession = { readonly session: Buffer; readonly verifiedAtMs: number };

/**
 * The newest session of each endpoint (RFC 8446 2.2). An endpoint object belongs to one policy and client certificate,
 * so a session is never resumed under rules other than those by which it was verified.
 */
const sessions = new WeakMap<UpstreamEndpoint, KeptSession>();

/** Returns a session to resume; undefined if there is none or it is too old. */
export function sessionOf(endpoint: UpstreamEndpoint): KeptSession | undefined {
  const kept = sessions.get(endpoint);
  if (kept === undefined || performance.now() - kept.verifiedAtMs < maxAgeMs) return kept;
  sessions.delete(endpoint);
  return undefined;
}

/**
 * Stores the sessions that the endpoint issues on a new connection. Node emits `session` only after the certificate was
 * verified, and only to listeners that were added before the handshake.
 */
export function keepSessions(
  endpoint: UpstreamEndpoint,
  socket: TLSSocket,
  offered: KeptSession | undefined,
): void {
  socket.on("session", (session: Buffer) => {
    // The age of a resumed session is that of the session that it continues.
    const verifiedAtMs = socket.isSessionReused() ? offered?.verifiedAtMs : undefined;
    sessions.set(endpoint, { session, verifiedAtMs: verifiedAtMs ?? performance.now() });
  });
}
