import { Socket, type SocketConstructorOpts } from "node:net";
import type { AcceptedConnection, Acceptor, SocketAddress } from "../accepting.ts";
import { HandleTransport } from "./handle-transport.ts";
import { type AddressOut, type HandleInternals, listeningHandleOf, type TcpHandle } from "./internals.ts";
import { OwnHandle } from "./own-handle.ts";

/** As Node's servers do it for each connection (`keepAliveInitialDelay`). */
const keepAliveDelaySeconds = 60;

/**
 * Accepts on the handle of the listening socket: libuv gives the handle of a connection, and no socket is made unless somebody needs
 * one. Options of connections are set once, on the listening socket, from which Linux hands them down (tcp(7)).
 */
export function createAcceptor(internals: HandleInternals, prototype: object): Acceptor {
  return {
    accept(server, accept) {
      const listening = listeningHandleOf(server);
      if (listening === undefined) return false;
      listening.setNoDelay(true);
      listening.setKeepAlive(true, keepAliveDelaySeconds);
      const { onconnection } = listening;
      listening.onconnection = function (status, client) {
        const isUsable = status === 0 && client !== undefined && Object.getPrototypeOf(client) === prototype;
        if (isUsable) accept(new Accepted(client, internals));
        else onconnection.call(this, status, client);
      };
      return true;
    },
  };
}

class Accepted implements AcceptedConnection {
  readonly peer: SocketAddress | undefined;
  private readonly handle: TcpHandle;
  private readonly internals: HandleInternals;

  constructor(handle: TcpHandle, internals: HandleInternals) {
    this.handle = handle;
    this.internals = internals;
    const out: AddressOut = {};
    this.peer = addressOf(handle.getpeername(out), out);
  }

  localAddress(): SocketAddress | undefined {
    const out: AddressOut = {};
    return addressOf(this.handle.getsockname(out), out);
  }

  open(): HandleTransport {
    const { handle, internals } = this;
    return new HandleTransport(new OwnHandle(handle, internals), internals);
  }

  toSocket(): Socket {
    const options = { handle: this.handle, allowHalfOpen: true };
    return new Socket(options as unknown as SocketConstructorOpts);
  }
}

const addressOf = (status: number, { address, port }: AddressOut): SocketAddress | undefined =>
  status !== 0 || address === undefined || port === undefined ? undefined : { address, port };
