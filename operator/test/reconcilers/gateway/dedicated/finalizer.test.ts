import { expect } from "chai";
import type { ObjectOf } from "../../../../src/api/kinds.ts";
import { createFinalizerKeeper, finalizer } from "../../../../src/reconcilers/gateway/dedicated/finalizer.ts";
import { createFakeClient } from "../../../support/fake-client.ts";

const gateway = {
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "Gateway",
  metadata: { name: "edge", namespace: "shop", uid: "uid-edge", finalizers: [] },
} as unknown as ObjectOf<"Gateway">;

/** An API server on which another writer changes the Gateway before each of the first writes. */
function busyServer(changes: number) {
  let version = 1;
  let left = changes;
  let finalizers: readonly string[] = [];
  const client = createFakeClient(({ method = "GET", body }) => {
    if (method === "GET") {
      return { ...gateway, metadata: { ...gateway.metadata, resourceVersion: String(version), finalizers } };
    }
    if (left > 0) {
      left -= 1;
      version += 1;
      finalizers = [...finalizers, `other/${version}`];
    }
    const { metadata } = body as {
      readonly metadata: { resourceVersion: string; finalizers: readonly string[] };
    };
    if (metadata.resourceVersion !== String(version)) return 409;
    finalizers = metadata.finalizers;
    return {};
  });
  return { client, finalizers: () => finalizers };
}

describe("the finalizer of Gateways", () => {
  const { signal } = new AbortController();

  it("the finalizer is added beside others, even if the Gateway changes in between", async () => {
    const server = busyServer(2);
    expect(await createFinalizerKeeper(server.client, finalizer).add(gateway, signal)).to.deep.equal({
      ok: true,
      value: "updated",
    });
    expect(server.finalizers()).to.deep.equal(["other/2", "other/3", finalizer]);
  });

  it("the finalizer is left for a later attempt while the Gateway keeps changing", async () => {
    const added = await createFinalizerKeeper(busyServer(100).client, finalizer).add(gateway, signal);
    expect(added.ok).to.equal(false);
  });
});
