import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { KubeConfig } from "@kubernetes/client-node";
import { expect } from "chai";
import { sendJson, startFakeApiServer, type FakeApiServer } from "./fake-api-server.ts";
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

describe("a text that the client of the API server reads", () => {
  let api: FakeApiServer;
  let client: ApiClient;
  beforeEach(async () => {
    api = await startFakeApiServer((_request, response, url) =>
      url.pathname === "/log" ? sendJson(response, "0123456789") : sendJson(response, { reason: "No" }, 403),
    );
    client = await createApiClient(api.config);
  });
  afterEach(async () => {
    await client.close();
    await api.close();
  });

  it("a text is read whole, or up to the limit of its bytes", async () => {
    expect(await client.readText("/log", { maxBytes: 100 })).to.deep.equal({ ok: true, value: "0123456789" });
    expect(await client.readText("/log", { maxBytes: 4 })).to.deep.equal({ ok: true, value: "0123" });
  });

  it("a refusal in the place of a text is an error with its status and reason", async () => {
    const read = await client.readText("/other", { maxBytes: 4 });
    expect(read.ok ? undefined : read.error).to.include({ status: 403, reason: "No" });
  });
});
