import { expect } from "chai";
import { ask } from "../support/api.ts";
import { echoed, send, type Reply } from "../support/client.ts";
import { covers } from "../support/covers.ts";
import { deployEcho } from "../support/echo.ts";
import { gateway, httpRoute, needGatewayApi } from "../support/gateway-api.ts";
import { programmedAddress } from "../support/gateways.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

describe("ext-auth", () => {
  const sandbox = useSandbox("ext-auth");
  covers("ext-auth");
  const host = "ext-auth.e2e.example";
  const fetch = (path: string, headers: Record<string, string> = {}): Promise<Reply> =>
    send({ host, path, headers });

  before(async () => {
    await deployEcho(sandbox, { replicas: 1 });
    await sandbox.apply(
      ingress({
        name: "secured",
        host,
        annotations: { "ext-auth": `${sandbox.namespace}/gate` },
        paths: [{ service: "echo" }],
      }),
    );
  });

  it("ext-auth: requests get 503 while the SvcExternalAuth does not exist", async () => {
    await until("the Ingress to be served", async () => (await fetch("/")).status !== 404);
    expect((await fetch("/")).status).to.equal(503);
  });

  it("ext-auth: the status of the service allows or denies a request", async () => {
    await sandbox.apply({
      apiVersion: "gateway.svc-labs.dev/v1alpha1",
      kind: "SvcExternalAuth",
      metadata: { name: "gate" },
      spec: {
        protocol: "HTTP",
        backendRef: { name: "echo", port: 80 },
        allowedResponseHeaders: ["Echo-Backend"],
      },
    });
    await until("the service to be asked", async () => (await fetch("/")).status === 200);
    const fields = (echoed(await fetch("/", { "echo-backend": "forged" }))?.headers ?? []).filter(
      ([name]) => name.toLowerCase() === "echo-backend",
    );
    expect(fields).to.have.lengthOf(1);
    expect(fields[0]?.[1]).not.to.equal("forged");
    expect((await fetch("/?status=403")).status).to.equal(403);
  });

  it("ext-auth: the service is asked at a path of its own, and a 401 redirects to sign in", async () => {
    await sandbox.apply({
      apiVersion: "gateway.svc-labs.dev/v1alpha1",
      kind: "SvcExternalAuth",
      metadata: { name: "gate" },
      spec: {
        protocol: "HTTP",
        backendRef: { name: "echo", port: 80 },
        http: {
          path: "/check?status=$arg_verdict",
          method: "GET",
          signIn: { url: "https://sso.e2e.example/start" },
        },
      },
    });
    await until("the redirect", async () => (await fetch("/a?verdict=401")).status === 302);
    const { headers } = await fetch("/a?verdict=401");
    expect(headers["location"]).to.equal(
      `https://sso.e2e.example/start?rd=http://${host}%2Fa%3Fverdict%3D401`,
    );
    expect((await fetch("/a?verdict=200")).status).to.equal(200);
    expect((await fetch("/a?verdict=403")).status).to.equal(403);
  });

  it("ext-auth: the body is sent to the service, and one above the limit gets 413", async () => {
    await sandbox.apply({
      apiVersion: "gateway.svc-labs.dev/v1alpha1",
      kind: "SvcExternalAuth",
      metadata: { name: "gate" },
      spec: { protocol: "HTTP", backendRef: { name: "echo", port: 80 }, forwardBody: { maxSize: 4 } },
    });
    const post = (body: string): Promise<Reply> => send({ host, method: "POST", body });
    await until("the limit", async () => (await post("12345")).status === 413);
    expect((await post("1234")).status).to.equal(200);
  });
});

describe("ext-auth for a whole Gateway", () => {
  const sandbox = useSandbox("ext-auth-gateway");
  const host = "ext-auth-gateway.e2e.example";
  type Policy = {
    readonly status?: {
      readonly ancestors?: readonly { readonly conditions: readonly { readonly reason: string }[] }[];
    };
  };

  before(async function () {
    await needGatewayApi(this);
    await deployEcho(sandbox, { replicas: 1 });
    await sandbox.apply(gateway("guarded"), httpRoute("echo", "guarded", { hostnames: [host] }));
  });

  it("ext-auth for a Gateway: requests get 503 while the service is missing, and then are authorized", async () => {
    const gate = (service: string) => ({
      apiVersion: "gateway.svc-labs.dev/v1alpha1",
      kind: "SvcExternalAuth",
      metadata: { name: "gate" },
      spec: {
        protocol: "HTTP",
        backendRef: { name: service, port: 80 },
        targetRefs: [{ name: "guarded" }],
      },
    });
    const reasonIs = (reason: string) => async (): Promise<boolean> => {
      const path = `/apis/gateway.svc-labs.dev/v1alpha1/namespaces/${sandbox.namespace}/svcexternalauths/gate`;
      const [ancestor] = (await ask<Policy>(path)).status?.ancestors ?? [];
      return ancestor?.conditions[0]?.reason === reason;
    };
    const address = await programmedAddress(sandbox.namespace, "guarded");
    const statusOf = async (path: string): Promise<number> =>
      (await send({ host, gateway: address, path })).status;
    await sandbox.apply(gate("absent"));
    await until("the status", reasonIs("Invalid"));
    await until("the Gateway to be closed", async () => (await statusOf("/")) === 503);
    await sandbox.apply(gate("echo"));
    await until("the status", reasonIs("Accepted"));
    await until("the service to be asked", async () => (await statusOf("/")) === 200);
    expect(await statusOf("/?status=403")).to.equal(403);
  });
});
