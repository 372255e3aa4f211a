import { Agent, request, type IncomingMessage, type RequestOptions } from "node:http";
import { around, pause, type Stage, wordsOf } from "../stage.ts";

const blockBytes = 32 * 1024;
const block = Buffer.alloc(blockBytes, "s");
/** The number of blocks in each upload and download, 256 KiB in total. */
const blocks = 8;

type Answer = {
  readonly status: number;
  readonly bytes: number;
  /** The body, or the beginning of a long one. */
  readonly text: string;
  readonly version: string | undefined;
};

/** The characters of a body that are kept, more than any count of bytes has. */
const keptCharacters = 32;

/** A client with one persistent connection. */
class Http1Client {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });
  private readonly host: string;
  private readonly port: number;

  constructor(host: string, port: number) {
    this.host = host;
    this.port = port;
  }

  /** Sends a request with `pieces` blocks of body, sent sequentially. */
  ask(options: RequestOptions, pieces = 0): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const sent = request({
        host: this.host,
        port: this.port,
        agent: this.agent,
        ...options,
        headers: { host: "web.example.com" },
      });
      sent.on("error", reject);
      sent.on("response", (response: IncomingMessage) => {
        let bytes = 0;
        let text = "";
        response.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          if (text.length < keptCharacters) text += chunk.toString("latin1", 0, keptCharacters);
        });
        response.on("error", reject);
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            bytes,
            text,
            version: response.headers["x-version"] as string | undefined,
          }),
        );
      });
      const push = (left: number): void => {
        if (left === 0) sent.end();
        else sent.write(block, () => push(left - 1));
      };
      push(pieces);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}

type Visit = { readonly kind: string; readonly everyMs: number; play(client: Http1Client): Promise<string> };

/** The requests of clients. Each resolves with a description of any error. */
const visits: Readonly<Record<"small" | "upload" | "download", Visit>> = {
  small: {
    kind: "http1",
    everyMs: 1500,
    async play(client) {
      const { status, version } = await client.ask({ path: "/small" });
      if (status !== 200) return `status ${status}`;
      return version === undefined ? "a response without the route's field" : "";
    },
  },
  upload: {
    kind: "uploads",
    everyMs: 3000,
    async play(client) {
      const { status, text } = await client.ask({ path: "/upload", method: "POST" }, blocks);
      if (status !== 200) return `status ${status}`;
      const sent = blocks * blockBytes;
      return text === String(sent) ? "" : `the backend counted ${text} bytes, expected ${sent}`;
    },
  },
  download: {
    kind: "downloads",
    everyMs: 3000,
    async play(client) {
      const { status, bytes } = await client.ask({ path: "/download" });
      if (status !== 200) return `status ${status}`;
      return bytes === blocks * blockBytes ? "" : `${bytes} bytes`;
    },
  },
};

/** Runs one client that repeats its visit until the end. */
export async function runHttp1(
  { host, port, tally, signal }: Stage,
  name: keyof typeof visits,
): Promise<void> {
  const { kind, everyMs, play } = visits[name];
  const client = new Http1Client(host, port);
  while (await pause(around(everyMs), signal)) {
    const fault = await play(client).catch(wordsOf);
    if (fault === "") tally.done(kind);
    else tally.failed(kind, fault);
  }
  client.close();
}
