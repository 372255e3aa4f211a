import { expect } from "chai";
import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import type { UserList } from "../../src/auth/user-list.ts";
import type { Exchange } from "../../src/exchange/exchange.ts";
import type { Filter } from "../../src/exchange/filter.ts";
import { authBasicSecretFilter } from "../../src/filters/auth-basic-secret.ts";
import { ipAccessControlFilter } from "../../src/filters/ip-access-control.ts";
import { combineChecks, satisfyFilter } from "../../src/filters/satisfy.ts";
import type { LocalReply } from "../../src/message/local-reply.ts";
import { exchange } from "./support.ts";

type Verdict = number | undefined;

/**
 * Runs the checks with these verdicts, in their order, and the required parts with theirs; the result is the answer and
 * what was done.
 */
async function run(
  verdicts: Readonly<Record<string, Verdict>>,
  features: RouteFeatures = {},
  required: Readonly<Record<string, Verdict>> = {},
): Promise<{ readonly status: Verdict; readonly done: readonly string[] }> {
  const done: string[] = [];
  const replyOf = (status: Verdict): LocalReply | undefined =>
    status === undefined ? undefined : { status };
  const filters = Object.entries(verdicts).map(([slug, status]): Filter => {
    const reply = replyOf(status);
    return {
      slug,
      onRequest: () => {
        done.push(slug);
        return slug === "ext-auth" ? Promise.resolve(reply) : reply;
      },
      onUnchecked: () => void done.push(`-${slug}`),
      onAdmitted: () => void done.push(`+${slug}`),
      ...(Object.hasOwn(required, slug) && {
        requiredCheck: () => {
          done.push(`!${slug}`);
          return replyOf(required[slug]);
        },
      }),
    };
  });
  const combined = combineChecks([...filters, satisfyFilter()], { satisfy: "any", ...features });
  for (const { onRequest } of combined) {
    const reply = await onRequest?.({ finished: false } as Exchange);
    if (reply !== undefined) return { status: reply.status, done };
  }
  return { status: undefined, done };
}

const allow: RouteFeatures = { "ip-access-control": { deny: [], allow: ["10.0.0.0/8"] } };
const deny: RouteFeatures = { "ip-access-control": { deny: ["10.0.0.0/8"] } };

