import { createHash, randomBytes } from "node:crypto";
import type { HeaderList, ReadonlyHeaderList } from "../../message/message.ts";
import { dropFields, firstField } from "../../message/fields.ts";

/** What RFC 6455 4.2.2 appends to the key before it is hashed. */
const guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

const handshakeFields: ReadonlySet<string> = new Set(["sec-websocket-key"]);
const answerFields: ReadonlySet<string> = new Set(["sec-websocket-accept"]);

/** A request over HTTP/2 has no key (RFC 8441 5.1), and a backend of HTTP/1.1 wants one. Answers what it must hash. */
export function addWebSocketKey(headers: HeaderList): string {
  const key = randomBytes(16).toString("base64");
  dropFields(headers, handshakeFields);
  headers.push("sec-websocket-key", key);
  return key;
}

/** Takes the proof out of an answer, which is for the proxy, and says whether it is one for `key`. */
export function takeWebSocketProof(headers: HeaderList, key: string): boolean {
  const proof = firstField(headers as ReadonlyHeaderList, "sec-websocket-accept");
  dropFields(headers, answerFields);
  return proof?.trim() === createHash("sha1").update(`${key}${guid}`).digest("base64");
}
