import { contractFields } from "@svc-gateway/common/ir/contract-fields.ts";
import { createSecureContext } from "node:tls";
import { ChannelCredentials, Client, type ServiceError, type StatusObject } from "@grpc/grpc-js";
import {
  Ack,
  BootstrapRequest,
  BootstrapResponse,
  ClientMessage,
  Gateway,
  Nack,
  Scope,
  ServerMessage,
  SharedPool,
  Subscribe,
} from "@svc-gateway/proto/generated/discovery.js";
import { rawDiscoveryService } from "@svc-gateway/proto/service.ts";
import { createSigningRequest } from "./signing-request.ts";

/** A certificate with its key, as a proxy shows it. */
export type TestIdentity = { readonly chainPem: string; readonly privateKeyPem: string };

const clients = new Set<Client>();

/** Closes every connection of this module. */
export function closeClients(): void {
  for (const client of clients) client.close();
  clients.clear();
}

function connect(port: number, trustPem: string, identity?: TestIdentity): Client {
  const secureContext = createSecureContext({
    ca: trustPem,
    ...(identity !== undefined && { cert: identity.chainPem, key: identity.privateKeyPem }),
  });
  const credentials = ChannelCredentials.createFromSecureContext(secureContext, {});
  const client = new Client(`127.0.0.1:${port}`, credentials, {
    "grpc.ssl_target_name_override": "svc-controller-discovery.svc-system.svc",
    "grpc.use_local_subchannel_pool": 1,
    "grpc.enable_retries": 0,
    "grpc.max_send_message_length": -1,
    "grpc.max_receive_message_length": 64 * 1024 * 1024,
  });
  clients.add(client);
  return client;
}

/** Calls Bootstrap with bytes; resolves with the answer or the error. */
export function bootstrapBytes(
  port: number,
  trustPem: string,
  bytes: Buffer,
): Promise<{ readonly response?: BootstrapResponse; readonly error?: ServiceError }> {
  const { path, requestSerialize, responseDeserialize } = rawDiscoveryService.Bootstrap;
  return new Promise((resolve) => {
    connect(port, trustPem).makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      bytes,
      (error: ServiceError | null, answer?: Buffer) =>
        resolve({
          ...(error !== null && { error }),
          ...(answer !== undefined && { response: BootstrapResponse.deserialize(answer) }),
        }),
    );
  });
}

/** Calls Bootstrap with a well-formed request, in which the test can replace any field. */
export async function bootstrap(
  port: number,
  trustPem: string,
  request: { readonly token: string; readonly csrPem?: Buffer; readonly wireVersion?: number },
) {
  const keys = await createSigningRequest();
  const bytes = new BootstrapRequest({
    sa_token: request.token,
    csr_pem: request.csrPem ?? keys.csrPem,
    wire_version: request.wireVersion ?? 2,
  }).serialize();
  const answer = await bootstrapBytes(port, trustPem, Buffer.from(bytes));
  const chainPem = Buffer.from(answer.response?.svid_cert_pem ?? []).toString();
  return { ...answer, identity: { chainPem, privateKeyPem: keys.privateKeyPem } };
}

/** A stream that a test drives by hand. */
export type RawStream = {
  readonly messages: ServerMessage[];
  /** The status of the stream, once it has ended. */
  status(): StatusObject | undefined;
  send(message: ClientMessage): void;
  sendBytes(bytes: Buffer): void;
  /** Answers the latest snapshot. */
  ack(): void;
  /** Answers the latest snapshot unless it was answered by this function before. */
  ackOnce(): void;
  nack(detail: string): void;
  /** Stops reading messages from the connection until `resume`. */
  pause(): void;
  resume(): void;
  halfClose(): void;
  cancel(): void;
};

export function openRawStream(port: number, trustPem: string, identity?: TestIdentity): RawStream {
  const { path, requestSerialize, responseDeserialize } = rawDiscoveryService.Stream;
  const client = connect(port, trustPem, identity);
  const call = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
  const messages: ServerMessage[] = [];
  let status: StatusObject | undefined;
  let answered: ServerMessage | undefined;
  call.on("data", (bytes: Buffer) => messages.push(ServerMessage.deserialize(bytes)));
  call.on("error", () => {});
  call.on("status", (ending) => (status = ending));
  const send = (message: ClientMessage): void => void call.write(Buffer.from(message.serialize()));
  const latestMessage = () => messages.findLast(({ has_snapshot }) => has_snapshot);
  const latest = () => {
    const snapshot = latestMessage()?.snapshot;
    if (snapshot === undefined) throw new Error("there is no snapshot to answer");
    return { version: snapshot.version, nonce: snapshot.nonce };
  };
  const ack = (): void => send(new ClientMessage({ ack: new Ack(latest()) }));
  return {
    messages,
    status: () => status,
    send,
    sendBytes: (bytes) => void call.write(bytes),
    ack,
    ackOnce() {
      const message = latestMessage();
      if (message === answered) return;
      answered = message;
      ack();
    },
    nack: (detail) => send(new ClientMessage({ nack: new Nack({ ...latest(), detail }) })),
    pause: () => void call.pause(),
    resume: () => void call.resume(),
    halfClose: () => void call.end(),
    cancel: () => call.cancel(),
  };
}

export const sharedScope = (): Scope => new Scope({ shared_pool: new SharedPool() });

export const gatewayScope = (namespace: string, name: string): Scope =>
  new Scope({ gateway: new Gateway({ namespace, name }) });

export const subscribe = (
  nodeId: string,
  scope: Scope | undefined = sharedScope(),
  wireVersion: number = 2,
  takesParts: boolean = false,
  knownFields: readonly string[] = contractFields(),
): ClientMessage =>
  new ClientMessage({
    subscribe: new Subscribe({
      node_id: nodeId,
      wire_version: wireVersion,
      takes_parts: takesParts,
      known_fields: [...knownFields],
      ...(scope !== undefined && { scope }),
    }),
  });
