import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, Socket } from "node:net";
import { text } from "node:stream/consumers";
import { mock } from "node:test";
import { createSecureContext } from "node:tls";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { holdRefusingPort } from "../../../common/test/held-ports.ts";
import { connectEndpoint } from "../../src/upstream/connect/connect-endpoint.ts";
import type { ConnectOptions } from "../../src/upstream/connect/options.ts";
import type { Resolver } from "../../src/upstream/resolver.ts";
import type { UpstreamEndpoint } from "../../src/upstream/upstream.ts";
import { holdClock } from "../http/held-clock.ts";
import { mockTimers } from "../mock-timers.ts";
import { silentPort } from "./silent-port.ts";
import { RawServer, until } from "./support.ts";

const resolverOf = (...addresses: string[]): Resolver => ({
  resolve: (_name, done) => done({ ok: true, value: addresses }),
  lastKnown: () => addresses,
});

const outcome = (endpoint: UpstreamEndpoint, options: Partial<ConnectOptions> = {}): Promise<string> =>
  new Promise((resolve) => {
    connectEndpoint(endpoint, { connectTimeoutMs: 0, resolver: resolverOf(), ...options }, (result) => {
      if (result.ok) result.value.socket.destroy();
      resolve(result.ok ? result.value.address : `${result.error.kind}: ${result.error.text}`);
    });
  });

const at = (host: string, port: number): UpstreamEndpoint => ({ host, port, address: `${host}:${port}` });

/** Below the ports that systems choose, so that nothing else has it by chance. */
const ownPort = 20_000 + (process.pid % 10_000);

/** Makes connections to this port also start from it, a choice that the system itself occasionally makes. */
function connectFrom(port: number): () => void {
  const { connect } = Socket.prototype;
  Socket.prototype.connect = function (this: Socket, ...args: unknown[]): Socket {
    // Node.js passes the arguments on as one list, or unchanged.
    const [options] = args.flat() as [{ port: number; localPort?: number }];
    if (options.port === port) options.localPort = port;
    return Reflect.apply(connect, this, args) as Socket;
  };
  return () => {
    Socket.prototype.connect = connect;
  };
}

