import { randomBytes } from "node:crypto";
import { ticketKeyBytes, type TicketKeys } from "@svc-gateway/common/ir/ticket-keys.ts";

/** The keys of session tickets. Node's TLS servers have one key each, so each older key gets its own server. */
export type TicketKeyRing = {
  /** Encrypts the tickets of new sessions. */
  readonly newest: Buffer;
  /** The keys that are still accepted, by the name in their tickets (`ClientHello.ticketKeyName`). */
  readonly older: ReadonlyMap<string, Buffer>;
};

const nameBytes = 16;

export function readTicketKeys({ keys }: TicketKeys): TicketKeyRing {
  const [newest = randomBytes(ticketKeyBytes), ...older] = keys.map((text) => Buffer.from(text, "base64"));
  return { newest, older: new Map(older.map((key) => [key.toString("latin1", 0, nameBytes), key])) };
}

/** Creates random keys, used until a snapshot provides some. Only the same worker can then resume a session. */
export const randomTicketKeys = (): TicketKeyRing => ({
  newest: randomBytes(ticketKeyBytes),
  older: new Map(),
});
