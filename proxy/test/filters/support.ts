import type { ClientConnection } from "../../src/exchange/client-connection.ts";
import { Exchange } from "../../src/exchange/exchange.ts";
import { Fields } from "../../src/message/fields.ts";
import type { ClientStream, HeaderList, HttpVersion, RequestBody } from "../../src/message/message.ts";
import { emptyPortTable } from "../../src/routing/changing-port-table.ts";
import { samePublicPorts } from "../listeners/public-ports.ts";

const connectionTo = (secure: boolean, publicPort: number): ClientConnection => ({
  remoteAddress: "192.0.2.1",
  remotePort: 40_000,
  proxied: false,
  listener: {
    port: 80,
    portLabel: "80",
    publicPorts: samePublicPorts(publicPort),
    secure,
    table: emptyPortTable,
    draining: false,
  },
  tls: undefined,
});

export type ExchangeOptions = {
  readonly version?: HttpVersion;
  /** POST when absent. */
  readonly method?: string;
  /** Declared length of the body; `streaming` for a body without one; absent for no body. */
  readonly body?: number | "streaming";
  /** On a listener with TLS. */
  readonly secure?: boolean;
  /** The port that clients see. */
  readonly publicPort?: number;
  /** Address of the peer; 192.0.2.1 when absent. */
  readonly peer?: string;
  /** Request fields. */
  readonly headers?: HeaderList;
};

/** An exchange that no pipeline serves. */
class FakeExchange extends Exchange {
  expire(): void {}
  giveUp(): void {}
  protected onFinish(): void {}
}

/** An exchange as a filter sees it, without a network. */
export function exchange({
  version = "1.1",
  method = "POST",
  body,
  secure = false,
  publicPort = 80,
  peer,
  headers = [],
}: ExchangeOptions = {}): Exchange {
  const requestBody: RequestBody | null =
    body === undefined
      ? null
      : { length: body === "streaming" ? undefined : body, started: false, start() {}, resume() {} };
  const client: ClientStream = {
    body: requestBody,
    canUpgrade: false,
    headSent: false,
    bytesSent: 0,
    sendInformational() {},
    sendHead() {},
    takeBack() {},
    write: () => true,
    end() {},
    abort() {},
    closeAfterResponse() {},
    upgrade: () => undefined,
    onDrain: null,
    onHeadSent: null,
    onClose: null,
  };
  const head = {
    version,
    method,
    target: "/",
    authority: undefined,
    scheme: undefined,
    headers: Fields.of([...headers]),
  };
  const connection = connectionTo(secure, publicPort);
  const from = peer === undefined ? connection : { ...connection, remoteAddress: peer };
  const result = new FakeExchange(from, head, client, 0);
  // As in the pipeline, the forwarded fields are a list of their own.
  result.headers = Fields.of([...headers]);
  return result;
}
