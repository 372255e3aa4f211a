import { type IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Readable } from "node:stream";

/** Receives the body of a request as Node's parser reads it. */
export type BodyReceiver = {
  /** Receives a piece of the body, or null at its end. Returns false to pause until the request's `_read` is called. */
  receive(piece: Buffer | null): boolean;
  /** True once the last piece has been received. */
  readonly ended: boolean;
};

/** The `headers` of a request without any of the fields that are looked up, as nearly every request is. */
const none: IncomingHttpHeaders = Object.freeze({});

/**
 * A request whose `headers` contains only the fields that Node's server and the front look up by name: those that frame
 * a body, and Expect, TE and Upgrade. Node would build an object of all fields of each request, which usually has none
 * of them and is more work than routing. All other fields are read from `rawHeaders`.
 *
 * A body is passed to its receiver, if there is one, in the turn in which it is read. So the head of the upstream
 * request does not have to wait for the first piece, and the events of a stream are not needed.
 */
export class IncomingRequest extends IncomingMessage {
  receiver: BodyReceiver | undefined = undefined;

  override push(piece: Buffer | null, encoding?: BufferEncoding): boolean {
    return this.receiver === undefined ? super.push(piece, encoding) : this.receiver.receive(piece);
  }
}

const streamEnded = Object.getOwnPropertyDescriptor(Readable.prototype, "readableEnded")?.get;

/** Reports the end of a body that went to a receiver: Node's server releases a request that was read to its end. */
Object.defineProperty(IncomingRequest.prototype, "readableEnded", {
  get(this: IncomingRequest) {
    return this.receiver === undefined ? streamEnded?.call(this) : this.receiver.ended;
  },
});

Object.defineProperty(IncomingRequest.prototype, "headers", {
  get(this: IncomingMessage) {
    const { rawHeaders } = this;
    let found = none;
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const name = lookedUpName(rawHeaders[i] as string);
      if (name === undefined) continue;
      if (found === none) found = {};
      const value = rawHeaders[i + 1] as string;
      const before = found[name];
      found[name] = before === undefined ? value : `${before}, ${value}`;
    }
    return found;
  },
});

type LookedUp = "te" | "expect" | "upgrade" | "content-length" | "transfer-encoding";

/** Returns the lower-case name of a field that is looked up; undefined for others, most of which differ in length. */
function lookedUpName(name: string): LookedUp | undefined {
  switch (name.length) {
    case 2:
      return named(name, "te");
    case 6:
      return named(name, "expect");
    case 7:
      return named(name, "upgrade");
    case 14:
      return named(name, "content-length");
    case 17:
      return named(name, "transfer-encoding");
    default:
      return undefined;
  }
}

const named = <Lower extends LookedUp>(name: string, lower: Lower): Lower | undefined =>
  name === lower || name.toLowerCase() === lower ? lower : undefined;
