import { expect } from "chai";
import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import type { Exchange } from "../../src/exchange/exchange.ts";
import type { Filter } from "../../src/exchange/filter.ts";
import { combineChecks, satisfyFilter } from "../../src/filters/satisfy.ts";
import type { LocalReply } from "../../src/message/local-reply.ts";

type Verdict = number | undefined;

/** Runs the checks with these verdicts, in their order; the result is the answer and what was done. */
async function run(
  verdicts: Readonly<Record<string, Verdict>>,
  features: RouteFeatures = {},
): Promise<{ readonly status: Verdict; readonly done: readonly string[] }> {
  const done: string[] = [];
  const filters = Object.entries(verdicts).map(([slug, status]): Filter => {
    const reply: LocalReply | undefined = status === undefined ? undefined : { status };
    return {
      slug,
      onRequest: () => {
        done.push(slug);
        return slug === "ext-auth" ? Promise.resolve(reply) : reply;
      },
      onUnchecked: () => void done.push(`-${slug}`),
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
      done: ["ip-access-control", "-ip-access-control", "auth-basic-secret", "-ext-auth"],
    });
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

  it("satisfy: other filters stay as they are, and without it all checks do", async () => {
    const filters: Filter[] = [{ slug: "rate-limit", onRequest: () => ({ status: 429 }) }];
    expect(combineChecks(filters, { satisfy: "any" })).to.deep.equal(filters);
    expect(combineChecks(filters, {})).to.equal(filters);
    expect((await run({ "rate-limit": 429, "auth-basic-secret": undefined })).status).to.equal(429);
  });
});
