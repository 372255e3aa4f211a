import { networkInterfaces } from "node:os";
import { request } from "node:http";
import { expect } from "chai";
import { startAdminServers, type AdminServersOptions } from "../../src/admin/admin-servers.ts";
import { textAnswer } from "../../src/admin/admin-answer.ts";
import { createHealthRegistry } from "../../src/admin/health.ts";
import { createLogLevelControl } from "../../src/telemetry/log-level-control.ts";
import { createLogLevels, type LogLevels } from "../../src/telemetry/log-levels.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { createMemorySink } from "../telemetry/memory-sink.ts";

type Sent = {
  readonly method?: string;
  readonly body?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
};
type Rig = {
  readonly levels: LogLevels;
  readonly port: number;
  readonly send: (sent: Sent, host?: string) => Promise<{ readonly status: number; readonly body: string }>;
};

async function withServers(
  body: (rig: Rig) => Promise<void>,
  more: Partial<AdminServersOptions> = {},
): Promise<void> {
  const configured = { level: "info", targets: [] } as const;
  const levels = createLogLevels(configured);
  const log = createLogger("svc_proxy", { levels, format: "json", sink: createMemorySink() });
  const started = await startAdminServers({
    settings: { managementBindAddress: "0.0.0.0", adminPort: 0, healthPort: 0 },
    health: createHealthRegistry("1.2.3"),
    metrics: () => Promise.resolve(textAnswer("") as { contentType: string; body: string }),
    logger: log,
    logLevel: createLogLevelControl({ configured, apply: levels.change, log }),
    ...more,
  });
  if (!started.ok) throw new Error(started.error.message);
  const { adminPort: port } = started.value;
  const send: Rig["send"] = (
    { method = "GET", body: text = "", query = "", headers = {} },
    host = "127.0.0.1",
  ) =>
    new Promise((resolve, reject) => {
      const path = `/api/v1/log-level${query}`;
      const outgoing = request({ host, port, path, method, headers, agent: false }, (response) => {
        let received = "";
        response.setEncoding("utf8").on("data", (chunk: string) => (received += chunk));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, body: received }));
      });
      outgoing.on("error", reject);
      outgoing.end(text);
    });
  try {
    await body({ levels, port, send });
  } finally {
    await started.value.close();
  }
}

/** An address of this host other than loopback, if it has one. */
const outerAddress = (): string | undefined =>
  Object.values(networkInterfaces())
    .flatMap((addresses = []) => addresses)
    .find(({ internal, family }) => !internal && family === "IPv4")?.address;

describe("the page of the log level", () => {
  it("PUT changes the level for a time, GET shows it and DELETE returns to the configured one", () =>
    withServers(async ({ send, levels }) => {
      const put = await send({ method: "PUT", body: "warn,svc_proxy::tls=debug\n", query: "?for=1h" });
      expect(put.status).to.equal(200);
      expect(levels.directives()).to.deep.equal({
        level: "warn",
        targets: [{ prefix: "svc_proxy::tls", level: "debug" }],
      });
      const shown = JSON.parse((await send({})).body) as Record<string, unknown>;
      expect(shown).to.include({ log: "warn,svc_proxy::tls=debug", configured: "info" });
      expect(shown["until"]).to.match(/^\d{4}-\d\d-\d\dT/);
      const reset = await send({ method: "DELETE" });
      expect(JSON.parse(reset.body)).to.deep.equal({ log: "info", configured: "info", until: null });
      expect(levels.directives().level).to.equal("info");
    }));

  it("a body or a time that cannot be used is answered 400 with what was expected, and changes nothing", () =>
    withServers(async ({ send, levels }) => {
      for (const [sent, expected] of [
        [{ body: "loud" }, '"loud" is not a log directive, expected a level (error, warn, info'],
        [{ body: "" }, '"" is not a log directive'],
        [{ body: "debug", query: "?for=soon" }, 'for: "soon" is not a duration'],
        [{ body: "debug", query: "?for=25h" }, 'for: "25h" is longer than 24h'],
        [{ body: "debug", query: "?for=0" }, "for: the time is too short, expected 1s to 24h"],
      ] as const) {
        const answer = await send({ method: "PUT", ...sent });
        expect(answer.status, expected).to.equal(400);
        expect(answer.body).to.include(expected);
      }
      expect((await send({ method: "PUT", body: "x".repeat(5000) })).status).to.equal(413);
      const gzipped = { method: "PUT", body: "debug", headers: { "content-encoding": "gzip" } };
      expect((await send(gzipped)).status).to.equal(415);
      expect((await send({ method: "POST", body: "debug" })).status).to.equal(405);
      expect(levels.directives().level).to.equal("info");
    }));

  it("a page in a browser cannot change the level through a forwarded port", () =>
    withServers(async ({ send, levels }) => {
      for (const method of ["PUT", "DELETE"]) {
        const headers = { origin: "http://localhost:8082" };
        expect((await send({ method, body: "off", headers })).status).to.equal(403);
      }
      expect(levels.directives().level).to.equal("info");
    }));

  it("callers outside the pod see the level and cannot change it", async function () {
    const address = outerAddress();
    if (address === undefined) this.skip();
    await withServers(async ({ send, levels }) => {
      for (const method of ["PUT", "DELETE"])
        expect((await send({ method, body: "off" }, address)).status).to.equal(403);
      expect((await send({}, address)).status).to.equal(200);
      expect(levels.directives().level).to.equal("info");
    });
  });

  it("a change needs the right to its verb where callers are authenticated", async () => {
    const verbs: string[] = [];
    const access = ({ verb }: { readonly verb: string }) => {
      verbs.push(verb);
      return verb === "get" ? undefined : textAnswer("forbidden\n", 403);
    };
    await withServers(
      async ({ send }) => {
        expect((await send({ method: "HEAD" })).status).to.equal(200);
        expect((await send({ method: "PUT", body: "off" })).status).to.equal(403);
        expect((await send({ method: "DELETE" })).status).to.equal(403);
      },
      { access },
    );
    expect(verbs).to.deep.equal(["get", "put", "delete"]);
  });
});
