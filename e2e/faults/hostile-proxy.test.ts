import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { Gateway, Scope, SharedPool } from "../../proto/src/generated/discovery.js";
import { createKeyPair } from "../../proxy/src/source/key-pair.ts";
import type { ProxyIdentity } from "../../proxy/src/source/proxy-identity.ts";
import { namespace } from "../deploy/release.ts";
import { ask } from "../support/api.ts";
import {
  bootstrap,
  forwardDiscovery,
  requestToken,
  subscribe,
  trustBundle,
  type Forwarding,
  type StreamAnswer,
} from "../support/discovery.ts";
import { recordTraffic } from "../support/figures.ts";
import { useLoadedSandbox } from "../support/load.ts";
import { metric } from "../support/metrics.ts";
import { leaderName, readyPodsOf } from "../support/pods.ts";
import { mustRun } from "../support/run-program.ts";
import { describeFailures, startTraffic, type Traffic } from "../support/traffic.ts";
import { poll } from "../support/poll.ts";

type Event = {
  readonly reason: string;
  readonly note: string;
  readonly regarding: { readonly kind: string; readonly name: string };
};

const audience = "svc-discovery";
const sharedProxy = { namespace, serviceAccount: "svc-shared-proxy" };

describe("fault: a hostile proxy", () => {
  const sandbox = useLoadedSandbox("hostile-proxy");
  let traffic: Traffic;
  let honest: readonly string[];
  let reconnectsBefore: readonly number[];
  let leader: string;
  let ports: Forwarding;
  let trustPem: string;
  let csrPem: string;
  let identity: ProxyIdentity;

  /** The number of times that each of the honest proxies had to reconnect. */
  const reconnects = (): Promise<readonly number[]> =>
    Promise.all(honest.map((pod) => metric(pod, "svc_discovery_client_reconnects_total")));

  before(async () => {
    honest = await readyPodsOf("shared-proxy");
    reconnectsBefore = await reconnects();
    traffic = await startTraffic({ host: sandbox.host });
    leader = (await leaderName()) ?? "";
    ports = await forwardDiscovery(leader);
    trustPem = await trustBundle();
    const keys = await createKeyPair("hostile");
    ({ csrPem } = keys);
    // A valid request gets a certificate, so that the later ones are rejected for their own fault only.
    const token = await requestToken({ ...sharedProxy, audience });
    const answer = await bootstrap({ port: ports.bootstrapPort, trustPem, token, csrPem });
    expect(answer.code).to.equal("OK");
    identity = { privateKeyPem: keys.privateKeyPem, chainPem: answer.chainPem, notAfterMs: Infinity };
  });
  after(async () => {
    await traffic.stop();
    await ports.close();
  });

  const rejections = (reason: string): Promise<number> =>
    metric(leader, "svc_discovery_bootstrap_total", { result: "rejected", reason });

  /** Expects a rejection: its status, its count, and the Event on the controller's pod. */
  async function expectRejected(
    request: { readonly token: string; readonly csrPem?: string; readonly wireVersion?: number },
    {
      code,
      reason,
      principal,
    }: { readonly code: string; readonly reason: string; readonly principal: string },
  ): Promise<void> {
    const before = await rejections(reason);
    const answer = await bootstrap({ port: ports.bootstrapPort, trustPem, csrPem, ...request });
    expect(answer).to.deep.equal({ code, chainPem: "" });
    expect(await rejections(reason)).to.equal(before + 1);
    await poll(`BootstrapRejected: ${reason}`, async () => {
      const { items } = await ask<{ items: readonly Event[] }>(
        `/apis/events.k8s.io/v1/namespaces/${namespace}/events`,
      );
      return items.some(
        ({ reason: of, note, regarding }) =>
          of === "BootstrapRejected" &&
          note === `${reason}: ${principal}` &&
          regarding.kind === "Pod" &&
          regarding.name === leader,
      );
    });
  }

  it("an invalid token gets no certificate", async () => {
    await expectRejected(
      { token: "not.a.token" },
      { code: "UNAUTHENTICATED", reason: "sa_token", principal: "unknown" },
    );
  });

  it("a token for another audience gets no certificate", async () => {
    const token = await requestToken({ ...sharedProxy, audience: "another-audience" });
    await expectRejected({ token }, { code: "UNAUTHENTICATED", reason: "sa_token", principal: "unknown" });
  });

  it("a token of another service account gets no certificate", async () => {
    const token = await requestToken({ namespace, serviceAccount: "default", audience });
    await expectRejected(
      { token },
      { code: "PERMISSION_DENIED", reason: "invalid_principal", principal: `${namespace}/default` },
    );
  });

  it("a request with another wire version gets no certificate", async () => {
    const token = await requestToken({ ...sharedProxy, audience });
    await expectRejected(
      { token, wireVersion: 1 },
      { code: "FAILED_PRECONDITION", reason: "wire_version", principal: "unknown" },
    );
  });

  it("an invalid certificate signing request gets no certificate", async () => {
    const token = await requestToken({ ...sharedProxy, audience });
    await expectRejected(
      { token, csrPem: "nonsense" },
      { code: "INVALID_ARGUMENT", reason: "malformed_csr", principal: `${namespace}/svc-shared-proxy` },
    );
  });

  const sharedPool = new Scope({ shared_pool: new SharedPool() });
  const foreignGateway = new Scope({ gateway: new Gateway({ namespace: "default", name: "foreign" }) });

  /** Subscribes with a name that no real proxy has, so that none is replaced. */
  const open = (request: {
    readonly identity?: ProxyIdentity;
    readonly scope?: Scope;
    readonly wireVersion?: number;
  }): Promise<StreamAnswer> =>
    subscribe({ port: ports.streamPort, trustPem, nodeId: "hostile-proxy", identity, ...request });

  const streams = (): Promise<number> =>
    metric(leader, "svc_discovery_streams_total", { result: "rejected" });

  /** Expects a stream to end with a status before any byte of a snapshot, and the rejection to be counted. */
  async function expectNothing(request: Parameters<typeof open>[0], code: string): Promise<void> {
    const before = await streams();
    expect(await open(request)).to.deep.equal({ code, snapshotBytes: 0 });
    await poll("the rejected stream to be counted", async () => (await streams()) > before);
  }

  it("a proxy with a valid certificate gets the snapshot of its own scope", async () => {
    const answer = await open({ scope: sharedPool });
    expect(answer.code).to.equal("OPEN");
  });

  it("a proxy gets no byte of another scope", async () => {
    await expectNothing({ scope: foreignGateway }, "PERMISSION_DENIED");
  });

  it("a proxy without a scope gets no byte", async () => {
    await expectNothing({}, "INVALID_ARGUMENT");
  });

  it("a proxy with another wire version gets no byte", async () => {
    await expectNothing({ scope: sharedPool, wireVersion: 3 }, "FAILED_PRECONDITION");
  });

  it("a self-signed certificate gets no connection", async () => {
    const forged = await forgeIdentity();
    await expectNothing({ scope: sharedPool, identity: forged }, "UNAVAILABLE");
  });

  it("honest proxies keep their streams, and their clients lose no request", async () => {
    const report = await traffic.stop();
    recordTraffic("hostile-proxy", report);
    expect(report.failed, describeFailures(report)).to.equal(0);
    expect(report.sent).to.be.above(0);
    expect(await reconnects()).to.deep.equal(reconnectsBefore);
  });
});

