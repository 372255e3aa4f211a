import { Http2Connection } from "../../../http2/connection/connection.ts";
import { errorCode, frameFlag } from "../../../http2/frames/frame-types.ts";
import { streamWindowBytes } from "../../../http2/settings.ts";
import { Fields } from "../../../message/fields.ts";
import type { ResponseHead } from "../../../message/message.ts";
import type { Transport } from "../../../sockets/transport.ts";
import { faultOfHead, isBodyless, maxFields, maxHeadBytes } from "../response-rules.ts";
import { sessionWindowBytes } from "../session.ts";
import { ResponseFields } from "./response-fields.ts";
import type { NativeWireStream } from "./wire-stream.ts";

/** Allows for the 32 octets that count for each field besides its name and value. */
const trailerRules = {
  maxHeaderBytes: maxHeadBytes + 32 * maxFields,
  maxHeaders: maxFields,
  // The client has the head of the response by then, so that the only alternative would be to cut the response off.
  dropsLength: true,
};

/** Fields are read within one call, so that one reader serves all connections. */
const responseFields = new ResponseFields();

/**
 * The receiving part of an HTTP/2 connection to a server: reads heads and trailers for the streams that wait for them.
 */
export abstract class ResponseConnection extends Http2Connection<NativeWireStream> {
  constructor(transport: Transport) {
    super(transport, {
      asServer: false,
      windowBytes: sessionWindowBytes,
      streamWindowBytes,
      trailerRules,
      maxPeerStreams: 0,
    });
  }

  protected onHeaders(streamId: number, flags: number, bytes: Buffer, start: number, end: number): boolean {
    const stream = this.streams.get(streamId);
    const endStream = (flags & frameFlag.endStream) !== 0;
    if (stream === undefined) {
      if (this.isIdle(streamId)) return this.onFault(errorCode.protocolError, "HEADERS on an idle stream");
      return this.ignoreHeaders(streamId, flags, bytes, start, end);
    }
    if (stream.remoteEnded) return this.onFault(errorCode.streamClosed, "HEADERS after END_STREAM");
    if (stream.responded) return this.onTrailers(stream, endStream, bytes, start, end);
    responseFields.begin();
    if (!this.decode(bytes, start, end, responseFields)) return false;
    if (!responseFields.finish()) return this.refuse(stream, "invalid response header");
    const text = faultOfHead(responseFields);
    if (text !== undefined) {
      stream.onUnusable(text);
      return !this.isOver;
    }
    const { status, headers, length } = responseFields;
    if (status >= 200) {
      const head = { status, headers: Fields.checked(headers), length, bodyless: false };
      return this.onHead(stream, endStream, head);
    }
    if (endStream) return this.refuse(stream, "1xx response without a final one");
    stream.onInformational(status, headers);
    return !this.isOver;
  }

  private onHead(stream: NativeWireStream, endStream: boolean, head: ResponseHead): boolean {
    head.bodyless = isBodyless(stream.method, head.status);
    if (endStream && !head.bodyless) {
      head.length ??= 0;
      if (head.length > 0) return this.refuse(stream, "response body shorter than declared");
    }
    stream.onHead(head);
    if (endStream && !stream.isClosed) this.endRemote(stream);
    return !this.isOver;
  }

  protected override onBadTrailers(stream: NativeWireStream): boolean {
    return this.refuse(stream, "invalid response trailers");
  }

  /** Resets a stream whose response is malformed (RFC 9113 8.1.1). */
  private refuse(stream: NativeWireStream, text: string): boolean {
    stream.explain(text);
    return this.blame(stream, errorCode.protocolError);
  }

  protected onPingAck(): boolean {
    return false;
  }
}
