import { Socket, type SocketConstructorOpts } from "node:net";
import type {
  AcceptedConnection,
  Acceptor,
  ServerTls,
  ServerTlsEvents,
  SocketAddress,
} from "../accepting.ts";
import { HandleTransport } from "./handle-transport.ts";
import { startServerTls } from "./accepted-tls.ts";
import {
  type AddressOut,
  type CreateServerTls,
  type HandleInternals,
  listeningHandleOf,
  type TcpHandle,
} from "./internals.ts";
import { OwnHandle } from "./own-handle.ts";

/** The value that Node's servers set for each connection (`keepAliveInitialDelay`). */
const keepAliveDelaySeconds = 60;

/**
 * Accepts connections on the handle of the listening socket. libuv passes the handle of a connection, and no socket is
 * created unless one is needed. Options are set once on the listening socket, from which connections inherit them on
 * Linux (tcp(7)).
 */
export function createAcceptor(
  internals: HandleInternals,
  prototype: object,
  createTls: CreateServerTls,
): Acceptor {
  return {
    accept(server, accept) {
      const listening = listeningHandleOf(server);
      if (listening === undefined) return false;
      listening.setNoDelay(true);
      listening.setKeepAlive(true, keepAliveDelaySeconds);
      const { onconnection } = listening;
      listening.onconnection = function (status, client) {
        const isUsable = status === 0 && client !== undefined && Object.getPrototypeOf(client) === prototype;
        if (isUsable) accept(new Accepted(client, internals, createTls));
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

  private owner: OwnHandle | undefined = undefined;
  private readonly createTls: CreateServerTls;

  constructor(handle: TcpHandle, internals: HandleInternals, createTls: CreateServerTls) {
    this.handle = handle;
    this.internals = internals;
    this.createTls = createTls;
    const out: AddressOut = {};
    this.peer = addressOf(handle.getpeername(out), out);
  }

  localAddress(): SocketAddress | undefined {
    const out: AddressOut = {};
    return addressOf(this.handle.getsockname(out), out);
  }

  open(): HandleTransport {
    const { handle, internals } = this;
    this.owner = new OwnHandle(handle, internals);
    return new HandleTransport(this.owner, internals);
  }

  secure(tls: ServerTls, events: ServerTlsEvents): void {
    const { owner, internals, createTls } = this;
    if (owner !== undefined) startServerTls(owner, internals, createTls, tls, events);
  }

  toSocket(): Socket {
    const options = { handle: this.handle, allowHalfOpen: true };
    return new Socket(options as unknown as SocketConstructorOpts);
  }

  passToSocket(read: Uint8Array): Socket | undefined {
    return this.owner?.pass((tcp) => socketOfRead(tcp, read));
  }
}

/** The size of a read by Node's sockets. */
const readBytes = 65_536;

/** Creates a socket on a handle that reads into user memory. Each read gets new memory, which the socket keeps. */
function socketOfRead(handle: TcpHandle, read: Uint8Array): Socket {
  const options = {
    handle,
    allowHalfOpen: true,
    onread: {
      buffer: () => Buffer.allocUnsafeSlow(readBytes),
      callback: (length: number, memory: Buffer) => socket.push(memory.subarray(0, length)),
    },
  };
  const socket: Socket = new Socket(options as unknown as SocketConstructorOpts);
  socket.unshift(Buffer.from(read));
  return socket;
}

const addressOf = (status: number, { address, port }: AddressOut): SocketAddress | undefined =>
  status !== 0 || address === undefined || port === undefined ? undefined : { address, port };