/** A certificate with the right name from an untrusted authority. */
async function forgeIdentity(): Promise<ProxyIdentity> {
  const folder = mkdtempSync(join(tmpdir(), "forged-"));
  try {
    const file = (name: string): string => join(folder, name);
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    await mustRun("openssl", [
      ...["req", "-x509", ...key, "-days", "1", "-subj", "/CN=svc-gateway"],
      ...["-keyout", file("ca.key"), "-out", file("ca.crt")],
    ]);
    await mustRun("openssl", [
      "req",
      "-new",
      ...key,
      "-subj",
      "/CN=x",
      "-keyout",
      file("key"),
      "-out",
      file("csr"),
    ]);
    writeFileSync(
      file("extensions"),
      `subjectAltName=URI:spiffe://cluster.local/ns/${namespace}/sa/svc-shared-proxy\nextendedKeyUsage=clientAuth\n`,
    );
    await mustRun("openssl", [
      ...["x509", "-req", "-in", file("csr"), "-CA", file("ca.crt"), "-CAkey", file("ca.key")],
      ...["-days", "1", "-extfile", file("extensions"), "-out", file("crt")],
    ]);
    return {
      privateKeyPem: readFileSync(file("key"), "utf8"),
      chainPem: readFileSync(file("crt"), "utf8") + readFileSync(file("ca.crt"), "utf8"),
      notAfterMs: Infinity,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
