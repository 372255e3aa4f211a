import { randomFillSync } from "node:crypto";

const bytesPerId = 16;
/** Random bytes for many ids: one call per id would take longer than the rest of a filter. */
const pool = Buffer.alloc(bytesPerId * 256);
let used = pool.length;

/** Returns a random, unique id of 32 hexadecimal digits. */
export function newRequestId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytesPerId;
  return pool.toString("hex", used - bytesPerId, used);
}
