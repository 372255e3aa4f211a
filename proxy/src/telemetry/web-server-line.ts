import { cutToLimit } from "@svc-gateway/common/telemetry/log-text.ts";
import { maskText } from "@svc-gateway/common/telemetry/redaction.ts";
import type { AccessLogPathMode, AccessRecord } from "./access-record.ts";
import { refererOf } from "./access-line-fields.ts";

/**
 * Creates a writer of lines in the Common Log Format, or the Combined one with Referer and User-Agent (Apache HTTP
 * Server, mod_log_config). Quotes, backslashes and all characters other than printable ASCII are escaped as Apache
 * does, so that a client can end neither a line nor a value.
 */
export function webServerLine(
  format: "common" | "combined",
  pathMode: AccessLogPathMode,
): (record: AccessRecord) => string {
  const now = clock();
  return (record) => {
    const { method, clientIp, status, bytesSent, details } = record;
    const path = pathMode === "none" ? "" : pathMode === "full" ? record.path : record.pattern;
    const request = `${word(method)} ${word(path)} ${word(details?.protocol ?? "")}`;
    const line = `${word(clientIp)} - - [${now()}] "${request}" ${status} ${bytesSent}`;
    if (format === "common") return `${line}\n`;
    const { referer = "", userAgent = "" } = details ?? {};
    return `${line} "${quoted(maskText(refererOf(referer)))}" "${quoted(maskText(userAgent))}"\n`;
  };
}

const quoted = (value: string): string => (value === "" ? "-" : escape(cutToLimit(value)));

const word = (value: string): string => quoted(value).replaceAll(" ", "\\x20");

const escape = (value: string): string =>
  value.replace(/["\\]|[^ -~]/gu, (char) =>
    char === '"' || char === "\\"
      ? `\\${char}`
      : [...Buffer.from(char)].map((octet) => `\\x${octet.toString(16).padStart(2, "0")}`).join(""),
  );

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const;

/** Creates a function for the time in UTC, as `02/Jan/2026:03:04:05 +0000`; the text is reused within a second. */
function clock(): () => string {
  let second = -1;
  let text = "";
  return () => {
    const nowMs = Date.now();
    const current = Math.floor(nowMs / 1000);
    if (current !== second) {
      second = current;
      const [year = "", month = "", rest = ""] = new Date(nowMs).toISOString().split("-");
      text = `${rest.slice(0, 2)}/${months[Number(month) - 1] ?? ""}/${year}:${rest.slice(3, 11)} +0000`;
    }
    return text;
  };
}
