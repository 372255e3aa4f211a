import { connect } from "node:http2";
import { expect } from "chai";
import { callEcho, type CallResult } from "../../scripts/echo/grpc-client.ts";
import { fieldsOf, send, type Reply, type SendOptions } from "../support/client.ts";
import { deployEcho } from "../support/echo.ts";
import { gateway, needGatewayApi, route, to } from "../support/gateway-api.ts";
import { programmedAddress } from "../support/gateways.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

describe("ext-auth over gRPC", () => {
  const sandbox = useSandbox("ext-auth-grpc");
  const host = "ext-auth-grpc.e2e.example";
  const fetch = (options: Partial<SendOptions> = {}): Promise<Reply> => send({ host, ...options });
  const asAlice = { "x-user": "alice" };

  before(async () => {
    await Promise.all([
      deployEcho(sandbox, { replicas: 1 }),
      deployEcho(sandbox, { name: "gate", program: "authorization-server.ts", replicas: 1 }),
    ]);
    await sandbox.apply(
      {
        apiVersion: "gateway.svc-labs.dev/v1alpha1",
        kind: "SvcExternalAuth",
        metadata: { name: "gate" },
        spec: {
          protocol: "GRPC",
          backendRef: { name: "gate", port: 80 },
          allowedResponseHeaders: ["X-Checked-User"],
          forwardBody: { maxSize: 16 },
        },
      },
      ingress({
        name: "secured",
        host,
        annotations: { "ext-auth": `${sandbox.namespace}/gate` },
        paths: [{ service: "echo" }],
      }),
    );
    await until("the service to be asked", async () => (await fetch({ headers: asAlice })).status === 200);
  });

  it("ext-auth over gRPC: an allowed request reaches the backend with the headers of the service", async () => {
    const reply = await fetch({ headers: { ...asAlice, "x-checked-user": "forged" } });
    expect(reply.status).to.equal(200);
    expect(fieldsOf(reply, "x-checked-user")).to.deep.equal(["alice"]);
  });

  it("ext-auth over gRPC: a denied request gets the response of the service", async () => {
    const { status, headers, body } = await fetch({ path: "/here?a=b" });
    expect([status, body]).to.deep.equal([
      401,
      `GET /here?a=b of ingress/${sandbox.namespace}/secured:0.0 is refused`,
    ]);
    expect(headers["x-refused-by"]).to.match(/^gate-/);
  });

  it("ext-auth over gRPC: the body is sent to the service, and one above the limit gets 413", async () => {
    const post = async (body: string): Promise<number> =>
      (await fetch({ method: "POST", headers: asAlice, body })).status;
    expect(await post("allowed")).to.equal(200);
    expect(await post("forbidden")).to.equal(403);
    expect(await post("x".repeat(17))).to.equal(413);
  });

  it("ext-auth over gRPC: a GRPCRoute is authorized by an ExtensionRef", async function () {
    await needGatewayApi(this);
    const extensionRef = { group: "gateway.svc-labs.dev", kind: "SvcExternalAuth", name: "gate" };
    await sandbox.apply(
      gateway("calls"),
      route("GRPCRoute", "echo", {
        parentRefs: [{ name: "calls" }],
        hostnames: [host],
        rules: [{ filters: [{ type: "ExtensionRef", extensionRef }], backendRefs: to("echo") }],
      }),
    );
    const address = await programmedAddress(sandbox.namespace, "calls");
    // Each call uses a new connection: the node may take a moment to route the new address, and refuses connections
    // until then.
    const call = async (headers: Readonly<Record<string, string>> = {}): Promise<CallResult> => {
      const session = connect(`http://${address}`);
      const failed = new Promise<never>((_, reject) => session.on("error", reject));
      try {
        return await Promise.race([callEcho(session, ["hello"], { ":authority": host, ...headers }), failed]);
      } finally {
        session.close();
      }
    };
    const isServed = async (): Promise<boolean> => (await call(asAlice)).trailers["grpc-status"] === "0";
    await until("the route", isServed);
    expect((await call(asAlice)).messages).to.include("hello");
    const refused = await call();
    expect(refused.messages).to.deep.equal([]);
    // The gRPC status for 401: UNAUTHENTICATED.
    expect(refused.trailers["grpc-status"]).to.equal("16");
  });

  it("ext-auth over gRPC: requests get 503 when the service is deleted", async () => {
    await sandbox.delete("service", "gate");
    await until("the route to be closed", async () => (await fetch({ headers: asAlice })).status === 503);
  });
});
