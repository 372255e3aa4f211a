import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { expect } from "chai";
import { createTokenAccess } from "../../src/admin/token-access.ts";
import { createFakeClient, type FakeCall } from "../support/fake-client.ts";

const user = { username: "prometheus", uid: "u", groups: ["monitoring"], extra: { a: ["b"] } };
const reviewsPath = "/apis/authentication.k8s.io/v1/tokenreviews";

/** An API server that knows the token `good`, whose user may get `/metrics`. */
const answer = ({ path, body }: FakeCall): object => {
  if (path === reviewsPath) {
    const { token } = (body as { spec: { token: string } }).spec;
    return { status: token === "good" ? { authenticated: true, user } : { authenticated: false } };
  }
  const { nonResourceAttributes } = (body as { spec: { nonResourceAttributes: { path: string } } }).spec;
  return { status: { allowed: nonResourceAttributes.path === "/metrics" } };
};

function start(answers: Parameters<typeof createFakeClient>[0] = answer) {
  let nowMs = 0;
  const client = createFakeClient(answers);
  const access = createTokenAccess({
    client,
    log: silentLogger,
    signal: new AbortController().signal,
    clock: { nowMs: () => nowMs },
  });
  const ask = async (authorization: string | undefined, path = "/metrics"): Promise<number> =>
    (await access({ verb: "get", authorization, path, peer: "10.0.0.1" }))?.status ?? 200;
  return { client, ask, wait: (ms: number) => (nowMs += ms), access };
}

describe("createTokenAccess", () => {
  it("a caller whose token the API server authenticates and authorizes for the path is let in", async () => {
    const { client, ask } = start();
    expect(await ask("Bearer good")).to.equal(200);
    expect(await ask("bearer good")).to.equal(200);
    expect(client.calls[0]?.body).to.deep.include({ spec: { token: "good" } });
    expect(client.calls[1]?.path).to.equal("/apis/authorization.k8s.io/v1/subjectaccessreviews");
    expect(client.calls[1]?.body).to.have.deep.property("spec", {
      user: "prometheus",
      uid: "u",
      groups: ["monitoring"],
      extra: { a: ["b"] },
      nonResourceAttributes: { path: "/metrics", verb: "get" },
    });
  });

  it("a caller without a token or with an invalid one gets 401 with a challenge", async () => {
    const { client, ask, access } = start();
    for (const text of [undefined, "", "Basic Z29vZA==", "Bearer", "Bearer ", "Bearer a b", "good"])
      expect(await ask(text), text).to.equal(401);
    expect(client.calls).to.deep.equal([]);
    expect(await ask("Bearer bad")).to.equal(401);
    expect(await ask(`Bearer ${"x".repeat(20_000)}`)).to.equal(401);
    const refusal = await access({ verb: "get", authorization: undefined, path: "/metrics", peer: "" });
    expect(refusal?.challenge).to.equal('Bearer realm="svc-gateway"');
  });

  it("a caller is asked about with the verb of its request, each verb by itself", async () => {
    const { client, access } = start();
    for (const verb of ["get", "put"]) {
      await access({ verb, authorization: "Bearer good", path: "/metrics", peer: "10.0.0.1" });
    }
    const asked = client.calls.flatMap(
      ({ body }) => (body as { spec: { nonResourceAttributes?: object } }).spec.nonResourceAttributes ?? [],
    );
    expect(asked).to.deep.equal([
      { path: "/metrics", verb: "get" },
      { path: "/metrics", verb: "put" },
    ]);
  });

  it("a caller whose user is not authorized for the path gets 403", async () => {
    const { ask } = start();
    expect(await ask("Bearer good", "/api/v1/fleet/proxies")).to.equal(403);
    expect(await ask("Bearer good", "/metrics/")).to.equal(403);
  });

  it("a caller gets 503 while the API server does not answer, and the next request asks it again", async () => {
    let isDown = true;
    const { ask } = start((call) => (isDown ? 500 : answer(call)));
    expect(await ask("Bearer good")).to.equal(503);
    isDown = false;
    expect(await ask("Bearer good")).to.equal(200);
  });

  it("the verdict on a token and path is remembered for ten seconds", async () => {
    const { client, ask, wait } = start();
    await ask("Bearer good");
    await ask("Bearer good");
    expect(client.calls).to.have.length(2);
    await ask("Bearer good", "/api/v1/health");
    expect(client.calls).to.have.length(4);
    wait(10_001);
    await ask("Bearer good");
    expect(client.calls).to.have.length(6);
  });

  it("sixteen tokens are reviewed at a time, and further callers get 503", async () => {
    const held = Promise.withResolvers<void>();
    const { ask } = start(async (call) => {
      await held.promise;
      return answer(call);
    });
    const all = Array.from({ length: 20 }, (_, index) => ask(`Bearer t${index}`));
    held.resolve();
    const statuses = await Promise.all(all);
    expect(statuses.filter((status) => status === 503)).to.have.length(4);
    expect(await ask("Bearer good")).to.equal(200);
  });
});
