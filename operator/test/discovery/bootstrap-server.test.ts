import { X509Certificate } from "node:crypto";
import { status } from "@grpc/grpc-js";
import { exposeMetrics } from "@svc-gateway/common/telemetry/exposition.ts";
import type { LogFields } from "@svc-gateway/common/telemetry/log-level.ts";
import { silentLogger, type Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { BootstrapRequest } from "@svc-gateway/proto/generated/discovery.js";
import { expect } from "chai";
import {
  ready,
  sharedToken,
  startController,
  stopControllers,
  type TestController,
  type TestControllerOptions,
} from "./support/controller.ts";
import { bootstrap, bootstrapBytes, closeClients } from "./support/raw-client.ts";
import { createSigningRequest } from "./support/signing-request.ts";

describe("Bootstrap", () => {
  afterEach(async () => {
    closeClients();
    await stopControllers();
  });

  const start = async (
    options?: TestControllerOptions,
  ): Promise<{ controller: TestController; trust: string; port: number }> => {
    const controller = await startController(options);
    return { controller, trust: await ready(controller), port: controller.ports.bootstrapPort };
  };

  it("the issued certificate is for the identity of the token, regardless of the signing request", async () => {
    const { controller, trust, port } = await start();
    const { response, identity } = await bootstrap(port, trust, { token: sharedToken });
    const certificate = new X509Certificate(identity.chainPem);
    expect(certificate.subjectAltName).to.equal(
      "URI:spiffe://cluster.local/ns/svc-system/sa/svc-shared-proxy",
    );
    expect(certificate.subject).not.to.contain("masters");
    expect(response?.not_after_unix).to.equal(certificate.validToDate.getTime() / 1000);
    expect(Buffer.from(response?.trust_bundle_pem ?? []).toString()).to.equal(trust);
    expect(controller.bootstrapCount("ok")).to.equal(1);
    expect(controller.metrics.svidsIssued.with({}).value).to.equal(1);
    expect(controller.rejections).to.deep.equal([]);
  });

  it("a bootstrap is accepted for the service accounts of the present dedicated Gateways only", async () => {
    const { controller, trust, port } = await start();
    const token = "token:team:gw-svc";
    expect((await bootstrap(port, trust, { token })).error?.code).to.equal(status.PERMISSION_DENIED);
    controller.gateways.push({ gateway: { namespace: "team", name: "gw" }, serviceAccount: "gw-svc" });
    expect((await bootstrap(port, trust, { token })).error).to.equal(undefined);
    controller.gateways.length = 0;
    expect((await bootstrap(port, trust, { token })).error?.code).to.equal(status.PERMISSION_DENIED);
  });

  const rejections = [
    {
      reason: "wire_version",
      code: status.FAILED_PRECONDITION,
      request: { token: sharedToken, wireVersion: 1 },
    },
    {
      reason: "wire_version",
      code: status.FAILED_PRECONDITION,
      request: { token: sharedToken, wireVersion: 0 },
    },
    {
      reason: "wire_version",
      code: status.FAILED_PRECONDITION,
      request: { token: sharedToken, wireVersion: 3 },
    },
    { reason: "sa_token", code: status.UNAUTHENTICATED, request: { token: "" } },
    { reason: "sa_token", code: status.UNAUTHENTICATED, request: { token: "wrong-audience" } },
    { reason: "sa_token", code: status.UNAUTHENTICATED, request: { token: "x".repeat(20_000) } },
    { reason: "sa_token", code: status.UNAUTHENTICATED, request: { token: "line\nbreak" } },
    { reason: "token_review_error", code: status.INTERNAL, request: { token: "error:" } },
    { reason: "invalid_principal", code: status.PERMISSION_DENIED, request: { token: "user:someone" } },
    {
      reason: "invalid_principal",
      code: status.PERMISSION_DENIED,
      request: { token: "token:svc-system:default" },
    },
    {
      reason: "invalid_principal",
      code: status.PERMISSION_DENIED,
      request: { token: "token:other:svc-shared-proxy" },
    },
    {
      reason: "malformed_csr",
      code: status.INVALID_ARGUMENT,
      request: { token: sharedToken, csrPem: Buffer.from("nonsense") },
    },
  ] as const;
  for (const { reason, code, request } of rejections) {
    it(`Bootstrap rejects with ${reason}: ${JSON.stringify(request).slice(0, 60)}`, async () => {
      const { controller, trust, port } = await start();
      const { error, response } = await bootstrap(port, trust, request);
      expect(error?.code).to.equal(code);
      expect(response).to.equal(undefined);
      expect(controller.bootstrapCount(reason)).to.equal(1);
      expect(controller.bootstrapCount("ok")).to.equal(0);
      expect(controller.rejections.map((one) => one.reason)).to.deep.equal([reason]);
    });
  }

  it("a reported rejection names its principal where it is known", async () => {
    const { controller, trust, port } = await start();
    await bootstrap(port, trust, { token: "token:svc-system:default" });
    await bootstrap(port, trust, { token: "wrong" });
    await bootstrap(port, trust, { token: sharedToken, csrPem: Buffer.from("x") });
    expect(controller.rejections).to.deep.equal([
      { reason: "invalid_principal", principal: "svc-system/default" },
      { reason: "sa_token", principal: "unknown" },
      { reason: "malformed_csr", principal: "svc-system/svc-shared-proxy" },
    ]);
  });

  it("a signing request with a weak key is rejected as malformed_csr", async () => {
    const { controller, trust, port } = await start();
    const { csrPem } = await createSigningRequest({ name: "RSASSA-PKCS1-v1_5", modulusLength: 2048 });
    const { error } = await bootstrap(port, trust, { token: sharedToken, csrPem });
    expect(error?.code).to.equal(status.INVALID_ARGUMENT);
    expect(controller.bootstrapCount("malformed_csr")).to.equal(1);
  });

  it("bytes that are not a BootstrapRequest are rejected, and unknown fields of a newer proxy are ignored", async () => {
    const { trust, port } = await start();
    const { error } = await bootstrapBytes(port, trust, Buffer.of(0xff, 0xff));
    expect(error?.code).to.equal(status.INVALID_ARGUMENT);
    const { csrPem } = await createSigningRequest();
    const request = new BootstrapRequest({ sa_token: sharedToken, csr_pem: csrPem, wire_version: 2 });
    const newer = Buffer.concat([request.serialize(), Buffer.of(0x7a, 2, 1, 2)]);
    expect((await bootstrapBytes(port, trust, newer)).error).to.equal(undefined);
  });

  it("Bootstrap is UNAVAILABLE without an authority and works as soon as there is one", async () => {
    const controller = await startController({ caMode: "external" });
    expect(controller.server.isReady()).to.equal(false);
    const other = await start();
    const { bootstrapPort } = controller.ports;
    const refused = await bootstrap(bootstrapPort, other.trust, { token: sharedToken });
    expect(refused.error?.code).to.equal(status.UNAVAILABLE);
    controller.store.replace(other.controller.store.content());
    await ready(controller);
    expect(controller.server.isReady()).to.equal(true);
    expect((await bootstrap(bootstrapPort, other.trust, { token: sharedToken })).error).to.equal(undefined);
  });

  it("a message of more than 1 MiB is refused", async () => {
    const { trust, port } = await start();
    const { error } = await bootstrap(port, trust, {
      token: sharedToken,
      csrPem: Buffer.alloc(1024 * 1024 + 1),
    });
    expect(error?.code).to.equal(status.RESOURCE_EXHAUSTED);
  });

  it("at most ten rejections per minute are reported, and all are counted", async () => {
    const { controller, trust, port } = await start();
    await Promise.all([...Array(25)].map(() => bootstrap(port, trust, { token: "wrong" })));
    expect(controller.rejections).to.have.length(10);
    expect(controller.bootstrapCount("sa_token")).to.equal(25);
  });

  it("the metrics have a series for every reason from the start", async () => {
    const { controller } = await start();
    const { body } = await exposeMetrics({ bootstraps: controller.metrics.bootstraps });
    const reasons = [...body.matchAll(/result="(\w+)",reason="(\w+)"} 0/g)].map(([, ...labels]) =>
      labels.join(" "),
    );
    expect(reasons.sort()).to.deep.equal([
      "accepted ok",
      "rejected ca_not_ready",
      "rejected internal",
      "rejected invalid_principal",
      "rejected malformed_csr",
      "rejected sa_token",
      "rejected signing_error",
      "rejected token_review_error",
      "rejected wire_version",
    ]);
  });

  it("the log contains neither tokens nor keys", async () => {
    const lines: string[] = [];
    const write = (fields: LogFields, message: string): void =>
      void lines.push(JSON.stringify({ ...fields, message }));
    const log: Logger = { ...silentLogger, error: write, warn: write, info: write, debug: write };
    const { controller, trust, port } = await start({ log });
    await bootstrap(port, trust, { token: sharedToken });
    await bootstrap(port, trust, { token: "very-wrong-token" });
    await bootstrap(port, trust, { token: "error:secret-token" });
    const text = lines.join("\n");
    expect(lines.length).to.be.greaterThan(3);
    expect(text).not.to.contain(sharedToken);
    expect(text).not.to.contain("wrong-token");
    expect(text).not.to.contain("secret-token");
    expect(text).not.to.contain("PRIVATE KEY");
    expect(text).not.to.contain(controller.store.content()?.privateKeyPem.slice(40, 80));
  });
});
