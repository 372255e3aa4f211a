/** The responses of the backend of the examples, by the path and the query of a request (config/examples/README.md). */
import { EventEmitter, once } from "node:events";
import type { IncomingHttpHeaders } from "node:http";
import { answerLogin, type Answer } from "./login.ts";

export type Received = {
  readonly method: string;
  /** The path with its query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** The server name that the client sent on a connection over TLS; undefined without TLS. */
  readonly serverName?: string | undefined;
};

const waitMs = 5_000;
/** The most paths that are remembered, and URLs for which failures are counted; the oldest are removed. */
const maxRemembered = 1_000;

/**
 * Returns a function that answers requests with a description of the request, except:
 *
 * - `?status=503`: with that status;
 * - `?never`: not at all;
 * - `?failures=2`: with 503 the first two times, then once with 200, and so on;
 * - `/received?path=/a`: when another request for that path arrives, or with 404 after five seconds;
 * - `/oauth2/…`: as an authorization service does (login.ts).
 */
export function createAnswers(name: string): (received: Received) => Promise<Answer> {
  const paths = new Set<string>();
  const failures = new Map<string, number>();
  const arrivals = new EventEmitter().setMaxListeners(0);

  const waitFor = async (path: string): Promise<Answer> => {
    const patience = AbortSignal.timeout(waitMs);
    while (!paths.has(path)) {
      const isLate = await once(arrivals, "path", { signal: patience }).then(
        () => false,
        () => true,
      );
      if (isLate) return { status: 404, body: `${name} has not received ${path}\n` };
    }
    return { status: 200, body: `${name} has received ${path}\n` };
  };

  const statusOf = (url: URL): number => {
    const wanted = Number(url.searchParams.get("failures") ?? 0);
    const failed = failures.get(url.href) ?? 0;
    failures.delete(url.href);
    if (failed < wanted) {
      remember(failures.set(url.href, failed + 1));
      return 503;
    }
    const status = Number(url.searchParams.get("status") ?? 200);
    return status >= 200 && status <= 599 ? status : 200;
  };

  return async (received) => {
    const url = URL.parse(received.url, "http://backend") ?? new URL("http://backend");
    if (url.pathname === "/received") return waitFor(url.searchParams.get("path") ?? "");
    paths.delete(url.pathname);
    remember(paths.add(url.pathname));
    arrivals.emit("path");
    if (url.searchParams.has("never")) return new Promise(() => undefined);
    return (
      answerLogin(name, url, received.headers) ?? { status: statusOf(url), body: describe(name, received) }
    );
  };
}

const describe = (name: string, { method, url, headers, serverName }: Received): string =>
  [
    `${name} ${method} ${url}`,
    ...(serverName === undefined ? [] : [`tls: ${serverName}`]),
    ...Object.entries(headers).map(([field, value]) => `${field}: ${String(value)}`),
    "",
  ].join("\n");

function remember(known: Map<string, unknown> | Set<string>): void {
  const [oldest] = known.keys();
  if (known.size > maxRemembered && oldest !== undefined) known.delete(oldest);
}
