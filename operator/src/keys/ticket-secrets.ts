/** Creates and encodes the keys that encrypt TLS session tickets. See docs/features/tls.md. */
import { Buffer } from "node:buffer";
import { hkdfSync, randomBytes } from "node:crypto";
import { ticketKeysKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import { ticketKeyBytes } from "@svc-gateway/common/ir/ticket-keys.ts";

/** A key that is never sent to proxies: the keys of each scope are derived from it. */
export type TicketSecret = { readonly createdMs: number; readonly key: Buffer };

const lifeMs = 12 * 60 * 60_000;
const maxKept = 3;

/** When the next key is due: twelve hours after the newest one, or immediately. */
export const nextTicketSecretMs = ([newest]: readonly TicketSecret[]): number =>
  newest === undefined ? 0 : newest.createdMs + lifeMs;

/** Returns the keys with a new one at the front, followed by at most two older ones. */
export const withNewTicketSecret = (
  secrets: readonly TicketSecret[],
  nowMs: number,
): readonly TicketSecret[] =>
  [{ createdMs: nowMs, key: randomBytes(ticketKeyBytes) }, ...secrets].slice(0, maxKept);

/** Formats one line per key, newest first: the time (RFC 3339) and the key in base64. */
export const formatTicketSecrets = (secrets: readonly TicketSecret[]): string =>
  secrets
    .map(({ createdMs, key }) => `${new Date(createdMs).toISOString()} ${key.toString("base64")}\n`)
    .join("");

/**
 * Parses keys. Lines that are not keys are omitted; a key from the future counts as created now, so that it is not kept
 * indefinitely.
 */
export function parseTicketSecrets(text: string, nowMs: number): readonly TicketSecret[] {
  return text
    .split("\n")
    .flatMap((line): TicketSecret[] => {
      const [time = "", encoded = ""] = line.split(" ");
      const createdMs = Math.min(Date.parse(time), nowMs);
      const key = Buffer.from(encoded, "base64");
      return Number.isNaN(createdMs) || key.length !== ticketKeyBytes ? [] : [{ createdMs, key }];
    })
    .sort((a, b) => b.createdMs - a.createdMs)
    .slice(0, maxKept);
}

/** The keys for the proxies of a scope, derived so that one scope cannot read the tickets of another. */
export const ticketKeysOf = (secrets: readonly TicketSecret[], scope: string): Resource =>
  encodeResource<"ticket-keys">(ticketKeysKey, {
    keys: secrets.map(({ key }) =>
      Buffer.from(hkdfSync("sha256", key, "", `tls session tickets ${scope}`, ticketKeyBytes)).toString(
        "base64",
      ),
    ),
  });
