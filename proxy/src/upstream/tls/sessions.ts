import type { TLSSocket } from "node:tls";
import type { UpstreamEndpoint } from "../upstream.ts";

/** After this long the backend has to prove its certificate again, however long its tickets are good for. */
const maxAgeMs = 3_600_000;

export type KeptSession = { readonly session: Buffer; readonly verifiedAtMs: number };

/**
 * The newest session of each endpoint (RFC 8446 2.2). The object of an endpoint stands for its policy and client
 * certificate as well, so that a session is never resumed under other rules than those it was verified by.
 */
const sessions = new WeakMap<UpstreamEndpoint, KeptSession>();

/** A session to resume; undefined: there is none that may be. */
export function sessionOf(endpoint: UpstreamEndpoint): KeptSession | undefined {
  const kept = sessions.get(endpoint);
  if (kept === undefined || performance.now() - kept.verifiedAtMs < maxAgeMs) return kept;
  sessions.delete(endpoint);
  return undefined;
}

/**
 * Keeps the sessions that the endpoint offers on a connection that is about to be made. Node tells of none before the
 * certificate has been verified, and only if somebody has asked before the handshake.
 */
export function keepSessions(
  endpoint: UpstreamEndpoint,
  socket: TLSSocket,
  offered: KeptSession | undefined,
): void {
  socket.on("session", (session: Buffer) => {
    // A resumed session proves no more than the one that it continues.
    const verifiedAtMs = socket.isSessionReused() ? offered?.verifiedAtMs : undefined;
    sessions.set(endpoint, { session, verifiedAtMs: verifiedAtMs ?? performance.now() });
  });
}
