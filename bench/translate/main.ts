/**
 * Measures the processor time and memory that the controller itself needs, in one process and without an API server:
 * reading objects, the first table, one change. See docs/scale.md, "Translation by itself".
 */
import { randomUUID } from "node:crypto";
import { createSnapshotBuilder } from "../../common/src/ir/snapshot-builder.ts";
import { createSnapshot, fullUpdate } from "../../common/src/ir/snapshot.ts";
import type { KubeObject } from "../../operator/src/api/object.ts";
import { encodeUpdate } from "../../operator/src/discovery/update-encoding.ts";
import { heldPart } from "../../operator/src/sources/kubernetes/object-parts.ts";
import { createHeldObjects } from "../../operator/src/sources/kubernetes/held-objects.ts";
import { defaultTranslateSettings } from "../../operator/src/translate/settings.ts";
import { translate } from "../../operator/src/translate/translate.ts";
import { emptyWorld, updateWorld } from "../../operator/src/world.ts";
import {
  appName,
  gateway,
  gatewayClass,
  httpRoute,
  ingress,
  ingressClass,
  installNamespace,
  namespaceOf,
  routeHostOf,
  service,
  slice,
} from "../control/objects.ts";
import { percentile } from "../control/report.ts";

const applications = Number(process.env["INGRESSES"] ?? 10_000);
const routes = Number(process.env["ROUTES"] ?? 3_000);
const rounds = 60;

const printLine = (line: string): void => void process.stdout.write(`${line}\n`);

/** Processor time of all threads of the process, which includes garbage collection and compilation. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function timed<T>(what: string, work: () => T): T {
  const startedMs = processorMs();
  const result = work();
  const tookMs = processorMs() - startedMs;
  const { heapUsed, external } = process.memoryUsage();
  const megabytes = ((heapUsed + external) / 1e6).toFixed(0);
  printLine(`${what}: ${tookMs.toFixed(0)} ms; ${megabytes} MB in use`);
  return result;
}

let version = 0;

/** The text of an object as the API server would send it. */
function stored(declared: object, namespace?: string): string {
  const object = declared as KubeObject;
  const metadata = {
    ...object.metadata,
    ...(namespace !== undefined && { namespace }),
    uid: randomUUID(),
    resourceVersion: String(++version),
    generation: 1,
    creationTimestamp: "2026-01-01T00:00:00Z",
    managedFields: [{ manager: "kubectl", operation: "Apply", fieldsV1: { "f:spec": { "f:rules": {} } } }],
  };
  return JSON.stringify({ ...object, metadata });
}

const held = createHeldObjects();
let world = emptyWorld;
const build = createSnapshotBuilder();

/** Reads an object as a watch does. */
function take(text: string): KubeObject {
  const object = heldPart(JSON.parse(text) as KubeObject);
  const name = `${object.kind} ${object.metadata.namespace ?? ""}/${object.metadata.name}`;
  const outcome = held.put(name, object);
  const kept = held.get(name);
  if (outcome.invalid !== undefined || kept === undefined) throw new Error(`${name} is refused`);
  return kept;
}

const put = (objects: readonly KubeObject[]): void => {
  world = updateWorld(
    world,
    objects.map((object) => ({ type: "apply", object })),
  );
};
const publish = () => build(translate(world, defaultTranslateSettings, { nowMs: Date.now() }).scopes.shared);

function measure(what: string, textOf: (round: number) => string): void {
  const times = Array.from({ length: rounds }, (_, round) => {
    const text = textOf(round);
    const startedMs = processorMs();
    put([take(text)]);
    publish();
    return processorMs() - startedMs;
  });
  printLine(
    `${what}: median ${percentile(times, 0.5).toFixed(1)} ms, p90 ${percentile(times, 0.9).toFixed(1)} ms`,
  );
}

const indexes = Array.from({ length: applications }, (_, index) => index);
const texts = indexes.flatMap((index) =>
  [service(index), slice(index), ingress(index)].map((object) => stored(object, namespaceOf(index))),
);
printLine(`${applications} applications, processor time`);
const objects = timed("taking objects in", () => texts.splice(0).map(take));
timed("first table", () => {
  put([take(stored(ingressClass)), ...objects]);
  return publish();
});
timed("the same again, from the hash of each resource", () => createSnapshot(publish().resources.values));
timed("full update", () => encodeUpdate(fullUpdate(publish())));

const appOf = (round: number): number => (round * 41 + 7) % applications;
measure("changed Ingress", (round) =>
  stored(ingress(appOf(round), ["/", `/changed-${round}`]), namespaceOf(appOf(round))),
);
measure("changed EndpointSlice", (round) => stored(slice(appOf(round), true), namespaceOf(appOf(round))));

const routeOf = (index: number, edit?: number): string =>
  stored(httpRoute(appName(index), routeHostOf(index), index, edit));
put([take(stored(gatewayClass)), take(stored(gateway, installNamespace))]);
put(Array.from({ length: routes }, (_, index) => take(routeOf(index))));
timed(`${routes} HTTPRoutes at once`, publish);
measure("changed HTTPRoute", (round) => routeOf((round * 41 + 7) % routes, round + 1));
measure("new HTTPRoute", (round) => routeOf(routes + round));
