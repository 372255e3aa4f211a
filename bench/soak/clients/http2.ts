import { connect, type ClientHttp2Session } from "node:http2";
import { once } from "node:events";
import { around, pause, type Stage, wordsOf } from "../stage.ts";

function get(session: ClientHttp2Session): Promise<string> {
  return new Promise((resolve) => {
    const stream = session.request({ ":path": "/small", ":authority": "web.example.com" });
    let status = 0;
    stream.on("response", (headers) => (status = headers[":status"] ?? 0));
    stream.on("error", (error) => resolve(wordsOf(error)));
    stream.on("end", () => resolve(status === 200 ? "" : `status ${status}`));
    stream.resume();
  });
}

/** Sends two requests at a time on one connection, until the end. */
export async function runHttp2({ host, port, tally, signal }: Stage): Promise<void> {
  const session = connect(`http://${host}:${port}`);
  session.on("error", (error) => tally.failed("http2", wordsOf(error)));
  await once(session, "connect");
  while (await pause(around(1000), signal)) {
    for (const fault of await Promise.all([get(session), get(session)])) {
      if (fault === "") tally.done("http2");
      else tally.failed("http2", fault);
    }
  }
  session.close();
}
