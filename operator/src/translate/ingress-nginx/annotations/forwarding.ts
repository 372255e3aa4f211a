/** Annotations about bodies, buffers, timeouts and retries of requests that are sent upstream. */
import {
  basicCharacters,
  integerForm,
  onOffForm,
  secondsForm,
  sizeForm,
  textForm,
  urlCharacters,
  wordForm,
  type Form,
} from "../values.ts";
import { declare, type NginxAnnotation } from "./declare.ts";

const bufferSize = sizeForm({ allowsGiga: false });
const offsetSize = sizeForm({ allowsGiga: true });

export const proxyBodySize = declare({
  name: "proxy-body-size",
  form: offsetSize,
  bad: "I",
  risk: "Medium",
  scope: "location",
  builtIn: 1024 ** 2,
  shownDefault: "`1m`",
  configKey: "proxy-body-size",
  own: ["max-body-size"],
  served: "served",
  meaning: "The largest request body, 413 above it; `0` is no limit.",
  here: "As there.",
});

/** An annotation that only concerns the buffering of nginx. */
const buffer = <T>(
  name: string,
  form: Form<T>,
  shownDefault: string,
  meaning: string,
  {
    bad = "I",
    here = "Bodies are streamed with back-pressure, so there is nothing to set.",
  }: {
    readonly bad?: "I" | "X";
    readonly here?: string;
  } = {},
): NginxAnnotation<T> => ({
  name,
  form,
  bad,
  risk: "Low",
  scope: "location",
  shownDefault,
  configKey: name,
  served: "no-effect",
  meaning,
  here,
});

export const clientBodyBufferSize = buffer(
  "client-body-buffer-size",
  bufferSize,
  "`8k`",
  "How much of a request body is kept in memory.",
  { bad: "X" },
);
export const proxyBuffering = buffer(
  "proxy-buffering",
  onOffForm,
  "`off`",
  "Whether responses are read as a whole before they are sent to the client.",
);
export const proxyRequestBuffering = buffer(
  "proxy-request-buffering",
  onOffForm,
  "`on`",
  "Whether request bodies are read as a whole before they are sent upstream.",
  { here: "Bodies are always streamed, as with `off`." },
);
export const proxyBuffersNumber = buffer(
  "proxy-buffers-number",
  integerForm(),
  "4",
  "The number of buffers for a response.",
);
export const proxyBusyBuffersSize = buffer(
  "proxy-busy-buffers-size",
  bufferSize,
  "none",
  "How much of a response may be on its way to the client while the rest is buffered.",
);
export const proxyMaxTempFileSize = buffer(
  "proxy-max-temp-file-size",
  offsetSize,
  "`1024m`",
  "How much of a response may be written to a temporary file.",
  { here: "Nothing is written to files." },
);

export const proxyBufferSize = declare({
  name: "proxy-buffer-size",
  form: bufferSize,
  bad: "I",
  risk: "Low",
  scope: "location",
  shownDefault: "`4k`",
  configKey: "proxy-buffer-size",
  served: "no-effect",
  meaning: "The largest head of a response.",
  here: "Heads of up to 64k are always accepted.",
});

export const proxyHttpVersion = declare({
  name: "proxy-http-version",
  form: wordForm(["1.0", "1.1"]),
  bad: "I",
  risk: "Low",
  scope: "location",
  builtIn: "1.1",
  shownDefault: "`1.1`",
  served: "differently",
  meaning: "The HTTP version of requests upstream.",
  here: "`1.0` is served in HTTP/1.1, with a connection for each request.",
  isNeutral: (value) => value === "1.1",
});

export const connectionProxyHeader = declare({
  name: "connection-proxy-header",
  form: wordForm(["close", "keep-alive"], { anyCase: true }),
  bad: "X",
  risk: "Low",
  scope: "location",
  shownDefault: "by the request",
  served: "served",
  meaning: "The `Connection` header of requests upstream.",
  here: "As there; upgrades work with either value.",
  isNeutral: (value) => value === "keep-alive",
});

const timeout = (
  name: "connect" | "read" | "send",
  shownDefault: number,
  meaning: string,
): NginxAnnotation<number> => ({
  name: `proxy-${name}-timeout`,
  form: secondsForm,
  bad: "I",
  risk: "Low",
  scope: "location",
  builtIn: shownDefault,
  shownDefault: `${shownDefault} s`,
  configKey: `proxy-${name}-timeout`,
  own: name === "connect" ? ["connect-timeout"] : [`${name}-timeout`, `${name}-gap-timeout`],
  served: "served",
  meaning,
  here: "As there; `0` counts as absent, and more than 24 hours as 24 hours.",
});

export const proxyConnectTimeout = timeout(
  "connect",
  5,
  "How long a connection to a backend may take to be made, 504 above it.",
);
export const proxyReadTimeout = timeout("read", 60, "The longest pause between two reads from a backend.");
export const proxySendTimeout = timeout("send", 60, "The longest pause between two writes to a backend.");

