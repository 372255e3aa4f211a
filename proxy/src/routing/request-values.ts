import type { Fields } from "../message/fields.ts";

/**
 * Returns the value of a header field for matches; undefined if the request does not have it. The values of repeated
 * fields are joined by a comma (RFC 9110 5.2), those of Cookie by `; ` (RFC 9113 8.2.3). Names are compared without
 * case; `name` must be in lower case.
 */
export const headerValue = (headers: Fields, name: string): string | undefined =>
  name === "cookie" ? headers.cookies() : headers.joined(name, ",");

/** The last query and its parameters, cached because several names are read from the query of one request. */
let parsedQuery = "";
let parsedParameters: ReadonlyMap<string, string> = new Map();

/**
 * Returns the value of a query parameter for matches: the first one of that name, decoded like HTML form data (percent
 * escapes of UTF-8, `+` for a space), because backends read it that way. A text that cannot be decoded is compared as
 * received. The result is undefined if the query does not have the parameter. `query` may start with `?`.
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
