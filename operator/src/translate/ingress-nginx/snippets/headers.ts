/** Statements of nginx, and of its headers-more module, that change header fields, as changes of features. */
import {
  parseHeaderFields,
  parseHeaderFieldsToSet,
  parseHeaderNames,
  type HeaderField,
} from "@svc-gateway/common/features/header-modifier.ts";
import {
  literalOf,
  parseRequestTemplate,
  type RequestTemplate,
  type TemplateOptions,
} from "@svc-gateway/common/features/request-template.ts";
import type { Result } from "@svc-gateway/common/values/result.ts";
import type { Statement } from "./parse.ts";

/** A line of an annotation of this gateway. */
type NativeLine = { readonly annotation: string; readonly value: string };

/** Changes of fields, and the annotations with the same effect. */
export type HeaderChange = {
  readonly type: "change";
  readonly native: readonly NativeLine[];
  readonly response?: Modifier & { readonly requestId?: string };
  readonly request?: Modifier & {
    readonly templates?: readonly { readonly name: string; readonly value: RequestTemplate }[];
  };
};

type Modifier = {
  readonly set?: readonly HeaderField[];
  readonly add?: readonly HeaderField[];
  readonly remove?: readonly string[];
};

type Outcome = HeaderChange | { readonly type: "needless" | "look"; readonly say: string };

const look = (say: string): Outcome => ({ type: "look", say });

/** The effect of a statement on fields; undefined for statements about anything else. */
export function headerChangeOf(
  [name, ...args]: Statement["words"],
  options: TemplateOptions,
): Outcome | undefined {
  switch (name) {
    case "add_header":
      return addHeader(args);
    case "more_set_headers":
      return setResponse(args);
    case "more_clear_headers":
    case "proxy_hide_header":
    case "grpc_hide_header":
      return removeResponse(args);
    case "proxy_set_header":
    case "grpc_set_header":
      return args.length === 2
        ? setRequest(args[0] ?? "", args[1] ?? "", options)
        : look("expected a name and a value");
    case "more_set_input_headers":
      return setRequestFields(args, options);
    case "more_clear_input_headers":
      return removeRequest(args);
    default:
      return undefined;
  }
}

const option = /^-[rsat]$/;

function addHeader([name = "", value = ""]: readonly string[]): Outcome {
  if (value === "") return { type: "needless", say: "a field without a value is not added" };
  if (requestId.test(value)) return look(byRequestId(name));
  if (value.includes("$")) return look(withVariables);
  const field = read(parseHeaderFields, `${name}: ${value}`);
  if (field === undefined) return look(notAllowed(name));
  return {
    type: "change",
    native: [{ annotation: "response-header-add", value: `${name}: ${value}` }],
    response: { add: field },
  };
}

const withVariables = "values of response fields are static text here";
const byRequestId = (name: string): string =>
  `response-header-request-id: ${name.slice(0, 60)} sends the id of the request`;
/** The id of the request, as ingress-nginx sends it upstream. */
const requestId = /^\$(?:req_id|\{req_id\})$/;
const notAllowed = (name: string): string => `the field ${name.slice(0, 60)} cannot be changed so`;

function setResponse(args: readonly string[]): Outcome {
  if (args.some((arg) => option.test(arg))) return look("conditions on status or type are not supported");
  const set: HeaderField[] = [];
  const remove: string[] = [];
  const ofId: string[] = [];
  for (const arg of args) {
    const colon = arg.indexOf(":");
    const name = (colon === -1 ? arg : arg.slice(0, colon)).trim();
    const value = colon === -1 ? "" : arg.slice(colon + 1).trim();
    if (requestId.test(value)) {
      const names = read(parseHeaderNames, name);
      if (names?.length !== 1) return look(notAllowed(name));
      ofId.push(...names);
      continue;
    }
    if (value.includes("$")) return look(withVariables);
    if (value === "") {
      const names = read(parseHeaderNames, name);
      if (names === undefined) return look(notAllowed(name));
      remove.push(...names);
    } else {
      const fields = read(parseHeaderFields, `${name}: ${value}`);
      if (fields === undefined) return look(notAllowed(name));
      set.push(...fields);
    }
  }
  if (ofId.length > 1) return look("one field can have the id of the request");
  const others = changeOf("response", { set, remove });
  const [named] = ofId;
  if (named === undefined || others.type !== "change") return others;
  return {
    ...others,
    native: [{ annotation: "response-header-request-id", value: named }, ...others.native],
    response: { ...others.response, requestId: named },
  };
}

