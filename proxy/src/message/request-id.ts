import { randomFillSync } from "node:crypto";

const bytesPerId = 16;
/** Random bytes are drawn for many ids at once: a call for each one would take longer than the rest of a filter. */
const pool = Buffer.alloc(bytesPerId * 256);
let used = pool.length;

/** A random id of 32 hexadecimal digits, which no other request has. */
export function newRequestId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytesPerId;
  return pool.toString("hex", used - bytesPerId, used);
}
