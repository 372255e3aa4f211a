/** The result of a handshake. `version` is the negotiated one, or `unknown` if the handshake did not get that far. */
export type HandshakeResult = {
  readonly result: "ok" | "fail";
  readonly version: "TLSv1.2" | "TLSv1.3" | "unknown";
  /** The reason of a failure, in fixed wording for counters and debug logs. */
  readonly reason?: HandshakeFailure;
};

export type HandshakeFailure =
  /** The connection ended before its first byte, so there was no handshake. Not reported. */
  | "silent"
  | "too many handshakes"
  | "timeout"
  | "unknown server name"
  | "client certificate refused"
  | "client closed"
  | "failed";

export type HandshakeEvents = { onHandshake(result: HandshakeResult): void };
