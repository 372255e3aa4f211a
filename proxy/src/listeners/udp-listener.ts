import type { Socket } from "node:dgram";
import type { L4Table } from "../l4/l4-table.ts";
import { maxQueuedBytes, type UdpClient, type UdpSessions } from "../l4/udp-sessions.ts";
import type { BindFailure } from "./bind-failure.ts";
import { bindUdp } from "./bind-udp.ts";
import type { Draining } from "./drain.ts";
import type { ListenerContext } from "./listener-context.ts";
import type { ListenerTables } from "./listener.ts";
import { plainAddress } from "./peer.ts";
import type { SocketPlan } from "./socket-plan.ts";

/** The size of the receive buffer of a socket, which absorbs bursts while the event loop is busy. */
const receiveBufferBytes = 4 * 1024 * 1024;

/** One UDP port: its socket, and the sessions of its clients. Routes change in place. */
export class UdpListener implements Draining {
  /** Port of the socket while it is bound and accepts new clients. */
  localPort: number | undefined = undefined;
  readonly port: number;
  private readonly context: ListenerContext;
  private readonly sessions: UdpSessions;
  private socket: Socket | undefined = undefined;
  private table: L4Table | undefined;

  constructor({ port }: SocketPlan, { l4 }: ListenerTables, context: ListenerContext) {
    this.port = port;
    this.context = context;
    this.table = l4;
    this.sessions = context.l4.udpSessions(port, (message, client) => this.reply(message, client));
  }

  /** Opens the socket on `port`. Returns the failure, or undefined if it is open. */
  async bind(port: number): Promise<BindFailure | undefined> {
    const { bindAddress: address, reusePort } = this.context;
    const bound = await bindUdp({ port, address, reusePort, receiveBufferBytes });
    if (!bound.ok) return bound.error;
    this.start(bound.value);
    return undefined;
  }

  /** Applies the changes that are possible without a new socket. */
  update(_: SocketPlan, { l4 }: ListenerTables): void {
    if (this.table === l4) return;
    this.table = l4;
    this.sessions.follow(l4?.find("")?.route);
  }

  /** Does nothing: UDP clients cannot be asked to leave. */
  announceEnd(): void {}

  /** Stops accepting new clients. Resolves when all sessions have ended; the port is then free. */
  async drain(): Promise<void> {
    this.localPort = undefined;
    await this.sessions.drain();
    this.close();
  }

  /** Ends all sessions now, frees the port, and returns the number of sessions. */
  destroy(): number {
    this.close();
    return this.sessions.destroy();
  }

  private close(): void {
    this.context.l4.forget(this.sessions);
    this.socket?.close();
    this.socket = undefined;
  }

  private start(socket: Socket): void {
    this.socket = socket;
    this.localPort = socket.address().port;
    this.reportReceiveBuffer(socket);
    socket.on("error", (error: NodeJS.ErrnoException) => {
      this.context.log.error(
        { listener: this.port, reason: error.code ?? error.message },
        "UDP socket failed",
      );
    });
    socket.on("message", (message, { address, port }) => {
      const client = { address, port, ip: plainAddress(address) };
      this.sessions.receive(message, client, this.table?.find("")?.route);
    });
  }

  /**
   * Logs a receive buffer that is too small. Linux allows `net.core.rmem_max`, and reports twice the size for overhead.
   */
  private reportReceiveBuffer(socket: Socket): void {
    const bytes = socket.getRecvBufferSize();
    if (bytes >= receiveBufferBytes) return;
    this.context.log.info(
      { listener: this.port, receive_buffer_bytes: bytes, wanted_bytes: receiveBufferBytes },
      "UDP receive buffer is smaller than requested: raise net.core.rmem_max to avoid losses in bursts",
    );
  }

  private reply(message: Buffer, { address, port }: UdpClient): void {
    const { socket } = this;
    if (socket === undefined) return;
    if (socket.getSendQueueSize() <= maxQueuedBytes) socket.send(message, port, address);
    else this.sessions.drop("overflow");
  }
}
