/** JwtAuths of listeners beside others. See docs/features/auth-jwt.md, "Several JwtAuths". */
import { once } from "node:events";
import { request, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { connect } from "node:http2";
import { expect } from "chai";
import type { TokenRules } from "@svc-gateway/common/features/auth-jwt.ts";
import { jwksKey, routeKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource } from "@svc-gateway/common/ir/resource.ts";
import type { HostRoutes } from "@svc-gateway/common/ir/route.ts";
import { makeKey, signToken } from "../auth/tokens.ts";
import { pattern } from "../routing/support.ts";
import { startGateway, startHttp, type Gateway } from "./gateway.ts";

const rules: TokenRules = {
  keySet: "ns/id",
  issuer: "https://id.example",
  audiences: ["shop"],
  fromHeaders: [{ name: "Authorization", prefix: "Bearer " }],
  forward: false,
  claimToHeaders: [{ claim: "sub", header: "X-User" }],
};
const office: TokenRules = {
  ...rules,
  audiences: ["office"],
  claimToHeaders: [{ claim: "email", header: "X-Mail" }],
};

type Sent = Readonly<Record<string, string>>;

async function overHttp1(port: number, headers: Sent): Promise<number | undefined> {
  const sent = request({ host: "127.0.0.1", port, agent: false, headers: { host: "a.example", ...headers } });
  sent.end();
  const [message] = (await once(sent, "response")) as [IncomingMessage];
  await once(message.resume(), "end");
  return message.statusCode;
}

async function overHttp2(port: number, headers: Sent): Promise<number | undefined> {
  const session = connect(`http://127.0.0.1:${port}`);
  const stream = session.request({ ":path": "/", ":authority": "a.example", ...headers });
  const [head] = (await once(stream, "response")) as [{ readonly ":status"?: number }];
  stream.resume();
  await once(stream, "close");
  session.close();
  return head[":status"];
}

for (const [protocol, send] of [
  ["HTTP/1", overHttp1],
  ["HTTP/2", overHttp2],
] as const) {
  describe(`auth-jwt of listeners over ${protocol}`, () => {
    const key = makeKey("EC", "ES256", "one");
    let gateway: Gateway | undefined;
    let seen: IncomingHttpHeaders[];
    let stop: (() => Promise<void>)[];

    beforeEach(() => {
      seen = [];
      stop = [];
    });
    afterEach(async () => {
      for (const each of stop.toReversed()) await each();
    });

    /** Serves a listener whose filters have these rules, one each, with a route that has others. */
    async function serve(first: readonly TokenRules[], ofRoute: readonly TokenRules[]): Promise<void> {
      const upstream = await startHttp(({ headers }, response) => {
        seen.push(headers);
        response.end();
      });
      stop.push(() => upstream.close());
      const table: HostRoutes = {
        listener: "Gateway/ns/edge/http",
        inherit: true,
        filters: first.map((one) => ({ features: { "auth-jwt": [{ rules: one }] } })),
        routes: [
          {
            id: "httproute/ns/web:0",
            source: { kind: "HTTPRoute", namespace: "ns", name: "web" },
            match: { path: { type: "prefix", value: "/" } },
            ...(ofRoute.length > 0 && {
              features: { "auth-jwt": ofRoute.map((one) => ({ rules: one })) },
            }),
            backends: [{ weight: 1, service: "ns/web", endpoints: "ns/web/80", protocol: "http1" }],
          },
        ],
      };
      const resources = [
        encodeResource<"route">(routeKey("gateway", 80, pattern("a.example")), table),
        encodeResource<"jwks">(jwksKey("ns/id"), { keys: [key.public] }),
      ];
      const started = await startGateway({ ports: [upstream.port], hosts: [], resources });
      gateway = started;
      stop.push(async () => started.close());
    }
    const ask = (headers: Sent): Promise<number | undefined> => send(gateway?.port ?? 0, headers);
    const bearer = (token: string): Sent => ({ authorization: `Bearer ${token}` });
    const forBoth = (): Promise<string> => signToken(key, { aud: ["shop", "office"], email: "a@x.example" });

    for (const [name, first, ofRoute] of [
      ["a listener and one of a route", [rules], [office]],
      ["one listener", [rules, office], []],
    ] as const) {
      it(`auth-jwt: one token is valid for a JwtAuth of ${name} over ${protocol}, which each check it`, async () => {
        await serve(first, ofRoute);
        const token = await forBoth();
        // The second time the token is known.
        for (let times = 0; times < 2; times++) {
          expect(await ask(bearer(token))).to.equal(200);
          expect(seen[times]).to.include({ "x-user": "alice", "x-mail": "a@x.example" });
          expect(seen[times]).not.to.have.property("authorization");
        }
        expect(await ask(bearer(await signToken(key, { aud: "shop" })))).to.equal(401);
        expect(await ask(bearer(await signToken(key, { aud: "office" })))).to.equal(401);
        expect(seen).to.have.length(2);
      });
    }

    it(`auth-jwt: a token is forwarded over ${protocol} only if the JwtAuths of listener and route both forward it`, async () => {
      const forwarding = { forward: true };
      const token = await forBoth();
      for (const [ofListener, ofRoute] of [
        [{}, forwarding],
        [forwarding, {}],
        [forwarding, forwarding],
      ]) {
        await serve([{ ...rules, ...ofListener }], [{ ...office, ...ofRoute }]);
        expect(await ask(bearer(token))).to.equal(200);
      }
      expect(seen.map(({ authorization }) => authorization)).to.deep.equal([
        undefined,
        undefined,
        `Bearer ${token}`,
      ]);
    });

    it(`auth-jwt: a claim header of a listener is not the token of a route over ${protocol}, and is kept for the upstream`, async () => {
      const ofUser = { ...office, fromHeaders: [{ name: "X-User", prefix: "" }] };
      await serve([rules], [ofUser]);
      const inner = await forBoth();
      // The claim is a token that the JwtAuth of the route would accept.
      const outer = await signToken(key, { sub: inner });
      expect(await ask(bearer(outer))).to.equal(401);
      expect(await ask({ ...bearer(await signToken(key)), "x-user": inner })).to.equal(200);
      expect(seen).to.have.length(1);
      expect(seen[0]).to.include({ "x-user": "alice", "x-mail": "a@x.example" });
    });
  });
}
