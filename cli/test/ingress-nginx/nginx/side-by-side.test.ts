import { EventEmitter, once } from "node:events";
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import { expect } from "chai";
import { listen } from "../../../../scripts/echo/listen.ts";
import type { Ports } from "../ask.ts";
import { hasNginx } from "./process.ts";
import { besideNginx } from "./side-by-side.ts";

async function bodyOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

type Sent = {
  readonly host: string;
  readonly path: string;
  readonly method?: string;
  readonly body?: string;
  readonly cookie?: string;
};

/** Sends a request, its body in chunks, and reads the response to its end. */
async function send({ httpPort }: Ports, one: Sent): Promise<number> {
  const { host, path, method = "GET", body, cookie } = one;
  const headers = { host, ...(cookie !== undefined && { cookie }) };
  const sent = request({ host: "127.0.0.1", port: httpPort, agent: false, method, path, headers });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  await bodyOf(response);
  return response.statusCode ?? 0;
}

describe("nginx, configured as ingress-nginx configures it, beside this gateway", () => {
  it("mirror-target: copies have the method, URL, host and body that nginx gives them", async function () {
    if (!hasNginx()) return void this.skip();
    const seen = new EventEmitter();
    const copies: string[] = [];
    const app = await listen(
      createServer((message, response) => void bodyOf(message).then(() => response.end("ok"))),
    );
    const copy = await listen(
      createServer((message, response) => {
        void bodyOf(message).then((body) => {
          copies.push(`${message.method} ${message.url} ${message.headers.host} ${body}`);
          response.end();
          seen.emit("copy");
        });
      }),
    );
    const url = "http://copy.beside.svc.cluster.local";
    const ingresses = [
      { host: "all.example", annotations: { "mirror-target": `${url}$request_uri` } },
      {
        host: "own.example",
        annotations: { "mirror-target": `${url}/copies`, "mirror-host": "copies.example" },
      },
      {
        host: "head.example",
        annotations: { "mirror-target": `${url}$request_uri`, "mirror-request-body": "off" },
      },
    ];
    const requests = ingresses.flatMap(({ host }): readonly Sent[] => [
      { host, path: "/a%20b?c=d" },
      { host, path: "/post", method: "POST", body: "five5" },
      { host, path: "/long", method: "PUT", body: "x".repeat(20_000) },
      { host, path: "/gone", method: "DELETE" },
    ]);
    try {
      const { nginx, gateway } = await besideNginx(
        ingresses,
        { app: app.port, copy: copy.port },
        async (ports) => {
          copies.length = 0;
          for (const one of requests) {
            const arrived = copies.length;
            expect(await send(ports, one)).to.equal(200);
            while (copies.length === arrived) await once(seen, "copy");
          }
          return [...copies];
        },
      );
      expect(nginx).to.have.length(requests.length);
      expect(gateway).to.deep.equal(nginx);
    } finally {
      await Promise.all([app.close(), copy.close()]);
    }
  });

  it("auth-cache-key: the service is asked as often as nginx asks it", async function () {
    if (!hasNginx()) return void this.skip();
    const app = await listen(createServer((_, response) => response.end("ok")));
    const questions: string[] = [];
    const statuses: Readonly<Record<string, number>> = {
      in: 200,
      accepted: 202,
      none: 401,
      denied: 403,
      broken: 500,
    };
    const auth = await listen(
      createServer(({ headers }, response) => {
        const [role = ""] = (headers.cookie ?? "").replace("role=", "").split(".");
        questions.push(headers.cookie ?? "");
        response.writeHead(statuses[role] ?? 500).end();
      }),
    );
    const annotations = {
      "auth-url": "http://auth.beside.svc.cluster.local/check",
      "auth-cache-key": "$cookie_role",
    };
    const ingresses = [
      { host: "usual.example", annotations },
      { host: "chosen.example", annotations: { ...annotations, "auth-cache-duration": "403 1h, 200 0s" } },
    ];
    const roles = [
      "in",
      "in",
      "in.other",
      "accepted",
      "accepted",
      "none",
      "none",
      "denied",
      "denied",
      "broken",
      "broken",
    ];
    try {
      const { nginx, gateway } = await besideNginx(
        ingresses,
        { app: app.port, auth: auth.port },
        async (ports) => {
          const answers: string[] = [];
          for (const { host } of ingresses) {
            for (const role of roles) {
              questions.length = 0;
              const status = await send(ports, { host, path: "/", cookie: `role=${role}` });
              answers.push(`${host} ${role}: ${status}, ${questions.length} questions`);
            }
          }
          return answers;
        },
      );
      expect(nginx[1]).to.equal("usual.example in: 200, 0 questions");
      expect(gateway).to.deep.equal(nginx);
    } finally {
      await Promise.all([app.close(), auth.close()]);
    }
  });

  for (const [keys, refused] of [
    [{}, 503],
    [{ "limit-conn-status-code": "429" }, 429],
  ] as const) {
    it(`limit-connections: as many requests of a client are in progress as nginx admits, and the next is answered ${refused}`, async function () {
      if (!hasNginx()) return void this.skip();
      await compareConnections(keys, refused);
    });
  }

  async function compareConnections(keys: Readonly<Record<string, string>>, refused: number): Promise<void> {
    const held: ServerResponse[] = [];
    const events = new EventEmitter();
    const app = await listen(
      createServer((_, response) => {
        held.push(response);
        events.emit("held");
      }),
    );
    const annotations = { "limit-connections": "2", "proxy-next-upstream": "off" };
    const ingresses = ["one.example", "two.example"].map((host) => ({ host, annotations }));
    const hold = async (ports: Ports, host: string): Promise<{ readonly status: Promise<number> }> => {
      const before = held.length;
      const status = send(ports, { host, path: "/" });
      while (held.length === before) await once(events, "held");
      return { status };
    };
    try {
      const { nginx, gateway } = await besideNginx(
        ingresses,
        { app: app.port },
        async (ports) => {
          held.length = 0;
          const first = [await hold(ports, "one.example"), await hold(ports, "one.example")];
          const over = await send(ports, { host: "one.example", path: "/" });
          // Each Ingress has a limit of its own.
          const other = await hold(ports, "two.example");
          for (const response of held.splice(0)) response.end();
          const statuses = await Promise.all([...first, other].map(({ status }) => status));
          const next = await hold(ports, "one.example");
          for (const response of held.splice(0)) response.end();
          return { over, statuses, next: await next.status };
        },
        keys,
      );
      expect(nginx).to.deep.equal({ over: refused, statuses: [200, 200, 200], next: 200 });
      expect(gateway).to.deep.equal(nginx);
    } finally {
      await app.close();
    }
  }
});
