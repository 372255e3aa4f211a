import { createHash, randomBytes } from "node:crypto";
import type { Fields } from "../../../message/fields.ts";

/** The text that RFC 6455 4.2.2 appends to the key before it is hashed. */
const guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

const handshakeFields: ReadonlySet<string> = new Set(["sec-websocket-key"]);
const answerFields: ReadonlySet<string> = new Set(["sec-websocket-accept"]);

/** Adds and returns a key, which an HTTP/1.1 backend requires and an HTTP/2 request does not have (RFC 8441 5.1). */
export function addWebSocketKey(headers: Fields): string {
  const key = randomBytes(16).toString("base64");
  headers.remove(handshakeFields);
  headers.append("sec-websocket-key", key);
  return key;
}

/** Removes the proof from an answer, since it is meant for the proxy, and returns whether it is valid for `key`. */
export function takeWebSocketProof(headers: Fields, key: string): boolean {
  const proof = headers.first("sec-websocket-accept");
  headers.remove(answerFields);
  return proof?.trim() === createHash("sha1").update(`${key}${guid}`).digest("base64");
}
