import { settingId, settingsPayload } from "../../../http2/frames/settings-frame.ts";
import { streamWindowBytes } from "../../../http2/settings.ts";

/** The SETTINGS of the proxy towards servers (docs/features/http2.md, "Settings"). */
export const clientSettings = settingsPayload([
  [settingId.enablePush, 0],
  [settingId.initialWindowSize, streamWindowBytes],
  // More than the limit of a head, so that servers send larger heads, which are refused with a clear error.
  [settingId.maxHeaderListSize, 131_072],
]);
