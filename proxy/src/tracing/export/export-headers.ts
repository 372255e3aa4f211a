import { isHeaderValue, isToken } from "@svc-gateway/common/values/header-name.ts";
import { ok, problem, type Problem, type Result } from "@svc-gateway/common/values/result.ts";
import { isHopByHop } from "../../message/hop-by-hop.ts";

const maxHeaders = 64;
/** The fields that the transport sets itself. */
const ofTransport: ReadonlySet<string> = new Set(["content-length", "content-type", "host"]);

/**
 * Reads headers for the collector: one on each line, as `name: value`; empty lines and those that begin with `#` are
 * skipped. Hop-by-hop fields are refused, because HTTP/2 has none (RFC 9113 8.2.2). A problem contains the number of
 * the line and never its text, which can be a secret.
 */
export function readExportHeaders(text: string): Result<Readonly<Record<string, string>>, Problem> {
  const headers = new Map<string, string>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (colon < 0 || !isToken(name) || !isHeaderValue(value)) {
      return problem(`line ${index + 1} is not a header`, 'one header per line, as "name: value"');
    }
    if (isHopByHop(name) || ofTransport.has(name)) {
      return problem(`line ${index + 1} is about the connection or the message`, "a header of requests");
    }
    headers.set(name, value);
  }
  if (headers.size > maxHeaders) return problem(`there are more than ${maxHeaders} headers`);
  return ok(Object.fromEntries(headers));
}
