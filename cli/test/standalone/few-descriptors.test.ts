import { once } from "node:events";
import { Agent, createServer, get, type IncomingMessage } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { expect } from "chai";
import { ingressManifest, listOf, serviceManifests, withGateway } from "./gateway.ts";

const descriptors = 256;
const host = "shop.example";

async function statusOf(port: number, path: string, agent?: Agent): Promise<number | undefined> {
  const asked = get({ host: "127.0.0.1", port, path, headers: { host }, ...(agent && { agent }) });
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  response.resume();
  await once(response, "end");
  return response.statusCode;
}

describe("serve standalone with few descriptors", () => {
  it("clients, probes and backends are served while more connections arrive than there are descriptors", async () => {
    const backend = createServer((_, response) => response.setHeader("connection", "close").end("hello"));
    backend.listen(0, "127.0.0.1");
    await once(backend, "listening");
    const { port } = backend.address() as AddressInfo;
    const shop = ingressManifest("shop", host, [{ path: "/", service: "web" }]);
    const manifests = { "all.json": listOf(...serviceManifests("web", [port]), shop) };
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const flags = ["--proxy-workers", "1"];
    await withGateway({ manifests, flags, descriptors }, async ({ httpPort, healthPort }) => {
      expect(await statusOf(httpPort, "/", agent)).to.equal(200);
      const total = 2 * descriptors;
      const refused = Promise.withResolvers<void>();
      let closed = 0;
      const flood = Array.from({ length: total }, () =>
        connect(httpPort, "127.0.0.1")
          .on("error", () => undefined)
          .on("close", () => ++closed === total - descriptors / 2 + 1 && refused.resolve()),
      );
      await refused.promise;
      expect(await statusOf(healthPort, "/readyz")).to.equal(200);
      for (let i = 0; i < 5; i++) expect(await statusOf(httpPort, "/", agent)).to.equal(200);
      for (const socket of flood) socket.destroy();
    });
    agent.destroy();
    backend.close();
  });
});
