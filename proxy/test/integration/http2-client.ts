import { connect, constants } from "node:http2";

/** A response as the client received it; `ended` is false when the stream was reset. */
export type Seen = { status: number; body: string; ended: boolean; trailers: Record<string, unknown> };

/** Sends one GET over HTTP/2 with prior knowledge. */
export async function getOverHttp2(port: number, host: string): Promise<Seen> {
  const session = connect(`http://127.0.0.1:${port}`);
  session.on("error", () => {});
  const stream = session.request({ ":path": "/", ":authority": host });
  const seen: Seen = { status: 0, body: "", ended: false, trailers: {} };
  stream.on("error", () => {});
  stream.on("response", (headers) => (seen.status = Number(headers[":status"])));
  stream.on("trailers", (trailers) => (seen.trailers = Object.fromEntries(Object.entries(trailers))));
  stream.on("data", (piece: Buffer) => (seen.body += piece.toString("latin1")));
  await new Promise<void>((resolve) => stream.on("close", () => resolve()));
  seen.ended = stream.rstCode === constants.NGHTTP2_NO_ERROR && !stream.aborted;
  session.destroy();
  return seen;
}
