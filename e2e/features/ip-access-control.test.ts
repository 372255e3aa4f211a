import { expect } from "chai";
import { send } from "../support/client.ts";
import { covers } from "../support/covers.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

describe("ip-access-control", () => {
  const sandbox = useSandbox("ip-access-control");
  covers("ip-access-control");
  const host = "ip-access-control.e2e.example";
  const policy = (spec: object): Promise<void> =>
    sandbox.apply({
      apiVersion: "gateway.svc-labs.dev/v1alpha1",
      kind: "IpAccessControl",
      metadata: { name: "clients" },
      spec,
    });
  const statusFor = async (client: string): Promise<number> =>
    (await send({ host, headers: { "x-forwarded-for": client } })).status;

  before(async () => {
    await deployEcho(sandbox, { replicas: 1 });
    await sandbox.apply(
      ingress({
        name: "guarded",
        host,
        annotations: {
          "ip-access-control": `${sandbox.namespace}/clients`,
          "trust-forwarded-for": "true",
        },
        paths: [{ service: "echo" }],
      }),
    );
  });

  it("ip-access-control: every client is accepted while the resource does not exist", async () => {
    await until("the Ingress to be served", async () => (await statusFor("203.0.113.5")) === 200);
  });

  it("ip-access-control: denied and not allowed clients get 403, and deny takes precedence", async () => {
    await policy({ deny: ["203.0.113.5", "no address"], allow: ["203.0.113.0/24", "2001:db8::/32"] });
    await until("the policy", async () => (await statusFor("203.0.113.5")) === 403);
    expect(await statusFor("203.0.113.6")).to.equal(200);
    expect(await statusFor("198.51.100.1")).to.equal(403);
    expect(await statusFor("2001:db8::1")).to.equal(200);
    expect(await statusFor("2001:db9::1")).to.equal(403);
  });

  it("ip-access-control: a changed resource applies", async () => {
    await policy({ deny: ["198.51.100.0/24"], allow: [] });
    await until("the changed policy", async () => (await statusFor("203.0.113.5")) === 200);
    expect(await statusFor("198.51.100.1")).to.equal(403);
  });
});
