import { expect } from "chai";
import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { get, type IncomingMessage } from "node:http";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { holdPort, type HeldPort } from "../../../common/test/held-ports.ts";
import { runProgram } from "../support.ts";
import { listOf, withGateway, type Gateway } from "./gateway.ts";

const occupy = async (port: number): Promise<Server> => {
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
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
  let held: HeldPort;
  let server: Server;
  let port: number;
  beforeEach(async () => {
    // Tests close the server before a gateway binds the port.
    held = await holdPort();
    ({ port } = held);
    server = await occupy(port);
  });
  afterEach(() => {
    server.close();
    held.release();
  });

  it("a folder that does not exist is reported in place of a port in use", async () => {
    const argv = ["serve", "standalone", "--manifests", "/nonexistent", "--health-port", String(port)];
    expect(await runProgram(argv)).to.deep.equal({
      code: 2,
      out: "",
      err: "svc-gateway: /nonexistent: the folder does not exist\n",
    });
  });

  it("a listener port in use ends the start with one sentence, which names the process that has it", async () => {
    const folder = await mkdtemp(join(tmpdir(), "svc-gateway-taken-"));
    await writeFile(join(folder, "all.json"), gatewayOn(port));
    const argv = ["serve", "standalone", "--manifests", folder, "--admin-port", "0", "--health-port", "0"];
    const { code, out, err } = await runProgram([
      ...argv,
      ...["--port-map", "80=0,443=0", "--proxy-bind-address", "127.0.0.1", "--proxy-workers", "2"],
    ]);
    await rm(folder, { recursive: true });
    expect(err).to.equal(
      `svc-gateway: listener ${port} cannot be served: Port ${port} is taken by node (process ${process.pid})\n`,
    );
    expect(code).to.equal(2);
    expect(out).not.to.include("listener added");
  });

  it("a listener port that another gateway of the same user serves ends the start, although workers share ports", async () => {
    server.close();
    await once(server, "close");
    const manifests = { "all.json": gatewayOn(port) };
    await withGateway({ manifests, flags: ["--proxy-workers", "2"] }, async (gateway) => {
      await gateway.log(isBound(port));
      const { code, err } = await runProgram([
        ...["serve", "standalone", "--manifests", gateway.folder, "--admin-port", "0", "--health-port", "0"],
        ...["--port-map", "80=0,443=0", "--proxy-bind-address", "127.0.0.1", "--proxy-workers", "2"],
      ]);
      expect(err).to.match(
        new RegExp(`^svc-gateway: listener ${port} cannot be served: Port ${port} is taken by node .*\n$`),
      );
      expect(code).to.equal(2);
    });
  });

  it("a later listener port in use is logged once with its owner, and bound when it is free", async () => {
    await withGateway(
      { manifests: { "all.json": listOf() }, flags: ["--proxy-workers", "2"] },
      async (gateway) => {
        await gateway.write("all.json", gatewayOn(port));
        await gateway.log(({ message }) => message === "listener cannot be bound");
        server.close();
        await gateway.log(isBound(port));
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
