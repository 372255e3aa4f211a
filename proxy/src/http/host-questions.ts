import type { AskHost, HostAnswer, HostCall, HostQuestion } from "../auth/host-call.ts";
import type { ClientConnection } from "../exchange/client-connection.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { ListenerView } from "../exchange/listener-view.ts";
import { hostOf } from "../message/authority.ts";
import { Fields } from "../message/fields.ts";
import type { Chunk, ClientCloseReason, ClientStream, HeaderList, ResponseHead } from "../message/message.ts";
import { AwakeTimer } from "../timing/awake-timer.ts";
import type { RequestHandler } from "./front.ts";

/**
 * Answers questions to hosts that the gateway itself serves (docs/features/ext-auth.md, "By URL"). They are handled
 * like requests of the waiting client, with all requirements of their routes.
 */
export const createHostQuestions =
  (handler: RequestHandler, views: () => readonly ListenerView[]): AskHost =>
  (question, waiting) => {
    const host = hostOf(question.authority);
    if (host === undefined) return undefined;
    const listener = findListener(views(), question, host, waiting);
    if (listener === undefined) return undefined;
    const stream = new QuestionStream(question);
    const { method, target, authority, headers } = question;
    handler(
      connectionTo(listener, host, waiting.connection),
      {
        version: "1.1",
        method,
        target,
        authority: undefined,
        scheme: undefined,
        headers: Fields.of(["Host", authority, ...headers]),
      },
      stream,
    );
    return stream;
  };

const defaultPorts = { http: 80, https: 443 } as const;

/**
 * Finds the listener at which clients reach the URL: preferably that of the waiting request, otherwise the one with the
 * port of the URL. Ingresses are served identically by all of their listeners, so for a default port any of them will
 * do; behind a load balancer that terminates TLS there need not be one with TLS.
 */
function findListener(
  views: readonly ListenerView[],
  { scheme, authority }: HostQuestion,
  host: string,
  { connection, host: waitingHost }: Exchange,
): ListenerView | undefined {
  const own = connection.listener;
  const written = /:(\d+)$/.exec(authority)?.[1];
  const port = written === undefined ? defaultPorts[scheme] : Number(written);
  const secure = scheme === "https";
  const groupAt = (view: ListenerView): "ingress" | "gateway" | undefined =>
    view.table.groupOf(host) ?? (host === waitingHost ? "ingress" : undefined);
  const isAtPort = (view: ListenerView): boolean => {
    const group = groupAt(view);
    return group !== undefined && view.publicPorts[group].port === port;
  };
  const isDefault = port === defaultPorts[scheme];
  const ofScheme = views.filter((view) => view.secure === secure);
  if (own.secure === secure && isAtPort(own)) return own;
  return (
    ofScheme.find(isAtPort) ??
    (isDefault && own.secure === secure && groupAt(own) !== undefined ? own : undefined) ??
    (isDefault ? ofScheme.find((view) => groupAt(view) === "ingress") : undefined) ??
    (isDefault && groupAt(own) === "ingress" ? own : undefined)
  );
}

/** Returns a connection of the same client to a listener. Only for its own listener does it have a verified client. */
function connectionTo(listener: ListenerView, host: string, client: ClientConnection): ClientConnection {
  const { remoteAddress, remotePort, localAddress, proxied } = client;
  const another = listener.secure
    ? { serverName: host, version: client.tls?.version ?? "TLSv1.3" }
    : undefined;
  const tls = listener === client.listener ? client.tls : another;
  return { remoteAddress, remotePort, localAddress, proxied, listener, tls, isQuestion: true };
}

/** The most response bytes that are read so that the connection to the upstream can be reused; a longer body is cut. */
const maxReadBytes = 65_536;

/** The client's side of a question: keeps the head of the response and discards its body. */
class QuestionStream implements ClientStream, HostCall {
  readonly body: ClientStream["body"];
  readonly canUpgrade = false;
  readonly answer: Promise<HostAnswer | undefined>;
  bytesSent = 0;
  headSent = false;
  hasTimedOut = false;
  onDrain: (() => void) | null = null;
  onHeadSent: (() => void) | null = null;
  onClose: ((reason: ClientCloseReason) => void) | null = null;
  private settle!: (answer: HostAnswer | undefined) => void;
  private head: ResponseHead | undefined = undefined;
  private isOver = false;
  private readonly timer: AwakeTimer;

  constructor({ timeoutMs, body = null }: Pick<HostQuestion, "timeoutMs" | "body">) {
    this.body = body;
    this.answer = new Promise((resolve) => (this.settle = resolve));
    this.timer = new AwakeTimer(() => this.expire(), timeoutMs);
  }

  sendInformational(): void {}

  sendHead(head: ResponseHead): void {
    this.head = head;
  }

  /** Discards the whole answer, which is possible at any time because none of it is used before its end. */
  takeBack(): void {
    this.head = undefined;
    this.bytesSent = 0;
  }

  write(chunk: Chunk): boolean {
    if (this.isOver) return true;
    this.bytesSent += chunk.length;
    if (this.bytesSent <= maxReadBytes) return true;
    this.finish(this.head);
    this.onClose?.("client-closed");
    return false;
  }

  end(_trailers: HeaderList | undefined): void {
    this.finish(this.head);
  }

  abort(): void {
    this.finish(undefined);
  }

  closeAfterResponse(): void {}

  upgrade(): undefined {
    return undefined;
  }

  cancel(): void {
    if (this.isOver) return;
    this.finish(undefined);
    this.onClose?.("client-closed");
  }

  private expire(): void {
    this.hasTimedOut = true;
    this.cancel();
  }

  private finish(head: ResponseHead | undefined): void {
    if (this.isOver) return;
    this.isOver = true;
    this.timer.clear();
    this.headSent = true;
    this.onHeadSent?.();
    this.settle(head && { status: head.status, headers: [...head.headers.toList()] });
  }
}
