import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { controllerMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import { createMetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import { createSnapshot } from "@svc-gateway/common/ir/snapshot.ts";
import { decodeResource } from "@svc-gateway/common/ir/resource.ts";
import type { ObjectOf } from "../../../src/api/kinds.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import type { Build } from "../../../src/build/table-builder.ts";
import { createNotes } from "../../../src/reconcilers/gateway/notes.ts";
import { vipReconciler } from "../../../src/reconcilers/gateway/vip.ts";
import { runReconcilers, type RunningReconcilers } from "../../../src/reconcilers/run-reconcilers.ts";
import { gatewayNameLabel } from "../../../src/translate/gateway/names.ts";
import { mappingOf } from "../../../src/translate/gateway/scopes/ports.ts";
import { defaultTranslateSettings } from "../../../src/translate/settings.ts";
import { translate } from "../../../src/translate/translate.ts";
import { createWorld, updateWorld, type WorldChange } from "../../../src/world.ts";
import { createFakeClient, type FakeCall } from "../../support/fake-client.ts";
import { createTestClock, settle, type TestClock } from "../../support/test-clock.ts";
import { vips } from "./support.ts";

type Service = ObjectOf<"Service">;

const collection = `/api/v1/namespaces/${vips.namespace}/services`;

/** A write that the API server has received and not carried out. */
export type HeldWrite = {
  readonly name: string;
  /** The internal ports that it writes. */
  readonly ports: readonly number[];
  /** Carries it out and answers it. */
  readonly store: () => void;
  /** Carries it out, if it ever does, after the client has given up. */
  readonly storeLate: () => void;
  /** Answers with an error by its status; 0 is no answer. */
  readonly fail: (status: number) => void;
};

/** The Services of an API server whose writes wait for the test. */
export function createSlowServer() {
  const services = new Map<string, Service>();
  const held: HeldWrite[] = [];
  const changes: WorldChange[] = [];
  const faults: string[] = [];
  let version = 0;

  const note = (object: Service): void => {
    services.set(object.metadata.name, object);
    changes.push({ type: "apply", object });
    const owners = new Map<number, string>();
    for (const [name, service] of services) {
      for (const port of mappingOf(service).values()) {
        const other = owners.get(port);
        if (other !== undefined) faults.push(`${other} and ${name} map to ${port}`);
        owners.set(port, name);
      }
    }
  };

  const answer = ({ path, method = "GET", body }: FakeCall): object | number | Promise<object | number> => {
    const name = path.slice(collection.length + 1);
    if (method === "GET" && name === "") return { items: [...services.values()] };
    if (method === "GET") return services.get(name) ?? 404;
    if (method !== "PATCH") throw new Error(`${method} is not part of this test`);
    const wanted = body as Service;
    const store = (): Service => {
      const metadata = { ...wanted.metadata, uid: `uid-${name}`, resourceVersion: String(++version) };
      const stored = { ...wanted, metadata };
      note(stored);
      return stored;
    };
    return new Promise((resolve) => {
      const end = (result: object | number): void => {
        held.splice(held.indexOf(write), 1);
        resolve(result);
      };
      const write: HeldWrite = {
        name: wanted.metadata.labels?.[gatewayNameLabel] ?? "",
        ports: [...mappingOf(wanted).values()],
        store: () => end(store()),
        storeLate: () => void store(),
        fail: end,
      };
      held.push(write);
    });
  };

  return {
    services,
    held,
    /** The changes of Services so far, as watches report them. */
    changes,
    /** Ports that two Services had at one moment. */
    faults,
    client: () => createFakeClient(answer),
  };
}

export type SlowServer = ReturnType<typeof createSlowServer>;

/** A replica of the controller that observes Gateways and Services when the test says so. */
export function createReplica(server: SlowServer, clock: TestClock = createTestClock()) {
  const settings = { ...defaultTranslateSettings, ingressEnabled: false, gatewayVips: vips };
  const reconciler = vipReconciler({
    clock,
    client: server.client(),
    namespace: vips.namespace,
    isServed: () => true,
    handover: { isDone: () => false },
    fleet: { subscribe: () => () => undefined },
    provisioned: { subscribe: () => () => undefined },
    refusals: createNotes(),
    taken: createNotes(),
  });
  let world = createWorld([gatewayClass]);
  let seen = 0;
  let leading: { readonly abort: AbortController; readonly running: RunningReconcilers } | undefined;
  const events = new Set<string>();
  let build = translated();

  function translated(): Build {
    const translation = translate(world, settings);
    for (const { reason, message } of translation.events) events.add(`${reason}: ${message}`);
    return { world, translation };
  }

  const observe = async (change: WorldChange): Promise<void> => {
    world = updateWorld(world, [change]);
    build = translated();
    leading?.running.onBuild(build);
    await settle();
  };

  return {
    clock,
    events,
    /** Whether it has yet to observe changes of Services. */
    isBehind: () => seen < server.changes.length,
    observeGateway: (name: string) => observe({ type: "apply", object: gatewayOf(name) }),
    /** Observes the next change of a Service. */
    async observeService() {
      const change = server.changes[seen];
      if (change === undefined) return;
      seen++;
      await observe(change);
    },
    async lead() {
      const abort = new AbortController();
      const running = runReconcilers({
        reconcilers: [reconciler],
        statuses: { write: () => Promise.reject(new Error("no status is written")) },
        isWritten: () => false,
        metrics: createMetricSet(controllerMetrics),
        log: silentLogger,
        signal: abort.signal,
        clock,
      });
      leading = { abort, running };
      running.onBuild(build);
      await settle();
    },
    async resign() {
      leading?.abort.abort();
      leading = undefined;
      await settle();
    },
    version: () => createSnapshot(build.translation.scopes.shared).version,
    /** The Gateway that proxies serve on each internal port. */
    served(): ReadonlyMap<number, string> {
      return new Map(
        build.translation.scopes.shared.flatMap((resource) => {
          const decoded = decodeResource(resource);
          if (!decoded.ok || decoded.value?.type !== "listener") return [];
          const name = resource.key.slice(resource.key.indexOf("/") + 1);
          return decoded.value.value.listeners.map(({ port }) => [port, name] as const);
        }),
      );
    },
  };
}

export type Replica = ReturnType<typeof createReplica>;

/** The internal ports on which clients of one Gateway reach another one, as sentences. */
export function strayClients(server: SlowServer, replicas: readonly Replica[]): readonly string[] {
  return replicas.flatMap((replica) => {
    const served = replica.served();
    return [...server.services.values()].flatMap((service) => {
      const own = service.metadata.labels?.[gatewayNameLabel];
      return [...mappingOf(service).values()].flatMap((port) => {
        const other = served.get(port);
        return other === undefined || other === own ? [] : [`clients of ${own} reach ${other} on ${port}`];
      });
    });
  });
}

const gatewayClass = {
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "GatewayClass",
  metadata: { name: "svc" },
  spec: { controllerName: defaultTranslateSettings.controllerName },
} as unknown as KubeObject;

const gatewayOf = (name: string): KubeObject =>
  ({
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "Gateway",
    metadata: {
      name,
      namespace: "shop",
      uid: `uid-${name}`,
      generation: 1,
      creationTimestamp: "2026-01-01T00:00:00Z",
    },
    spec: { gatewayClassName: "svc", listeners: [{ name: "http", port: 80, protocol: "HTTP" }] },
  }) as unknown as KubeObject;
