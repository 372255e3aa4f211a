import type { ServerOptions } from "node:http2";
import type { FrontLimits } from "../http/front.ts";

/** How much of all bodies of a connection may be on its way unread; a stream's share is `streamWindowBytes`. */
export const connectionWindowBytes = 1_048_576;
export const streamWindowBytes = 65_536;
export const maxFrameBytes = 16_384;
const maxConcurrentStreams = 100;

/** Empty DATA frames and malformed messages of one connection, all in all. */
const maxInvalidFrames = 100;
/**
 * Streams that Node itself refuses. It counts a stream until the turn after its end, so that a client within its rights may
 * get there; what floods this way is found by its bytes.
 */
const maxRejectedStreams = 4_294_967_295;
/**
 * Above what the flood guard lets pass: nghttp2 would end the connection with INTERNAL_ERROR for many resets, however few they
 * are of all streams.
 */
const maxStreamResets = 1_000_000_000;
/** Node resets a stream with more fields than this; fewer, but too many for the limit, are answered 431. */
const maxFieldsSeen = 4000;
/**
 * The header list that is announced. nghttp2 never reads more than 64 KiB of names and values; announcing more than
 * the limit keeps Node from resetting a stream that can be answered 431.
 */
const announcedHeaderBytes = 131_072;
/** Megabytes of state and bodies of one connection: above what 100 streams hold when all of them are stuck. */
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
    // Repeated fields are relayed as they are; which of them may repeat is for the receiver to say.
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