function removeResponse(args: readonly string[]): Outcome {
  if (args.some((arg) => option.test(arg) || arg.includes("*"))) return look("wildcards are not supported");
  const remove = read(parseHeaderNames, args.join(","));
  return remove === undefined ? look(notAllowed(args.join(", "))) : changeOf("response", { remove });
}

function removeRequest(args: readonly string[]): Outcome {
  if (args.some((arg) => option.test(arg) || arg.includes("*"))) return look("wildcards are not supported");
  const remove = read(parseHeaderNames, args.join(","));
  return remove === undefined ? look(notAllowed(args.join(", "))) : changeOf("request", { remove });
}

/** Fields of the request that this gateway sets itself. */
const own =
  /^(?:upgrade|connection|host|x-real-ip|x-forwarded-[a-z]+|x-scheme|x-request-id|x-original-\w+|proxy|te)$/i;

function setRequestFields(args: readonly string[], options: TemplateOptions): Outcome {
  if (args.some((arg) => option.test(arg))) return look("conditions on type are not supported");
  const parts = args.map((arg) => {
    const colon = arg.indexOf(":");
    return setRequest(
      arg.slice(0, colon === -1 ? arg.length : colon).trim(),
      colon === -1 ? "" : arg.slice(colon + 1).trim(),
      options,
    );
  });
  const changes = parts.filter((part) => part.type === "change");
  const other = parts.find((part) => part.type === "look");
  if (other !== undefined) return other;
  const [first] = parts;
  if (changes.length === 0) return first ?? look("expected a field");
  return {
    type: "change",
    native: changes.flatMap(({ native }) => native),
    request: {
      set: changes.flatMap(({ request }) => request?.set ?? []),
      remove: changes.flatMap(({ request }) => request?.remove ?? []),
      templates: changes.flatMap(({ request }) => request?.templates ?? []),
    },
  };
}

function setRequest(name: string, value: string, options: TemplateOptions): Outcome {
  const isOwn = own.test(name);
  const isConnection = /^(?:upgrade|connection|te)$/i.test(name);
  if (isConnection || (isOwn && (value === "" || value.includes("$")))) {
    return { type: "needless", say: "the gateway sets this field itself" };
  }
  if (value === "") {
    const remove = read(parseHeaderNames, name);
    return remove === undefined ? look(notAllowed(name)) : changeOf("request", { remove });
  }
  const template = parseRequestTemplate(value, options);
  if (!template.ok) return look(template.error.message);
  const literal = literalOf(template.value);
  // Without variables, the text is the value; with variables that have values here, these are ASCII.
  const text = value.includes("$") ? literal : value;
  const fields = read(parseHeaderFieldsToSet, `${name}: ${literal === undefined ? "x" : text}`);
  if (fields?.[0] === undefined) return look(notAllowed(name));
  if (literal !== undefined) return changeOf("request", { set: fields });
  return {
    type: "change",
    native: [{ annotation: "request-header-set", value: `${name}: ${value}` }],
    request: { templates: [{ name: fields[0].name, value: template.value }] },
  };
}

function changeOf(
  direction: "request" | "response",
  { set = [], remove = [] }: { readonly set?: readonly HeaderField[]; readonly remove?: readonly string[] },
): Outcome {
  return {
    type: "change",
    native: [
      ...set.map(({ name, value }) => ({
        annotation: `${direction}-header-set`,
        value: `${name}: ${value}`,
      })),
      ...(remove.length > 0 ? [{ annotation: `${direction}-header-remove`, value: remove.join(",") }] : []),
    ],
    [direction]: { ...(set.length > 0 && { set }), ...(remove.length > 0 && { remove }) },
  };
}

/** The items of a list in the form of an annotation; undefined if any of them cannot be used. */
function read<T>(
  parse: (text: string, warn: () => void) => Result<readonly T[]>,
  text: string,
): readonly T[] | undefined {
  let hasWarning = false;
  const parsed = /[\r\n]/.test(text) ? undefined : parse(text, () => (hasWarning = true));
  return parsed?.ok === true && !hasWarning && parsed.value.length > 0 ? parsed.value : undefined;
}
