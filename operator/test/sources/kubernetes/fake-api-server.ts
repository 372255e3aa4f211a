import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { KubeConfig } from "@kubernetes/client-node";

export type FakeApiServer = {
  readonly config: KubeConfig;
  /** Requests so far as `METHOD path?query`. */
  readonly requests: readonly string[];
  close(): Promise<void>;
};

/** An HTTP server that replaces the API server; `answer` handles every request. */
export async function startFakeApiServer(
  answer: (request: IncomingMessage, response: ServerResponse, url: URL) => void,
): Promise<FakeApiServer> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    answer(request, response, new URL(request.url ?? "/", "http://fake"));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    { name: "fake", server: `http://127.0.0.1:${port}`, skipTLSVerify: true },
    { name: "fake" },
  );
  return {
    config,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export const sendJson = (response: ServerResponse, value: unknown, status = 200): void => {
  response.writeHead(status, { "content-type": "application/json" });
  // Logs and metrics are texts.
  response.end(typeof value === "string" ? value : JSON.stringify(value));
};

export const ingress = (name: string, version: number): object => ({
  metadata: { name, namespace: "ns", resourceVersion: String(version) },
  spec: {},
});
