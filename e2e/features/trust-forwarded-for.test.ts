import { expect } from "chai";
import { fieldsOf, send } from "../support/client.ts";
import { covers } from "../support/covers.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

describe("trust-forwarded-for", () => {
  const sandbox = useSandbox("trust-forwarded-for");
  covers("trust-forwarded-for", "forwarded-for-header", "forwarded-for-trusted-cidrs");
  const hosts = {
    trusting: "trusting.forwarded.e2e.example",
    header: "header.forwarded.e2e.example",
    strict: "strict.forwarded.e2e.example",
    listed: "listed.forwarded.e2e.example",
    off: "off.forwarded.e2e.example",
  };
  const serving = (name: keyof typeof hosts, annotations: Readonly<Record<string, string>>): object =>
    ingress({ name, host: hosts[name], annotations, paths: [{ service: "echo" }] });
  /** The client address that the backend receives. */
  const clientOf = async (
    name: keyof typeof hosts,
    headers: Readonly<Record<string, string>>,
  ): Promise<string> => fieldsOf(await send({ host: hosts[name], headers }), "x-real-ip").join(" ");
  const sent = { "x-forwarded-for": "198.51.100.9, 203.0.113.5, 10.0.0.3", "x-client": "203.0.113.77" };

  before(async () => {
    await deployEcho(sandbox, { replicas: 1 });
    await sandbox.apply(
      serving("trusting", { "trust-forwarded-for": "true" }),
      serving("header", { "trust-forwarded-for": "true", "forwarded-for-header": " x-CLIENT " }),
      serving("strict", { "trust-forwarded-for": "true", "forwarded-for-trusted-cidrs": "192.0.2.0/24" }),
      serving("listed", {
        "trust-forwarded-for": "true",
        "forwarded-for-trusted-cidrs": "0.0.0.0/1, 128.0.0.0/1, ::/0",
      }),
      serving("off", { "forwarded-for-trusted-cidrs": "0.0.0.0/0" }),
    );
    for (const host of Object.values(hosts)) {
      await until(`${host} to be served`, async () => (await send({ host })).status === 200);
    }
  });

  it("trust-forwarded-for: the client is the last public address of the header", async () => {
    expect(await clientOf("trusting", sent)).to.equal("203.0.113.5");
    expect(await clientOf("header", sent)).to.equal("203.0.113.77");
  });

  it("trust-forwarded-for: the client is the peer when it is not trusted, or no address of the header is left", async () => {
    const peer = await clientOf("trusting", {});
    expect(peer).to.match(/^[0-9a-f.:]+$/);
    for (const name of ["strict", "listed", "off"] as const) {
      const client = await clientOf(name, sent);
      expect(client, name)
        .to.match(/^[0-9a-f.:]+$/)
        .and.not.include("203.0.113");
    }
  });

  it("trust-forwarded-for: the client is the peer when the header ends in an invalid address", async () => {
    expect(await clientOf("trusting", { "x-forwarded-for": "203.0.113.5, unknown" })).to.not.include(
      "203.0.113",
    );
  });
});
