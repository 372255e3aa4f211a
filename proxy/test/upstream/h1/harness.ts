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

/** A response after which the connection can be reused. */
export const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/** A client under test, and the servers that are closed with it. */
export type ClientBench = {
  readonly client: UpstreamClient;
  readonly idlePool: IdlePool;
  /** Replaces the client by one with other options. */
  readonly restart: (options: Partial<UpstreamClientOptions>) => void;
  /** Registers a server to be closed at the end of the test. */
  readonly start: (server: Promise<RawServer>) => Promise<RawServer>;
  readonly send: (
    endpoint: UpstreamEndpoint,
    overrides?: Partial<UpstreamRequest>,
    recorder?: Recorder,
  ) => { readonly recorder: Recorder; readonly stream: UpstreamStream };
  /** Sends a request and waits for the end of its response. */
  readonly exchange: (endpoint: UpstreamEndpoint, overrides?: Partial<UpstreamRequest>) => Promise<Recorder>;
};

/** Creates the bench of a describe block, whose tests each have their own client. */
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
