import { isIP } from "node:net";
import { shown } from "../values/clip.ts";
import { parseHostname } from "../values/hostname.ts";
import { parseOrigin, type Origin } from "../values/origin.ts";
import { ok, problem, type Problem, type Result } from "../values/result.ts";

/** A rule that sends the requests for a host and path to a backend: `app.local/api=https://localhost:3443`. */
export type ProxyRule = {
  /** A DNS name in lower case, or one that begins with `*.`. */
  readonly host: string;
  /** A path prefix that begins with `/`. */
  readonly path: string;
  readonly backend: Origin;
};

export const proxyRuleForm =
  'HOST[/PATH]=BACKEND such as "app.local=localhost:3000" or "app.local/api=https://localhost:3443"';

/** Reads a rule. Without a scheme, the backend speaks HTTP without TLS; without a port, it has that of its scheme. */
export function parseProxyRule(text: string): Result<ProxyRule, Problem> {
  const [, left = "", right = ""] = /^\s*([^=]*)=(.*?)\s*$/s.exec(text) ?? [];
  const slash = left.indexOf("/");
  const host = (slash < 0 ? left : left.slice(0, slash)).toLowerCase();
  const path = slash < 0 ? "/" : left.slice(slash);
  const backend = parseOrigin(/^https?:\/\//i.test(right) ? right.replace(/\/$/, "") : `http://${right}`);
  const name = parseHostname(host);
  // Certificates are verified by a name (Gateway API, BackendTLSPolicy).
  const isUnnamed = backend?.scheme === "https" && isIP(backend.host.replace(/^\[|\]$/g, "")) !== 0;
  if (isUnnamed) return problem(`"${shown(text)}" has an https backend without a name`, proxyRuleForm);
  if (backend === undefined || backend.port === 0 || !name.ok || !/^\/[\x21-\x7e]*$/.test(path))
    return problem(`"${shown(text)}" is not a rule`, proxyRuleForm);
  return ok({ host, path, backend });
}

/** Writes a rule in the form in which it is read. */
export const formatProxyRule = ({ host, path, backend }: ProxyRule): string =>
  `${host}${path === "/" ? "" : path}=${formatBackend(backend)}`;

/** Writes a backend as in `https://localhost:3443`. */
export const formatBackend = ({ scheme, host, port }: Origin): string => `${scheme}://${host}:${port}`;
