import { createSocket } from "node:dgram";
import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import { expect } from "chai";
import {
  createExampleCertificates,
  type ExampleCertificates,
} from "../../scripts/quickstart/certificates.ts";
import { find } from "../support/api.ts";
import { deployEcho } from "../support/echo.ts";
import { gateway, route, to } from "../support/gateway-api.ts";
import { gatewayAt, programmedAddress } from "../support/gateways.ts";
import { useSandbox } from "../support/sandbox.ts";
import { tlsSecret } from "../support/tls-secret.ts";
import { until } from "../support/until.ts";

const patienceMs = 5_000;

describe("TCP, TLS and UDP listeners", () => {
  const sandbox = useSandbox("l4");
  const [through, end] = ["through.e2e.example", "end.e2e.example"] as const;
  let certificates: ExampleCertificates;
  let address: string;

  const routeTo = (port: number, sectionName: string, hostname?: string): object => ({
    parentRefs: [{ name: "edge", sectionName }],
    ...(hostname !== undefined && { hostnames: [hostname] }),
    rules: [{ backendRefs: to("echo", port) }],
  });
  const get = (host: string): string => `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;

  /** The bytes that a TLS client receives on the port that both modes share. */
  const talkTls = async (servername: string, bytes = "name?\n"): Promise<string> => {
    const socket = connectTls({ host: address, port: 8443, servername, ca: certificates.authorityPem });
    socket.setTimeout(patienceMs, () => socket.destroy(new Error("no answer")));
    await once(socket, "secureConnect");
    socket.write(bytes);
    return text(socket);
  };

  const askUdp = async (message: string): Promise<string | undefined> => {
    const socket = createSocket("udp4");
    const answered = once(socket, "message", { signal: AbortSignal.timeout(patienceMs) }) as Promise<
      [Buffer]
    >;
    socket.send(message, 5300, address);
    const answer = await answered.then(
      ([bytes]) => bytes.toString(),
      () => undefined,
    );
    socket.close();
    return answer;
  };

  const failure = (attempt: Promise<unknown>): Promise<string | undefined> =>
    attempt.then(
      () => undefined,
      (error: NodeJS.ErrnoException) => error.code ?? error.message,
    );

  before(async function () {
    if (
      (await find(
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/udproutes.gateway.networking.k8s.io",
      )) === undefined
    )
      this.skip();
    certificates = await createExampleCertificates([through, end]);
    await deployEcho(sandbox, { replicas: 1, certificate: certificates });
    await sandbox.apply(
      tlsSecret(certificates),
      gateway("edge", {
        listeners: [
          { name: "tcp", port: 5432, protocol: "TCP" },
          { name: "udp", port: 5300, protocol: "UDP" },
          { name: "through", port: 8443, protocol: "TLS", hostname: through, tls: { mode: "Passthrough" } },
          {
            name: "end",
            port: 8443,
            protocol: "TLS",
            hostname: end,
            tls: { mode: "Terminate", certificateRefs: [{ name: "tls" }] },
          },
        ],
      }),
      route("TCPRoute", "db", routeTo(80, "tcp")),
      route("UDPRoute", "dns", routeTo(53, "udp")),
      route("TLSRoute", "through", routeTo(443, "through", through)),
      route("TLSRoute", "end", routeTo(80, "end", end)),
    );
    address = await programmedAddress(sandbox.namespace, "edge");
  });

  it("each L4 listener counts its attached routes", async () => {
    await until("attachedRoutes", async () => {
      const listeners = (await gatewayAt(sandbox.namespace, "edge")).status?.listeners ?? [];
      return listeners.length === 4 && listeners.every(({ attachedRoutes }) => attachedRoutes === 1);
    });
  });

  it("a TCPRoute forwards connections", async () => {
    const talk = async (): Promise<string> => {
      const socket = connect(5432, address);
      socket.setTimeout(patienceMs, () => socket.destroy(new Error("no answer")));
      socket.write(get("any.e2e.example"));
      return text(socket);
    };
    await until("the route", () => talk().catch(() => ""));
    expect(await talk()).to.match(/^HTTP\/1.1 200/);
  });

  it("TLS is passed through and terminated on one port, by server name", async () => {
    await until("the routes", () => talkTls(through).catch(() => ""));
    expect(await talkTls(through)).to.match(new RegExp(`^echo-.* ${through}$`));
    expect(await talkTls(end, get(end))).to.match(/^HTTP\/1.1 200/);
    expect(await failure(talkTls("other.e2e.example"))).to.equal("ECONNRESET");
  });

  it("a UDPRoute forwards datagrams and their replies", async () => {
    await until("the route", () => askUdp("ping"));
    expect(await askUdp("hello")).to.match(/^echo-.* hello$/);
  });

  it("connections to a TCP listener are reset after its route was deleted", async () => {
    await sandbox.delete("tcproute", "db");
    const attempt = async (): Promise<unknown> => {
      const socket = connect(5432, address);
      socket.setTimeout(patienceMs, () => socket.destroy(new Error("no answer")));
      return text(socket);
    };
    await until("a reset", async () => (await failure(attempt())) === "ECONNRESET");
  });
});
