/** `version` is what was negotiated: `TLSv1.2`, `TLSv1.3`, or `unknown` for a handshake that did not get so far. */
export type HandshakeResult = {
  readonly result: "ok" | "fail";
  readonly version: "TLSv1.2" | "TLSv1.3" | "unknown";
  /** Why it failed: fixed wording for counters and debug logs. */
  readonly reason?: HandshakeFailure;
};

export type HandshakeFailure =
  /** The connection ended before its first byte, so there was no handshake: not reported. */
  | "silent"
  | "too many handshakes"
  | "timeout"
  | "unknown server name"
  | "client certificate refused"
  | "client closed"
  | "failed";

export type HandshakeEvents = { onHandshake(result: HandshakeResult): void };
