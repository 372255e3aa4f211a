import { once } from "node:events";
import {
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestListener,
} from "node:http";
import { startGateway, startHttp, type Gateway, type HttpUpstream, type Plan } from "./gateway.ts";

export type Answer = {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
};

/** A route with features in front of an upstream that records its requests, on real sockets. */
export type ServedRoute = {
  readonly gateway: Gateway;
  /** The requests that the upstream received, with their bodies. */
  readonly seen: { readonly message: IncomingMessage; body: string }[];
  /** Sends an HTTP/1.1 request, by default to host a.example. */
  ask(
    path: string,
    options?: {
      readonly method?: string;
      readonly headers?: OutgoingHttpHeaders;
      readonly body?: string;
      readonly host?: string;
    },
  ): Promise<Answer>;
  close(): Promise<void>;
};

/** Starts an HTTP/1.1 upstream that records its requests. */
export async function startRecorder(
  respond: RequestListener = (_, response) => void response.end("upstream"),
): Promise<{ readonly upstream: HttpUpstream; readonly seen: ServedRoute["seen"] }> {
  const seen: ServedRoute["seen"] = [];
  const upstream = await startHttp((message, response) => {
    const record = { message, body: "" };
    seen.push(record);
    message.on("data", (chunk: Buffer) => (record.body += chunk.toString()));
    respond(message, response);
  });
  return { upstream, seen };
}

export async function serveRoute(
  features: NonNullable<Plan["features"]>,
  respond?: RequestListener,
  plan: Partial<Plan> = {},
  flags: readonly string[] = [],
): Promise<ServedRoute> {
  const { upstream, seen } = await startRecorder(respond);
  const gateway = await startGateway({ ports: [upstream.port], features, ...plan }, flags);
  return {
    gateway,
    seen,
    async ask(path, { method = "GET", headers = {}, body, host = "a.example" } = {}) {
      const request = httpRequest({
        host: "127.0.0.1",
        port: gateway.port,
        path,
        method,
        headers: { host, ...headers },
        agent: false,
      });
      request.end(body);
      const [message] = (await once(request, "response")) as [IncomingMessage];
      let text = "";
      for await (const chunk of message) text += String(chunk);
      return { status: message.statusCode ?? 0, headers: message.headers, body: text };
    },
    async close() {
      await gateway.close();
      await upstream.close();
    },
  };
}
