import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { listenerKey, routeKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import { createSnapshot, fullUpdate } from "@svc-gateway/common/ir/snapshot.ts";
import { IncomingUpdate } from "../../src/state/incoming-update.ts";
import { maxPartLength, packUpdate } from "../../src/worker/packed-update.ts";
import { beginRequest, eventually, routeId, withWorkers, withoutSnapshot } from "./support.ts";

const restarts = "svc_proxy_worker_restarts_total";
/** Long enough that no worker of a busy machine is taken for one that hangs. */
const hangLimits = { serving: 4_000, busy: 60_000, stuck: 60_000 };

describe("workers", () => {
  it("workers share the connections of a port, and are one proxy in metrics, logs and bound ports", () =>
    withWorkers(2, async ({ ask, metric, lines, bound }) => {
      for (let i = 0; i < 30; i++) expect(await ask("/")).to.equal(200);
      await eventually(async () => (await metric("svc_proxy_requests_total")) === 30);
      await eventually(async () => (await metric("svc_proxy_connections_total")) === 30);
      await eventually(async () => (await metric("svc_proxy_workers ")) === 2);
      await eventually(async () => (await metric('svc_proxy_routing_table_routes{kind="ingress"}')) === 1);
      expect(bound).to.deep.equal(["80"]);
      const records = (): string[] =>
        lines
          .join("")
          .split("\n")
          .filter((line) => line.includes("route_id"));
      await eventually(() => records().length === 30);
      expect(lines.join("").match(/listener added/g)).to.have.length(1);
    }));

  it("a change of the log level reaches all workers, and those that replace one", () =>
    withWorkers(2, async ({ supervisor, ask, fault, metric, lines }) => {
      const requests = (): number => lines.filter((line) => line.includes("route_id")).length;
      supervisor.setLogLevel({ level: "off", targets: [] });
      await fault({ worker: 1, fault: "throw" });
      await eventually(async () => (await metric("svc_proxy_worker_restarts_total")) === 1);
      await eventually(async () => (await metric("svc_proxy_workers ")) === 2);
      for (let i = 0; i < 20; i++) expect(await ask("/")).to.equal(200);
      supervisor.setLogLevel({ level: "info", targets: [] });
      // Answered after the change.
      await supervisor.metrics();
      for (let i = 0; i < 20; i++) expect(await ask("/")).to.equal(200);
      await eventually(() => requests() >= 20);
      expect(requests()).to.equal(20);
    }));

  it("an update is served by all workers", () =>
    withWorkers(2, async ({ update, ask }) => {
      expect(await update(["/new"])).to.equal(true);
      for (let i = 0; i < 20; i++) expect(await ask("/old")).to.equal(404);
      for (let i = 0; i < 20; i++) expect(await ask("/new")).to.equal(200);
    }));

  it("an update in several messages is applied or rejected as a whole by all workers", () =>
    withWorkers(2, async ({ supervisor, ask, port, lines }) => {
      const host = (name: string, path: string): Resource =>
        encodeResource<"route">(routeKey("ingress", 80, { kind: "exact", host: name }), {
          listener: "ingress",
          inherit: false,
          routes: [
            {
              id: `ingress/ns/${name}:0.0`,
              source: { kind: "Ingress", namespace: "ns", name },
              match: { path: { type: "prefix", value: path } },
              backends: [{ weight: 1, service: "ns/web", protocol: "http1", status: 503 }],
              accessLog: true,
            },
            {
              id: `ingress/ns/${name}:0.1`,
              source: { kind: "Ingress", namespace: "ns", name },
              match: { path: { type: "prefix", value: `/${"x".repeat(maxPartLength / 2)}` } },
              backends: [{ weight: 1, service: "ns/web", protocol: "http1", status: 503 }],
            },
          ],
        });
      const listener = encodeResource<"listener">(listenerKey("ingress"), {
        listeners: [{ port: 80, publicPort: 80, protocol: "http" }],
      });
      const names = ["a.example", "b.example", "c.example", "d.example"];
      const good = createSnapshot([listener, ...names.map((name) => host(name, "/large"))]);
      const full = fullUpdate(good);
      expect(await packUpdate(full).part(1)).to.not.equal(undefined);
      const spoiled = full.resources.find(({ key }) => key.endsWith("a.example"));
      const bad = {
        ...full,
        resources: full.resources.map((one) => (one === spoiled ? { ...one, body: "{}" } : one)),
      };
      expect((await supervisor.apply(bad)).ok).to.equal(false);
      expect(lines.join("")).to.include("hash does not match its body");
      expect(await ask("/")).to.equal(200);
      expect((await supervisor.apply(full)).ok).to.equal(true);
      for (let i = 0; i < 20; i++) expect(await ask("/large")).to.equal(503);
      expect(await ask("/")).to.equal(404);
      expect(supervisor.localPort(80)).to.equal(port);
    }));

  it("the first update is read by the workers while it arrives, and served when it is whole", () =>
    withoutSnapshot(2, async ({ supervisor, resources, fill, ask, fault, metric, lines }) => {
      const { reported } = await fault({ worker: 1, fault: "report-read" });
      const { version } = createSnapshot([...resources("/"), ...fill]);
      const incoming = new IncomingUpdate({ version, full: true });
      const applied = supervisor.applyIncoming(incoming);
      incoming.add(fill);
      await reported;
      expect(supervisor.localPort(80)).to.equal(undefined);
      incoming.add(resources("/"));
      incoming.complete([]);
      expect((await applied).ok, lines.join("")).to.equal(true);
      for (let i = 0; i < 20; i++) expect(await ask("/")).to.equal(200);
      expect(await metric(restarts)).to.equal(0);
    }));

  it("nothing of a first update that is abandoned is in the next one", () =>
    withoutSnapshot(2, async ({ supervisor, resources, fill, ask, fault, lines }) => {
      const { reported } = await fault({ worker: 1, fault: "report-read" });
      const incoming = new IncomingUpdate({ version: "never", full: true });
      const applied = supervisor.applyIncoming(incoming);
      incoming.add([...resources("/old"), ...fill]);
      await reported;
      const next = supervisor.apply(fullUpdate(createSnapshot(resources("/new"))));
      incoming.abandon();
      expect(await applied).to.deep.equal({
        ok: false,
        error: { message: "the update ended before its last part" },
      });
      expect((await next).ok, lines.join("")).to.equal(true);
      for (let i = 0; i < 20; i++) expect(await ask("/new")).to.equal(200);
      for (let i = 0; i < 20; i++) expect(await ask("/old")).to.equal(404);
    }));

  it("an update that crashes a worker while it is prepared is applied by none", () =>
    withWorkers(2, async ({ update, ask, fault, metric, lines }) => {
      await fault({ worker: 1, fault: "exit-at-stage" });
      expect(await update(["/new"])).to.equal(false);
      for (let i = 0; i < 20; i++) expect(await ask("/old")).to.equal(200);
      expect(lines.join("")).to.include("while it prepared the snapshot");
      await eventually(async () => (await metric("svc_proxy_workers ")) === 2);
      expect(await update(["/new"])).to.equal(true);
      for (let i = 0; i < 20; i++) expect(await ask("/old")).to.equal(404);
    }));

  it("an update continues when a worker crashes while committing it, and its successor has it", () =>
    withWorkers(2, async ({ update, ask, fault, metric }) => {
      await fault({ worker: 0, fault: "exit-at-commit" });
      expect(await update(["/new"])).to.equal(true);
      await eventually(async () => (await metric("svc_proxy_workers ")) === 2);
      for (let i = 0; i < 20; i++) expect(await ask("/old")).to.equal(404);
      for (let i = 0; i < 20; i++) expect(await ask("/new")).to.equal(200);
    }));

  it("a snapshot with a wrong version is rejected", () =>
    withWorkers(2, async ({ supervisor, ask }) => {
      const bad = { version: "other", full: true, resources: [], removed: [] };
      expect((await supervisor.apply(bad)).ok).to.equal(false);
      expect(await ask("/")).to.equal(200);
    }));

  // A heap that is full is not tried: if it fills fast enough, V8 ends the whole process, here the one that tests.
  it("a worker that ends with an error is replaced", () =>
    withWorkers(2, async ({ ask, fault: cause, metric, lines, port, supervisor }) => {
      for (let i = 0; i < 10; i++) await ask("/");
      await eventually(async () => (await metric("svc_proxy_requests_total")) === 10);
      await cause({ worker: 1, fault: "throw" });
      // Counted when it has ended, one worker less; then the place is filled again.
      await eventually(async () => (await metric(`${restarts}{reason="error"}`)) === 1);
      await eventually(async () => (await metric("svc_proxy_workers ")) === 2);
      expect(supervisor.localPort(80)).to.equal(port);
      for (let i = 0; i < 20; i++) expect(await ask("/")).to.equal(200);
      await eventually(async () => (await metric("svc_proxy_requests_total")) === 30);
      await eventually(async () => (await metric("svc_proxy_connections_active")) === 0);
      expect(lines.join("")).to.include('"worker ended"');
      expect(lines.join("")).to.include("a fault that the test asked for");
    }));

  it("the lines of requests that a worker answered before it ended are in the log, before its end", () =>
    withWorkers(1, async ({ ask, fault, lines }) => {
      for (let i = 0; i < 20; i++) expect(await ask(`/before/${i}`)).to.equal(200);
      await fault({ worker: 0, fault: "throw" });
      await eventually(() => lines.some((line) => line.includes('"worker_ended"')));
      const end = lines.findIndex((line) => line.includes('"worker_ended"'));
      expect(JSON.parse(lines[end] ?? ""))
        .to.include({ worker: 0, reason: "error" })
        .and.to.have.property("restart_in_ms");
      const paths = lines.slice(0, end).filter((line) => line.includes("/before/"));
      expect(paths.map((line) => (JSON.parse(line) as { path: string }).path)).to.deep.equal(
        Array.from({ length: 20 }, (_, i) => `/before/${i}`),
      );
    }));

  for (const fault of ["loop", "wait"] as const) {
    it(`a worker whose event loop hangs (${fault}) is replaced, and the others serve meanwhile`, () =>
      withWorkers(
        2,
        async ({ fault: cause, metric, ask, lines, update, bound }) => {
          await ask("/before-it-hangs");
          await cause({ worker: 1, fault });
          await eventually(
            async () => (await metric('svc_proxy_worker_restarts_total{reason="hang"}')) === 1,
          );
          await eventually(async () => (await metric("svc_proxy_workers ")) === 2);
          const text = lines.join("");
          expect(text).to.contain('"path":"/before-it-hangs"');
          expect(text).to.contain('"event":"worker_hung"').and.contain("its connections are lost");
          expect(text).to.contain('"reason":"hang"');
          expect(await update(["/", "/new"])).to.equal(true);
          for (let i = 0; i < 10; i++) expect(await ask("/new")).to.equal(200);
          expect(bound.at(-1)).to.equal("80");
        },
        [],
        { hangLimits },
      ));
  }

  it("an update is applied by the other workers when one hangs, and its successor has it", () =>
    withWorkers(
      2,
      async ({ fault: cause, metric, ask, update }) => {
        await cause({ worker: 0, fault: "loop" });
        expect(await update(["/", "/new"])).to.equal(true);
        expect(await metric('svc_proxy_worker_restarts_total{reason="hang"}')).to.equal(1);
        await eventually(async () => (await metric("svc_proxy_workers ")) === 2);
        for (let i = 0; i < 10; i++) expect(await ask("/new")).to.equal(200);
      },
      [],
      { hangLimits },
    ));

  it("the process is given up when a hung worker cannot be terminated", async () => {
    const { promise: stuck, resolve: onStuck } = Promise.withResolvers<void>();
    await withWorkers(
      1,
      async ({ fault: cause, lines }) => {
        const blocked = await mkdtemp(join(tmpdir(), "svc-blocked-"));
        await cause({ worker: 0, fault: "block", until: blocked });
        await stuck;
        await rm(blocked, { recursive: true });
        expect(lines.join("")).to.contain('"event":"worker_stuck"');
      },
      [],
      { hangLimits: { serving: 1_000, busy: 60_000, stuck: 10 }, onStuck },
    );
  });

  it("a single worker is replaced on the same port", () =>
    withWorkers(1, async ({ ask, fault, metric, bound }) => {
      await fault({ worker: 0, fault: "throw" });
      await eventually(async () => (await metric("svc_proxy_workers ")) === 1 && bound.length === 3);
      expect(await ask("/")).to.equal(200);
      expect(bound).to.deep.equal(["80", "", "80"]);
    }));

  it("all workers count one rate limit together", () =>
    withWorkers(2, async ({ update, ask }) => {
      await update(["/"], { "rate-limit": { requestsPerSecond: 0.001, burst: 5 } });
      const statuses: number[] = [];
      for (let i = 0; i < 30; i++) statuses.push(await ask("/"));
      expect(statuses.filter((status) => status === 200)).to.have.length(5);
      expect(statuses.filter((status) => status === 429)).to.have.length(25);
    }));

  it("the series of a removed route are dropped, even those of ended workers", () =>
    withWorkers(2, async ({ update, ask, fault, metric, supervisor }) => {
      for (let i = 0; i < 10; i++) await ask("/");
      await supervisor.metrics();
      await fault({ worker: 0, fault: "throw" });
      await eventually(async () => (await metric(`${restarts}{reason="error"}`)) === 1);
      await eventually(async () => (await metric("svc_proxy_workers ")) === 2);
      await eventually(async () => (await metric("svc_proxy_requests_total")) === 10);
      await update([]);
      expect((await supervisor.metrics()).body).to.not.include(`route="${routeId}"`);
    }));

  it("an update is applied during the shutdown while requests are in flight", () =>
    withWorkers(2, async ({ supervisor, update, port, metric }) => {
      const requests = await Promise.all([beginRequest(port), beginRequest(port), beginRequest(port)]);
      await eventually(async () => (await metric("svc_proxy_connections_total")) === 3);
      const hurry = new AbortController();
      const down = supervisor.shutdown(hurry.signal);
      expect(await update(["/new", "/newer"])).to.equal(true);
      hurry.abort();
      await down;
      for (const socket of requests) socket.destroy();
    }));

  it("an update after the shutdown is not applied", () =>
    withWorkers(2, async ({ supervisor, update }) => {
      await supervisor.shutdown(AbortSignal.abort());
      expect(await update(["/new"])).to.equal(false);
    }));
});
