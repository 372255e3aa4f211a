import { randomBytes } from "node:crypto";
import { ticketKeyBytes, type TicketKeys } from "@svc-gateway/common/ir/ticket-keys.ts";

/** Keys of session tickets. Node's TLS knows one at a time, so each older one gets a server of its own. */
export type TicketKeyRing = {
  /** Encrypts the tickets of new sessions. */
  readonly newest: Buffer;
  /** Still accepted, by the name that tickets carry (`ClientHello.ticketKeyName`). */
  readonly older: ReadonlyMap<string, Buffer>;
};

const nameBytes = 16;

export function readTicketKeys({ keys }: TicketKeys): TicketKeyRing {
  const [newest = randomBytes(ticketKeyBytes), ...older] = keys.map((text) => Buffer.from(text, "base64"));
  return { newest, older: new Map(older.map((key) => [key.toString("latin1", 0, nameBytes), key])) };
}

/** Random keys until a snapshot has some: sessions are then resumed by the same worker only. */
export const randomTicketKeys = (): TicketKeyRing => ({
  newest: randomBytes(ticketKeyBytes),
  older: new Map(),
});
