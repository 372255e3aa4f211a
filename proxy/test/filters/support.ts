import type { ClientConnection } from "../../src/http/connection.ts";
import { Exchange } from "../../src/http/exchange.ts";
import type { ClientStream, HttpVersion, RequestBody } from "../../src/http/message.ts";
import { emptyPortTable } from "../../src/routing/port-table.ts";

const connection: ClientConnection = {
  remoteAddress: "192.0.2.1",
  remotePort: 40_000,
  proxied: false,
  listener: {
    port: 80,
    portLabel: "80",
    publicPort: 80,
    publicPortLabel: "80",
    secure: false,
    table: emptyPortTable,
    draining: false,
  },
  tls: undefined,
};

export type ExchangeOptions = {
  readonly version?: HttpVersion;
  /** Declared length of the body; `streaming` for a body without one; absent for no body. */
  readonly body?: number | "streaming";
};

/** An exchange as a filter sees it, without a network. */
export function exchange({ version = "1.1", body }: ExchangeOptions = {}): Exchange {
  const requestBody: RequestBody | null =
    body === undefined
      ? null
      : { length: body === "streaming" ? undefined : body, started: false, start() {}, resume() {} };
  const client: ClientStream = {
    body: requestBody,
    headSent: false,
    bytesSent: 0,
    sendInformational() {},
    sendHead() {},
    write: () => true,
    end() {},
    abort() {},
    closeAfterResponse() {},
    upgrade: () => undefined,
    onDrain: null,
    onClose: null,
  };
  const head = { version, method: "POST", target: "/", authority: undefined, scheme: undefined, headers: [] };
  return new Exchange(connection, head, client, 0);
}
