import { expect } from "chai";
import { once } from "node:events";
import { createServer, type AddressInfo, type Server } from "node:net";
import { get, type IncomingMessage } from "node:http";
import { listOf, withGateway, type Gateway } from "./gateway.ts";

const occupy = async (): Promise<{ readonly server: Server; readonly port: number }> => {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, port: (server.address() as AddressInfo).port };
};

const gatewayOn = (port: number): string =>
  listOf(
    {
      apiVersion: "gateway.networking.k8s.io/v1",
      kind: "GatewayClass",
      metadata: { name: "svc" },
      spec: { controllerName: "svc-labs.dev/gateway-controller" },
    },
    {
      apiVersion: "gateway.networking.k8s.io/v1",
      kind: "Gateway",
      metadata: { name: "web" },
      spec: { gatewayClassName: "svc", listeners: [{ name: "http", port, protocol: "HTTP" }] },
    },
  );

const readiness = async ({ healthPort }: Gateway): Promise<string> => {
  const [response] = (await once(
    get({ port: healthPort, host: "127.0.0.1", path: "/readyz" }),
    "response",
  )) as [IncomingMessage];
  let body = "";
  for await (const part of response) body += String(part);
  return `${response.statusCode} ${body.trim()}`;
};

const failuresIn = ({ logLines }: Gateway): readonly unknown[] =>
  logLines.filter(({ level }) => level === "ERROR").map(({ message, detail }) => [message, detail]);

const isBound =
  (port: number) =>
  ({ message, listener }: Readonly<Record<string, unknown>>): boolean =>
    message === "listener added" && listener === port;

describe("serve standalone where a port is taken", () => {
  let server: Server;
  let port: number;
  beforeEach(async () => {
    ({ server, port } = await occupy());
  });
  afterEach(() => void server.close());

  it("a listener port in use is logged once with its owner, and the process is not ready until it is bound", async () => {
    await withGateway(
      { manifests: { "all.json": gatewayOn(port) }, flags: ["--proxy-workers", "2"] },
      async (gateway) => {
        await gateway.log(({ message }) => message === "listener cannot be bound");
        expect(await readiness(gateway)).to.equal(
          `503 proxy/routing_table_loaded: no socket for listener ${port}, see the log`,
        );
        server.close();
        await gateway.log(isBound(port));
        // Each look is a request: the supervisor may learn of the socket a moment after the log.
        while ((await readiness(gateway)) !== "200 ok") continue;
        expect(failuresIn(gateway)).to.deep.equal([
          [
            "listener cannot be bound",
            `Port ${port} is taken by node (process ${process.pid}); listener ${port} of Gateway default/web is not served; the bind is retried every 5 s`,
          ],
        ]);
      },
    );
  });

  it("the process stays ready when a later listener port is in use", async () => {
    await withGateway({ manifests: { "all.json": listOf() } }, async (gateway) => {
      expect(await readiness(gateway)).to.equal("200 ok");
      await gateway.write("all.json", gatewayOn(port));
      await gateway.log(({ message }) => message === "listener cannot be bound");
      await gateway.published(2);
      expect(await readiness(gateway)).to.equal("200 ok");
    });
  });
});
