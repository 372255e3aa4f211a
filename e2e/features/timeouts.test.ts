import { expect } from "chai";
import { send, sendSlowly } from "../support/client.ts";
import { covers } from "../support/covers.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

describe("timeouts", () => {
  const sandbox = useSandbox("timeouts");
  covers(
    "read-timeout",
    "send-timeout",
    "read-gap-timeout",
    "send-gap-timeout",
    "connect-timeout",
    "connect-timeout-status",
  );
  const hosts = {
    read: "read.timeouts.e2e.example",
    send: "send.timeouts.e2e.example",
    gap: "gap.timeouts.e2e.example",
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
      serving("gap", {
        "read-gap-timeout": "2s",
        "send-gap-timeout": "2s",
        "connect-timeout": "5s",
        "connect-timeout-status": "504",
      }),
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

  it("read-gap-timeout: a response that does not begin in time is replaced by 504", async () => {
    expect(await statusOf(hosts.gap, 20_000)).to.equal(504);
    expect(await statusOf(hosts.gap, 0)).to.equal(200);
  });

  it("send-gap-timeout: a client may take longer to send than the upstream may take to read", async () => {
    expect(await sendSlowly({ host: hosts.gap, path: "/", durationMs: 4_000 })).to.equal(200);
  });

  it("read-timeout and send-timeout: zero means no limit", async () => {
    expect(await statusOf(hosts.none, 1_000)).to.equal(200);
    expect(await sendSlowly({ host: hosts.none, path: "/", durationMs: 1_000 })).to.equal(200);
  });
});
