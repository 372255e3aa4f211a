import { errorCode, initialFrameBytes, initialWindowBytes, maxWindowBytes } from "./frame-types.ts";
import { uint32At } from "./frame-reader.ts";

/** Parameters of SETTINGS (RFC 9113 6.5.2, RFC 8441 3, RFC 9218 2.1). */
export const settingId = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
  enableConnectProtocol: 8,
  /** RFC 9218 2.1. */
  noRfc7540Priorities: 9,
} as const;

/** The settings of the peer that are used here. */
export type PeerSettings = {
  initialWindowBytes: number;
  maxFrameBytes: number;
  /** The most streams that this end may have open. */
  maxStreams: number;
  /** True if the peer has set the size of its dynamic table, which an encoder must confirm. */
  isTableLimited: boolean;
};

export const initialPeerSettings = (): PeerSettings => ({
  initialWindowBytes,
  maxFrameBytes: initialFrameBytes,
  maxStreams: Number.POSITIVE_INFINITY,
  isTableLimited: false,
});

const entryBytes = 6;

/** Returns the payload of SETTINGS with these entries. */
export function settingsPayload(entries: readonly (readonly [id: number, value: number])[]): Uint8Array {
  const payload = Buffer.alloc(entryBytes * entries.length);
  entries.forEach(([id, value], index) => {
    payload.writeUInt16BE(id, entryBytes * index);
    payload.writeUInt32BE(value, entryBytes * index + 2);
  });
  return payload;
}

/** The most entries of a frame; more are abuse, since each of them costs work. */
const maxEntries = 32;
const maxFrameBytes = 0xff_ffff;

/**
 * Copies the entries of a SETTINGS frame to `settings`; unknown ones are ignored. Returns the code of a connection
 * error, or undefined. Without `asServer` the frame is that of a server, which must not offer push.
 */
export function readSettings(
  settings: PeerSettings,
  bytes: Uint8Array,
  start: number,
  end: number,
  { asServer }: { readonly asServer: boolean },
): number | undefined {
  if ((end - start) % entryBytes !== 0) return errorCode.frameSizeError;
  if (end - start > maxEntries * entryBytes) return errorCode.enhanceYourCalm;
  for (let at = start; at < end; at += entryBytes) {
    const id = ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
    const value = uint32At(bytes, at + 2);
    switch (id) {
      case settingId.headerTableSize:
        settings.isTableLimited = true;
        break;
      case settingId.enablePush:
        if (value > (asServer ? 1 : 0)) return errorCode.protocolError;
        break;
      case settingId.enableConnectProtocol:
      case settingId.noRfc7540Priorities:
        if (value > 1) return errorCode.protocolError;
        break;
      case settingId.maxConcurrentStreams:
        settings.maxStreams = value;
        break;
      case settingId.initialWindowSize:
        if (value > maxWindowBytes) return errorCode.flowControlError;
        settings.initialWindowBytes = value;
        break;
      case settingId.maxFrameSize:
        if (value < initialFrameBytes || value > maxFrameBytes) return errorCode.protocolError;
        settings.maxFrameBytes = value;
        break;
    }
  }
  return undefined;
}
