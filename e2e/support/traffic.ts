/** Steady traffic in the background, with every failure counted. */
import { Agent, request } from "node:http";
import { proxyAddress, type ProxyAddress } from "./address.ts";

export type TrafficOptions = {
  readonly host: string;
  readonly path?: string;
  /** Returns the current address for each request; by default, that of the shared proxies. */
  readonly address?: () => Pick<ProxyAddress, "host" | "http">;
  /** At most 100. */
  readonly requestsPerSecond?: number;
  /** The time after which the traffic ends automatically. */
  readonly limitMs?: number;
};

export type TrafficReport = {
  readonly sent: number;
  readonly failed: number;
  /** The number of failures of each kind, with the time of the first in milliseconds since the start. */
  readonly failures: ReadonlyMap<string, { readonly count: number; readonly firstMs: number }>;
  /** Names of the backends that answered. */
  readonly backends: ReadonlySet<string>;
  readonly longestMs: number;
};

export type Traffic = {
  /** The number of requests answered with 200 so far. */
  succeeded(): number;
  /** Stops sending, waits for requests in flight, and returns the results. */
  stop(): Promise<TrafficReport>;
};

const maxRequestsPerSecond = 100;
const requestTimeoutMs = 15_000;
/** More requests in flight than this mean that no backend answers. Further ones are not sent, but count as failed. */
const maxUnderWay = 500;
/** One of this number of requests uses a new connection; the others use persistent connections. */
const freshEvery = 4;

/** Sends requests at a steady rate, independent of the responses. Connections are kept and reused as by a browser. */
export async function startTraffic(options: TrafficOptions): Promise<Traffic> {
  const { host, path = "/", limitMs = 180_000 } = options;
  const rate = Math.min(options.requestsPerSecond ?? 40, maxRequestsPerSecond);
  const shared = await proxyAddress();
  const addressNow = options.address ?? ((): ProxyAddress => shared);
  const kept = new Agent({ keepAlive: true, maxSockets: 8 });
  const startedMs = performance.now();
  const underWay = new Set<Promise<void>>();
  const failures = new Map<string, { count: number; firstMs: number }>();
  const backends = new Set<string>();
  const counts = { sent: 0, succeeded: 0, longestMs: 0 };

  const fail = (why: string): void => {
    const known = failures.get(why);
    if (known === undefined)
      failures.set(why, { count: 1, firstMs: Math.round(performance.now() - startedMs) });
    else known.count += 1;
  };

  const sendOne = (): Promise<void> =>
    new Promise((settle) => {
      const sentMs = performance.now();
      const agent = counts.sent % freshEvery === 0 ? false : kept;
      const address = addressNow();
      const sent = request({ host: address.host, port: address.http, path, agent, headers: { host } });
      const end = (failure?: string): void => {
        counts.longestMs = Math.max(counts.longestMs, performance.now() - sentMs);
        if (failure === undefined) counts.succeeded += 1;
        else fail(failure);
        settle();
      };
      sent.setTimeout(requestTimeoutMs, () => sent.destroy(new Error("timeout")));
      sent.once("error", (error) => end(errorName(error)));
      sent.once("response", (response) => {
        const backend = response.headers["echo-backend"];
        if (typeof backend === "string") backends.add(backend);
        response.resume();
        response.once("error", (error) => end(`response cut: ${errorName(error)}`));
        response.once("end", () =>
          end(response.statusCode === 200 ? undefined : `status ${response.statusCode}`),
        );
      });
      sent.end();
    });

  const timer = setInterval(() => {
    if (performance.now() - startedMs > limitMs) {
      clearInterval(timer);
      return;
    }
    counts.sent += 1;
    if (underWay.size >= maxUnderWay) {
      fail("not sent: too many under way");
      return;
    }
    const one = sendOne().finally(() => underWay.delete(one));
    underWay.add(one);
  }, 1000 / rate);

  return {
    succeeded: () => counts.succeeded,
    async stop() {
      clearInterval(timer);
      await Promise.all(underWay);
      kept.destroy();
      const failed = [...failures.values()].reduce((sum, { count }) => sum + count, 0);
      return { sent: counts.sent, failed, failures, backends, longestMs: Math.round(counts.longestMs) };
    },
  };
}

function errorName(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : error.message;
}

/** The failures in one line, for messages and tables. */
export const describeFailures = ({ failures }: TrafficReport): string =>
  [...failures]
    .map(([why, { count, firstMs }]) => `${count} x ${why} (first after ${firstMs} ms)`)
    .join(", ");
