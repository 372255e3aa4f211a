import { once } from "node:events";
import { createConnection } from "node:net";
import { expect } from "chai";
import { describeCodecs } from "../http1-codecs.ts";
import { holdClock } from "../http/held-clock.ts";
import { silentPort } from "../upstream/silent-port.ts";
import { eventually, exchange, startGateway, startTcp } from "./gateway.ts";

const get = "GET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n";
const upgrade = "GET / HTTP/1.1\r\nHost: a.example\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n";
const switched = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n";

describeCodecs("gaps between reads and writes", () => {
  describe("with a held clock", () => {
    const clock = holdClock();

    /** Sends a request whose response gets no further than `answer`. Time passes once that has arrived. */
    async function ask(
      request: string,
      answer: string,
    ): Promise<{ readonly response: string; readonly error: string | undefined }> {
      const backend = await startTcp((socket) => {
        socket.once("data", () => socket.write(answer));
      });
      const gateway = await startGateway({
        ports: [backend.port],
        features: { timeouts: { readGapMs: 50 } },
      });
      const socket = createConnection({ host: "127.0.0.1", port: gateway.port });
      let response = "";
      let hasEnded = false;
      socket.on("error", () => {});
      socket.on("data", (chunk: Buffer) => (response += chunk.toString("latin1")));
      socket.on("close", () => (hasEnded = true));
      try {
        socket.write(request);
        if (answer !== "") await eventually(() => response !== "");
        await clock.passing(eventually(() => hasEnded && gateway.records.length > 0));
        return { response, error: gateway.records[0]?.error };
      } finally {
        socket.destroy();
        await gateway.close();
        await backend.close();
      }
    }

    it("a backend that does not answer within the gap is answered 504", async () => {
      const { response, error } = await ask(get, "");
      expect(response.slice(9, 12)).to.equal("504");
      expect(error).to.equal("upstream read timeout");
    });

    it("a response that stops inside its body is cut after the gap", async () => {
      const { response, error } = await ask(get, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
      expect(response.slice(9, 12)).to.equal("200");
      expect(response.endsWith("half")).to.equal(true);
      expect(error).to.equal("upstream read timeout");
    });

    it("an upgraded connection without a byte in either direction ends after the gap", async () => {
      const { response, error } = await ask(upgrade, switched);
      expect(response.slice(9, 12)).to.equal("101");
      expect(error).to.equal("idle timeout");
    });

    it("bytes of the client alone keep an upgraded connection open", async () => {
      let bytes = 0;
      const backend = await startTcp((socket) => {
        socket.once("data", () => {
          socket.write(switched);
          socket.on("data", (chunk: Buffer) => (bytes += chunk.length));
        });
      });
      const gateway = await startGateway({
        ports: [backend.port],
        features: { timeouts: { readGapMs: 100 } },
      });
      const socket = createConnection({ host: "127.0.0.1", port: gateway.port });
      socket.on("error", () => {});
      try {
        socket.write(upgrade);
        await once(socket, "data");
        for (let sent = 1; sent <= 5; sent++) {
          clock.advance(60);
          socket.write("x");
          await eventually(() => bytes === sent);
        }
        expect(gateway.records).to.deep.equal([]);
        clock.advance(100);
        await eventually(() => gateway.records.length > 0);
        expect(gateway.records[0]?.error).to.equal("idle timeout");
      } finally {
        socket.destroy();
        await gateway.close();
        await backend.close();
      }
    });
  });

  it("a backend that reads nothing of a body is answered 504 after the gap", async () => {
    const backend = await startTcp((socket) => void socket.pause());
    const gateway = await startGateway({ ports: [backend.port], features: { timeouts: { sendGapMs: 100 } } });
    const socket = createConnection({ host: "127.0.0.1", port: gateway.port });
    socket.on("error", () => {});
    let response = "";
    socket.on("data", (chunk: Buffer) => (response += chunk.toString("latin1")));
    try {
      const length = 64 * 1024 * 1024;
      socket.write(`POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: ${length}\r\n\r\n`);
      socket.write(Buffer.alloc(length));
      await eventually(() => gateway.records.length > 0);
      expect(gateway.records[0]).to.include({ status: 504, error: "upstream send timeout" });
      await eventually(() => response.startsWith("HTTP/1.1 504"));
    } finally {
      socket.destroy();
      await gateway.close();
      await backend.close();
    }
  });

  it("a connect that takes longer than the route allows is answered with the status of the route", async () => {
    const silent = await silentPort();
    const limited = { connectTimeoutMs: 50 };
    const gateway = await startGateway({ ports: [silent.port], features: { timeouts: limited } });
    try {
      expect((await exchange(gateway.port, get)).slice(9, 12)).to.equal("502");
      const timeouts = { ...limited, connectTimeoutStatus: 504 } as const;
      gateway.update({ ports: [silent.port], features: { timeouts } });
      expect((await exchange(gateway.port, get)).slice(9, 12)).to.equal("504");
      gateway.update({ ports: [silent.port], protocol: "http2", features: { timeouts } });
      expect((await exchange(gateway.port, get)).slice(9, 12)).to.equal("504");
      expect(gateway.records.map(({ error }) => error)).to.deep.equal(Array(3).fill("connect timeout"));
    } finally {
      await gateway.close();
      await silent.close();
    }
  });
});
