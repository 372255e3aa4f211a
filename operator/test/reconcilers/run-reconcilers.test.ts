import type { LogFields } from "@svc-gateway/common/telemetry/log-level.ts";
import { silentLogger, type Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { controllerMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import { createMetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import { labelReader } from "@svc-gateway/common/telemetry/metric-snapshot.ts";
import { ok, problem } from "@svc-gateway/common/values/result.ts";
import { expect } from "chai";
import type { Build } from "../../src/build/table-builder.ts";
import type { Reconciler } from "../../src/reconcilers/reconciler.ts";
import { prepareReconcileMetrics, runReconcilers } from "../../src/reconcilers/run-reconcilers.ts";
import { defaultTranslateSettings } from "../../src/translate/settings.ts";
import { translate } from "../../src/translate/translate.ts";
import { emptyWorld } from "../../src/world.ts";
import { createTestClock } from "../support/test-clock.ts";

const build: Build = { world: emptyWorld, translation: translate(emptyWorld, defaultTranslateSettings) };

function setUp(reconcile: Reconciler["reconcile"], isWritten = (): boolean => false) {
  const clock = createTestClock();
  const abort = new AbortController();
  const metrics = createMetricSet(controllerMetrics);
  const lines: { readonly level: string; readonly fields: LogFields }[] = [];
  const at = (level: string) => (fields: LogFields) => void lines.push({ level, fields });
  const log: Logger = { ...silentLogger, debug: at("debug"), info: at("info"), warn: at("warn") };
  const reconciler: Reconciler = {
    controller: "ingress",
    kind: "Ingress",
    dirty: (previous) => (previous === undefined ? ["ns/a", "ns/b"] : ["ns/b"]),
    waitingForProxies: () => ["ns/a"],
    reconcile,
  };
  prepareReconcileMetrics([reconciler], metrics);
  const running = runReconcilers({
    reconcilers: [reconciler],
    statuses: { write: () => Promise.resolve(ok("unchanged")) },
    isWritten,
    metrics,
    log,
    signal: abort.signal,
    clock,
  });
  return { clock, abort, metrics, lines, running };
}

describe("runReconcilers", () => {
  it("the dirty objects of a build are reconciled, with one log line and one count each", async () => {
    const names: string[] = [];
    const { running, metrics, lines } = setUp((name) => {
      names.push(name);
      return Promise.resolve(ok("written"));
    });
    running.onBuild(build);
    await running.idle();
    running.onBuild(build);
    await running.idle();
    expect(names).to.deep.equal(["ns/a", "ns/b", "ns/b"]);
    expect(metrics.reconciles.with({ controller: "ingress", result: "ok" }).value).to.equal(3);
    expect(lines[0]?.level).to.equal("debug");
    expect(lines[0]?.fields).to.include({ controller: "ingress", object: "ns/a", result: "written" });
    expect(lines[0]?.fields["duration_ms"]).to.be.a("number");
    expect(lines[0]?.fields).to.include({
      controllerGroup: "networking.k8s.io",
      controllerKind: "Ingress",
      namespace: "ns",
      name: "a",
    });
    const ids = lines.map(({ fields }) => fields["reconcileID"]);
    expect(new Set(ids).size).to.equal(lines.length);
    expect(ids.every((id) => /^[0-9a-f-]{36}$/.test(String(id)))).to.equal(true);
  });

  it("an object is not reconciled because of its own write", async () => {
    const names: string[] = [];
    const { running, clock } = setUp(
      (name) => {
        names.push(name);
        return Promise.resolve(ok("written"));
      },
      () => true,
    );
    running.onBuild(build);
    await running.idle();
    running.onObserved("Ingress", "ns/a");
    await clock.advance(5_000);
    expect(names).to.deep.equal(["ns/a", "ns/b"]);
  });

  it("an object whose status another client changes is reconciled, but at most once per second", async () => {
    const names: string[] = [];
    const { running, clock } = setUp((name) => {
      names.push(name);
      return Promise.resolve(ok("unchanged"));
    });
    running.onBuild(build);
    await running.idle();
    for (let change = 0; change < 100; change++) {
      running.onObserved("Ingress", "ns/a");
      running.onObserved("Gateway", "ns/g");
      await clock.advance(10);
    }
    await clock.advance(1000);
    expect(names).to.deep.equal(["ns/a", "ns/b", "ns/a"]);
  });

  it("the objects that wait for proxies are reconciled when proxies report, and no others", async () => {
    const names: string[] = [];
    const { running } = setUp((name) => {
      names.push(name);
      return Promise.resolve(ok("unchanged"));
    });
    running.onProxies();
    await running.idle();
    expect(names, "before the first build").to.deep.equal([]);
    running.onBuild(build);
    await running.idle();
    running.onProxies();
    await running.idle();
    expect(names).to.deep.equal(["ns/a", "ns/b", "ns/a"]);
  });

  it("an error is logged once while it lasts, again when it differs, and so is its end", async () => {
    const errors = ["no", "no", "never", undefined];
    const { running, lines, clock } = setUp((name) => {
      const error = name === "ns/a" ? errors.shift() : undefined;
      return Promise.resolve(error === undefined ? ok("written") : problem(error));
    });
    running.onBuild(build);
    await clock.advance(5_000);
    await running.idle();
    const ofA = lines.filter(({ fields }) => fields["object"] === "ns/a");
    expect(
      ofA.map(({ level, fields }) => `${level} ${String(fields["error"] ?? fields["result"])}`),
    ).to.deep.equal(["warn no", "debug no", "warn never", "info written"]);
  });

  it("a reconciliation that fails or throws is counted, logged and retried", async () => {
    let calls = 0;
    const { running, metrics, lines, clock } = setUp((name) => {
      calls++;
      if (name === "ns/a" && calls <= 2) return Promise.resolve(problem("no"));
      if (name === "ns/b" && calls <= 2) throw new Error("bug");
      return Promise.resolve(ok("written"));
    });
    running.onBuild(build);
    await clock.advance(250);
    await running.idle();
    expect(metrics.reconcileErrors.with({ controller: "ingress" }).value).to.equal(2);
    expect(metrics.reconciles.with({ controller: "ingress", result: "error" }).value).to.equal(2);
    expect(metrics.reconciles.with({ controller: "ingress", result: "ok" }).value).to.equal(2);
    const warnings = lines.filter(({ level }) => level === "warn");
    expect(warnings.map(({ fields }) => fields["result"])).to.deep.equal(["error", "error"]);
  });

  it("the metrics have their series from the start", () => {
    const { metrics } = setUp(() => Promise.resolve(ok("")));
    const { declaration, keys } = metrics.reconciles.collect();
    const labelsOf = labelReader(declaration);
    const results = keys.map((key) => labelsOf(key)["result"]);
    expect(results).to.deep.equal(["ok", "error"]);
  });

  it("a reconciliation that the end of the term aborts is not counted, and nothing runs after it", async () => {
    const { running, metrics, abort } = setUp((_name, { signal }) => {
      return new Promise((resolve) =>
        signal.addEventListener("abort", () => resolve(problem("aborted")), { once: true }),
      );
    });
    running.onBuild(build);
    abort.abort();
    await running.idle();
    running.onBuild(build);
    await running.idle();
    expect(metrics.reconciles.with({ controller: "ingress", result: "error" }).value).to.equal(0);
  });
});
