import { compileCidrs, type Cidr } from "@svc-gateway/common/values/cidr.ts";
import { canonicalIp } from "@svc-gateway/common/values/ip-address.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { RequestIdAnswer } from "../exchange/observer.ts";
import { plainName } from "../message/field-list.ts";
import type { Fields } from "../message/fields.ts";
import { memoByName } from "../message/name-memo.ts";

/** The ids that are accepted from a trusted peer. They are copied to headers and logs, hence short, visible ASCII. */
const acceptable = /^[!-~]{1,128}$/;

/**
 * Assigns an id to each request: that of a trusted peer, or a new one (docs/features/access-log.md, "Request ids").
 * Backends and clients get it in the same header.
 */
export class RequestIds implements RequestIdAnswer {
  private readonly name: string;
  private readonly lowerName: string;
  private readonly isOwn: (name: string) => boolean;
  private readonly isTrusted: (address: string) => boolean;

  constructor(name: string, trusted: readonly Cidr[]) {
    this.name = name;
    this.lowerName = name.toLowerCase();
    const plain = plainName(name);
    this.isOwn = memoByName((one) => plainName(one) === plain);
    const ranges = compileCidrs(trusted);
    this.isTrusted = (address) => !ranges.isEmpty && ranges.contains(canonicalIp(address) ?? address);
  }

  /** Sets the id in the fields that are forwarded to the backend, replacing any field of that name from the client. */
  receive(exchange: Exchange, headers: Fields): void {
    const { connection, received } = exchange;
    const sent = received.first(this.lowerName);
    // A question of the proxy to one of its hosts has the id of the request on whose behalf it is sent.
    const isTrusted = connection.isQuestion === true || this.isTrusted(connection.remoteAddress);
    if (isTrusted && sent !== undefined && acceptable.test(sent)) exchange.requestId = sent;
    headers.removeThat(this.isOwn);
    headers.append(this.name, exchange.requestId);
    exchange.requestIds = this;
  }

  /** Sets the id in the response, replacing any field of that name from the backend. */
  answer(headers: Fields, id: string): void {
    headers.put([this.name, id]);
  }
}
