import { type IncomingHttpHeaders, IncomingMessage } from "node:http";

/** Nearly every request has none of the fields that are looked for. */
const none: IncomingHttpHeaders = Object.freeze({});

/**
 * A request whose `headers` has only what Node's server and the front look up by name: the fields that frame a body, and
 * Expect, TE and Upgrade. Node would build an object of all fields of each request to find none of them there, which is
 * more work than routing it. Whatever else is asked of the fields of a request is asked of `rawHeaders`.
 */
export class IncomingRequest extends IncomingMessage {}

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

/** The lower-case name of a field that is looked up; undefined for all others, most of which differ in length. */
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
