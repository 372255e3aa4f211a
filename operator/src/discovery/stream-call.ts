import { status, type ServerDuplexStream } from "@grpc/grpc-js";
import { formatIdentity } from "@svc-gateway/proto/identity.ts";
import { readProxyMessage, type ProxyMessage } from "./client-messages.ts";
import { scopeKey } from "./principals.ts";
import { admitProxy, type StreamAdmissionOptions, type StreamRefusal } from "./stream-admission.ts";
import { openSession, type StreamSession, type StreamSessionOptions } from "./stream-session.ts";

export type DiscoveryCall = ServerDuplexStream<Buffer, Buffer>;

// gRPC does not report reliably which of the two happened.
const closedByProxy = "the proxy closed the stream or its connection was lost";

export type StreamCallOptions = Omit<StreamSessionOptions, "proxy" | "write" | "end"> &
  StreamAdmissionOptions;

/** A call of Stream that is being served. */
export type ServedCall = {
  /** Ends the stream; without a refusal, it ends without an error. */
  end(refusal?: StreamRefusal): void;
  /** Resolves when the transport has closed the call. */
  readonly closed: Promise<void>;
};

const subscribeTimeoutMs = 10_000;

/**
 * Serves one call: waits for `Subscribe`, admits or rejects the proxy, and passes its messages to the session. A
 * rejection is counted and reported to `onRefused`; the session handles every later end.
 */
export function serveCall(
  call: DiscoveryCall,
  options: StreamCallOptions & { readonly onRefused: (refusal: StreamRefusal, peer: string) => void },
): ServedCall {
  const { metrics, log, clock, onRefused } = options;
  const peer = call.getPeer();
  let session: StreamSession | undefined;
  let nodeId = "";
  let isEnded = false;

  const release = (why: string): void => {
    if (isEnded) return;
    isEnded = true;
    cancelTimeout();
    session?.close();
    if (session !== undefined) log.info({ node: nodeId, reason: why }, "proxy disconnected");
  };

  const end = (refusal?: StreamRefusal, why: string = closedByProxy): void => {
    if (isEnded) return;
    release(refusal?.message ?? why);
    if (refusal === undefined) call.end();
    else call.emit("error", { code: refusal.code, details: refusal.message });
  };

  const refuse = (refusal: StreamRefusal): void => {
    onRefused(refusal, peer);
    end(refusal);
  };

  const admit = (message: ProxyMessage): void => {
    const admitted = admitProxy(options, message, call.getAuthContext().sslPeerCertificate);
    if (!admitted.ok) return refuse(admitted.error);
    const proxy = admitted.value;
    const principal = formatIdentity(proxy.identity);
    cancelTimeout();
    session = openSession({
      ...options,
      proxy,
      write: (bytes, onFlushed) => void call.write(bytes, () => onFlushed()),
      end: (refusal) => end(refusal, "replaced by a newer stream"),
    });
    nodeId = proxy.nodeId;
    metrics.streams.with({ result: "accepted" }).inc();
    log.info(
      {
        node: proxy.nodeId,
        ...(proxy.pod !== undefined && { uid: proxy.pod.uid }),
        scope: scopeKey(proxy.scope),
        principal,
        peer,
      },
      "proxy connected",
    );
  };

  const onMessage = (bytes: Buffer): void => {
    if (isEnded) return;
    const message = readProxyMessage(bytes);
    const malformed: StreamRefusal | undefined = message.ok
      ? undefined
      : { code: status.INVALID_ARGUMENT, message: message.error.message };
    if (session === undefined) {
      if (malformed !== undefined) return refuse(malformed);
      if (message.ok) admit(message.value);
    } else {
      if (malformed !== undefined) return end(malformed);
      if (message.ok) session.receive(message.value);
    }
  };

  const cancelTimeout = clock.schedule(subscribeTimeoutMs, () =>
    refuse({ code: status.INVALID_ARGUMENT, message: "expected Subscribe within 10 seconds" }),
  );
  call.on("data", onMessage);
  call.on("end", () => end());
  const onLost = (): void => release(closedByProxy);
  call.on("cancelled", onLost);
  const closed = new Promise<void>((resolve) => {
    call.once("close", () => {
      onLost();
      resolve();
    });
  });
  return { end, closed };
}
