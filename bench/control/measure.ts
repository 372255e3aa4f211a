/** Measurements of the time that a change takes, made while controller and proxy run. */
import { Agent, request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { ApiClient } from "../../operator/src/sources/kubernetes/api-client.ts";
import { pathOf } from "./fill.ts";
import { collections, hostOf, httpRoute, ingress, namespaceOf, newIngress, slice } from "./objects.ts";
import type { Subscriber } from "./subscriber.ts";

/** Milliseconds between sending a change and each of its effects, one value per change. */
export type Times = {
  /** Until the API server answers. */
  readonly answered: number[];
  /** Until the delta arrives at a subscriber. */
  readonly published: number[];
  /** Until a request is answered 200. */
  readonly served: number[];
};

export type MeasureOptions = {
  readonly client: ApiClient;
  readonly subscriber: Subscriber;
  readonly proxyPort: number;
  readonly applications: number;
};

const manager = { fieldManager: "bench", force: true };
const serveLimitMs = 20_000;
/** The least time between two builds of an otherwise idle controller. */
const restMs = 60;

/** A kind of object that is applied in the measurement, each object with a host of its own. */
export type Applied = {
  readonly collection: (namespace: string) => string;
  readonly object: (name: string, host: string, ofApp: number) => object;
};

export const ingresses: Applied = { collection: collections.ingresses, object: newIngress };
export const httpRoutes: Applied = { collection: collections.routes, object: httpRoute };

/** Applies new objects sequentially, and waits until each is served. */
export async function measureApplies(
  options: MeasureOptions,
  { collection, object }: Applied,
  count: number,
): Promise<Times> {
  const { client, subscriber, proxyPort, applications } = options;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: Times = { answered: [], published: [], served: [] };
  const run = process.pid.toString(36) + Date.now().toString(36);
  for (let round = 0; round < count; round++) {
    const app = (round * 37) % applications;
    const name = `new-${run}-${round}`;
    const host = `${name}.example.com`;
    await delay(restMs + Math.random() * restMs);
    const published = subscriber.nextUpdate((key) => key.endsWith(`|${host}`));
    const startedMs = performance.now();
    const path = `${collection(namespaceOf(app))}/${name}`;
    const applied = apply(client, path, object(name, host, app)).then(() => performance.now());
    times.served.push((await firstSuccess(agent, proxyPort, host)) - startedMs);
    times.answered.push((await applied) - startedMs);
    times.published.push((await published) - startedMs);
  }
  agent.destroy();
  return times;
}

/** Sends requests at intervals of one millisecond until the status is 200. */
async function firstSuccess(agent: Agent, port: number, host: string): Promise<number> {
  const endMs = performance.now() + serveLimitMs;
  while (performance.now() < endMs) {
    if ((await statusOf(agent, port, host)) === 200) return performance.now();
    await delay(1);
  }
  throw new Error(`${host} is not served`);
}

/** The status of the response to one request. */
export const statusOf = (agent: Agent, port: number, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = request({ agent, host: "127.0.0.1", port, headers: { host } });
    sent.once("error", reject);
    sent.once("response", (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode ?? 0));
    });
    sent.end();
  });

/** Changes objects sequentially, alternating between the paths of an Ingress and the endpoints of a Service. */
export async function measureChanges(
  { client, subscriber, applications }: Omit<MeasureOptions, "proxyPort">,
  count: number,
): Promise<{ readonly ingress: Omit<Times, "served">; readonly slice: Omit<Times, "served"> }> {
  const change = async (
    path: string,
    body: object,
    isIt: (key: string) => boolean,
    times: Omit<Times, "served">,
  ) => {
    await delay(restMs + Math.random() * restMs);
    const published = subscriber.nextUpdate(isIt);
    const startedMs = performance.now();
    await apply(client, path, body);
    times.answered.push(performance.now() - startedMs);
    times.published.push((await published) - startedMs);
  };
  const result = { ingress: { answered: [], published: [] }, slice: { answered: [], published: [] } };
  for (let round = 0; round < count; round++) {
    const app = (round * 41 + 7) % applications;
    await change(
      pathOf.ingress(app),
      ingress(app, ["/", `/changed-${round}`]),
      (key) => key.endsWith(`|${hostOf(app)}`),
      result.ingress,
    );
    await change(
      pathOf.slice(app),
      slice(app, true),
      (key) => key.startsWith(`endpoints|${namespaceOf(app)}/`),
      result.slice,
    );
  }
  return result;
}

/** Sends a server-side apply, as `kubectl apply --server-side` does. */
export async function apply(client: ApiClient, path: string, body: object): Promise<void> {
  const applied = await client.call(path, { method: "PATCH", patch: "apply", query: manager, body });
  if (!applied.ok) throw new Error(`apply ${path}: ${applied.error.status} ${applied.error.message}`);
}
