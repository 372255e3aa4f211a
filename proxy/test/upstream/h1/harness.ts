import { createHttp1UpstreamClient } from "../../../src/upstream/h1/client.ts";
import { createIdlePool, type IdlePool } from "../../../src/upstream/idle-pool.ts";
import type { UpstreamClientOptions } from "../../../src/upstream/connect/options.ts";
import type {
  UpstreamClient,
  UpstreamEndpoint,
  UpstreamRequest,
  UpstreamStream,
} from "../../../src/upstream/upstream.ts";
import { clientOptions, getRequest, type RawServer, Recorder } from "../support.ts";

/** An answer after which the connection can be used again. */
export const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/** A client under test, and the servers that end with it. */
export type ClientBench = {
  readonly client: UpstreamClient;
  readonly idlePool: IdlePool;
  /** Puts a client with other options in the place of this one. */
  readonly restart: (options: Partial<UpstreamClientOptions>) => void;
  /** Ends a server with the test. */
  readonly start: (server: Promise<RawServer>) => Promise<RawServer>;
  readonly send: (
    endpoint: UpstreamEndpoint,
    overrides?: Partial<UpstreamRequest>,
    recorder?: Recorder,
  ) => { readonly recorder: Recorder; readonly stream: UpstreamStream };
  /** Sends a request and waits for the end of its response. */
  readonly exchange: (endpoint: UpstreamEndpoint, overrides?: Partial<UpstreamRequest>) => Promise<Recorder>;
};

/** To be called in a describe block: each of its tests has a client of its own. */
export function benchForEach(): ClientBench {
  let client: UpstreamClient;
  let idlePool: IdlePool;
  const servers: RawServer[] = [];

  const restart: ClientBench["restart"] = (options) => {
    idlePool = options.idlePool ?? createIdlePool(128);
    client = createHttp1UpstreamClient(clientOptions({ ...options, idlePool }));
  };
  const send: ClientBench["send"] = (endpoint, overrides = {}, recorder = new Recorder()) => ({
    recorder,
    stream: client.send(endpoint, getRequest(overrides), recorder),
  });

  beforeEach(() => restart({}));
  afterEach(() => {
    client.close();
    for (const server of servers.splice(0)) server.close();
  });
  return {
    get client() {
      return client;
    },
    get idlePool() {
      return idlePool;
    },
    restart,
    async start(server) {
      servers.push(await server);
      return server;
    },
    send,
    async exchange(endpoint, overrides) {
      const { recorder } = send(endpoint, overrides);
      await recorder.done;
      return recorder;
    },
  };
}
