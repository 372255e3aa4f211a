/** Octets of a head compared with texts, where they are. */
import type { BorrowedBytes } from "../../../sockets/read-buffer.ts";

/** Whether a name is that of Transfer-Encoding. */
export const isCodingName = (bytes: BorrowedBytes, from: number, to: number): boolean =>
  /^transfer-encoding$/i.test(bytes.toString("latin1", from, to));

/** Methods of nearly all requests, so that these need no text of their own. */
const knownMethods = ["GET", "POST", "PUT", "HEAD", "PATCH", "DELETE", "OPTIONS"];

/** The method as text. */
export function methodOf(bytes: BorrowedBytes, from: number, to: number): string {
  for (const method of knownMethods) {
    if (method.length === to - from && startsWith(bytes, from, method)) return method;
  }
  return bytes.toString("latin1", from, to);
}

/** Whether the octets from `from` on are those of a text. */
export function startsWith(bytes: BorrowedBytes, from: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[from + i] !== text.charCodeAt(i)) return false;
  return true;
}
