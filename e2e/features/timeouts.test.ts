import { expect } from "chai";
import { send, sendSlowly } from "../support/client.ts";
import { covers } from "../support/covers.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

describe("timeouts", () => {
  const sandbox = useSandbox("timeouts");
  covers("read-timeout", "send-timeout");
  const hosts = {
    read: "read.timeouts.e2e.example",
    send: "send.timeouts.e2e.example",
    none: "none.timeouts.e2e.example",
  };
  const serving = (name: keyof typeof hosts, annotations: Readonly<Record<string, string>>): object =>
    ingress({ name, host: hosts[name], annotations, paths: [{ service: "echo" }] });
  /** The status of a response that a backend delays. */
  const statusOf = async (host: string, delayMs: number): Promise<number> =>
    (await send({ host, path: `/?delayMs=${delayMs}`, timeoutMs: 25_000 })).status;

  before(async () => {
    await deployEcho(sandbox, { replicas: 1 });
    await sandbox.apply(
      serving("read", { "read-timeout": "2s" }),
      serving("send", { "send-timeout": "2s" }),
      serving("none", { "read-timeout": "0", "send-timeout": "0s" }),
    );
    for (const host of Object.values(hosts)) {
      await until(`${host} to be served`, async () => (await send({ host })).status === 200);
    }
  });

  it("read-timeout: a response that does not begin in time is replaced by 504", async () => {
    expect(await statusOf(hosts.read, 20_000)).to.equal(504);
    expect(await statusOf(hosts.read, 0)).to.equal(200);
  });

  it("send-timeout: a request that cannot be sent in time gets 504", async () => {
    expect(await sendSlowly({ host: hosts.send, path: "/", durationMs: 20_000 })).to.equal(504);
    expect((await send({ host: hosts.send, method: "POST", body: "quick" })).status).to.equal(200);
  });

  it("read-timeout and send-timeout: zero means no limit", async () => {
    expect(await statusOf(hosts.none, 1_000)).to.equal(200);
    expect(await sendSlowly({ host: hosts.none, path: "/", durationMs: 1_000 })).to.equal(200);
  });
});
