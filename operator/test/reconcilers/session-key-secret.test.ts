import { expect } from "chai";
import type { KubeObject } from "../../src/api/object.ts";
import type { Build } from "../../src/build/table-builder.ts";
import { sessionKeyReconciler } from "../../src/reconcilers/session-key-secret.ts";
import type { ApiClient } from "../../src/sources/kubernetes/api-client.ts";
import { defaultTranslateSettings } from "../../src/translate/settings.ts";
import { translate } from "../../src/translate/translate.ts";
import { createWorld } from "../../src/world.ts";

const buildOf = (...objects: readonly KubeObject[]): Build => {
  const world = createWorld(objects);
  return { world, translation: translate(world, defaultTranslateSettings) };
};

const secret = (namespace: string): KubeObject =>
  ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "svc-session-key", namespace },
    type: "Opaque",
    data: { key: "anything" },
  }) as unknown as KubeObject;

type Sent = { readonly path: string; readonly body: { readonly data: { readonly key: string } } };

/** A reconciler, and the requests that it has sent to an API server that answers with this status. */
function harness(status = 201) {
  const sent: Sent[] = [];
  const call = (path: string, options: { readonly body: Sent["body"] }) => {
    sent.push({ path, body: options.body });
    const error = { status, reason: "", message: "refused" };
    return Promise.resolve(status < 300 ? { ok: true, value: {} } : { ok: false, error });
  };
  const client = { call } as unknown as ApiClient;
  const reconciler = sessionKeyReconciler({ client, installNamespace: "svc-system" });
  const reconcile = (build: Build) =>
    reconciler.reconcile("svc-system/svc-session-key", {
      build,
      statuses: { write: () => Promise.reject(new Error("there is no status to write")) },
      signal: new AbortController().signal,
    });
  return { sent, reconciler, reconcile };
}

describe("sessionKeyReconciler", () => {
  it("a missing session key is created at random, and an existing one is never changed", async () => {
    const { sent, reconcile } = harness();
    expect(await reconcile(buildOf(secret("elsewhere")))).to.deep.equal({ ok: true, value: "created" });
    await reconcile(buildOf());
    expect(sent.map(({ path }) => path)).to.deep.equal(
      Array(2).fill("/api/v1/namespaces/svc-system/secrets"),
    );
    const keys = sent.map(({ body }) => Buffer.from(body.data.key, "base64"));
    expect(keys.map(({ length }) => length)).to.deep.equal([32, 32]);
    expect(keys[0]?.equals(keys[1] as Buffer)).to.equal(false);
    expect(await reconcile(buildOf(secret("svc-system")))).to.deep.equal({ ok: true, value: "unchanged" });
    expect(sent).to.have.length(2);
  });

  it("a conflict counts as success, and a rejected write is retried", async () => {
    expect(await harness(409).reconcile(buildOf())).to.deep.equal({ ok: true, value: "unchanged" });
    expect((await harness(403).reconcile(buildOf())).ok).to.equal(false);
  });

  it("the session key is reconciled once, and again when the Secret is deleted", () => {
    const { reconciler } = harness();
    const [missing, present] = [buildOf(), buildOf(secret("svc-system"))];
    const name = "svc-system/svc-session-key";
    expect([...reconciler.dirty(undefined, missing)]).to.deep.equal([name]);
    expect([...reconciler.dirty(missing, buildOf())]).to.deep.equal([]);
    expect([...reconciler.dirty(undefined, present)]).to.deep.equal([]);
    expect([...reconciler.dirty(present, missing)]).to.deep.equal([name]);
  });
});
