/** A client of the discovery channel that can send invalid requests, for tests of what a controller must reject. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { status, type Client, type ServiceError } from "@grpc/grpc-js";
import {
  BootstrapRequest,
  BootstrapResponse,
  ClientMessage,
  Subscribe,
  type Scope,
} from "../../proto/src/generated/discovery.js";
import { readEnvelope } from "../../proto/src/envelope.ts";
import { rawDiscoveryService } from "../../proto/src/service.ts";
import { defaultKeepalive, wireVersion } from "../../proto/src/wire.ts";
import { createChannel } from "../../proxy/src/source/channel.ts";
import type { ProxyIdentity } from "../../proxy/src/source/proxy-identity.ts";
import { namespace } from "../deploy/release.ts";
import { ask } from "./api.ts";
import { clusterEnvironment } from "./provider.ts";

/** Local ports that are forwarded to the two discovery ports of one controller. */
export type Forwarding = {
  readonly streamPort: number;
  readonly bootstrapPort: number;
  close(): Promise<void>;
};

export async function forwardDiscovery(pod: string): Promise<Forwarding> {
  const args = [
    "--namespace",
    namespace,
    "port-forward",
    "--address",
    "127.0.0.1",
    `pod/${pod}`,
    ":50051",
    ":50052",
  ];
  const child = spawn("kubectl", args, {
    env: { ...process.env, ...(await clusterEnvironment()) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "close");
  const ports = new Map<string, number>();
  for await (const line of createInterface({ input: child.stdout })) {
    const [, local, remote] = /^Forwarding from 127\.0\.0\.1:(\d+) -> (\d+)$/.exec(line) ?? [];
    if (local !== undefined && remote !== undefined) ports.set(remote, Number(local));
    if (ports.size === 2) break;
  }
  child.stdout.resume();
  return {
    streamPort: ports.get("50051") ?? 0,
    bootstrapPort: ports.get("50052") ?? 0,
    async close() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

export type TokenOptions = {
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly audience: string;
};

/** Requests a token of a service account for ten minutes. */
export async function requestToken(options: TokenOptions): Promise<string> {
  const path = `/api/v1/namespaces/${options.namespace}/serviceaccounts/${options.serviceAccount}/token`;
  const answer = await ask<{ status: { token: string } }>(path, {
    method: "POST",
    body: { spec: { audiences: [options.audience], expirationSeconds: 600 } },
  });
  return answer.status.token;
}

/** The root certificates that proxies trust. */
export async function trustBundle(): Promise<string> {
  const { data } = await ask<{ data: Readonly<Record<string, string>> }>(
    `/api/v1/namespaces/${namespace}/configmaps/svc-discovery-trust`,
  );
  return data["ca.crt"] ?? "";
}

const callLimitMs = 15_000;

function connect(port: number, trustPem: string, identity?: ProxyIdentity): Client {
  const channel = createChannel({
    address: { host: "127.0.0.1", port },
    controller: {
      trustDomain: "cluster.local",
      identity: { namespace, serviceAccount: "svc-controller" },
      host: `svc-controller-discovery.${namespace}.svc`,
    },
    trustPem,
    keepalive: defaultKeepalive,
    ...(identity !== undefined && { identity }),
  });
  if (!channel.ok) throw new Error(channel.error.message);
  return channel.value;
}

export type BootstrapCall = {
  readonly port: number;
  readonly trustPem: string;
  readonly token: string;
  readonly csrPem: string;
  readonly wireVersion?: number;
};

/** The name of the status code, and the certificate chain if there is one. */
export type BootstrapAnswer = { readonly code: string; readonly chainPem: string };

export function bootstrap(request: BootstrapCall): Promise<BootstrapAnswer> {
  const client = connect(request.port, request.trustPem);
  const { path, requestSerialize, responseDeserialize } = rawDiscoveryService.Bootstrap;
  const message = new BootstrapRequest({
    sa_token: request.token,
    csr_pem: Buffer.from(request.csrPem),
    wire_version: request.wireVersion ?? wireVersion,
  });
  return new Promise((settle) => {
    const onAnswer = (error: ServiceError | null, bytes?: Buffer): void => {
      client.close();
      const answer = bytes === undefined ? undefined : BootstrapResponse.deserialize(bytes);
      settle({
        code: status[error?.code ?? status.OK],
        chainPem: Buffer.from(answer?.svid_cert_pem ?? []).toString("latin1"),
      });
    };
    const deadline = Date.now() + callLimitMs;
    client.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      Buffer.from(message.serialize()),
      { deadline },
      onAnswer,
    );
  });
}

export type StreamCall = {
  readonly port: number;
  readonly trustPem: string;
  readonly identity: ProxyIdentity;
  readonly nodeId: string;
  readonly scope?: Scope;
  readonly wireVersion?: number;
};

/**
 * The status with which a stream ended, or `OPEN` when a snapshot arrived, and the number of bytes of snapshots
 * received.
 */
export type StreamAnswer = { readonly code: string; readonly snapshotBytes: number };

/** Subscribes and waits for the first snapshot, or for the end of the stream. */
export function subscribe(request: StreamCall): Promise<StreamAnswer> {
  const client = connect(request.port, request.trustPem, request.identity);
  const { path, requestSerialize, responseDeserialize } = rawDiscoveryService.Stream;
  const { nodeId, scope } = request;
  const message = new ClientMessage({
    subscribe: new Subscribe({
      node_id: nodeId,
      wire_version: request.wireVersion ?? wireVersion,
      ...(scope !== undefined && { scope }),
    }),
  });
  return new Promise((settle) => {
    const deadline = Date.now() + callLimitMs;
    const stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, { deadline });
    let snapshotBytes = 0;
    const end = (code: string): void => {
      client.close();
      settle({ code, snapshotBytes });
    };
    stream.on("data", (bytes: Buffer) => {
      snapshotBytes += readEnvelope(bytes)?.snapshot?.length ?? 0;
      if (snapshotBytes === 0) return;
      end("OPEN");
      stream.cancel();
    });
    stream.once("error", ({ code }: ServiceError) => end(status[code]));
    stream.once("end", () => end("OK"));
    stream.write(Buffer.from(message.serialize()));
  });
}
