import type { ServerResponse } from "node:http";
import { fieldPairs } from "../../../message/field-list.ts";
import { Fields } from "../../../message/fields.ts";
import type {
  Chunk,
  ClientCloseReason,
  ClientStream,
  HeaderList,
  HttpVersion,
  RequestHead,
  ResponseHead,
} from "../../../message/message.ts";
import { SocketTransport } from "../../../sockets/socket-transport.ts";
import type { TunnelEnd } from "../../../sockets/transport.ts";
import type { Http1Connection } from "./connection.ts";
import type { RequestFraming } from "./framing.ts";
import type { IncomingRequest } from "./incoming-request.ts";
import { type RefusalReason, refusalReply, refusalStatus } from "../refusal.ts";
import { Http1RequestBody, maxHeldBytes } from "./request-body.ts";
import { writeHead } from "./response-head.ts";

/** The approximate memory of the objects of a request. */
const requestBytes = 1536;

/**
 * One request on an HTTP/1 connection and the response to it, written through Node's ServerResponse. The head waits for
 * the first data or the end of the turn, so that a small message is sent in one write.
 */
export class Http1Stream implements ClientStream {
  readonly head: RequestHead;
  readonly body: Http1RequestBody | null;
  /** The reason why the request is refused; undefined if it is passed on. */
  refusal: RefusalReason | undefined;
  /** The time in which the head of the request arrived, in milliseconds. */
  headMs = 0;
  readonly response: ServerResponse;
  headSent = false;
  onHeadSent: (() => void) | null = null;
  bytesSent = 0;
  /** False if the connection must close after this response. */
  keepAlive: boolean;
  onDrain: (() => void) | null = null;
  onClose: ((reason: ClientCloseReason) => void) | null = null;

  private readonly connection: Http1Connection;
  private readonly http11: boolean;
  private readonly expectsContinue: boolean;
  /** Bytes that followed an upgrade request; undefined for all other requests. */
  private readonly upgradeHead: Buffer | undefined;
  private continued = false;
  /** True once the response has ended or the client has disconnected; later calls have no effect. */
  private done = false;
  /** True once a final head was handed over. */
  private headTaken = false;
  /** A head that has not been passed to Node yet, with the data that followed it in the same turn. */
  private pendingHead: ResponseHead | undefined = undefined;
  private pendingText: string | undefined = undefined;
  private length: number | undefined = undefined;
  private bodyless = false;
  /** True while the sender has to wait until the written bytes have been sent. */
  private isPaused = false;

  constructor(
    connection: Http1Connection,
    request: IncomingRequest,
    response: ServerResponse,
    framing: RequestFraming,
    upgradeHead: Buffer | undefined,
  ) {
    this.connection = connection;
    this.response = response;
    this.upgradeHead = upgradeHead;
    this.refusal = framing.kind === "refused" ? framing.reason : undefined;
    this.http11 = request.httpVersion === "1.1";
    this.keepAlive = response.shouldKeepAlive;
    this.expectsContinue = this.http11 && expects100(request);
    this.head = {
      version: request.httpVersion as HttpVersion,
      method: request.method as string,
      target: request.url as string,
      authority: undefined,
      scheme: undefined,
      headers: Fields.of(request.rawHeaders),
    };
    const { clock, limits } = connection.context;
    this.body =
      framing.kind === "none" || framing.kind === "refused"
        ? null
        : new Http1RequestBody(
            request,
            framing.kind === "length" ? framing.length : undefined,
            clock,
            limits.bodyTimeoutMs,
          );
  }

  /** True if the request detached the socket from Node's server. */
  get detached(): boolean {
    return this.upgradeHead !== undefined;
  }

  get canUpgrade(): boolean {
    return this.upgradeHead !== undefined && this.head.method !== "CONNECT";
  }

  get pendingBytes(): number | undefined {
    return this.connection.encrypted ? undefined : this.response.writableLength;
  }

  get roomBytes(): number {
    return this.connection.writes.roomBytes;
  }

  /** True once all of the request has been read from the connection. */
  get requestReceived(): boolean {
    return this.body === null || this.body.received;
  }

  /** The memory of the request while it waits for earlier ones: its objects, its head, and bytes read of its body. */
  get waitingBytes(): number {
    const { head, body, upgradeHead } = this;
    let bytes = requestBytes + head.target.length + (upgradeHead?.length ?? 0);
    bytes += head.headers.octets;
    return body === null ? bytes : bytes + Math.min(body.length ?? maxHeldBytes, maxHeldBytes);
  }

  sendInformational(status: number, headers: HeaderList): void {
    if (this.done || this.headTaken || !this.http11 || status === 101 || status < 100 || status > 199) return;
    try {
      // Node closes the connection of a client that expects a 100 unless writeContinue sent it.
      if (status === 100 && headers.length === 0) {
        this.continued = true;
        this.response.writeContinue();
      } else {
        this.response.writeInformation(status, headers);
      }
    } catch (error) {
      this.breakOff(error);
    }
  }

  sendHead(head: ResponseHead): void {
    if (this.done || this.headTaken) return;
    this.headTaken = true;
    this.length = head.length;
    this.bodyless = head.bodyless || head.status === 204 || head.status === 304;
    this.pendingHead = head;
    this.connection.context.flushLater(this);
  }

  takeBack(): void {
    if (this.done || this.pendingHead === undefined) return;
    this.headTaken = false;
    this.pendingHead = undefined;
    this.pendingText = undefined;
    this.bytesSent = 0;
  }

