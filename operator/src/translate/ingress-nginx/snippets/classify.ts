/** The effect of each statement of a snippet, and its equivalent here. See docs/ingress-nginx.md, "Snippets". */
import type { TemplateOptions } from "@svc-gateway/common/features/request-template.ts";
import { quote } from "../../text.ts";
import { headerChangeOf, type HeaderChange } from "./headers.ts";
import { locationPathOf, type LocationPath } from "./location.ts";
import type { Statement } from "./parse.ts";

/**
 * `equivalent`: annotations of this gateway have the same effect. `needless`: nothing is lost without it.
 * `look`: a person has to decide. `protective`: without it, more is admitted.
 */
export type StatementClass = "equivalent" | "needless" | "look" | "protective";

/** One statement, as findings and `report` describe it. */
export type ClassedStatement = {
  readonly line: number;
  /** The beginning of the statement. */
  readonly text: string;
  readonly kind: StatementClass;
  /** The replacement, or the reason why nothing is lost, as a part of a sentence. */
  readonly say: string;
  readonly change?: HeaderChange;
  /** The paths that a protective statement applies to; undefined for everything that the snippet applies to. */
  readonly paths?: LocationPath;
};

/** Classifies the statements of a snippet, including those inside `if` and `location` blocks. */
export const classify = (
  statements: readonly Statement[],
  options: TemplateOptions,
): readonly ClassedStatement[] => statements.flatMap((statement) => classifyOne(statement, options));

function classifyOne(statement: Statement, options: TemplateOptions): readonly ClassedStatement[] {
  const { words, line, block } = statement;
  const [name] = words;
  const text = describe(statement);
  const one = (kind: StatementClass, say: string): readonly ClassedStatement[] => [{ line, text, kind, say }];
  const change = block === undefined ? headerChangeOf(words, options) : undefined;
  if (change !== undefined) {
    if (change.type === "change") {
      return [{ line, text, kind: "equivalent", say: describeChange(change), change }];
    }
    return one(change.type, change.say);
  }
  if (
    block !== undefined &&
    block.length > 0 &&
    classify(block, options).every(({ kind }) => kind === "needless")
  ) {
    return one("needless", "nothing in it is needed");
  }
  if (name === "location" && block !== undefined) return classifyLocation(statement);
  if (isProtective(statement)) return one("protective", "it protects");
  const known = needless.get(name) ?? needlessFamilies.find(([pattern]) => pattern.test(name))?.[1];
  if (known !== undefined && block === undefined) return one("needless", known);
  if (name === "return" || name === "rewrite" || name === "if") return one("look", remedyOf(statement));
  const remedy = remedies.get(name);
  return one("look", remedy ?? "nothing here does the same");
}

/**
 * Classifies a location. One with protection closes its path or, if the path cannot be read, everything; any
 * other one is reported.
 */
function classifyLocation(statement: Statement): readonly ClassedStatement[] {
  const { words, line, block = [] } = statement;
  const text = describe(statement);
  if (!block.some(isProtective)) {
    const inner = block.find((one) => one.words[0] === "return" || one.words[0] === "rewrite");
    const say =
      inner === undefined ? "an Ingress path with annotations of its own does the same" : remedyOf(inner);
    return [{ line, text, kind: "look", say }];
  }
  const paths = locationPathOf(words.slice(1));
  const say = paths === undefined ? "it protects, and its path cannot be read" : "it protects a path";
  return [{ line, text, kind: "protective", say, ...(paths && { paths }) }];
}

const protectiveNames =
  /^(?:deny|allow|satisfy|auth_\w+|valid_referers|limit_req|limit_conn|limit_except|modsecurity\w*|internal|secure_link\w*|ssl_verify_client|ssl_(?:trusted_)?client_certificate|ssl_crl|ssl_verify_depth|proxy_ssl_verify|(?:server_)?(?:access|rewrite|content)_by_lua\w*|set_by_lua\w*|js_access|SecRule\w*|SecAction)$/;

/** Words that make a statement with an unknown name protective, wherever they occur in it. */
const protectiveWord =
  /\b(?:deny|allow|auth_\w+|satisfy|valid_referers|limit_req|limit_conn|access_by_lua\w*|modsecurity\w*|internal)\b|\breturn\s+[45]\d\d\b|SecRuleEngine\s+On/i;

