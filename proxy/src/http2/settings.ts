import type { ServerOptions } from "node:http2";
import type { FrontLimits } from "../http/front.ts";

/** The most unread bytes of all bodies of a client connection; the limit of one stream is `streamWindowBytes`. */
export const connectionWindowBytes = 1_048_576;
export const streamWindowBytes = 65_536;
export const maxFrameBytes = 16_384;
const maxConcurrentStreams = 100;

/** The most empty DATA frames and malformed messages of one connection in total. */
const maxInvalidFrames = 100;
/**
 * The limit on streams that Node itself refuses, which is off. Node counts a stream until the turn after its end, so
 * that a client that keeps to the limits can get refusals; a flood of such streams is detected by its bytes.
 */
const maxRejectedStreams = 4_294_967_295;
/**
 * The limit of nghttp2 on resets, above what the flood guard allows: nghttp2 would end the connection with
 * INTERNAL_ERROR for many resets, however small their share of all streams is.
 */
const maxStreamResets = 1_000_000_000;
/** The fields beyond which Node resets a stream; fewer, but more than the limit, are answered 431. */
const maxFieldsSeen = 4000;
/**
 * The announced size of a header list. nghttp2 never reads more than 64 KiB of names and values; announcing more than
 * the limit keeps Node from resetting a stream that can be answered 431.
 */
const announcedHeaderBytes = 131_072;
/** The most megabytes of state and bodies of one connection: more than 100 streams hold if all of them are stuck. */
const maxSessionMegabytes = 64;

/** Options of Node's HTTP/2 sessions for client connections: docs/features/http2.md, "Settings". */
export function serverOptions(limits: FrontLimits): ServerOptions {
  return {
    maxSessionInvalidFrames: maxInvalidFrames,
    maxSessionRejectedStreams: maxRejectedStreams,
    streamResetBurst: maxStreamResets,
    streamResetRate: maxStreamResets,
    maxHeaderListPairs: Math.max(maxFieldsSeen, limits.maxHeaders + 100),
    maxSessionMemory: maxSessionMegabytes,
    // Repeated fields are relayed unchanged; the receiver decides which of them may repeat.
    strictSingleValueFields: false,
    settings: {
      enablePush: false,
      enableConnectProtocol: false,
      maxConcurrentStreams,
      initialWindowSize: streamWindowBytes,
      maxFrameSize: maxFrameBytes,
      maxHeaderListSize: Math.max(announcedHeaderBytes, 2 * limits.maxHeaderBytes),
    },
  };
}
