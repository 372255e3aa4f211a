import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { Fields } from "../../../message/fields.ts";
import { isHopByHop } from "../../../message/hop-by-hop.ts";
import type { HeaderList, ResponseHead } from "../../../message/message.ts";
import { faultOfHead, isBodyless } from "../response-rules.ts";

/**
 * Reads the flat field list of a response, and omits hop-by-hop fields (docs/features/forwarding.md). nghttp2 has
 * already refused malformed names, connection-specific fields and contradictory lengths. The error is the text for the
 * access log.
 */
export function readResponseHead(
  raw: readonly string[],
  method: string,
): Result<ResponseHead & { readonly status: number }, string> {
  const headers: HeaderList = [];
  let status = 0;
  let length: number | undefined;
  let bytes = 0;
  let fields = 0;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string;
    const value = raw[i + 1] as string;
    if (name === ":status") {
      status = Number(value);
      continue;
    }
    fields++;
    bytes += name.length + value.length;
    if (isHopByHop(name)) continue;
    if (name === "content-length") length = Number(value);
    headers.push(name, value);
  }
  const fault = faultOfHead({ status, length, bytes, fields });
  if (fault !== undefined) return fail(fault);
  return ok({ status, headers: Fields.of(headers), length, bodyless: isBodyless(method, status) });
}
