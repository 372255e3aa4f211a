/**
 * Texts that are assembled for each request, such as `https://$host/oauth2/auth`. The controller parses a text once
 * into literal parts and variables, and the proxy evaluates it in one pass, so that a value of a request never becomes
 * a variable. See docs/request-templates.md.
 */
import { z } from "zod";
import { shown } from "../values/clip.ts";
import { ok, problem, type Result } from "../values/result.ts";

/** Variables without a parameter. */
const plainVariables = [
  "scheme",
  "host",
  "http_host",
  "hostname",
  "request_uri",
  "uri",
  "args",
  "query_string",
  "is_args",
  "request_method",
  "remote_addr",
  "binary_remote_addr",
  "remote_user",
  "request_id",
  "req_id",
  "server_name",
  "server_port",
  "escaped_request_uri",
  "pass_access_scheme",
  "best_http_host",
  "proxy_add_x_forwarded_for",
] as const;

/** Variables whose `name` selects a value of the request: a field, cookie or parameter. */
const namedVariables = ["http", "cookie", "arg"] as const;

const partSchema = z.union([
  z.string(),
  z.object({ variable: z.enum(plainVariables) }),
  z.object({ variable: z.enum(namedVariables), name: z.string() }),
]);

/** The maximum number of parts of a template, which bounds the size of the text for one request. */
const maxParts = 32;

/**
 * A parsed text: literals (one character per octet) and variables. Names of fields are in lower case with `-`, names of
 * cookies and parameters in lower case with `_`.
 */
export const requestTemplateSchema = z.array(partSchema).max(maxParts).readonly();

export type RequestTemplate = z.infer<typeof requestTemplateSchema>;
type TemplatePart = RequestTemplate[number];
export type TemplateVariable = Exclude<TemplatePart, string>;

/** Names with values that the controller knows when it reads the text. */
type StaticName = "namespace" | "ingress_name" | "service_name" | "service_port";

export type TemplateOptions = {
  /** The values of `$namespace` and the like; a name without a value here is unknown. */
  readonly statics?: { readonly [Name in StaticName]?: string };
};

const maxLength = 4_096;
const reference = /\$(?:([1-9])|\{([A-Za-z0-9_]+)\}|([A-Za-z_][A-Za-z0-9_]*)|)/g;
// oxlint-disable-next-line no-control-regex
const control = /[\x00-\x1f\x7f]/;

/**
 * Reads a text with variables written `$name` or `${name}`; names ignore case, as in nginx. There is no escape for `$`.
 * The error names an unknown variable, a `$` without a name, or a control character.
 */
export function parseRequestTemplate(text: string, options: TemplateOptions = {}): Result<RequestTemplate> {
  if (text.length > maxLength) return problem(`the text is longer than ${maxLength} characters`);
  if (control.test(text)) return problem("the text holds a control character", "text on one line");
  const parts: TemplatePart[] = [];
  let end = 0;
  for (const match of text.matchAll(reference)) {
    appendLiteral(parts, text.slice(end, match.index));
    end = match.index + match[0].length;
    const name = match[1] ?? match[2] ?? match[3];
    if (name === undefined) return problem(`"${shown(text)}" has a $ that no variable follows`, expected);
    const part = partOf(name.toLowerCase(), options);
    if (part === undefined) return problem(`the variable $${shown(name)} is unknown`, expected);
    if (typeof part === "string") appendLiteral(parts, part);
    else parts.push(part);
  }
  appendLiteral(parts, text.slice(end));
  if (parts.length > maxParts) return problem(`the text has more than ${maxParts} parts`);
  return ok(parts);
}

const expected = `text with variables such as $host, $request_uri, $http_<field>, $cookie_<name> or $arg_<name>`;

/**
 * Appends a literal. Adjacent literals become one part; characters outside ASCII become the octets of their UTF-8 form.
 */
function appendLiteral(parts: TemplatePart[], text: string): void {
  if (text === "") return;
  const literal = Buffer.from(text, "utf8").toString("latin1");
  const last = parts.at(-1);
  if (typeof last === "string") parts[parts.length - 1] = last + literal;
  else parts.push(literal);
}

function partOf(name: string, { statics }: TemplateOptions): TemplatePart | undefined {
  const known = statics?.[name as StaticName];
  if (known !== undefined && Object.hasOwn(statics ?? {}, name)) return known;
  const variable = plainVariables.find((one) => one === name);
  if (variable !== undefined) return { variable };
  const [, kind, rest = ""] = /^(http|cookie|arg)_(.+)$/.exec(name) ?? [];
  switch (kind) {
    case "http":
      return { variable: kind, name: rest.replaceAll("_", "-") };
    case "cookie":
    case "arg":
      return { variable: kind, name: rest };
    default:
      return undefined;
  }
}

/** The variables of a template, in order. */
export const templateVariables = (template: RequestTemplate): readonly TemplateVariable[] =>
  template.filter((part) => typeof part !== "string");

/** Fields that have the same value for many clients. */
const sharedFields: ReadonlySet<string> = new Set([
  ...["host", "user-agent", "referer", "origin", "connection", "upgrade", "via", "forwarded", "range"],
  ...["accept", "accept-encoding", "accept-language", "accept-charset", "cache-control", "content-type"],
  ...["x-forwarded-host", "x-forwarded-port", "x-forwarded-proto", "x-forwarded-scheme", "x-scheme"],
]);

/** Whether a variable can distinguish one client from another: credentials, cookies, its own fields, its address. */
export function identifiesClient(part: TemplateVariable): boolean {
  switch (part.variable) {
    case "http":
      return !sharedFields.has(part.name);
    case "cookie":
    case "remote_user":
    case "remote_addr":
    case "binary_remote_addr":
      return true;
    default:
      return false;
  }
}

/** The text of a template without variables; undefined for a template with variables. */
export const literalOf = (template: RequestTemplate): string | undefined =>
  template.every((part) => typeof part === "string") ? template.join("") : undefined;

/** The name of a variable as it is written, with its `$`. */
export const variableText = (part: TemplateVariable): string => {
  if (!("name" in part)) return `$${part.variable}`;
  return `$${part.variable}_${part.name.replaceAll("-", "_")}`;
};

/** The template as a text, for messages; values that the controller knew are filled in. */
export const templateText = (template: RequestTemplate): string =>
  template
    .map((part) =>
      typeof part === "string"
        ? Buffer.from(part, "latin1").toString("utf8")
        : `\${${variableText(part).slice(1)}}`,
    )
    .join("");
