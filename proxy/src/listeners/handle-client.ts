import type { ClientConnection, ForwardingMemo, TlsFacts } from "../exchange/client-connection.ts";
import type { ListenerView } from "../exchange/listener-view.ts";
import type { AcceptedConnection } from "../sockets/accepting.ts";
import { type Peer, plainAddress } from "./peer.ts";

/** A client whose connection has no socket. Its local address is read from the kernel only when a feature needs it. */
export class HandleClient implements ClientConnection {
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly proxied = false;
  readonly listener: ListenerView;
  readonly tls: TlsFacts | undefined;
  forwarding?: ForwardingMemo = undefined;
  private readonly accepted: AcceptedConnection;

  constructor(accepted: AcceptedConnection, { address, port }: Peer, listener: ListenerView, tls?: TlsFacts) {
    this.accepted = accepted;
    this.remoteAddress = address;
    this.remotePort = port;
    this.listener = listener;
    this.tls = tls;
  }

  get localAddress(): string | undefined {
    const local = this.accepted.localAddress();
    return local && plainAddress(local.address);
  }
}