describe("connectEndpoint", () => {
  it("connectEndpoint connects to an address", async () => {
    const server = await RawServer.start();
    expect(await outcome(server.endpoint)).to.equal("127.0.0.1");
    server.close();
  });

  it("connectEndpoint reports a refused connection apart from other failures", async () => {
    const refusing = await holdRefusingPort();
    expect(await outcome(at("127.0.0.1", refusing.port))).to.equal("refused: connection refused");
    refusing.close();
    expect(await outcome(at("255.255.255.255", 1))).to.equal("connect: connect failed");
  });

  it("connectEndpoint reports a connection that the system makes with itself as refused", async () => {
    const restore = connectFrom(ownPort);
    try {
      const endpoint = at("127.0.0.1", ownPort);
      expect(await outcome(endpoint)).to.equal("refused: connection refused");
      const tls = { context: createSecureContext(), serverName: "self.test", checkServerIdentity: undefined };
      expect(await outcome({ ...endpoint, tls })).to.equal("refused: connection refused");
    } finally {
      restore();
    }
  });

  it("connectEndpoint fails after the connect timeout", async () => {
    const silent = await silentPort();
    expect(await outcome(at("127.0.0.1", silent.port), { connectTimeoutMs: 50 })).to.equal(
      "connect-timeout: connect timeout",
    );
    await silent.close();
  });

  it("a connection established in time is used even when the event loop was blocked past the timeout", async () => {
    const server = await RawServer.start();
    const answer = outcome(server.endpoint, { connectTimeoutMs: 20 });
    // Node.js starts the connect after the code that asks for it.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    const begunMs = performance.now();
    while (performance.now() - begunMs < 40);
    expect(await answer).to.equal("127.0.0.1");
    server.close();
  });

  it("the connect timeout of the endpoint's Service overrides the default", async () => {
    const silent = await silentPort();
    const limited = (connectTimeoutMs: number) => ({
      ...at("127.0.0.1", silent.port),
      limits: { connectTimeoutMs, idleTimeoutMs: undefined },
    });
    expect(await outcome(limited(50), { connectTimeoutMs: 0 })).to.equal("connect-timeout: connect timeout");
    await silent.close();
    const server = await RawServer.start();
    const patient = { ...server.endpoint, limits: { connectTimeoutMs: 0, idleTimeoutMs: undefined } };
    expect(await outcome(patient)).to.equal("127.0.0.1");
    server.close();
  });

  describe("endpoints that are names", () => {
    it("connectEndpoint refuses addresses of the node where the name is a tenant's choice", async () => {
      const server = await RawServer.start();
      const endpoint = at("up.test", server.endpoint.port);
      const limits = { connectTimeoutMs: 0, idleTimeoutMs: undefined, refusesNodeLocal: true };
      const refused = "own-port: endpoint is an address of the node";
      const local = [
        "127.0.0.1",
        "::1",
        "0.0.0.0",
        "169.254.169.254",
        "fe80::1",
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
      ];
      for (const address of local) {
        expect(await outcome({ ...endpoint, limits }, { resolver: resolverOf(address) }), address).to.equal(
          refused,
        );
      }
      expect(await outcome({ ...at("127.0.0.1", 1), limits })).to.equal(refused);
      expect(await outcome(endpoint, { resolver: resolverOf("127.0.0.1") })).to.equal("127.0.0.1");
      server.close();
    });

    it("connectEndpoint tries the addresses of a name in order", async () => {
      const server = await RawServer.start();
      const { port } = server.endpoint;
      expect(await outcome(at("up.test", port), { resolver: resolverOf("127.0.0.1", "127.0.0.2") })).to.equal(
        "127.0.0.1",
      );
      expect(await outcome(at("up.test", port), { resolver: resolverOf("127.0.0.2", "127.0.0.1") })).to.equal(
        "127.0.0.1",
      );
      expect(await outcome(at("up.test", port), { resolver: resolverOf("127.0.0.2", "127.0.0.3") })).to.equal(
        "refused: connection refused",
      );
      server.close();
    });

    describe("the time of each address", () => {
      holdClock();
      mockTimers();

      it("connectEndpoint leaves time for the next address when one does not answer", async () => {
        const silent = await silentPort();
        const server = createServer().listen(silent.port, "127.0.0.2");
        await once(server, "listening");
        const resolver = resolverOf("127.0.0.1", "127.0.0.2");
        const answer = outcome(at("up.test", silent.port), { connectTimeoutMs: 1500, resolver });
        await new Promise((resolve) => setImmediate(resolve));
        mock.timers.tick(750);
        expect(await answer).to.equal("127.0.0.2");
        server.close();
        await silent.close();
      });
    });

    it("connectEndpoint fails when the name has no address", async () => {
      const resolver: Resolver = {
        resolve: (_name, done) => done({ ok: false, error: "unresolved" }),
        lastKnown: () => undefined,
      };
      expect(await outcome(at("up.test", 1), { resolver })).to.equal("connect: name not resolved");
    });

    it("the connect timeout covers resolving the name", async () => {
      const resolver: Resolver = { resolve: () => undefined, lastKnown: () => undefined };
      expect(await outcome(at("up.test", 1), { connectTimeoutMs: 20, resolver })).to.equal(
        "connect-timeout: connect timeout",
      );
    });
  });

  it("connectEndpoint never calls back before it has returned", async () => {
    let returned = false;
    await new Promise<void>((resolve) => {
      const options = { connectTimeoutMs: 0, resolver: resolverOf() };
      connectEndpoint(at("up.test", 1), { ...options, resolver: resolverOf("127.0.0.1") }, () => resolve());
      returned = true;
    });
    expect(returned).to.equal(true);
  });

  it("connectEndpoint does not call back once it is cancelled", async () => {
    const server = await RawServer.start();
    let calls = 0;
    const options: ConnectOptions = { connectTimeoutMs: 10, resolver: resolverOf("127.0.0.1") };
    connectEndpoint(server.endpoint, options, () => calls++).cancel();
    connectEndpoint(at("up.test", server.endpoint.port), options, () => calls++).cancel();
    expect(await outcome(server.endpoint)).to.equal("127.0.0.1");
    await until(() => server.peers.length > 0);
    expect(calls).to.equal(0);
    server.close();
  });

  it("connectEndpoint closes the connection that has been idle longest when there is no descriptor for a new one", async () => {
    const server = await RawServer.start();
    const program = fileURLToPath(new URL("./no-descriptors-program.ts", import.meta.url));
    const child = spawn("sh", ["-c", 'ulimit -n 64 && exec "$0" "$@"', process.execPath, program], {
      env: { ...process.env, BACKEND: String(server.endpoint.port) },
      stdio: ["ignore", "pipe", "inherit"],
    });
    expect(JSON.parse(await text(child.stdout))).to.deep.equal(["connected", "no file descriptor left"]);
    server.close();
  });
});
