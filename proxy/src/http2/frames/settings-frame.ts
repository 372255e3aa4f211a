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

/** What the other end has announced, as far as anybody here asks. */
export type PeerSettings = {
  initialWindowBytes: number;
  maxFrameBytes: number;
  /** Streams that it lets this end have open. */
  maxStreams: number;
  /** It has said something about its table, which an encoder must confirm. */
  isTableLimited: boolean;
};

export const initialPeerSettings = (): PeerSettings => ({
  initialWindowBytes,
  maxFrameBytes: initialFrameBytes,
  maxStreams: Number.POSITIVE_INFINITY,
  isTableLimited: false,
});

const entryBytes = 6;

/** The payload of SETTINGS with these entries. */
export function settingsPayload(entries: readonly (readonly [id: number, value: number])[]): Uint8Array {
  const payload = Buffer.alloc(entryBytes * entries.length);
  entries.forEach(([id, value], index) => {
    payload.writeUInt16BE(id, entryBytes * index);
    payload.writeUInt32BE(value, entryBytes * index + 2);
  });
  return payload;
}

/** More entries than this are an abuse: each is read and answered for. */
const maxEntries = 32;
const maxFrameBytes = 0xff_ffff;

/**
 * Takes the entries of a SETTINGS frame over into `settings`; unknown ones are ignored. Answers the code of the connection
 * error that the frame is, undefined for none. Without `asServer` it is that of a server, which must not offer push.
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
