import { expect } from "chai";
import { once } from "node:events";
import { Agent, createServer, get, request, type IncomingMessage, type ServerResponse } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { get as getSecure } from "node:https";
import { connect as connectTcp, createServer as createTcpServer, type AddressInfo } from "node:net";
import { WebSocket } from "ws";
import { startEchoBackend, type EchoAnswer, type EchoBackend } from "../../../scripts/echo/backend.ts";
import { callEcho } from "../../../scripts/echo/grpc-client.ts";
import { createExampleCertificates } from "../../../scripts/quickstart/certificates.ts";
import { runProgram } from "../support.ts";
import { ingressManifest, listOf, serviceManifests, withGateway } from "./gateway.ts";

type Answer = { readonly status: number; readonly body: string };

const readAnswer = async (response: IncomingMessage): Promise<Answer> => {
  let body = "";
  for await (const chunk of response) body += String(chunk);
  return { status: response.statusCode ?? 0, body };
};

const fetchPath = async (port: number, host: string, path: string, agent?: Agent): Promise<Answer> => {
  const sent = get({
    port,
    path,
    host: "127.0.0.1",
    headers: { Host: host },
    ...(agent === undefined ? {} : { agent }),
  });
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return readAnswer(response);
};

const backendOf = ({ body }: Answer): string => (JSON.parse(body) as EchoAnswer).backend;

