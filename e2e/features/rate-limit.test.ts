import { expect } from "chai";
import { send, type Reply } from "../support/client.ts";
import { covers } from "../support/covers.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { readyPodsOf } from "../support/pods.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

describe("rate-limit", () => {
  const sandbox = useSandbox("rate-limit");
  covers("rate-limit");
  const byAddress = "address.rate-limit.e2e.example";
  const byHeader = "header.rate-limit.e2e.example";
  const unlimited = "unlimited.rate-limit.e2e.example";
  const policy = (name: string, spec: object): object => ({
    apiVersion: "gateway.svc-labs.dev/v1alpha1",
    kind: "RateLimit",
    metadata: { name },
    spec,
  });
  const limited = (name: string, host: string): object =>
    ingress({
      name,
      host,
      annotations: { "rate-limit": `${sandbox.namespace}/${name}`, "trust-forwarded-for": "true" },
      paths: [{ service: "echo" }],
    });
  /** Sends requests until one is rejected; each proxy counts separately. */
  async function exhaust(
    ask: () => Promise<Reply>,
    most: number,
  ): Promise<{ admitted: number; refused: Reply }> {
    for (let admitted = 0; ; admitted++) {
      const reply = await ask();
      if (reply.status !== 200) return { admitted, refused: reply };
      expect(admitted).to.be.below(most);
    }
  }
  let proxies = 0;

  before(async () => {
    await deployEcho(sandbox, { replicas: 1 });
    await sandbox.apply(
      // The policy adds one request every 1000 seconds, so none while the test runs.
      policy("address", { requestsPerSecond: 0.001, burst: 3 }),
      policy("header", { requestsPerSecond: 0.001, byHeader: "X-Api-Key" }),
      limited("address", byAddress),
      limited("header", byHeader),
      limited("missing", unlimited),
    );
    // Probes of the limited hosts use a separate address and key.
    for (const host of [byAddress, byHeader, unlimited]) {
      await until(`${host} to be served`, async () => {
        const { status } = await send({ host, headers: { "x-forwarded-for": "198.51.100.1" } });
        return status === 200 || status === 429;
      });
    }
    proxies = (await readyPodsOf("shared-proxy")).length;
  });

  it("rate-limit: a client beyond rate and burst gets 429 with Retry-After, and others are served", async () => {
    const from = (client: string) => () => send({ host: byAddress, headers: { "x-forwarded-for": client } });
    const { admitted, refused } = await exhaust(from("203.0.113.5"), 3 * proxies + 1);
    expect(admitted).to.be.at.least(3);
    expect(refused.status).to.equal(429);
    expect(refused.headers["retry-after"]).to.match(/^[1-9]\d*$/);
    expect((await from("203.0.113.6")()).status).to.equal(200);
  });

  it("rate-limit: requests are counted by a header, and those without it are not limited", async () => {
    const withKey = (key: string) => () => send({ host: byHeader, headers: { "x-api-key": key } });
    const { admitted, refused } = await exhaust(withKey("a"), proxies);
    expect([admitted >= 1, refused.status]).to.deep.equal([true, 429]);
    expect((await withKey("b")()).status).to.equal(200);
    for (let i = 0; i < 5; i++) expect((await send({ host: byHeader })).status).to.equal(200);
  });

  it("rate-limit: requests are not limited while the resource does not exist", async () => {
    for (let i = 0; i < 5; i++) expect((await send({ host: unlimited })).status).to.equal(200);
  });
});
