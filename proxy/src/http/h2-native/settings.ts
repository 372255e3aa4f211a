import { settingId } from "../../http2/frames/settings-frame.ts";
import type { FrontLimits } from "../front.ts";

/** How much of all bodies of a connection may be on its way unread; a stream's share is `streamWindowBytes`. */
export const connectionWindowBytes = 1_048_576;
export const streamWindowBytes = 65_536;
export const maxStreams = 100;

/** The least header list that is announced: more than the limit, so that clients send what is answered 431. */
const announcedHeaderBytes = 131_072;

/** The SETTINGS of the proxy towards clients: docs/features/http2.md, "Settings". */
export function serverSettings(limits: FrontLimits): Uint8Array {
  const entries = [
    [settingId.maxConcurrentStreams, maxStreams],
    [settingId.initialWindowSize, streamWindowBytes],
    [settingId.enableConnectProtocol, 1],
    [settingId.maxHeaderListSize, Math.max(announcedHeaderBytes, 2 * limits.maxHeaderBytes)],
  ] as const;
  const payload = Buffer.alloc(6 * entries.length);
  entries.forEach(([id, value], index) => {
    payload.writeUInt16BE(id, 6 * index);
    payload.writeUInt32BE(value, 6 * index + 2);
  });
  return payload;
}
