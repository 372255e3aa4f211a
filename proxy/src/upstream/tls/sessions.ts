import type { TLSSocket } from "node:tls";
import type { UpstreamEndpoint } from "../upstream.ts";

/** After this long the backend's certificate is verified again, even when its tickets are valid for longer. */
const maxAgeMs = 3_600_000;

export type KeptSession = { readonly session: Buffer; readonly verifiedAtMs: number };

/**
 * The newest session of each endpoint (RFC 8446 2.2). An endpoint object belongs to one policy and client certificate,
 * so that a session is never resumed under other rules than those it was verified by.
 */
const sessions = new WeakMap<UpstreamEndpoint, KeptSession>();

/** A session to resume; undefined: there is none, or it is too old. */
export function sessionOf(endpoint: UpstreamEndpoint): KeptSession | undefined {
  const kept = sessions.get(endpoint);
  if (kept === undefined || performance.now() - kept.verifiedAtMs < maxAgeMs) return kept;
  sessions.delete(endpoint);
  return undefined;
}

/**
 * Keeps the sessions that the endpoint offers on a connection that is about to be made. Node emits `session` only after
 * the certificate was verified, and only to listeners from before the handshake.
 */
export function keepSessions(
  endpoint: UpstreamEndpoint,
  socket: TLSSocket,
  offered: KeptSession | undefined,
): void {
  socket.on("session", (session: Buffer) => {
    // A resumed session was verified when the one that it continues was.
    const verifiedAtMs = socket.isSessionReused() ? offered?.verifiedAtMs : undefined;
    sessions.set(endpoint, { session, verifiedAtMs: verifiedAtMs ?? performance.now() });
  });
}
