import { createServer, request, type Server } from "node:http";
import { once } from "node:events";
import { connect, type AddressInfo, type Socket } from "node:net";
import { endpointsKey, listenerKey, routeKey } from "@svc-gateway/common/ir/keys.ts";
import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import { createSnapshot, diffSnapshots, fullUpdate, type Snapshot } from "@svc-gateway/common/ir/snapshot.ts";
import { readStandaloneSettings } from "@svc-gateway/common/settings/settings.ts";
import { createLogLevels } from "@svc-gateway/common/telemetry/log-levels.ts";
import type { LogOutput } from "@svc-gateway/common/telemetry/log-sink.ts";
import { createLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { startSupervisor, type Supervisor, type SupervisorOptions } from "../../src/worker/supervisor.ts";
import type { Fault } from "./faulty-worker.ts";

export const routeId = "ingress/ns/web:0.0";

export type Rig = {
  readonly supervisor: Supervisor;
  readonly lines: string[];
  /** Bound ports as they were reported, joined. */
  readonly bound: string[];
  readonly port: number;
  /** Serves these paths of `a.example`. */
  update(paths: readonly string[], features?: RouteFeatures): Promise<boolean>;
  /** Resolves once the worker has the fault; `reported` resolves once the worker announces its effect. */
  fault(fault: Fault): Promise<{ readonly reported: Promise<unknown> }>;
  /** The resources of a route for this path of `a.example`. */
  resources(path: string): readonly Resource[];
  /** Endpoint sets that no route uses, too many for one message to a worker. */
  readonly fill: readonly Resource[];
  /** Sends a request on a new connection, and returns the status. */
  ask(path: string): Promise<number>;
  /** The value of a metric line that begins with the text. */
  metric(prefix: string): Promise<number>;
};

const program = new URL("./faulty-worker.ts", import.meta.url);

export type RigOptions = Pick<SupervisorOptions, "hangLimits" | "onStuck"> & {
  /** The port of a backend on loopback; if absent, a backend is started in this process. */
  readonly backendPort?: number;
};

/** Runs the body with workers that serve `/` of `a.example`. */
export const withWorkers = (
  workers: number,
  body: (rig: Rig) => Promise<void>,
  flags: readonly string[] = [],
  options: RigOptions = {},
): Promise<void> =>
  withRig(
    workers,
    async (rig) => {
      if (!(await rig.update(["/"]))) throw new Error(rig.lines.join(""));
      await body(rig);
    },
    flags,
    options,
  );

/** Runs the body with workers that serve nothing yet. */
export const withoutSnapshot = (workers: number, body: (rig: Rig) => Promise<void>): Promise<void> =>
  withRig(workers, body, [], {});

async function withRig(
  workers: number,
  body: (rig: Rig) => Promise<void>,
  flags: readonly string[],
  { backendPort, ...options }: RigOptions,
): Promise<void> {
  const backend = createServer((_, response) => response.end("hello"));
  backend.listen(0, "127.0.0.1");
  await once(backend, "listening");
  const faults = new BroadcastChannel("faults");
  const lines: string[] = [];
  const bound: string[] = [];
  const sink = sinkTo(lines);
  const started = await startSupervisor({
    settings: settingsOf(workers, flags),
    log: createLogger("svc_proxy", {
      levels: createLogLevels({ level: "info", targets: [] }),
      format: "json",
      sink,
    }),
    sink,
    onBoundPorts: (ports) => void bound.push(ports.join()),
    machine: { processors: workers, memoryBytes: 256 * 1024 * 1024, sharesPorts: true },
    program,
    ...options,
  });
  if (!started.ok) throw new Error(`${started.error.message} ${lines.join("")}`);
  const supervisor = started.value;
  let present: Snapshot | undefined;
  const update: Rig["update"] = async (paths, features) => {
    const endpoint = backendPort ?? (backend.address() as AddressInfo).port;
    const next = createSnapshot(resources(endpoint, paths, features));
    const applied = await supervisor.apply(
      present === undefined ? fullUpdate(next) : diffSnapshots(present, next),
    );
    if (applied.ok) present = next;
    return applied.ok;
  };
  try {
    await body({
      supervisor,
      lines,
      bound,
      get port() {
        return supervisor.localPort(80) ?? 0;
      },
      update,
      resources: (path) => resources((backend.address() as AddressInfo).port, [path], undefined),
      fill: fillers,
      ask: (path) => statusOf(supervisor.localPort(80) ?? 0, path),
      async fault(fault) {
        const armed = once(faults, "message");
        faults.postMessage(fault);
        if (fault.fault.startsWith("exit") || fault.fault === "report-read") await armed;
        return { reported: once(faults, "message") };
      },
      async metric(prefix) {
        const { body: text } = await supervisor.metrics();
        const found = text.split("\n").filter((line) => line.startsWith(prefix));
        return found.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
      },
    });
  } finally {
    faults.close();
    await supervisor.shutdown(AbortSignal.abort());
    await closed(backend);
  }
}

/** A connection on which a request has begun that does not end. */
export async function beginRequest(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  // Where the connection is cut, its end may be a reset.
  socket.on("error", () => {});
  socket.write("GET / HTTP/1.1\r\n");
  return socket;
}

export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}

