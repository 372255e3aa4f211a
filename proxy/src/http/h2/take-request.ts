import type { ClientConnection } from "../../exchange/client-connection.ts";
import { renderReply } from "../../message/local-reply.ts";
import type { ClientStream } from "../../message/message.ts";
import { eventOf } from "./events.ts";
import type { FrontContext } from "./front-connections.ts";
import type { HeadRefusal, ReceivedHead } from "./request-head.ts";

const refusalStatus = {
  malformed: 400,
  "uri-too-long": 414,
  "header-too-large": 431,
  "too-many-headers": 431,
} as const satisfies { readonly [Reason in HeadRefusal]: number };

type Context = Pick<FrontContext<never>, "handler" | "onEvent">;

/** Passes a request to the pipeline. A request that exceeds a limit is answered here instead. */
export function takeRequest(
  context: Context,
  connection: ClientConnection,
  received: ReceivedHead,
  client: ClientStream,
): void {
  if (received.refusal !== undefined) return refuse(context, connection, received, received.refusal, client);
  try {
    context.handler(connection, received.head, client);
  } catch (error) {
    client.abort();
    context.onEvent(eventOf(connection, "handler-failed", { error }));
  }
}

function refuse(
  context: Context,
  connection: ClientConnection,
  { head, grpc }: ReceivedHead,
  reason: HeadRefusal,
  client: ClientStream,
): void {
  const status = refusalStatus[reason];
  const reply = renderReply({ status, error: reason }, { head: head.method === "HEAD", grpc });
  client.sendHead(reply.head);
  client.write(reply.body);
  client.end(undefined);
  context.onEvent(eventOf(connection, reason, { status, head, bytesSent: reply.body.length }));
}