describe("serve standalone", () => {
  let a: EchoBackend;
  let b: EchoBackend;
  before(async () => {
    a = await startEchoBackend({ name: "a" });
    b = await startEchoBackend({ name: "b" });
  });
  after(() => Promise.all([a.close(), b.close()]));

  it("a standalone process routes HTTP, HTTPS, HTTP/2, gRPC and WebSocket", async () => {
    const { authorityPem, certificatePem, keyPem } = await createExampleCertificates(["a.example.com"]);
    const secret = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "tls" },
      type: "kubernetes.io/tls",
      stringData: { "tls.crt": certificatePem, "tls.key": keyPem },
    };
    const manifests = listOf(
      secret,
      ...serviceManifests("a", [a.port]),
      ...serviceManifests("b", [b.port]),
      ...serviceManifests("grpc", [b.port], "kubernetes.io/h2c"),
      ingressManifest(
        "web",
        "a.example.com",
        [
          { path: "/", service: "a" },
          { path: "/b", service: "b" },
          { path: "/echo.v1.Echo", service: "grpc" },
        ],
        { tlsSecret: "tls" },
      ),
    );
    await withGateway(
      { manifests: { "all.json": manifests } },
      async ({ httpPort, httpsPort, adminPort, healthPort }) => {
        expect(backendOf(await fetchPath(httpPort, "a.example.com", "/x"))).to.equal("a");
        expect(backendOf(await fetchPath(httpPort, "A.example.com", "/b/x"))).to.equal("b");
        expect((await fetchPath(httpPort, "b.example.com", "/")).status).to.equal(404);

        const secure = getSecure({
          host: "127.0.0.1",
          port: httpsPort,
          servername: "a.example.com",
          ca: authorityPem,
          headers: { Host: "a.example.com" },
        });
        const [response] = (await once(secure, "response")) as [IncomingMessage];
        expect(backendOf(await readAnswer(response))).to.equal("a");

        for (const session of [
          connectHttp2(`http://127.0.0.1:${httpPort}`),
          connectHttp2(`https://127.0.0.1:${httpsPort}`, { ca: authorityPem, servername: "a.example.com" }),
        ]) {
          const { messages, headers, trailers } = await callEcho(session, ["one", "two"], {
            ":authority": "a.example.com",
          });
          expect(messages).to.deep.equal(["one", "two"]);
          expect(headers["echo-backend"]).to.equal("b");
          expect(trailers["grpc-status"]).to.equal("0");
          session.close();
        }

        const socket = new WebSocket(`ws://127.0.0.1:${httpPort}/b`, { headers: { Host: "a.example.com" } });
        const [first] = (await once(socket, "message")) as [Buffer];
        socket.send("hello");
        const [second] = (await once(socket, "message")) as [Buffer];
        expect([JSON.parse(first.toString()) as object, second.toString()]).to.deep.equal([
          { backend: "b", path: "/b", host: "a.example.com" },
          "hello",
        ]);
        socket.close();
        await once(socket, "close");

        expect((await fetchPath(healthPort, "x", "/readyz")).status).to.equal(200);
        const health = JSON.parse((await fetchPath(adminPort, "x", "/api/v1/health")).body) as {
          version: string;
        };
        expect(health).to.have.nested.property("subsystems.proxy.status", "Ready");
        expect(health).to.have.nested.property("subsystems.controller.status", "Ready");
        const metrics = (await fetchPath(adminPort, "x", "/metrics")).body;
        expect(metrics).to.match(
          /svc_proxy_requests_total\{listener="80",route="ingress\/default\/web:0\.1",method="GET",status_code="200"\} 1/,
        );
      },
    );
  });

  it("no request is lost over 100 edits under load", async function () {
    this.timeout(900_000);
    const ingress = (edit: number): string =>
      listOf(
        ...serviceManifests("a", edit % 3 === 0 ? [a.port, b.port] : [a.port]),
        ...serviceManifests("b", [b.port]),
        ingressManifest(
          "web",
          "a.example.com",
          [
            { path: "/", service: edit % 2 === 0 ? "a" : "b" },
            { path: `/edit-${edit}`, service: "b" },
          ],
          { annotations: { "ingress.svc-labs.dev/max-body-size": `${edit + 1}k` } },
        ),
      );
    await withGateway({ manifests: { "all.json": ingress(0) } }, async ({ httpPort, write, published }) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 16 });
      let isLoading = true;
      let requests = 0;
      const failures: unknown[] = [];
      /** Ends with its first failure: against a stopped gateway it would fail without end. */
      const load = async (): Promise<void> => {
        while (isLoading && failures.length === 0) {
          requests++;
          const { status } = await fetchPath(httpPort, "a.example.com", "/", agent);
          if (status !== 200) failures.push(status);
        }
      };
      const loads = Array.from({ length: 16 }, () => load().catch((error) => failures.push(error)));
      try {
        for (let edit = 1; edit <= 100; edit++) {
          await write("all.json", ingress(edit));
          await published(edit + 1);
          const { status, body } = await fetchPath(httpPort, "a.example.com", `/edit-${edit}`, agent);
          expect(`${status} ${backendOf({ status, body })}`, `edit ${edit} is served`).to.equal("200 b");
        }
      } finally {
        isLoading = false;
        await Promise.all(loads);
        agent.destroy();
      }
      expect(failures).to.deep.equal([]);
      expect(requests).to.be.greaterThan(100);
    });
  });

  it("the last valid state is served while a file is broken, which is logged once", async () => {
    const good = (service: string): string =>
      listOf(
        ...serviceManifests("a", [a.port]),
        ...serviceManifests("b", [b.port]),
        ingressManifest("web", "a.example.com", [{ path: "/", service }]),
      );
    await withGateway(
      { manifests: { "all.json": good("a") } },
      async ({ httpPort, write, log, logLines, published }) => {
        await write("all.json", good("b").slice(0, -10));
        const line = await log(({ message }) => message === "manifest finding");
        expect(line).to.include({ level: "ERROR", reason: "InvalidYaml" });
        expect(backendOf(await fetchPath(httpPort, "a.example.com", "/"))).to.equal("a");
        await write(
          "other.json",
          listOf(ingressManifest("other", "b.example.com", [{ path: "/", service: "b" }])).replace(
            `"IngressClass"`,
            `"Unknown"`,
          ),
        );
        await published(2);
        expect(backendOf(await fetchPath(httpPort, "b.example.com", "/"))).to.equal("b");
        await write("all.json", good("b"));
        await log(({ message }) => message === "findings resolved");
        await published(3);
        expect(backendOf(await fetchPath(httpPort, "a.example.com", "/"))).to.equal("b");
        expect(logLines.filter(({ message }) => message === "manifest finding")).to.have.length(1);
      },
    );
  });

  describe("shutdown", () => {
    /** A backend that answers on demand. */
    const withSlowBackend = async (
      body: (manifests: string, answer: () => void, reached: Promise<void>) => Promise<void>,
    ): Promise<void> => {
      let answer = (): void => undefined;
      let reach = (): void => undefined;
      const reached = new Promise<void>((resolve) => (reach = resolve));
      const server = createServer((_, response: ServerResponse) => {
        answer = () => response.end("late");
        reach();
      });
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      const { port } = server.address() as AddressInfo;
      const manifests = listOf(
        ...serviceManifests("slow", [port]),
        ingressManifest("web", "a.example.com", [{ path: "/", service: "slow" }]),
      );
      try {
        await body(manifests, () => answer(), reached);
      } finally {
        server.closeAllConnections();
        server.close();
      }
    };

    it("SIGTERM ends the process when its requests have ended", () =>
      withSlowBackend(async (manifests, answer, reached) => {
        const flags = ["--proxy-shutdown-grace-period", "2s", "--proxy-shutdown-timeout", "20s"];
        await withGateway(
          { manifests: { "all.json": manifests }, flags },
          async ({ httpPort, healthPort, kill, log, ended }) => {
            const pending = fetchPath(httpPort, "a.example.com", "/");
            await reached;
            kill("SIGTERM");
            await log(({ message }) => message === "stopping");
            expect((await fetchPath(healthPort, "x", "/readyz")).status).to.equal(503);
            answer();
            expect(await pending).to.deep.equal({ status: 200, body: "late" });
            expect(await ended).to.equal(0);
          },
        );
      }));

    it("Ctrl-C ends the process at once when clients have only idle connections", async () => {
      await withGateway({ manifests: { "all.json": listOf() } }, async ({ httpPort, kill, log, ended }) => {
        const agent = new Agent({ keepAlive: true });
        expect((await fetchPath(httpPort, "a.example.com", "/", agent)).status).to.equal(404);
        // Reset if the gateway had not accepted it yet.
        const silent = connectTcp(httpPort, "127.0.0.1").on("error", () => undefined);
        await once(silent, "connect");
        kill("SIGINT");
        const { how } = await log(({ message }) => message === "stopping");
        expect([how, await ended]).to.deep.equal(["at-once", 0]);
        agent.destroy();
      });
    });

    it("a second signal ends the process at once", () =>
      withSlowBackend(async (manifests, _answer, reached) => {
        const flags = ["--proxy-shutdown-grace-period", "1h"];
        await withGateway(
          { manifests: { "all.json": manifests }, flags },
          async ({ httpPort, kill, log, ended }) => {
            const pending = request({
              port: httpPort,
              host: "127.0.0.1",
              headers: { Host: "a.example.com" },
            });
            pending.on("error", () => undefined);
            pending.end();
            await reached;
            kill("SIGINT");
            await log(({ message }) => message === "stopping");
            kill("SIGINT");
            expect(await ended).to.equal(0);
          },
        );
      }));
  });

  it("a management port that is in use prevents the start, and the error names its flag", async () => {
    const taken = createTcpServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    const flags = [
      "--management-bind-address",
      "127.0.0.1",
      "--admin-port",
      String(port),
      "--health-port",
      "0",
    ];
    const { code, err } = await runProgram([
      "serve",
      "standalone",
      "--manifests",
      "cli/test/testdata/shop",
      ...flags,
    ]);
    taken.close();
    expect(code).to.equal(2);
    expect(err).to.match(
      new RegExp(
        `^svc-gateway: --admin-port: cannot listen on 127.0.0.1 port ${port}: Port ${port} is taken by node \\(process ${process.pid}\\)\n$`,
      ),
    );
  });
});
