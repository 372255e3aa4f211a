import { expect } from "chai";
import { ask } from "../support/api.ts";
import { echoed, send, type Reply } from "../support/client.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

type PolicyObject = {
  readonly status?: {
    readonly ancestors?: readonly {
      readonly ancestorRef: { readonly kind?: string; readonly name: string };
      readonly conditions: readonly { readonly status: string; readonly reason: string }[];
    }[];
  };
};

describe("SvcBackendPolicy", () => {
  const sandbox = useSandbox("backend-policy");
  const host = "backend-policy.e2e.example";
  const policy = (name: string, settings: object, service = "echo"): object => ({
    apiVersion: "gateway.svc-labs.dev/v1alpha1",
    kind: "SvcBackendPolicy",
    metadata: { name },
    spec: { targetRefs: [{ name: service }], ...settings },
  });
  const fetch = (headers: Readonly<Record<string, string>> = {}): Promise<Reply> => send({ host, headers });
  const backendOf = async (headers: Readonly<Record<string, string>> = {}): Promise<string | undefined> =>
    echoed(await fetch(headers))?.backend;
  /** The backends that answer a number of requests with the same headers. */
  const backendsOf = async (headers: Readonly<Record<string, string>>): Promise<ReadonlySet<unknown>> => {
    const seen = new Set<unknown>();
    for (let i = 0; i < 20; i++) seen.add(await backendOf(headers));
    return seen;
  };
  const statusOf = async (name: string): Promise<string> => {
    const path = `/apis/gateway.svc-labs.dev/v1alpha1/namespaces/${sandbox.namespace}/svcbackendpolicies/${name}`;
    const [ancestor] = (await ask<PolicyObject>(path)).status?.ancestors ?? [];
    const [condition] = ancestor?.conditions ?? [];
    return `${ancestor?.ancestorRef.kind} ${ancestor?.ancestorRef.name}: ${condition?.status} ${condition?.reason}`;
  };

  before(async () => {
    await deployEcho(sandbox, { replicas: 2 });
    await sandbox.apply(ingress({ name: "echo", host, paths: [{ service: "echo" }] }));
    await until("both backends", async () => (await backendsOf({})).size === 2);
  });

  it("SvcBackendPolicy: requests with one value of the hashed header go to one endpoint", async () => {
    await sandbox.apply(policy("first", { loadBalancer: { algorithm: "hash:header=X-Key" } }));
    await until("the status", async () => (await statusOf("first")) === "Service echo: True Accepted");
    await until("the algorithm", async () => (await backendsOf({ "x-key": "a" })).size === 1);
    const keys = Array.from({ length: 32 }, (_, index) => `key-${index}`);
    const seen = new Set(await Promise.all(keys.map((key) => backendOf({ "x-key": key }))));
    expect(seen.size).to.equal(2);
  });

  it("SvcBackendPolicy: requests with equal hashed parts go to one endpoint, and those without any to all", async () => {
    const parts = [
      { from: "Header", name: "X-Key" },
      { from: "Cookie", name: "region" },
    ];
    await sandbox.apply(policy("first", { loadBalancer: { hash: { parts } } }));
    const both = { "x-key": "a", cookie: "region=b" };
    await until("the hash", async () => (await backendsOf(both)).size === 1);
    await until("turns", async () => (await backendsOf({})).size === 2);
    const seen = new Set<unknown>();
    for (let i = 0; i < 32; i++) seen.add(await backendOf({ ...both, cookie: `region=${i}` }));
    expect(seen.size).to.equal(2);
  });

  it("SvcBackendPolicy: a session cookie keeps a client at its endpoint", async () => {
    await sandbox.apply(policy("first", { sessionPersistence: { type: "Cookie" } }));
    const { value: reply } = await until("a cookie", async () => {
      const answer = await fetch();
      return answer.headers["set-cookie"] !== undefined && answer;
    });
    const [cookie = ""] = reply.headers["set-cookie"] ?? [];
    expect(cookie).to.match(/^__svc_session=[0-9a-f]{32}; Path=\/; HttpOnly$/);
    const backends = await backendsOf({ cookie: cookie.split(";")[0] ?? "" });
    expect([...backends]).to.deep.equal([echoed(reply)?.backend]);
  });

  it("SvcBackendPolicy: a session cookie has the attributes of the policy", async () => {
    const cookie = { path: "/", domain: host, maxAgeSeconds: 172_800, sameSite: "Lax", alwaysSecure: true };
    await sandbox.apply(
      policy("first", { sessionPersistence: { type: "Cookie", sessionName: "sid", cookie } }),
    );
    const { value: text } = await until("the cookie", async () => {
      const [found = ""] = (await fetch()).headers["set-cookie"] ?? [];
      return found.startsWith("sid=") && found;
    });
    expect(text.slice(text.indexOf(";"))).to.equal(
      `; Max-Age=172800; Domain=${host}; Path=/; Secure; HttpOnly; SameSite=Lax`,
    );
  });

  it("SvcBackendPolicy: a later policy is Conflicted, and one for a missing Service TargetNotFound", async () => {
    await sandbox.apply(
      policy("second", { timeouts: { connect: "1s" } }),
      policy("lost", { timeouts: { connect: "1s" } }, "no-such-service"),
    );
    await until("the status", async () => (await statusOf("second")) === "Service echo: False Conflicted");
    await until(
      "the status",
      async () => (await statusOf("lost")) === "Service no-such-service: False TargetNotFound",
    );
  });

  it("SvcBackendPolicy: a policy without valid settings is Invalid, and the Service is served without it", async () => {
    await sandbox.apply(policy("first", { loadBalancer: { algorithm: "best" } }));
    await until("the status", async () => (await statusOf("first")) === "Service echo: False Invalid");
    expect((await fetch()).status).to.equal(200);
  });
});
