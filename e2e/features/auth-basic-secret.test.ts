import { expect } from "chai";
import { echoed, send, type Reply } from "../support/client.ts";
import { covers } from "../support/covers.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

/** Hashes, by their password. */
const hashes = {
  a: "$2b$08$8lE.arUjjF15iEZOQofIH.sv4RiV5ekckUZizdAdzk1gBFNIAGfby",
  new: "$2b$08$ooLoxJLagYLF456PNlFn2u3qZcKeFL3NZigLyqEcOBJ0rjFT71NK6",
};

describe("auth-basic-secret", () => {
  const sandbox = useSandbox("auth-basic-secret");
  covers("auth-basic-secret", "auth-basic-realm", "auth-basic-hide-credentials");
  const host = "auth-basic-secret.e2e.example";
  const basic = (password: string): Record<string, string> => ({
    authorization: `Basic ${Buffer.from(`alice:${password}`).toString("base64")}`,
  });
  const ask = (headers: Record<string, string> = {}): Promise<Reply> => send({ host, headers });
  const users = (password: keyof typeof hashes): object => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "users", labels: { "ingress.svc-labs.dev/auth-basic": "true" } },
    type: "Opaque",
    stringData: { auth: `alice:${hashes[password]}\n` },
  });

  before(async () => {
    await deployEcho(sandbox, { replicas: 1 });
    await sandbox.apply(
      ingress({
        name: "secured",
        host,
        annotations: {
          "auth-basic-secret": `${sandbox.namespace}/users`,
          "auth-basic-realm": "Staff only",
          "auth-basic-hide-credentials": "true",
        },
        paths: [{ service: "echo" }],
      }),
    );
  });

  it("auth-basic-secret: requests get 503 while the Secret does not exist", async () => {
    await until("the Ingress to be served", async () => (await ask()).status !== 404);
    expect((await ask(basic("a"))).status).to.equal(503);
  });

  it("auth-basic-secret: users of the Secret are authenticated and all others get 401", async () => {
    await sandbox.apply(users("a"));
    await until("the users", async () => (await ask()).status === 401);
    const reply = await ask();
    expect(reply.headers["www-authenticate"]).to.equal('Basic realm="Staff only"');
    expect((await ask(basic("b"))).status).to.equal(401);
    const accepted = await ask(basic("a"));
    expect(accepted.status).to.equal(200);
    expect(echoed(accepted)?.headers.map(([name]) => name.toLowerCase())).to.not.include("authorization");
  });

  it("auth-basic-secret: a changed password applies", async () => {
    await sandbox.apply(users("new"));
    await until("the new password", async () => (await ask(basic("new"))).status === 200);
    expect((await ask(basic("a"))).status).to.equal(401);
  });

  it("auth-basic-secret: requests get 503 again when the Secret loses its label", async () => {
    await sandbox.apply({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "users", labels: { "ingress.svc-labs.dev/auth-basic": "false" } },
      type: "Opaque",
    });
    await until("the label to count", async () => (await ask(basic("new"))).status === 503);
  });
});
