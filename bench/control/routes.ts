/**
 * Measurements with HTTPRoutes: one Gateway with many routes, and the responses that clients get while routes are
 * edited.
 */
import { Agent } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { ApiClient } from "../../operator/src/sources/kubernetes/api-client.ts";
import { createAll } from "./fill.ts";
import { apply, statusOf } from "./measure.ts";
import {
  appName,
  collections,
  gateway,
  gatewayClass,
  gatewayName,
  gatewayPort,
  httpRoute,
  namespaceOf,
  routeHostOf,
} from "./objects.ts";

const statusLimitMs = 60_000;
/** The time limit for deleting all routes of a namespace, on a machine that is busy with other work. */
const deleteLimitMs = 120_000;
/** The number of requests in flight at any time. */
const connections = 8;
const editors = 4;

export const createGateway = (client: ApiClient): Promise<void> =>
  createAll(client, [
    { path: collections.gatewayClasses, body: gatewayClass },
    { path: collections.gateways, body: gateway },
  ]);

/** One route for each application of the range. */
export const createRoutes = (client: ApiClient, from: number, to: number): Promise<void> =>
  createAll(
    client,
    Array.from({ length: to - from }, (_, offset) => from + offset).map((index) => ({
      path: collections.routes(namespaceOf(index)),
      body: httpRoute(appName(index), routeHostOf(index), index),
    })),
  );

/** The milliseconds until the status of the Gateway reports this number of attached routes. */
export async function untilAttached(client: ApiClient, count: number): Promise<number> {
  type Status = { readonly listeners?: readonly { readonly attachedRoutes: number }[] };
  const startedMs = performance.now();
  for (;;) {
    const read = await client.call<{ readonly status?: Status }>(`${collections.gateways}/${gatewayName}`);
    const attached = read.ok ? read.value.status?.listeners?.[0]?.attachedRoutes : undefined;
    const tookMs = performance.now() - startedMs;
    if (attached === count) return tookMs;
    if (tookMs > statusLimitMs) throw new Error(`attachedRoutes is ${attached}, expected ${count}`);
    await delay(50);
  }
}

export type EditFigures = { readonly requests: number; readonly failed: number };

/**
 * Edits this number of routes, several at a time, while clients send requests to all of them. Counts responses other
 * than 200.
 */
export async function editUnderLoad(client: ApiClient, count: number): Promise<EditFigures> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  let requests = 0;
  let failed = 0;
  let isDone = false;
  const ask = async (first: number): Promise<void> => {
    for (let index = first; !isDone; index = (index + connections) % count) {
      const status = await statusOf(agent, gatewayPort, routeHostOf(index)).catch(() => 0);
      requests++;
      if (status !== 200) failed++;
    }
  };
  const edit = async (first: number): Promise<void> => {
    for (let index = first; index < count; index += editors) {
      const path = `${collections.routes(namespaceOf(index))}/${appName(index)}`;
      await apply(client, path, httpRoute(appName(index), routeHostOf(index), index, index + 1));
    }
  };
  const asking = Array.from({ length: connections }, (_, first) => ask(first));
  await Promise.all(Array.from({ length: editors }, (_, first) => edit(first)));
  isDone = true;
  await Promise.all(asking);
  agent.destroy();
  return { requests, failed };
}

/** Deletes the Gateway, and all HTTPRoutes in the namespaces of the first `applications` applications. */
export async function removeRoutes(client: ApiClient, applications: number): Promise<void> {
  const namespaces = new Set(Array.from({ length: applications }, (_, index) => namespaceOf(index)));
  for (const namespace of namespaces) await remove(client, collections.routes(namespace));
  await remove(client, `${collections.gateways}/${gatewayName}`);
}

async function remove(client: ApiClient, path: string): Promise<void> {
  const removed = await client.call(path, { method: "DELETE", timeoutMs: deleteLimitMs });
  if (!removed.ok) throw new Error(`DELETE ${path}: ${removed.error.status} ${removed.error.message}`);
}