describe("satisfy", () => {
  it("satisfy: the first check that agrees is enough, and the others keep what they own", async () => {
    const verdicts = { "ip-access-control": 403, "auth-basic-secret": undefined, "ext-auth": 401 };
    expect(await run(verdicts, allow)).to.deep.equal({
      status: undefined,
      done: [
        "ip-access-control",
        "-ip-access-control",
        "auth-basic-secret",
        "-ext-auth",
        "+ip-access-control",
        "+ext-auth",
      ],
    });
  });

  it("satisfy: a blocked address is rejected although another check agrees", async () => {
    const addresses = { blocked: ["10.1.0.0/16"], deny: ["10.2.0.0/16"] };
    const features: RouteFeatures = { satisfy: "any", "ip-access-control": addresses };
    const basic: Filter = { slug: "auth-basic-secret", onRequest: () => undefined };
    const filters = combineChecks([ipAccessControlFilter(addresses), basic, satisfyFilter()], features);
    const statusOf = async (clientIp: string): Promise<Verdict> => {
      const under = exchange();
      under.clientIp = clientIp;
      for (const { onRequest } of filters) {
        const reply = await onRequest?.(under);
        if (reply !== undefined) return reply.status;
      }
      return undefined;
    };
    expect(await statusOf("10.1.2.3")).to.equal(403);
    expect(await statusOf("10.2.2.3"), "a denied address").to.equal(undefined);
    expect(await statusOf("10.3.2.3")).to.equal(undefined);
  });

  it("satisfy: an allowed address is enough, and one that is only not denied is not", async () => {
    const verdicts = { "ip-access-control": undefined, "auth-basic-secret": 401 };
    expect((await run(verdicts, allow)).status).to.equal(undefined);
    expect((await run(verdicts, deny)).status).to.equal(401);
    expect((await run({ "ip-access-control": undefined }, deny)).status).to.equal(undefined);
  });

  for (const [verdicts, status] of [
    [{ "ip-access-control": 403, "auth-basic-secret": 401 }, 401],
    [{ "auth-basic-secret": 401, "ext-auth": 403 }, 401],
    [{ "ip-access-control": 403, "ext-auth": 302 }, 302],
    [{ "ip-access-control": 403, "ext-auth": 403 }, 403],
    [{ "ip-access-control": 403, "auth-basic-secret": 503, "ext-auth": undefined }, 503],
    [{ "auth-basic-secret": 401, "ext-auth": 500 }, 500],
    [{ "ip-access-control": 503, "auth-basic-secret": undefined }, 503],
  ] as const) {
    it(`satisfy: the verdicts ${JSON.stringify(verdicts)} come to ${status}`, async () => {
      expect((await run(verdicts, allow)).status).to.equal(status);
    });
  }

  describe("satisfy: any with an authorization that is required", () => {
    const required: RouteFeatures = { ...allow, "ext-auth": [{ required: true }] };
    const withOwn: RouteFeatures = { ...allow, "ext-auth": [{ required: true }, {}] };

    it("satisfy: a required authorization runs after another check has admitted the request, and can refuse it", async () => {
      const admitted = { "ip-access-control": undefined, "auth-jwt": 401, "ext-auth": 403 };
      expect(await run(admitted, withOwn, { "ext-auth": 403 })).to.deep.equal({
        status: 403,
        done: ["ip-access-control", "-auth-jwt", "-ext-auth", "+auth-jwt", "+ext-auth", "!ext-auth"],
      });
      expect((await run(admitted, withOwn, { "ext-auth": 503 })).status).to.equal(503);
      expect((await run(admitted, withOwn, { "ext-auth": undefined })).status).to.equal(undefined);
    });

    it("satisfy: a required authorization that allows the request does not admit it in place of another check", async () => {
      const refused = { "ip-access-control": 403, "auth-basic-secret": 401, "ext-auth": undefined };
      expect((await run(refused, required, { "ext-auth": undefined })).status).to.equal(401);
      expect((await run(refused, withOwn, { "ext-auth": undefined })).status).to.equal(undefined);
    });

    it("satisfy: a required authorization alone decides on a route without another check", async () => {
      expect((await run({ "ext-auth": undefined }, required)).status).to.equal(undefined);
      expect((await run({ "ext-auth": 403 }, required)).status).to.equal(403);
    });
  });

  it("satisfy: other filters stay as they are, and without it all checks do", async () => {
    const filters: Filter[] = [{ slug: "rate-limit", onRequest: () => ({ status: 429 }) }];
    expect(combineChecks(filters, { satisfy: "any" })).to.deep.equal(filters);
    expect(combineChecks(filters, {})).to.equal(filters);
    expect((await run({ "rate-limit": 429, "auth-basic-secret": undefined })).status).to.equal(429);
  });
});

describe("satisfy: any with hidden credentials", () => {
  const alice = ["authorization", `Basic ${Buffer.from("alice:a").toString("base64")}`] as const;
  const bearer = ["authorization", "Bearer token"] as const;
  const users: UserList = {
    check: ({ name }) => (name === "alice" ? "accepted" : "unknown-user"),
    forget() {},
  };
  const basic = authBasicSecretFilter([{ htpasswd: "ns/users", hidesCredentials: true }], {
    users: () => users,
  });
  /** A later check that admits the bearer of a token, and can replace it. */
  const later = (replacement?: string): Filter => ({
    slug: "auth-jwt",
    onRequest: ({ headers }) => {
      if (headers.joined("authorization") !== "Bearer token") return { status: 401 };
      if (replacement !== undefined) headers.replace("authorization", replacement);
      return undefined;
    },
  });

  /** The status of a refusal, or the credentials that the backend gets. */
  async function sent(field: readonly [string, string], check: Filter): Promise<number | string | undefined> {
    const asked = exchange({ headers: [...field] });
    for (const { onRequest } of combineChecks([basic, check, satisfyFilter()], { satisfy: "any" })) {
      const reply = await onRequest?.(asked);
      if (reply !== undefined) return reply.status;
    }
    return asked.headers.joined("authorization");
  }

  it("satisfy: a token is left to a later check, and hidden when that has admitted the request", async () => {
    expect(await sent(bearer, later())).to.equal(undefined);
    expect(await sent(alice, later())).to.equal(undefined);
    expect(await sent(["authorization", "Bearer other"], later())).to.equal(401);
  });

  it("satisfy: credentials that the admitting check has set reach the backend", async () => {
    expect(await sent(bearer, later("Bearer internal"))).to.equal("Bearer internal");
  });
});
