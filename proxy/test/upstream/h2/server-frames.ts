import { field, flags, frame, frameTypes, uint32 } from "../../http/h2/frames.ts";

/** An empty SETTINGS frame of the server, after which a connection can carry requests. */
export const settings = frame(frameTypes.settings, 0, 0);
export const data = (id: number, text: string, flagBits = 0): Buffer =>
  frame(frameTypes.data, flagBits, id, Buffer.from(text));
export const reset = (id: number, code: number): Buffer => frame(frameTypes.rstStream, 0, id, uint32(code));
export const goaway = (lastStreamId: number, code: number): Buffer =>
  frame(frameTypes.goaway, 0, 0, Buffer.concat([uint32(lastStreamId), uint32(code)]));
export const head = (
  id: number,
  options: { readonly end?: boolean; readonly fields?: readonly (readonly [string, string])[] } = {},
): Buffer =>
  frame(
    frameTypes.headers,
    flags.endHeaders | (options.end === true ? flags.endStream : 0),
    id,
    Buffer.concat((options.fields ?? [[":status", "200"]]).map(([name, value]) => field(name, value))),
  );
