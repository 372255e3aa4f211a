/** Types of frames (RFC 9113 6, RFC 9218 7.1). */
export const frameType = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
  priorityUpdate: 16,
} as const;

export const frameFlag = { endStream: 0x1, ack: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;

export const frameHeadBytes = 9;

/** Error codes of RST_STREAM and GOAWAY (RFC 9113 7). */
export const errorCode = {
  noError: 0,
  protocolError: 1,
  internalError: 2,
  flowControlError: 3,
  settingsTimeout: 4,
  streamClosed: 5,
  frameSizeError: 6,
  refusedStream: 7,
  cancel: 8,
  compressionError: 9,
  enhanceYourCalm: 11,
} as const;

/** The bytes that every client sends first (RFC 9113 3.4). */
export const connectionPreface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");

/** The initial values, which SETTINGS can change (RFC 9113 6.5.2, 6.9.2), and the largest window. */
export const initialWindowBytes = 65_535;
export const initialFrameBytes = 16_384;
export const maxWindowBytes = 0x7fff_ffff;
/** The largest number of a stream (RFC 9113 5.1.1). */
export const maxStreamId = 0x7fff_ffff;