function settingsOf(workers: number, flags: readonly string[]) {
  const argv = ["--manifests", ".", "--port-map", "80=0", "--proxy-workers", String(workers)];
  const more = ["--proxy-bind-address", "127.0.0.1", "--proxy-shutdown-grace-period", "60s", ...flags];
  const read = readStandaloneSettings({ argv: [...argv, ...more], env: {} });
  if (!read.ok) throw new Error(read.error.message);
  return read.value.settings;
}

function resources(
  backendPort: number,
  paths: readonly string[],
  features: RouteFeatures | undefined,
): readonly Resource[] {
  const routes = paths.map((path, index) => ({
    id: index === 0 ? routeId : `${routeId}.${index}`,
    source: { kind: "Ingress" as const, namespace: "ns", name: "web" },
    match: { path: { type: "prefix" as const, value: path } },
    backends: [{ weight: 1, service: "ns/web", endpoints: "ns/web/80", protocol: "http1" as const }],
    ...(features === undefined ? {} : { features }),
  }));
  return [
    encodeResource<"route">(routeKey("ingress", 80, { kind: "exact", host: "a.example" }), {
      listener: "ingress",
      inherit: false,
      routes,
    }),
    encodeResource<"endpoints">(endpointsKey("ns/web/80"), {
      service: "ns/web",
      resolve: "static",
      addresses: [{ host: "127.0.0.1", port: backendPort }],
    }),
    encodeResource<"listener">(listenerKey("ingress"), {
      listeners: [{ port: 80, publicPort: 80, protocol: "http" }],
    }),
  ];
}

const fillers: readonly Resource[] = Array.from({ length: 1_000 }, (_, index) =>
  encodeResource<"endpoints">(endpointsKey(`ns/unused-${index}/80`), {
    service: `ns/unused-${index}`,
    resolve: "static",
    addresses: Array.from({ length: 8 }, (__, last) => ({ host: `10.0.0.${last}`, port: 80 })),
  }),
);

function statusOf(port: number, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { host: "a.example", connection: "close" };
    const asked = request({ port, path, headers, agent: false }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    });
    asked.on("error", reject);
    asked.end();
  });
}

function sinkTo(lines: string[]): LogOutput {
  return {
    write: (text) => (
      lines.push(
        ...Buffer.from(text)
          .toString()
          .split(/(?<=\n)/),
      ),
      true
    ),
    droppedLines: () => 0,
    isCongested: () => false,
    flushSync: () => {},
    close: () => Promise.resolve(),
  };
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
