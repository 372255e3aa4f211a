/** Functions that compare octets of a head with texts in place. */
import type { BorrowedBytes } from "../../../sockets/read-buffer.ts";

/** Reports whether a name is Transfer-Encoding. */
export const isCodingName = (bytes: BorrowedBytes, from: number, to: number): boolean =>
  /^transfer-encoding$/i.test(bytes.toString("latin1", from, to));

/** The methods of nearly all requests, for which no new string is created. */
const knownMethods = ["GET", "POST", "PUT", "HEAD", "PATCH", "DELETE", "OPTIONS"];

/** Returns a method as text. */
export function methodOf(bytes: BorrowedBytes, from: number, to: number): string {
  for (const method of knownMethods) {
    if (method.length === to - from && startsWith(bytes, from, method)) return method;
  }
  return bytes.toString("latin1", from, to);
}

/** Reports whether the octets from `from` on are those of a text. */
export function startsWith(bytes: BorrowedBytes, from: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[from + i] !== text.charCodeAt(i)) return false;
  return true;
}
