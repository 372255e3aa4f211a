import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { KubeConfig } from "@kubernetes/client-node";
import { expect } from "chai";
import { createApiClient, type ApiClient } from "../../../src/sources/kubernetes/api-client.ts";

describe("the client of the API server", () => {
  let server: Server;
  const sockets = new Set<Socket>();

  beforeEach(async () => {
    server = createServer((socket) => sockets.add(socket.on("error", () => socket.destroy()))).listen(
      0,
      "127.0.0.1",
    );
    await once(server, "listening");
  });
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  const clientOf = (connectTimeoutMs: number): Promise<ApiClient> => {
    const config = new KubeConfig();
    const { port } = server.address() as AddressInfo;
    config.loadFromClusterAndUser(
      { name: "silent", server: `https://127.0.0.1:${port}`, skipTLSVerify: true },
      { name: "nobody" },
    );
    return createApiClient(config, { connectTimeoutMs });
  };

  it("a connection attempt times out long before the call would", async () => {
    const client = await clientOf(100);
    try {
      const answer = await client.call("/readyz", { timeoutMs: 3_600_000 });
      expect(answer.ok ? undefined : answer.error.status).to.equal(0);
      expect(answer.ok ? "" : answer.error.message).to.match(/timeout/i);
    } finally {
      await client.close();
    }
  });

  it("every call ends at its time limit, even if many wait for a connection", async () => {
    const client = await clientOf(3_600_000);
    try {
      const calls = Array.from({ length: 200 }, () => client.call("/readyz", { timeoutMs: 200 }));
      const messages = (await Promise.all(calls)).map((answer) => (answer.ok ? "" : answer.error.message));
      expect(new Set(messages)).to.deep.equal(new Set(["The operation was aborted due to timeout"]));
    } finally {
      await client.close();
    }
  });
});
