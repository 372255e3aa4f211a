/** The limits of one client connection within `floodWindowMs` (docs/features/http2.md, "Abuse protection"). */
export const floodWindowMs = 10_000;
export const maxResetStreams = 200;
export const maxControlFrames = 1000;

export type Flood = "reset-flood" | "control-flood";
