import { encodedName, putName, putStatus, putValue } from "../../../http2/hpack/encoder.ts";
import { putFields, putHeadFields } from "../../../http2/hpack/field-block.ts";
import { dateNow } from "../../../message/date-now.ts";
import type { HeaderList, ResponseHead } from "../../../message/message.ts";

const dateName = encodedName("date");

/** Writes the block of a final head, and adds a missing Date unless the head is `undated`. */
export function putResponseHead(into: Buffer, at: number, head: ResponseHead): number {
  const next = putStatus(into, at, head.status);
  const isDated = head.undated === true || head.headers.has("date");
  const end = putHeadFields(into, next, head.headers);
  return isDated ? end : putValue(into, putName(into, end, dateName), dateNow());
}

/** Writes the block of an informational head. */
export const putInformational = (into: Buffer, at: number, status: number, fields: HeaderList): number =>
  putFields(into, putStatus(into, at, status), fields);