  write(chunk: Chunk): boolean {
    if (this.done || this.bodyless) return !this.done;
    this.bytesSent += chunk.length;
    if (this.length !== undefined && this.bytesSent > this.length) {
      this.breakOff(new Error("the response is longer than its Content-Length"));
      return false;
    }
    if (this.pendingHead !== undefined) {
      if (typeof chunk === "string" && this.pendingText === undefined) {
        this.pendingText = chunk;
        return true;
      }
      this.flush();
    }
    return this.put(chunk);
  }

  end(trailers: HeaderList | undefined): void {
    if (this.done) return;
    if (!this.bodyless && this.length !== undefined && this.bytesSent < this.length) {
      return this.breakOff(new Error("the response is shorter than its Content-Length"));
    }
    const text = this.pendingText;
    this.pendingText = undefined;
    if (this.pendingHead !== undefined && !this.flushHead()) return;
    if (trailers !== undefined && trailers.length > 0) this.addTrailers(trailers);
    if (this.done) return;
    this.done = true;
    if (text === undefined) this.response.end();
    else this.response.end(text, "latin1");
    this.connection.responseEnded(this);
  }

  /** True if the end of the connection delimits the response, so that a cut one has to be reset (RFC 9112 8). */
  get endsByClosing(): boolean {
    return this.headSent && !this.http11 && this.length === undefined && !this.bodyless;
  }

  abort(): void {
    if (this.done) return;
    this.done = true;
    this.onClose = null;
    this.connection.cut({ reset: this.endsByClosing });
  }

  closeAfterResponse(): void {
    this.keepAlive = false;
  }

  upgrade(headers: Fields): TunnelEnd | undefined {
    const { upgradeHead } = this;
    if (this.done || this.headTaken || upgradeHead === undefined || !this.canUpgrade) return undefined;
    this.done = true;
    this.headTaken = true;
    this.headSent = true;
    const socket = this.connection.handOver(this, withUpgradeFields(headers));
    return { transport: new SocketTransport(socket), head: upgradeHead };
  }

  /** Writes the head and data that waited for the end of the turn. */
  flush(): void {
    if (this.pendingHead === undefined || this.done || !this.flushHead()) return;
    const text = this.pendingText;
    this.pendingText = undefined;
    if (text !== undefined) this.put(text);
    else this.response.flushHeaders();
  }

  /** Answers a request that the front refuses. */
  refuse(reason: RefusalReason): void {
    const { headers, body } = refusalReply(reason);
    this.done = true;
    this.headTaken = true;
    this.headSent = true;
    this.keepAlive = false;
    if (!this.http11) this.response.useChunkedEncodingByDefault = false;
    this.response.writeHead(refusalStatus[reason], headers);
    this.response.end(body, "latin1");
    this.connection.responseEnded(this);
  }

  /** Called when either side has closed the connection. */
  clientLeft(reason: ClientCloseReason): void {
    this.done = true;
    const { onClose } = this;
    this.onClose = null;
    this.onDrain = null;
    onClose?.(reason);
    this.body?.abort("client-closed");
  }

  /** Probes whether the client of a half-closed connection still reads; any 1xx may precede a response. */
  probe(): void {
    if (!this.done && !this.headSent && this.http11) this.response.writeContinue();
  }

  private flushHead(): boolean {
    const head = this.pendingHead as ResponseHead;
    this.pendingHead = undefined;
    const keepAlive = this.keepAlive && this.connection.mayStayOpen(this) && !this.leavesClientWaiting();
    try {
      this.keepAlive = writeHead(this.response, head, { http11: this.http11, keepAlive });
    } catch (error) {
      this.breakOff(error);
      return false;
    }
    this.headSent = true;
    this.onHeadSent?.();
    return true;
  }

  /** True if the client still waits for 100 Continue, so that its body may or may not arrive (RFC 9110 10.1.1). */
  private leavesClientWaiting(): boolean {
    return this.expectsContinue && !this.continued;
  }

  private put(chunk: Chunk): boolean {
    if (this.done) return false;
    const { response } = this;
    const { writes } = this.connection;
    if (typeof chunk === "string") response.write(chunk, "latin1", this.onWritten);
    else this.putBytes(chunk);
    if (response.writableLength === 0) {
      writes.wentAtOnce(chunk.length);
      return true;
    }
    this.isPaused = !writes.mayWait();
    return !this.isPaused;
  }

  /** Writes bytes immediately, where Node would hold them back until the end of the turn. */
  private putBytes(bytes: Buffer): void {
    const { response } = this;
    const { socket } = response;
    socket?.cork();
    response.write(bytes, this.onWritten);
    socket?.uncork();
  }

  /** Called when a chunk has been written. */
  private readonly onWritten = (): void => {
    if (!this.isPaused || this.done || this.response.writableLength > 0) return;
    this.isPaused = false;
    this.connection.writes.drained();
  };

  private addTrailers(trailers: HeaderList): void {
    try {
      this.response.addTrailers(fieldPairs(trailers));
    } catch (error) {
      this.breakOff(error);
    }
  }

  /** Aborts a response that cannot be completed as HTTP, so that the client sees the failure. */
  private breakOff(error: unknown): void {
    this.connection.report({ reason: "broken-response", status: 0, error });
    const { onClose } = this;
    this.abort();
    onClose?.("broken-response");
  }
}

const expects100 = (request: IncomingRequest): boolean =>
  request.headers.expect !== undefined && /(?:^|\W)100-continue(?:$|\W)/i.test(request.headers.expect);

/** Adds the fields that make a 101 an upgrade (RFC 9110 7.8), if they are missing. */
function withUpgradeFields(headers: Fields): HeaderList {
  if (!headers.has("upgrade")) headers.append("Upgrade", "websocket");
  if (!headers.has("connection")) headers.append("Connection", "Upgrade");
  return [...headers.toList()];
}
