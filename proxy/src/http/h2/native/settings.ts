import { settingId, settingsPayload } from "../../../http2/frames/settings-frame.ts";
import { streamWindowBytes } from "../../../http2/settings.ts";
import type { FrontLimits } from "../../front.ts";

export const maxStreams = 100;

/** The smallest announced header list: above the limit, so that clients send requests beyond it and get 431. */
const announcedHeaderBytes = 131_072;

/** The SETTINGS of the proxy towards clients: docs/features/http2.md, "Settings". */
export function serverSettings(limits: FrontLimits): Uint8Array {
  return settingsPayload([
    [settingId.maxConcurrentStreams, maxStreams],
    [settingId.initialWindowSize, streamWindowBytes],
    [settingId.enableConnectProtocol, 1],
    [settingId.noRfc7540Priorities, 1],
    [settingId.maxHeaderListSize, Math.max(announcedHeaderBytes, 2 * limits.maxHeaderBytes)],
  ]);
}
