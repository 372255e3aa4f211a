import { controllerMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import { createMetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import { ok } from "@svc-gateway/common/values/result.ts";
import { expect } from "chai";
import type { Build } from "../../../src/build/table-builder.ts";
import { listenerSetReconciler } from "../../../src/reconcilers/gateway/listener-set.ts";
import { withReleases } from "../../../src/reconcilers/gateway/released-sets.ts";
import { applyMergePatch } from "../../../src/write/merge-patch.ts";
import { createStatusWriter, fieldManager } from "../../../src/write/status-writer.ts";
import { createFakeClient } from "../../support/fake-client.ts";
import { addressesOf, brief, buildOf, withSetYaml } from "./support.ts";

const api = "/apis/gateway.networking.k8s.io/v1/namespaces/shop";

/** The set that names this Gateway in this generation, beside Gateways of this controller and of another one. */
const setOf = (gateway: string, generation = 5): string =>
  `${withSetYaml.replace("parentRef: { name: edge }", `parentRef: { name: ${gateway} }`).replace("generation: 5", `generation: ${generation}`)}---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: theirs, namespace: shop, generation: 1, uid: uid-theirs }
spec:
  gatewayClassName: another
  listeners:
    - { name: http, port: 80, protocol: HTTP }
`;

/** A status of a served set, as of a generation. */
const served = (observedGeneration: number) => ({
  conditions: ["Accepted", "Programmed"].map((type) => ({
    ...{ type, status: "True", reason: type, message: "served", observedGeneration },
    lastTransitionTime: "2024-05-01T10:00:00Z",
  })),
  listeners: [{ name: "second", attachedRoutes: 0, conditions: [] }],
});

type Given = {
  readonly status: object;
  /** The last writer of the conditions. */
  readonly manager?: string;
  readonly generation?: number;
  /** The answer to requests for a Gateway. */
  readonly gateway?: object | number;
};

function rig({ status, manager = fieldManager, generation = 5, gateway = 404 }: Given) {
  let stored: { readonly version: number; readonly status: unknown } = { version: 1, status };
  const conditions = Object.fromEntries(
    ["Accepted", "Programmed"].map((type) => [`k:${JSON.stringify({ type })}`, { "f:message": {} }]),
  );
  const objectOf = () => ({
    metadata: {
      ...{ name: "more", namespace: "shop", uid: "uid-more", generation },
      resourceVersion: String(stored.version),
      managedFields: [
        {
          ...{ manager, operation: "Update", subresource: "status" },
          fieldsV1: { "f:status": { "f:conditions": conditions } },
        },
      ],
    },
    status: stored.status,
  });
  const client = createFakeClient(({ path, method, body }) => {
    if (path.includes("/gateways/")) return gateway;
    if (method !== "PATCH") return objectOf();
    const { status: patch } = body as { readonly status: object };
    stored = { version: stored.version + 1, status: applyMergePatch(stored.status, patch) };
    return objectOf();
  });
  const reconciler = withReleases(
    listenerSetReconciler({
      addressesOf: addressesOf(),
      fleet: { isProgrammed: () => true },
      subscribe: () => () => undefined,
    }),
    client,
  );
  const statuses = createStatusWriter({
    client,
    source: {
      observed: () => ({ version: String(stored.version), status: stored.status }),
      remember: () => {},
    },
    pathOf: (_kind, name) => `${api}/listenersets/${name.split("/")[1]}`,
    metrics: createMetricSet(controllerMetrics),
    nowMs: () => 0,
  });
  return {
    dirty: (previous: Build | undefined, next: Build) => [...reconciler.dirty(previous, next)],
    reconcile: (build: Build) =>
      reconciler.reconcile("shop/more", { build, statuses, signal: new AbortController().signal }),
    setStatus: (next: object) => (stored = { version: stored.version + 1, status: next }),
    requests: () => client.calls.map(({ method = "GET", path }) => `${method} ${path.slice(api.length)}`),
    status: () => stored.status as { readonly conditions: unknown; readonly listeners?: unknown },
  };
}

const refused = (generation: number): readonly string[] => [
  `Accepted=False ParentNotAccepted@${generation}`,
  `Programmed=False ParentNotAccepted@${generation}`,
];

describe("withReleases", () => {
  it("a set whose Gateway does not exist is refused once, whenever the Gateway was deleted", async () => {
    const { dirty, reconcile, requests, status } = rig({ status: served(5) });
    const build = buildOf(setOf("gone"));
    expect(dirty(undefined, build)).to.deep.equal(["shop/more"]);
    expect(await reconcile(build)).to.deep.equal(ok("written"));
    expect(brief(status().conditions)).to.deep.equal(refused(5));
    expect(status().listeners).to.deep.equal([]);
    expect(JSON.stringify(status().conditions)).to.include(
      "Gateway shop/gone of spec.parentRef does not exist",
    );
    expect(await reconcile(build), "again").to.deep.equal(ok("unchanged"));
    expect(requests()).to.deep.equal([
      "GET /listenersets/more",
      "GET /gateways/gone",
      "PATCH /listenersets/more/status",
    ]);
  });

  it("a set is reconciled when its Gateway is deleted, and not for other changes", () => {
    const { dirty } = rig({ status: served(5) });
    const before = buildOf(setOf("edge"));
    const after = buildOf(setOf("gone"));
    expect(dirty(before, after)).to.deep.equal(["shop/more"]);
    expect(dirty(after, after)).to.deep.equal([]);
  });

  it("a set whose conditions another controller wrote, or no controller yet, is not refused", async () => {
    const build = buildOf(setOf("gone"));
    const theirs = rig({ status: served(5), manager: "another" });
    expect(await theirs.reconcile(build)).to.deep.equal(ok("unchanged"));
    expect(theirs.requests()).to.deep.equal(["GET /listenersets/more"]);
    const pending = {
      type: "Accepted",
      status: "Unknown",
      reason: "Pending",
      message: "Waiting for controller",
    };
    for (const status of [{}, { conditions: [pending] }]) {
      const fresh = rig({ status });
      expect(await fresh.reconcile(build)).to.deep.equal(ok("unchanged"));
      expect(fresh.requests()).to.deep.equal([]);
    }
  });

  it("a set is not refused while the API server has its Gateway, or cannot tell", async () => {
    const build = buildOf(setOf("gone"));
    const present = rig({ status: served(5), gateway: { metadata: { name: "gone" } } });
    expect(await present.reconcile(build)).to.deep.equal(ok("unchanged"));
    const unknown = rig({ status: served(5), gateway: 403 });
    expect((await unknown.reconcile(build)).ok, "a failure, which is retried").to.equal(false);
    for (const { status } of [present, unknown]) expect(status()).to.deep.equal(served(5));
  });

  it("a set is not refused if it, or its Gateway, is in a namespace that is not watched", async () => {
    const elsewhere = setOf("gone").replace("name: gone }", "name: gone, namespace: infra }");
    for (const [yaml, watched] of [
      [elsewhere, "shop"],
      [setOf("gone"), "infra"],
    ] as const) {
      const { dirty, reconcile, requests } = rig({ status: served(5) });
      const build = buildOf(yaml, { watchNamespaces: [watched] });
      expect(dirty(undefined, build)).to.deep.equal([]);
      expect(await reconcile(build)).to.deep.equal(ok("unchanged"));
      expect(requests()).to.deep.equal([]);
    }
  });

  it("a set that now names the Gateway of another controller is refused at most once", async () => {
    const { dirty, reconcile, setStatus, status } = rig({ status: served(5), generation: 6 });
    const after = buildOf(setOf("theirs", 6));
    expect(dirty(buildOf(setOf("edge")), after)).to.deep.equal(["shop/more"]);
    expect(await reconcile(after)).to.deep.equal(ok("written"));
    expect(brief(status().conditions)).to.deep.equal(refused(6));
    expect(JSON.stringify(status().conditions)).to.include(
      "Gateway shop/theirs of spec.parentRef is not served",
    );
    setStatus(served(5));
    expect(await reconcile(after), "the second time").to.deep.equal(ok("unchanged"));
  });

  it("conditions of the controller that serves a set now are not replaced", async () => {
    const before = buildOf(setOf("edge"));
    const after = buildOf(setOf("theirs", 6));
    for (const given of [{ status: served(6) }, { status: served(5), manager: "another" }]) {
      const { dirty, reconcile, status } = rig({ ...given, generation: 6 });
      dirty(before, after);
      expect(await reconcile(after)).to.deep.equal(ok("unchanged"));
      expect(status()).to.deep.equal(given.status);
    }
    const { dirty, reconcile, status } = rig({ status: served(5) });
    const reclassed = buildOf(setOf("edge").replace("gatewayClassName: svc", "gatewayClassName: another"));
    dirty(before, reclassed);
    expect(await reconcile(reclassed), "another class").to.deep.equal(ok("unchanged"));
    expect(status()).to.deep.equal(served(5));
  });
});