const retryWords = new Set([
  "error",
  "timeout",
  "invalid_header",
  "http_500",
  "http_502",
  "http_503",
  "http_504",
  "http_403",
  "http_404",
  "http_429",
  "non_idempotent",
  "off",
]);

export const proxyNextUpstream = declare({
  name: "proxy-next-upstream",
  form: textForm(
    "list of conditions",
    new RegExp(`^(?:${[...retryWords].join("|")})(?: +(?:${[...retryWords].join("|")}))*$`),
    `words of ${[...retryWords].join(", ")}`,
  ),
  bad: "I",
  risk: "Medium",
  scope: "location",
  builtIn: "error timeout",
  shownDefault: "`error timeout`",
  configKey: "proxy-next-upstream",
  own: ["retry"],
  served: "served",
  meaning: "When a request is sent to the next endpoint.",
  here: "As there; a request whose body is larger than the replay buffer is not repeated.",
});

export const proxyNextUpstreamTimeout = declare({
  name: "proxy-next-upstream-timeout",
  form: secondsForm,
  bad: "I",
  risk: "Low",
  scope: "location",
  builtIn: 0,
  shownDefault: "0, no limit",
  configKey: "proxy-next-upstream-timeout",
  own: ["retry"],
  served: "served",
  meaning: "How long a request may be repeated.",
  here: "As there.",
});

export const proxyNextUpstreamTries = declare({
  name: "proxy-next-upstream-tries",
  form: integerForm(),
  bad: "I",
  risk: "Low",
  scope: "location",
  builtIn: 3,
  shownDefault: "3",
  configKey: "proxy-next-upstream-tries",
  own: ["retry"],
  served: "served",
  meaning: "How often a request is sent, the first try included; `0` is no limit.",
  here: "As there; at most 32 times, also for `0`.",
});

const withoutBlanks = textForm(
  "text without blanks and variables",
  new RegExp(`^[${urlCharacters}]+$`),
  "letters, digits and -._~/:?&=",
);

const proxyRedirect = (side: "from" | "to", meaning: string): NginxAnnotation<string> => ({
  name: `proxy-redirect-${side}`,
  own: ["response-location"],
  form: withoutBlanks,
  bad: "I",
  risk: "Medium",
  scope: "location",
  builtIn: "off",
  shownDefault: "`off`",
  configKey: `proxy-redirect-${side}`,
  served: "served",
  meaning,
  here: "As there.",
  isNeutral: (value) => value === "off",
});

export const proxyRedirectFrom = proxyRedirect(
  "from",
  "The beginning of `Location` and `Refresh` that `proxy-redirect-to` replaces.",
);
export const proxyRedirectTo = proxyRedirect("to", "What replaces `proxy-redirect-from`.");

/** `off`, or two words. A tilde would begin a regular expression. */
const pairOf = (characters: string): RegExp => {
  const word = `(?!~)[${characters}]+`;
  return new RegExp(`^(?:off|${word} +${word})$`);
};

export const proxyCookieDomain = declare({
  name: "proxy-cookie-domain",
  own: ["response-cookie-domain"],
  form: textForm("pair of domains", pairOf(basicCharacters), "off, or two domains"),
  bad: "I",
  risk: "Medium",
  scope: "location",
  builtIn: "off",
  shownDefault: "`off`",
  configKey: "proxy-cookie-domain",
  served: "served",
  meaning: "The `Domain` of cookies of backends, and what replaces it.",
  here: "As there.",
  isNeutral: (value) => value === "off",
});

export const proxyCookiePath = declare({
  name: "proxy-cookie-path",
  own: ["response-cookie-path"],
  form: textForm("pair of paths", pairOf(urlCharacters), "off, or two paths"),
  bad: "I",
  risk: "Medium",
  scope: "location",
  builtIn: "off",
  shownDefault: "`off`",
  configKey: "proxy-cookie-path",
  served: "served",
  meaning: "The beginning of the `Path` of cookies of backends, and what replaces it.",
  here: "As there.",
  isNeutral: (value) => value === "off",
});

export const limitRate = declare({
  name: "limit-rate",
  form: integerForm(),
  bad: "I",
  risk: "Low",
  scope: "location",
  builtIn: 0,
  shownDefault: "0, no limit",
  configKey: "limit-rate",
  served: "served",
  meaning: "The rate of each response in kilobytes per second.",
  here: "As there, whether or not responses are buffered.",
  isNeutral: (value) => value === 0,
});

export const limitRateAfter = declare({
  name: "limit-rate-after",
  form: integerForm(),
  bad: "I",
  risk: "Low",
  scope: "location",
  builtIn: 0,
  shownDefault: "0",
  configKey: "limit-rate-after",
  served: "served",
  meaning: "The kilobytes of each response that `limit-rate` does not slow down.",
  here: "As there.",
  isNeutral: (value) => value === 0,
});
