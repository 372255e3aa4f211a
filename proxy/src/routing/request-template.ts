import { hostname } from "node:os";
import type { RequestTemplate, TemplateVariable } from "@svc-gateway/common/features/request-template.ts";
import { decodeOctets, escapeComponent, escapeOctet } from "@svc-gateway/common/values/percent-escapes.ts";
import { readBasicCredentials } from "../auth/basic-credentials.ts";
import type { Fields } from "../message/fields.ts";

/** The properties of a request that templates read; implemented by Exchange. */
export type TemplateRequest = {
  readonly secure: boolean;
  readonly host: string;
  readonly authority: string;
  readonly matchedPath: string;
  /** The query with its `?`, or empty. */
  readonly query: string;
  readonly method: string;
  readonly clientIp: string;
  readonly publicPort: { readonly label: string };
  /** The header fields as sent to the backend. */
  readonly headers: Fields;
  /** The header fields as received from the client. */
  readonly received: Fields;
  /** The id that the proxy assigned to the request. */
  readonly requestId: string;
};

type Evaluate = (request: TemplateRequest) => string;

/**
 * Compiles a template into a function that assembles its text in one pass. The result can be used as a header value or
 * as a part of one, because control characters of the request are percent-encoded. See docs/request-templates.md.
 */
export function compileRequestTemplate(template: RequestTemplate): Evaluate {
  const parts = compileTemplateParts(template);
  return (request) => {
    let text = "";
    for (const part of parts) text += part(request);
    return text;
  };
}

/**
 * Compiles the parts separately, for use in keys: the keys of two requests must not be equal because a value moved from
 * one part to the next.
 */
export const compileTemplateParts = (template: RequestTemplate): readonly Evaluate[] =>
  template.map((part): Evaluate => {
    if (typeof part === "string") return () => part;
    const evaluate = evaluatorOf(part);
    return (request) => withoutControls(evaluate(request));
  });

function evaluatorOf(part: TemplateVariable): Evaluate {
  switch (part.variable) {
    case "http": {
      const { name } = part;
      if (name === "cookie") return ({ received }) => received.cookies() ?? "";
      // HTTP/2 clients send `:authority` instead of the field.
      if (name === "host") return evaluators.http_host;
      return ({ received }) => received.joined(name) ?? "";
    }
    case "cookie": {
      const find = compileFinder(part.name, ";");
      return ({ received }) => find(received.cookies() ?? "");
    }
    case "arg": {
      const find = compileFinder(part.name, "&");
      return ({ query }) => find(query.slice(1));
    }
    default:
      return evaluators[part.variable];
  }
}

const requestUri: Evaluate = ({ matchedPath, query }) => matchedPath + query;
const query: Evaluate = (request) => request.query.slice(1);
const scheme: Evaluate = ({ secure }) => (secure ? "https" : "http");
const clientIp: Evaluate = (request) => request.clientIp;
const machine = hostname();

const evaluators: {
  readonly [V in Exclude<TemplateVariable, { readonly name: string }>["variable"]]: Evaluate;
} = {
  scheme,
  host: ({ host }) => host,
  http_host: ({ authority }) => authority,
  hostname: () => machine,
  request_uri: requestUri,
  uri: ({ matchedPath }) => decodeOctets(matchedPath),
  args: query,
  query_string: query,
  is_args: (request) => (request.query.length > 1 ? "?" : ""),
  request_method: ({ method }) => method,
  remote_addr: clientIp,
  // The octets of an address are useful only in keys, for which its text is equivalent.
  binary_remote_addr: clientIp,
  remote_user: ({ received }) => userName(received),
  request_id: ({ requestId }) => requestId,
  req_id: ({ headers, received, requestId }) =>
    headers.first("x-request-id") ?? received.first("x-request-id") ?? requestId,
  server_name: ({ host }) => host,
  server_port: ({ publicPort }) => publicPort.label,
  escaped_request_uri: (request) => escapeComponent(requestUri(request)),
  // Reads the field that is sent to the backend, because the proxy has already decided which value to trust.
  pass_access_scheme: (request) => request.headers.first("x-forwarded-proto") ?? scheme(request),
  best_http_host: ({ headers, authority }) => headers.first("x-forwarded-host") ?? authority,
  proxy_add_x_forwarded_for: (request) => {
    const before = request.received.joined("x-forwarded-for") ?? "";
    return before === "" ? request.clientIp : `${before}, ${request.clientIp}`;
  },
};

/** Returns a function that finds the value of the first `name=value`, ignoring the case of the name, as nginx does. */
function compileFinder(name: string, separator: ";" | "&"): (text: string) => string {
  return (text) => {
    for (let start = 0; start < text.length;) {
      const next = text.indexOf(separator, start);
      const end = next < 0 ? text.length : next;
      const pair = separator === ";" ? text.slice(start, end).trim() : text.slice(start, end);
      if (pair[name.length] === "=" && pair.slice(0, name.length).toLowerCase() === name) {
        return pair.slice(name.length + 1);
      }
      start = end + 1;
    }
    return "";
  };
}

/** Returns the name in Basic credentials, whether or not they have been checked, as octets. */
function userName(received: Fields): string {
  const name = readBasicCredentials(received.joined("authorization"))?.name ?? "";
  return Buffer.from(name, "utf8").toString("latin1");
}

// oxlint-disable-next-line no-control-regex
const controls = /[\x00-\x1f\x7f]/g;

const withoutControls = (value: string): string => value.replaceAll(controls, escapeOctet);

/** Percent-encodes characters that no URL contains: spaces and octets outside ASCII, which `$uri` can yield. */
export const escapeUrl = (url: string): string => url.replaceAll(/[^!-~]/g, escapeOctet);

/** Returns a rendered text as the target of a request in origin form (RFC 9112 3.2.1), which begins with the path. */
export function originForm(text: string): string {
  const target = escapeUrl(text);
  return target.startsWith("/") ? target : `/${target}`;
}
