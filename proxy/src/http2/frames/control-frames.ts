import { errorCode, frameType } from "./frame-types.ts";

/** A connection error of the peer (RFC 9113 5.4.1). */
export type FrameFault = { readonly code: number; readonly reason: string };

const onStream = (name: string): FrameFault => ({
  code: errorCode.protocolError,
  reason: `${name} on a stream`,
});
const onConnection = (name: string): FrameFault => ({
  code: errorCode.protocolError,
  reason: `${name} on stream 0`,
});
const wrongSize = (name: string): FrameFault => ({
  code: errorCode.frameSizeError,
  reason: `${name} of a wrong size`,
});

const faults = {
  headers: onConnection("HEADERS"),
  priority: onConnection("PRIORITY"),
  resetSize: wrongSize("RST_STREAM"),
  reset: onConnection("RST_STREAM"),
  settings: onStream("SETTINGS"),
  pingSize: wrongSize("PING"),
  ping: onStream("PING"),
  goawaySize: wrongSize("GOAWAY"),
  goaway: onStream("GOAWAY"),
  windowSize: wrongSize("WINDOW_UPDATE"),
  priorityUpdateSize: wrongSize("PRIORITY_UPDATE"),
  priorityUpdate: onStream("PRIORITY_UPDATE"),
};

/**
 * Returns the fault of a frame of that size on that stream, if any, in every state of the connection (RFC 9113 6.2 to
 * 6.9, RFC 9218 7.1).
 */
export function faultOfFrame(type: number, streamId: number, length: number): FrameFault | undefined {
  switch (type) {
    case frameType.headers:
      return streamId === 0 ? faults.headers : undefined;
    case frameType.priority:
      return streamId === 0 ? faults.priority : undefined;
    case frameType.rstStream:
      if (length !== 4) return faults.resetSize;
      return streamId === 0 ? faults.reset : undefined;
    case frameType.settings:
      return streamId === 0 ? undefined : faults.settings;
    case frameType.ping:
      if (length !== 8) return faults.pingSize;
      return streamId === 0 ? undefined : faults.ping;
    case frameType.goaway:
      if (length < 8) return faults.goawaySize;
      return streamId === 0 ? undefined : faults.goaway;
    case frameType.windowUpdate:
      return length === 4 ? undefined : faults.windowSize;
    case frameType.priorityUpdate:
      if (length < 4) return faults.priorityUpdateSize;
      return streamId === 0 ? undefined : faults.priorityUpdate;
    default:
      return undefined;
  }
}
