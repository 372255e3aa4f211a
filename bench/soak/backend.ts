import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Server as GrpcServer, ServerCredentials, type ServerDuplexStream } from "@grpc/grpc-js";
import { setTimeout as delay } from "node:timers/promises";
import { WebSocketServer } from "ws";

/** One instance of the backends, which ends as a pod does that handles its signals. */
export type Instance = {
  readonly ports: { readonly web: number; readonly grpc: number; readonly ws: number };
  /**
   * Waits until the gateway stops sending requests, which takes until it has noticed the change. Then ends calls and
   * WebSockets in order, and frees the ports.
   */
  stop(): Promise<void>;
};

/** The time without requests after which an instance is no longer an endpoint of the gateway. */
const quietMs = 1000;

const download = Buffer.alloc(256 * 1024, "d");

const listen = async (server: Server, host: string): Promise<number> => {
  // Many clients connect simultaneously, also while this process, which runs them too, is behind.
  server.listen({ port: 0, host, backlog: 4096 });
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
};

function webServer(onRequest: () => void): Server {
  return createServer((request, response) => {
    onRequest();
    let bytes = 0;
    request.on("data", (chunk: Buffer) => (bytes += chunk.length));
    request.on("end", () => {
      if (request.url === "/download") response.end(download);
      else if (request.url === "/upload") response.end(String(bytes));
      else response.end("small");
    });
  });
}

async function grpcServer(
  host: string,
  onCall: () => void,
): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const server = new GrpcServer();
  const calls = new Set<ServerDuplexStream<Buffer, Buffer>>();
  const asBytes = (value: Buffer): Buffer => value;
  const method = {
    path: "/soak.Echo/Chat",
    requestStream: true,
    responseStream: true,
    requestSerialize: asBytes,
    requestDeserialize: asBytes,
    responseSerialize: asBytes,
    responseDeserialize: asBytes,
  };
  server.addService(
    { Chat: method },
    {
      Chat: (call: ServerDuplexStream<Buffer, Buffer>) => {
        onCall();
        calls.add(call);
        call.on("data", (message: Buffer) => call.write(message));
        call.on("end", () => call.end());
        call.on("error", () => {});
        call.on("cancelled", () => calls.delete(call));
        call.on("close", () => calls.delete(call));
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`${host}:0`, ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return {
    port,
    stop: () =>
      new Promise((resolve) => {
        for (const call of calls) call.end();
        server.tryShutdown(() => resolve());
      }),
  };
}

/** Starts an instance that listens on free ports of an address. */
export async function startInstance(host = "127.0.0.1"): Promise<Instance> {
  let askedMs = performance.now();
  const onAsked = (): void => void (askedMs = performance.now());
  const [web, wsHttp] = [webServer(onAsked), createServer()];
  const sockets = new WebSocketServer({ server: wsHttp });
  sockets.on("connection", (socket) => {
    onAsked();
    socket.on("error", () => {});
    socket.on("message", (data) => socket.send(String(data as Buffer)));
  });
  const grpc = await grpcServer(host, onAsked);
  return {
    ports: { web: await listen(web, host), grpc: grpc.port, ws: await listen(wsHttp, host) },
    async stop() {
      // Elapsed time alone does not prove idleness: requests that have arrived are read before the time is compared
      // again.
      for (let seenMs = 0; seenMs !== askedMs;) {
        seenMs = askedMs;
        await delay(quietMs);
      }
      for (const socket of sockets.clients) socket.close(1001);
      const closed = [web, wsHttp].map((server) => {
        server.close();
        return once(server, "close");
      });
      await Promise.all([...closed, grpc.stop()]);
    },
  };
}