/** Whether a statement can only admit more than before, or repeats what applies in any case. */
function isHarmless([name, first = "", second]: Statement["words"]): boolean {
  if (name === "allow") return first === "all";
  if (name === "satisfy") return first === "all";
  if (
    name === "auth_basic" ||
    name === "auth_request" ||
    name === "modsecurity" ||
    name === "proxy_ssl_verify"
  )
    return first === "off";
  if (name === "ssl_verify_client") return first === "off";
  if (name === "SecRuleEngine") return first !== "On";
  return name === "deny" && first === "" && second === undefined;
}

/** Whether a text that cannot be read contains a word of a statement that protects. */
export const mentionsProtection = (text: string): boolean => protectiveWord.test(text);

/** Whether a statement, or one in its block, protects. */
function isProtective(statement: Statement): boolean {
  const { words, block } = statement;
  const [name, first = ""] = words;
  if (block?.some(isProtective) === true) return true;
  if (isHarmless(words)) return false;
  if (protectiveNames.test(name)) return true;
  if (name === "return") return /^[45]\d\d$/.test(first);
  if (isKnown(name)) return false;
  return protectiveWord.test(words.join(" "));
}

const isKnown = (name: string): boolean =>
  needless.has(name) ||
  remedies.has(name) ||
  ["if", "location", "rewrite"].includes(name) ||
  needlessFamilies.some(([pattern]) => pattern.test(name));

const describeChange = ({ native }: HeaderChange): string =>
  native.map(({ annotation, value }) => `ingress.svc-labs.dev/${annotation}: ${quote(value)}`).join(", ");

/** The equivalent of a redirect or rewrite. */
function remedyOf(statement: Statement): string {
  const [name, ...args] = statement.words;
  if (name === "if") {
    const inner = statement.block?.find(({ words }) => words[0] === "return" || words[0] === "rewrite");
    const says = inner === undefined ? "" : `: ${remedyOf(inner)}`;
    return `a condition is a match of an HTTPRoute, or an Ingress host or path of its own${says}`;
  }
  if (name === "return") {
    const [code = "", target = code] = args;
    if (/^(?:https?:|\$scheme)/.test(target)) {
      const isPermanent = /^(?:301|308)$/.test(code);
      return `${isPermanent ? "permanent" : "temporal"}-redirect: ${quote(target)} redirects`;
    }
    return "this gateway answers with a fixed text only by a backend";
  }
  const [pattern = "", target = "", flag = ""] = args;
  return flag === "redirect" || flag === "permanent"
    ? `${flag === "permanent" ? "permanent" : "temporal"}-redirect on a path of its own redirects to ${quote(target)}`
    : `rewrite-target: ${quote(target)} on the path ${quote(pattern)} rewrites`;
}

const maxText = 80;

