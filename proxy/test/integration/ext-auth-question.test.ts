import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { ExternalCheck } from "@svc-gateway/common/features/ext-auth.ts";
import { parseRequestTemplate, type RequestTemplate } from "@svc-gateway/common/features/request-template.ts";
import { expect } from "chai";
import { gateAt, gateName, GuardedGateway, httpCheck } from "./ext-auth-support.ts";

const template = (text: string): RequestTemplate => {
  const parsed = parseRequestTemplate(text);
  if (!parsed.ok) throw new Error(parsed.error.message);
  return parsed.value;
};

describe("ext-auth over HTTP: what is asked, and what answers mean", () => {
  let guarded: GuardedGateway;
  let asked: IncomingMessage[];
  beforeEach(() => {
    guarded = new GuardedGateway();
    asked = [];
  });
  afterEach(() => guarded.close());

  async function start(gate: RequestListener, more: Partial<ExternalCheck>): Promise<void> {
    const server = createServer((message, response) => {
      asked.push(message);
      gate(message, response);
    });
    await guarded.start([{ ...httpCheck, ...more }], [gateAt(gateName, await guarded.listen(server))]);
  }

  it("ext-auth over HTTP: path, host, method and fields of the question are those of the check, with variables", async () => {
    await start((_, response) => void response.end(), {
      allowedHeaders: ["x-kept", "x-set"],
      question: {
        target: template("/check?of=$escaped_request_uri&by=$http_x_who"),
        authority: template("auth.$host:81"),
        method: "GET",
        set: [
          { name: "X-Set", value: template("$request_method $host") },
          { name: "X-Forwarded-For", value: template("$http_absent") },
        ],
      },
    });
    const headers = { "x-kept": "k", "x-set": "forged", "x-forwarded-for": "1.2.3.4", "x-who": "a b" };
    expect((await guarded.send({ headers, method: "POST", body: "body" })).statusCode).to.equal(200);
    const [question] = asked;
    expect([question?.method, question?.url]).to.deep.equal(["GET", "/check?of=%2Fa%3Fb%3Dc&by=a%20b"]);
    expect(question?.headers).to.include({
      host: "auth.a.example:81",
      "x-kept": "k",
      "x-set": "POST a.example",
      "x-forwarded-method": "POST",
      "x-forwarded-uri": "/a?b=c",
    });
    expect(question?.headers).not.to.have.any.keys("x-forwarded-for", "x-who");
    expect(guarded.seen[0]?.text).to.equal("body");
    expect(guarded.seen[0]?.headers["x-set"]).to.equal("forged");
  });

  it("ext-auth over HTTP: a host that a request makes invalid is a failure of the service", async () => {
    await start((_, response) => void response.end(), { question: { authority: template("$http_x_host") } });
    expect((await guarded.send({ headers: { "x-host": "a/b" } })).statusCode).to.equal(503);
    expect(asked).to.deep.equal([]);
    expect((await guarded.send({ headers: { "x-host": "b.example" } })).statusCode).to.equal(200);
    expect(asked[0]?.headers.host).to.equal("b.example");
  });

  it("ext-auth over HTTP: a 401 becomes a redirect to sign in with its cookies, and other denials are the service's", async () => {
    let status = 401;
    await start(
      (_, response) =>
        void response.writeHead(status, { "set-cookie": ["a=1", "b=2"], "x-why": "w" }).end("body"),
      { signIn: template("https://$host/start?rd=$scheme://$http_host$escaped_request_uri") },
    );
    const redirect = await guarded.send({});
    expect([redirect.statusCode, redirect.text]).to.deep.equal([302, ""]);
    expect(redirect.headers.location).to.equal("https://a.example/start?rd=http://a.example%2Fa%3Fb%3Dc");
    expect(redirect.headers["set-cookie"]).to.deep.equal(["a=1", "b=2"]);
    expect(redirect.headers).not.to.have.property("x-why");
    status = 403;
    const denied = await guarded.send({});
    expect([denied.statusCode, denied.text, denied.headers["x-why"]]).to.deep.equal([403, "body", "w"]);
    expect(guarded.seen).to.deep.equal([]);
  });

  for (const [failClosed, expected] of [
    [true, 503],
    [false, 200],
  ] as const) {
    it(`ext-auth over HTTP: a status that denies nothing is a failure, answered ${expected} with failClosed ${failClosed}`, async () => {
      let status = 502;
      await start((_, response) => void response.writeHead(status).end(), {
        failClosed,
        deniedStatuses: [403],
      });
      expect((await guarded.send({})).statusCode).to.equal(expected);
      status = 403;
      expect((await guarded.send({})).statusCode).to.equal(403);
    });
  }

  const cache = { key: template("$cookie_s"), times: [{ statuses: [200, 403], ms: 600_000 }] };
  const asClient = (cookie: string) => ({ headers: { cookie: `s=${cookie}` } });

  it("ext-auth over HTTP: remembered answers let requests in with their fields, and deny them with their body", async () => {
    await start(
      ({ headers }, response) => {
        const isGood = headers.cookie === "s=good";
        response.writeHead(isGood ? 200 : 403, { "x-user": "alice", "x-for": "c" });
        response.end(isGood ? "" : "no");
      },
      { allowedHeaders: ["cookie"], clientResponseHeaders: ["x-for"], cache },
    );
    for (let times = 0; times < 2; times++) {
      const served = await guarded.send(asClient("good"));
      expect([served.statusCode, served.headers["x-for"]]).to.deep.equal([200, "c"]);
      const denied = await guarded.send(asClient("bad"));
      expect([denied.statusCode, denied.text]).to.deep.equal([403, "no"]);
    }
    expect(asked).to.have.lengthOf(2);
    expect(guarded.seen.map(({ headers }) => headers["x-user"])).to.deep.equal(["alice", "alice"]);
  });

  it("ext-auth over HTTP: an answer is remembered for the method of its question only", async () => {
    await start((_, response) => void response.end(), { allowedHeaders: ["cookie"], cache });
    await guarded.send(asClient("one"));
    await guarded.send({ ...asClient("one"), method: "DELETE" });
    expect(asked.map(({ method }) => method)).to.deep.equal(["GET", "DELETE"]);
  });

  it("ext-auth over HTTP: a failure and a status that is not listed are not remembered", async () => {
    const statuses = [500, 401, 200];
    await start((_, response) => void response.writeHead(statuses.shift() ?? 500).end(), {
      cache,
      deniedStatuses: [401],
    });
    const seen: (number | undefined)[] = [];
    for (let times = 0; times < 4; times++) seen.push((await guarded.send(asClient("one"))).statusCode);
    expect(seen).to.deep.equal([503, 401, 200, 200]);
    expect(asked).to.have.lengthOf(3);
  });
});
