import { controllerMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import { createMetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import { ok, type Result } from "@svc-gateway/common/values/result.ts";
import { expect } from "chai";
import type { KubeObject } from "../../src/api/object.ts";
import type { Observed } from "../../src/sources/kubernetes/held-objects.ts";
import { createStatusWriter, type StatusChange, type StatusTarget } from "../../src/write/status-writer.ts";
import { createFakeClient, type FakeCall } from "../support/fake-client.ts";

const path = "/apis/networking.k8s.io/v1/namespaces/ns/ingresses/a";

/** Wants `phase: wanted`, and nothing of the rest of the status. */
const wantPhase: StatusChange = () => ({ phase: "wanted" });

/** A writer over one object that the source has seen, and the answers to its calls. */
function setUp({
  observed = { version: "1", status: undefined },
  answer,
}: {
  observed?: Observed | undefined;
  answer: (call: FakeCall) => object | number | Promise<object | number>;
}) {
  const client = createFakeClient(answer);
  const metrics = createMetricSet(controllerMetrics);
  const remembered: KubeObject[] = [];
  const writer = createStatusWriter({
    client,
    source: {
      observed: () => observed,
      remember: (_kind, object) => void remembered.push(object),
    },
    pathOf: () => path,
    metrics,
    nowMs: () => 0,
  });
  const abort = new AbortController();
  return {
    client,
    remembered,
    abort,
    write: (change: StatusChange = wantPhase, confirm?: StatusTarget["confirm"]) =>
      writer.write(
        { kind: "Ingress", name: "ns/a", uid: "u", change, ...(confirm && { confirm }) },
        abort.signal,
      ),
    patches: () => client.calls.filter(({ method }) => method === "PATCH"),
    count: (result: "ok" | "error" | "conflict") =>
      metrics.statusPatches.with({ kind: "ingress", result }).value,
    timed: () => metrics.statusPatchDuration.with({ kind: "ingress" }).counts.reduce((sum, n) => sum + n, 0),
  };
}

const stored = (version: string, status: unknown, uid: string = "u"): object => ({
  metadata: { name: "a", namespace: "ns", uid, resourceVersion: version },
  status,
});

describe("createStatusWriter", () => {
  it("only the change is sent, for the version and uid that it was computed from", async () => {
    const test = setUp({
      observed: { version: "7", status: { foreign: 1 } },
      answer: () => stored("8", { foreign: 1, phase: "wanted" }),
    });
    expect(await test.write()).to.deep.equal({ ok: true, value: "written" });
    const [call] = test.patches();
    expect(call).to.include({ path: `${path}/status`, patch: "merge" });
    expect(call?.query).to.deep.equal({ fieldManager: "svc-controller" });
    expect(call?.body).to.deep.equal({
      metadata: { resourceVersion: "7", uid: "u" },
      status: { phase: "wanted" },
    });
    expect(test.remembered.map(({ metadata }) => metadata.resourceVersion)).to.deep.equal(["8"]);
    expect([test.count("ok"), test.timed()]).to.deep.equal([1, 1]);
  });

  it("no patch is sent when the status is already as desired", async () => {
    const test = setUp({
      observed: { version: "7", status: { phase: "wanted", more: 1 } },
      answer: () => 500,
    });
    expect(await test.write()).to.deep.equal({ ok: true, value: "unchanged" });
    expect(test.client.calls).to.deep.equal([]);
    expect(await test.write(() => ({})), "an empty change").to.deep.equal({ ok: true, value: "unchanged" });
    expect(test.client.calls).to.deep.equal([]);
  });

  it("the change is computed again from the newer version after a conflict", async () => {
    const seen: unknown[] = [];
    let patches = 0;
    const test = setUp({
      observed: { version: "1", status: { parents: ["old"] } },
      answer: ({ method }) => {
        if (method !== "PATCH") return stored("5", { parents: ["theirs"] });
        return ++patches === 1 ? 409 : stored("6", {});
      },
    });
    const written = await test.write((status) => {
      seen.push(status);
      return { parents: [...((status as { parents: string[] }).parents ?? []), "ours"] };
    });
    expect(written).to.deep.equal({ ok: true, value: "written" });
    expect(seen).to.deep.equal([{ parents: ["old"] }, { parents: ["theirs"] }]);
    expect(test.patches()[1]?.body).to.deep.equal({
      metadata: { resourceVersion: "5", uid: "u" },
      status: { parents: ["theirs", "ours"] },
    });
    expect([test.count("conflict"), test.count("ok"), test.timed()]).to.deep.equal([1, 1, 2]);
  });

  it("no second patch is sent when the newer version is already as desired", async () => {
    const test = setUp({
      answer: ({ method }) => (method === "PATCH" ? 409 : stored("5", { phase: "wanted" })),
    });
    expect(await test.write()).to.deep.equal({ ok: true, value: "unchanged" });
    expect(test.patches()).to.have.length(1);
  });

  it("a write that needs a confirmation is based on the object that was confirmed, and is not sent without one", async () => {
    const isFirst = ({ metadata }: KubeObject): Promise<Result<boolean>> =>
      Promise.resolve(ok(metadata.resourceVersion === "5"));
    const confirmed = setUp({
      answer: ({ method }) => stored(method === "PATCH" ? "6" : "5", { foreign: 1 }),
    });
    expect(await confirmed.write(wantPhase, isFirst)).to.deep.equal(ok("written"));
    expect(confirmed.patches()[0]?.body).to.have.nested.property("metadata.resourceVersion", "5");
    let version = 4;
    const contested = setUp({
      answer: ({ method }) => (method === "PATCH" ? 409 : stored(String(++version), { foreign: 1 })),
    });
    expect(await contested.write(wantPhase, isFirst), "after a conflict").to.deep.equal(ok("unchanged"));
    expect(contested.patches()).to.have.length(1);
    const asked = setUp({ observed: { version: "7", status: { phase: "wanted" } }, answer: () => 500 });
    expect(await asked.write(wantPhase, isFirst), "nothing to write").to.deep.equal(ok("unchanged"));
    expect(asked.client.calls).to.deep.equal([]);
  });

  it("an object that changes during four attempts is left for later", async () => {
    const test = setUp({ answer: ({ method }) => (method === "PATCH" ? 409 : stored("5", {})) });
    expect((await test.write()).ok).to.equal(false);
    expect(test.patches()).to.have.length(4);
    expect(test.count("conflict")).to.equal(4);
  });

  it("an object that was recreated under its name is not written", async () => {
    const test = setUp({ answer: ({ method }) => (method === "PATCH" ? 409 : stored("5", {}, "another")) });
    expect(await test.write()).to.deep.equal({ ok: true, value: "gone" });
    expect(test.patches()).to.have.length(1);
  });

  it("a deleted object is not a failure, whenever the deletion is noticed", async () => {
    const gone = { ok: true, value: "gone" };
    const unknown = setUp({ answer: () => 500 });
    const before = createStatusWriter({
      client: unknown.client,
      source: { observed: () => undefined, remember: () => {} },
      pathOf: () => path,
      metrics: createMetricSet(controllerMetrics),
    });
    const target = { kind: "Ingress", name: "ns/a", uid: "u", change: wantPhase } as const;
    expect(await before.write(target, new AbortController().signal)).to.deep.equal(gone);
    expect(unknown.client.calls).to.deep.equal([]);
    expect(await setUp({ answer: () => 404 }).write()).to.deep.equal(gone);
    expect(await setUp({ answer: ({ method }) => (method === "PATCH" ? 409 : 404) }).write()).to.deep.equal(
      gone,
    );
  });

  it("a rejected write is reported and counted", async () => {
    const test = setUp({ answer: () => 403 });
    const written = await test.write();
    expect(written.ok ? "" : written.error.message).to.equal("HTTP 403: Status403: from the test");
    expect([test.count("error"), test.count("ok")]).to.deep.equal([1, 0]);
  });

  it("no patch is sent after the signal, and an aborted one is not counted", async () => {
    const test = setUp({
      answer: ({ signal }) =>
        new Promise((resolve) => signal?.addEventListener("abort", () => resolve(0), { once: true })),
    });
    const writing = test.write();
    test.abort.abort();
    expect((await writing).ok).to.equal(false);
    expect([test.count("error"), test.timed()]).to.deep.equal([0, 0]);
    expect((await test.write()).ok).to.equal(false);
    expect(test.client.calls).to.have.length(1);
  });
});
