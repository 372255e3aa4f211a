import { once } from "node:events";
import { createServer, request, type IncomingMessage } from "node:http";
import { expect } from "chai";
import { describeCodecs } from "../http1-codecs.ts";
import { routeKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource } from "@svc-gateway/common/ir/resource.ts";
import type { Backend } from "@svc-gateway/common/ir/route.ts";
import { GuardedGateway } from "./ext-auth-support.ts";
import { startGateway, type Gateway } from "./gateway.ts";

const working = { weight: 3, service: "ns/web", endpoints: "ns/web/80", protocol: "http1" } as const;
const broken = { weight: 1, service: "ns/gone", protocol: "http1", status: 500 } as const;

describeCodecs("a backend that cannot be used", () => {
  let owner: GuardedGateway;
  let gateway: Gateway;

  beforeEach(async () => {
    owner = new GuardedGateway();
    const port = await owner.listen(createServer((_, response) => void response.end()));
    const table = (path: string, backends: readonly Backend[]) => ({
      id: `httproute/ns${path}:0`,
      source: { kind: "HTTPRoute", namespace: "ns", name: path.slice(1) },
      match: { path: { type: "prefix", value: path } as const },
      backends,
    });
    const routes = [
      table("/shared", [working, broken]),
      table("/alone", [broken]),
      table("/zero", [{ ...working, weight: 0 }, broken]),
      table("/fine", [working]),
    ];
    const resources = [
      encodeResource<"route">(routeKey("gateway", 80, { kind: "any", host: "*" }), {
        listener: "Gateway/ns/edge/http",
        inherit: true,
        routes,
      }),
    ];
    gateway = await startGateway({ ports: [port], hosts: [], resources });
    owner.onClose(() => gateway.close());
  });
  afterEach(() => owner.close());

  async function statusesOf(path: string, times: number): Promise<ReadonlyMap<number, number>> {
    const counts = new Map<number, number>();
    for (let time = 0; time < times; time++) {
      const sent = request({ host: "127.0.0.1", port: gateway.port, path, agent: false });
      sent.end();
      const [{ statusCode = 0 }] = (await once(sent, "response")) as [IncomingMessage];
      counts.set(statusCode, (counts.get(statusCode) ?? 0) + 1);
    }
    return counts;
  }

  it("a broken backend is answered 500 for its share while the others get theirs", async () => {
    const counts = await statusesOf("/shared", 40);
    expect((counts.get(200) ?? 0) + (counts.get(500) ?? 0)).to.equal(40);
    // Shares are kept to within less than two requests, from any start (docs/features/weights.md).
    expect(counts.get(500)).to.be.within(8, 12);
  });

  it("a broken backend is answered 500 for every request where no other backend has a weight", async () => {
    expect([...(await statusesOf("/alone", 3))]).to.deep.equal([[500, 3]]);
    expect([...(await statusesOf("/zero", 3))]).to.deep.equal([[500, 3]]);
    expect([...(await statusesOf("/fine", 3))]).to.deep.equal([[200, 3]]);
  });
});