const describe = ({ words, block }: Statement): string => {
  const text = words
    .map((word) => (/[\s;{}#]/.test(word) || word === "" ? JSON.stringify(word) : word))
    .join(" ");
  const cut = text.length > maxText ? `${text.slice(0, maxText)}…` : text;
  return block === undefined ? cut : `${cut} { … }`;
};

const buffers = "sizes of buffers are not needed, messages are streamed";
const logs = "logs are written by --access-log and --log-level";
const compression = "a Compression resource compresses responses";
const usual = "it is done anyway";

/** Statements that are not needed, with the reasons. */
const needless: ReadonlyMap<string, string> = new Map([
  ...[
    "proxy_buffer_size",
    "proxy_buffers",
    "proxy_busy_buffers_size",
    "proxy_buffering",
    "proxy_request_buffering",
    "proxy_max_temp_file_size",
    "proxy_temp_file_write_size",
    "client_body_buffer_size",
    "client_body_in_single_buffer",
    "client_body_in_file_only",
    "output_buffers",
    "postpone_output",
    "subrequest_output_buffer_size",
  ].map((name): [string, string] => [name, buffers]),
  ...[
    "client_header_buffer_size",
    "large_client_header_buffers",
    "http2_max_field_size",
    "http2_max_header_size",
  ].map((name): [string, string] => [name, "heads of up to 64 KiB are accepted"]),
  ...["access_log", "error_log", "log_not_found", "log_subrequest", "rewrite_log"].map(
    (name): [string, string] => [name, logs],
  ),
  ...[
    "proxy_http_version",
    "proxy_intercept_errors",
    "proxy_pass_request_headers",
    "proxy_pass_request_body",
    "proxy_pass_header",
    "proxy_redirect",
    "chunked_transfer_encoding",
    "tcp_nodelay",
    "tcp_nopush",
    "sendfile",
    "aio",
    "etag",
    "server_tokens",
    "underscores_in_headers",
    "ignore_invalid_headers",
    "merge_slashes",
    "absolute_redirect",
    "port_in_redirect",
    "default_type",
    "charset",
    "break",
    "lingering_close",
    "proxy_ignore_client_abort",
    "proxy_socket_keepalive",
    "http2",
    "types_hash_max_size",
    "server_names_hash_bucket_size",
    "allow",
    "satisfy",
    "auth_basic",
    "auth_request",
    "modsecurity",
    "SecRuleEngine",
    "SecRequestBodyAccess",
    "SecAuditEngine",
    "SecAuditLog",
    "SecDebugLog",
  ].map((name): [string, string] => [name, usual]),
  ["proxy_read_timeout", "the annotation proxy-read-timeout says it"],
  ["proxy_send_timeout", "the annotation proxy-send-timeout says it"],
  ["proxy_connect_timeout", "the annotation proxy-connect-timeout says it"],
  ["grpc_read_timeout", "the annotation proxy-read-timeout says it"],
  ["grpc_send_timeout", "the annotation proxy-send-timeout says it"],
  ["send_timeout", "--proxy-client-idle-timeout says it"],
  ["client_body_timeout", "--proxy-client-body-timeout says it"],
  ["client_header_timeout", "--proxy-client-header-timeout says it"],
  ["keepalive_timeout", "--proxy-client-idle-timeout says it"],
  ["keepalive_requests", usual],
]);

const needlessFamilies: readonly (readonly [RegExp, string])[] = [
  [/^(?:gzip|brotli|zstd)(?:_|$)/, compression],
  [/^ssl_(?:session|protocols|ciphers|prefer|buffer|stapling|early)/, "TLS is set by flags of the proxy"],
  [/^(?:resolver|proxy_temp|limit_req_(?:status|log_level|dry_run)|limit_conn_(?:status|log_level))/, usual],
  [/^(?:fastcgi|uwsgi|scgi)_(?:buffer|read_timeout|send_timeout)/, buffers],
];

/** The remedies for statements without a direct equivalent. */
const remedies: ReadonlyMap<string, string> = new Map([
  ["client_max_body_size", "the annotation proxy-body-size says it"],
  ["proxy_cookie_path", "the annotation proxy-cookie-path says it"],
  ["proxy_cookie_domain", "the annotation proxy-cookie-domain says it"],
  ["proxy_ssl_name", "the annotation proxy-ssl-name says it"],
  ["proxy_ssl_server_name", "the annotation proxy-ssl-server-name says it"],
  ["proxy_next_upstream", "the annotation proxy-next-upstream says it"],
  ["proxy_set_body", "bodies of requests are not changed"],
  ["proxy_pass", "the backend of the path is where requests go"],
  ["grpc_pass", "the backend of the path is where requests go"],
  ["proxy_cache", "responses are not cached"],
  ["proxy_cache_valid", "responses are not cached"],
  ["proxy_cache_bypass", "responses are not cached"],
  ["proxy_cache_key", "responses are not cached"],
  ["proxy_no_cache", "responses are not cached"],
  ["sub_filter", "bodies of responses are not changed"],
  ["sub_filter_once", "bodies of responses are not changed"],
  ["sub_filter_types", "bodies of responses are not changed"],
  ["error_page", "custom-http-errors with default-backend answers errors"],
  ["expires", 'response-header-set: "Cache-Control: …" says it'],
  ["set", "there are no variables"],
  ["map", "there are no variables"],
  ["set_real_ip_from", "forwarded-for-trusted-cidrs says it"],
  ["real_ip_header", "the annotation forwarded-for-header says it"],
  ["limit_rate", "the annotation limit-rate says it"],
  ["limit_rate_after", "the annotation limit-rate-after says it"],
  ["limit_req_zone", "limit-rps and limit-rpm need no zone"],
  ["limit_conn_zone", "limit-connections needs no zone"],
  ["mirror", "the annotation mirror-target says it"],
  ["root", "files are not served"],
  ["alias", "files are not served"],
  ["index", "files are not served"],
  ["try_files", "files are not served"],
  ["autoindex", "files are not served"],
]);
