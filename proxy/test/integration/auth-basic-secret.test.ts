import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { hashSync } from "bcryptjs";
import { expect } from "chai";
import { htpasswdKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import { eventually, exchange, startGateway, startHttp, type Gateway, type Plan } from "./gateway.ts";

const users = (password: string, name = "ns/users"): Resource =>
  encodeResource<"htpasswd">(htpasswdKey(name), {
    users: [{ name: "alice", hash: hashSync(password, 4) }],
  });
const basic = (name: string, password: string): string =>
  `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;
const features = { "auth-basic-secret": [{ htpasswd: "ns/users" }] };

describe("auth-basic-secret, through the whole data plane", () => {
  let gateway: Gateway;
  let seen: IncomingMessage[];
  let plan: Plan;
  let stop: (() => Promise<void> | void)[];

  beforeEach(async () => {
    seen = [];
    const upstream = await startHttp((message, response) => {
      seen.push(message);
      response.end("upstream");
    });
    upstream.server.on("upgrade", (message, socket) => {
      seen.push(message);
      socket.end("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    });
    plan = { ports: [upstream.port], features, resources: [users("a")] };
    gateway = await startGateway(plan);
    stop = [() => upstream.close(), () => gateway.close()];
  });
  afterEach(async () => {
    for (const each of stop.toReversed()) await each();
  });

  async function send(
    authorization: string | undefined,
    more: Record<string, string> = {},
  ): Promise<IncomingMessage> {
    const headers = { host: "a.example", ...more, ...(authorization && { authorization }) };
    const sent = request({ host: "127.0.0.1", port: gateway.port, headers, agent: false });
    sent.end();
    const [message] = (await once(sent, "response")) as [IncomingMessage];
    message.resume();
    return message;
  }

  it("auth-basic-secret: the credentials of a user pass and go on to the upstream", async () => {
    expect((await send(basic("alice", "a"))).statusCode).to.equal(200);
    expect(seen[0]?.headers.authorization).to.equal(basic("alice", "a"));
  });

  it("auth-basic-secret: other requests get 401 with a challenge, and no upstream is contacted", async () => {
    for (const authorization of [undefined, basic("alice", "b"), basic("bob", "a"), "Bearer a"]) {
      const message = await send(authorization);
      expect(message.statusCode).to.equal(401);
      expect(message.headers["www-authenticate"]).to.equal('Basic realm="Authentication required"');
    }
    expect(seen).to.deep.equal([]);
    await eventually(() => gateway.records.length === 4);
    expect(gateway.records[0]).to.include({ status: 401, upstream: "", attempts: 0 });
    expect(JSON.stringify(gateway.records)).not.to.include("$2b$");
  });

  it("auth-basic-secret: a changed password holds at once", async () => {
    expect((await send(basic("alice", "a"))).statusCode).to.equal(200);
    gateway.update({ ...plan, resources: [users("new")] });
    expect((await send(basic("alice", "a"))).statusCode).to.equal(401);
    expect((await send(basic("alice", "new"))).statusCode).to.equal(200);
  });

  it("auth-basic-secret: requests get 503 while the list of users is missing", async () => {
    gateway.update({ ...plan, resources: [] });
    expect((await send(basic("alice", "a"))).statusCode).to.equal(503);
    gateway.update(plan);
    expect((await send(basic("alice", "a"))).statusCode).to.equal(200);
    expect(seen).to.have.lengthOf(1);
  });

  it("auth-basic-secret: a request passes when every list has its user, checked in order", async () => {
    const both = { "auth-basic-secret": [{ htpasswd: "ns/users" }, { htpasswd: "ns/staff" }] };
    for (const [resources, expected] of [
      [[users("a"), users("a", "ns/staff")], 200],
      [[users("a"), users("b", "ns/staff")], 401],
      [[users("b"), users("a", "ns/staff")], 401],
      [[users("a")], 503],
      [[users("b")], 401],
      [[users("a", "ns/staff")], 503],
    ] as const) {
      gateway.update({ ...plan, features: both, resources });
      // What the first list has accepted, it accepts at once from then on; the other is asked all the same.
      for (let times = 0; times < 2; times++) {
        expect((await send(basic("alice", "a"))).statusCode).to.equal(expected);
      }
    }
    gateway.update({ ...plan, features: { "auth-basic-secret": [...features["auth-basic-secret"], {}] } });
    expect((await send(basic("alice", "a"))).statusCode).to.equal(503);
    expect(seen).to.have.lengthOf(2);
    expect(seen[0]?.headers.authorization).to.equal(basic("alice", "a"));
  });

  it("auth-basic-secret: a gRPC client gets UNAUTHENTICATED", async () => {
    const message = await send(undefined, { "content-type": "application/grpc" });
    expect(message.statusCode).to.equal(200);
    expect(message.headers).to.include({ "grpc-status": "16" });
    expect(message.headers["www-authenticate"]).to.match(/^Basic /);
  });

  it("auth-basic-secret: credentials are checked before a connection is upgraded", async () => {
    const handshake = (fields: string): string =>
      `GET / HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${fields}\r\n`;
    const refused = await exchange(gateway.port, handshake("Connection: close\r\n"));
    expect(refused).to.match(/^HTTP\/1\.1 401 /);
    expect(seen).to.deep.equal([]);
    const accepted = await exchange(gateway.port, handshake(`Authorization: ${basic("alice", "a")}\r\n`));
    expect(accepted).to.match(/^HTTP\/1\.1 101 /);
  });

  it("auth-basic-secret: hashes of every kind let their user in, and no other one", async () => {
    const hashes: Readonly<Record<string, string>> = {
      bcrypt: hashSync("password", 4),
      apr1: "$apr1$foo$gW3FoVhB6fLp04zDwEcT51",
      md5: "$1$foo$f3WvPmEkMbGE6/KmD1hyZ1",
      sha256: "$5$rounds=1000$salt$p.wiWs2zrZ7irikO2AL64QDIJo00A3KDq2xWHpLJGgB",
      sha1: "{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=",
      plain: "{PLAIN}password",
    };
    const list = Object.entries(hashes).map(([name, hash]) => ({ name, hash }));
    const resource = encodeResource<"htpasswd">(htpasswdKey("ns/users/auth-file"), { users: list });
    const many = { "auth-basic-secret": [{ htpasswd: "ns/users/auth-file" }] };
    gateway.update({ ...plan, features: many, resources: [resource] });
    for (const name of Object.keys(hashes)) {
      expect((await send(basic(name, "password"))).statusCode, name).to.equal(200);
      expect((await send(basic(name, "Password"))).statusCode, name).to.equal(401);
      expect((await send(basic(`${name}x`, "password"))).statusCode, name).to.equal(401);
    }
  });

  it("auth-basic-secret: a realm of the route is in the challenge", async () => {
    for (const realm of ["Staff only: a/b", ""]) {
      const named = { "auth-basic-secret": [{ htpasswd: "ns/users", realm }] };
      gateway.update({ ...plan, features: named });
      const message = await send(undefined);
      expect(message.statusCode).to.equal(401);
      expect(message.headers["www-authenticate"]).to.equal(`Basic realm="${realm}"`);
    }
  });

  it("auth-basic-secret: the upstream gets no credentials where they are hidden, nor when they were accepted before", async () => {
    const hidden = { "auth-basic-secret": [{ htpasswd: "ns/users", hidesCredentials: true as const }] };
    gateway.update({ ...plan, features: hidden });
    for (let times = 0; times < 2; times++) {
      expect((await send(basic("alice", "a"))).statusCode).to.equal(200);
    }
    expect(seen).to.have.lengthOf(2);
    for (const { headers } of seen) expect(headers).not.to.have.property("authorization");
  });
});
