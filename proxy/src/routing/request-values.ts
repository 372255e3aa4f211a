import type { Fields } from "../message/fields.ts";

/**
 * The value of a header field as matches see it: names compared without case, the values of repeated fields joined
 * by a comma (RFC 9110 5.2), those of Cookie by `; ` (RFC 9113 8.2.3). Undefined when the request does not have it.
 * `name` is lower case.
 */
export const headerValue = (headers: Fields, name: string): string | undefined =>
  name === "cookie" ? headers.cookies() : headers.joined(name, ",");

/** The parameters of the query that was looked at last: one request's query is asked for several names. */
let parsedQuery = "";
let parsedParameters: ReadonlyMap<string, string> = new Map();

/**
 * The value of a query parameter as matches see it: the first one of that name, decoded as HTML forms encode it
 * (percent escapes of UTF-8, `+` for a space), because that is how backends read it. What cannot be decoded is
 * compared as it was sent. Undefined when the query does not have it. `query` may start with `?`.
 */
export function queryValue(query: string, name: string): string | undefined {
  if (query !== parsedQuery) {
    parsedParameters = parseQuery(query);
    parsedQuery = query;
  }
  return parsedParameters.get(name);
}

function parseQuery(query: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  let start = query.startsWith("?") ? 1 : 0;
  while (start < query.length) {
    const ampersand = query.indexOf("&", start);
    const end = ampersand < 0 ? query.length : ampersand;
    if (end > start) {
      const pair = query.slice(start, end);
      const equals = pair.indexOf("=");
      const name = decode(equals < 0 ? pair : pair.slice(0, equals));
      if (!parameters.has(name)) parameters.set(name, equals < 0 ? "" : decode(pair.slice(equals + 1)));
    }
    start = end + 1;
  }
  return parameters;
}

function decode(text: string): string {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  if (!spaced.includes("%")) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return text;
  }
}
