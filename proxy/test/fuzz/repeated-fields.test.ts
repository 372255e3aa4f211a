import { once } from "node:events";
import {
  type ClientHttp2Session,
  connect,
  createServer as createHttp2Server,
  sensitiveHeaders,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { describeHttp2Codecs } from "../http2-codecs.ts";
import { Choices } from "../chaos/random.ts";
import { type Gateway, startGateway, startHttp } from "../integration/gateway.ts";

const host = "a.example";
const requests = 80;

/** Names that a proxy treats in ways of their own, and values that differ little: by length, by one octet, not at all. */
const names = [
  "cookie",
  "x-a",
  "x-b",
  "accept",
  "user-agent",
  "x-forwarded-for",
  "via",
  "te",
  "authorization",
];
/** Names of which Node's client sends only one line. */
const single = new Set(["te", "user-agent", "authorization"]);
const values = ["v", "w", "a-longer-value-for-a-table-1", "a-longer-value-for-a-table-2", "long".repeat(300)];

type Asked = {
  readonly path: string;
  readonly fields: Record<string, string | string[]>;
  readonly hidden: string[];
};

/** Chooses a request. Lists are repeated completely or except for one value, mostly those of the previous request. */
function asked(choices: Choices, before: readonly Asked[]): Asked {
  const last = before.at(-1);
  if (last !== undefined && choices.chance(0.7)) {
    const again = choices.chance(0.8) ? last : choices.one(before);
    const path = choices.one(["/plain", "/changed"]);
    const changing = Object.keys(again.fields).filter((name) => name !== "te");
    if (changing.length === 0 || choices.chance(0.5)) return { ...again, path };
    return { ...again, path, fields: { ...again.fields, [choices.one(changing)]: choices.one(values) } };
  }
  const fields: Record<string, string | string[]> = {};
  for (let count = choices.below(5); count > 0; count--) {
    // A field that is never indexed prevents the whole list from being remembered.
    const name = choices.chance(0.05) ? "authorization" : choices.one(names);
    const value = name === "te" ? "trailers" : choices.one(values);
    const isList = !single.has(name) && choices.chance(0.3);
    fields[name] = isList ? [value, choices.one(values)] : value;
  }
  return { path: choices.one(["/plain", "/changed"]), fields, hidden: choices.chance(0.1) ? ["x-a"] : [] };
}

describeHttp2Codecs("fields that come again on an HTTP/2 connection", () => {
  const closing: (() => unknown)[] = [];
  let gateway: Gateway;
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });

  /** Backends answer with the fields that they got. */
  const start = async (protocol: "http1" | "http2"): Promise<void> => {
    const show = (fields: readonly string[]): string => JSON.stringify(fields);
    let port: number;
    if (protocol === "http1") {
      const backend = await startHttp((request, response) => void response.end(show(request.rawHeaders)));
      closing.push(() => backend.close());
      ({ port } = backend);
    } else {
      const backend = createHttp2Server((request, response) => void response.end(show(request.rawHeaders)));
      backend.listen(0, "127.0.0.1");
      await once(backend, "listening");
      closing.push(() => backend.close());
      ({ port } = backend.address() as AddressInfo);
    }
    const changed: Route = {
      id: "ingress/ns/changed:0.0",
      source: { kind: "Ingress", namespace: "ns", name: "changed" },
      match: { path: { type: "prefix", value: "/changed" } },
      backends: [{ weight: 1, service: "ns/web", endpoints: "ns/web/80", protocol }],
      features: { "request-headers": { set: [{ name: "X-A", value: "of the route" }], remove: ["Accept"] } },
    };
    gateway = await startGateway({ ports: [port], protocol, before: [changed] });
    closing.push(() => gateway.close());
  };

  const open = async (): Promise<ClientHttp2Session> => {
    const session = connect(`http://127.0.0.1:${gateway.port}`);
    closing.push(() => session.destroy());
    await once(session, "remoteSettings");
    return session;
  };

  const ask = async (session: ClientHttp2Session, { path, fields, hidden }: Asked): Promise<string> => {
    const stream = session.request({
      ...{ ":path": path, ":authority": host, ...fields, [sensitiveHeaders]: hidden },
    });
    let text = "";
    stream.on("data", (data: Buffer) => (text += data.toString()));
    await once(stream, "close");
    return text;
  };

  for (const protocol of ["http1", "http2"] as const) {
    const backend = protocol === "http1" ? "HTTP/1" : "HTTP/2";
    it(`a request to an ${backend} backend has the fields that it has on a connection of its own`, async () => {
      await start(protocol);
      const choices = new Choices(Number(process.env["SEED"] ?? 9116));
      const before: Asked[] = [];
      const session = await open();
      for (let count = 0; count < requests; count++) {
        const next = asked(choices, before);
        before.push(next);
        const fresh = await open();
        const [seen, expected] = await Promise.all([ask(session, next), ask(fresh, next)]);
        fresh.destroy();
        expect(seen).to.equal(expected);
        expect(seen).to.include(host);
      }
    });
  }
});
