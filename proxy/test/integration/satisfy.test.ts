import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { expect } from "chai";
import type { ExtAuth } from "@svc-gateway/common/features/ext-auth.ts";
import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import { gateAt, GuardedGateway, httpCheck } from "./ext-auth-support.ts";

describe("satisfy: any beside the authorization of a Gateway", () => {
  const everyAddress = { deny: [], allow: ["0.0.0.0/0", "::/0"] };
  const guard = { ...httpCheck, endpoints: "ns/guard/80", allowedResponseHeaders: ["x-tenant"] };
  const own = { ...httpCheck, endpoints: "ns/own/80" };

  let guarded: GuardedGateway;
  let asked: { readonly of: "guard" | "own"; readonly headers: IncomingMessage["headers"] }[];

  beforeEach(() => {
    guarded = new GuardedGateway();
    asked = [];
  });
  afterEach(() => guarded.close());

  const service = (of: "guard" | "own", answer: RequestListener): Promise<number> =>
    guarded.listen(
      createServer((message, response) => {
        asked.push({ of, headers: message.headers });
        answer(message, response);
      }),
    );

  async function start(
    authorization: ExtAuth,
    { ofGuard = 200, ofOwn = 200 }: { readonly ofGuard?: number; readonly ofOwn?: number } = {},
    address: RouteFeatures["ip-access-control"] = everyAddress,
  ): Promise<void> {
    const guardPort = await service("guard", (_, response) => {
      response.writeHead(ofGuard, { "x-tenant": "blue" }).end();
    });
    const ownPort = await service("own", (_, response) => {
      response.writeHead(ofOwn, { "x-user": "alice" }).end();
    });
    await guarded.start([], [gateAt("ns/guard/80", guardPort), gateAt("ns/own/80", ownPort)], {
      satisfy: "any",
      "ip-access-control": address,
      "ext-auth": authorization,
    });
  }
  const answers = (): readonly string[] => asked.map(({ of }) => of);

  it("satisfy: an address that is enough for the route does not replace the service of the Gateway", async () => {
    await start([{ check: guard, required: true }], { ofGuard: 403 });
    expect((await guarded.send({})).statusCode).to.equal(403);
    expect(answers()).to.deep.equal(["guard"]);
    expect(guarded.seen).to.have.length(0);
  });

  it("satisfy: a Gateway whose authorization cannot be read answers 503 to an address that is enough", async () => {
    await start([{ required: true }]);
    expect((await guarded.send({})).statusCode).to.equal(503);
    expect(guarded.seen).to.have.length(0);
  });

  it("satisfy: the service of the Gateway allows the request, and the service of the route is not asked", async () => {
    await start([{ check: guard, required: true }, { check: own }], { ofOwn: 403 });
    const reply = await guarded.send({ headers: { "x-tenant": "red", "x-user": "root" } });
    expect(reply.statusCode).to.equal(200);
    expect(answers()).to.deep.equal(["guard"]);
    expect(asked[0]?.headers).not.to.have.any.keys("x-tenant", "x-user");
    expect(guarded.seen[0]?.headers).to.include({ "x-tenant": "blue" });
    expect(guarded.seen[0]?.headers).not.to.have.property("x-user");
  });

  it("satisfy: a request whose address is not enough needs the service of the route and that of the Gateway", async () => {
    const elsewhere = { deny: [], allow: ["203.0.113.0/24"] };
    await start([{ check: guard, required: true }, { check: own }], {}, elsewhere);
    expect((await guarded.send({})).statusCode).to.equal(200);
    expect(answers()).to.deep.equal(["guard", "own"]);
    expect(guarded.seen[0]?.headers).to.include({ "x-tenant": "blue", "x-user": "alice" });
  });

  it("satisfy: the service of the Gateway does not admit a request whose address the route refuses", async () => {
    await start([{ check: guard, required: true }], {}, { deny: [], allow: ["203.0.113.0/24"] });
    expect((await guarded.send({})).statusCode).to.equal(403);
    expect(guarded.seen).to.have.length(0);
  });
});
